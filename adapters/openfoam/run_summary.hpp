// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What all solves of a run cost, field by field: printed once at its end.

#include <iosfwd>
#include <string>
#include <vector>

namespace capstan::foam {

/// The cost of one solve.
struct SolveCost {
  std::string field;
  std::string method;
  std::string preconditioner;
  int iterations = 0;
  int passes = 0;  ///< calls of the Krylov solver: more than one when the recheck asked for it
  bool converged = false;
  bool atRounding = false;     ///< unconverged, but rounding allows no smaller residual
  bool hasReductions = false;  ///< whether the solver counted its reductions
  long reductions = 0;         ///< all-reduces inside the Krylov solver
  long applications = 0;       ///< of the preconditioner, counted where reductions are
  long checks = 0;             ///< all-reduces of this adapter: OpenFOAM's residual norms
  int builds = 0;              ///< times the preconditioner was built or renewed
  double setupSeconds = 0;     ///< matrix and preconditioner
  double solveSeconds = 0;     ///< everything else
};

/// Costs added up by field, method and preconditioner, in order of appearance. Local.
class RunSummary {
 public:
  void add(const SolveCost& cost);
  /// Writes the table; nothing when no solve was added.
  void print(std::ostream& out, int ranks) const;

 private:
  struct Row {
    SolveCost sum;
    long solves = 0;
    long unconverged = 0;
  };
  std::vector<Row> rows_;
};

}  // namespace capstan::foam
