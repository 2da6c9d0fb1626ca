/// \file
/// "Null Space": singular systems whose null space is the constants, with preconditioners that are as singular, right
/// sides with a constant that no A x has, and systems that only look like it.

#include <cmath>

#include "belos_ext/convergence/residual_smoothing.hpp"
#include "belos_ext/guess/guess_order.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

class NullSpaceTypes : public EverySolver {
 protected:
  void SetUp() override {
    if (!isCg(GetParam())) GTEST_SKIP() << GetParam().canonical << " does not take it";
  }
};
CAPSTAN_FOR_EVERY_SOLVER(NullSpaceTypes);

Params parameters(const std::string& nullSpace, double tolerance = 1e-8) {
  Params p;
  p.set("Null Space", nullSpace);
  p.set("Convergence Tolerance", tolerance);
  p.set("Maximum Iterations", 2000);
  p.set("State Cache", false);
  return p;
}

Scalar sumOf(const MultiVector& v) {
  const auto ones = vectorFrom(v.getMap(), [](GO) { return 1.0; });
  Scalar sum = 0;
  v.getVector(0)->dot(*ones->getVector(0), Teuchos::ArrayView<Scalar>(&sum, 1));
  return sum;
}

/// Jacobi plus `much` e e^T: what a factorised coarse grid makes of constants. e^T r is rounding, and `much` times that
/// is not.
System withSingularPreconditioner(System system, double much = 1e14) {
  const auto inner = system.preconditioner;
  const auto ones = vectorFrom(system.a->getDomainMap(), [](GO) { return 1.0; });
  system.preconditioner = rcp(new FunctionOperator(inner->getDomainMap(), [=](const MultiVector& in, MultiVector& out) {
    inner->apply(in, out);
    for (size_t c = 0; c < in.getNumVectors(); ++c) {
      Scalar sum = 0;
      in.getVector(c)->dot(*ones->getVector(0), Teuchos::ArrayView<Scalar>(&sum, 1));
      out.getVectorNonConst(c)->update(much * sum, *ones->getVector(0), 1);
    }
  }));
  return system;
}

std::vector<RCP<CrsMatrix>> grids() { return {neumannGrid(24, 24), neumannGrid(9, 8, 7)}; }

TEST_P(NullSpaceTypes, KeepsTheIterationsOfASoundPreconditionerWithASingularOne) {
  int hard = 0;
  for (const auto& a : grids()) {
    for (const Side side : {Side::Left, Side::Right}) {
      SCOPED_TRACE(toString(side));
      const System system = systemWithSolution(a);
      const Outcome jacobi = solve(GetParam(), parameters("none", 1e-12), system, side);
      ASSERT_TRUE(jacobi.converged);
      for (const std::string nullSpace : {"auto", "constant"}) {
        SCOPED_TRACE(nullSpace);
        system.x->putScalar(0);
        const auto guess = copyOf(*system.x);
        const Outcome outcome =
            solve(GetParam(), parameters(nullSpace, 1e-12), withSingularPreconditioner(system), side);
        EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
        EXPECT_LE(relativeResidual(system, *guess), 1e-12 * (1 + 1e-3));
        EXPECT_LE(outcome.iterations, 1.1 * jacobi.iterations + 5);
        EXPECT_EQ(told(outcome, "null space").size(), 1U);
        expectSameOnAllRanks(outcome);
      }
      system.x->putScalar(0);
      const Outcome none = solve(GetParam(), parameters("none", 1e-12), withSingularPreconditioner(system), side);
      hard += !none.converged || none.iterations > 1.5 * jacobi.iterations ? 1 : 0;
    }
  }
  // Rounding may spare some of the four.
  EXPECT_GT(hard, 0) << "without the null space at least one ought to be hard";
}

