// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The Krylov solvers of one field: any method by name, on the application's own product.

#include <memory>
#include <string>
#include <vector>

#include "adapters/driver/assembled_preconditioner.hpp"
#include "adapters/driver/host_actions.hpp"
#include "adapters/driver/solve_cost.hpp"
#include "belos_ext/choice/choosing.hpp"

namespace capstan::driver {

/// One system A d = r for a correction d, its vectors on this rank's rows, in the order of the application.
struct KrylovSystem {
  HostActions& actions;                      ///< A, and M where `ownPreconditioner`
  bool symmetric = false;                    ///< A is
  bool ownPreconditioner = false;            ///< M of the actions, on the right
  const AssembledPreconditioner* assembled;  ///< else this one, on the right; null: none
  const double* r;
  double* d;            ///< the solution
  int series;           ///< of solves that resemble each other; below 0: resembles none
  int minIterations;    ///< of Capstan's methods
  bool timed;           ///< somebody wants to know how long products take
  ChoiceReport choice;  ///< why this method, for its report
};

/// How one solve went, alike on all ranks.
struct KrylovOutcome {
  bool converged = false;
  bool atRounding = false;          ///< unconverged, since rounding allows no smaller residual
  double attained = 0;              ///< || r - A d ||_1 / || r ||_1 at the end, computed; of Capstan's own alone
  double guessDigits = 0;           ///< decimal digits by which an initial guess has reduced the residual's 2-norm
  std::vector<Remedy> remedies;     ///< what the method itself did about breakdowns
  std::optional<Observation> seen;  ///< by a method of Capstan's, for those who choose
};

/// Member functions are collective over the communicator of the rows unless said otherwise. They
/// throw std::exception for misuse (unknown names, wrong types); a failed solve is a result.
class KrylovSolver {
 public:
  /// \param label names the problem in reports and in the state cache: the field's name.
  KrylovSolver(const Teuchos::RCP<const Map>& map, std::string label, WhyReserved why);
  ~KrylovSolver();
  KrylovSolver(const KrylovSolver&) = delete;
  KrylovSolver& operator=(const KrylovSolver&) = delete;

  /// Whether the method is one of Capstan's, which judge by the 1-norm.
  bool judgesByOneNorm(const SolverChoice& choice);

  /// Whether the method may be given A and M that are both negative definite, as some applications have them.
  bool takesNegativeDefinite(const SolverChoice& choice);

  /// Solves from d = 0 until || r - A d ||_p <= tolerance || r ||_p, with p = 1 where judgesByOneNorm(), else p = 2.
  /// \param cost of the whole solve, to which this one is added
  KrylovOutcome solve(const SolverChoice& choice, double tolerance, int maxIterations, const KrylovSystem& system,
                      SolveCost& cost);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capstan::driver
