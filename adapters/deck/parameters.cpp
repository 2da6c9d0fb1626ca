// The `parameters:` maps: YAML to Teuchos::ParameterList.
#include <fmt/format.h>

#include <Teuchos_ParameterList.hpp>
#include <string>

#include "adapters/deck/linear_solvers.hpp"
#include "adapters/deck/map_reader.hpp"
#include "adapters/values/typed_values.hpp"

namespace capstan::deck {
namespace {

/// Only what YAML 1.2 and Nalu-wind's decks call a truth value; yaml-cpp also takes "y", "n", "on" and "off".
const TruthWords truthWords{{"true", "True", "TRUE", "yes", "Yes"}, {"false", "False", "FALSE", "no", "No"}};

void setList(const std::string& key, const YAML::Node& node, const Place& place, Teuchos::ParameterList& list,
             Diagnostics& diagnostics) {
  int index = 0;
  for (const auto& item : node) {
    if (!item.IsScalar()) {
      diagnostics.error(childPlace(place, fmt::format("[{}]", index), item),
                        fmt::format("found {}; allowed: a number or a word", foundText(item)));
      return;
    }
    ++index;
  }
  list.setEntry(key, typedSequence(node));
}

}  // namespace

Teuchos::ParameterList readParameters(const YAML::Node& map, const Place& place, Diagnostics& diagnostics) {
  Teuchos::ParameterList list;
  const MapReader checked(map, place, diagnostics);
  if (!map.IsMap()) return list;
  for (const auto& entry : map) {
    const std::string key = entry.first.Scalar();
    const Place here = childPlace(place, key, entry.second);
    if (entry.second.IsScalar()) {
      list.setEntry(key, typedScalar(entry.second, truthWords));
    } else if (entry.second.IsSequence()) {
      setList(key, entry.second, here, list, diagnostics);
    } else if (entry.second.IsMap()) {
      list.sublist(key) = readParameters(entry.second, here, diagnostics);
    } else {
      diagnostics.error(here, "found an empty value; allowed: a number, a word, yes or no, a list or a map");
    }
  }
  return list;
}

}  // namespace capstan::deck
