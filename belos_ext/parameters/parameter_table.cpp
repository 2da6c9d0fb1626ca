#include "belos_ext/parameters/parameter_table.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>

#include "belos_ext/parameters/parameter_groups.hpp"
#include "belos_ext/parameters/parameter_value.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan {

const std::vector<ParameterRow>& parameterRows() {
  static const std::vector<ParameterRow> rows = [] {
    std::vector<ParameterRow> all;
    for (auto group : {rows::stopping, rows::krylovSpace, rows::enlargedSpace, rows::stepSize, rows::orthogonalization,
                       rows::communication, rows::output, rows::behaviour, rows::acceptedForBelos}) {
      const bool changesNothing = group == rows::output || group == rows::acceptedForBelos;
      for (ParameterRow& row : group()) {
        row.general = std::none_of(methods().begin(), methods().end(),
                                   [&](const MethodTraits& method) { return method.takes(row.name); });
        row.mayDiffer = changesNothing || row.name == "Strict Parameters" || row.name == "Progress";
        all.push_back(std::move(row));
      }
    }
    return all;
  }();
  return rows;
}

const ParameterRow* findParameter(const std::string& key) {
  static const auto* const rows = [] {
    auto* all = new std::unordered_map<std::string, const ParameterRow*>;
    for (const ParameterRow& row : parameterRows()) all->emplace(normalizedName(row.name), &row);
    return all;
  }();
  const auto found = rows->find(normalizedName(key));
  return found == rows->end() ? nullptr : found->second;
}

std::string nearestParameter(const std::string& key) {
  std::vector<std::string> names;
  for (const ParameterRow& row : parameterRows()) names.push_back(row.name);
  return nearestMatch(key, names);
}

void parseParameter(const ParameterRow& row, const Teuchos::ParameterEntry& entry, ParameterState& state) {
  std::string reason;
  try {
    if (entry.isList()) throw std::invalid_argument("is not a value");
    row.parse(entry, state);
    return;
  } catch (const std::invalid_argument& error) {
    reason = error.what();
  }
  std::string nearest;
  if (!row.words.empty() && (holds<std::string>(entry) || holds<const char*>(entry))) {
    nearest = didYouMean(toText(entry), row.words);
  }
  throw std::invalid_argument("parameter \"" + row.name + "\" = " + showValue(entry) + " " + reason +
                              "; allowed: " + row.type + ", " + row.allowed + nearest);
}

void checkParameter(const ParameterRow& row, const Teuchos::ParameterEntry& entry) {
  ParameterState scratch;
  parseParameter(row, entry, scratch);
}

}  // namespace capstan
