#pragma once

/// \file
/// Why a solve ended.

#include <string>
#include <vector>

namespace capstan {

/// Why a solve, for one of its right-hand sides, ended. Anything but Converged means Belos::Unconverged.
enum class StopReason {
  NotStarted,
  Converged,  ///< the computed residual meets the tolerance
  MaxIterations,
  MaxRestarts,
  Stagnation,          ///< the computed residual no longer falls: loss of accuracy
  AttainableAccuracy,  ///< nothing but rounding is left of b - A x, and the tolerance asks for less: loss of accuracy
  Inconsistent,        ///< b has a constant that no A x has, and the rest of b - A x meets the tolerance ("Null Space")
  Breakdown,           ///< the method cannot go on, not even in its classical form
  NonFinite,           ///< NaN or Inf in the operator, the preconditioner or the right-hand side
  UserTest             ///< the application's own status test stopped the solve
};

/// Every reason once, in the order of the enumeration.
const std::vector<StopReason>& allStopReasons();

/// A word for reports and tables, for example "max iterations".
std::string toString(StopReason reason);

}  // namespace capstan
