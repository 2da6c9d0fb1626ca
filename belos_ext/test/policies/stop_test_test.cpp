/// \file
/// StopTest: the scales, who may say converged, and how a solve that makes no progress ends.

#include "belos_ext/convergence/stop_test.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace capstan {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

StopCriteria criteriaFor(double tolerance = 1e-6, int minIterations = 0) {
  StopCriteria criteria;
  criteria.tolerance = tolerance;
  criteria.minIterations = minIterations;
  return criteria;
}

TEST(StopTest, AQuotientThatUnderflowsIsNotZero) {
  StopCriteria criteria;
  criteria.tolerance = 0;
  criteria.implicitScaling = ResidualScaling::UserProvided;
  criteria.userScale = 1e200;
  StopTest stop(criteria);
  stop.begin({1e-133, 1e-133}, 1);
  EXPECT_FALSE(stop.verified({1e-133, 1e-133}, true));
  EXPECT_FALSE(stop.converged());
  EXPECT_GT(stop.attained(), 0);
  EXPECT_TRUE(stop.verified({0, 0}, true));
  EXPECT_TRUE(stop.converged());
}

TEST(StopTest, TheToleranceThatAsksForLessCounts) {
  const ResidualNorms initial{3, 5};
  const auto toleranceOf = [&](double tolerance, double absolute, bool testExplicit) {
    StopCriteria criteria = criteriaFor(tolerance);
    criteria.absoluteTolerance = absolute;
    criteria.implicitScaling = ResidualScaling::NormOfPrecInitRes;
    criteria.testExplicit = testExplicit;
    StopTest stop(criteria);
    stop.begin(initial, 7);
    return stop.tolerance();
  };
  EXPECT_EQ(toleranceOf(1e-6, 0, false), 1e-6);
  EXPECT_EQ(toleranceOf(1e-6, 1e-9, false), 1e-6);
  EXPECT_EQ(toleranceOf(1e-6, 0.03, false), 0.03 / 3);
  EXPECT_EQ(toleranceOf(1e-6, 0.03, true), 0.03 / 5) << "of b - A x";
  EXPECT_EQ(toleranceOf(0, 0.03, true), 0.03 / 5);
  StopCriteria criteria = criteriaFor(1e-6);
  criteria.absoluteTolerance = 0.1;
  StopTest stop(criteria);
  stop.begin({3, 3}, 7);
  EXPECT_FALSE(stop.verified({0.11, 0.11}, true));
  EXPECT_TRUE(stop.verified({0.1, 0.1}, true));
  EXPECT_TRUE(stop.converged());
}

// One of the two tolerances is enough, also where two quotients are tested.
TEST(StopTest, TheAbsoluteToleranceIsEnoughWhereTwoQuotientsAreTested) {
  StopCriteria criteria = criteriaFor(1e-12);
  criteria.absoluteTolerance = 1e-3;
  criteria.testExplicit = true;
  criteria.implicitScaling = ResidualScaling::NormOfPrecInitRes;
  criteria.explicitScaling = ResidualScaling::NormOfRHS;
  StopTest stop(criteria);
  stop.begin({1, 1}, 1000);
  EXPECT_DOUBLE_EQ(stop.target(), 1e-3) << "not 1e-3 / 1000 of the first residual";
  EXPECT_FALSE(stop.verified({5e-3, 2e-3}, true));
  EXPECT_TRUE(stop.verified({5e-3, 5e-4}, true));
  EXPECT_TRUE(stop.converged());
}

