/// \file
/// GMRES methods with every orthogonalisation, basis and step size on easy, hard and broken systems.

#include <limits>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

struct Kind {
  const char* name;
  std::function<System()> make;
  bool converges;
};

std::vector<Kind> kinds() {
  return {{"SPD", [] { return systemWithRightHandSide(grid2d(11, 11)); }, true},
          {"convective", [] { return systemWithRightHandSide(grid2d(11, 11, 2)); }, true},
          {"ill-conditioned", [] { return systemWithRightHandSide(lowSyncDiagonal()); }, true},
          {"rank one", [] { return systemWithRightHandSide(diagonal([](GO) { return 3.0; }, 40)); }, true},
          {"two eigenvalues",
           [] { return systemWithRightHandSide(diagonal([](GO g) { return g % 2 == 0 ? -1.0 : 2.0; }, 40)); }, true},
          {"large steps",
           [] { return systemWithRightHandSide(diagonal([](GO g) { return 1e9 * static_cast<Scalar>(g + 1); }, 40)); },
           true},
          {"NaN in A",
           [] {
             return systemWithRightHandSide(
                 diagonal([](GO g) { return g == 3 ? std::numeric_limits<double>::quiet_NaN() : 1.0; }, 40));
           },
           false},
          {"zero matrix", [] { return systemWithRightHandSide(diagonal([](GO) { return 0.0; }, 40)); }, false}};
}

void solveAll(const MethodTraits& name, const Params& parameters) {
  for (const Kind& kind : kinds()) {
    for (Side side : {Side::None, Side::Right}) {
      SCOPED_TRACE(std::string(kind.name) + ", " + toString(side));
      const System system = kind.make();
      const auto guess = copyOf(*system.x);
      const Outcome outcome = solve(name, parameters, system, side);
      EXPECT_EQ(outcome.converged, kind.converges) << toString(outcome.report.reason) << " after " << outcome.iterations
                                                   << " iterations, residual " << relativeResidual(system, *guess);
      if (outcome.converged) {
        EXPECT_LE(relativeResidual(system, *guess), 1e-8 * (1 + 1e-6)) << "false convergence";
      }
      EXPECT_TRUE(allFinite(*system.x));
      expectSameOnAllRanks(outcome);
    }
  }
}

struct Scheme {
  const char *block, *intra;
};

std::vector<Scheme> schemes() {
  return {{"cgs", "cholqr"},
          {"cgs", "tsqr"},
          {"cgs2", "cholqr"},
          {"cgs2", "cholqr2"},
          {"cgs2", "tsqr"},
          {"mgs", "cholqr"},
          {"mgs", "cholqr2"},
          {"mgs", "tsqr"},
          {"single-reduce cgs", "cholqr"},
          {"single-reduce cgs2", "cholqr"},
          {"single-reduce mgs", "cholqr"},
          {"pip2", "cholqr"},
          {"two-stage", "cholqr"},
          {"sketched", "cholqr"}};
}

class Schemes : public EverySolver {};

TEST_P(Schemes, OrthogonalizationsConvergeWhereTheDefaultDoes) {
  if (!isGmres(GetParam())) GTEST_SKIP() << GetParam().canonical << " orthogonalises nothing";
  for (const Scheme& scheme : schemes()) {
    if (!takesOrthogonalization(GetParam(), scheme.block)) continue;
    SCOPED_TRACE(std::string(scheme.block) + " with " + scheme.intra);
    Params p;
    p.set("State Cache", false);
    p.set("Block Orthogonalization", scheme.block);
    p.set("Intra Orthogonalization", scheme.intra);
    solveAll(GetParam(), p);
  }
}

TEST_P(Schemes, BasesAndStepSizesConvergeWhereTheDefaultDoes) {
  if (!getsStepSize(GetParam())) GTEST_SKIP() << GetParam().canonical << " has no steps";
  for (const char* basis : {"monomial", "newton", "chebyshev"}) {
    for (int steps : {1, 4, 10, 40}) {
      SCOPED_TRACE(std::string(basis) + ", s = " + std::to_string(steps));
      Params p;
      p.set("State Cache", false);
      p.set("Basis", basis);
      p.set("Step Size", steps);
      solveAll(GetParam(), p);
    }
  }
}

TEST_P(Schemes, ChosenShiftsAndBoundsAreUsed) {
  if (!getsStepSize(GetParam())) GTEST_SKIP() << GetParam().canonical << " has no steps";
  // Neither good nor bad choices decide on whether a solve converges, only on the conditioning of its blocks.
  for (const char* shifts : {"[1, 3, 7]", "[2+1i, 2-1i]", "[1e8]", "[-50]"}) {
    SCOPED_TRACE(shifts);
    Params p;
    p.set("State Cache", false);
    p.set("Shifts", shifts);
    solveAll(GetParam(), p);
  }
  for (const char* bounds : {"[0.01, 8]", "[-1000, 1000]"}) {
    SCOPED_TRACE(bounds);
    Params p;
    p.set("State Cache", false);
    p.set("Basis", "chebyshev");
    p.set("Eigenvalue Bounds", bounds);
    solveAll(GetParam(), p);
  }
}

