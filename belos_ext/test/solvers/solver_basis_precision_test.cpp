/// \file
/// "Basis Precision": a Krylov basis that is stored in single precision leads to the same tolerance.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/ifpack2_preconditioner.hpp"
#include "belos_ext/test/solvers/real_matrices.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "belos_ext/test/support/methods.hpp"

namespace capstan::testing {
namespace {

constexpr double tolerance = 1e-10;

Params parameters(const std::string& precision, int restart) {
  Params p;
  p.set("Basis Precision", precision);
  p.set("Num Blocks", restart);
  p.set("Convergence Tolerance", tolerance);
  p.set("Maximum Iterations", 5000);
  p.set("Maximum Restarts", 5000);
  p.set("State Cache", false);
  return p;
}

std::vector<ReportEvent> ofPrecision(const Outcome& outcome) { return told(outcome, "basis precision"); }

class BasisPrecision : public ::testing::TestWithParam<MethodTraits> {
 protected:
  void SetUp() override { StateCache::instance().clear(); }

  /// Solves from zero.
  static Outcome solved(const std::string& precision, int restart, const System& system, Side side,
                        const Params& more = Params()) {
    Params p = parameters(precision, restart);
    p.setParameters(more);
    system.x->putScalar(0);
    const Outcome outcome = solve(GetParam(), p, system, side);
    expectSameOnAllRanks(outcome);
    return outcome;
  }

  static Outcome fromZero(const std::string& precision, int restart, const System& system, Side side) {
    return solved(precision, restart, system, side);
  }

