/// \file
/// The residual of the recursion beside the one computed from x, in whole solves with every scheme: down to a
/// reachable tolerance they agree, and beyond reach the solve says so instead of trusting the recursion.

#include <gtest/gtest.h>

#include "belos_ext/supervision/krylov_solver.hpp"
#include "belos_ext/test/policies/basis_run.hpp"
#include "belos_ext/test/policies/matrix_file.hpp"
#include "belos_ext/test/policies/schemes.hpp"
#include "belos_ext/test/support/methods.hpp"

namespace capstan::testing {
namespace {

struct Solved {
  StopTest stop;
  double computed;                ///< || b - A x || / || b ||, not by the solver
  std::vector<double> residuals;  ///< of the recursion, one an iteration, relative
};

class Recursion : public ::testing::TestWithParam<Scheme> {
 protected:
  /// steps 1: classical GMRES.
  static Solved solve(RCP<CrsMatrix> a, int steps, double tolerance, int iterations = 1000) {
    SolverOptions options;
    options.blockOrthogonalization = GetParam().block;
    options.intraOrthogonalization = GetParam().intra;
    options.numBlocks = 100;
    options.stepSizeAuto = false;
    options.stepSize = steps;
    const auto solver = makeKrylovSolver<Types>(methodOf(steps == 1 ? id::Gmres : id::SStepGmres));
    solver->configure(options);
    StopCriteria criteria;
    criteria.tolerance = tolerance;
    criteria.maxIterations = iterations;
    Solved solved{StopTest(criteria), 0, {}};
    PlainSystem system(a);
    const auto map = a->getDomainMap();
    const auto b = vectorFrom(map, wave);
    MultiVector x(map, 1);
    solver->solve(system, *b, x, solved.stop);
    solved.computed = relativeResiduals(*a, *b, x, MultiVector(map, 1)).front();
    solved.residuals = system.residuals;
    for (double& r : solved.residuals) r /= solved.stop.implicitScale();
    return solved;
  }
};
INSTANTIATE_TEST_SUITE_P(Schemes, Recursion, ::testing::ValuesIn(allSchemes()),
                         [](const auto& of) { return of.param.name; });

TEST_P(Recursion, FollowsClassicalGmresDownToTheTolerance) {
  const Solved classical = solve(lowSyncDiagonal(), 1, 1e-8);
  for (const int steps : {5, 10}) {
    const Solved solved = solve(lowSyncDiagonal(), steps, 1e-8);
    EXPECT_TRUE(solved.stop.converged());
    ASSERT_EQ(solved.residuals.size(), classical.residuals.size()) << steps;
    // What H tells of a residual that a sketch sees is an estimate; its rows are others with other panels.
    const bool sketched = GetParam().block == BlockOrthogonalization::Sketched;
    const double error = sketched ? 0.3 : 1e-6;
    for (std::size_t k = 0; k < solved.residuals.size(); ++k) {
      EXPECT_NEAR(solved.residuals[k], classical.residuals[k], error * classical.residuals[k] + 1e-10) << k;
    }
    EXPECT_NEAR(solved.computed, solved.residuals.back(), sketched ? 0.3 * solved.computed : 1e-10);
  }
}

TEST_P(Recursion, IsReplacedByTheTrueResidualNearTheAttainableAccuracy) {
  for (const int steps : {1, 5, 10}) {
    const Solved solved = solve(lowSyncDiagonal(), steps, 1e-13);
    EXPECT_TRUE(solved.stop.converged()) << steps;
    EXPECT_LE(solved.computed, 1.01e-13) << steps;
    EXPECT_LE(solved.stop.iterations(), 200) << steps;
  }
}

TEST_P(Recursion, EndsBelowTheAttainableAccuracyWithALossOfAccuracy) {
  for (const int steps : {1, 5, 10}) {
    const Solved solved = solve(lowSyncDiagonal(), steps, 1e-18);
    EXPECT_FALSE(solved.stop.converged()) << steps;
    EXPECT_EQ(solved.stop.reason(), StopReason::AttainableAccuracy) << steps;
    EXPECT_TRUE(solved.stop.lossOfAccuracy()) << steps;
    EXPECT_LT(solved.computed, 1e-15) << steps;
    EXPECT_NEAR(solved.stop.attained(), solved.computed, 1e-16) << steps;
  }
}

// On a matrix on which rounding ends no cycle: after 90 iterations as many digits are left as rounding takes.
TEST(RestartLength, IsWhatAllRanksHaveRoomForUnlessItIsGiven) {
  const auto a = grid2d(70, 70);
  const auto map = a->getDomainMap();
  const auto b = vectorFrom(map, wave);
  const double largest = std::ceil(4900.0 / map->getComm()->getSize()) * sizeof(Scalar);
  for (const std::string& method : {id::Gmres, id::SStepGmres, id::PipelinedGmres}) {
    for (const bool given : {false, true}) {
      SolverOptions options;
      options.numBlocksGiven = given;
      const int bases = method == id::PipelinedGmres ? 2 : 1;
      options.basisMemory = 25 * bases * largest;  // 20 and the first vector, not 30
      const auto solver = makeKrylovSolver<Types>(methodOf(method));
      solver->configure(options);
      StopCriteria criteria;
      criteria.maxIterations = 90;
      StopTest stop(criteria);
      PlainSystem system(a);
      MultiVector x(map, 1);
      solver->solve(system, *b, x, stop);
      if (given) {
        EXPECT_EQ(stop.restarts(), 0);
      } else {
        EXPECT_EQ(stop.restarts(), 4) << "90 iterations in cycles of 20";
      }
    }
  }
}

TEST_P(Recursion, Steam2ConvergesWithNearlyDependentPanels) {
  const auto a = matrixFromFile("steam2.mtx.gz");
  if (a.is_null()) GTEST_SKIP() << "no " CAPSTAN_SHARED_MATRICES "/steam2.mtx.gz";
  for (const int steps : {1, 5, 10}) {
    const Solved solved = solve(a, steps, 1e-8);
    EXPECT_TRUE(solved.stop.converged()) << steps;
    EXPECT_LE(solved.computed, 1.01e-8) << steps;
    EXPECT_LE(solved.stop.iterations(), steps == 1 ? 200 : 600) << steps;
  }
}

}  // namespace
}  // namespace capstan::testing
