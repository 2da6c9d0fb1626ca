/// \file
/// What p(1)-GMRES' orthogonalisations, the fallbacks and the automatic block length of the pipelined GMRES
/// methods promise beyond solver_pipeline_test.cpp.

#include <string>
#include <tuple>

#include "belos_ext/basis/exact_columns.hpp"
#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

constexpr const char* schemes[] = {"single-reduce cgs", "single-reduce cgs2", "single-reduce mgs"};

Params uncached() {
  Params p;
  p.set("State Cache", false);
  return p;
}

void expectTruth(const Outcome& outcome, const System& system, const MultiVector& guess, double tolerance = 1e-8) {
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(relativeResidual(system, guess), tolerance * (1 + 1e-6));
  expectSameOnAllRanks(outcome);
}

// The first solve finds out, by a classical cycle that does not keep what it promises; the next ones know.
TEST(PipelinedGmres, GoesOnWithFlexibleCyclesWhereThePreconditionerIsNotLinear) {
  const auto a = grid2d(40, 40);
  Params p;
  p.set("State Cache", true);
  p.set("Solver Name", "PipelinedGmres.GoesOnWithFlexibleCycles");
  const Outcome classical = solve(methodOf(id::Gmres), uncached(), systemWithScaledCorrections(a), Side::Right);
  const System first = systemWithScaledCorrections(a), second = systemWithScaledCorrections(a);
  const auto guess = copyOf(*first.x);
  const Outcome learning = solve(methodOf(id::PipelinedGmres), p, first, Side::Right);
  expectTruth(learning, first, *guess);
  EXPECT_FALSE(told(learning, "flexible").empty());
  const Outcome outcome = solve(methodOf(id::PipelinedGmres), p, second, Side::Right);
  expectTruth(outcome, second, *guess);
  EXPECT_LE(outcome.iterations, classical.iterations + 2);
  EXPECT_EQ(outcome.report.restarts, 0);
}

TEST(ExactColumns, AreFoundWhereverTheyEnd) {
  for (const int most : {1, 2, 7, 60, 119}) {
    for (int step = 1; step <= 12; ++step) {
      for (int exact = 0; exact <= most; ++exact) {
        const int least = most / 2, found = mostThat(least, most, step, [exact](int k) { return k <= exact; });
        EXPECT_LE(found, exact);
        EXPECT_GT(found, exact > least ? std::max(least, exact - step) : -1) << exact << " of " << most << ", " << step;
      }
    }
  }
}

/// The right-hand side of ones, preconditioned from the right by so many steps of CG.
System systemWithInnerCg(const RCP<CrsMatrix>& a, int steps) {
  System system = systemWithRightHandSide(a, [](GO) { return 1.0; });
  const auto inner = [a, steps](const MultiVector& in, MultiVector& out) {
    MultiVector r(in, Teuchos::Copy), p(in, Teuchos::Copy), s(in.getMap(), 1);
    out.putScalar(0);
    const auto dot = [](const MultiVector& one, const MultiVector& other) {
      Scalar product = 0;
      one.dot(other, Teuchos::ArrayView<Scalar>(&product, 1));
      return product;
    };
    Scalar rr = dot(r, r);
    for (int k = 0; k < steps && rr > 0; ++k) {
      a->apply(p, s);
      const Scalar alpha = rr / dot(p, s), before = rr;
      out.update(alpha, p, 1);
      r.update(-alpha, s, 1);
      rr = dot(r, r);
      p.update(1, r, rr / before);
    }
  };
  system.preconditioner = rcp(new FunctionOperator(a->getDomainMap(), inner));
  return system;
}

// A claim that is refuted and has gained nothing does not end the solve before flexible cycles have been tried.
TEST(PipelinedGmres, GoesOnWithFlexibleCyclesWhereAClaimHasGainedNothing) {
  for (const int steps : {2, 4, 8}) {
    const System system = systemWithInnerCg(grid2d(20, 20), steps);
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(methodOf(id::PipelinedGmres), uncached(), system, Side::Right);
    expectTruth(outcome, system, *guess);
    EXPECT_TRUE(outcome.converged) << steps << " steps: " << toString(outcome.report.reason);
  }
}

