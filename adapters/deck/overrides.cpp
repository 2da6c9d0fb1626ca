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

/// How often a node stands in a document: one that an anchor names stands where its aliases are, too.
int timesIn(const YAML::Node& tree, const YAML::Node& node) {
  int times = tree.is(node) ? 1 : 0;
  for (const auto& item : tree) times += timesIn(tree.IsMap() ? item.second : item, node);
  return times;
}

/// Another node with the same children.
YAML::Node shallowCopy(const YAML::Node& node) {
  if (!node.IsMap() && !node.IsSequence()) return withoutMarks(node);
  YAML::Node copy(node.Type());
  for (const auto& item : node) {
    if (node.IsMap()) {
      copy.force_insert(item.first, item.second);
    } else {
      copy.push_back(item);
    }
  }
  return copy;
}

YAML::Node childAt(const YAML::Node& parent, const Step& step) {
  const auto* index = std::get_if<std::size_t>(&step);
  return index != nullptr ? parent[*index] : parent[std::get<std::string>(step)];
}

/// Gives a parent a copy of its child where the child stands elsewhere in the document as well.
void unshare(YAML::Node& parent, const Step& step, const YAML::Node& root) {
  const YAML::Node child = childAt(parent, step);
  if (timesIn(root, child) < 2) return;
  const YAML::Node own = shallowCopy(child);
  YAML::Node changed(parent.Type());
  std::size_t at = 0;
  for (const auto& item : parent) {
    if (parent.IsMap()) {
      changed.force_insert(item.first, item.first.Scalar() == std::get<std::string>(step) ? own : item.second);
    } else {
      changed.push_back(at++ == std::get<std::size_t>(step) ? own : item);
    }
  }
  parent = changed;
}

/// Walks from the root along the path and puts the value at its end, and nowhere else. False when the path leads
/// nowhere.
bool assign(const YAML::Node& root, const std::vector<Step>& path, const YAML::Node& value) {
  YAML::Node node = root;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (const auto* index = std::get_if<std::size_t>(&path[i])) {
      if (!node.IsSequence() || *index >= node.size()) return false;
    } else {
      if (!node.IsMap() && !node.IsNull()) return false;
      const auto& key = std::get<std::string>(path[i]);
      if (!node[key]) node[key] = i + 1 == path.size() ? YAML::Node() : YAML::Node(YAML::NodeType::Map);
    }
    unshare(node, path[i], root);
    const YAML::Node next = childAt(node, path[i]);
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
    if (!assign(root, path, value)) diagnostics.error(place, "the deck has no such key");
    return;
  }
  YAML::Node solvers = root["linear_solvers"];
  if (!solvers.IsDefined() || !solvers.IsSequence()) return;  // reported when the block is read
  for (std::size_t i = 0; i < solvers.size(); ++i) {
    if (!chosen(solvers[i], solver)) continue;
    std::vector<Step> whole{"linear_solvers", i};
    whole.insert(whole.end(), path.begin(), path.end());
    if (!assign(root, whole, value)) diagnostics.error(place, "the deck has no such key");
  }
}

}  // namespace capstan::deck
