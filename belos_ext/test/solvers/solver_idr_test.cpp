/// \file
/// IDR(s): the textbook's residuals, its shadow space, and where its scalars break down.

#include "belos_ext/test/solvers/textbook_idr.hpp"

namespace capstan::testing {
namespace {

const MethodTraits& idr() { return methodOf(id::Idr); }

TEST(Idr, FollowsTheTextbooksResiduals) {
  const auto a = grid2d(20, 20, 0.3);
  System system = systemWithRightHandSide(a);
  system.preconditioner = rcp(new FunctionOperator(a->getDomainMap(), [](const MultiVector& in, MultiVector& out) {
    const auto d = vectorFrom(in.getMap(), [](GO g) { return 1 + 0.1 * static_cast<double>(g % 7); });
    for (size_t c = 0; c < in.getNumVectors(); ++c) {
      out.getVectorNonConst(c)->elementWiseMultiply(1, *d->getVector(0), *in.getVector(c), 0);
    }
  }));
  const int iterations = 30;
  for (const int s : {1, 2, 4, 8}) {
    for (const Side side : {Side::None, Side::Left, Side::Right}) {
      SCOPED_TRACE("s " + std::to_string(s) + ", " + toString(side));
      Params p;
      p.set("Shadow Space", s);
      p.set("Convergence Tolerance", 1e-30);
      p.set("Maximum Iterations", iterations);
      keepHistory(p);
      system.x->putScalar(0);
      const Outcome outcome = solve(idr(), p, system, side);
      const Operator* m = side == Side::None ? nullptr : system.preconditioner.get();
      const auto expected = textbookIdr(*a, m, *system.b, shadowSpace(a->getDomainMap(), s), 0, iterations);
      const double scale = norms(*system.b)[0];
      std::size_t compared = 0;
      for (const auto& entry : outcome.report.history) {
        if (entry.iteration == 0) continue;
        const double wanted = expected[static_cast<std::size_t>(entry.iteration) - 1] / scale;
        EXPECT_NEAR(entry.residual, wanted, 1e-5 * wanted) << entry.iteration;
        ++compared;
      }
      EXPECT_EQ(compared, expected.size());
    }
  }
}

// A product and a reduction for each iteration, and one of each at the beginning and at the end.
TEST(Idr, TakesOneReductionForAProduct) {
  const System system = systemWithRightHandSide(grid2d(41, 40, 0.3));
  for (const int s : {1, 4, 8}) {
    SCOPED_TRACE(s);
    Params p;
    p.set("Shadow Space", s);
    p.set("State Cache", false);
    system.x->putScalar(1e-3);
    const Outcome outcome = solve(idr(), p, system);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_EQ(outcome.report.events.size(), told(outcome, "execution").size()) << "nothing happened";
    EXPECT_EQ(outcome.report.operatorApplications, outcome.iterations + 2);
    EXPECT_EQ(outcome.report.reductionsBlocking + outcome.report.reductionsNonblocking, outcome.iterations + 2);
  }
}

// A tridiagonal matrix of 6 rows: in exact arithmetic it ends after at most n + n / s products.
TEST(Idr, SolvesASmallSystemExactly) {
  const auto a = matrixFrom(evenMap(6), [](GO g) {
    std::vector<Entry> row{{g, 3}};
    if (g > 0) row.push_back({g - 1, -1});
    if (g < 5) row.push_back({g + 1, -0.5});
    return row;
  });
  for (const int s : {1, 4, 16}) {
    SCOPED_TRACE(s);
    const System system = systemWithRightHandSide(a, [](GO g) { return static_cast<Scalar>(g + 1); });
    const auto guess = copyOf(*system.x);
    Params p;
    p.set("Shadow Space", s);
    const Outcome outcome = solve(idr(), p, system);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_LE(outcome.iterations, 12);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8);
    expectSameOnAllRanks(outcome);
  }
}

// (t, r) = 0 for every r.
TEST(Idr, HandsOverOnASkewSymmetricMatrix) {
  const auto a = matrixFrom(evenMap(40), [](GO g) {
    std::vector<Entry> row;
    if (g > 0) row.push_back({g - 1, -1});
    if (g < 39) row.push_back({g + 1, 1});
    return row;
  });
  const System system = systemWithRightHandSide(a);
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(idr(), Params(), system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_EQ(told(outcome, "fallback").size(), 1U);
  expectSameOnAllRanks(outcome);
}

TEST(Idr, EndsInABreakdownWithoutAFallback) {
  const auto a = matrixFrom(evenMap(2), [](GO g) { return std::vector<Entry>{{1 - g, g == 0 ? 1.0 : -1.0}}; });
  const System system = systemWithRightHandSide(a, [](GO g) { return g == 0 ? 1 : 0; });
  Params p;
  p.set("Fallback", "none");
  p.set("Shadow Space", 1);
  const Outcome outcome = solve(idr(), p, system);
  EXPECT_TRUE(allFinite(*system.x));
  EXPECT_FALSE(outcome.converged);
  EXPECT_EQ(outcome.report.reason, StopReason::Breakdown) << toString(outcome.report.reason);
  expectSameOnAllRanks(outcome);
}

// Rows of sizes 1 to 1e8: what the recurrences make of the squares of g cancels, and below zero it is no residual of 0.
TEST(Idr, ClaimsNothingOfASquareThatHasCancelled) {
  constexpr GO n = 60;
  const auto a = matrixFrom(evenMap(n), [](GO g) {
    const double d = std::pow(10.0, 8 * static_cast<double>(g) / n);
    std::vector<Entry> row{{g, d}};
    if (g > 0) row.push_back({g - 1, 0.3 * d});
    if (g + 1 < n) row.push_back({g + 1, -0.4 * d});
    return row;
  });
  for (int seed = 1; seed <= 6; ++seed) {
    const System system = systemWithRightHandSide(
        a, [=](GO g) { return std::sin(static_cast<double>((7 * seed + 3) * (g + 1) * (g + 1))); });
    Params p;
    p.set("Shadow Space", 16);
    p.set("Fallback", "none");
    keepHistory(p);
    const Outcome outcome = solve(idr(), p, system);
    EXPECT_TRUE(outcome.converged) << seed << ": " << toString(outcome.report.reason);
    for (const auto& entry : outcome.report.history) EXPECT_GT(entry.residual, 0) << seed << ", " << entry.iteration;
  }
}

// More digits than the recurrences keep, so that claims fail and new cycles go on.
TEST(Idr, GoesOnFromTheComputedResidualWhereTheRecursionHasDrifted) {
  const System system = systemWithRightHandSide(grid2d(40, 40, 0.3));
  const auto guess = copyOf(*system.x);
  Params p;
  p.set("Convergence Tolerance", 1e-13);
  const Outcome outcome = solve(idr(), p, system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-13 * (1 + 1e-6));
}

// The shadow space is that of every number of ranks, so that the iterations are, but for rounding.
TEST(Idr, TakesTheSameIterationsOnAnyNumberOfRanks) {
  const System system = systemWithRightHandSide(grid2d(25, 23, 0.3));
  const Outcome outcome = solve(idr(), Params(), system);
  EXPECT_TRUE(outcome.converged);
  EXPECT_NEAR(outcome.iterations, 81, 4);
}

}  // namespace
}  // namespace capstan::testing
