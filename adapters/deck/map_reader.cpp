#include "adapters/deck/map_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

#include "adapters/values/typed_values.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::deck {
namespace {

template <class T>
std::optional<T> parsed(const YAML::Node& node) {
  if constexpr (std::is_same_v<T, int>) {
    return wholeNumber(node.Scalar());
  } else {
    T value;
    if (YAML::convert<T>::decode(node, value)) return value;
    return std::nullopt;
  }
}

std::string range(double least, double most, bool open) {
  if (most >= std::numeric_limits<double>::max())
    return fmt::format("{} {}", open ? "greater than" : "at least", least);
  return fmt::format("from {}{} to {}", open ? "above " : "", least, most);
}

std::string range(int least, int most) {
  if (most == std::numeric_limits<int>::max()) return fmt::format("at least {}", least);
  return fmt::format("from {} to {}", least, most);
}

std::string count(std::size_t least, std::size_t most) {
  if (least == most) return fmt::format("{}", least);
  if (most == std::numeric_limits<std::size_t>::max()) return fmt::format("{} or more", least);
  return fmt::format("{} to {}", least, most);
}

}  // namespace

Place childPlace(const Place& parent, const std::string& step, const YAML::Node& node) {
  Place place = parent;
  const bool index = !step.empty() && step.front() == '[';
  place.path += (parent.path.empty() || index ? "" : ".") + step;
  if (node.IsDefined() && !node.Mark().is_null()) {
    place.line = node.Mark().line + 1;
    place.column = node.Mark().column + 1;
  } else if (node.IsDefined()) {
    place.file = "--set";  // only what the command line gave stands on no line
    place.line = 0;
  }
  return place;
}

std::string foundText(const YAML::Node& node) {
  if (!node.IsDefined()) return "nothing";
  if (node.IsNull()) return "an empty value";
  if (node.IsMap()) return "a map";
  if (node.IsSequence()) return fmt::format("a list of {}", node.size());
  std::string text = node.Scalar();
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return "'" + text + "'";
}

MapReader::MapReader(const YAML::Node& node, Place place, Diagnostics& diagnostics)
    : node_(node), place_(std::move(place)), diagnostics_(diagnostics) {
  if (!node_.IsMap()) {
    diagnostics_.error(place_, fmt::format("found {}; allowed: a map of keys and values", foundText(node_)));
    node_.reset(YAML::Node(YAML::NodeType::Map));  // an assignment would change the deck
    return;
  }
  std::map<std::string, int> firstLine;
  for (const auto& entry : node_) {
    const auto [seen, fresh] = firstLine.emplace(entry.first.Scalar(), entry.first.Mark().line + 1);
    if (!fresh) {
      diagnostics_.error(childPlace(place_, entry.first.Scalar(), entry.first),
                         fmt::format("given twice (first on line {})", seen->second));
    }
  }
}

YAML::Node MapReader::node(const std::string& key) {
  asked_.insert(key);
  const YAML::Node& map = node_;
  return map[key];
}

bool MapReader::has(const std::string& key) {
  const YAML::Node value = node(key);
  return value.IsDefined() && !value.IsNull();
}

Place MapReader::place(const std::string& key) const {
  const YAML::Node& map = node_;
  return childPlace(place_, key, map[key]);
}

std::optional<YAML::Node> MapReader::scalar(const std::string& key, const std::string& allowed) {
  const YAML::Node value = node(key);
  if (!value.IsDefined()) return std::nullopt;
  if (value.IsScalar()) return value;
  error(key, fmt::format("found {}; allowed: {}", foundText(value), allowed));
  return std::nullopt;
}

std::optional<std::string> MapReader::text(const std::string& key) {
  const auto value = scalar(key, "text");
  if (!value) return std::nullopt;
  return value->Scalar();
}