  static void expectSolved(const Outcome& outcome, const System& system) {
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    auto zero = copyOf(*system.x);
    zero->putScalar(0);
    EXPECT_LE(relativeResidual(system, *zero), tolerance * (1 + 1e-3));
  }
};
INSTANTIATE_TEST_SUITE_P(Solvers, BasisPrecision, ::testing::Values(methodOf(id::Gmres), methodOf(id::SStepGmres)),
                         solverIdentifier);

TEST_P(BasisPrecision, MeetsTheToleranceInSeveralCycles) {
  for (const auto& a : {grid2d(40, 40), grid2d(30, 35, 0.4), grid3d(12)}) {
    const System system = systemWithRightHandSide(a);
    for (const Side side : {Side::None, Side::Left, Side::Right}) {
      const Outcome expected = solved("double", 20, system, side);
      expectSolved(expected, system);
      EXPECT_GT(expected.report.restarts, 1);
      for (const char* precision : {"single", "auto"}) {
        SCOPED_TRACE(std::string(precision) + ", " + toString(side));
        const Outcome outcome = solved(precision, 20, system, side);
        expectSolved(outcome, system);
        EXPECT_LE(outcome.iterations, std::ceil(1.03 * expected.iterations) + (getsStepSize(GetParam()) ? 20 : 0));
        EXPECT_EQ(ofPrecision(outcome).size(), precision == std::string("auto") ? 1U : 0U);
      }
    }
  }
}

/// Around the length of the window in double precision, too.
TEST_P(BasisPrecision, OfShortAndLongCycles) {
  const auto entry = [](GO g) { return 2 + std::sin(static_cast<double>(g)); };
  const System system = systemWithRightHandSide(diagonal(entry, 300));
  for (const int restart : {1, 2, 3, 7, 8, 9, 15, 40}) {
    SCOPED_TRACE(restart);
    expectSolved(solved("single", restart, rowsHidden(system), Side::None), system);
  }
}

/// A cycle that gains much is left to double precision by auto, and ended early otherwise.
TEST_P(BasisPrecision, IsDoubleForShortSolves) {
  const System system = systemWithRightHandSide(grid2d(20, 20));
  const Outcome expected = solved("double", 100, system, Side::Right);
  const auto x = copyOf(*system.x);
  EXPECT_EQ(expected.report.restarts, 0);
  const Outcome automatic = solved("auto", 100, system, Side::Right);
  EXPECT_EQ(automatic.iterations, expected.iterations);
  EXPECT_TRUE(identical(*system.x, *x));
  const Outcome single = solved("single", 100, system, Side::Right);
  expectSolved(single, system);
  EXPECT_GE(single.report.restarts, 1);
  EXPECT_TRUE(ofPrecision(single).empty());
}

/// A cycle that ends because single precision has no more to tell is none of those that "Maximum Restarts" counts.
TEST_P(BasisPrecision, NeedsNoMoreRestartsThanAreAllowed) {
  const System system = systemWithRightHandSide(grid2d(20, 20));
  Params none;
  none.set("Maximum Restarts", 0);
  expectSolved(solved("single", 300, system, Side::Right, none), system);
}

/// One solver, and systems on other rows: the first cycle of each is in double precision.
TEST_P(BasisPrecision, FollowsTheSystemToOtherRows) {
  const auto solver = solverOf(GetParam(), parameters("auto", 20));
  for (const auto& a : {grid2d(40, 40), grid2d(30, 35), grid2d(41, 43)}) {
    const System system = systemWithRightHandSide(a);
    const Outcome outcome = solve(*solver, system, Side::None);
    expectSolved(outcome, system);
    EXPECT_EQ(ofPrecision(outcome).size(), 1U);
  }
}

TEST_P(BasisPrecision, IsRememberedFromSolveToSolve) {
  const System system = systemWithRightHandSide(grid2d(40, 40));
  Params p = parameters("auto", 20);
  p.set("State Cache", true);
  p.set("Solver Name", "remembered");
  const auto firstTold = [&] {
    system.x->putScalar(0);
    const auto events = ofPrecision(solve(GetParam(), p, system, Side::None));
    return events.empty() ? -1 : events.front().iteration;
  };
  EXPECT_GT(firstTold(), 0);
  EXPECT_EQ(firstTold(), 0);
}

/// The error of single precision is about eps_s || A || || A^{-1} || here, a thousand times what the recursion has left
/// when the cycle is to end.
TEST_P(BasisPrecision, IsDoubleAgainWhereTheResidualIsNotTheRecursiveOne) {
  constexpr GO n = 400;
  const auto row = [](GO g) {
    std::vector<Entry> entries{{g, 2}};
    if (g > 0) entries.push_back({g - 1, -1});
    if (g + 1 < n) entries.push_back({g + 1, -1});
    return entries;
  };
  const System system =
      systemWithRightHandSide(matrixFrom(evenMap(n), row), [](GO g) { return 1 + static_cast<Scalar>(g) / n; });
  const Outcome expected = solved("double", n, system, Side::None);
  expectSolved(expected, system);
  const Outcome outcome = solved("single", n, system, Side::None);
  expectSolved(outcome, system);
  EXPECT_TRUE(mentions(ofPrecision(outcome), "double from now on"));
  EXPECT_LE(outcome.iterations, 3 * expected.iterations);
  EXPECT_TRUE(ofPrecision(solved("auto", n, system, Side::None)).empty());
}

TEST_P(BasisPrecision, OfSeveralRightHandSidesAndOfRanksWithoutRows) {
  for (const auto& map : {evenMap(900), lastRankMap(900)}) {
    const System system = systemWithRightHandSide(grid2d(30, 30, 0.2, map), wave, 3);
    for (const char* precision : {"single", "auto"}) {
      expectSolved(solved(precision, 15, system, Side::Right), system);
    }
  }
}

TEST_P(BasisPrecision, GoesWithKeptAndFlexibleDirections) {
  const System system = systemWithRightHandSide(grid2d(40, 40));
  for (const char* keep : {"on", "off"}) {
    Params p;
    p.set("Keep Preconditioned Basis", keep);
    expectSolved(solved("single", 20, system, Side::Right, p), system);
  }
  Params p;
  p.set("Flexible Gmres", true);
  const System varying = systemWithScaledCorrections(grid2d(30, 30));
  for (const char* precision : {"single", "auto"}) {
    expectSolved(solved(precision, 20, varying, Side::Right, p), varying);
  }
}

TEST_P(BasisPrecision, EndsAtANaN) {
  const auto a = grid2d(20, 20);
  System system = systemWithRightHandSide(a);
  int uses = 0;
  const auto m = system.preconditioner;
  system.preconditioner = rcp(new FunctionOperator(a->getDomainMap(), [&](const MultiVector& in, MultiVector& out) {
    m->apply(in, out);
    if (++uses > 12) out.putScalar(std::numeric_limits<Scalar>::quiet_NaN());
  }));
  const Outcome outcome = solved("single", 8, system, Side::Right);
  EXPECT_FALSE(outcome.converged);
  EXPECT_TRUE(allFinite(*system.x));
}

TEST_P(BasisPrecision, IsRefusedWithOtherSchemes) {
  const System system = systemWithRightHandSide(grid2d(10, 10));
  for (const char* scheme : {"cgs2", "mgs", "single-reduce cgs", "pip2", "two-stage", "sketched"}) {
    Params p = parameters("single", 20);
    p.set("Block Orthogonalization", scheme);
    try {
      solve(GetParam(), p, system);
      ADD_FAILURE() << scheme << " was accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("\"Basis Precision\" = \"single\" goes with"), std::string::npos);
    }
  }
  Params p = parameters("auto", 20);
  p.set("Block Orthogonalization", "single-reduce mgs");
  EXPECT_TRUE(solve(GetParam(), p, system).converged);
}

