/// \file
/// The application's own status tests: what they judge, and what becomes of their verdict.

#include <BelosStatusTestGenResNorm.hpp>
#include <cmath>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

using ResNorm = Belos::StatusTestGenResNorm<Scalar, MultiVector, Operator>;
using Combo = Belos::StatusTestCombo<Scalar, MultiVector, Operator>;

/// || b - A x || of every right-hand side that it sees is at most `tolerance` times that of the guess.
RCP<ResNorm> residualBelow(double tolerance, bool isExplicit) {
  auto test = rcp(new ResNorm(tolerance, -1));
  test->defineResForm(isExplicit ? ResNorm::Explicit : ResNorm::Implicit, Belos::TwoNorm);
  test->defineScaleForm(Belos::NormOfInitRes, Belos::TwoNorm);
  return test;
}

class UserTests : public EverySolver {
 protected:
  static RCP<CrsMatrix> matrix() { return grid2d(14, 14, isCg(GetParam()) ? 0.0 : 0.2); }

  /// The first right-hand side takes a step or two, the others many.
  static System oneEasy(size_t columns) {
    const auto a = matrix();
    System system = systemWithRightHandSide(a, wave, columns);
    system.preconditioner = Teuchos::null;
    const auto y = vectorFrom(a->getRowMap(), [](GO g) {
      const double i = static_cast<double>(g % 14 + 1), j = static_cast<double>(g / 14 + 1), pi = std::acos(-1.0);
      return std::sin(pi * i / 15) * std::sin(pi * j / 15);
    });
    a->apply(*y, *system.b->getVectorNonConst(0));
    return system;
  }
};

/// A preconditioner that is another one each time it is applied.
TEST_P(UserTests, EndASolveWithTheIterateThatTheyHaveSeen) {
  int ended = 0;
  for (const bool flexible : {false, true}) {
    if (flexible && (!isGmres(GetParam()) || isPipelined(GetParam()))) continue;
    for (const double tolerance : {0.5, 0.3, 0.1, 0.03}) {
      SCOPED_TRACE(::testing::Message() << tolerance << (flexible ? ", flexible" : ""));
      System system = systemWithRightHandSide(matrix());
      const auto turn = std::make_shared<int>(0);
      system.preconditioner =
          rcp(new FunctionOperator(system.b->getMap(), [=](const MultiVector& in, MultiVector& out) {
            out.update(0.25 * (1 + 0.1 * std::sin(2.0 * (*turn)++)), in, 0);
          }));
      Params p;
      p.set("Convergence Tolerance", 1e-12);
      p.set("State Cache", false);
      if (flexible) p.set("Flexible Gmres", true);
      const auto solver = solverOf(GetParam(), p);
      solver->setUserConvStatusTest(residualBelow(tolerance, true), Combo::OR);
      const auto guess = copyOf(*system.x);
      const Outcome outcome = solve(*solver, system, Side::Right);
      if (outcome.report.reason != StopReason::UserTest) continue;
      ++ended;
      EXPECT_LE(relativeResidual(system, *guess), tolerance * (1 + 1e-6));
      EXPECT_NEAR(outcome.achieved, relativeResidual(system, *guess), 1e-6);
    }
  }
  EXPECT_GE(ended, 2);
}

