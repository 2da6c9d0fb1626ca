// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What all solves of a run cost, field by field: printed once at its end.

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace capstan::foam {

/// Seconds of a Krylov method on this rank, of which it is known what they were spent on; NaN: not known.
struct PhaseTimes {
  double product = 0;
  double preconditioner = 0;
  double reductions = 0;  ///< waiting for them

  PhaseTimes& operator+=(const PhaseTimes& other) {
    product += other.product;
    preconditioner += other.preconditioner;
    reductions += other.reductions;
    return *this;
  }
};

/// The cost of one solve, and how it went.
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
  long products = 0;           ///< with A, those for OpenFOAM's residual included
  PhaseTimes times;
  double initialResidual = 0;  ///< OpenFOAM's
  double finalResidual = 0;
  std::vector<std::string> steps;  ///< what was done where it failed, in words that are counted
  std::string fellBackTo;          ///< what went on in the end; empty: what the user asked for

  /// Unconverged, though rounding allows a smaller residual.
  bool isUnconverged() const { return !converged && !atRounding; }
};

/// Solves of one field with one method and preconditioner, added up. Local.
struct SolveTotals {
  SolveCost sum;  ///< residuals: the first of the first solve, the last of the last one
  long solves = 0;
  long unconverged = 0;  ///< those left at the level of rounding are none

  /// Whether \p cost belongs to the same field, method and preconditioner.
  bool matches(const SolveCost& cost) const;
  void add(const SolveCost& cost);
};

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

}  // namespace capstan::foam
