#include "belos_ext/choice/chooser.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace capstan {

namespace {

// Spreads of logarithms: of a prediction by the model, of one with the correction of others, of the first solves, and
// of what any number of them leave.
constexpr double spreadOfModel = 0.4, spreadOfKin = 0.2, spreadOfCold = 0.8, spreadOfFirst = 0.3, leastSpread = 0.02;
constexpr double ofChange = 0.5;  ///< what a change of the model's own prediction adds, for each unit of its logarithm
constexpr double leastGain = 0.98;     ///< another arm has to be this much better, at its best
constexpr double changesBelow = 0.97;  ///< times the best one's estimate: another one takes its place
constexpr double trialShare = 0.03;    ///< of all seconds, that trials may take beyond the best arm's
constexpr double trialsAtFirst = 2;    ///< solves of the best arm's time, that trials may take beyond it at any time
constexpr double trialLength = 1.5;    ///< of the best arm's time, after which another one goes on
constexpr int leastIterations = 10;
constexpr double mostAveraged = 6;  ///< solves that an average with that weight is worth

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
  const Arm& one = arms_[arm];
  if (one.brief > 0.0) return one.brief / one.briefDigits;
  if (!known_) return std::nullopt;
  return modelSeconds(one, reduction) * correctionOf(one) * groupOf(one).pace * one.model.ratio;
}

double Chooser::correctionOf(const Arm& arm) const {
  if (arm.solves > 0) return arm.correction;
  double weights = 0.0, sum = 0.0;
  for (const bool cold : {false, true}) {
    for (const Arm& kin : arms_) {
      if (kin.solves == 0 || kin.cold != cold || kin.model.group != arm.model.group) continue;
      const double weight = std::min<double>(kin.solves, mostAveraged);
      weights += weight;
      sum += weight * std::log(kin.correction);
    }
    if (weights > 0.0) return std::exp(sum / weights);
  }
  return 1.0;
}

bool Chooser::hasKin(const Arm& arm) const {
  return std::any_of(arms_.begin(), arms_.end(), [&arm](const Arm& kin) {
    return kin.solves > 0 && !kin.cold && kin.model.group == arm.model.group;
  });
}

double Chooser::spread(const Arm& arm) const {
  if (arm.brief > 0.0) return std::max(spreadOfFirst, solveSpread_);
  const Group& group = groupOf(arm);
  const double seconds = arm.solves == 0   ? (hasKin(arm) ? spreadOfKin : spreadOfModel)
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
    if (arm.model.reference && a != best_ && !isMeasured(arm) && !arm.failed && solves_ >= arm.notBefore) return a;
  }
  return std::nullopt;
}

std::size_t Chooser::choose() {
  std::optional<std::size_t> trial;
  if (!triedLast_) trial = mightSolve();
  if (!triedLast_ && !trial) trial = reference();
  if (!triedLast_ && !trial && arms_[best_].brief == 0.0) trial = worthATrial();
  triedLast_ = trial.has_value();
  if (!trial) return best_;
  ++trials_;
  return *trial;
}

int Chooser::mostIterations(std::size_t arm) const {
  if (!known_) return 0;
  const auto seconds = [this](const Arm& one) { return modelSeconds(one) * correctionOf(one); };
  const Arm& best = arms_[best_];
  double most = trialLength * groupOf(best).expected * best.model.ratio * seconds(best) / seconds(arms_[arm]);
  if (!groupOf(arms_[arm]).known) most *= std::exp(spreadOfModel);  // the time of M is a guess
  return std::max(leastIterations, static_cast<int>(std::min(std::ceil(most), 1e9)));
}

std::size_t Chooser::bestOf(std::optional<std::size_t> group) const {
  const auto left = [&](const Arm& arm) { return !arm.failed && (!group || arm.model.group == *group); };
  const auto order = [this](std::size_t one) { return std::make_pair(arms_[one].unsolved, *estimate(one)); };
  std::optional<std::size_t> best, first;
  for (std::size_t a = 0; a < arms_.size(); ++a) {
    if (!left(arms_[a])) continue;
    if (!first) first = a;
    if (isMeasured(arms_[a]) && (!best || order(a) < order(*best))) best = a;
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
      isMeasured(now) && !now.failed && !now.unsolved && *estimate(best) > changesBelow * *estimate(best_);
  if (!stays) best_ = best;
  for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].best = bestOf(g);
}

}  // namespace capstan
