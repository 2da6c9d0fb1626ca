// What a report may say at all: counts within limits, and the same as the solver's own answers.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "belos_ext/test/soak/judge.hpp"

namespace capstan::soak {
namespace {

/// Collects what a report must not say.
class Sanity {
 public:
  explicit Sanity(std::vector<Failure>& failures) : failures_(failures) {}
  template <class A, class B>
  void equal(const char* what, const A& a, const B& b) {
    if (!(a == b)) failures_.push_back({fmt::format("report: {}", what), fmt::format("{} and {}", a, b)});
  }
  void within(const char* what, double value, double low, double high) {
    if (!(value >= low && value <= high)) {
      failures_.push_back({fmt::format("report: {}", what), fmt::format("{} is not in [{}, {}]", value, low, high)});
    }
  }

 private:
  std::vector<Failure>& failures_;
};

void judgeColumns(const SolveReport& report, const SolverOptions& options, Sanity& sanity) {
  bool all = true;
  int most = 0;
  for (const RightHandSideReport& column : report.rightHandSides) {
    sanity.within("iterations of a column", column.iterations, 0, options.maxIterations);
    sanity.within("restarts of a column", column.restarts, 0, std::numeric_limits<int>::max());
    sanity.equal("reason of a column", column.converged, column.reason == StopReason::Converged);
    sanity.equal("a column that never started", column.reason == StopReason::NotStarted, false);
    sanity.within("scale", column.scale, std::numeric_limits<double>::denorm_min(),
                  std::numeric_limits<double>::infinity());
    all = all && column.converged;
    most = std::max(most, column.iterations);
  }
  sanity.equal("converged, and that of the columns", report.converged, all);
  sanity.equal("iterations, and the most of a column", report.iterations, most);
}

}  // namespace

void judgeReport(const System& system, const Question& question, const Observation& seen,
                 std::vector<Failure>& failures) {
  Sanity sanity(failures);
  const SolveReport& report = seen.report;
  const int columns = system.b.columns;
  constexpr double many = 1e15;
  // As Belos has it, a test of the application's own that is combined by OR is one of convergence.
  const bool passed = std::all_of(report.rightHandSides.begin(), report.rightHandSides.end(), [](const auto& column) {
    return column.converged || column.reason == StopReason::UserTest;
  });
  sanity.equal("converged, and what solve() returned", report.converged || (passed && columns > 0), seen.converged);
  sanity.equal("iterations, and getNumIters()", report.iterations, seen.iterations);
  sanity.equal("columns", report.rightHandSides.size(), static_cast<std::size_t>(columns));
  sanity.equal("rows", report.rows, static_cast<long long>(system.b.rows));
  sanity.equal("ranks", report.ranks, system.x->getMap()->getComm()->getSize());
  sanity.within("blocking reductions", static_cast<double>(report.reductionsBlocking), 0, many);
  sanity.within("nonblocking reductions", static_cast<double>(report.reductionsNonblocking), 0, many);
  sanity.within("final step size", report.finalStepSize, 0, 100);
  sanity.within("operator applications", static_cast<double>(report.operatorApplications), 0, many);
  if (!system.counted.is_null() && question.testsCountApplications) {
    sanity.equal("operator applications", report.operatorApplications,
                 static_cast<long>(system.counted->applications()));
  }
  long preconditioned = 0;
  for (const auto& side : {system.leftOperator, system.rightOperator}) {
    preconditioned += side.is_null() ? 0 : side->applications();
  }
  if (question.testsCountApplications && !system.bare) {
    sanity.equal("preconditioner applications", report.preconditionerApplications, preconditioned);
  }
  for (const double seconds : {report.seconds.operatorSeconds, report.seconds.preconditioner,
                               report.seconds.orthogonalization, report.seconds.reductionWait, report.seconds.total}) {
    sanity.within("seconds", seconds, 0, 1e6);
  }
  if (!std::isnan(report.progress.overlap)) sanity.within("overlap", report.progress.overlap, 0, 1);
  for (const ReportEvent& event : report.events) {
    sanity.within("column of an event", event.rightHandSide, -1, columns - 1);
    sanity.within("iteration of an event", event.iteration, 0, report.iterations);
  }
  for (const HistoryPoint& point : report.history) {
    sanity.within("column of a history point", point.rightHandSide, 0, columns - 1);
    sanity.within("iteration of a history point", point.iteration, 0, report.iterations);
  }
  judgeColumns(report, question.options, sanity);
}

}  // namespace capstan::soak
