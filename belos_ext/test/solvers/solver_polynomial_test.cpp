/// \file
/// CG with several products an iteration ("Polynomial Degree"): what it costs, what it gains, and what becomes of a
/// polynomial that does not fit.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/reductions/vector_work.hpp"

namespace capstan::testing {
namespace {

bool hasPolynomial(const MethodTraits& method) { return method.takes("Polynomial Degree"); }

Params ofDegree(int degree) {
  Params p;
  p.set("Polynomial Degree", degree);
  p.set("Convergence Tolerance", 1e-8);
  p.set("Maximum Iterations", 2000);
  return p;
}

class Polynomials : public ::testing::TestWithParam<MethodTraits> {
 protected:
  void SetUp() override { StateCache::instance().clear(); }
  void TearDown() override { StateCache::instance().clear(); }

  Outcome solved(int degree, const System& system, Side side = Side::None) {
    system.x->putScalar(0);
    return solve(*solverOf(GetParam(), ofDegree(degree)), system, side);
  }
  /// A solve of this system that knows its bounds.
  Outcome solvedAgain(int degree, const System& system, Side side = Side::None) {
    solved(degree, system, side);
    const Outcome outcome = solved(degree, system, side);
    EXPECT_TRUE(told(outcome, "eigenvalue bounds").empty());
    return outcome;
  }
  static long reductions(const Outcome& outcome) {
    return outcome.report.reductionsBlocking + outcome.report.reductionsNonblocking;
  }
};

TEST_P(Polynomials, DivideTheIterationsAndReductionsByTheirDegree) {
  const System system = systemWithRightHandSide(grid2d(40, 40));
  for (Side side : {Side::None, Side::Left, Side::Right}) {
    const Outcome plain = solvedAgain(1, system, side);
    ASSERT_TRUE(plain.converged);
    for (int degree : {2, 4, 7}) {
      SCOPED_TRACE(toString(side) + ", degree " + std::to_string(degree));
      const Outcome outcome = solvedAgain(degree, system, side);
      EXPECT_TRUE(outcome.converged);
      EXPECT_LE(outcome.iterations * degree, 1.35 * plain.iterations + degree);
      EXPECT_LE(reductions(outcome), outcome.iterations + 8);
      expectSameOnAllRanks(outcome);
    }
  }
}

// d A and d M^{-1} an iteration: counted between solves of two lengths.
TEST_P(Polynomials, CostWhatIsDeclared) {
  const System system = systemWithRightHandSide(grid2d(60, 60));
  for (int degree : {2, 5}) {
    for (Side side : {Side::None, Side::Right}) {
      SCOPED_TRACE(toString(side) + ", degree " + std::to_string(degree));
      Params p = ofDegree(degree);
      p.set("Convergence Tolerance", 1e-15);
      Parameters parameters(GetParam());
      parameters.merge(p);
      const capstan::Cost cost = GetParam().cost(parameters.options(), side != Side::None);
      struct Counts {
        double a, m, reductions, flops, bytes;
      };
      const auto after = [&](int iterations) {
        p.set("Maximum Iterations", iterations);
        System counted = system;
        counted.x->putScalar(0);
        VectorWork& work = vectorWork();
        counted.arm = [&work] {
          work.clear();
          work.enable(true);
        };
        const Outcome outcome = solve(*solverOf(GetParam(), p), counted, side);
        work.enable(false);
        EXPECT_EQ(outcome.iterations, iterations);
        const auto rows = static_cast<double>(system.b->getLocalLength());
        return Counts{static_cast<double>(outcome.report.operatorApplications),
                      static_cast<double>(outcome.report.preconditionerApplications),
                      static_cast<double>(reductions(outcome)), static_cast<double>(work.flops()) / rows,
                      work.bytes() / rows};
      };
      after(3);  // learns the bounds
      const int few = 7, more = 11;
      const Counts before = after(few), then = after(more);
      const double steps = more - few;
      EXPECT_EQ((then.a - before.a) / steps, cost.operators);
      EXPECT_EQ((then.m - before.m) / steps, cost.preconditioners);
      EXPECT_EQ((then.reductions - before.reductions) / steps, cost.reductions);
      // CG begins with products that are all measured, where an application of M may be costly.
      if (GetParam().canonical == id::Cg) continue;
      EXPECT_NEAR((then.flops - before.flops) / steps, cost.flops, 1e-9);
      const double apart = side == Side::None ? 0 : (degree - 1) * passesApart(2) * sizeof(double);
      EXPECT_NEAR((then.bytes - before.bytes) / steps, cost.bytes + apart, 1e-8);
    }
  }
}

TEST_P(Polynomials, BearWhatTheirMethodBears) {
  const auto honest = [&](const System& system, const std::string& what, bool converges = true) {
    for (Side side : {Side::None, Side::Right}) {
      SCOPED_TRACE(what + ", " + toString(side));
      StateCache::instance().clear();
      for (int turn = 0; turn < 2; ++turn) {  // the second one knows what the first has learnt
        system.x->putScalar(0);
        const auto guess = copyOf(*system.x);
        const Outcome outcome = solve(*solverOf(GetParam(), ofDegree(4)), system, side);
        expectSameOnAllRanks(outcome);
        EXPECT_TRUE(allFinite(*system.x));
        EXPECT_EQ(outcome.converged, converges);
        if (outcome.converged) {
          EXPECT_LE(relativeResidual(system, *guess), 1.01e-8);
        }
      }
    }
  };
  honest(systemWithRightHandSide(grid2d(16, 16), [](GO) { return Scalar(1); }), "symmetric");
  honest(systemWithRightHandSide(grid2d(12, 12, 0.4)), "not symmetric");
  honest(
      rowsHidden(systemWithRightHandSide(diagonal([](GO g) { return g == 7 ? Scalar(-3) : Scalar(1 + g % 5); }, 60))),
      "indefinite");
  honest(rowsHidden(systemWithRightHandSide(diagonal([](GO g) { return -Scalar(1 + g % 7); }, 60))),
         "negative definite");
  honest(rowsHidden(systemWithRightHandSide(diagonal([](GO) { return Scalar(4); }, 60))), "a multiple of the identity");
  honest(rowsHidden(systemWithRightHandSide(diagonal([](GO) { return Scalar(4); }, 1))), "one unknown");
  honest(systemWithRightHandSide(grid2d(10, 10, 0, lastRankMap(100))), "ranks without rows");
  honest(systemWithSolution(neumannGrid(9, 8)), "singular, b in the range");
  honest(systemWithRightHandSide(scaledLaplacian(12, [](GO g) { return g % 3 == 0 ? 1e-5 : 1; })), "badly scaled");
  honest(systemWithScaledCorrections(grid2d(16, 16)), "M is not linear");
  const auto pinned = matrixFrom(evenMap(100), [](GO g) {
    if (g == 0) return std::vector<Entry>{{0, 1}};
    std::vector<Entry> row{{g, 2.5}, {g - 1, -1}};
    if (g + 1 < 100) row.push_back({g + 1, -1});
    return row;
  });
  honest(systemWithRightHandSide(pinned), "a row that holds a diagonal alone");
  System bad = systemWithRightHandSide(grid2d(8, 8));
  if (bad.b->getMap()->isNodeGlobalElement(20)) bad.b->replaceGlobalValue(20, 0, std::nan(""));
  honest(bad, "b has a NaN", false);
}

/// Numbers in [-1, 1] without an order.
Scalar random(GO g) {
  const double x = std::sin(static_cast<double>(12.9898 * static_cast<double>(g + 1))) * 43758.5453;
  return 2 * (x - std::floor(x)) - 1;
}

System scaled(Scalar factor, GO n = 24) {
  const auto a = matrixFrom(evenMap(n * n), [=](GO g) {
    std::vector<Entry> row{{g, 4 * factor}};
    if (g % n > 0) row.push_back({g - 1, -factor});
    if (g % n + 1 < n) row.push_back({g + 1, -factor});
    if (g >= n) row.push_back({g - n, -factor});
    if (g + n < n * n) row.push_back({g + n, -factor});
    return row;
  });
  a->setObjectLabel("the same label");
  return systemWithRightHandSide(a, random);
}

class PolynomialsOfScaledMatrices : public Polynomials {
 protected:
  Outcome solvedWithin(int iterations, int degree, const System& system) {
    Params p = ofDegree(degree);
    p.set("Maximum Iterations", iterations);
    system.x->putScalar(0);
    return solve(*solverOf(GetParam(), p), system);
  }
};

// With an odd degree bounds that are too low leave the preconditioner definite; the numbers of CG show them alone.
TEST_P(PolynomialsOfScaledMatrices, AreSolvedWithBoundsThatFit) {
  for (int degree = 2; degree <= 12; ++degree) {
    const int usual = solvedAgain(degree, scaled(1)).iterations;
    for (Scalar factor : {1.2, 1.5, 2.0, 3.0, 4.0, 0.02, -1.0}) {
      SCOPED_TRACE("degree " + std::to_string(degree) + ", times " + std::to_string(factor));
      StateCache::instance().clear();
      solved(degree, scaled(1));
      const System other = scaled(factor);
      const Outcome first = solved(degree, other);
      EXPECT_TRUE(first.converged);
      EXPECT_TRUE(told(first, "polynomial degree").empty());
      expectSameOnAllRanks(first);
      // Bounds that are too high show in iterations alone. A little too low they are borne, to the end of a solve.
      const double failed = factor == 0.02 ? 1.5 * usual + 16.0 / degree + 2 : 0.42 * usual + 2;
      EXPECT_LE(first.iterations, usual + failed + 4);
      const Outcome next = solvedAgain(degree, other);
      EXPECT_TRUE(next.converged);
      EXPECT_LE(next.iterations, usual + 2);
    }
  }
}

TEST_P(PolynomialsOfScaledMatrices, ForgetBadBoundsInSolvesThatDoNotConverge) {
  for (int degree : {2, 3, 5, 8, 9}) {
    const int usual = solvedAgain(degree, scaled(1)).iterations;
    for (Scalar factor : {1.5, 4.0, 0.02}) {
      for (int most : {factor < 1 ? usual / 2 : 5, usual - 1}) {
        SCOPED_TRACE("degree " + std::to_string(degree) + ", times " + std::to_string(factor) + ", " +
                     std::to_string(most) + " iterations");
        StateCache::instance().clear();
        solved(degree, scaled(1));
        const System other = scaled(factor);
        const Outcome ended = solvedWithin(most, degree, other);
        EXPECT_FALSE(ended.converged);
        EXPECT_LE(solved(degree, other).iterations, usual + 2);
        EXPECT_TRUE(told(solved(degree, other), "eigenvalue bounds").empty()) << "they are estimated once";
      }
    }
  }
}

TEST_P(Polynomials, AreMadeAnewWhereTheMatrixHasGrown) {
  const int usual = solvedAgain(6, scaled(1)).iterations;
  for (Scalar factor : {1.3, 40.0, 1e9}) {
    SCOPED_TRACE(factor);
    StateCache::instance().clear();
    solved(6, scaled(1));
    const System grown = scaled(factor);
    const Outcome first = solved(6, grown);
    EXPECT_TRUE(first.converged);
    EXPECT_EQ(told(first, "eigenvalue bounds").size(), 1U);
    EXPECT_TRUE(told(first, "polynomial degree").empty());
    EXPECT_LE(first.iterations, usual + 12);
    const Outcome next = solved(6, grown);
    EXPECT_EQ(told(next, "eigenvalue bounds").size(), 0U);
    EXPECT_LE(next.iterations, usual + 1);
  }
}

TEST_P(Polynomials, ForgetBoundsThatAreTooHighAfterASlowSolve) {
  const int usual = solvedAgain(6, scaled(1)).iterations;
  const System shrunk = scaled(0.02);
  const Outcome slow = solved(6, shrunk);
  EXPECT_TRUE(slow.converged);
  EXPECT_GT(slow.iterations, 1.5 * usual);
  EXPECT_LE(solvedAgain(6, shrunk).iterations, usual + 1);
}

TEST_P(Polynomials, KeepBoundsThatFitThoughSomeSolvesAreSlower) {
  const auto a = diagonal([](GO g) { return static_cast<Scalar>(g % 2 == 0 ? 400 + g % 4 : 1 + g); }, 400);
  const auto of = [&a](int parity) {  // the larger eigenvalues, which are few, or the smaller ones
    return rowsHidden(systemWithRightHandSide(a, [parity](GO g) { return g % 2 == parity ? wave(g) : Scalar(0); }));
  };
  const System quick = of(0), slow = of(1);
  int fewest = 1000, most = 0;
  std::size_t estimates = 0;
  const auto solver = solverOf(GetParam(), ofDegree(5));
  for (int turn = 0; turn < 12; ++turn) {
    const System& system = turn % 2 == 0 ? quick : slow;
    system.x->putScalar(0);
    const Outcome outcome = solve(*solver, system);
    EXPECT_TRUE(outcome.converged);
    fewest = std::min(fewest, outcome.iterations);
    most = std::max(most, outcome.iterations);
    estimates += told(outcome, "eigenvalue bounds").size();
  }
  EXPECT_GT(most, 2 * fewest) << "else this tests nothing";
  EXPECT_EQ(estimates, 2U) << "once, and once more where a solve was slow";
}

TEST_P(Polynomials, ThatOneRankHasForgottenAreMadeAnewByAll) {
  if (ranks() == 1) GTEST_SKIP() << "needs several ranks";
  const System system = scaled(1);
  const int usual = solvedAgain(5, system).iterations;
  for (int loser : {0, ranks() - 1}) {
    if (rank() == loser) StateCache::instance().clear();
    const Outcome outcome = solved(5, system);
    EXPECT_TRUE(outcome.converged);
    expectSameOnAllRanks(outcome);
    EXPECT_EQ(told(outcome, "eigenvalue bounds").size(), 1U);
    EXPECT_LE(outcome.iterations, usual + 1);
  }
}

TEST_P(Polynomials, ServeSeveralRightHandSides) {
  const System several = systemWithRightHandSide(grid2d(20, 20), wave, 3);
  for (Side side : {Side::None, Side::Left}) {
    StateCache::instance().clear();
    for (int turn = 0; turn < 2; ++turn) {
      several.x->putScalar(0);
      const auto guess = copyOf(*several.x);
      EXPECT_TRUE(solve(*solverOf(GetParam(), ofDegree(4)), several, side).converged);
      EXPECT_LE(relativeResidual(several, *guess), 1.01e-8);
    }
  }
}

// A row that is solved first is not of the spectrum that the solve sees.
TEST_P(Polynomials, DoNotSeeTheEigenvalueOfARowThatHoldsADiagonalAlone) {
  const auto pinned = [](Scalar diagonal) {
    return systemWithRightHandSide(matrixFrom(evenMap(24 * 24), [diagonal](GO g) {
      if (g == 0) return std::vector<Entry>{{g, diagonal}};
      std::vector<Entry> row{{g, 4.0}};
      if (g % 24 > 0 && g != 1) row.push_back({g - 1, -1.0});
      if (g % 24 < 23) row.push_back({g + 1, -1.0});
      if (g >= 24 && g != 24) row.push_back({g - 24, -1.0});
      if (g + 24 < 24 * 24) row.push_back({g + 24, -1.0});
      return row;
    }));
  };
  for (const int degree : {1, 4}) {
    const int alike = solved(degree, pinned(4.0)).iterations;
    for (const Scalar diagonal : {1e4, -1e4}) {
      StateCache::instance().clear();
      const Outcome outcome = solved(degree, pinned(diagonal));
      EXPECT_TRUE(outcome.converged);
      EXPECT_LE(outcome.iterations, alike + 2) << "degree " << degree << ", " << diagonal;
      EXPECT_TRUE(told(outcome, "classical").empty()) << "degree " << degree << ", " << diagonal;
    }
  }
}

TEST_P(Polynomials, TakeBoundsOfTheUser) {
  if (!GetParam().takes("Eigenvalue Bounds")) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  const System system = scaled(1);
  for (int degree : {3, 4, 9}) {
    const int usual = solvedAgain(degree, system).iterations;
    for (const auto& [bounds, fits] : {std::pair("[0, 8]", true), std::pair("[0, 2]", false),
                                       std::pair("[6, 8]", false), std::pair("[-8, 0]", false)}) {
      SCOPED_TRACE("degree " + std::to_string(degree) + ", " + bounds);
      StateCache::instance().clear();
      Params p = ofDegree(degree);
      p.set("Eigenvalue Bounds", bounds);
      system.x->putScalar(0);
      const Outcome outcome = solve(*solverOf(GetParam(), p), system);
      EXPECT_TRUE(outcome.converged);
      EXPECT_EQ(mentions(told(outcome, "eigenvalue bounds"), "as given, leave out"), !fits);
      EXPECT_TRUE(told(outcome, "polynomial degree").empty()) << "they are replaced";
      EXPECT_LE(outcome.iterations, usual + (fits ? 2 : 12));
    }
  }
}

TEST_P(Polynomials, OfDegreesOutOfRangeAreErrors) {
  for (int degree : {0, -1, PolynomialOptions::highestDegree + 1}) {
    EXPECT_THROW(solverOf(GetParam(), ofDegree(degree)), std::invalid_argument) << degree;
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, Polynomials, ::testing::ValuesIn(methodsWhere(hasPolynomial)), solverIdentifier);
INSTANTIATE_TEST_SUITE_P(Solvers, PolynomialsOfScaledMatrices, ::testing::ValuesIn(methodsWhere(hasPolynomial)),
                         solverIdentifier);

}  // namespace
}  // namespace capstan::testing