TEST(PipelinedGmres, EveryOrthogonalizationHasTheResidualsOfTheOracleAndOneHiddenReduction) {
  const auto a = grid2d(20, 20, 0.3);
  Params p = uncached();
  keepHistory(p);
  for (Side side : {Side::None, Side::Left, Side::Right}) {
    const Outcome oracle = solve(methodOf(id::Gmres), p, systemWithRightHandSide(a), side);
    for (const char* scheme : schemes) {
      SCOPED_TRACE(std::string(scheme) + ", " + toString(side));
      Params q = p;
      q.set("Block Orthogonalization", scheme);
      const Outcome outcome = solve(methodOf(id::PipelinedGmres), q, systemWithRightHandSide(a), side);
      EXPECT_TRUE(outcome.converged);
      EXPECT_EQ(outcome.iterations, oracle.iterations);
      ASSERT_GE(outcome.report.history.size(), 30U);
      for (std::size_t i = 0; i < 30; ++i) {
        const double wanted = oracle.report.history[i].residual;
        EXPECT_NEAR(outcome.report.history[i].residual, wanted, 1e-6 * wanted) << "iteration " << i + 1;
      }
      const long cycles = outcome.report.restarts + 1;
      EXPECT_GE(outcome.report.reductionsNonblocking, outcome.iterations);
      EXPECT_LE(outcome.report.reductionsNonblocking, outcome.iterations + cycles);
      EXPECT_LE(outcome.report.reductionsBlocking, 2 * cycles + 4);  // 3 of the estimate, 1 of the first product
    }
  }
}

TEST(PipelinedGmres, SchemesDiffer) {
  // Rounding apart they are one method; on this problem it is not apart.
  std::vector<double> attained;
  for (const char* scheme : schemes) {
    Params p = uncached();
    p.set("Shifts", "[0]");
    p.set("Block Orthogonalization", scheme);
    p.set("Convergence Tolerance", 0.0);
    p.set("Maximum Iterations", 50);
    attained.push_back(solve(methodOf(id::PipelinedGmres), p, systemWithRightHandSide(lowSyncDiagonal())).achieved);
  }
  EXPECT_NE(attained[0], attained[1]);
  EXPECT_NE(attained[1], attained[2]);
  EXPECT_NE(attained[0], attained[2]);
}

TEST(PipelinedGmres, AnUntrustedNormIsComputedAndTold) {
  // Two eigenvalues: the space is invariant after two products, whatever the scheme.
  const auto a = diagonal([](GO g) { return g % 2 == 0 ? Scalar(-1) : Scalar(2); }, 40);
  for (const char* scheme : schemes) {
    SCOPED_TRACE(scheme);
    Params p = uncached();
    p.set("Block Orthogonalization", scheme);
    p.set("Convergence Tolerance", 1e-15);
    const System system = systemWithRightHandSide(a);
    const Outcome outcome = solve(methodOf(id::PipelinedGmres), p, system);
    EXPECT_LE(relativeResidual(system, *vectorFrom(a->getRowMap(), [](GO) { return 0.0; })), 1e-14);
    EXPECT_FALSE(told(outcome, "reorthogonalise").empty());
    EXPECT_LE(outcome.iterations, 12);
    expectSameOnAllRanks(outcome);
  }
}

TEST(PipelinedGmres, GoesOnClassicallyWhereCgs1LosesItsBasis) {
  std::size_t kept = 0;  // whether one of them comes to it is chance
  for (GO stretch = 1; stretch < 40; stretch += 2) {
    const System system =
        systemWithRightHandSide(lowSyncDiagonal(), [stretch](GO g) { return wave(stretch * g * g + 17 * stretch); });
    const auto guess = copyOf(*system.x);
    Params p = uncached();
    p.set("Shifts", "[0]");
    p.set("Block Orthogonalization", "single-reduce cgs");
    const Outcome outcome = solve(methodOf(id::PipelinedGmres), p, system);
    expectTruth(outcome, system, *guess);
    kept += told(outcome, "restart").size();
  }
  EXPECT_GT(kept, 0U);
}

// A - 3e6 has lost digits of A, which the eigenvalue 1e-4 makes large in the residual; the other eigenvalues let the
// recursion fall to the tolerance in one cycle. The errors are seen coming, and the pipeline ends before the recursion
// parts from the residual.
TEST(PipelinedGmres, AShiftThatLosesDigitsHandsOver) {
  constexpr double tolerance = 1e-12;
  const auto a = diagonal([](GO g) { return g == 0 ? Scalar(1e-4) : 1 + static_cast<Scalar>(9 * g) / 300; }, 300);
  Params p = uncached();
  p.set("Shifts", "[3e6]");
  p.set("Convergence Tolerance", tolerance);
  for (const std::string& method : {id::PipelinedGmres, id::PipelinedSStepGmres}) {
    const System system = systemWithRightHandSide(a);
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(methodOf(method), p, system);
    expectTruth(outcome, system, *guess, tolerance);
    EXPECT_FALSE(told(outcome, "restart").empty()) << methodOf(method).canonical;
    EXPECT_FALSE(mentions(outcome.report.events, "lost touch")) << methodOf(method).canonical;
  }
}

/// A method and a tolerance: on a device, where each launch has its price, all of them together take minutes.
class VainClaims : public ::testing::TestWithParam<std::tuple<std::string, double>> {};

