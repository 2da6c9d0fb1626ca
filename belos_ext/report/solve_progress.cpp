#include "belos_ext/report/solve_progress.hpp"

#include <Teuchos_Comm.hpp>
#include <algorithm>
#include <atomic>
#include <ostream>

#include "belos_ext/report/event_text.hpp"
#include "tpetra_ext/reductions/reduction_time.hpp"

namespace capstan {

SolveProgress::SolveProgress(const SolverOptions& options, const MethodTraits& method, const Teuchos::Comm<int>& comm)
    : comm_(comm),
      wanted_(method.pipelined ? options.progress : ProgressMode::None),
      measure_(options.measureOverlap),
      pollsBefore_(progressPolls()),
      scope_(wanted_) {
  static std::atomic<bool> warned{false};
  if (wanted_ != ProgressMode::Thread || scope_.mode() == ProgressMode::Thread || warned.exchange(true)) return;
  if (comm_.getRank() == 0) {
    *options.outputStream << "Capstan warning: \"Progress\" = \"thread\" becomes \"" << toString(scope_.mode())
                          << "\": " << scope_.reason() << std::endl;
  }
}

void SolveProgress::fill(const ReductionCounters& spent, SolveReport& report) const {
  ProgressReport& progress = report.progress;
  progress.mode = toString(scope_.mode());
  progress.polls = progressPolls() - pollsBefore_;
  progress.waitSeconds = spent.nonblockingWaitSeconds;
  if (scope_.mode() != wanted_) {
    report.events.push_back(reportEvent(
        0, -1,
        Event(EventKind::Progress).by(progress.mode + " instead of " + toString(wanted_) + ": " + scope_.reason())));
  }
  if (!measure_) return;
  const OverlapSeconds means = measureOverlap(comm_, spent);
  progress.waitSeconds = means.wait;
  progress.aloneSeconds = means.alone;
  if (progress.aloneSeconds > 0) {
    progress.overlap = std::clamp(1 - progress.waitSeconds / progress.aloneSeconds, 0.0, 1.0);
  }
}

}  // namespace capstan