TEST(NullSpaceCost, IsTwoReductionsAndOneStepWhereItBegins) {
  const System system = withSingularPreconditioner(systemWithSolution(neumannGrid(24, 24)));
  Params p = parameters("auto", 1e-8);
  p.set("Residual Replacement", "off");
  const Outcome outcome = solve(methodOf(id::Cg), p, system, Side::Right);
  ASSERT_TRUE(outcome.converged);
  ASSERT_LT(outcome.iterations, 100) << "z is formed anew every 100";
  ASSERT_EQ(told(outcome, "null space").size(), 1U);
  // z -= alpha t begins there, or has begun before: that costs a reduction and an M^{-1}, but for those of the
  // projection.
  const int begun = told(outcome, "null space").front().iteration >= tuning::cg::measuredSteps ? 1 : 0;
  EXPECT_EQ(outcome.report.reductionsBlocking, outcome.iterations + 1 + 2 + begun);
  EXPECT_EQ(outcome.report.operatorApplications, outcome.iterations + 2 + 1);
  EXPECT_EQ(outcome.report.preconditionerApplications, outcome.iterations + 1 + begun);
}

TEST_P(NullSpaceTypes, CostsNothingWhereConstantsDoNoHarm) {
  std::vector<RCP<CrsMatrix>> all = grids();
  all.push_back(grid2d(20, 20));
  for (const auto& a : all) {
    for (const Side side : {Side::None, Side::Left, Side::Right}) {
      GuessOrders::forget(a->getRowMap()->getComm());
      // Enlarged CG takes them out from the first iteration on, with the reductions that are there anyway but for one.
      if (GetParam().canonical == id::EnlargedCg && side != Side::None) continue;
      const System with = systemWithSolution(a), without = systemWithSolution(a);
      const Outcome automatic = solve(GetParam(), parameters("auto"), with, side);
      GuessOrders::forget(with.b->getMap()->getComm());  // as the first one of its size
      const Outcome none = solve(GetParam(), parameters("none"), without, side);
      EXPECT_TRUE(automatic.converged);
      EXPECT_TRUE(identical(*with.x, *without.x));
      EXPECT_EQ(automatic.iterations, none.iterations);
      EXPECT_EQ(automatic.report.reductionsBlocking, none.report.reductionsBlocking);
      EXPECT_EQ(automatic.report.reductionsNonblocking, none.report.reductionsNonblocking);
      EXPECT_EQ(automatic.report.operatorApplications, none.report.operatorApplications);
      EXPECT_EQ(automatic.report.preconditionerApplications, none.report.preconditionerApplications);
      EXPECT_TRUE(told(automatic, "null space").empty());
    }
  }
}

// A method that goes on where another one stood keeps its direction, also where the null space is named.
TEST_P(NullSpaceTypes, TakesNoMoreIterationsWhereANullSpaceThatDoesNoHarmIsNamed) {
  for (const auto& a : {neumannGrid(33, 33), neumannGrid(9, 8, 7)}) {
    std::vector<int> iterations;
    for (const std::string nullSpace : {"none", "constant"}) {
      SCOPED_TRACE(nullSpace);
      GuessOrders::forget(a->getRowMap()->getComm());
      const Outcome outcome = solve(GetParam(), parameters(nullSpace, 1e-10), systemWithSolution(a), Side::Right);
      EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
      iterations.push_back(outcome.iterations);
    }
    EXPECT_LE(iterations[1], 1.05 * iterations[0] + 1);
  }
}

