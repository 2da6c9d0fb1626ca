#include "belos_ext/choice/chooser.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace capstan {

namespace {

// Spreads of logarithms: of a prediction by the model, of one measured solve, and of what any number of them leave.
constexpr double spreadOfModel = 0.4, spreadOfCold = 0.8, spreadOfFirst = 0.3, spreadOfSolve = 0.1, leastSpread = 0.02;
constexpr double spreadOfPace = 0.06;   ///< of iterations for a digit, from right-hand side to right-hand side
constexpr double newestOfSpread = 0.1;  ///< weight of the last solve in a spread
constexpr double farthest = 1.0;        ///< logarithm of what was seen over what was expected, that counts for a spread
constexpr double ofChange = 0.5;  ///< what a change of the model's own prediction adds, for each unit of its logarithm
constexpr double leastGain = 0.98;     ///< another arm has to be this much better, at its best
constexpr double changesBelow = 0.97;  ///< times the best one's estimate: another one takes its place
constexpr double trialShare = 0.03;    ///< of all seconds, that trials may take beyond the best arm's
constexpr double trialsAtFirst = 2;    ///< solves of the best arm's time, that trials may take beyond it at any time
constexpr double anotherSystem = 1.3;  ///< times the pace, or a part of it: what failed may be tried again
constexpr double trialLength = 1.5;    ///< of the best arm's time, after which another one goes on
constexpr int leastIterations = 10;
constexpr int mostVain = 8;     ///< after so many trials in vain, 2^8 solves pass until the next one
constexpr double newest = 0.3;  ///< weight of the last solve in what is averaged
constexpr double leastSize = 0.1, mostSize = 2.0;
constexpr double mostAveraged = 6;    ///< solves that an average with that weight is worth
constexpr double mostAtOnce = 1.5;    ///< times what was measured before, that a solve may count for
constexpr double fewestDigits = 0.3;  ///< of a solve that says something

constexpr int costsWorkedOutAgain = 10;  ///< where iterations differ by more than this part of them

constexpr double leastSeconds = 1e-9;  ///< of an iteration: a clock may show none

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

Chooser::Chooser(std::vector<ArmModel> arms, const std::optional<MachineTimes>& counted,
                 const std::vector<GroupModel>& groups)
    : counted_(counted), solveSpread_(spreadOfSolve) {
  for (ArmModel& model : arms) {
    Arm& arm = arms_.emplace_back();
    arm.model = std::move(model);
    arm.ratioVariance = arm.model.ratioSpread * arm.model.ratioSpread;
  }
  if (counted_) times_ = *counted_;
  for (const GroupModel& model : groups) {
    Group& group = groups_.emplace_back();
    group.model = model;
    group.spread = spreadOfPace;
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].best = bestOf(g);
}

MachineTimes Chooser::timesWith(const Group& group) const {
  MachineTimes times = times_;
  if (group.preconditioner > 0 && !counted_) {
    times.preconditioner = group.preconditioner;
  } else if (group.model.work > 0) {
    times.preconditioner = group.model.work * times_.product;
  }
  return times;
}

double Chooser::modelSeconds(const Arm& arm, std::optional<double> reduction) const {
  MachineTimes times = timesWith(groupOf(arm));
  if (reduction) times.reduction = *reduction;
  return std::max(leastSeconds, iterationSeconds(arm.iteration, times));
}

double Chooser::firstSeconds(const Arm& arm) const {
  if (arm.solves > 0) return 0.0;
  const MachineTimes times = timesWith(groupOf(arm));
  return arm.model.first * (times.product + times.preconditioner);
}

std::optional<double> Chooser::estimate(std::size_t arm, std::optional<double> reduction) const {
  if (!known_) return std::nullopt;
  const Arm& one = arms_[arm];
  return modelSeconds(one, reduction) * one.correction * groupOf(one).pace * one.model.ratio;
}

double Chooser::spread(const Arm& arm) const {
  const Group& group = groupOf(arm);
  const double seconds = arm.solves == 0   ? spreadOfModel
                         : arm.cold        ? spreadOfCold
                         : arm.solves == 1 ? std::max(spreadOfFirst, solveSpread_)
                                           : solveSpread_ / std::sqrt(std::min<double>(arm.solves - 1, mostAveraged));
  const double both = std::hypot(std::max(leastSpread, seconds), std::sqrt(arm.ratioVariance));
  if (!group.known) return std::hypot(both, group.model.paceSpread);
  const Group& best = groupOf(arms_[best_]);
  const double ofPace = &group == &best ? 0.0 : ofChange * std::abs(std::log(best.pace / group.bestPace));
  if (arm.solves == 0) return both + ofPace;
  return both + ofPace + ofChange * std::abs(std::log(modelSeconds(arm) / arm.modelled));
}

bool Chooser::isRival(std::size_t arm) const {
  const ArmModel &mine = arms_[arm].model, &best = arms_[best_].model;
  return arm != best_ && !arms_[arm].failed && (mine.group != best.group || mine.symmetric || !best.symmetric);
}

std::optional<std::size_t> Chooser::second() const {
  if (!known_) return std::nullopt;
  std::optional<std::size_t> found;
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    if (!isRival(a)) continue;
    if (!found || *estimate(a) < *estimate(*found)) found = a;
  }
  return found;
}

