/// \file
/// BiCGStab and its pipelined form: the textbook's residuals, and where its scalars break down.

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

/// A dense matrix, row by row, on any number of ranks.
RCP<CrsMatrix> dense(const std::vector<std::vector<Scalar>>& rows) {
  const auto n = static_cast<Tpetra::global_size_t>(rows.size());
  const auto map = rcp(new Map(n, 0, Tpetra::getDefaultComm()));
  const auto a = rcp(new CrsMatrix(map, rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<GO>(i);
    if (!map->isNodeGlobalElement(row)) continue;
    for (size_t j = 0; j < rows.size(); ++j) {
      const auto column = static_cast<GO>(j);
      if (rows[i][j] != 0) a->insertGlobalValues(row, 1, &rows[i][j], &column);
    }
  }
  a->fillComplete();
  return a;
}

/// || r_i || of the textbook's BiCGStab without a preconditioner, x_0 = 0, for a matrix on one rank or more.
std::vector<double> textbook(const Operator& a, const MultiVector& b, int iterations) {
  const auto dot = [](const MultiVector& x, const MultiVector& y) {
    std::vector<Scalar> result(1);
    x.dot(y, Teuchos::arrayViewFromVector(result));
    return result[0];
  };
  MultiVector r(b, Teuchos::Copy), shadow(b, Teuchos::Copy), p(b, Teuchos::Copy), v(b, Teuchos::Copy),
      t(b, Teuchos::Copy);
  Scalar rho = dot(shadow, r);
  std::vector<double> norms;
  for (int i = 0; i < iterations; ++i) {
    a.apply(p, v);
    const Scalar alpha = rho / dot(shadow, v);
    r.update(-alpha, v, 1);
    a.apply(r, t);
    const Scalar omega = dot(t, r) / dot(t, t);
    r.update(-omega, t, 1);
    norms.push_back(std::sqrt(dot(r, r)));
    const Scalar next = dot(shadow, r), beta = next / rho * alpha / omega;
    p.update(-omega, v, 1);
    p.update(1, r, beta);
    rho = next;
  }
  return norms;
}

class BiCgStabTypes : public ::testing::TestWithParam<std::string> {};

TEST_P(BiCgStabTypes, FollowTheTextbooksResiduals) {
  const auto a = grid2d(20, 20, 0.3);
  const System system = systemWithRightHandSide(a);
  const int iterations = 20;
  Params p;
  p.set("Convergence Tolerance", 1e-30);
  p.set("Maximum Iterations", iterations);
  keepHistory(p);
  const Outcome outcome = solve(methodOf(GetParam()), p, system);
  const auto expected = textbook(*a, *system.b, iterations);
  ASSERT_EQ(outcome.report.history.size(), expected.size() + (outcome.report.history.front().iteration == 0 ? 1 : 0));
  const double scale = norms(*system.b)[0];
  size_t compared = 0;
  for (const auto& entry : outcome.report.history) {
    if (entry.iteration == 0) continue;
    const double wanted = expected[static_cast<size_t>(entry.iteration) - 1] / scale;
    EXPECT_NEAR(entry.residual, wanted, 1e-6 * wanted) << entry.iteration;
    ++compared;
  }
  EXPECT_EQ(compared, expected.size());
}

class BiCgStabContinuation : public ::testing::TestWithParam<Side> {};

// A new beginning would have residuals of its own at once. Rounding needs some iterations to part the two.
TEST_P(BiCgStabContinuation, GoesOnWithTheTextbooksResiduals) {
  const auto a = grid2d(60, 60, 0.2);
  System system = systemWithRightHandSide(a);
  const auto diagonal = vectorFrom(a->getDomainMap(), [](GO g) { return 1 + 0.1 * static_cast<double>(g % 7); });
  const auto scale = [diagonal](const MultiVector& in, MultiVector& out) {
    out.elementWiseMultiply(1, *diagonal->getVector(0), in, 0);
  };
  system.preconditioner = rcp(new FunctionOperator(a->getDomainMap(), scale));
  const bool preconditioned = GetParam() != Side::None;
  const FunctionOperator product(a->getDomainMap(), [&](const MultiVector& in, MultiVector& out) {
    MultiVector between(in, Teuchos::Copy);
    if (preconditioned) scale(in, between);
    a->apply(between, out);
  });
  Params p;
  p.set("Convergence Tolerance", 1e-30);
  p.set("Maximum Iterations", 54);
  keepHistory(p);
  const Outcome outcome = solve(methodOf(id::PipelinedBiCgStab), p, system, GetParam());
  const auto classical = told(outcome, "classical");
  ASSERT_EQ(classical.size(), 1U);
  EXPECT_EQ(classical.front().iteration, 50);
  EXPECT_TRUE(mentions(classical, "the pipeline's recurrences"));
  EXPECT_TRUE(told(outcome, "restart").empty());
  const auto expected = textbook(product, *system.b, 54);
  const double first = norms(*system.b)[0];
  for (const auto& entry : outcome.report.history) {
    if (entry.iteration < 48) continue;
    const double wanted = expected[static_cast<size_t>(entry.iteration) - 1] / first;
    EXPECT_NEAR(entry.residual, wanted, 1e-2 * wanted) << entry.iteration;
  }
  expectSameOnAllRanks(outcome);
}

/// A row of positive numbers from 1 to 1e9 and what couples each to the next, on a diagonal of a small matrix.
System smallAndIllConditioned() {
  std::vector<std::vector<Scalar>> rows(20, std::vector<Scalar>(20, 0));
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i][i] = std::pow(10.0, 9.0 * static_cast<double>(i) / 19);
    if (i > 0) rows[i][i - 1] = 0.1 * rows[i][i];
    if (i + 1 < rows.size()) rows[i][i + 1] = -0.4 * rows[i][i];
  }
  System system = systemWithRightHandSide(dense(rows));
  system.preconditioner = Teuchos::null;
  return system;
}

