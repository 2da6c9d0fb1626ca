/// \file
/// Systems whose entries are ordinary numbers and whose squares underflow.

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

TEST_P(TinySystems, AreSolvedByGmres) {
  for (const double factor : {1e-170, 1e-250, 1e-290}) {
    for (const Side side : {Side::None, Side::Left, Side::Right}) {
      SCOPED_TRACE(::testing::Message() << factor << ", " << toString(side));
      const System system = tiny(factor, 0.25);
      const auto guess = copyOf(*system.x);
      const Outcome outcome = solve(GetParam(), Params(), system, side);
      if (isGmres(GetParam())) {
        EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
      }
      if (outcome.converged) {
        EXPECT_LE(relativeResidual(system, *guess), 1.001e-8);
      }
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

CAPSTAN_FOR_EVERY_SOLVER(TinySystems);

}  // namespace
}  // namespace capstan::testing