TEST(StopTest, EveryScaling) {
  const ResidualNorms initial{3, 5};
  const double rhs = 7, user = 11;
  const std::vector<std::pair<ResidualScaling, double>> scales{{ResidualScaling::NormOfInitRes, 5},
                                                               {ResidualScaling::NormOfPrecInitRes, 3},
                                                               {ResidualScaling::NormOfRHS, 7},
                                                               {ResidualScaling::None, 1},
                                                               {ResidualScaling::UserProvided, 11}};
  for (const auto& [implicitScaling, implicitScale] : scales) {
    for (const auto& [explicitScaling, explicitScale] : scales) {
      StopCriteria criteria = criteriaFor(0.5);
      criteria.implicitScaling = implicitScaling;
      criteria.explicitScaling = explicitScaling;
      criteria.userScale = user;
      criteria.testExplicit = true;
      StopTest stop(criteria);
      double heard = 0;
      stop.setScaleListener([&](double scale) { heard = scale; });
      stop.begin(initial, rhs);
      EXPECT_EQ(stop.implicitScale(), implicitScale);
      EXPECT_EQ(stop.explicitScale(), explicitScale);
      EXPECT_EQ(heard, implicitScale);
      EXPECT_TRUE(stop.reached(0.5 * implicitScale));
      EXPECT_FALSE(stop.reached(0.51 * implicitScale));

      // One of the two residuals misses the tolerance: not converged, whichever it is.
      StopTest nativeMisses = stop, explicitMisses = stop, bothMeet = stop;
      EXPECT_FALSE(nativeMisses.verified({0.6 * implicitScale, 0.1 * explicitScale}, true));
      EXPECT_DOUBLE_EQ(nativeMisses.attained(), 0.6);
      EXPECT_FALSE(explicitMisses.verified({0.1 * implicitScale, 0.7 * explicitScale}, true));
      EXPECT_DOUBLE_EQ(explicitMisses.attained(), 0.7);
      EXPECT_TRUE(bothMeet.verified({0.5 * implicitScale, 0.4 * explicitScale}, true));
      EXPECT_TRUE(bothMeet.converged());
    }
  }
}

TEST(StopTest, ExplicitResidualCountsOnlyWhenTested) {
  StopTest stop(criteriaFor(1e-3));
  stop.begin({1, 1}, 1);
  EXPECT_TRUE(stop.verified({1e-4, 0.9}, true));
  EXPECT_TRUE(stop.converged());
  EXPECT_DOUBLE_EQ(stop.attained(), 1e-4);
}

TEST(StopTest, VanishingScaleMeansAnAbsoluteTest) {
  StopTest stop(criteriaFor(1e-3));
  stop.begin({0, 0}, 0);
  EXPECT_EQ(stop.implicitScale(), 1);
  EXPECT_EQ(stop.explicitScale(), 1);
  EXPECT_TRUE(stop.verified({0, 0}, false));
  EXPECT_EQ(stop.reason(), StopReason::Converged);
}

TEST(StopTest, AClaimThatFailsLowersTheTargetAndGoesOn) {
  StopTest stop(criteriaFor(1e-6));
  stop.begin({1, 1}, 1);
  EXPECT_FALSE(stop.verified({1, 1}, false));
  EXPECT_TRUE(stop.reached(1e-6));
  EXPECT_FALSE(stop.verified({1e-4, 1e-4}, true));  // the recursion said 1e-6
  EXPECT_FALSE(stop.converged());
  EXPECT_FALSE(stop.over());
  EXPECT_FALSE(stop.reached(1e-6));
  EXPECT_TRUE(stop.reached(4e-7));
  EXPECT_FALSE(stop.verified({2e-6, 2e-6}, true));
  EXPECT_TRUE(stop.verified({9e-7, 9e-7}, true));
  EXPECT_TRUE(stop.converged());
  EXPECT_FALSE(stop.lossOfAccuracy());
}

TEST(StopTest, RecursionAloneNeverDecides) {
  StopTest stop(criteriaFor(1e-6));
  stop.begin({1, 1}, 1);
  stop.iterated(0);
  EXPECT_TRUE(stop.reached(0));
  EXPECT_FALSE(stop.over());
  EXPECT_FALSE(stop.converged());
  EXPECT_EQ(stop.recursive(), 0);
}

