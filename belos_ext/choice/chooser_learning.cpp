/// What a chooser learns of a solve: the times of the machine, iterations, and what has failed.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "belos_ext/choice/chooser.hpp"

namespace capstan {

namespace {

constexpr double anotherSystem = 1.3;  ///< times the pace, or a part of it: what failed may be tried again
constexpr int mostVain = 8;            ///< after so many trials in vain, 2^8 solves pass until the next one
constexpr double newest = 0.3;         ///< weight of the last solve in what is averaged
constexpr double leastSize = 0.1, mostSize = 2.0;
constexpr double mostAtOnce = 1.5;       ///< times what was measured before, that a solve may count for
constexpr double fewestDigits = 0.3;     ///< of a solve that says something
constexpr int costsWorkedOutAgain = 10;  ///< where iterations differ by more than this part of them

constexpr double newestOfSpread = 0.1;  ///< weight of the last solve in a spread
constexpr double farthest = 1.0;        ///< logarithm of what was seen over what was expected, that counts for a spread

/// The spread of logarithms, from what is seen of them, `ratio` being what was seen over what was expected.
void follow(double& spread, double ratio, double least) {
  const double seen = std::min(std::abs(std::log(ratio)), farthest);
  spread = std::max(least, std::sqrt(spread * spread + newestOfSpread * (seen * seen - spread * spread)));
}

/// \param size of the solve over that of others: a short one tells less
void average(double& mean, double value, bool first, double size = 1.0) {
  mean = first ? value : mean + newest * std::clamp(size, leastSize, mostSize) * (value - mean);
}

}  // namespace

double Chooser::workOf(const Arm& arm) const {
  const Cost& cost = arm.iteration.cost;
  return std::max(1.0, cost.operators + cost.preconditioners * std::max(1.0, groupOf(arm).model.work));
}

void Chooser::takeTimes(const Arm& arm, const Observation& seen) {
  if (counted_) return;
  Group& group = groups_[arm.model.group];
  if (seen.products == 0) {
    // A method that counts nothing: its seconds are those of products as long as there is nothing better.
    if (!timed_) times_.product = seen.seconds / (seen.iterations * workOf(arm));
    return;
  }
  const bool first = !std::exchange(timed_, true);
  std::vector<double> before;
  if (first)
    std::transform(arms_.begin(), arms_.end(), std::back_inserter(before),
                   [this](const Arm& one) { return modelSeconds(one); });
  average(times_.product, seen.productSeconds / static_cast<double>(seen.products), first);
  if (seen.preconditioners > 0) {
    average(group.preconditioner, seen.preconditionerSeconds / static_cast<double>(seen.preconditioners),
            group.preconditioner == 0);
  }
  times_.preconditioner = group.preconditioner;
  const IterationCost& iteration = arm.iteration;
  if (iteration.cost.bytes > 0)
    average(times_.byte, seen.kernelSeconds / (seen.iterations * iteration.cost.bytes), first);
  // A solve whose reductions are hidden has some that are not: at its start, where the ranks may come apart.
  double seconds = times_.reduction;
  if (seen.reductions > 0) seconds = seen.waitSeconds / static_cast<double>(seen.reductions);
  if (seen.hiddenReductions > 0) {
    const double wait = seen.hiddenWaitSeconds / static_cast<double>(seen.hiddenReductions);
    seconds = reductionSeconds(iteration, times_, wait, seconds);
  }
  average(times_.reduction, seconds, first);
  if (first) keepMeasured(before);
}

void Chooser::keepMeasured(const std::vector<double>& before) {
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    if (arms_[a].solves == 0) continue;
    arms_[a].modelled = modelSeconds(arms_[a]);
    arms_[a].correction *= before[a] / arms_[a].modelled;
  }
}

void Chooser::expectIterations(std::size_t group, double iterations) {
  Group& own = groups_[group];
  average(own.expected, iterations, !own.known);
  for (Arm& one : arms_) {
    if (one.model.group != group) continue;
    const int now = static_cast<int>(std::max(1.0, std::round(own.expected * one.model.ratio)));
    // A cost takes a microsecond to work out, and hardly depends on the number.
    if (std::abs(now - one.iterations) * costsWorkedOutAgain <= one.iterations) continue;
    one.iterations = now;
    one.iteration = one.model.iteration(now);
  }
}

void Chooser::fail(Arm& arm, const Observation& seen) {
  arm.failed = true;
  arm.presumed = false;
  ++arm.failures;
  const std::size_t group = arm.model.group;
  arm.failedPace = known_ ? paceOfSystem(arm) : 0.0;
  // Where none of these has succeeded, M may not be symmetric, which shows only so.
  const bool any = std::any_of(arms_.begin(), arms_.end(), [&](const Arm& one) {
    return one.model.group == group && one.model.symmetric && one.solves > 0;
  });
  if (!arm.model.symmetric || ((any || seen.slow) && !seen.asymmetric)) return;
  failSymmetricArms(seen.asymmetric ? std::nullopt : std::optional(group));
}

void Chooser::failSymmetricArms(std::optional<std::size_t> group) {
  for (Arm& arm : arms_) {
    if (!arm.model.symmetric || (group && arm.model.group != *group)) continue;
    arm.presumed = group.has_value();
    arm.failed = true;
    arm.failures = 0;
  }
}

