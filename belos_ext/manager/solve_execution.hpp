#pragma once
/// \file
/// "Execution" of a solve: kernels where they are launched, or as tasks of threads.

#include <optional>
#include <string>
#include <system_error>

#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/report/event_text.hpp"
#include "belos_ext/report/solve_report.hpp"
#include "tpetra_ext/execution.hpp"
#include "tpetra_ext/kernels/host/task_scope.hpp"

namespace capstan {

/// Lives as long as the solve. Local; the ranks need not have the same.
template <class Exec>
class SolveExecution {
 public:
  explicit SolveExecution(const SolverOptions& options)
      : chosen_(chosenExecution(options.execution, options.threads, kernels::TaskScope<Exec>::possible())) {
    try {
      scope_.emplace(chosen_.threads);
    } catch (const std::system_error& error) {
      chosen_.reason = std::string("ordered: the system has no thread to give: ") + error.what();
      scope_.emplace(kernels::Threads{});
    }
  }

  /// Where something else than the default was asked for.
  void tell(SolveReport& report) const {
    if (!chosen_.reason.empty()) {
      report.events.push_back(reportEvent(0, -1, Event(EventKind::Execution).by(chosen_.reason)));
    }
  }

 private:
  ChosenExecution chosen_;
  std::optional<kernels::TaskScope<Exec>> scope_;
};

}  // namespace capstan