TEST(StopTest, AFruitlessClaimEndsIt) {
  StopTest stop(criteriaFor(1e-12));
  stop.begin({1, 1}, 1);
  stop.verified({1, 1}, false);
  EXPECT_FALSE(stop.verified({1e-9, 1e-9}, true));  // progress
  EXPECT_TRUE(stop.verified({0.95e-9, 1e-9}, true));
  EXPECT_EQ(stop.reason(), StopReason::Stagnation);
  EXPECT_TRUE(stop.lossOfAccuracy());
  EXPECT_FALSE(stop.converged());
  EXPECT_DOUBLE_EQ(stop.attained(), 0.95e-9);
}

TEST(StopTest, ResidualsJudgedWithoutAnIterationEndIt) {
  StopTest stop(criteriaFor());
  stop.begin({1, 1}, 1);
  int judged = 0;
  for (double norm = 1; !stop.verified({norm, norm}, judged % 2 == 0) && judged < 1000; norm *= 0.8) ++judged;
  EXPECT_LE(judged, tuning::stop_test::mostJudgedInPlace) << "though each is smaller than the one before";
  EXPECT_EQ(stop.reason(), StopReason::Stagnation);
  EXPECT_TRUE(stop.lossOfAccuracy());
}

TEST(StopTest, ResidualsJudgedBetweenIterationsDoNot) {
  StopTest stop(criteriaFor());
  stop.begin({1, 1}, 1);
  for (double norm = 0.99; norm > 1e-3; norm *= 0.99) {
    for (int k = 0; k < tuning::stop_test::mostJudgedInPlace; ++k) ASSERT_FALSE(stop.verified({norm, norm}, false));
    stop.iterated(norm);
  }
}

TEST(StopTest, FiveIdleRestartsEndIt) {
  StopTest stop(criteriaFor());
  stop.begin({1, 1}, 1);
  EXPECT_FALSE(stop.verified({1, 1}, false));
  for (int cycle = 0; cycle < 5; ++cycle) {
    EXPECT_FALSE(stop.verified({1, 1}, false)) << cycle;
    EXPECT_FALSE(stop.over());
    stop.restarted(false);
  }
  EXPECT_TRUE(stop.over());
  EXPECT_EQ(stop.reason(), StopReason::Stagnation);
  EXPECT_TRUE(stop.lossOfAccuracy());
  EXPECT_EQ(stop.restarts(), 4);
}

TEST(StopTest, RestartsOfCgMayFindLargerResiduals) {
  StopTest stop(criteriaFor());
  stop.begin({1, 1}, 1);
  double residual = 1;
  for (int restart = 0; restart < 20; ++restart, residual *= 1.1) {
    stop.iterated(residual);
    ASSERT_FALSE(stop.verified({residual, residual}, false)) << restart;
    stop.restarted(true);
  }
  EXPECT_FALSE(stop.over());
}

TEST(StopTest, SlowProgressIsNotStagnation) {
  StopTest stop(criteriaFor());
  stop.begin({1, 1}, 1);
  double residual = 1;
  for (int cycle = 0; cycle < 100; ++cycle, residual *= 0.9999) {
    stop.iterated(residual);
    ASSERT_FALSE(stop.verified({residual, residual}, false)) << cycle;
    stop.restarted(false);
  }
}

TEST(StopTest, ProgressOfThePreconditionedResidualIsNotStagnation) {
  StopCriteria criteria = criteriaFor();
  criteria.testExplicit = true;
  StopTest stop(criteria);
  stop.begin({1, 1}, 1);
  double native = 1;
  for (int cycle = 0; cycle < 20; ++cycle, native *= 0.99) {
    stop.iterated(native);
    ASSERT_FALSE(stop.verified({native, 3}, false)) << cycle;
    stop.restarted(false);
  }
  for (int cycle = 0; cycle < 6; ++cycle) {  // the first one makes progress still
    ASSERT_FALSE(stop.over()) << cycle;
    stop.iterated(native);
    stop.verified({native, 3}, false);
    stop.restarted(false);
  }
  EXPECT_EQ(stop.reason(), StopReason::Stagnation);
}

