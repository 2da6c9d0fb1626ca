/// \file
/// CR and its pipelined form: the textbook's residuals, the least ones of all short recurrences, and a preconditioner
/// that is not linear.

#include <cmath>
#include <random>

#include "belos_ext/test/solvers/solver_suite.hpp"
#include "belos_ext/test/solvers/textbook_cr.hpp"

namespace capstan::testing {
namespace {

/// Random numbers in (-1, 1), the same on any number of ranks.
RCP<MultiVector> randomVector(const RCP<const Map>& map, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::vector<Scalar> entries(static_cast<std::size_t>(map->getGlobalNumElements()));
  for (Scalar& entry : entries) entry = static_cast<Scalar>(bits() >> 11) / static_cast<Scalar>(1LL << 52) - 1;
  return vectorFrom(map, [&](GO g) { return entries[static_cast<std::size_t>(g)]; });
}

/// b = A y, y random.
System randomSystem(const RCP<CrsMatrix>& a) {
  System system = systemWithRightHandSide(a);
  a->apply(*randomVector(a->getDomainMap(), 20260101), *system.b);
  return system;
}

class CrTypes : public ::testing::TestWithParam<std::string> {};

TEST_P(CrTypes, FollowTheTextbooksResiduals) {
  const System system = randomSystem(scaledLaplacian(20, [](GO g) { return 1 + 0.1 * static_cast<double>(g % 7); }));
  const int iterations = 40;
  for (const Side side : {Side::None, Side::Left, Side::Right}) {
    SCOPED_TRACE(toString(side));
    Params p;
    p.set("Convergence Tolerance", 1e-30);
    p.set("Maximum Iterations", iterations);
    keepHistory(p);
    system.x->putScalar(0);
    const Outcome outcome = solve(methodOf(GetParam()), p, system, side);
    const Operator* m = side == Side::None ? nullptr : system.preconditioner.get();
    const auto expected = textbookCr(*system.a, m, *system.b, 0, iterations);
    const double scale = norms(*system.b)[0];
    std::size_t compared = 0;
    for (const auto& entry : outcome.report.history) {
      if (entry.iteration == 0) continue;
      const double wanted = expected[static_cast<std::size_t>(entry.iteration) - 1] / scale;
      EXPECT_NEAR(entry.residual, wanted, 1e-6 * wanted) << entry.iteration;
      ++compared;
    }
    EXPECT_EQ(compared, expected.size());
  }
}

// b itself is random: it has as much of what is hard as of what is easy.
TEST_P(CrTypes, TakeTheTextbooksIterationsOfRandomRightHandSides) {
  constexpr int most = 2000;
  for (const auto& a :
       {grid2d(30, 30), scaledLaplacian(40, [](GO g) { return 1 + 0.1 * static_cast<double>(g % 7); })}) {
    for (const double tolerance : {1e-3, 1e-8}) {
      for (const Side side : {Side::None, Side::Left, Side::Right}) {
        for (const std::uint64_t seed : {1, 2}) {
          SCOPED_TRACE(toString(side) + ", " + std::to_string(tolerance) + ", seed " + std::to_string(seed));
          System system = systemWithRightHandSide(a);
          system.b = randomVector(a->getDomainMap(), seed);
          const Operator* m = side == Side::None ? nullptr : system.preconditioner.get();
          const auto expected = textbookCr(*a, m, *system.b, tolerance * norms(*system.b)[0], most);
          Params p;
          p.set("Convergence Tolerance", tolerance);
          const Outcome outcome = solve(methodOf(GetParam()), p, system, side);
          EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
          EXPECT_NEAR(outcome.iterations, static_cast<double>(expected.size()), 1);
        }
      }
    }
  }
}

// A = diag(1, 2), b = (1, 1): alpha = (r, A r) / (A r, A r) = 3 / 5, r = (2/5, -1/5); the second step is exact.
TEST_P(CrTypes, TakeTheStepsDoneByHand) {
  const System system = systemWithRightHandSide(matrixFrom(evenMap(2),
                                                           [](GO g) {
                                                             return std::vector<Entry>{{g, Scalar(g + 1)}};
                                                           }),
                                                [](GO) { return 1; });
  Params p;
  keepHistory(p);
  const Outcome outcome = solve(methodOf(GetParam()), p, rowsHidden(system));
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_EQ(outcome.iterations, 2);
  for (const auto& entry : outcome.report.history) {
    if (entry.iteration == 1) {
      EXPECT_NEAR(entry.residual, std::sqrt(0.1), 1e-15);
    }
  }
  expectSameOnAllRanks(outcome);
}

// Without M no method finds a smaller residual in the same space: CG's is at no iteration smaller, and CR's never
// rises.
TEST_P(CrTypes, HaveResidualsNoLargerThanCgs) {
  const System system = randomSystem(grid2d(30, 30));
  const auto residuals = [&](const std::string& method) {
    Params p;
    p.set("Convergence Tolerance", 1e-6);
    keepHistory(p);
    system.x->putScalar(0);
    const Outcome outcome = solve(methodOf(method), p, system);
    EXPECT_TRUE(outcome.converged);
    std::vector<double> found;
    for (const auto& entry : outcome.report.history) {
      if (entry.iteration > 0) found.push_back(entry.residual);
    }
    return found;
  };
  const auto ours = residuals(GetParam()), cg = residuals(id::Cg);
  EXPECT_LT(ours.size(), cg.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_LE(ours[i], cg[i] * (1 + 1e-8)) << i;
    if (i > 0) {
      EXPECT_LE(ours[i], ours[i - 1] * (1 + 1e-12)) << i;
    }
  }
}

// Its recurrence for M^{-1} r would be wrong from the first step on.
TEST_P(CrTypes, HandOverWhereThePreconditionerIsNotLinear) {
  const System system = systemWithScaledCorrections(grid2d(30, 30));
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(methodOf(GetParam()), Params(), system, Side::Right);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  const auto classical = told(outcome, "classical");
  ASSERT_EQ(classical.size(), 1U);
  EXPECT_LE(classical.front().iteration, 3);
  EXPECT_TRUE(mentions(classical, "not linear and symmetric; going on with CAPSTAN CG")) << classical.front().detail;
  EXPECT_TRUE(told(outcome, "fallback").empty());
  system.x->putScalar(0);
  const Outcome cg = solve(methodOf(id::Cg), Params(), system, Side::Right);
  EXPECT_LE(outcome.iterations, cg.iterations + 3);
  expectSameOnAllRanks(outcome);
}

// More digits than the recurrences keep.
TEST_P(CrTypes, GoOnFromTheComputedResidualWhereTheRecursionHasDrifted) {
  const System system = randomSystem(grid2d(60, 60));
  const auto guess = copyOf(*system.x);
  Params p;
  p.set("Convergence Tolerance", 1e-13);
  const Outcome outcome = solve(methodOf(GetParam()), p, system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-13 * (1 + 1e-6));
}

// (r, A r) = 0 in the first step.
// What overflows in one solve is nothing of the next one.
TEST_P(CrTypes, BeginEachSolveWithoutBoundsOfTheLast) {
  const auto small = grid2d(12, 12);
  small->resumeFill();
  small->scale(1e-170);
  small->fillComplete();
  Params p;
  p.set("State Cache", false);
  const auto used = solverOf(methodOf(GetParam()), p), fresh = solverOf(methodOf(GetParam()), p);
  solve(*used, systemWithRightHandSide(small), Side::Right);
  const Outcome after = solve(*used, systemWithRightHandSide(grid2d(12, 12)), Side::Right);
  solve(*fresh, systemWithRightHandSide(grid2d(12, 12)), Side::Right);
  const Outcome again = solve(*fresh, systemWithRightHandSide(grid2d(12, 12)), Side::Right);
  EXPECT_TRUE(after.converged);
  EXPECT_LE(after.report.reductionsBlocking + after.report.reductionsNonblocking,
            again.report.reductionsBlocking + again.report.reductionsNonblocking + 1);
}

TEST_P(CrTypes, HandOverWhereTheFirstStepBreaksDown) {
  const System system = systemWithRightHandSide(matrixFrom(evenMap(2),
                                                           [](GO g) {
                                                             return std::vector<Entry>{{1 - g, 1}};
                                                           }),
                                                [](GO g) { return g == 0 ? 1 : 0; });
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(methodOf(GetParam()), Params(), system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  expectSameOnAllRanks(outcome);
}

INSTANTIATE_TEST_SUITE_P(Solvers, CrTypes, ::testing::Values(id::Cr, id::PipelinedCr),
                         [](const auto& method) { return identifier(method.param); });

}  // namespace
}  // namespace capstan::testing
