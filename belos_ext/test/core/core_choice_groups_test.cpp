/// \file
/// CAPSTAN's decisions where there are several preconditioners: groups of arms, each with iterations and a time of M of
/// its own, against a machine that is made up. No clock is looked at.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "belos_ext/choice/chooser.hpp"

namespace capstan::testing {
namespace {

constexpr double product = 2e-6, pass = 1e-8;

/// One product, one M, so many bytes a row.
IterationCost iterationOf(double bytes) { return {{1, 1, 1, 0, 0, bytes}, false, 1}; }

/// A cheap M, of which a system takes many iterations, with two methods, and a costly one with one.
struct Machine {
  double many = 100, few = 8;           ///< iterations of eight digits
  double cheap = 2e-6, costly = 50e-6;  ///< seconds of M
  std::vector<ArmModel> arms = {{"plain", [](int) { return iterationOf(100); }, "CG", true},
                                {"wide", [](int) { return iterationOf(400); }, "CG", true},
                                {"plain", [](int) { return iterationOf(500); }, "GMRES", false}};
  std::vector<GroupModel> groups = {{3, 2, 0.8, 1}, {1, 1, 0.6, 25}};

  Machine() { arms[2].group = 1; }

  double seconds(std::size_t arm) const {
    const double n = arm == 2 ? few : many;
    return n * (product + (arm == 2 ? costly : cheap) + pass * arms[arm].iteration(1).cost.bytes);
  }
  Observation solve(std::size_t arm) const {
    const double n = arm == 2 ? few : many;
    Observation seen;
    seen.seconds = seconds(arm);
    seen.productSeconds = n * product;
    seen.preconditionerSeconds = n * (arm == 2 ? costly : cheap);
    seen.kernelSeconds = n * pass * arms[arm].iteration(1).cost.bytes;
    seen.products = seen.preconditioners = seen.reductions = std::lround(n);
    seen.iterations = static_cast<int>(n);
    seen.digits = 8;
    return seen;
  }
  Chooser chooser() const { return Chooser(arms, std::nullopt, groups); }
};

std::vector<std::size_t> solveMany(const Machine& machine, Chooser& chooser, int solves) {
  std::vector<std::size_t> taken;
  for (int k = 0; k < solves; ++k) {
    taken.push_back(chooser.choose());
    chooser.learn(taken.back(), machine.solve(taken.back()));
  }
  return taken;
}

TEST(ChooserGroups, FindTheFasterPreconditioner) {
  for (const double many : {40.0, 100.0, 400.0}) {
    Machine machine;
    machine.many = many;
    Chooser chooser = machine.chooser();
    const auto taken = solveMany(machine, chooser, 20);
    EXPECT_EQ(taken.front(), 0U);
    EXPECT_EQ(chooser.best(), machine.seconds(2) < machine.seconds(0) ? 2U : 0U) << many;
  }
}

// What is expected of the costly one follows from the iterations with the cheap one: 3 d^2 of them, and d.
TEST(ChooserGroups, ExpectWhatAnotherOneTells) {
  Machine machine;
  machine.many = 8 * 27;  // 27 a digit: d = 3
  Chooser chooser = machine.chooser();
  chooser.choose();
  EXPECT_FALSE(chooser.estimate(2));
  chooser.learn(0, machine.solve(0));
  EXPECT_NEAR(*chooser.estimate(2), 3 * (product + 25 * product + 500 * pass), 1e-12);
  EXPECT_NEAR(*chooser.estimate(0), machine.seconds(0) / 8, 1e-12);
}

TEST(ChooserGroups, AreTriedFromTheirIterationsOn) {
  for (const double worthFrom : {99.0, 101.0}) {
    Machine machine;
    machine.groups[1].worthFrom = worthFrom;
    Chooser chooser = machine.chooser();
    const auto taken = solveMany(machine, chooser, 20);
    EXPECT_EQ(std::count(taken.begin(), taken.end(), 2U) > 0, worthFrom < machine.many);
  }
}

TEST(ChooserGroups, DoNotTryAnotherOneWhereSolvesAreShort) {
  Machine machine;
  machine.many = 4;
  Chooser chooser = machine.chooser();
  const auto taken = solveMany(machine, chooser, 100);
  EXPECT_EQ(std::count(taken.begin(), taken.end(), 2U), 0);
}

// What has to be beaten is known before anything else is tried, whatever is expected of it.
TEST(ChooserGroups, BeginTheirTrialsWithTheReference) {
  for (const bool faster : {true, false}) {
    Machine machine;
    machine.groups[1].worthFrom = 1000;
    machine.arms[2].reference = true;
    machine.costly = faster ? 1e-6 : 400e-6;
    Chooser chooser = machine.chooser();
    const auto taken = solveMany(machine, chooser, 100);
    EXPECT_EQ(taken[0], 0U);
    EXPECT_EQ(taken[1], 2U);
    EXPECT_EQ(chooser.best(), faster ? 2U : 0U);
    if (!faster) {
      EXPECT_EQ(std::count(taken.begin(), taken.end(), 2U), 1);
    }
  }
}

/// The machine's costly M is the application's own solver, which counts nothing and begins.
Machine withReference(double iterations, double seconds) {
  Machine machine;
  machine.groups = {{3, 2, 1.2, 2, 2}, {3, 2, 0.8, 1, 4}};
  for (ArmModel& arm : machine.arms) arm.group = 1 - arm.group;
  std::rotate(machine.arms.begin(), machine.arms.begin() + 2, machine.arms.end());
  machine.arms[0].reference = true;
  machine.few = iterations;
  machine.costly = seconds / iterations;
  return machine;
}

Observation brief(double seconds, double digits = 1) {
  Observation seen;
  seen.seconds = seconds;
  seen.iterations = 1;
  seen.digits = digits;
  return seen;
}

TEST(ChooserGroups, StayWithTheReferenceWhereASweepSolves) {
  Chooser chooser = withReference(1, 40e-6).chooser();
  for (int k = 0; k < 100; ++k) {
    EXPECT_EQ(chooser.choose(), 0U) << "nothing is to be gained";
    chooser.learn(0, brief(40e-6));
  }
  EXPECT_EQ(chooser.trials(), 0);
}

// Of what takes one iteration the time for what it gained is all that is known; it is compared, and not tried again and
// again.
TEST(ChooserGroups, CompareShortSolvesByWhatTheyTake) {
  for (const bool faster : {true, false}) {
    Chooser chooser = withReference(4, 40e-6).chooser();
    int others = 0;
    for (int k = 0; k < 200; ++k) {
      const std::size_t arm = chooser.choose();
      Observation seen = brief(arm == 0 ? 40e-6 : faster ? 20e-6 : 80e-6);
      if (arm == 0) seen.iterations = 4;
      others += arm == 0 ? 0 : 1;
      chooser.learn(arm, seen);
    }
    EXPECT_EQ(chooser.best() != 0U, faster);
    if (faster) {
      EXPECT_GE(others, 180);
    } else {
      EXPECT_LE(others, 6);
    }
  }
}

// It was measured when the times of the machine were a guess from its own seconds.
TEST(ChooserGroups, KeepWhatTheReferenceTookWhereTimesAreMeasured) {
  Machine machine = withReference(8, 400e-6);
  Chooser chooser = machine.chooser();
  Observation first;
  first.seconds = 400e-6;
  first.iterations = 8;
  first.digits = 8;
  chooser.learn(0, first);
  EXPECT_NEAR(*chooser.estimate(0), 50e-6, 1e-9);
  Observation other;
  other.products = other.preconditioners = other.reductions = 100;
  other.iterations = 100;
  other.digits = 8;
  other.productSeconds = 100 * product;
  other.preconditionerSeconds = 100 * 2e-6;
  other.kernelSeconds = 100 * 100 * pass;
  other.seconds = 100 * (product + 2e-6 + 100 * pass);
  chooser.learn(1, other);
  EXPECT_NEAR(*chooser.estimate(0), 50e-6, 1e-9);
}

TEST(ChooserGroups, KeepTheirTimesOfM) {
  Machine machine;
  Chooser chooser = machine.chooser();
  for (const std::size_t arm : {0U, 2U, 0U, 2U}) chooser.learn(arm, machine.solve(arm));
  EXPECT_NEAR(*chooser.estimate(0), machine.seconds(0) / 8, 1e-9);
  EXPECT_NEAR(*chooser.estimate(2), machine.seconds(2) / 8, 1e-9);
  EXPECT_EQ(chooser.best(0), 0U);
  EXPECT_EQ(chooser.best(1), 2U);
}

TEST(ChooserGroups, TryTheOtherOneWhereOneDoesNotSolve) {
  Machine machine;
  machine.many = 4;  // cheap, if it only were enough
  Chooser chooser = machine.chooser();
  std::vector<std::size_t> taken;
  for (int k = 0; k < 6; ++k) {
    taken.push_back(chooser.choose());
    Observation seen = machine.solve(taken.back());
    seen.solved = taken.back() == 2;
    chooser.learn(taken.back(), seen);
  }
  EXPECT_NE(std::count(taken.begin(), taken.end(), 2U), 0);
  EXPECT_EQ(chooser.best(), 2U);
}

// An M that is not symmetric, which shows where none of its arms has solved, says nothing of the other one.
TEST(ChooserGroups, FailEachForItself) {
  Machine machine;
  machine.arms[2].symmetric = true;
  Chooser chooser = machine.chooser();
  chooser.learn(0, machine.solve(0));
  Observation seen = machine.solve(2);
  seen.failed = true;
  chooser.learn(2, seen);
  EXPECT_TRUE(chooser.failed(2));
  EXPECT_FALSE(chooser.failed(0));
  EXPECT_FALSE(chooser.failed(1));
  seen.asymmetric = true;  // of A: all of them
  chooser.learn(0, seen);
  EXPECT_TRUE(chooser.failed(0) && chooser.failed(1) && chooser.failed(2));
}

// That a trial was slow says nothing of M.
TEST(ChooserGroups, AreNotLeftOutWhereATrialWasSlow) {
  Machine machine;
  for (ArmModel& arm : machine.arms) {
    arm.group = 1 - arm.group;
    arm.symmetric = arm.group == 1;
  }
  std::swap(machine.arms[0], machine.arms[2]);  // the costly one is group 0, and begins
  std::swap(machine.groups[0], machine.groups[1]);
  Chooser chooser(machine.arms, std::nullopt, machine.groups);
  const Machine times;
  chooser.learn(0, times.solve(2));
  Observation seen = times.solve(0);
  seen.slow = true;
  chooser.learn(2, seen);
  EXPECT_TRUE(chooser.failed(2));
  EXPECT_FALSE(chooser.failed(1));
  seen.slow = false;
  seen.failed = true;
  chooser.learn(1, seen);
  EXPECT_TRUE(chooser.failed(1));
  EXPECT_NE(chooser.best(1), 0U) << "an arm of the other group";
}

TEST(ChooserGroups, BeginWithTheBestOfAllThatWereFoundElsewhere) {
  for (const double many : {40.0, 400.0}) {
    Machine machine;
    machine.many = many;
    Chooser first = machine.chooser();
    solveMany(machine, first, 20);
    Chooser second = machine.chooser();
    for (const std::size_t group : {0U, 1U}) {
      const auto known = first.knowledge(group);
      if (known) second.resume(*known, false, group);
    }
    EXPECT_EQ(second.choose(), first.best()) << many;
    second.learn(first.best(), machine.solve(first.best()));
    for (std::size_t arm = 0; arm < machine.arms.size(); ++arm) EXPECT_GT(*second.estimate(arm), 1e-7) << arm;
  }
}

TEST(ChooserGroups, GoOnWithWhatAnotherRunHasFound) {
  Machine machine;
  Chooser first = machine.chooser();
  solveMany(machine, first, 20);
  Chooser second = machine.chooser();
  for (const std::size_t group : {0U, 1U}) {
    ASSERT_TRUE(first.knowledge(group));
    second.resume(*first.knowledge(group), true, group);
  }
  EXPECT_EQ(second.choose(), first.best());
  EXPECT_NEAR(*second.estimate(0), *first.estimate(0), 1e-9);
  EXPECT_NEAR(*second.estimate(2), *first.estimate(2), 1e-9);
}

// Of a solver that counts nothing, seconds are all there is.
TEST(ChooserGroups, CompareWhatCountsNothing) {
  Machine machine;
  machine.arms[2].symmetric = false;
  for (const bool faster : {true, false}) {
    Chooser chooser = machine.chooser();
    for (int k = 0; k < 20; ++k) {
      const std::size_t arm = k == 0 ? 2 : chooser.choose();
      Observation seen = machine.solve(arm);
      if (arm == 2) {
        seen = {};
        seen.seconds = machine.seconds(0) * (faster ? 0.5 : 2);
        seen.iterations = 8;
        seen.digits = 8;
      }
      chooser.learn(arm, seen);
    }
    EXPECT_EQ(chooser.best(), faster ? 2U : 0U);
  }
}

}  // namespace
}  // namespace capstan::testing
