#include "belos_ext/parameters/parameter_table.hpp"

#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "belos_ext/parameters/parameter_value.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan {

namespace {

template <class... Concerns>
std::vector<ParameterRow> rowsOfAll(const OptionsOf<Concerns...>*) {
  std::vector<ParameterRow> all;
  const auto add = [&all](std::vector<ParameterRow> rows, bool general) {
    for (ParameterRow& row : rows) {
      row.general = general;
      if (general && row.group == ParameterGroup::Method) row.group = ParameterGroup::Expert;
      all.push_back(std::move(row));
    }
  };
  (add(Concerns::rows(), isGeneral<Concerns>), ...);
  return all;
}

}  // namespace

const std::vector<ParameterRow>& parameterRows() {
  static const std::vector<ParameterRow> rows = rowsOfAll(static_cast<const AllOptions*>(nullptr));
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
