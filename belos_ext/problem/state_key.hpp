#pragma once

/// \file
/// By what solves that may share what they have learnt are known.

#include <string>

namespace capstan {

/// Which solves share their state: same problem label, same variant, same number of rows, same number of ranks.
struct StateKey {
  std::string label;    ///< of the linear problem
  std::string variant;  ///< whatever else must agree, for example the preconditioner's side
  long long globalRows = 0;
  int ranks = 1;
  int series = 0;  ///< of solves that resemble each other: initial guesses are kept for each (setSeries())
  int solver = 0;  ///< of those that are there together (SolverNumbers): each has initial guesses of its own

  /// Whether they differ in nothing but the series and the solver.
  bool sameSystem(const StateKey& other) const {
    return label == other.label && variant == other.variant && globalRows == other.globalRows && ranks == other.ranks;
  }
  /// Whether they differ in nothing but the series.
  bool sameSolver(const StateKey& other) const { return sameSystem(other) && solver == other.solver; }
  bool operator==(const StateKey& other) const { return sameSolver(other) && series == other.series; }
};

}  // namespace capstan
