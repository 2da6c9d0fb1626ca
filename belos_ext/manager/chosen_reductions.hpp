#pragma once
/// \file
/// The way of all-reduces that "Reduction Strategy" asks for, during a solve.
///
/// The first reduction of a solve compares parameters, and is MPI's own; what follows goes as asked for. What has to be
/// made for it is kept with the communicator.

#include <Teuchos_Comm.hpp>
#include <Teuchos_RCP.hpp>
#include <string>
#include <utility>

#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/report/event_text.hpp"
#include "belos_ext/report/solve_report.hpp"
#include "tpetra_ext/reductions/reduction_route.hpp"
#include "tpetra_ext/topology/exchange/node_reduction.hpp"

namespace capstan {

/// Lives as long as the solve.
class ChosenReductions {
 public:
  ChosenReductions(const SolverOptions& options, Teuchos::RCP<const Teuchos::Comm<int>> comm)
      : strategy_(options.reductionStrategy),
        ranksPerNode_(options.ranksPerNode),
        comm_(std::move(comm)),
        scope_(nullptr) {}

  /// The ranks have the same parameters. Does nothing the second time. Collective where nothing is kept yet.
  void agree() {
    if (settled_ || strategy_ == topology::ReductionStrategy::Mpi) return;
    settled_ = true;
    const auto chosen = topology::reductionBy(*comm_, strategy_, ranksPerNode_);
    reason_ = chosen.reason;
    scope_.take(chosen.route);
  }

  /// Tells the report. Local.
  void close(SolveReport& report) const {
    if (strategy_ == topology::ReductionStrategy::Mpi) return;
    report.events.push_back(reportEvent(
        0, -1,
        Event(EventKind::ReductionStrategy).by(settled_ ? reason_ : "mpi: the solve ended with its first reduction")));
  }

 private:
  topology::ReductionStrategy strategy_;
  int ranksPerNode_;
  Teuchos::RCP<const Teuchos::Comm<int>> comm_;
  ReductionRouteScope scope_;
  bool settled_ = false;
  std::string reason_;
};

}  // namespace capstan