TEST_P(UserTests, AreNotNeededForAnAbsoluteTolerance) {
  const System system = systemWithRightHandSide(matrix(), wave, 2);
  system.b->getVectorNonConst(1)->scale(1e3);  // the two ask for different parts of their first residuals
  const double absolute = 1e-3 * norms(*system.b)[0];
  Params p;
  p.set("Convergence Tolerance", 1e-12);
  p.set("Absolute Tolerance", absolute);
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(GetParam(), p, system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  for (std::size_t j = 0; j < 2; ++j) {
    const auto& one = outcome.report.rightHandSides[j];
    EXPECT_NEAR(one.tolerance, absolute / one.scale, 1e-10 * one.tolerance);
    EXPECT_LE(residualNorms(system, *system.x)[j], absolute * (1 + 1e-6));
    EXPECT_GT(residualNorms(system, *system.x)[j], 1e-9 * one.scale) << "no more than was asked for";
  }
  EXPECT_LT(outcome.report.rightHandSides[0].iterations, outcome.report.rightHandSides[1].iterations);
}

TEST_P(UserTests, ThatPassAreConvergenceAndSaySo) {
  const auto solver = solverOf(GetParam());
  solver->setUserConvStatusTest(residualBelow(1e-3, false), Combo::OR);
  const Outcome outcome = solve(*solver, systemWithRightHandSide(matrix(), wave, 3));
  EXPECT_TRUE(outcome.converged) << "as Belos has it";
  EXPECT_FALSE(outcome.report.converged) << "by the tolerance";
  EXPECT_EQ(outcome.report.reason, StopReason::UserTest);
  EXPECT_FALSE(outcome.lossOfAccuracy);
  EXPECT_TRUE(mentions(told(outcome, "user test"), "StatusTestGenResNorm passed"));
}

/// Also where not all right-hand sides advance together.
TEST_P(UserTests, CombinedByOrJudgeEverySetOfRightHandSides) {
  for (const bool isExplicit : {false, true}) {
    for (const int blockSize : {0, 1, 2}) {
      SCOPED_TRACE(::testing::Message() << "block size " << blockSize << (isExplicit ? ", explicit" : ""));
      Params p;
      p.set("Block Size", blockSize);
      p.set("State Cache", false);
      const auto solver = solverOf(GetParam(), p);
      solver->setUserConvStatusTest(residualBelow(1e-3, isExplicit), Combo::OR);
      const System system = systemWithRightHandSide(matrix(), wave, 5);
      const auto guess = copyOf(*system.x);
      const Outcome outcome = solve(*solver, system);
      EXPECT_TRUE(outcome.converged);
      EXPECT_LE(relativeResidual(system, *guess), 1e-3 * (1 + 1e-3));
      for (const RightHandSideReport& one : outcome.report.rightHandSides) EXPECT_EQ(one.reason, StopReason::UserTest);
      expectSameOnAllRanks(outcome);
    }
  }
}

/// A test of all right-hand sides passes with the slowest: the others wait, and lose nothing.
TEST_P(UserTests, CombinedByAndOrSequenceJudgeAllThatAdvanceTogether) {
  for (const auto type : {Combo::AND, Combo::SEQ}) {
    for (const bool isExplicit : {false, true}) {
      for (const int blockSize : {0, 1, 2}) {
        SCOPED_TRACE(::testing::Message() << "block size " << blockSize << (isExplicit ? ", explicit" : ""));
        Params p;
        p.set("Block Size", blockSize);
        p.set("State Cache", false);
        p.set("Convergence Tolerance", 1e-6);
        const auto solver = solverOf(GetParam(), p);
        const System alone = oneEasy(4), system = oneEasy(4);
        const Outcome expected = solve(GetParam(), p, alone);
        solver->setUserConvStatusTest(residualBelow(2e-6, isExplicit), type);
        const Outcome outcome = solve(*solver, system);
        EXPECT_TRUE(expected.converged);
        EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
        EXPECT_FALSE(outcome.lossOfAccuracy);
        EXPECT_EQ(outcome.iterations, expected.iterations);
        for (size_t c = 0; c < 4; ++c) {
          EXPECT_EQ(outcome.report.rightHandSides[c].iterations, expected.report.rightHandSides[c].iterations) << c;
        }
        expectSameOnAllRanks(outcome);
      }
    }
  }
}

/// An x that meets the tolerance has lost no accuracy, whatever another test says.
TEST_P(UserTests, ThatNeverPassAreNoLossOfAccuracy) {
  const auto solver = solverOf(GetParam());
  solver->setUserConvStatusTest(residualBelow(0, false), Combo::AND);
  const System system = systemWithRightHandSide(matrix());
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(*solver, system);
  EXPECT_FALSE(outcome.converged);
  EXPECT_FALSE(outcome.lossOfAccuracy) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
}

CAPSTAN_FOR_EVERY_SOLVER(UserTests);

}  // namespace
}  // namespace capstan::testing