void Chooser::pardon(Arm& arm) {
  for (Arm& one : arms_) {
    const bool with = one.presumed && one.model.group == arm.model.group && arm.model.symmetric;
    if (with || &one == &arm) one.failed = one.presumed = false;
  }
}

void Chooser::leaveSymmetricArms() {
  const auto left = [](const Arm& arm) { return arm.failed || !arm.model.symmetric; };
  if (std::all_of(arms_.begin(), arms_.end(), left)) return;
  failSymmetricArms(std::nullopt);
  chooseBest();
}

double Chooser::paceOfSystem(const Arm& arm) const {
  const Group& group = groupOf(arm);
  return group.known ? group.pace : groupOf(arms_[best_]).pace;
}

void Chooser::forgive() {
  for (Arm& arm : arms_) {
    if (!arm.failed || arm.failures == 0) continue;
    const double pace = paceOfSystem(arm);
    if (arm.failedPace == 0.0) arm.failedPace = pace;
    // Each failure asks for a greater change.
    if (std::abs(std::log(pace / arm.failedPace)) > arm.failures * std::log(anotherSystem)) arm.failed = false;
  }
}

void Chooser::expectPaces(const Group& known) {
  const double hardness = std::pow(known.pace / known.model.factor, 1 / known.model.power);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].known) continue;
    groups_[g].pace = groups_[g].model.factor * std::pow(hardness, groups_[g].model.power);
    expectIterations(g, groups_[g].pace * digits_);
  }
}

void Chooser::learnPace(std::size_t index, const Observation& seen) {
  Arm& arm = arms_[index];
  Group& group = groups_[arm.model.group];
  const double iterations = seen.iterations / seen.digits;
  if (index == group.best || !group.known) {
    if (group.known) follow(group.spread, iterations / (arm.model.ratio * group.pace), spreadOfPace);
    average(group.pace, iterations / arm.model.ratio, !group.known, seen.digits / digits_);
  } else {
    // What is seen and what was expected, each by what it is worth.
    const double weight = arm.ratioVariance / (arm.ratioVariance + group.spread * group.spread);
    arm.model.ratio *= std::pow(iterations / (group.pace * arm.model.ratio), weight);
    arm.ratioVariance *= 1 - weight;
  }
  const bool first = !std::exchange(group.known, true);
  known_ = true;
  if (index == group.best || first) expectPaces(group);
  const Group& best = groupOf(arms_[best_]);
  group.bestPace = best.known ? best.pace : group.pace;
}

void Chooser::learn(std::size_t index, const Observation& seen) {
  Arm& arm = arms_[index];
  const double fewest = groupOf(arm).model.fewest * arm.model.ratio;
  const bool tells = seen.iterations > 0 && seen.iterations >= fewest && seen.digits > fewestDigits;
  const double usual = groupOf(arm).expected * arm.model.ratio;
  if (tells) {
    average(digits_, seen.digits, !known_);
    expectIterations(arm.model.group, seen.iterations / arm.model.ratio);
  }
  const double seconds = std::max(leastSeconds, counted_ ? seen.iterations * modelSeconds(arm) : seen.seconds);
  ++solves_;
  seconds_ += seconds;
  const bool fails = seen.failed || seen.slow || (seen.asymmetric && arm.model.symmetric);
  const bool trial = index != best_ && known_;
  // What was handed over has served as far as it came.
  const bool vain = trial && !seen.slow && (!tells || (!seen.solved && solves(best_)));
  const bool brief = seen.solved && !fails && seen.iterations > 0 && seen.iterations < fewest;
  if (trial) regret_ += vain && !brief ? seconds : std::max(0.0, seconds - *estimate(best_) * seen.digits);
  if (fails) fail(arm, seen);
  if (arm.failed && !fails && tells && seen.solved) pardon(arm);
  if (tells && !arm.failed) {
    takeTimes(arm, seen);
    // The first solve of a run is not like the others.
    if (!std::exchange(arm.resumed, false)) {
      arm.modelled = modelSeconds(arm);
      double correction = seconds / (seen.iterations * arm.modelled);
      // One solve that something else has disturbed tells little of the next.
      if (arm.solves > 1) follow(solveSpread_, correction / arm.correction, spreadOfSolve);
      if (arm.solves > 1) correction = std::clamp(correction, arm.correction / mostAtOnce, arm.correction * mostAtOnce);
      average(arm.correction, correction, arm.solves<2, usual> 0 ? seen.iterations / usual : 1.0);
    }
    arm.cold = !known_;
    learnPace(index, seen);
    ++arm.solves;
    forgive();
  }
  if (brief) {
    average(arm.briefDigits, std::max(seen.digits, fewestDigits), arm.brief == 0.0);
    average(arm.brief, seconds, arm.brief == 0.0);
  } else if (tells) {
    arm.brief = 0.0;
  }
  arm.vain = vain ? std::min(arm.vain + 1, mostVain) : 0;
  arm.notBefore = vain ? solves_ + (1L << arm.vain) : 0;
  if (seen.iterations > 0) arm.unsolved = !seen.solved;  // also where it has gained nothing that could be measured
  chooseBest();
}

}  // namespace capstan
