#pragma once
/// \file
/// Runs a deck the way an application does: Belos::SolverFactory by name, a preconditioner kept over the steps.

#include <Teuchos_RCP.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "adapters/deck/deck.hpp"
#include "belos_ext/report/solve_report.hpp"

namespace capstan::deck {

/// One solve.
struct SolveRecord {
  std::string system, solver, method, preconditioner;  ///< names as in the deck
  int step = 0;                                        ///< of the system's sequence, from 0
  int outer = 0;                                       ///< outer iteration in the step, from 0
  long long rows = 0, entries = 0;
  int columns = 1;  ///< right-hand sides
  double tolerance = 0.0;
  int iterations = 0;
  bool claimed = false;  ///< the solver says that it converged
  /// claimed, and the residual computed here agrees within a factor of ten (the norm a solver tests may differ)
  bool converged = false;
  double relativeResidual = 0.0;  ///< largest over the columns of |b - A x| over its scale, computed here
  /// What the residual is divided by: "initial residual", "preconditioned initial residual", "right-hand side",
  /// "a number of the user" or "nothing"
  std::string scaledBy;
  std::string failure;             ///< what was thrown; empty: nothing
  std::string reason;              ///< why the solver gave up, as far as it says; empty: it did not, or does not say
  std::optional<long> reductions;  ///< MPI reductions of the solve, the preconditioner's included, where counted
  double setupSeconds = 0.0;       ///< preconditioner
  double solveSeconds = 0.0;
  std::optional<SolveReport> report;  ///< Capstan's own; absent for other solvers
  std::vector<HistoryPoint> history;  ///< residuals relative to their scale (Capstan) or to the first one (others)
};

struct RunOptions {
  bool history = false;                            ///< fill SolveRecord::history
  std::function<long()> reductions;                ///< MPI reductions of this process so far; empty: nobody counts
  std::function<void(const SolveRecord&)> before;  ///< called ahead of a solve, with the names filled in
  std::function<void(const SolveRecord&)> after;
};

/// Solves every system of the deck with each of its solvers. Collective; all ranks get the same records (seconds are
/// each rank's own). A preconditioner that cannot be built is a failure of its solves; where nothing was solved before
/// it, it is thrown: PreconditionerError on every rank. \throws InputError on every rank when a file turns out
/// unusable. \throws LoneFailure on a rank that failed while the others wait for it (shared_failures.hpp).
std::vector<SolveRecord> runDeck(const Deck& deck, const Teuchos::RCP<const Communicator>& comm,
                                 const RunOptions& options);

}  // namespace capstan::deck
