#include "adapters/deck/overrides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <variant>

#include "adapters/values/yaml_document.hpp"

namespace capstan::deck {
namespace {

using Step = std::variant<std::string, std::size_t>;

/// "a.b[2].c" as its steps; empty when it is malformed.
std::vector<Step> steps(const std::string& key) {
  std::vector<Step> path;
  std::size_t at = 0;
  while (at < key.size()) {
    if (key[at] == '[') {
      const auto end = key.find(']', at);
      const std::string digits = end == std::string::npos ? "" : key.substr(at + 1, end - at - 1);
      const bool number = !digits.empty() && digits.size() < 9 &&
                          std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); });
      if (!number || path.empty()) return {};
      path.emplace_back(static_cast<std::size_t>(std::stoul(digits)));
      at = end + 1;
    } else {
      if (!path.empty() && key[at] == '.') ++at;
      const auto end = std::min(key.find_first_of(".[", at), key.size());
      if (end == at) return {};
      path.emplace_back(key.substr(at, end - at));
      at = end;
    }
  }
  return path;
}

/// A copy that does not claim to stand on some line of the deck.
YAML::Node withoutMarks(const YAML::Node& node) {
  YAML::Node copy;
  if (node.IsScalar()) {
    copy = YAML::Node(node.Scalar());
    if (node.Tag() == "!") copy.SetTag("!");
  } else if (node.IsSequence()) {
    copy = YAML::Node(YAML::NodeType::Sequence);
    for (const auto& item : node) copy.push_back(withoutMarks(item));
  } else if (node.IsMap()) {
    copy = YAML::Node(YAML::NodeType::Map);
    for (const auto& item : node) copy[item.first.Scalar()] = withoutMarks(item.second);
  }
  return copy;
}

/// Walks from `node` along the path and puts the value at its end. False when the path leads nowhere.
bool assign(YAML::Node node, const std::vector<Step>& path, std::size_t first, const YAML::Node& value) {
  for (std::size_t i = first; i < path.size(); ++i) {
    YAML::Node next;
    if (const auto* index = std::get_if<std::size_t>(&path[i])) {
      if (!node.IsSequence() || *index >= node.size()) return false;
      next.reset(node[*index]);
    } else {
      if (!node.IsMap() && !node.IsNull()) return false;
      const auto& key = std::get<std::string>(path[i]);
      if (!node[key]) node[key] = i + 1 == path.size() ? YAML::Node() : YAML::Node(YAML::NodeType::Map);
      next.reset(node[key]);
    }
    node.reset(next);
  }
  node = withoutMarks(value);  // one copy each: nodes are references
  return true;
}

bool chosen(const YAML::Node& solver, const std::string& name) {
  if (name.empty() || name == "all" || !solver.IsMap()) return true;
  return solver["name"] && solver["name"].IsScalar() && solver["name"].Scalar() == name;
}

}  // namespace

void applyOverride(YAML::Node root, const std::string& assignment, const std::string& solver,
                   Diagnostics& diagnostics) {
  const Place place{"--set", assignment, 0, 0};
  const auto equals = assignment.find('=');
  const auto path = equals == std::string::npos ? std::vector<Step>{} : steps(assignment.substr(0, equals));
  if (path.empty()) {
    diagnostics.error(place,
                      "allowed: key=value with a key such as tolerance or linear_solvers[0].parameters.Step Size");
    return;
  }
  YAML::Node value;
  try {
    value = withoutMarks(yamlDocument(assignment.substr(equals + 1)));
  } catch (const YAML::Exception& error) {
    diagnostics.error(place, fmt::format("the value is not YAML: {}", error.msg));
    return;
  }
  const auto& first = std::get<std::string>(path.front());
  if (first == "systems" || first == "linear_solvers" || first == "campaign") {
    if (!assign(root, path, 0, value)) diagnostics.error(place, "the deck has no such key");
    return;
  }
  YAML::Node solvers = root["linear_solvers"];
  if (!solvers.IsDefined() || !solvers.IsSequence()) return;  // reported when the block is read
  for (auto entry : solvers) {
    if (chosen(entry, solver) && !assign(entry, path, 0, value)) diagnostics.error(place, "the deck has no such key");
  }
}

}  // namespace capstan::deck