// In exact arithmetic it ends after as many iterations as there are rows; GMRES does so in rounding, too.
TEST_P(BiCgStabTypes, LeaveIterationsForGmresWhereTheyTakeMoreThanThereAreRows) {
  Params p;
  p.set("Convergence Tolerance", 1e-8);
  p.set("Maximum Iterations", 120);
  const Outcome outcome = solve(methodOf(GetParam()), p, smallAndIllConditioned());
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(outcome.iterations, 4 * 20);
  p.set("Fallback", "none");
  EXPECT_FALSE(solve(methodOf(GetParam()), p, smallAndIllConditioned()).converged);
}

INSTANTIATE_TEST_SUITE_P(Sides, BiCgStabContinuation, ::testing::Values(Side::None, Side::Left, Side::Right),
                         [](const auto& side) { return toString(side.param); });

// Eight digits take their digits of the best recurrences, which are begun anew then.
TEST(PipelinedBiCgStab, IsNotGivenUpWhereTheResidualFallsSoon) {
  System system = systemWithRightHandSide(grid2d(12, 12, 0.3));
  Params p;
  p.set("Convergence Tolerance", 1e-12);
  const Outcome outcome = solve(methodOf(id::PipelinedBiCgStab), p, system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LT(outcome.iterations, 50);
  EXPECT_EQ(told(outcome, "residual replacement").size(), 1U);
  EXPECT_TRUE(told(outcome, "classical").empty());
}

// q is within a hundredth of its target, as M is of the inverse; r would be far below.
TEST_P(BiCgStabTypes, EndInTheMiddleOfAnIterationWhereThatIsEnough) {
  const auto a = grid2d(12, 12, 0.3);
  System system = systemWithRightHandSide(a);
  const auto factor = [](GO g) { return 1 + 0.02 * std::sin(static_cast<double>(g)); };
  // A = M^{-1} up to this factor of each row.
  const auto nearlyOne = vectorFrom(a->getRowMap(), factor);
  system.a = rcp(new FunctionOperator(a->getRowMap(), [nearlyOne](const MultiVector& in, MultiVector& out) {
    out.elementWiseMultiply(1, *nearlyOne->getVector(0), in, 0);
  }));
  system.preconditioner =
      rcp(new FunctionOperator(a->getRowMap(), [](const MultiVector& in, MultiVector& out) { out.update(1, in, 0); }));
  Params p;
  p.set("Convergence Tolerance", 0.1);
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(methodOf(GetParam()), p, system, Side::Right);
  EXPECT_TRUE(outcome.converged);
  EXPECT_LE(relativeResidual(system, *guess), 0.1);
  EXPECT_EQ(outcome.iterations, 1) << "half a one counts";
  EXPECT_EQ(outcome.report.operatorsBeyond, GetParam() == id::BiCgStab ? 0 : 2)
      << "b - A x, less half an iteration; the pipelined form begins with A r^ and A w^, and hides A z^";
  expectSameOnAllRanks(outcome);

  p.set("Convergence Tolerance", 1e-3);
  system.x->putScalar(0);
  const Outcome whole = solve(methodOf(GetParam()), p, system, Side::Right);
  EXPECT_TRUE(whole.converged);
  EXPECT_GE(whole.iterations, 1);
  EXPECT_LE(relativeResidual(system, *guess), 1e-3);
}

// M is the inverse up to a millionth, and q a millionth of r: products of q from those of r and s would be rounding.
TEST_P(BiCgStabTypes, ComputeProductsOfAnIntermediateResidualThatIsTiny) {
  const auto map = grid2d(12, 12, 0.3)->getRowMap();
  System system;
  const auto nearlyOne = vectorFrom(map, [](GO g) { return 1 + 1e-6 * std::sin(static_cast<double>(g)); });
  system.a = rcp(new FunctionOperator(map, [nearlyOne](const MultiVector& in, MultiVector& out) {
    out.elementWiseMultiply(1, *nearlyOne->getVector(0), in, 0);
  }));
  system.b = vectorFrom(map, [](GO g) { return 1 + std::cos(static_cast<double>(g)); });
  system.x = rcp(new MultiVector(map, 1));
  const auto guess = copyOf(*system.x);
  Params p;
  p.set("Convergence Tolerance", 1e-11);
  const Outcome outcome = solve(methodOf(GetParam()), p, system, Side::None);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-11);
  EXPECT_EQ(outcome.iterations, 1);
  expectSameOnAllRanks(outcome);
}

