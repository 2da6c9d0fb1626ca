/// \file
/// No GMRES method returns an iterate whose residual is larger than that of one it had before.

#include <cmath>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

class Worsening : public EverySolver {
 protected:
  /// The outcome is honest and x not worse than the guess.
  void expectNoWorse(Params p, const System& system, Side side) {
    p.set("State Cache", false);
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), p, system, side);
    EXPECT_TRUE(allFinite(*system.x));
    const double attained = relativeResidual(system, *guess);
    EXPECT_LE(attained, outcome.converged ? 1e-8 : 1);
    EXPECT_NEAR(outcome.report.trueResidual, attained, 1e-6 * attained);
    expectSameOnAllRanks(outcome);
  }
};

/// A preconditioner that multiplies by f(k) when it is applied for the k-th time: wrong without "Flexible Gmres".
System changing(const std::function<Scalar(int)>& f) {
  System system = systemWithRightHandSide(grid2d(12, 12, 0.3));
  const auto applications = std::make_shared<int>(0);
  system.preconditioner =
      rcp(new FunctionOperator(system.b->getMap(), [applications, f](const MultiVector& in, MultiVector& out) {
        out.update(f((*applications)++), in, 0);
      }));
  system.arm = [applications] { *applications = 0; };
  return system;
}

TEST_P(Worsening, IsRefusedWhereThePreconditionerChanges) {
  for (int blocks : {3, 20}) {
    Params p;
    p.set("Num Blocks", blocks);
    SCOPED_TRACE("Num Blocks " + std::to_string(blocks));
    expectNoWorse(p, changing([](int k) { return std::pow(-1.5, k % 40); }), Side::Right);
    expectNoWorse(p, changing([](int k) { return 1 + 0.9 * std::sin(Scalar(k * k)); }), Side::Right);
  }
}

/// Runs that differ in the number of restarts alone, beyond what the arithmetic can attain. They are compared by the
/// residuals that they found themselves, which are those that Tpetra's product finds but for rounding.
void expectResidualsToFall(const MethodTraits& name, Params p, const std::function<System()>& make) {
  p.set("Convergence Tolerance", 0.0);
  p.set("Maximum Iterations", 300);
  p.set("State Cache", false);
  double before = 1;
  for (int restarts : {0, 1, 2, 3, 5, 8, 12, 20, 30}) {
    p.set("Maximum Restarts", restarts);
    const System system = make();
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(name, p, system);
    const double now = outcome.report.trueResidual, first = residualNorms(system, *guess)[0];
    EXPECT_LE(now, before * (1 + 1e-9) + 1e-17) << "with " << restarts << " restarts";
    EXPECT_NEAR(now, relativeResidual(system, *guess), 1e-9 * now + norms(*residualRounding(system))[0] / first);
    before = now;
  }
}

TEST_P(Worsening, IsUndoneBeyondTheAttainableAccuracy) {
  for (int blocks : {5, 25}) {
    SCOPED_TRACE("Num Blocks " + std::to_string(blocks));
    Params p;
    p.set("Num Blocks", blocks);
    expectResidualsToFall(GetParam(), p, [] { return systemWithRightHandSide(grid2d(12, 12, 0.3)); });
    expectResidualsToFall(GetParam(), p, [] { return systemWithRightHandSide(lowSyncDiagonal()); });
  }
}

TEST_P(Worsening, IsRefusedWhereShiftsAreAbsurd) {
  if (GetParam().canonical == id::Gmres) GTEST_SKIP() << "no shifts";
  for (const char* shifts : {"[1e-30]", "[1]", "[1e8]", "[1e30]", "[-3, 1e4]"}) {
    SCOPED_TRACE(shifts);
    Params p;
    p.set("Num Blocks", 30);
    p.set("Shifts", shifts);
    if (GetParam().canonical == id::PipelinedGmres) p.set("Pipeline Depth", 8);
    expectResidualsToFall(GetParam(), p, [] { return systemWithRightHandSide(grid2d(12, 12, 0.9)); });
  }
}

INSTANTIATE_TEST_SUITE_P(Gmres, Worsening, ::testing::ValuesIn(methodsWhere(isGmres)), solverIdentifier);

}  // namespace
}  // namespace capstan::testing
