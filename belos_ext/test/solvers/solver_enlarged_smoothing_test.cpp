/// \file
/// Enlarged CG where its residual wanders: coefficients jump by eight digits, and b = A v, so that most of b belongs to
/// a third of the rows. CG brings || b - A x || down at once; t directions make the error in the norm of A smaller, and
/// the residual of that x larger.

#include <algorithm>
#include <cmath>

#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/reductions/counters.hpp"

namespace capstan::testing {
namespace {

class EnlargedSmoothing : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr int side = 20;

  Params parameters(int factor = 8) const {
    Params p;
    p.set("Enlarging Factor", factor);
    p.set("Enlarged Form", GetParam());
    p.set("State Cache", false);
    keepHistory(p);
    return p;
  }

  static System wandering() {
    const GO rows = side * side;
    const auto a = scaledLaplacian(side, [=](GO g) { return g >= rows / 3 && g < 2 * rows / 3 ? 1e4 : 1.0; });
    const System system = systemWithRightHandSide(a);
    a->apply(*vectorFrom(a->getDomainMap(), [](GO g) { return std::sin(1e4 * static_cast<double>(g * g % 7919 + g)); }),
             *system.b);
    system.x->putScalar(0);
    return system;
  }

  static Outcome solveEnlarged(const Params& p, const System& system) {
    return solve(methodOf(id::EnlargedCg), p, system, Side::None);
  }
};

TEST_P(EnlargedSmoothing, IsNotDoneWhereItIsOff) {
  Params off = parameters();
  off.set("Residual Smoothing", "off");
  const Outcome plain = solveEnlarged(off, wandering()), smoothed = solveEnlarged(parameters(), wandering());
  EXPECT_TRUE(told(plain, "smoothed residual").empty());
  EXPECT_LE(smoothed.iterations, plain.iterations);
}

TEST_P(EnlargedSmoothing, NeedsNoMoreIterationsThanCg) {
  if (GetParam() == "orthodir") GTEST_SKIP() << "its directions keep what rounding did to them";
  Params cg;
  cg.set("State Cache", false);
  const int classical = solve(methodOf(id::Cg), cg, wandering(), Side::None).iterations;
  for (const int t : {2, 4, 8}) {
    const System system = wandering();
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solveEnlarged(parameters(t), system);
    EXPECT_TRUE(outcome.converged) << t << ' ' << toString(outcome.report.reason);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8 * (1 + 1e-6)) << t;
    EXPECT_LE(outcome.iterations, classical + 2) << t;
    if (t == 8) {
      EXPECT_FALSE(told(outcome, "smoothed residual").empty());
    }
    EXPECT_TRUE(told(outcome, "classical").empty()) << t;
    expectSameOnAllRanks(outcome);
  }
}

// x is the iterate whose residual is recorded, where a solve is cut short, too.
TEST_P(EnlargedSmoothing, ReturnsWhatItJudges) {
  if (GetParam() == "orthodir") GTEST_SKIP() << "its directions keep what rounding did to them";
  const int all = solveEnlarged(parameters(), wandering()).iterations;
  int smoothed = 0;
  for (int iterations = all / 3; iterations < all; ++iterations) {
    const System system = wandering();
    const auto guess = copyOf(*system.x);
    Params p = parameters();
    p.set("Maximum Iterations", iterations);
    const Outcome outcome = solveEnlarged(p, system);
    EXPECT_FALSE(outcome.converged);
    const double residual = relativeResidual(system, *guess);
    EXPECT_NEAR(outcome.report.history.back().residual, residual, 1e-4 * residual) << iterations;
    smoothed += told(outcome, "smoothed residual").empty() ? 0 : 1;
  }
  EXPECT_GT(smoothed, 0);
}

// More digits than the recurrences keep, and more than there are.
TEST_P(EnlargedSmoothing, ClaimsNothingThatIsNotSo) {
  for (const double tolerance : {1e-11, 1e-13, 1e-18}) {
    const System system = wandering();
    const auto guess = copyOf(*system.x);
    Params p = parameters();
    p.set("Convergence Tolerance", tolerance);
    p.set("Maximum Iterations", 2000);
    const Outcome outcome = solveEnlarged(p, system);
    if (GetParam() != "orthodir" || tolerance < 1e-14) {
      EXPECT_EQ(outcome.converged, tolerance > 1e-14) << tolerance << ' ' << toString(outcome.report.reason);
    }
    if (outcome.converged) {
      EXPECT_LE(relativeResidual(system, *guess), tolerance * (1 + 1e-6));
    }
    expectSameOnAllRanks(outcome);
  }
}

TEST_P(EnlargedSmoothing, MeetsAToleranceInAnotherNorm) {
  if (GetParam() == "orthodir") GTEST_SKIP() << "its directions keep what rounding did to them";
  const System system = wandering();
  const auto size = [](const MultiVector& v) {
    double norm = 0;
    v.norm1(Teuchos::ArrayView<double>(&norm, 1));
    return norm;
  };
  Params p = parameters();
  p.set("Residual Norm", "OneNorm");
  p.set("Implicit Residual Scaling", "Norm of Initial Residual");
  const Outcome outcome = solveEnlarged(p, system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  MultiVector r(*system.b, Teuchos::Copy), image(system.b->getMap(), 1);
  system.a->apply(*system.x, image);
  r.update(-1, image, 1);
  EXPECT_LE(size(r), 1e-8 * (1 + 1e-6) * size(*system.b));
  // The claims that fail.
  EXPECT_LE(outcome.report.operatorApplications, outcome.iterations + outcome.report.operatorsAtStart + 6);
  expectSameOnAllRanks(outcome);
}

// supervision/smoothed_residual.hpp: t + 2 numbers, and no reduction. One of the parts is left out from the
// beginning: but for rounding, r is the sum of those in the large rows.
TEST_P(EnlargedSmoothing, SendsTheNumbersOfItsCost) {
  constexpr int t = 8;
  const int all = solveEnlarged(parameters(t), wandering()).iterations;
  std::vector<double> numbers;
  std::vector<long> reductions;
  for (const int iterations : {5, 9, all - 9, all - 5}) {
    Params p = parameters(t);
    p.set("Maximum Iterations", iterations);
    const ReductionCounters before = counters();
    const Outcome outcome = solveEnlarged(p, wandering());
    ASSERT_EQ(outcome.iterations, iterations);
    EXPECT_TRUE(mentions(told(outcome, "directions dropped"), "7 of 8"));
    numbers.push_back(static_cast<double>((counters() - before).bytes) / sizeof(Scalar));
    reductions.push_back(outcome.report.reductionsBlocking);
  }
  const int ranks = Tpetra::getDefaultComm()->getSize();
  EXPECT_EQ((numbers[3] - numbers[2]) - (numbers[1] - numbers[0]), ranks > 1 ? 4 * (t - 1 + 2) : 0);
  EXPECT_EQ(reductions[3] - reductions[2], reductions[1] - reductions[0]);
}

INSTANTIATE_TEST_SUITE_P(Enlarged, EnlargedSmoothing, ::testing::Values("orthodir", "orthomin", "fused"),
                         [](const auto& form) { return form.param; });

}  // namespace
}  // namespace capstan::testing
