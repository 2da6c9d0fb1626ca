#include "belos_ext/report/report_summary.hpp"

#include <fmt/format.h>

#include <BelosTypes.hpp>
#include <algorithm>
#include <cmath>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "belos_ext/parameters/conflicts.hpp"
#include "belos_ext/report/report_io.hpp"
#include "belos_ext/support/said_once.hpp"

namespace capstan {

namespace {

constexpr const char* symmetryEvent = "symmetry";

ColumnReport columnReport(const StopTest& stop) {
  ColumnReport column;
  column.converged = stop.converged();
  column.reason = stop.reason();
  column.iterations = stop.iterations();
  column.restarts = stop.restarts();
  column.scale = stop.implicitScale();
  column.recursiveResidual = stop.recursive() / stop.implicitScale();
  column.trueResidual = stop.attained();
  return column;
}

/// What the sets of right-hand sides took, one after the other: those of a set advance together.
int iterationsInTurn(const std::vector<StopTest>& stops, std::size_t together) {
  int sum = 0, most = 0;
  for (std::size_t c = 0; c < stops.size(); ++c) {
    if (c % together == 0) sum += std::exchange(most, 0);
    most = std::max(most, stops[c].iterations());
  }
  return sum + most;
}

void printSeconds(std::ostream& out, const SolveReport& report) {
  const PhaseSeconds& s = report.seconds;
  out << report.solver << ": seconds: operator " << s.operatorSeconds << ", preconditioner " << s.preconditioner
      << ", orthogonalization " << s.orthogonalization << ", reductions " << s.reductionWait << ", rest " << s.rest
      << ", total " << s.total << '\n';
  if (report.reductionsNonblocking == 0) return;
  const ProgressReport& progress = report.progress;
  out << report.solver << ": progress: " << progress.mode << ", " << progress.polls << " polls, "
      << progress.waitSeconds << " seconds in waits for nonblocking reductions";
  if (std::isfinite(progress.overlap)) {
    out << ", " << progress.aloneSeconds << " alone, overlap " << 100 * progress.overlap << " %";
  }
  out << '\n';
}

void warn(const SolveReport& report, bool lossOfAccuracy, std::ostream& out) {
  if (lossOfAccuracy) {
    out << report.solver << ": warning: loss of accuracy: the computed residual stays at " << report.trueResidual
        << ", above the tolerance " << report.tolerance << '\n';
  }
  for (const ReportEvent& event : report.events) {
    if (event.kind != symmetryEvent || !firstTime(report.solver + ", " + report.label + ": " + event.kind)) continue;
    out << report.solver << ": warning: " << (report.label.empty() ? "" : "\"" + report.label + "\": ") << event.detail
        << '\n';
  }
}

/// The first column that ended for a reason that no more iterations would mend, or null.
const ColumnReport* brokenColumn(const SolveReport& report) {
  for (const ColumnReport& column : report.columns) {
    if (column.reason == StopReason::Breakdown || column.reason == StopReason::NonFinite) return &column;
  }
  return nullptr;
}

void sayBreakdown(const SolveReport& report) {
  const ColumnReport* column = brokenColumn(report);
  if (column == nullptr) return;
  const std::string label = report.label.empty() ? report.solver : "\"" + report.label + "\", " + report.solver;
  const std::string what = column->reason == StopReason::Breakdown
                               ? "breakdown"
                               : "a number that is not finite in the matrix, the preconditioner or a vector";
  sayOnceFor(
      "not converged: " + label,
      fmt::format("{}: not converged: {}, after {} iterations; true relative residual {:.2e} (said once for this "
                  "label)",
                  label, what, column->iterations, column->trueResidual));
}

}  // namespace

ReportEvent asymmetryEvent(const SymmetryVerdict& verdict) {
  return {
      0, -1, symmetryEvent,
      fmt::format("the matrix is not symmetric: {} of the {} rows compared with their columns differ; CG is made for "
                  "symmetric matrices, a GMRES method for others",
                  verdict.rowsThatDiffer, verdict.rowsCompared)};
}

void summarize(const std::vector<StopTest>& stops, const SolverOptions& options, const MethodTraits& method,
               bool hasLeft, SolveReport& report) {
  const StopCriteria& criteria = stops.front().criteria();
  report.tolerance = options.tolerance;
  report.norm = hasLeft && criteria.testExplicit ? "2-norm of M^-1 (b - A x), and of b - A x" : "2-norm of b - A x";
  report.scaling = toString(criteria.testExplicit ? options.explicitScaling : criteria.implicitScaling);
  report.converged = true;
  report.reason = StopReason::Converged;
  for (const StopTest& stop : stops) {
    const ColumnReport column = columnReport(stop);
    if (!column.converged && report.converged) {
      report.converged = false;
      report.reason = column.reason;
    }
    report.iterations = std::max(report.iterations, column.iterations);
    report.restarts = std::max(report.restarts, column.restarts);
    report.recursiveResidual = std::max(report.recursiveResidual, column.recursiveResidual);
    report.trueResidual =
        std::isnan(column.trueResidual) ? column.trueResidual : std::max(report.trueResidual, column.trueResidual);
    report.columns.push_back(column);
  }
  report.iterationsInTurn = iterationsInTurn(stops, columnsTogether(options, method, stops.size()));
  PhaseSeconds& s = report.seconds;
  s.rest = s.total - s.operatorSeconds - s.preconditioner - s.orthogonalization - s.reductionWait;
  std::stable_sort(report.events.begin(), report.events.end(),
                   [](const ReportEvent& a, const ReportEvent& b) { return a.iteration < b.iteration; });
}

void publish(const SolveReport& report, const SolverOptions& options, bool lossOfAccuracy) {
  std::ostream& out = *options.outputStream;
  try {
    if (!options.reportFile.empty()) writeReport(options.reportFile, report);
    if (!options.historyFile.empty()) writeHistory(options.historyFile, report);
  } catch (const std::runtime_error& error) {
    if (firstTime(error.what())) out << "Capstan warning: " << error.what() << std::endl;
  }
  if ((options.verbosity & (Belos::OrthoDetails | Belos::Debug)) != 0) {
    for (const ReportEvent& event : report.events) {
      out << report.solver << ": iteration " << event.iteration << ", column " << event.column << ": " << event.kind
          << ": " << event.detail << '\n';
    }
  }
  if ((options.verbosity & Belos::Warnings) != 0) warn(report, lossOfAccuracy, out);
  sayBreakdown(report);
  if ((options.verbosity & Belos::FinalSummary) != 0) {
    out << report.solver << ": " << toString(report.reason) << " after " << report.iterations
        << " iterations, true relative residual " << report.trueResidual << '\n';
  }
  if ((options.verbosity & Belos::TimingDetails) != 0) printSeconds(out, report);
}

}  // namespace capstan
