#include "belos_ext/parameters/parameter_row_makers.hpp"

#include <cmath>

namespace capstan::rows {

ParameterRow described(const std::string& name, const std::string& type, const std::string& allowed,
                       const std::string& doc) {
  ParameterRow row;
  row.name = name;
  row.type = type;
  row.allowed = allowed;
  row.doc = doc;
  return row;
}

std::size_t wordAt(const std::vector<std::string>& words, const Teuchos::ParameterEntry& entry) {
  const std::string word = normalizedName(toText(entry));
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const std::string& one) { return normalizedName(one) == word; });
  if (found == words.end()) throw std::invalid_argument("is not one of the allowed words");
  return static_cast<std::size_t>(found - words.begin());
}

int toInt(const Teuchos::ParameterEntry& entry, int low, int high) {
  const int value = capstan::toInt(entry);
  if (value < low || value > high) throw std::invalid_argument("is out of range");
  return value;
}

ParameterRow integer(const std::string& name, int SolverOptions::*member, int low, int high, const std::string& doc) {
  const bool open = high == std::numeric_limits<int>::max();
  const std::string allowed = open ? fmt::format(">= {}", low) : fmt::format("{} to {}", low, high);
  return bound(described(name, "int", allowed, doc), member,
               [low, high](const Teuchos::ParameterEntry& entry) { return toInt(entry, low, high); });
}

ParameterRow real(const std::string& name, double SolverOptions::*member, double low, const std::string& doc) {
  return bound(described(name, "double", "a number >= " + showReal(low), doc), member,
               [low](const Teuchos::ParameterEntry& entry) {
                 const double value = toReal(entry);
                 if (!std::isfinite(value) || value < low) throw std::invalid_argument("is out of range");
                 return value;
               });
}

ParameterRow boolean(const std::string& name, bool SolverOptions::*member, const std::string& doc) {
  return bound(described(name, "bool", "true, false", doc), member, toBool);
}

ParameterRow text(const std::string& name, std::string SolverOptions::*member, const std::string& allowed,
                  const std::string& doc) {
  return bound(described(name, "string", allowed, doc), member, toText);
}

}  // namespace capstan::rows
