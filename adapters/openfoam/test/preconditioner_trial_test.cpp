/// \file
/// PreconditionerTrial: which preconditioner a field takes whose user names none.

#include "adapters/openfoam/preconditioner_trial.hpp"

#include <gtest/gtest.h>

namespace capstan::foam {
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
  EXPECT_EQ(solves(trial, 100, 50, 3), 99);
}

TEST(PreconditionerTrial, MultigridThatIsNoBetterIsTriedOnce) {
  PreconditionerTrial trial;
  EXPECT_EQ(solves(trial, 100, 20, 15), 1);
}

TEST(PreconditionerTrial, BeginsWithMultigridWhereItWasTheOldSolver) {
  PreconditionerTrial trial(Choice::Multigrid);
  EXPECT_EQ(solves(trial, 100, 50, 2), 100) << "little work: nothing else is tried";
  PreconditionerTrial hard(Choice::Multigrid);
  EXPECT_EQ(solves(hard, 100, 5, 10), 1);
}

TEST(PreconditionerTrial, FollowsASystemThatChanges) {
  PreconditionerTrial trial;
  solves(trial, 50, 20, 15);
  ASSERT_EQ(trial.choice(), Choice::Plain);
  EXPECT_GT(solves(trial, 500, 80, 3), 200) << "the other one is tried again, as numbers change";
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
}  // namespace capstan::foam
