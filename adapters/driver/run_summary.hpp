// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What all solves of a run cost, field by field: printed once at its end.

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "adapters/driver/solve_cost.hpp"

namespace capstan::driver {

/// Costs added up by field, method and preconditioner, in order of appearance. Local.
class RunSummary {
 public:
  void add(const SolveCost& cost);
  /// Writes the table; nothing when no solve was added.
  void print(std::ostream& out, int ranks) const;
  /// A line for each field whose solves did not all go as asked: how many did not converge, what was done how often.
  void printFailures(std::ostream& out) const;

 private:
  struct Failures {
    std::string field;
    long solves = 0;
    long unconverged = 0;
    std::map<std::string, long> steps;
  };
  void count(const SolveCost& cost);

  std::vector<SolveTotals> rows_;
  std::vector<Failures> failures_;
};

/// Adds a solve to the summary of the run, which the first rank prints when the run ends: its failures, and all of it
/// where one of the solves was recorded with \p print. Local.
void recordSolve(const SolveCost& cost, bool print);

}  // namespace capstan::driver