// The last iteration may have two, as half of it may be enough.
TEST_P(BiCgStabTypes, HaveOneReductionAnIteration) {
  for (const Side side : {Side::None, Side::Right}) {
    System system = systemWithRightHandSide(grid2d(30, 30, 0.3));
    const Outcome outcome = solve(methodOf(GetParam()), Params(), system, side);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    const long reductions = outcome.report.reductionsBlocking + outcome.report.reductionsNonblocking;
    EXPECT_GE(outcome.iterations, 15);
    EXPECT_LE(reductions, outcome.iterations + 5) << "the first residual, its claim, and the end";
  }
}

// A p is orthogonal to the shadow residual in the first step.
TEST_P(BiCgStabTypes, HandOverWhereTheFirstStepBreaksDown) {
  const System system = systemWithRightHandSide(dense({{0, 1}, {1, 0}}), [](GO g) { return g == 0 ? 1 : 0; });
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(methodOf(GetParam()), Params(), system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_EQ(told(outcome, "restart").size(), 1U);
  EXPECT_EQ(told(outcome, "fallback").size(), 1U);
  expectSameOnAllRanks(outcome);
}

// (r*, A p) = 0 in the second step: r = (-1, -1/2, -1/2), p = (-2, 0, -1/2), A p = (1/2, 1/2, 2). With that r as r* all
// goes on. With the small entry the pipelined form's recurrence for (r*, A p) leaves -2^-53 of it.
TEST_P(BiCgStabTypes, GoOnWithANewShadowResidualAfterABreakdown) {
  for (const Scalar small : {0.0, 0x1p-53}) {
    SCOPED_TRACE(small);
    const auto a = dense({{small, 0, -1}, {0, 2, -1}, {-1, -1, 0}});
    const System system = systemWithRightHandSide(a, [](GO g) { return static_cast<Scalar>(g == 1) - (g == 0); });
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(methodOf(GetParam()), Params(), system);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8);
    EXPECT_LE(outcome.iterations, 4) << "1 before the breakdown, 3 from r on";
    const auto restarts = told(outcome, "restart");
    ASSERT_EQ(restarts.size(), 1U);
    EXPECT_EQ(restarts.front().iteration, 1);
    EXPECT_TRUE(mentions(restarts, "breakdown; a new shadow residual")) << restarts.front().detail;
    EXPECT_TRUE(told(outcome, "went back").empty()) << "x is that of the first step";
    EXPECT_TRUE(told(outcome, "fallback").empty());
    expectSameOnAllRanks(outcome);
  }
}

// (t, s) = 0 for every s.
TEST_P(BiCgStabTypes, HandOverOnASkewSymmetricMatrix) {
  const auto a = dense({{0, 1, 0, 2}, {-1, 0, 3, 0}, {0, -3, 0, 1}, {-2, 0, -1, 0}});
  const System system = systemWithRightHandSide(a);
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(methodOf(GetParam()), Params(), system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_EQ(told(outcome, "fallback").size(), 1U);
}

TEST_P(BiCgStabTypes, EndInABreakdownWithoutAFallback) {
  const System system = systemWithRightHandSide(dense({{0, 1}, {1, 0}}), [](GO g) { return g == 0 ? 1 : 0; });
  Params p;
  p.set("Fallback", "none");
  const Outcome outcome = solve(methodOf(GetParam()), p, system);
  EXPECT_FALSE(outcome.converged);
  EXPECT_EQ(outcome.report.reason, StopReason::Breakdown);
  EXPECT_TRUE(allFinite(*system.x));
  EXPECT_EQ(outcome.achieved, 1);
}

// The smallest tolerance that rounding can meet: more digits than the recurrences keep, so that claims fail and new
// cycles go on.
TEST_P(BiCgStabTypes, GoOnFromTheComputedResidualWhereTheRecursionHasDrifted) {
  const System system = systemWithRightHandSide(grid2d(40, 40, 0.3));
  const auto guess = copyOf(*system.x);
  Params p;
  p.set("Convergence Tolerance", 1e-14);
  const Outcome outcome = solve(methodOf(GetParam()), p, system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, *guess), 1e-14 * (1 + 1e-6));
}

INSTANTIATE_TEST_SUITE_P(Solvers, BiCgStabTypes, ::testing::Values(id::BiCgStab, id::PipelinedBiCgStab),
                         [](const auto& method) { return identifier(method.param); });

}  // namespace
}  // namespace capstan::testing
