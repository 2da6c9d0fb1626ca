/// What a chooser knows of its arms, from one run to the next.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "belos_ext/choice/chooser.hpp"

namespace capstan {

namespace {

constexpr int mostRemembered = 4;      ///< solves of another run that count: this one may differ
constexpr double spreadOfPrior = 0.1;  ///< of the logarithm of a ratio that was found on another machine or system

}  // namespace

void Chooser::resume(const ChoiceKnowledge& known, bool same, std::size_t index) {
  Group& group = groups_[index];
  for (const ChoiceKnowledge::Arm& from : known.arms) {
    for (Arm& arm : arms_) {
      if (arm.model.name != from.name || arm.model.group != index) continue;
      if (same && from.failed) {
        arm.failed = true;
        arm.failures = from.failures;
        arm.failedPace = known.pace;
      }
      if (from.solves == 0) continue;
      arm.model.ratio = from.ratio;
      arm.ratioVariance = same ? from.ratioVariance : std::max(from.ratioVariance, spreadOfPrior * spreadOfPrior);
      if (!same) continue;
      arm.solves = std::min(from.solves, mostRemembered);
      arm.correction = from.correction;
      arm.modelled = from.modelled;
      arm.unsolved = from.unsolved;
      arm.resumed = true;
    }
  }
  const auto named = [&](const Arm& arm) { return arm.model.name == known.best && arm.model.group == index; };
  const auto found = std::find_if(arms_.begin(), arms_.end(), named);
  const bool first = !known_;  // of the groups that are known
  if (same) {
    resumed_ = true;
    if (!counted_) times_ = known.times;
    timed_ = true;
    group.preconditioner = known.times.preconditioner;
    group.pace = known.pace;
    expectIterations(index, known.expected);
    group.known = std::any_of(arms_.begin(), arms_.end(),
                              [&](const Arm& arm) { return arm.model.group == index && arm.solves > 0; });
    known_ = known_ || group.known;
    digits_ = known.pace > 0 ? known.expected / known.pace : 0.0;
    if (group.known) expectPaces(group);
    const auto best = static_cast<std::size_t>(found - arms_.begin());
    if (found != arms_.end() && found->solves > 0 && (first || *estimate(best) < *estimate(best_))) best_ = best;
    chooseBest();
    for (Group& one : groups_) one.bestPace = groupOf(arms_[best_]).pace;
  } else if (found != arms_.end()) {
    group.best = static_cast<std::size_t>(found - arms_.begin());
    const double seconds = secondsElsewhere(known, *found);
    if (elsewhere_ && !(seconds < *elsewhere_)) return;
    elsewhere_ = seconds;
    if (!resumed_) best_ = group.best;
  }
}

double Chooser::secondsElsewhere(const ChoiceKnowledge& known, const Arm& arm) {
  const auto of = [&](const ChoiceKnowledge::Arm& one) { return one.name == arm.model.name; };
  const auto found = std::find_if(known.arms.begin(), known.arms.end(), of);
  if (found == known.arms.end() || !(known.pace > 0)) return std::numeric_limits<double>::infinity();
  const int iterations = static_cast<int>(std::max(1.0, std::round(known.expected * found->ratio)));
  const double iteration = iterationSeconds(arm.model.iteration(iterations), known.times) * found->correction;
  return iteration * known.pace * found->ratio;
}

std::optional<ChoiceKnowledge> Chooser::knowledge(std::size_t index) const {
  const Group& group = groups_[index];
  if (!group.known) return std::nullopt;
  ChoiceKnowledge known{times_, group.pace, group.expected, arms_[group.best].model.name, {}};
  if (!counted_) known.times.preconditioner = group.preconditioner;
  for (const Arm& arm : arms_) {
    if (arm.model.group != index || (arm.solves == 0 && !arm.failed)) continue;
    known.arms.push_back({arm.model.name, arm.solves, arm.correction, arm.model.ratio, arm.ratioVariance, arm.modelled,
                          arm.unsolved, arm.failed, arm.failures});
  }
  return known;
}

}  // namespace capstan
