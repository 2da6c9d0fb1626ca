#pragma once

/// \file
/// Facts of solves, without a solve.

#include <string>

#include "belos_ext/parameters/parameter_overlay.hpp"
#include "belos_ext/test/support/methods.hpp"

namespace capstan::testing {

/// A solve of the first system of a run, of 1000 rows, which the application calls `label`.
inline SolveFacts solveOf(const std::string& label, const std::string& method = id::SStepGmres) {
  SolveFacts facts;
  facts.method = &methodOf(method);
  facts.label = label;
  for (const std::string& name : {label, facts.method->canonical, facts.method->alias}) {
    if (!name.empty()) facts.names.push_back(name);
  }
  facts.rows = 1000;
  facts.system = 1;
  facts.symmetric = [] { return std::nullopt; };
  return facts;
}

}  // namespace capstan::testing
