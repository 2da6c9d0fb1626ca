// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What solves cost, and how they went: plain data that both sides of an adapter may see.

#include <string>
#include <vector>

namespace capstan::driver {

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

/// What was done where a method failed.
struct Remedy {
  std::string message;      ///< for the user, when it happens
  std::string counted;      ///< in a few words, the same each time: counted at the end of the run
  std::string fallsBackTo;  ///< what goes on; empty: the same as before
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
  bool matches(const SolveCost& cost) const {
    return sum.field == cost.field && sum.method == cost.method && sum.preconditioner == cost.preconditioner;
  }

  void add(const SolveCost& cost) {
    if (solves++ == 0) {
      sum = cost;
      sum.hasReductions = cost.hasReductions || cost.iterations == 0;
      unconverged = cost.isUnconverged() ? 1 : 0;
      return;
    }
    unconverged += cost.isUnconverged() ? 1 : 0;
    sum.iterations += cost.iterations;
    sum.passes += cost.passes;
    sum.hasReductions = sum.hasReductions && (cost.hasReductions || cost.iterations == 0);
    sum.builds += cost.builds;
    sum.reductions += cost.reductions;
    sum.applications += cost.applications;
    sum.checks += cost.checks;
    sum.setupSeconds += cost.setupSeconds;
    sum.solveSeconds += cost.solveSeconds;
    sum.products += cost.products;
    sum.times += cost.times;
    sum.finalResidual = cost.finalResidual;
  }
};

}  // namespace capstan::driver
