// The `parameters:` maps: YAML to Teuchos::ParameterList.
#include <fmt/format.h>

#include <Teuchos_Array.hpp>
#include <string>

#include "adapters/deck/linear_solvers.hpp"
#include "adapters/deck/map_reader.hpp"

namespace capstan::deck {
namespace {

bool quoted(const YAML::Node& node) { return node.Tag() == "!"; }

template <class T>
bool decode(const YAML::Node& node, T& value) {
  return YAML::convert<T>::decode(node, value);
}

/// Only what YAML 1.2 and Nalu-wind's decks call a truth value; yaml-cpp also takes "y", "n", "on" and "off".
bool decodeTruth(const YAML::Node& node, bool& value) {
  const std::string& text = node.Scalar();
  for (const char* word : {"true", "True", "TRUE", "false", "False", "FALSE", "yes", "Yes", "no", "No"}) {
    if (text == word) return decode(node, value);
  }
  return false;
}

void setScalar(const std::string& key, const YAML::Node& node, Teuchos::ParameterList& list) {
  int whole = 0;
  double real = 0.0;
  bool truth = false;
  if (quoted(node)) {
    list.set(key, node.Scalar());
  } else if (decode(node, whole)) {
    list.set(key, whole);
  } else if (decode(node, real)) {
    list.set(key, real);
  } else if (decodeTruth(node, truth)) {
    list.set(key, truth);
  } else {
    list.set(key, node.Scalar());
  }
}

void setList(const std::string& key, const YAML::Node& node, const Place& place, Teuchos::ParameterList& list,
             Diagnostics& diagnostics) {
  Teuchos::Array<double> numbers;
  Teuchos::Array<std::string> words;
  for (const auto& item : node) {
    if (!item.IsScalar()) {
      diagnostics.error(childPlace(place, fmt::format("[{}]", words.size()), item),
                        fmt::format("found {}; allowed: a number or a word", foundText(item)));
      return;
    }
    double number = 0.0;
    if (!quoted(item) && decode(item, number)) numbers.push_back(number);
    words.push_back(item.Scalar());
  }
  if (numbers.size() == words.size()) {
    list.set(key, numbers);
  } else {
    list.set(key, words);
  }
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
      setScalar(key, entry.second, list);
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
