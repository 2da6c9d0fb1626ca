#include "adapters/deck/diagnostics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace capstan::deck {

std::string Place::text() const {
  std::string where = file;
  if (line > 0) where += fmt::format(":{}:{}", line, column);
  if (!path.empty()) where += (where.empty() ? "" : ": ") + path;
  return where;
}

void Diagnostics::error(const Place& place, const std::string& message) {
  errors_.push_back(place.text() + ": " + message);
}

void Diagnostics::warning(const Place& place, const std::string& message) {
  warnings_.push_back(place.text() + ": " + message);
}

void Diagnostics::append(const std::vector<std::string>& errors) {
  errors_.insert(errors_.end(), errors.begin(), errors.end());
}

void Diagnostics::throwIfFailed() const {
  if (failed()) throw InputError(fmt::format("{}", fmt::join(errors_, "\n")));
}

std::string oneOf(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace capstan::deck
