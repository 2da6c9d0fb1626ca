// What Belos of 2026 and later adds, tested with a stand-in on any release: causes of failure in its ReturnType.
#include <gtest/gtest.h>

#include <BelosTypes.hpp>
#include <utility>
#include <vector>

#include "belos_ext/manager/solve_end.hpp"
#include "tpetra_ext/compat/belos_return.hpp"

namespace later {

/// The values of the later release; every cause equals Unconverged.
enum ReturnType {
  Converged,
  Unconverged,
  MaxItersReached,
  MaxRestartsReached,
  OrthonormFailure,
  NaNDetected,
  BreakdownDetected,
  LossOfAccuracyDetected,
  NonspecificException,
  InconsistentState,
  Undetermined
};
constexpr bool operator==(ReturnType a, ReturnType b) {
  return int(a) == int(b) || (int(a) * int(b) != 0 && (int(a) == 1 || int(b) == 1));
}

}  // namespace later

namespace capstan {
namespace {

TEST(LaterReturnType, NamesTheCauseWhereThereIsAName) {
  using compat::SolveEnd;
  const std::vector<std::pair<SolveEnd, later::ReturnType>> expected = {
      {SolveEnd::Converged, later::Converged},
      {SolveEnd::MaxItersReached, later::MaxItersReached},
      {SolveEnd::MaxRestartsReached, later::MaxRestartsReached},
      {SolveEnd::NaNDetected, later::NaNDetected},
      {SolveEnd::BreakdownDetected, later::BreakdownDetected},
      {SolveEnd::LossOfAccuracyDetected, later::LossOfAccuracyDetected},
      {SolveEnd::InconsistentState, later::InconsistentState},
      {SolveEnd::Undetermined, later::Undetermined}};
  for (const auto& [end, value] : expected) {
    EXPECT_EQ(int(compat::returnType<later::ReturnType>(end)), int(value));
    const bool converged = end == SolveEnd::Converged;
    EXPECT_EQ(compat::returnType<later::ReturnType>(end) == later::Unconverged, !converged);
    EXPECT_EQ(compat::returnType<Belos::ReturnType>(end) == Belos::Unconverged, !converged);
    EXPECT_EQ(compat::returnType<Belos::ReturnType>(end) == Belos::Converged, converged);
  }
}

TEST(LaterReturnType, FollowsFromTheReport) {
  using compat::SolveEnd;
  SolveReport report;
  report.converged = true;
  report.reason = StopReason::Converged;
  EXPECT_EQ(solveEnd(report, false), SolveEnd::Converged);
  report.converged = false;
  report.rightHandSides.resize(1);
  for (const StopReason reason : allStopReasons()) {
    report.reason = report.rightHandSides[0].reason = reason;
    const bool passed = reason == StopReason::UserTest;  // a test of convergence, as Belos has it
    EXPECT_EQ(solveEnd(report, false) == SolveEnd::Converged, passed) << toString(reason);
  }
  report.reason = StopReason::UserTest;
  report.rightHandSides[0].reason = StopReason::Stagnation;
  EXPECT_NE(solveEnd(report, false), SolveEnd::Converged) << "not for the one right-hand side";
  const auto endOf = [&report](StopReason reason, bool lossOfAccuracy) {
    report.reason = reason;
    return solveEnd(report, lossOfAccuracy);
  };
  EXPECT_EQ(endOf(StopReason::MaxIterations, false), SolveEnd::MaxItersReached);
  EXPECT_EQ(endOf(StopReason::MaxIterations, true), SolveEnd::LossOfAccuracyDetected);
  EXPECT_EQ(endOf(StopReason::MaxRestarts, false), SolveEnd::MaxRestartsReached);
  EXPECT_EQ(endOf(StopReason::Stagnation, true), SolveEnd::LossOfAccuracyDetected);
  EXPECT_EQ(endOf(StopReason::Stagnation, false), SolveEnd::Undetermined);
  EXPECT_EQ(endOf(StopReason::Breakdown, false), SolveEnd::BreakdownDetected);
  EXPECT_EQ(endOf(StopReason::NonFinite, false), SolveEnd::NaNDetected);
  EXPECT_EQ(endOf(StopReason::NotStarted, false), SolveEnd::InconsistentState);
}

}  // namespace
}  // namespace capstan