std::optional<std::size_t> Chooser::worthATrial() const {
  if (!known_ || solves_ == 0) return std::nullopt;
  const double best = *estimate(best_);
  const double iterations = groupOf(arms_[best_]).expected * arms_[best_].model.ratio;
  const double solve = seconds_ / static_cast<double>(solves_);
  const double atFirst = resumed_ ? 0.0 : trialsAtFirst * solve;  // another run has made these trials
  std::optional<std::size_t> found;
  double least = leastGain * best;
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    if (!isRival(a) || solves_ < arms_[a].notBefore) continue;
    if (!groupOf(arms_[a]).known && iterations < groupOf(arms_[a]).model.worthFrom) continue;
    const double expected = *estimate(a), lower = expected * std::exp(-spread(arms_[a]));
    const double beyond = std::max(0.0, expected / best - 1) * solve + firstSeconds(arms_[a]);
    if (lower >= least || regret_ + beyond > trialShare * seconds_ + atFirst) continue;
    least = lower;
    found = a;
  }
  return found;
}

std::optional<std::size_t> Chooser::mightSolve() const {
  if (!arms_[best_].unsolved || solves_ == 0) return std::nullopt;
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    const auto alike = [&mine = arms_[a].model](const Arm& other) {
      return other.model.family == mine.family && other.model.group == mine.group;
    };
    const bool first = std::find_if(arms_.begin(), arms_.end(), alike) - arms_.begin() == static_cast<long>(a);
    if (first && a != best_ && arms_[a].solves == 0 && !arms_[a].failed && !arms_[a].unsolved) return a;
  }
  return std::nullopt;
}

std::optional<std::size_t> Chooser::reference() const {
  if (solves_ == 0) return std::nullopt;
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    const Arm& arm = arms_[a];
    if (arm.model.reference && a != best_ && arm.solves == 0 && !arm.failed && solves_ >= arm.notBefore) return a;
  }
  return std::nullopt;
}

std::size_t Chooser::choose() {
  std::optional<std::size_t> trial;
  if (!triedLast_) trial = mightSolve();
  if (!triedLast_ && !trial) trial = reference();
  if (!triedLast_ && !trial) trial = worthATrial();
  triedLast_ = trial.has_value();
  if (!trial) return best_;
  ++trials_;
  return *trial;
}

int Chooser::mostIterations(std::size_t arm) const {
  if (!known_) return 0;
  const auto seconds = [this](const Arm& one) { return modelSeconds(one) * one.correction; };
  const Arm& best = arms_[best_];
  double most = trialLength * groupOf(best).expected * best.model.ratio * seconds(best) / seconds(arms_[arm]);
  if (!groupOf(arms_[arm]).known) most *= std::exp(spreadOfModel);  // the time of M is a guess
  return std::max(leastIterations, static_cast<int>(std::min(std::ceil(most), 1e9)));
}

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

std::size_t Chooser::bestOf(std::optional<std::size_t> group) const {
  const auto left = [&](const Arm& arm) { return !arm.failed && (!group || arm.model.group == *group); };
  const auto order = [this](std::size_t one) { return std::make_pair(arms_[one].unsolved, *estimate(one)); };
  std::optional<std::size_t> best, first;
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    if (!left(arms_[a])) continue;
    if (!first) first = a;
    if (arms_[a].solves > 0 && (!best || order(a) < order(*best))) best = a;
  }
  if (best || first) return best ? *best : *first;
  // Where all have failed, each hands over to the same one: the first.
  const auto of = [&](const Arm& arm) { return !group || arm.model.group == *group; };
  return static_cast<std::size_t>(std::find_if(arms_.begin(), arms_.end(), of) - arms_.begin());
}

void Chooser::chooseBest() {
  const std::size_t best = bestOf(std::nullopt);
  // Two that are alike take turns with the noise: the one that is there stays.
  const Arm& now = arms_[best_];
  const bool stays =
      now.solves > 0 && !now.failed && !now.unsolved && *estimate(best) > changesBelow * *estimate(best_);
  if (!stays) best_ = best;
  for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].best = bestOf(g);
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
  const bool tells = seen.iterations > 0 && seen.iterations >= groupOf(arm).model.fewest * arm.model.ratio &&
                     seen.digits > fewestDigits;
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
  if (trial) regret_ += vain ? seconds : std::max(0.0, seconds - *estimate(best_) * seen.digits);
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
  arm.vain = vain ? std::min(arm.vain + 1, mostVain) : 0;
  arm.notBefore = vain ? solves_ + (1L << arm.vain) : 0;
  if (seen.iterations > 0) arm.unsolved = !seen.solved;  // also where it has gained nothing that could be measured
  chooseBest();
}

}  // namespace capstan