TEST(StopTest, WhatIsNotFiniteEndsItAndLeavesTheLastNorms) {
  for (const double bad : {nan, inf}) {
    for (const bool nativeIsBad : {true, false}) {
      StopCriteria criteria = criteriaFor();
      criteria.testExplicit = true;
      StopTest stop(criteria);
      stop.begin({1, 1}, 1);
      EXPECT_FALSE(stop.reached(nan));
      EXPECT_FALSE(stop.verified({0.5, 0.25}, false));
      EXPECT_TRUE(stop.verified(nativeIsBad ? ResidualNorms{bad, 1} : ResidualNorms{1, bad}, true));
      EXPECT_EQ(stop.reason(), StopReason::NonFinite);
      EXPECT_FALSE(stop.converged());
      EXPECT_EQ(stop.norms().native, 0.5);
    }
  }
}

TEST(StopTest, IterationLimitEndsItAtTheNextVerification) {
  StopCriteria criteria = criteriaFor();
  criteria.maxIterations = 3;
  StopTest stop(criteria);
  stop.begin({1, 1}, 1);
  for (int k = 0; k < 3; ++k) {
    EXPECT_FALSE(stop.exhausted());
    EXPECT_EQ(stop.remaining(), 3 - k);
    stop.iterated(0.5);
  }
  EXPECT_TRUE(stop.exhausted());
  StopTest converged = stop;
  EXPECT_TRUE(stop.verified({0.5, 0.5}, false));
  EXPECT_EQ(stop.reason(), StopReason::MaxIterations);
  EXPECT_FALSE(stop.converged());
  EXPECT_TRUE(converged.verified({1e-7, 1e-7}, false));  // met the tolerance with the last iteration
  EXPECT_EQ(converged.reason(), StopReason::Converged);
}

TEST(StopTest, GoesOnUntilThereAreEnoughIterations) {
  StopTest stop(criteriaFor(1e-3, 2));
  stop.begin({1, 1}, 1);
  EXPECT_FALSE(stop.verified({1e-4, 1e-4}, false));
  EXPECT_FALSE(stop.reached(1e-4));
  stop.iterated(1e-5);
  EXPECT_FALSE(stop.reached(1e-5));
  stop.iterated(1e-5);
  EXPECT_TRUE(stop.reached(1e-5));
  EXPECT_TRUE(stop.verified({1e-5, 1e-5}, true));
  EXPECT_EQ(stop.reason(), StopReason::Converged);
}

TEST(StopTest, NoIterationIsAskedForWhereNothingIsLeftToDo) {
  StopCriteria criteria = criteriaFor(1e-3, 2);
  StopTest solved(criteria);
  solved.begin({0, 0}, 1);
  EXPECT_TRUE(solved.verified({0, 0}, false));
  EXPECT_TRUE(solved.converged());

  criteria.maxIterations = 0;
  StopTest none(criteria);
  none.begin({1, 1}, 1);
  EXPECT_TRUE(none.verified({1e-4, 1e-4}, false));
  EXPECT_TRUE(none.converged());
}

TEST(StopTest, AMethodThatCannotGoOnHasConvergedWhereXMeetsTheTolerance) {
  StopTest stop(criteriaFor(1e-3, 2));
  stop.begin({1, 1}, 1);
  StopTest returned = stop, moved = stop;
  EXPECT_FALSE(stop.verified({1e-4, 1e-4}, false));
  stop.stop(StopReason::Breakdown);
  EXPECT_TRUE(stop.converged());
  EXPECT_EQ(stop.reason(), StopReason::Converged);

  EXPECT_FALSE(returned.verified({1e-4, 1e-4}, false));
  EXPECT_TRUE(returned.verified({1e-4, 1e-4}, false)) << "a method that comes back without an iteration";
  EXPECT_TRUE(returned.converged());

  EXPECT_FALSE(moved.verified({1e-4, 1e-4}, false));
  moved.iterated(1);
  moved.stop(StopReason::Breakdown);  // of an x whose residual nobody knows
  EXPECT_FALSE(moved.converged());
}

