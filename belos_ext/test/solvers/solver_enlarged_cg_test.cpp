/// \file
/// Enlarged CG: CG's iterates with one direction, fewer iterations with more, directions that are dropped, and where
/// CAPSTAN CG goes on.

#include <algorithm>
#include <cmath>
#include <limits>

#include "belos_ext/test/solvers/solver_suite.hpp"
#include "belos_ext/test/solvers/textbook_cg.hpp"
#include "tpetra_ext/reductions/counters.hpp"

namespace capstan::testing {
namespace {

const std::vector<std::string> forms = {"orthodir", "orthomin", "fused"};

Params withFactor(int factor, const std::string& form) {
  Params p;
  p.set("Enlarging Factor", factor);
  p.set("Enlarged Form", form);
  p.set("State Cache", false);
  return p;
}

Outcome solveEnlarged(const Params& p, const System& system, Side side = Side::None) {
  return solve(methodOf(id::EnlargedCg), p, system, side);
}

class EnlargedForms : public ::testing::TestWithParam<std::string> {};

TEST_P(EnlargedForms, TakeHestenesAndStiefelsStepsWithOneDirection) {
  const auto a = scaledLaplacian(20, [](GO g) { return 1 + 0.5 * std::sin(0.1 * static_cast<double>(g)); });
  int compared = 0;
  for (const Side side : {Side::None, Side::Right}) {
    for (const int iterations : {1, 2, 5, 10, 20}) {
      const System system = systemWithRightHandSide(a);
      Params p = withFactor(1, GetParam());
      p.set("Convergence Tolerance", 0.0);
      p.set("Maximum Iterations", iterations);
      const Outcome outcome = solveEnlarged(p, system, side);
      ASSERT_EQ(outcome.iterations, iterations);
      const auto expected =
          textbook(*a, side == Side::None ? nullptr : system.preconditioner.get(), *system.b, iterations);
      const double size = norms(*expected)[0], first = norms(*system.b)[0];
      const bool isWorseThanZero = residualNorms(system, *expected)[0] > first;
      expected->update(-1, *system.x, 1);
      if (isWorseThanZero) {  // x lies between the two, and is better than either
        EXPECT_LT(residualNorms(system, *system.x)[0], first) << iterations << ' ' << toString(side);
        continue;
      }
      EXPECT_LE(norms(*expected)[0], 1e-10 * size) << iterations << ' ' << toString(side);
      ++compared;
    }
  }
  EXPECT_GE(compared, 4);
}

TEST_P(EnlargedForms, NeedFewerIterationsWithMoreDirections) {
  const auto a = grid2d(60, 60);
  for (const Side side : {Side::None, Side::Left, Side::Right}) {
    int last = solve(methodOf(id::Cg), Params(), systemWithRightHandSide(a), side).iterations + 1;
    for (const int t : {2, 4, 8, 16}) {
      const System system = systemWithRightHandSide(a);
      const auto guess = copyOf(*system.x);
      const Outcome outcome = solveEnlarged(withFactor(t, GetParam()), system, side);
      EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
      EXPECT_LE(relativeResidual(system, *guess), 1e-8);
      EXPECT_LT(outcome.iterations, last) << t << ' ' << toString(side);
      EXPECT_TRUE(told(outcome, "classical").empty());
      last = outcome.iterations;
      expectSameOnAllRanks(outcome);
    }
  }
}

// The first residual, the last one, those of the iterations, and one that makes the parts orthonormal.
TEST_P(EnlargedForms, MakeTwoReductionsAnIterationOrOne) {
  const int each = GetParam() == "fused" ? 1 : 2;
  for (const Side side : {Side::None, Side::Left, Side::Right}) {
    const System system = systemWithRightHandSide(grid2d(60, 60));
    const Outcome outcome = solveEnlarged(withFactor(4, GetParam()), system, side);
    ASSERT_TRUE(outcome.converged);
    const auto& report = outcome.report;
    // The last iteration is over before the second one.
    const int last = GetParam() == "orthomin" ? 1 : 0, first = GetParam() == "orthodir" ? 0 : 1;
    EXPECT_EQ(report.reductionsBlocking, each * outcome.iterations + 2 + first - last);
    EXPECT_EQ(report.reductionsNonblocking, 0);
    EXPECT_EQ(report.operatorApplications, outcome.iterations + 1 + report.operatorsAtStart);
    EXPECT_LE(report.operatorsAtStart, 1);  // none where the guess is known to be zero
    const int more = GetParam() == "orthomin" ? 0 : 1;
    EXPECT_EQ(report.preconditionerApplications, side == Side::None ? 0 : outcome.iterations + more);
  }
}

// R^T M^{-1} R and AP^T M^{-1} R are measured, not derived from what holds for a linear symmetric M.
TEST(EnlargedOrthomin, KeepsItsConvergenceWhereThePreconditionerIsNotLinear) {
  const System system = systemWithScaledCorrections(grid2d(40, 40));
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solveEnlarged(withFactor(4, "auto"), system, Side::Right);
  const Outcome classical = solve(methodOf(id::Cg), Params(), systemWithScaledCorrections(grid2d(40, 40)), Side::Right);
  ASSERT_TRUE(outcome.converged);
  ASSERT_TRUE(classical.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_LT(outcome.iterations, classical.iterations);
  EXPECT_TRUE(told(outcome, "classical").empty());
}

// Of symmetric products one half is sent: the table of solvers/enlarged_cg/enlarged_cg.hpp.
TEST_P(EnlargedForms, SendTheNumbersOfTheirCostTable) {
  for (const Side side : {Side::None, Side::Right}) {
    for (const int t : {1, 3, 8}) {
      // The difference of two solves that are cut short: what begins and ends a solve is in both.
      std::vector<double> numbers;
      for (const int iterations : {5, 9}) {
        Params p = withFactor(t, GetParam());
        p.set("Convergence Tolerance", 0.0);
        p.set("Maximum Iterations", iterations);
        const ReductionCounters before = counters();
        const Outcome outcome = solveEnlarged(p, systemWithRightHandSide(grid2d(30, 30)), side);
        ASSERT_EQ(outcome.iterations, iterations);
        numbers.push_back(static_cast<double>((counters() - before).bytes) / sizeof(Scalar));
      }
      const bool m = side != Side::None;
      const int s = t * (t + 1) / 2;
      const int orthodir = s + t * t + s + 2 * t + 1 + (m ? s : 0), orthomin = 2 * s + t + 1 + s,
                fused = t * t + 3 * s + (m ? s + t + 1 : 0);
      const int each = GetParam() == "orthodir" ? orthodir : GetParam() == "fused" ? fused : orthomin;
      const int ranks = Tpetra::getDefaultComm()->getSize();
      EXPECT_EQ((numbers[1] - numbers[0]) / 4, ranks > 1 ? each : 0) << t << ' ' << toString(side);
    }
  }
}

// The parts of the residual differ by six digits; what is small in them must not drown in what is large.
TEST_P(EnlargedForms, KeepPartsThatAreFarApartInSize) {
  if (GetParam() == "orthodir") GTEST_SKIP() << "orthodir makes directions orthonormal, not residuals";
  const auto a = scaledLaplacian(20, [](GO g) { return g >= 133 && g < 266 ? 1e3 : 1.0; });
  const System system = systemWithRightHandSide(a);
  const auto solution = copyOf(*system.b);
  a->apply(*solution, *system.b);
  Params cg;
  cg.set("State Cache", false);
  const int classical = solve(methodOf(id::Cg), cg, system).iterations;
  system.x->putScalar(0);
  const Outcome outcome = solveEnlarged(withFactor(8, GetParam()), system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LT(outcome.iterations, classical);
  EXPECT_TRUE(told(outcome, "directions dropped").empty());
  EXPECT_TRUE(told(outcome, "classical").empty());
}

// As many subdomains as rows: the parts of the residual span all vectors.
TEST_P(EnlargedForms, AreDoneInOneIterationWhereEveryRowIsASubdomain) {
  const System system = systemWithRightHandSide(grid2d(4, 3));
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solveEnlarged(withFactor(12, GetParam()), system);
  EXPECT_TRUE(outcome.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_EQ(outcome.iterations, 1);
}

TEST_P(EnlargedForms, TakeNoMoreDirectionsThanRows) {
  const System system = systemWithRightHandSide(grid2d(2, 2));
  const Outcome outcome = solveEnlarged(withFactor(64, GetParam()), system);
  EXPECT_TRUE(outcome.converged);
  EXPECT_TRUE(mentions(told(outcome, "enlarging factor"), "64 reduced to 4"));
}

// Contiguous and interleaved subdomains depend on global row numbers alone.
TEST_P(EnlargedForms, AreTheSameOnAnyDistribution) {
  for (const std::string splitting : {"contiguous", "interleaved"}) {
    std::vector<std::vector<double>> histories;
    for (const auto& map : {evenMap(900), lastRankMap(900)}) {
      const System system = systemWithRightHandSide(grid2d(30, 30, 0, map));
      Params p = withFactor(4, GetParam());
      p.set("Residual Splitting", splitting);
      keepHistory(p);
      const Outcome outcome = solveEnlarged(p, system, Side::Right);
      EXPECT_TRUE(outcome.converged);
      histories.emplace_back();
      for (const auto& entry : outcome.report.history) histories.back().push_back(entry.residual);
    }
    ASSERT_EQ(histories[0].size(), histories[1].size());
    for (size_t i = 0; i < histories[0].size(); ++i) {
      EXPECT_NEAR(histories[0][i], histories[1][i], 1e-6 * histories[0][i]) << splitting << ' ' << i;
    }
  }
}

TEST_P(EnlargedForms, SplitByRankWhateverTheirNumber) {
  for (const auto& map : {evenMap(900), lastRankMap(900)}) {
    for (const int t : {2, 3, 8}) {
      const System system = systemWithRightHandSide(grid2d(30, 30, 0, map));
      const auto guess = copyOf(*system.x);
      Params p = withFactor(t, GetParam());
      p.set("Residual Splitting", "by rank");
      const Outcome outcome = solveEnlarged(p, system, Side::Right);
      EXPECT_TRUE(outcome.converged);
      EXPECT_LE(relativeResidual(system, *guess), 1e-8);
      expectSameOnAllRanks(outcome);
    }
  }
}

TEST_P(EnlargedForms, DropDirectionsThatDependOnOthers) {
  // b vanishes in the second half: the third and the fourth part are zero.
  const auto a = grid2d(30, 30);
  const System system = systemWithRightHandSide(a, [](GO g) { return g < 450 ? wave(g) : 0; });
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solveEnlarged(withFactor(4, GetParam()), system);
  EXPECT_TRUE(outcome.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_TRUE(mentions(told(outcome, "directions dropped"), "2 of 4"));
  expectSameOnAllRanks(outcome);
}

TEST_P(EnlargedForms, GoOnAsCgWithOneDirectionLeft) {
  const System system = systemWithRightHandSide(grid2d(30, 30), [](GO g) { return g < 200 ? wave(g) : 0; });
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solveEnlarged(withFactor(4, GetParam()), system);
  EXPECT_TRUE(outcome.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_TRUE(mentions(told(outcome, "classical"), "one direction is left"));
  const int cg = solve(methodOf(id::Cg), Params(),
                       systemWithRightHandSide(grid2d(30, 30), [](GO g) { return g < 200 ? wave(g) : 0; }))
                     .iterations;
  EXPECT_LE(outcome.iterations, cg + 2);
}

TEST_P(EnlargedForms, SolveNegativeDefiniteSystemsAlike) {
  std::vector<int> iterations;
  for (const Scalar sign : {1, -1}) {
    const auto a = grid2d(30, 30);
    a->resumeFill();
    a->scale(sign);
    a->fillComplete();
    const System system = systemWithRightHandSide(a);
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solveEnlarged(withFactor(4, GetParam()), system, Side::Right);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8);
    EXPECT_TRUE(told(outcome, "classical").empty());
    iterations.push_back(outcome.iterations);
  }
  EXPECT_EQ(iterations[0], iterations[1]);
}

TEST_P(EnlargedForms, HandOverIndefiniteSystems) {
  const auto a =
      diagonal([](GO g) { return g % 3 == 0 ? -1 - static_cast<Scalar>(g) : 1 + static_cast<Scalar>(g); }, 60);
  const System system = rowsHidden(systemWithRightHandSide(a));
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solveEnlarged(withFactor(4, GetParam()), system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_FALSE(told(outcome, "classical").empty());
  expectSameOnAllRanks(outcome);
}

TEST_P(EnlargedForms, LeaveNonsymmetricSystemsToCg) {
  const System system = systemWithRightHandSide(grid2d(20, 20, 0.01));
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solveEnlarged(withFactor(4, GetParam()), system, Side::Right);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_TRUE(mentions(told(outcome, "classical"), "not symmetric"));
  expectSameOnAllRanks(outcome);
}

// r is orthogonal to constants, its parts are not.
TEST_P(EnlargedForms, SolveConsistentSingularSystems) {
  const auto a = neumannGrid(20, 20);
  const auto consistent = [&] { return systemWithSolution(a); };
  const int cg = solve(methodOf(id::Cg), Params(), consistent(), Side::Right).iterations;
  for (const int t : {2, 4, 8}) {
    const System system = consistent();
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solveEnlarged(withFactor(t, GetParam()), system, Side::Right);
    EXPECT_TRUE(outcome.converged) << t << ' ' << toString(outcome.report.reason);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8);
    EXPECT_LT(outcome.iterations, cg);
    EXPECT_LE(norms(*system.x)[0], 1e3 * norms(*system.b)[0]);
  }
}

// More digits than the recurrences keep.
TEST_P(EnlargedForms, GoOnFromTheComputedResidualAtTightTolerances) {
  const System system =
      systemWithRightHandSide(scaledLaplacian(30, [](GO g) { return 1 + static_cast<Scalar>(g % 7); }));
  const auto guess = copyOf(*system.x);
  Params p = withFactor(4, GetParam());
  p.set("Convergence Tolerance", 1e-13);
  const Outcome outcome = solveEnlarged(p, system, Side::Right);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-13 * (1 + 1e-6));
}

INSTANTIATE_TEST_SUITE_P(Enlarged, EnlargedForms, ::testing::ValuesIn(forms),
                         [](const auto& form) { return form.param; });

TEST(EnlargingFactor, IsAtLeastOneAndAtMostSixtyFour) {
  for (const int factor : {-1, 0, 65}) {
    Params p;
    p.set("Enlarging Factor", factor);
    EXPECT_THROW(solverOf(methodOf(id::EnlargedCg), p), std::invalid_argument) << factor;
  }
  Params p;
  p.set("Residual Splitting", "by rnak");
  EXPECT_THROW(solverOf(methodOf(id::EnlargedCg), p), std::invalid_argument);
}

// Solves of one label: the first takes the middle, the second CG; solvers are made anew.
TEST(EnlargingFactor, IsLearntFromSolveToSolve) {
  const auto a = grid2d(40, 40);
  Params p;
  p.set("Enlarging Factor", "auto");
  p.set("Solver Name", "learns its factor");
  std::vector<std::string> factors;
  for (int i = 0; i < 8; ++i) {
    const System system = systemWithRightHandSide(a, [i](GO g) { return wave(g + i); });
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solveEnlarged(p, system);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8);
    expectSameOnAllRanks(outcome);
    const auto events = told(outcome, "enlarging factor");
    ASSERT_FALSE(events.empty());
    factors.push_back(events.front().detail);
  }
  EXPECT_EQ(factors[0], "4");
  EXPECT_EQ(factors[1], "1");
}

}  // namespace
}  // namespace capstan::testing