// The recursion is off by less than a factor that tells, but claims again and again: in vain. What is done after that
// has a bound.
TEST_P(VainClaims, HandOver) {
  const auto& [method, tolerance] = GetParam();
  for (int k = 0; k < 20; ++k) {
    SCOPED_TRACE(k);
    const System system =
        systemWithRightHandSide(lowSyncDiagonal(), [k](GO g) { return std::sin(1.0 + 0.37 * k + 1.7 * g); });
    Params p = uncached();
    p.set("Convergence Tolerance", tolerance);
    p.set("Num Blocks", 50);
    const Outcome plain = solve(methodOf(id::Gmres), p, system);
    ASSERT_TRUE(plain.converged);
    system.x->putScalar(0);
    const auto guess = copyOf(*system.x);
    p.set("Shifts", "[-50]");
    const Outcome outcome = solve(methodOf(method), p, system);
    expectTruth(outcome, system, *guess, tolerance);
    EXPECT_LE(outcome.iterations, 3 * plain.iterations + 50);
  }
}

INSTANTIATE_TEST_SUITE_P(PipelinedGmres, VainClaims,
                         ::testing::Combine(::testing::Values(id::PipelinedGmres, id::PipelinedSStepGmres),
                                            ::testing::Values(1e-8, 1e-9, 1e-10, 1e-11)));

TEST(PipelinedGmres, APipelineLongerThanTheProblemIsShortenedAndTold) {
  Params p = uncached();
  p.set("Pipeline Depth", 20);
  for (const std::string& method : {id::PipelinedGmres, id::PipelinedSStepGmres}) {
    const System system = systemWithRightHandSide(grid2d(3, 3));
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(methodOf(method), p, system);
    expectTruth(outcome, system, *guess);
    EXPECT_TRUE(mentions(outcome.report.events, "the number of equations, 9")) << methodOf(method).canonical;
  }
  p.set("Step Size", 12);
  p.set("Num Blocks", 14);
  const Outcome outcome = solve(methodOf(id::PipelinedSStepGmres), p, systemWithRightHandSide(grid2d(12, 12)));
  EXPECT_TRUE(outcome.converged);
  EXPECT_TRUE(mentions(outcome.report.events, "reduced to"));
  EXPECT_LE(outcome.report.finalStepSize, 7);
}

class BlockLengths : public ::testing::Test {
 protected:
  void SetUp() override { StateCache::instance().clear(); }
  void TearDown() override { StateCache::instance().clear(); }

  static Outcome solved(const Params& p, const System& system) {
    return solve(methodOf(id::PipelinedSStepGmres), p, system);
  }
};

TEST_F(BlockLengths, GrowOverCyclesAndAreTold) {
  Params p = uncached();
  p.set("Num Blocks", 40);
  const Outcome outcome = solved(p, systemWithRightHandSide(grid2d(60, 60)));
  EXPECT_TRUE(outcome.converged);
  EXPECT_FALSE(told(outcome, "step size").empty());
  EXPECT_GT(outcome.report.finalStepSize, 5);
  p.set("Step Size", 5);
  const Outcome fixed = solved(p, systemWithRightHandSide(grid2d(60, 60)));
  EXPECT_TRUE(told(fixed, "step size").empty());
  EXPECT_EQ(fixed.report.finalStepSize, 5);
}

TEST_F(BlockLengths, AreRemembered) {
  Params p;
  p.set("Num Blocks", 40);
  const auto a = grid2d(60, 60);
  const Outcome first = solved(p, systemWithRightHandSide(a)), second = solved(p, systemWithRightHandSide(a));
  EXPECT_GT(first.report.finalStepSize, 5);
  EXPECT_GE(second.report.finalStepSize, first.report.finalStepSize);
  EXPECT_LT(second.report.reductionsNonblocking, first.report.reductionsNonblocking) << "long blocks from the start";
}

TEST_F(BlockLengths, ShrinkWithShortSolves) {
  Params p;
  p.set("Convergence Tolerance", 1e-3);
  const auto a = grid2d(6, 6, 0.3);
  std::vector<Outcome> outcomes;
  for (int k = 0; k < 6; ++k) outcomes.push_back(solved(p, systemWithRightHandSide(a)));
  EXPECT_EQ(outcomes.front().report.finalStepSize, 5);
  EXPECT_LT(outcomes.back().report.finalStepSize, 5);
  EXPECT_LT(outcomes.back().report.operatorApplications, outcomes[1].report.operatorApplications);
}

TEST_F(BlockLengths, AreHalvedByABreakdown) {
  Params p = uncached();
  p.set("Shifts", "[1e8]");
  const Outcome outcome = solved(p, systemWithRightHandSide(grid2d(20, 20)));
  EXPECT_TRUE(outcome.converged);
  EXPECT_TRUE(mentions(outcome.report.events, "blocks of 2"));
  EXPECT_LT(outcome.report.finalStepSize, 5);
}

}  // namespace
}  // namespace capstan::testing