TEST(StopTest, RestartLimitCountsFullCyclesOnly) {
  StopCriteria criteria = criteriaFor();
  criteria.maxRestarts = 2;
  StopTest stop(criteria);
  stop.begin({1, 1}, 1);
  stop.restarted(true);
  stop.restarted(false);
  stop.restarted(true);
  stop.restarted(false);
  EXPECT_FALSE(stop.over());
  EXPECT_EQ(stop.restarts(), 4);
  stop.restarted(false);
  EXPECT_TRUE(stop.over());
  EXPECT_EQ(stop.reason(), StopReason::MaxRestarts);
}

TEST(StopTest, ARestartAfterTheEndChangesNothing) {
  StopTest stop(criteriaFor());
  stop.begin({1, 1}, 1);
  stop.stop(StopReason::UserTest);
  stop.restarted(false);
  EXPECT_EQ(stop.restarts(), 0);
  EXPECT_EQ(stop.reason(), StopReason::UserTest);
}

TEST(StopTest, ApprovalIsAskedOnlyOnceTheToleranceIsMet) {
  StopTest stop(criteriaFor(1e-3));
  int asked = 0;
  bool answer = false;
  stop.setApproval([&](double) {
    ++asked;
    return answer;
  });
  stop.begin({1, 1}, 1);
  EXPECT_FALSE(stop.verified({1e-2, 1e-2}, true));
  EXPECT_EQ(asked, 0);
  EXPECT_FALSE(stop.verified({1e-4, 1e-4}, true));
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(stop.converged());
  answer = true;
  EXPECT_TRUE(stop.verified({1e-5, 1e-5}, true));
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(stop.converged());
}

TEST(StopTest, AClaimTooEarlyLowersTheTargetByWhatIsMissing) {
  StopCriteria criteria = criteriaFor(1e-6);
  criteria.testExplicit = true;
  StopTest stop(criteria);
  stop.begin({1, 1}, 1);
  EXPECT_EQ(stop.examined({9e-7, 3e-6}, 9e-7), Claim::TooEarly);
  EXPECT_FALSE(stop.reached(3.1e-7));
  EXPECT_TRUE(stop.reached(2.9e-7));
  EXPECT_FALSE(stop.over());
  // By no more than a decade at once, and by a little more each time.
  StopTest far = stop;
  EXPECT_EQ(far.examined({2e-7, 1e-2}, 2e-7), Claim::TooEarly);
  EXPECT_TRUE(far.reached(1.8e-8));
  EXPECT_FALSE(far.reached(2e-8));
  EXPECT_EQ(stop.examined({2e-7, 9e-7}, 2e-7), Claim::Met);
  EXPECT_FALSE(stop.converged()) << "verified() decides";
}

TEST(StopTest, ARecursionThatHasLostTouchIsWrongAndKeepsItsTarget) {
  StopTest stop(criteriaFor(1e-6));
  stop.begin({1, 1}, 1);
  EXPECT_EQ(stop.examined({3e-6, 3e-6}, 9e-7), Claim::Wrong);
  EXPECT_EQ(stop.examined({nan, nan}, 9e-7), Claim::Wrong);
  EXPECT_EQ(stop.examined({inf, inf}, 9e-7), Claim::Wrong);
  EXPECT_TRUE(stop.reached(1e-6));
}

