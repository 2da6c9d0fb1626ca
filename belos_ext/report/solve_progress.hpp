#pragma once

/// \file
/// How the reductions of one solve make progress while it computes, and what that hid.

#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/report/solve_report.hpp"
#include "tpetra_ext/reductions/progress.hpp"

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan {

/// Puts "Progress" into effect for its life. Methods without nonblocking reductions run as with "none".
class SolveProgress {
 public:
  /// Warns once a process where a progress thread was asked for and cannot be had.
  SolveProgress(const SolverOptions& options, const MethodTraits& method, const Teuchos::Comm<int>& comm);

  /// Fills report.progress, and adds an event where the mode is not the one asked for. Collective with "Measure
  /// Overlap" (see measureOverlap()), else local.
  /// \param spent what was counted during the solve
  void fill(const ReductionCounters& spent, SolveReport& report) const;

 private:
  const Teuchos::Comm<int>& comm_;
  ProgressMode wanted_;
  bool measure_;
  long pollsBefore_;
  ProgressScope scope_;
};

}  // namespace capstan
