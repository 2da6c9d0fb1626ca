#pragma once

/// \file
/// The rows of the parameter table that a method takes: those of its concerns (solver_options.hpp).

#include <vector>

#include "belos_ext/parameters/parameter_table.hpp"

namespace capstan {

/// Settles what keys not given follow from those given: the schemes within and between blocks (Capstan's own keys win
/// over Belos' and upstream's), and the basis. Does nothing the second time.
void resolve(ParameterState& state);

/// The rows of Belos' own s-step method, for BasisOptions::rows(). Local.
std::vector<ParameterRow> upstreamSwitches();

/// The names of the rows that a method takes beyond those that every method takes. Local.
template <class... Own>
std::vector<std::string> namesOf(const MethodOptions<Own...>*) {
  std::vector<std::string> names;
  const auto add = [&names](const std::vector<ParameterRow>& rows) {
    for (const ParameterRow& row : rows) names.push_back(row.name);
  };
  (add(Own::rows()), ...);
  return names;
}

}  // namespace capstan
