#include "belos_ext/choice/cost_model.hpp"

#include <algorithm>

namespace capstan {

namespace {

/// The work behind which one reduction is in flight.
double hiding(const IterationCost& iteration, const MachineTimes& times) {
  if (!iteration.hidden || iteration.cost.reductions <= 0) return 0.0;
  return iteration.depth * workSeconds(iteration, times) / iteration.cost.reductions;
}

}  // namespace

double workSeconds(const IterationCost& iteration, const MachineTimes& times) {
  const Cost& cost = iteration.cost;
  return cost.operators * times.product + cost.preconditioners * times.preconditioner + cost.bytes * times.byte;
}

double iterationSeconds(const IterationCost& iteration, const MachineTimes& times) {
  const double exposed = std::max(0.0, times.reduction - hiding(iteration, times));
  return workSeconds(iteration, times) + iteration.cost.reductions * exposed;
}

double reductionSeconds(const IterationCost& iteration, const MachineTimes& times, double wait, double earlier) {
  const double hidden = hiding(iteration, times);
  constexpr double notable = 0.05;  // less is the call itself
  if (wait > notable * hidden) return hidden + wait;
  return std::min(earlier, hidden);
}

}  // namespace capstan