// b = A y + a constant: the rest of b - A x is solved, and that is not called converged.
TEST_P(NullSpaceTypes, SolvesTheConsistentPartAndSaysThatTheRestIsLeft) {
  for (const Side side : {Side::None, Side::Left, Side::Right}) {
    for (const double constant : {1e-6, 1.0, 1e3}) {
      SCOPED_TRACE(toString(side) + ", " + std::to_string(constant));
      const System system = systemWithSolution(neumannGrid(14, 14));
      const auto ones = vectorFrom(system.b->getMap(), [](GO) { return 1.0; });
      system.b->update(constant, *ones, 1);
      const double whole = norms(*system.b)[0];
      const Outcome outcome = solve(GetParam(), parameters("constant"), system, side);
      EXPECT_FALSE(outcome.converged);
      EXPECT_EQ(outcome.report.reason, StopReason::Inconsistent) << toString(outcome.report.reason);
      EXPECT_TRUE(mentions(told(outcome, "null space"), "no A x has"));
      EXPECT_LE(outcome.iterations, 100);
      MultiVector r(*system.b, Teuchos::Copy);
      system.a->apply(*system.x, r);
      r.update(1, *system.b, -1);
      EXPECT_NEAR(outcome.achieved, norms(r)[0] / whole, 1e-9 * outcome.achieved + 1e-15);
      r.update(-constant, *ones, 1);
      EXPECT_LE(norms(r)[0], 1e-8 * whole * (1 + 1e-6)) << "b - A x is that constant";
      expectSameOnAllRanks(outcome);
    }
  }
}

// A constant below the tolerance is none that anybody asked for.
TEST_P(NullSpaceTypes, ConvergesWhereTheConstantOfTheRightHandSideIsBelowTheTolerance) {
  for (const std::string nullSpace : {"none", "auto", "constant"}) {
    SCOPED_TRACE(nullSpace);
    const System system = systemWithSolution(neumannGrid(14, 14));
    const double part = 0.4 * 1e-8 * norms(*system.b)[0];
    system.b->update(part / 14, *vectorFrom(system.b->getMap(), [](GO) { return 1.0; }), 1);
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), parameters(nullSpace), system, Side::Right);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8 * (1 + 1e-6));
  }
}

// The rows of A sum to zero but for rounding, A is not singular, and x is that constant: nothing is projected out,
// since b holds it. (p(l)-CG does not solve this one without projection either.)
TEST_P(NullSpaceTypes, DoesNotTouchARegularSystemWhoseRowsSumToZeroButForRounding) {
  const Scalar little = std::ldexp(1.0, -46);  // so that no sum of a row is rounded
  const auto a = matrixFrom(evenMap(100), [little](GO g) {
    auto row = neumannRow(g, 10, 10);
    row.back().value += little;
    return row;
  });
  std::vector<Outcome> outcomes;
  for (const std::string nullSpace : {"none", "auto"}) {
    SCOPED_TRACE(nullSpace);
    System system = systemWithSolution(a, [](GO) { return 1.0; });
    system.preconditioner = rcp(
        new FunctionOperator(a->getRowMap(), [](const MultiVector& in, MultiVector& out) { out.update(0.25, in, 0); }));
    outcomes.push_back(solve(GetParam(), parameters(nullSpace), system, Side::Right));
    if (GetParam().canonical == id::Cg) {
      EXPECT_TRUE(outcomes.back().converged) << toString(outcomes.back().report.reason);
      EXPECT_LE(residualNorms(system, *system.x)[0], 1e-8 * (1 + 1e-6) * norms(*system.b)[0]);
    }
  }
  EXPECT_EQ(outcomes[0].converged, outcomes[1].converged);
  if (outcomes[0].converged) {
    EXPECT_EQ(outcomes[0].iterations, outcomes[1].iterations);
  }
}

// A sample of the rows says that A is singular; one row of 1600 says that it is not.
TEST_P(NullSpaceTypes, DoesNotTouchARegularSystemWithOneRowThatDoesNotSumToZero) {
  const auto a = matrixFrom(evenMap(1600), [](GO g) {
    auto row = neumannRow(g, 40, 40);
    if (g == 1) row.back().value += 1;
    return row;
  });
  std::vector<Outcome> outcomes;
  for (const std::string nullSpace : {"none", "auto"}) {
    SCOPED_TRACE(nullSpace);
    const System system = systemWithRightHandSide(a);
    outcomes.push_back(solve(GetParam(), parameters(nullSpace), system, Side::Right));
    EXPECT_TRUE(outcomes.back().converged) << toString(outcomes.back().report.reason);
    EXPECT_TRUE(told(outcomes.back(), "null space").empty());
  }
  EXPECT_EQ(outcomes[0].iterations, outcomes[1].iterations);
}