TEST(StopTest, EndsAtTheRoundingLevelOnly) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  StopTest stop(criteriaFor(1e-8));
  stop.begin({1e-16, 1e-16}, 1);
  stop.iterated(1e-25);
  EXPECT_FALSE(stop.verified({5e-15, 5e-15}, true));
  EXPECT_TRUE(stop.recursionIsWrong());
  EXPECT_FALSE(stop.endAtRoundingLevel(0, eps)) << "|| b || alone explains 2e-15";
  EXPECT_FALSE(stop.endAtRoundingLevel(inf, eps));
  EXPECT_FALSE(stop.endAtRoundingLevel(nan, eps));
  EXPECT_FALSE(stop.over());
  EXPECT_TRUE(stop.endAtRoundingLevel(2, eps));
  EXPECT_EQ(stop.reason(), StopReason::AttainableAccuracy);
  EXPECT_TRUE(stop.lossOfAccuracy());
  EXPECT_FALSE(stop.converged());
  EXPECT_FALSE(stop.endAtRoundingLevel(2, eps)) << "over already";
}

TEST(StopTest, ATargetAboveTheRoundingLevelIsPursued) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  StopTest stop(criteriaFor(4 * eps));
  stop.begin({1, 1}, 1);
  stop.iterated(eps);
  EXPECT_FALSE(stop.verified({5 * eps, 5 * eps}, true));
  EXPECT_FALSE(stop.endAtRoundingLevel(2, eps)) << "the level is 3 eps, and 4 eps would do";
  EXPECT_TRUE(stop.endAtRoundingLevel(4, eps));
}

TEST(StopTest, WhatIsMeasuredDecidesAndIsReported) {
  ResidualMeasure one;
  StopTest stop(criteriaFor(1e-6));
  stop.judgeBy(&one);
  stop.begin({1, 1, 10}, 1);
  EXPECT_EQ(stop.explicitScale(), 10);
  EXPECT_FALSE(stop.verified({1e-8, 1e-8, 2e-5}, true));
  EXPECT_DOUBLE_EQ(stop.attained(), 2e-6);
  StopTest back = stop;
  EXPECT_TRUE(stop.verified({1e-3, 1e-3, 9e-6}, true)) << "whatever the 2-norm";
  EXPECT_TRUE(stop.converged());
  back.stop(StopReason::MaxIterations);
  back.wentBack({1e-8, 1e-8, 7e-3});  // the same 2-norm, another residual
  EXPECT_DOUBLE_EQ(back.attained(), 7e-4);
}

TEST(StopTest, WhatHasNotBeenMeasuredIsNoResidual) {
  ResidualMeasure one;
  StopTest stop(criteriaFor(1e-6));
  stop.judgeBy(&one);
  stop.begin({1, 1, 10}, 1);
  EXPECT_TRUE(stop.verified({1e-9, 1e-9}, true));
  EXPECT_FALSE(stop.converged());
  EXPECT_EQ(stop.reason(), StopReason::NonFinite);
}

// A ratio of two norms that comes from another system, or another preconditioner.
TEST(StopTest, ARatioThatLeavesNoScaleIsNotTaken) {
  ResidualMeasure one;
  StopTest stop(criteriaFor(1e-6));
  stop.judgeBy(&one);
  stop.begin({1e-150, 1e-150, 1e-150}, 1e-150);
  stop.measured(1e-100, 1e100);
  EXPECT_EQ(stop.implicitScale(), stop.explicitScale());
  EXPECT_GT(stop.target(), 0);
}

// || b ||^2 overflows for entries beyond 1e154: no residual is small beside such a scale.
TEST(StopTest, AScaleThatHasOverflowedIsNone) {
  StopCriteria criteria;
  criteria.implicitScaling = ResidualScaling::NormOfRHS;
  StopTest stop(criteria);
  stop.begin({1e147, 1e147}, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(stop.verified({1e147, 1e147}, false));
  EXPECT_FALSE(stop.converged());
  EXPECT_EQ(stop.reason(), StopReason::NonFinite);
}

}  // namespace
}  // namespace capstan
