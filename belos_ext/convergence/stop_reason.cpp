#include "belos_ext/convergence/stop_reason.hpp"

#include <stdexcept>

namespace capstan {

const std::vector<StopReason>& allStopReasons() {
  static const std::vector<StopReason> reasons = {StopReason::NotStarted,    StopReason::Converged,
                                                  StopReason::MaxIterations, StopReason::MaxRestarts,
                                                  StopReason::Stagnation,    StopReason::AttainableAccuracy,
                                                  StopReason::Inconsistent,  StopReason::Breakdown,
                                                  StopReason::NonFinite,     StopReason::UserTest};
  return reasons;
}

std::string toString(StopReason reason) {
  switch (reason) {
    case StopReason::NotStarted:
      return "not started";
    case StopReason::Converged:
      return "converged";
    case StopReason::MaxIterations:
      return "max iterations";
    case StopReason::MaxRestarts:
      return "max restarts";
    case StopReason::Stagnation:
      return "stagnation";
    case StopReason::AttainableAccuracy:
      return "attainable accuracy";
    case StopReason::Inconsistent:
      return "inconsistent";
    case StopReason::Breakdown:
      return "breakdown";
    case StopReason::NonFinite:
      return "not finite";
    case StopReason::UserTest:
      return "user test";
  }
  throw std::logic_error("StopReason out of range");
}

}  // namespace capstan
