#include "adapters/deck/known_parameters.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "adapters/driver/belos_method.hpp"
#include "adapters/values/typed_values.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::deck {

KnownParameters::KnownParameters(const std::string& method) : own_(findMethod(method)) {
  if (own_ != nullptr) return;
  const driver::BelosMethod made(method);
  belos_ = made.parameters();
  isServed_ = made.reporting() != nullptr;
}

bool KnownParameters::has(const std::string& key) const {
  if (own_ == nullptr) return belos_->isParameter(key);
  const auto* row = findParameter(key);
  return row != nullptr && row->appliesTo(*own_);
}

std::vector<std::string> KnownParameters::names() const {
  std::vector<std::string> all;
  if (own_ == nullptr) {
    for (const auto& entry : *belos_) all.push_back(entry.first);
    return all;
  }
  for (const auto& row : parameterRows()) {
    if (row.appliesTo(*own_)) all.push_back(row.name);
  }
  return all;
}

void KnownParameters::check(const std::string& key, const Place& place, Teuchos::ParameterList& list,
                            Diagnostics& diagnostics) const {
  if (!has(key)) {
    const bool capstanRow = own_ != nullptr && findParameter(key) != nullptr;
    diagnostics.error(place, capstanRow ? fmt::format("'{}' has no effect on {}", key, own_->canonical)
                                        : fmt::format("unknown parameter '{}'; allowed: {}{}", key, oneOf(names()),
                                                      didYouMean(key, names())));
    return;
  }
  if (own_ != nullptr || (isServed_ && findParameter(key) != nullptr)) {
    try {
      checkParameter(*findParameter(key), list.getEntry(key));
    } catch (const std::invalid_argument& error) {
      diagnostics.error(place, error.what());
    }
    return;
  }
  checkBelos(key, place, list, diagnostics);
}

void KnownParameters::checkBelos(const std::string& key, const Place& place, Teuchos::ParameterList& list,
                                 Diagnostics& diagnostics) const {
  const auto& wanted = belos_->getEntry(key).getAny();
  list.setEntry(key, matchingNumber(list.getEntry(key), belos_->getEntry(key)));
  const auto& found = list.getEntry(key).getAny();
  if (wanted.type() == found.type()) return;
  const std::string allowed = wanted.type() == typeid(int)           ? "a whole number"
                              : wanted.type() == typeid(double)      ? "a number"
                              : wanted.type() == typeid(bool)        ? "yes or no"
                              : wanted.type() == typeid(std::string) ? "a word"
                                                                     : "nothing a deck can hold";
  diagnostics.error(place, fmt::format("found '{}'; allowed: {}", Teuchos::toString(found), allowed));
}

}  // namespace capstan::deck
