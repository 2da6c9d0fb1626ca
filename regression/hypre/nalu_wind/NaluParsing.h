#pragma once
// In place of Nalu-wind's own: how HypreLinearSolverConfig.C reads keys of a deck.
#include <yaml-cpp/yaml.h>

#include <string>

namespace sierra::nalu {

template <typename T>
void get_if_present_no_default(const YAML::Node& node, const std::string& key, T& result) {
  if (node[key]) result = node[key].as<T>();
}

template <typename T>
void get_if_present(const YAML::Node& node, const std::string& key, T& result, const T& otherwise = T()) {
  const T value = otherwise;  // it may be result itself
  result = node[key] ? node[key].as<T>() : value;
}

}  // namespace sierra::nalu
