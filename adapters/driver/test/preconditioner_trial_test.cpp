/// \file
/// PreconditionerTrial: which preconditioner a field takes whose user names none.

#include "adapters/driver/preconditioner_trial.hpp"

#include <gtest/gtest.h>

namespace capstan::driver {
namespace {

using Choice = PreconditionerTrial::Choice;

/// Solves that take so many iterations for a digit, and so many digits. Returns how many of them were multigrid's.
int solves(PreconditionerTrial& trial, int count, double plain, double multigrid, double digits = 2) {
  int taken = 0;
  for (int k = 0; k < count; ++k) {
    const bool is = trial.choice() == Choice::Multigrid;
    taken += is ? 1 : 0;
    trial.learn(static_cast<int>((is ? multigrid : plain) * digits), digits, false);
  }
  return taken;
}

TEST(PreconditionerTrial, EasySystemsNeverSeeMultigrid) {
  PreconditionerTrial trial;
  EXPECT_EQ(solves(trial, 500, 10, 1), 0);
}

TEST(PreconditionerTrial, HardSystemsTakeItAfterOneSolve) {
  PreconditionerTrial trial;
  EXPECT_EQ(solves(trial, 100, 50, 3), 98) << "what one solve has told is looked at once more";
}

TEST(PreconditionerTrial, MultigridThatIsNoBetterIsTriedOnce) {
  PreconditionerTrial trial;
  EXPECT_EQ(solves(trial, 100, 20, 15), 1);
}

TEST(PreconditionerTrial, BeginsWithMultigridWhereItWasTheOldSolver) {
  PreconditionerTrial trial(Choice::Multigrid);
  EXPECT_EQ(solves(trial, 100, 50, 2), 100) << "little work: nothing else is tried";
  PreconditionerTrial hard(Choice::Multigrid);
  EXPECT_EQ(solves(hard, 100, 5, 10), 2);
}

TEST(PreconditionerTrial, FollowsASystemThatChanges) {
  PreconditionerTrial trial;
  solves(trial, 50, 20, 15);
  ASSERT_EQ(trial.choice(), Choice::Plain);
  EXPECT_GT(solves(trial, 500, 80, 3), 200) << "the other one is tried again, as numbers change";
}

TEST(PreconditionerTrial, ComparesMoreThanASolve) {
  // Solves of two kinds, as a time step has them: the second one gains digits at a third of the price.
  PreconditionerTrial trial;
  int multigrid = 0;
  for (int k = 0; k < 300; ++k) {
    const bool is = trial.choice() == Choice::Multigrid;
    const bool cheap = k % 2 == 1;
    multigrid += is ? 1 : 0;
    // Work for a digit, with multigrid's counted as 6: 30 and 10, or 39 and 13.
    trial.learn(is ? (cheap ? 13 : 13) : (cheap ? 60 : 30), is ? (cheap ? 6 : 2) : (cheap ? 6 : 1), false);
  }
  EXPECT_LT(multigrid, 40);
}

TEST(PreconditionerTrial, ANarrowComparisonIsRepeatedSoon) {
  PreconditionerTrial close, clear;
  const int narrow = solves(close, 200, 30, 5.5), wide = solves(clear, 200, 30, 12);
  EXPECT_GE(narrow, 3 * 3);
  EXPECT_LE(narrow, 3 * 8);
  EXPECT_EQ(wide, 1);
}

TEST(PreconditionerTrial, AFailureTurnsToTheOther) {
  PreconditionerTrial trial;
  trial.learn(1000, 0.5, true);
  EXPECT_EQ(trial.choice(), Choice::Multigrid);
  trial.learn(4, 2, false);
  EXPECT_EQ(trial.choice(), Choice::Multigrid);
  trial.learn(3, 0, true);
  EXPECT_EQ(trial.choice(), Choice::Multigrid) << "both have failed: it stays";
}

TEST(PreconditionerTrial, ASolveWithNothingToDoTeachesNothing) {
  PreconditionerTrial trial;
  trial.learn(0, 0, false);
  trial.learn(0, 3, false);
  EXPECT_EQ(trial.choice(), Choice::Plain);
}

}  // namespace
}  // namespace capstan::driver
