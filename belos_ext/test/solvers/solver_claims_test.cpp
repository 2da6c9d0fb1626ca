/// \file
/// What becomes of claims of convergence of the GMRES methods: those that come too early cost no Krylov space, those
/// that no method can keep end the solve at once, and Belos' BLOCK GMRES says how many iterations that is.

#include <BelosBlockGmresSolMgr.hpp>
#include <cmath>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

struct Reference {
  bool converged = false;
  int iterations = 0;
};

/// Belos' BLOCK GMRES with the same parameters, from the guess in x.
Reference blockGmres(const System& system, const Params& parameters, Side side) {
  Belos::BlockGmresSolMgr<Scalar, MultiVector, Operator> solver(problemOf(system, side), rcp(new Params(parameters)));
  const bool converged = solver.solve() == Belos::Converged;
  return {converged, solver.getNumIters()};
}

class Claims : public ::testing::TestWithParam<MethodTraits> {};
INSTANTIATE_TEST_SUITE_P(Solvers, Claims, ::testing::ValuesIn(methodsWhere(isGmres)), solverIdentifier);

Params parameters() {
  Params p;
  p.set("Convergence Tolerance", 1e-8);
  p.set("Maximum Iterations", 1000);
  return p;
}

/// M^{-1} makes the residual of the rows that are scaled down look small: M^{-1} r meets its target long before r does.
System misleading() {
  return systemWithRightHandSide(
      scaledLaplacian(16, [](GO g) { return std::pow(10.0, std::sin(0.05 * static_cast<double>(g))); }));
}

TEST_P(Claims, ALeftPreconditionerThatMisleadsCostsNoKrylovSpace) {
  Params p = parameters();
  const System system = misleading();
  const Reference reference = blockGmres(system, p, Side::Left);
  ASSERT_TRUE(reference.converged);
  p.set("State Cache", false);
  system.x->putScalar(0);
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(GetParam(), p, system, Side::Left);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8 * (1 + 1e-6));
  EXPECT_LE(outcome.iterations, 1.08 * reference.iterations + 1) << "BLOCK GMRES " << reference.iterations;
  EXPECT_EQ(outcome.report.restarts, 0);
  // Looking at x costs one application of each, and is done a few times, not in every iteration.
  if (!isPipelined(GetParam())) {
    EXPECT_LE(outcome.report.operatorApplications, outcome.iterations + 12);
  }
  expectSameOnAllRanks(outcome);
}

TEST_P(Claims, AToleranceBelowRoundingEndsTheSolveWithItsFirstClaim) {
  Params p = parameters();
  p.set("Implicit Residual Scaling", "Norm of Initial Residual");
  p.set("Explicit Residual Scaling", "Norm of Initial Residual");
  p.set("State Cache", false);
  for (const Side side : {Side::None, Side::Right, Side::Left}) {
    const System system = systemWithSolution(grid2d(20, 20, 0.3));
    system.x->putScalar(0);
    const int whole = solve(GetParam(), p, system, side).iterations;
    Params sharp = p;
    sharp.set("Convergence Tolerance", 1e-15);
    sharp.set("Implicit Residual Scaling", "Norm of RHS");
    sharp.set("Explicit Residual Scaling", "Norm of RHS");
    solve(GetParam(), sharp, system, side);  // as good a guess as there is
    const double before = residualNorms(system, *system.x)[0] / norms(*system.b)[0];
    ASSERT_LT(before, 1e-14);
    const Outcome outcome = solve(GetParam(), p, system, side);
    SCOPED_TRACE(toString(side) + ", from " + std::to_string(whole) + " iterations");
    EXPECT_FALSE(outcome.converged);
    EXPECT_TRUE(outcome.lossOfAccuracy);
    EXPECT_EQ(outcome.report.reason, StopReason::AttainableAccuracy);
    EXPECT_EQ(told(outcome, "attainable accuracy").size(), 1U);
    EXPECT_LE(outcome.iterations, 1.5 * whole + 10);
    EXPECT_LE(residualNorms(system, *system.x)[0] / norms(*system.b)[0], 2 * before + 1e-15);
    expectSameOnAllRanks(outcome);
  }
}

TEST_P(Claims, TheEndOfTheKrylovSpaceIsReachedWithoutStartingAnew) {
  // Few and far eigenvalues: every method is done when the space is exhausted, and bases ahead of it degenerate before.
  const System system = systemWithRightHandSide(diagonal([](GO g) { return std::pow(1.5, g % 20); }, 96));
  Params p = parameters();
  const Reference reference = blockGmres(system, p, Side::None);
  ASSERT_TRUE(reference.converged);
  p.set("State Cache", false);
  system.x->putScalar(0);
  const Outcome outcome = solve(GetParam(), p, system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(outcome.iterations, 1.08 * reference.iterations + 5) << "BLOCK GMRES " << reference.iterations;
}

TEST_P(Claims, WithoutParametersTheRestartLengthIsThatOfBelos) {
  const auto solver = solverOf(GetParam());
  EXPECT_EQ(solver->getCurrentParameters()->get<int>("Num Blocks"), 300);
  Belos::BlockGmresSolMgr<Scalar, MultiVector, Operator> belos;
  EXPECT_EQ(belos.getValidParameters()->get<int>("Num Blocks"), 300);
}

}  // namespace
}  // namespace capstan::testing