std::optional<std::string> MapReader::word(const std::string& key, const std::vector<std::string>& allowed) {
  const auto value = scalar(key, oneOf(allowed));
  if (!value) return std::nullopt;
  std::string found = value->Scalar();
  std::transform(found.begin(), found.end(), found.begin(), [](unsigned char c) { return std::tolower(c); });
  if (std::find(allowed.begin(), allowed.end(), found) != allowed.end()) return found;
  error(key, fmt::format("found {}; allowed: {}{}", foundText(*value), oneOf(allowed), didYouMean(found, allowed)));
  return std::nullopt;
}

std::optional<bool> MapReader::boolean(const std::string& key) {
  const auto value = scalar(key, "yes or no");
  if (!value) return std::nullopt;
  const auto result = parsed<bool>(*value);
  if (!result) error(key, fmt::format("found {}; allowed: yes or no", foundText(*value)));
  return result;
}

std::optional<int> MapReader::integer(const std::string& key, int least, int most, const std::string& otherwise) {
  const std::string allowed = "a whole number " + range(least, most) + otherwise;
  const auto value = scalar(key, allowed);
  if (!value) return std::nullopt;
  const auto result = parsed<int>(*value);
  if (result && *result >= least && *result <= most) return result;
  error(key, fmt::format("found {}; allowed: {}", foundText(*value), allowed));
  return std::nullopt;
}

std::optional<double> MapReader::real(const std::string& key, double least, double most, bool open) {
  const std::string allowed = "a number " + range(least, most, open);
  const auto value = scalar(key, allowed);
  if (!value) return std::nullopt;
  const auto result = parsed<double>(*value);
  if (result && std::isfinite(*result) && *result <= most && (open ? *result > least : *result >= least)) return result;
  error(key, fmt::format("found {}; allowed: {}", foundText(*value), allowed));
  return std::nullopt;
}

template <class Number>
std::optional<std::vector<Number>> MapReader::numbers(const std::string& key, std::size_t least, std::size_t most,
                                                      const std::string& allowed,
                                                      const std::function<bool(Number)>& sound) {
  const YAML::Node value = node(key);
  if (!value.IsDefined()) return std::nullopt;
  std::vector<Number> list;
  if (value.IsSequence()) {
    for (const auto& item : value) {
      const auto number = item.IsScalar() ? parsed<Number>(item) : std::nullopt;
      if (!number || !sound(*number)) {
        diagnostics_.error(childPlace(place(key), fmt::format("[{}]", list.size()), item),
                           fmt::format("found {}; allowed: {}", foundText(item), allowed));
        return std::nullopt;
      }
      list.push_back(*number);
    }
  }
  if (value.IsSequence() && list.size() >= least && list.size() <= most) return list;
  error(key, fmt::format("found {}; allowed: {}", foundText(value), allowed));
  return std::nullopt;
}

std::optional<std::vector<double>> MapReader::reals(const std::string& key, std::size_t least, std::size_t most) {
  return numbers<double>(key, least, most, fmt::format("a list of {} finite numbers", count(least, most)),
                         [](double number) { return std::isfinite(number); });
}

std::optional<std::vector<int>> MapReader::integers(const std::string& key, std::size_t least, std::size_t most,
                                                    int smallest) {
  return numbers<int>(key, least, most,
                      fmt::format("a list of {} whole numbers, each at least {}", count(least, most), smallest),
                      [smallest](int number) { return number >= smallest; });
}

void MapReader::finish() {
  std::vector<std::string> known(asked_.begin(), asked_.end());
  for (const auto& entry : node_) {
    const std::string key = entry.first.Scalar();
    if (asked_.count(key) > 0) continue;
    diagnostics_.error(childPlace(place_, key, entry.first),
                       fmt::format("unknown key '{}'; allowed: {}{}", key, oneOf(known), didYouMean(key, known)));
  }
}

bool isList(const YAML::Node& block, const Place& place, const std::string& noun, Diagnostics& diagnostics) {
  if (block.IsSequence() && block.size() > 0) return true;
  diagnostics.error(place, fmt::format("found {}; allowed: a list with at least one {}", foundText(block), noun));
  return false;
}

}  // namespace capstan::deck
