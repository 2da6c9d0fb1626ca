#include "belos_ext/choice/choosing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "belos_ext/report/event_text.hpp"

namespace capstan {

Observation observationOf(const SolveReport& report, int trialEndsAt) {
  Observation seen;
  const PhaseSeconds& seconds = report.seconds;
  seen.seconds = seconds.total;
  seen.productSeconds = seconds.operatorSeconds;
  seen.preconditionerSeconds = seconds.preconditioner;
  seen.kernelSeconds = seconds.orthogonalization;
  seen.hiddenWaitSeconds = report.progress.waitSeconds;
  seen.waitSeconds = std::max(0.0, seconds.reductionWait - seen.hiddenWaitSeconds);
  seen.products = report.operatorApplications;
  seen.preconditioners = report.preconditionerApplications;
  seen.reductions = report.reductionsBlocking;
  seen.hiddenReductions = report.reductionsNonblocking;
  seen.iterations = report.iterationsInTurn;
  for (const RightHandSideReport& one : report.rightHandSides) {
    // Beyond the tolerance digits are of no use.
    const double end = one.converged ? std::max(one.trueResidual, report.tolerance) : one.trueResidual;
    const double digits = std::log10(one.initialResidual / end);
    if (std::isfinite(digits)) seen.digits = std::max(seen.digits, digits);
  }
  seen.solved = report.converged || report.reason == StopReason::UserTest;
  seen.failed = report.reason == StopReason::Breakdown || report.reason == StopReason::Stagnation;
  for (const ReportEvent& event : report.events) {
    seen.slow = seen.slow || (event.what == EventKind::HandedOver && trialEndsAt > 0 && event.iteration >= trialEndsAt);
    seen.failed = seen.failed || event.what == EventKind::Fallback;
    seen.asymmetric = seen.asymmetric || event.what == EventKind::Asymmetric;
  }
  return seen;
}

RankMeasures measuresOf(const Observation& seen) {
  return {seen.seconds,
          seen.productSeconds,
          seen.preconditionerSeconds,
          seen.kernelSeconds,
          seen.waitSeconds,
          seen.hiddenWaitSeconds,
          static_cast<double>(seen.reductions),
          static_cast<double>(seen.hiddenReductions)};
}

void setMeasures(Observation& seen, const RankMeasures& means) {
  seen.seconds = means[0];
  seen.productSeconds = means[1];
  seen.preconditionerSeconds = means[2];
  seen.kernelSeconds = means[3];
  seen.waitSeconds = means[4];
  seen.hiddenWaitSeconds = means[5];
  seen.reductions = std::lround(means[6]);
  seen.hiddenReductions = std::lround(means[7]);
}

MachineTimes countedTimes(double rows, int ranks, bool preconditioned) {
  const double byte = 1e-10 * std::max(1.0, rows / ranks);
  constexpr double ofProduct = 7 * 12 + 24;
  const double product = ofProduct * byte + (ranks > 1 ? 5e-6 : 0);
  return {product, preconditioned ? 2 * product : 0, byte, 1e-5 * std::ceil(std::log2(ranks))};
}

namespace {

bool isPowerOfTwo(long solves) { return solves > 0 && (solves & (solves - 1)) == 0; }

std::vector<ChoiceArm> expectedOf(const Chooser& chooser) {
  std::vector<ChoiceArm> arms;
  for (std::size_t a = 0; a < chooser.arms(); ++a) {
    const auto seconds = chooser.estimate(a);
    if (!seconds) return {};
    ChoiceArm& one = arms.emplace_back();
    one.arm = chooser.arm(a).name;
    one.seconds = *seconds;
    one.spread = chooser.uncertainty(a);
    for (std::size_t i = 0; i < one.at.size(); ++i) one.at[i] = *chooser.estimate(a, 1e-6 * ChoiceArm::latencies[i]);
    one.solves = chooser.measured(a);
    one.leftOut = chooser.leavesOut(a);
  }
  return arms;
}

}  // namespace

ChoiceReport choiceReport(const Chooser& chooser, std::size_t arm) {
  ChoiceReport report;
  report.arm = chooser.arm(arm).name;
  report.trial = arm != chooser.best();
  report.best = chooser.arm(chooser.best()).name;
  report.bestSeconds = chooser.estimate(chooser.best()).value_or(0.0);
  if (const auto second = chooser.second()) {
    report.second = chooser.arm(*second).name;
    report.secondSeconds = *chooser.estimate(*second);
  }
  report.solves = chooser.solves();
  report.trials = chooser.trials();
  report.regretSeconds = chooser.regretSeconds();
  if (report.trial || isPowerOfTwo(report.solves)) report.arms = expectedOf(chooser);
  return report;
}

bool isToBeKept(const Chooser& chooser, const std::string& best, const std::string& written) {
  return isPowerOfTwo(chooser.solves()) || best != written;
}

std::string said(const ChoiceReport& report, const std::string& before) {
  if (report.trial) return fmt::format("a trial of {}; the best one known is {}", report.arm, report.best);
  if (report.arm == before) return "";
  if (report.second.empty()) return report.arm;
  return fmt::format("{}, {:.2g} s a digit; next {}, {:.2g} s", report.arm, report.bestSeconds, report.second,
                     report.secondSeconds);
}

}  // namespace capstan
