/// \file
/// Systems whose entries are ordinary numbers and whose squares underflow or overflow.

#include <limits>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

class TinySystems : public EverySolver {};

System tiny(double factor, double preconditioner) {
  System system = systemWithRightHandSide(grid2d(8, 8));
  system.b->scale(factor);
  system.preconditioner = diagonal([=](GO) { return preconditioner; }, 64);
  return system;
}

/// || M^{-1} b || is three times || b ||, however small that is.
TEST_P(TinySystems, AreJudgedByTheirNormsAndNotByBounds) {
  if (!isGmres(GetParam())) return;  // CG does not measure M^{-1} (b - A x)
  for (const double factor : {1.0, 1e-100, 1e-170, 1e-250, 1e-300}) {
    SCOPED_TRACE(factor);
    Params p;
    p.set("Residual Scaling", "Norm of RHS");
    p.set("Convergence Tolerance", 1.0);
    p.set("Maximum Iterations", 0);
    const Outcome outcome = solve(GetParam(), p, tiny(factor, 3), Side::Left);
    EXPECT_FALSE(outcome.converged);
    EXPECT_NEAR(outcome.achieved, 3, 1e-12);
  }
}

TEST_P(TinySystems, AreSolved) {
  for (const double factor : {1e-140, 1e-148, 1e-152, 1e-158, 1e-161, 1e-170, 1e-250, 1e-290}) {
    for (const Side side : {Side::None, Side::Left, Side::Right}) {
      SCOPED_TRACE(::testing::Message() << factor << ", " << toString(side));
      const System system = tiny(factor, 0.25);
      const auto guess = copyOf(*system.x);
      const Outcome outcome = solve(GetParam(), Params(), system, side);
      EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
      EXPECT_LE(relativeResidual(system, *guess), 1.001e-8);
      EXPECT_TRUE(allFinite(*system.x));
    }
  }
}

/// A norm that is computed once more where squares underflow may be that of a vector with a NaN.
TEST_P(TinySystems, AreNotSolvedByANaN) {
  for (int k = 0; k < 6; ++k) {
    SCOPED_TRACE(k);
    const auto a = grid2d(8, 8);
    System system = tiny(1e-200, 1);
    const auto seen = std::make_shared<int>(0);
    system.a = rcp(new FunctionOperator(a->getDomainMap(), [=](const MultiVector& in, MultiVector& out) {
      a->apply(in, out);
      if ((*seen)++ >= k) out.putScalar(std::numeric_limits<double>::quiet_NaN());
    }));
    const Outcome outcome = solve(GetParam(), Params(), system);
    EXPECT_FALSE(outcome.converged) << "reported " << outcome.achieved;
    EXPECT_TRUE(allFinite(*system.x));
  }
}

/// || x || is about 1 / `factor`: a finite number whose square need not be one.
System withSolutionOfSize(double factor) {
  System system = systemWithRightHandSide(diagonal([=](GO g) { return factor * static_cast<Scalar>(g + 1); }, 5));
  system.b->putScalar(1);
  return system;
}

/// BiCGStab's omega is a quotient of (t, t), which underflows with A.
TEST_P(TinySystems, MayHaveASolutionWhoseSquareOverflows) {
  for (const double factor : {1e-150, 1e-157, 1e-162, 1e-170, 1e-250, 1e-290}) {
    SCOPED_TRACE(factor);
    const System system = withSolutionOfSize(factor);
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), Params(), system);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason) << " after " << outcome.iterations;
    EXPECT_LE(relativeResidual(system, *guess), 1.001e-8);
    EXPECT_TRUE(allFinite(*system.x));
  }
}

/// Flexible directions are those of vectors that nothing has normalised: as long as powers of A.
TEST_P(TinySystems, AreNotAMatterOfFlexibleDirections) {
  if (!isGmres(GetParam()) || isPipelined(GetParam())) return;  // no flexible variant
  for (const double factor : {1e-20, 1e20}) {
    SCOPED_TRACE(factor);
    const System system = withSolutionOfSize(factor);
    const auto guess = copyOf(*system.x);
    Params p;
    p.set("Flexible Gmres", true);
    const Outcome outcome = solve(GetParam(), p, system);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason) << " after " << outcome.iterations;
    EXPECT_LE(outcome.iterations, 5);
    EXPECT_LE(relativeResidual(system, *guess), 1.001e-8);
  }
}

CAPSTAN_FOR_EVERY_SOLVER(TinySystems);

}  // namespace
}  // namespace capstan::testing
