#pragma once
/// \file
/// Reads one YAML map with every key accounted for: types, ranges, keys nobody asked for, keys given twice.

#include <yaml-cpp/yaml.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adapters/deck/diagnostics.hpp"

namespace capstan::deck {

/// The place of `node`, a child called `step` ("key" or "[2]") of `parent`.
Place childPlace(const Place& parent, const std::string& step, const YAML::Node& node);

/// What stands in a node, quoted and shortened for a message.
std::string foundText(const YAML::Node& node);

/// Typed access to a map. A key that is absent (or null) gives an empty optional; a wrong value is recorded in the
/// diagnostics and gives an empty optional too. Local.
class MapReader {
 public:
  /// Records an error unless `node` is a map; then every key is absent.
  MapReader(const YAML::Node& node, Place place, Diagnostics& diagnostics);

  bool has(const std::string& key);
  std::optional<std::string> text(const std::string& key);
  std::optional<std::string> word(const std::string& key, const std::vector<std::string>& allowed);
  std::optional<bool> boolean(const std::string& key);
  /// A whole number in [least, most]. \param otherwise what else is allowed, for the message
  std::optional<int> integer(const std::string& key, int least, int most, const std::string& otherwise = "");
  /// A finite number in [least, most], or in (least, most] when `open`.
  std::optional<double> real(const std::string& key, double least, double most, bool open = false);
  std::optional<std::vector<double>> reals(const std::string& key, std::size_t least, std::size_t most);
  std::optional<std::vector<int>> integers(const std::string& key, std::size_t least, std::size_t most, int smallest);
  /// The node itself; undefined when absent.
  YAML::Node node(const std::string& key);

  /// Place of a key of this map, present or not.
  Place place(const std::string& key) const;
  const Place& place() const { return place_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  void error(const std::string& key, const std::string& message) { diagnostics_.error(place(key), message); }
  void warning(const std::string& key, const std::string& message) { diagnostics_.warning(place(key), message); }

  /// Records an error for every key never asked for. Call it last.
  void finish();

 private:
  std::optional<YAML::Node> scalar(const std::string& key, const std::string& allowed);
  template <class Number>
  std::optional<std::vector<Number>> numbers(const std::string& key, std::size_t least, std::size_t most,
                                             const std::string& allowed, const std::function<bool(Number)>& sound);

  YAML::Node node_;
  Place place_;
  Diagnostics& diagnostics_;
  std::set<std::string> asked_;
};

/// Records an error unless `block` is a list with at least one entry, which a message calls `noun`. True when it is.
bool isList(const YAML::Node& block, const Place& place, const std::string& noun, Diagnostics& diagnostics);

/// Reads a list of entries that have a `name` each, by `read(node, place, index)`. Two of one name are an error, no
/// name is not. What is wrong goes into the diagnostics. Local.
template <class Read>
auto readNamedList(const YAML::Node& block, const Place& place, const std::string& noun, Diagnostics& diagnostics,
                   const Read& read) {
  std::vector<decltype(read(block, place, std::size_t{0}))> entries;
  if (!isList(block, place, noun, diagnostics)) return entries;
  std::set<std::string> names;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const Place here = childPlace(place, "[" + std::to_string(i) + "]", block[i]);
    entries.push_back(read(block[i], here, i));
    const std::string& name = entries.back().name;
    if (!name.empty() && !names.insert(name).second) {
      diagnostics.error(here, "the name '" + name + "' is already taken by another " + noun);
    }
  }
  return entries;
}

}  // namespace capstan::deck