/// Iterations of the oracle's systems that "double" solves, and whether a cycle of "auto" was in single precision.
struct Compared {
  std::string name;
  int expected, found;
  bool single;
};

/// "auto" beside "double" on the smaller ones of the real matrices.
template <class Solve>
std::vector<Compared> onRealMatrices(int restart, const Solve& solved) {
  constexpr std::uintmax_t small = 40000;
  std::vector<Compared> all;
  for (const std::string& name : matrixNames()) {
    if (fileSize(name) > small) continue;
    System system = systemFrom(name);
    const auto a = Teuchos::rcp_dynamic_cast<const CrsMatrix>(system.a);
    for (const std::string preconditioner : {"none", "jacobi", "riluk"}) {
      SCOPED_TRACE(name + ", " + preconditioner + ", restart " + std::to_string(restart));
      system.preconditioner = ifpack2Preconditioner(a, preconditioner);
      const Side side = preconditioner == "none" ? Side::None : Side::Right;
      const Outcome expected = solved("double", restart, system, side);
      if (!expected.converged) continue;
      const Outcome outcome = solved("auto", restart, system, side);
      EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
      all.push_back(
          {name + ", " + preconditioner, expected.iterations, outcome.iterations, !ofPrecision(outcome).empty()});
    }
  }
  return all;
}

/// With the oracle's restart length. Tables: perf/oracle.
TEST_P(BasisPrecision, CostsFewIterationsOnRealMatrices) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  const auto all = onRealMatrices(300, fromZero);
  for (const auto& one : all) EXPECT_LE(one.found, std::ceil(1.03 * one.expected)) << one.name;
  EXPECT_GT(all.size(), 10U);
}

/// Over dozens of cycles the last bit decides by 10 % and more how many it takes.
TEST_P(BasisPrecision, ConvergesInManyShortCyclesOnRealMatrices) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  const auto all = onRealMatrices(30, fromZero);
  double expected = 0, found = 0;
  for (const auto& one : all) {
    expected += one.expected, found += one.found;
    if (rank() == 0)
      std::cout << one.name << ": " << one.expected << ", " << one.found << (one.single ? ", single" : "") << "\n";
  }
  EXPECT_LE(found, 1.15 * expected);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const Compared& one) { return one.single; }));
}

}  // namespace
}  // namespace capstan::testing