TEST_P(NullSpaceTypes, SolvesARegularSystemThatIsSaidToBeSingular) {
  for (const Side side : {Side::None, Side::Right}) {
    const System plain = systemWithRightHandSide(grid2d(14, 14)), hidden = rowsHidden(plain);
    for (const System& system : {plain, hidden}) {
      system.x->putScalar(0);
      const Outcome outcome = solve(GetParam(), parameters("constant"), system, side);
      EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
      EXPECT_TRUE(mentions(told(outcome, "null space"), "not projected"));
    }
  }
}

TEST_P(NullSpaceTypes, WorksWhereTheRowsCannotBeReadOnceAskedFor) {
  const System system = rowsHidden(withSingularPreconditioner(systemWithSolution(neumannGrid(24, 24))));
  const Outcome outcome = solve(GetParam(), parameters("constant", 1e-12), system, Side::Right);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_EQ(told(outcome, "null space").size(), 1U);
}

TEST_P(NullSpaceTypes, SolvesSeveralRightHandSidesTogether) {
  System system = systemWithRightHandSide(neumannGrid(24, 24), wave, 3);
  system.a->apply(*copyOf(*system.b), *system.b);
  system = withSingularPreconditioner(system);
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(GetParam(), parameters("auto", 1e-11), system, Side::Right);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-11 * (1 + 1e-3));
  expectSameOnAllRanks(outcome);
}

// A time loop that starts from the last x: what is left of constants in x must not pile up.
TEST_P(NullSpaceTypes, KeepsTheConstantOfXBoundedOverManySolves) {
  const System system = withSingularPreconditioner(systemWithSolution(neumannGrid(12, 12)));
  const auto solver = solverOf(GetParam(), parameters("auto", 1e-10));
  double first = 0, last = 0;
  constexpr int steps = 40;
  for (int step = 0; step < steps; ++step) {
    const auto change = vectorFrom(system.b->getMap(), [step](GO g) { return 0.1 * wave(g + 31 * step); });
    MultiVector image(*change, Teuchos::Copy);
    system.a->apply(*change, image);
    system.b->update(1, image, 1);
    const Outcome outcome = solve(*solver, system, Side::Right);
    EXPECT_TRUE(outcome.converged) << step << ": " << toString(outcome.report.reason);
    const double constant = std::abs(sumOf(*system.x)) / 12;
    (step < steps / 2 ? first : last) = std::max(step < steps / 2 ? first : last, constant);
  }
  RecordProperty("first", std::to_string(first));
  RecordProperty("last", std::to_string(last));
  EXPECT_LE(last, 1e4 * norms(*system.b)[0]);
}

TEST(NullSpace, IsOneOfThreeWordsAndForConjugateGradients) {
  for (const MethodTraits& name : methods()) {
    Params strict;
    strict.set("Strict Parameters", true);
    strict.set("Null Space", "constant");
    if (!isCg(name)) {
      EXPECT_THROW(solverOf(name, strict), std::invalid_argument) << name.canonical;
      continue;
    }
    EXPECT_NO_THROW(solverOf(name, strict));
    for (const std::string wrong : {"constants", "", "yes"}) {
      Params p;
      p.set("Null Space", wrong);
      try {
        solverOf(name, p);
        ADD_FAILURE() << wrong;
      } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("none, constant, auto"), std::string::npos) << error.what();
      }
    }
    Params number;
    number.set("Null Space", 1);
    EXPECT_THROW(solverOf(name, number), std::invalid_argument);
  }
}

}  // namespace
}  // namespace capstan::testing