// Ritz values outside of bounds prove them wrong.
TEST_P(Schemes, BoundsThatLeaveOutTheSpectrumAreToldAndReplaced) {
  const bool steps = getsStepSize(GetParam()) && !isPipelined(GetParam());
  if (!GetParam().takes("Eigenvalue Bounds")) GTEST_SKIP() << GetParam().canonical << " takes none";
  const System system = systemWithRightHandSide(grid2d(20, 20));
  const auto solved = [&](const char* bounds) {
    Params p;
    p.set("State Cache", false);
    p.set("Num Blocks", 60);
    if (steps) p.set("Basis", "chebyshev");
    p.set("Eigenvalue Bounds", bounds);
    system.x->putScalar(0);
    const Outcome outcome = solve(GetParam(), p, system);
    EXPECT_TRUE(outcome.converged) << bounds;
    return outcome;
  };
  const Outcome good = solved("[0, 8]");
  EXPECT_TRUE(told(good, "eigenvalue bounds").empty());
  for (const char* bounds : {"[0, 4]", "[0, 1]", "[6, 8]", "[-8, 0]", "[100, 101]"}) {
    SCOPED_TRACE(bounds);
    const Outcome outcome = solved(bounds);
    EXPECT_TRUE(mentions(told(outcome, "eigenvalue bounds"), "as given, leave out the Ritz value"));
    expectSameOnAllRanks(outcome);
  }
}

TEST_P(Schemes, IntervalsOfAMatrixThatHasGrownAreReplaced) {
  if (!getsStepSize(GetParam()) || isPipelined(GetParam())) GTEST_SKIP() << GetParam().canonical << " has none";
  Params p;
  p.set("Basis", "chebyshev");
  const auto solved = [&](Scalar factor) {
    const auto a = scaledLaplacian(20, [factor](GO) { return std::sqrt(factor); });
    a->setObjectLabel("grows");
    return solve(GetParam(), p, systemWithRightHandSide(a));
  };
  for (Scalar factor : {1.5, 2.0, 4.0}) {
    SCOPED_TRACE(factor);
    StateCache::instance().clear();
    solved(1);
    EXPECT_TRUE(told(solved(1), "eigenvalue bounds").empty());
    const Outcome usual = solved(1), first = solved(factor), next = solved(factor);
    EXPECT_TRUE(first.converged && next.converged);
    EXPECT_FALSE(told(first, "eigenvalue bounds").empty() && told(first, "shifts").empty()) << "not seen";
    EXPECT_TRUE(told(next, "eigenvalue bounds").empty());
    EXPECT_TRUE(told(next, "shifts").empty());
    EXPECT_LE(next.report.reductionsBlocking, usual.report.reductionsBlocking + 3);
  }
  StateCache::instance().clear();
}

TEST_P(Schemes, RitzValuesComeAsAsked) {
  if (!getsStepSize(GetParam()) || isPipelined(GetParam())) GTEST_SKIP() << GetParam().canonical << " takes none";
  const auto told = [&](bool compute, bool onFly) {
    Params p;
    p.set("State Cache", false);
    p.set("Compute Ritz Values", compute);
    p.set("Compute Ritz Values on Fly", onFly);
    p.set("Num Blocks", 20);
    const Outcome outcome = solve(GetParam(), p, systemWithRightHandSide(grid2d(20, 20)));
    EXPECT_TRUE(outcome.converged);
    for (const ReportEvent& event : outcome.report.events) {
      if (event.kind == "shifts") return event.iteration;
    }
    return -1;
  };
  EXPECT_EQ(told(false, true), -1);
  const int onFly = told(true, true);
  EXPECT_GT(onFly, 0);
  EXPECT_LT(onFly, 20);
  EXPECT_GE(told(true, false), 20) << "after a whole restart cycle";
}

/// More shifts come as columns do, and panels as long as those allow: more than 15 steps in the mean of a solve.
TEST(AutomaticStepSize, GrowsWithTheShiftsWhereProductsAreCheap) {
  Params p;
  p.set("State Cache", false);
  p.set("Num Blocks", 60);
  p.set("Convergence Tolerance", 1e-6);
  const Outcome outcome = solve(methodOf(id::SStepGmres), p, systemWithRightHandSide(grid2d(80, 80)));
  EXPECT_TRUE(outcome.converged);
  EXPECT_GT(outcome.iterations, 80);
  EXPECT_LT(15 * outcome.report.reductionsBlocking, outcome.iterations + 15 * 7)
      << "with the norms at its start and end, and the short panels of a first cycle";
  EXPECT_GE(told(outcome, "more shifts").size(), 2U);
  expectSameOnAllRanks(outcome);
}

/// Few shifts are worse than none: panels would repeat them.
TEST(AutomaticStepSize, LearnsNothingFromASolveOfFewIterations) {
  Params p;
  p.set("State Cache", false);
  p.set("Convergence Tolerance", 0.5);
  const Outcome outcome = solve(methodOf(id::SStepGmres), p, systemWithRightHandSide(grid2d(20, 20)));
  EXPECT_TRUE(outcome.converged);
  EXPECT_LT(outcome.iterations, 5);
  EXPECT_TRUE(told(outcome, "shifts").empty());
}

CAPSTAN_FOR_EVERY_SOLVER(Schemes);

}  // namespace
}  // namespace capstan::testing
