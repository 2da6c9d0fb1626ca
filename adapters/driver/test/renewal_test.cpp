/// \file
/// Renewal: when a preconditioner that is kept is built anew.

#include "adapters/driver/renewal.hpp"

#include <gtest/gtest.h>

namespace capstan::driver {
namespace {

using Kind = UpdatePolicy::Kind;
const UpdatePolicy adaptive{Kind::Adaptive, 1, 1.5};

/// A solve of 2 digits, its seconds shared.
void solve(Renewal& renewal, int iterations, double seconds, bool converged = true) {
  renewal.learn(iterations, 2, seconds, converged);
  const auto mine = renewal.secondsToShare();
  renewal.share(mine[0], mine[1]);
}

TEST(Renewal, WithoutAPastEverythingIsDue) {
  for (const Kind kind : {Kind::Always, Kind::Periodic, Kind::Adaptive, Kind::Never}) {
    EXPECT_TRUE(Renewal().isDue({kind, 4, 1.5}, 0));
  }
}

TEST(Renewal, ByAge) {
  EXPECT_TRUE(Renewal().isDue({Kind::Always}, 1));
  EXPECT_FALSE(Renewal().isDue({Kind::Periodic, 4}, 3));
  EXPECT_TRUE(Renewal().isDue({Kind::Periodic, 4}, 4));
  EXPECT_FALSE(Renewal().isDue({Kind::Never}, 1000));
}

TEST(Renewal, AfterIterationsHaveGrown) {
  Renewal renewal;
  renewal.built(100);
  solve(renewal, 10, 0.1);
  EXPECT_FALSE(renewal.isDue(adaptive, 1));
  solve(renewal, 15, 0.1);
  EXPECT_FALSE(renewal.isDue(adaptive, 2));
  solve(renewal, 16, 0.1);
  EXPECT_TRUE(renewal.isDue(adaptive, 3));
  renewal.built(100);
  EXPECT_FALSE(renewal.isDue(adaptive, 1));
}

TEST(Renewal, AfterMoreTimeIsLostThanItTakes) {
  Renewal renewal;
  renewal.built(1);
  solve(renewal, 10, 0.2);
  for (int k = 0; k < 4; ++k) {
    solve(renewal, 10, 0.4);
    EXPECT_FALSE(renewal.isDue(adaptive, k + 2)) << k;
  }
  for (int k = 0; k < 2; ++k) solve(renewal, 10, 0.4);
  EXPECT_TRUE(renewal.isDue(adaptive, 7)) << "6 solves lost 0.2 s each";
}

TEST(Renewal, AfterAFailure) {
  Renewal renewal;
  renewal.built(100);
  solve(renewal, 10, 0.1, false);
  EXPECT_TRUE(renewal.isDue(adaptive, 1));
  EXPECT_FALSE(renewal.isDue({Kind::Never}, 1)) << "a fallback renews it, not the policy";
}

TEST(Renewal, RanksDecideByTheSameSeconds) {
  Renewal renewal;
  renewal.built(5);
  renewal.learn(10, 2, 8, true);
  EXPECT_EQ(renewal.secondsToShare()[0], 4);
  EXPECT_EQ(renewal.secondsToShare()[1], 5);
  renewal.share(1, 2);  // the means
  EXPECT_EQ(renewal.secondsToShare()[0], 0) << "it has been shared";
  EXPECT_EQ(renewal.secondsToShare()[1], 2);
  renewal.learn(10, 2, 8, true);
  renewal.share(2.5, 2);
  EXPECT_TRUE(renewal.isDue(adaptive, 2)) << "1.5 s lost for a digit, 2 digits, 2 s to build";
}

TEST(Renewal, ASolveWithNothingToDoTeachesNothing) {
  Renewal renewal;
  renewal.built(1);
  solve(renewal, 0, 50);
  solve(renewal, 10, 0.1);
  EXPECT_FALSE(renewal.isDue(adaptive, 2));
}

}  // namespace
}  // namespace capstan::driver
