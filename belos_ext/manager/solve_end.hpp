#pragma once
/// \file
/// What a solve's outcome is called when it is returned to the application.

#include <algorithm>

#include "belos_ext/report/solve_report.hpp"
#include "tpetra_ext/compat/belos_return.hpp"

namespace capstan {

/// Local. `lossOfAccuracy`: what isLOADetected() says; it wins over the limit that ended the solve.
inline compat::SolveEnd solveEnd(const SolveReport& report, bool lossOfAccuracy) {
  // As Belos has it, a test of the application's own that is combined by OR is a test of convergence.
  const auto passed = [](const RightHandSideReport& one) {
    return one.converged || one.reason == StopReason::UserTest;
  };
  if (report.converged) return compat::SolveEnd::Converged;
  if (report.reason == StopReason::UserTest &&
      std::all_of(report.rightHandSides.begin(), report.rightHandSides.end(), passed)) {
    return compat::SolveEnd::Converged;
  }
  switch (report.reason) {
    case StopReason::MaxIterations:
      return lossOfAccuracy ? compat::SolveEnd::LossOfAccuracyDetected : compat::SolveEnd::MaxItersReached;
    case StopReason::MaxRestarts:
      return lossOfAccuracy ? compat::SolveEnd::LossOfAccuracyDetected : compat::SolveEnd::MaxRestartsReached;
    case StopReason::Stagnation:
      return lossOfAccuracy ? compat::SolveEnd::LossOfAccuracyDetected : compat::SolveEnd::Undetermined;
    case StopReason::Breakdown:
      return compat::SolveEnd::BreakdownDetected;
    case StopReason::NonFinite:
      return compat::SolveEnd::NaNDetected;
    case StopReason::NotStarted:
      return compat::SolveEnd::InconsistentState;
    default:  // Belos has no word for divergence and for an inconsistent system
      return compat::SolveEnd::Undetermined;
  }
}

}  // namespace capstan
