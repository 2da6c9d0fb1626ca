#include "belos_ext/report/report_summary.hpp"

#include <fmt/format.h>

#include <BelosTypes.hpp>
#include <algorithm>
#include <cmath>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "belos_ext/parameters/conflicts.hpp"
#include "belos_ext/report/embedding_verdict.hpp"
#include "belos_ext/report/report_io.hpp"
#include "belos_ext/support/said_once.hpp"

namespace capstan {

namespace {

RightHandSideReport rightHandSideReport(const StopTest& stop) {
  RightHandSideReport one;
  one.converged = stop.converged();
  one.reason = stop.reason();
  one.iterations = stop.iterations();
  one.restarts = stop.restarts();
  one.scale = stop.measure() != nullptr ? stop.explicitScale() : stop.implicitScale();
  one.tolerance = stop.tolerance();
  one.recursiveResidual = stop.recursive() / stop.implicitScale();
  one.trueResidual = stop.attained();
  // A norm of b - A x, which a preconditioner on the left does not see.
  const bool computed = stop.criteria().testExplicit && stop.measure() == nullptr;
  one.initialResidual = stop.initial() / (computed ? stop.explicitScale() : stop.implicitScale());
  return one;
}

/// What a line about a solve begins with: `CAPSTAN CG, "pressure", system 2: `.
std::string front(const SolveReport& report) {
  std::string text = report.solver;
  if (!report.label.empty()) text += ", \"" + report.label + '"';
  if (report.system > 0) text += ", system " + std::to_string(report.system);
  return text + ": ";
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
  out << front(report) << "seconds: operator " << s.operatorSeconds << ", preconditioner " << s.preconditioner
      << ", orthogonalization " << s.orthogonalization << ", reductions " << s.reductionWait << ", rest " << s.rest
      << ", total " << s.total << '\n';
  if (report.reductionsNonblocking == 0) return;
  const ProgressReport& progress = report.progress;
  out << front(report) << "progress: " << progress.mode << ", " << progress.polls << " polls, " << progress.waitSeconds
      << " seconds in waits for nonblocking reductions";
  if (std::isfinite(progress.overlap)) {
    out << ", " << progress.aloneSeconds << " alone, overlap " << 100 * progress.overlap << " %";
  }
  out << '\n';
}

/// "A 12 (1 at the start, 1 beyond the iterations), M 10 (0 at the start, ...)".
void printApplications(std::ostream& out, const SolveReport& report) {
  const auto count = [](long all, long start, long beyond) {
    return fmt::format("{} ({} at the start, {} beyond the iterations)", all, start, beyond);
  };
  out << front(report) << "applications: A "
      << count(report.operatorApplications, report.operatorsAtStart, report.operatorsBeyond);
  if (report.preconditionerApplications > 0) {
    out << ", M "
        << count(report.preconditionerApplications, report.preconditionersAtStart, report.preconditionersBeyond);
  }
  out << fmt::format("; all-reduces: {} blocking, {} nonblocking\n", report.reductionsBlocking,
                     report.reductionsNonblocking);
}

/// What the best of the initial guesses was worth; nothing where none was taken.
void printGuess(std::ostream& out, const SolveReport& report) {
  const GuessReport* best = nullptr;
  for (const RightHandSideReport& one : report.rightHandSides) {
    if (one.guess.vectors > 0 && (best == nullptr || one.guess.factor > best->factor)) best = &one.guess;
  }
  if (best == nullptr) return;
  out << front(report) << "initial guess: " << report.initialGuess
      << fmt::format(": the residual fell by {:.3g} with {} vectors", best->factor, best->vectors);
  if (std::isfinite(best->iterationsSaved))
    out << fmt::format(", about {:.0f} iterations saved", best->iterationsSaved);
  out << fmt::format("; {:.3g} MB kept\n", 1e-6 * static_cast<double>(report.guessBytes));
}

/// "communication: two-step, as asked for; 12 products, ...": nothing where the application's way was asked for.
void printCommunication(std::ostream& out, const SolveReport& report) {
  const CommunicationReport& c = report.communication;
  if (c.reason.empty()) return;
  out << front(report) << "communication: " << c.reason;
  if (c.nodes > 0) {
    const auto sent = [](const SentByRanks& messages, const SentByRanks& bytes) {
      return fmt::format("{} messages ({} of a rank at most), {} bytes ({})", messages.total, messages.mostOfARank,
                         bytes.total, bytes.mostOfARank);
    };
    out << fmt::format(
        "; {} products on {} nodes of up to {} ranks: between nodes {}, within nodes {}; {}", c.products, c.nodes,
        c.ranksPerNode, sent(c.traffic.networkMessages, c.traffic.networkBytes),
        sent(c.traffic.nodeMessages, c.traffic.nodeBytes),
        c.fromEarlier ? "plan of an earlier solve" : fmt::format("plan made in {:.3g} s", c.setupSeconds));
  }
  out << '\n';
}

/// "halo exchange inside the all-reduce: ...": what it sends, and what it saves.
void printEmbedded(std::ostream& out, const SolveReport& report) {
  const EmbeddedReport& e = report.communication.embedded;
  if (!e.used || report.ranks == 1) return;
  const std::string verdict = embeddingVerdict(e, report.ranks);
  out << front(report)
      << fmt::format(
             "halo exchange{} inside the all-reduce: {} messages of a rank in a reduction, in place of these and up to "
             "{} "
             "to its neighbours ({:.3g} on average); {:.3g} values sent by a rank for {:.3g} that it needs{}{}; {} of "
             "{} reductions carried {} vectors; {}{}\n",
             e.preconditioner ? " of A and the preconditioner" : "", e.messages, e.neighbours, e.meanNeighbours,
             e.values, e.halo, verdict.empty() ? "" : ", ", verdict, e.reductions, report.reductionsBlocking, e.columns,
             report.communication.fromEarlier ? "plan of an earlier solve"
                                              : fmt::format("plan made in {:.3g} s", e.setupSeconds),
             e.preconditionerApart.empty()
                 ? ""
                 : "; any messages of the preconditioner are its own, beside these: " + e.preconditionerApart);
}

void warn(const SolveReport& report, bool lossOfAccuracy, std::ostream& out) {
  if (lossOfAccuracy) {
    out << front(report) << "warning: loss of accuracy: the computed residual stays at " << report.trueResidual
        << ", above the tolerance " << report.tolerance << '\n';
  }
  for (const ReportEvent& event : report.events) {
    if (event.what != EventKind::Asymmetric || !firstTime(report.solver + ", " + report.label + ": " + event.kind))
      continue;
    out << front(report) << "warning: " << event.detail << '\n';
  }
}

/// The first right-hand side that ended for a reason that no more iterations would mend, or null.
const RightHandSideReport* brokenSolve(const SolveReport& report) {
  for (const RightHandSideReport& one : report.rightHandSides) {
    if (one.reason == StopReason::Breakdown || one.reason == StopReason::NonFinite) return &one;
  }
  return nullptr;
}

void sayBreakdown(const SolveReport& report) {
  const RightHandSideReport* one = brokenSolve(report);
  if (one == nullptr) return;
  const std::string label = report.label.empty() ? report.solver : "\"" + report.label + "\", " + report.solver;
  const std::string what = one->reason == StopReason::Breakdown
                               ? "breakdown"
                               : "a number that is not finite in the matrix, the preconditioner or a vector";
  sayOnceFor("not converged: " + label,
             fmt::format("{}not converged: {}, after {} iterations; true relative residual {:.2e} (said once for this "
                         "label)",
                         front(report), what, one->iterations, one->trueResidual));
}

}  // namespace

void summarize(const std::vector<StopTest>& stops, const SolverOptions& options, bool hasLeft, SolveReport& report) {
  const StopCriteria& criteria = stops.front().criteria();
  report.tolerance = options.tolerance;
  report.norm = options.residualNorm == ResidualNorm::One ? "1-norm of b - A x"
                : hasLeft && criteria.testExplicit        ? "2-norm of M^-1 (b - A x), and of b - A x"
                                                          : "2-norm of b - A x";
  report.scaling = toString(criteria.testExplicit ? options.explicitScaling : criteria.implicitScaling);
  report.converged = true;
  report.reason = StopReason::Converged;
  for (const StopTest& stop : stops) {
    const RightHandSideReport one = rightHandSideReport(stop);
    if (!one.converged && report.converged) {
      report.converged = false;
      report.reason = one.reason;
    }
    report.iterations = std::max(report.iterations, one.iterations);
    report.restarts = std::max(report.restarts, one.restarts);
    report.recursiveResidual = std::max(report.recursiveResidual, one.recursiveResidual);
    report.tolerance = std::max(report.tolerance, one.tolerance);
    report.trueResidual =
        std::isnan(one.trueResidual) ? one.trueResidual : std::max(report.trueResidual, one.trueResidual);
    report.rightHandSides.push_back(one);
  }
  report.iterationsInTurn = iterationsInTurn(stops, rightHandSidesTogether(options, stops.size()));
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
      out << front(report) << "iteration " << event.iteration << ", right-hand side " << event.rightHandSide << ": "
          << event.kind << ": " << event.detail << '\n';
    }
  }
  if ((options.verbosity & Belos::Warnings) != 0) warn(report, lossOfAccuracy, out);
  sayBreakdown(report);
  if ((options.verbosity & Belos::FinalSummary) != 0) {
    out << front(report) << toString(report.reason) << " after " << report.iterations
        << " iterations, true relative residual " << report.trueResidual << '\n';
    printApplications(out, report);
    printGuess(out, report);
    printCommunication(out, report);
    printEmbedded(out, report);
  }
  if ((options.verbosity & Belos::TimingDetails) != 0) printSeconds(out, report);
}

}  // namespace capstan
