/// \file
/// What the supervisor owes an application, whatever the method: an x that is not worse than its guess, an end where
/// nothing is to be gained, and the next method while there are iterations left.

#include <cmath>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

class Supervision : public EverySolver {};
CAPSTAN_FOR_EVERY_SOLVER(Supervision);

Params parameters(int iterations, double tolerance = 1e-8) {
  Params p;
  p.set("Convergence Tolerance", tolerance);
  p.set("Maximum Iterations", iterations);
  p.set("State Cache", false);
  return p;
}

/// The Laplacian with its smallest eigenvalues made negative.
RCP<CrsMatrix> shiftedGrid(GO nx, GO ny, Scalar shift) {
  return matrixFrom(evenMap(nx * ny), [=](GO g) {
    std::vector<Entry> row{{g, 4 - shift}};
    if (g % nx > 0) row.push_back({g - 1, -1.0});
    if (g % nx + 1 < nx) row.push_back({g + 1, -1.0});
    if (g >= nx) row.push_back({g - nx, -1.0});
    if (g + nx < nx * ny) row.push_back({g + nx, -1.0});
    return row;
  });
}

/// Almost skew: BiCGStab's residual halves seldom; GMRES needs as many iterations as there are rows.
RCP<CrsMatrix> almostSkew(GO n) {
  return matrixFrom(evenMap(n), [n](GO g) {
    std::vector<Entry> row{{g, 1e-3}};
    if (g > 0) row.push_back({g - 1, -1.0});
    if (g + 1 < n) row.push_back({g + 1, 1.0});
    return row;
  });
}

/// A guess that is right where the system is smooth and wrong elsewhere.
void putGuess(const System& system) {
  system.x->update(0.1, *vectorFrom(system.x->getMap(), [](GO g) { return std::cos(3.7 * static_cast<double>(g)); }),
                   0);
}

TEST_P(Supervision, LeavesNoXWorseThanTheGuess) {
  const auto both = systemWithRightHandSide(neumannGrid(11, 13));  // b has a constant
  const std::vector<std::pair<std::string, System>> systems = {
      {"indefinite", systemWithRightHandSide(shiftedGrid(14, 15, 0.9))},
      {"inconsistent", both},
      {"skew preconditioner", withSkewPreconditioner(systemWithRightHandSide(grid2d(14, 14)), 2)},
      {"convection", systemWithRightHandSide(grid2d(14, 14, 1.8))},
      {"almost skew", systemWithRightHandSide(almostSkew(150))}};
  for (const auto& [name, system] : systems) {
    for (const bool guessed : {false, true}) {
      for (const char* nullSpace : {"auto", "none"}) {
        for (const int limit : {1, 2, 3, 7, 20, 60, 300}) {
          Params p = parameters(limit, 1e-9);
          if (isCg(GetParam())) p.set("Null Space", std::string(nullSpace));
          if (!isCg(GetParam()) && nullSpace == std::string("none")) continue;
          SCOPED_TRACE(name + (guessed ? ", guess, " : ", ") + std::string(nullSpace) + ", " + std::to_string(limit));
          system.x->putScalar(0);
          if (guessed) putGuess(system);
          const auto guess = copyOf(*system.x);
          const Outcome outcome = solve(GetParam(), p, system, name[0] == 's' ? Side::Right : Side::None);
          EXPECT_TRUE(allFinite(*system.x));
          const double attained = relativeResidual(system, *guess);
          const double rounding = norms(*residualRounding(system))[0] / residualNorms(system, *guess)[0];
          EXPECT_LE(attained, 1 + 1e-12 + 10 * rounding);
          EXPECT_NEAR(outcome.report.trueResidual, attained, 1e-6 * attained + 10 * rounding);
          expectSameOnAllRanks(outcome);
        }
      }
    }
  }
}

// What a polynomial's solve has left behind when it is given up is no guess of the application's.
TEST_P(Supervision, LeavesNoXWorseThanTheGuessWhereAPolynomialIsGivenUp) {
  if (!GetParam().takes("Polynomial Degree")) GTEST_SKIP() << GetParam().canonical << " has no polynomial";
  const System system = systemWithRightHandSide(shiftedGrid(14, 15, 0.9));
  for (const int degree : {2, 3, 4, 5}) {
    for (int limit = 1; limit <= 20; ++limit) {
      Params p = parameters(limit, 1e-9);
      p.set("Polynomial Degree", degree);
      p.set("Eigenvalue Bounds", "[0.5, 8]");
      SCOPED_TRACE("degree " + std::to_string(degree) + ", limit " + std::to_string(limit));
      system.x->putScalar(0);
      const auto guess = copyOf(*system.x);
      solve(GetParam(), p, system);
      EXPECT_LE(relativeResidual(system, *guess), 1 + 1e-9);
    }
  }
}

// Claims that come too early are examined on the way; what they leave is not what the cycle began with.
TEST_P(Supervision, KeepsWhatWasGainedAfterClaimsThatCameTooEarly) {
  if (isCg(GetParam()) || isGmres(GetParam())) GTEST_SKIP() << GetParam().canonical << " goes back to no cycle";
  const System system = systemWithRightHandSide(grid2d(14, 14, 1.8));
  const auto guess = copyOf(*system.x);
  for (int limit = 1; limit <= 60; ++limit) {
    Params p = parameters(limit, 1e-2);
    p.set("Explicit Residual Scaling", "User Provided");
    p.set("User Defined Residual Scaling", 1e-6 * norms(*system.b)[0]);
    system.x->putScalar(0);
    const Outcome outcome = solve(GetParam(), p, system);
    const double recursive = outcome.report.recursiveResidual;
    if (recursive >= 1) continue;
    EXPECT_LE(relativeResidual(system, *guess), 2 * recursive) << "limit " << limit;
  }
}

// What GMRES solves the CG types solve, too, where M turns out not to be symmetric.
TEST_P(Supervision, HandsOverWhereThePreconditionerIsNotSymmetric) {
  if (!isCg(GetParam())) GTEST_SKIP() << GetParam().canonical << " needs no symmetry";
  for (const Scalar skew : {0.5, 1.0, 2.0}) {
    SCOPED_TRACE("skew " + std::to_string(skew));
    const System system = withSkewPreconditioner(systemWithRightHandSide(grid2d(20, 20)), skew);
    const int gmres = solve(methodOf(id::Gmres), parameters(3000), system, Side::Right).iterations;
    ASSERT_LT(gmres, 1000);
    system.x->putScalar(0);
    const Outcome outcome = solve(GetParam(), parameters(3000), system, Side::Right);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason) << ", GMRES " << gmres;
  }
}

// CG grows without end there; the part that can be solved is.
TEST_P(Supervision, EndsEarlyWhereBHasAConstantThatNoAxHas) {
  if (!isCg(GetParam())) GTEST_SKIP() << GetParam().canonical << " does not look for constants";
  for (const Side side : {Side::None, Side::Right}) {
    SCOPED_TRACE(toString(side));
    const System consistent = systemWithSolution(neumannGrid(17, 13));
    const Outcome usual = solve(GetParam(), parameters(1000), consistent, side);
    EXPECT_TRUE(usual.converged);
    const double size = norms(*consistent.x)[0];
    System system = systemWithSolution(neumannGrid(17, 13));
    system.b->update(1, *vectorFrom(system.b->getMap(), [](GO) { return 1.0; }), 1);
    const Outcome outcome = solve(GetParam(), parameters(1000), system, side);
    EXPECT_EQ(outcome.report.reason, StopReason::Inconsistent) << toString(outcome.report.reason);
    EXPECT_LE(outcome.iterations, 2 * usual.iterations + 10);
    EXPECT_LE(norms(*system.x)[0], 100 * size);
    EXPECT_LE(relativeResidual(system, *vectorFrom(system.b->getMap(), [](GO) { return 0.0; })), 1);
  }
}

/// The edges of n x n nodes, those along x first: each of its (n - 1)^2 faces has four.
struct EdgeGrid {
  GO n;
  GO alongX(GO i, GO j) const { return j * (n - 1) + i; }
  GO alongY(GO i, GO j) const { return n * (n - 1) + j * n + i; }
  GO edges() const { return 2 * n * (n - 1); }

  /// A row of the curl of the curl: the edges of the one or two faces that edge g is of, signed as they go round.
  std::vector<Entry> row(GO g) const {
    const bool isX = g < n * (n - 1);
    const GO local = isX ? g : g - n * (n - 1), width = isX ? n - 1 : n;
    const GO i = local % width, j = local / width;
    std::vector<Entry> entries;
    const auto face = [&](GO fi, GO fj, Scalar sign) {
      if (fi < 0 || fj < 0 || fi >= n - 1 || fj >= n - 1) return;
      for (const Entry& e : {Entry{alongX(fi, fj), 1}, Entry{alongY(fi + 1, fj), 1}, Entry{alongX(fi, fj + 1), -1},
                             Entry{alongY(fi, fj), -1}}) {
        entries.push_back({e.column, sign * e.value});
      }
    };
    face(i, j, isX ? 1 : -1);
    if (isX) face(i, j - 1, -1);
    if (!isX) face(i - 1, j, 1);
    return entries;
  }
  /// The gradient of a potential, which the curl maps to zero.
  Scalar gradient(GO g) const {
    const bool isX = g < n * (n - 1);
    const GO local = isX ? g : g - n * (n - 1), width = isX ? n - 1 : n;
    const GO i = local % width, j = local / width;
    const auto potential = [](GO x, GO y) { return std::sin(0.9 * static_cast<double>(x * x + 3 * y)); };
    return isX ? potential(i + 1, j) - potential(i, j) : potential(i, j + 1) - potential(i, j);
  }
};

// No parameter says what a null space of gradients is. The part that can be solved is.
TEST_P(Supervision, EndsEarlyWhereBHasAGradientThatTheCurlMapsToZero) {
  const std::string& name = GetParam().canonical;
  if (name != id::Cg && name != id::EmbeddedCg) GTEST_SKIP() << name << " does not on all of these systems";
  for (const GO n : {11, 15, 25}) {
    SCOPED_TRACE(n);
    const EdgeGrid grid{n};
    System system = systemWithSolution(matrixFrom(evenMap(grid.edges()), [&](GO g) { return grid.row(g); }));
    const auto gradient = vectorFrom(system.b->getMap(), [&](GO g) { return 0.05 * grid.gradient(g); });
    const double least = norms(*gradient)[0];
    system.b->update(1, *gradient, 1);
    const Outcome outcome = solve(GetParam(), parameters(1000), system);
    EXPECT_FALSE(outcome.converged);
    EXPECT_LE(outcome.iterations, 700) << toString(outcome.report.reason);
    EXPECT_LE(residualNorms(system, *system.x)[0], 1.1 * least) << toString(outcome.report.reason);
    expectSameOnAllRanks(outcome);
  }
}

// Without end, along constants, unless they are taken out of x.
TEST_P(Supervision, LeavesNoLargeConstantInXWhereADoesNotSeeIt) {
  const auto ones = [](Scalar value) { return [value](GO) { return value; }; };
  for (const Scalar level : {0.0, 1e3}) {  // of the guess: the application's own
    SCOPED_TRACE("level " + std::to_string(level));
    const System consistent = systemWithSolution(neumannGrid(17, 13));
    EXPECT_TRUE(solve(GetParam(), parameters(1000), consistent, Side::Right).converged);
    const double size = norms(*consistent.x)[0];
    System system = systemWithSolution(neumannGrid(17, 13));
    system.b->update(1, *vectorFrom(system.b->getMap(), ones(1)), 1);
    system.x->update(1, *vectorFrom(system.b->getMap(), ones(level)), 0);
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), parameters(1000), system, Side::Right);
    EXPECT_FALSE(outcome.converged);
    system.x->update(-1, *guess, 1);
    EXPECT_LE(norms(*system.x)[0], 100 * size) << toString(outcome.report.reason);
    system.x->update(1, *guess, 1);
    EXPECT_LE(relativeResidual(system, *guess), 1);
  }
}

// What is told of x then is of the x that is left, in the norm of the residual that M^{-1} is applied to, too.
TEST_P(Supervision, TellsTheResidualOfTheXWithoutConstant) {
  for (const GO width : {2, 3, 4, 5, 7, 9, 11, 13}) {
    System system = systemWithRightHandSide(neumannGrid(width, 3), [](GO g) { return std::cos(2.3 * g) + 0.2; });
    system.preconditioner = rcp(new FunctionOperator(
        system.b->getMap(), [](const MultiVector& in, MultiVector& out) { out.update(2, in, 0); }));
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), parameters(60), system, Side::Left);
    const double attained = relativeResidual(system, *guess);
    EXPECT_NEAR(outcome.report.trueResidual, attained, 1e-6 * attained)
        << width << ", " << toString(outcome.report.reason) << ", |x| " << norms(*system.x)[0];
  }
}

// A restart of 30 gets nowhere there.
TEST_P(Supervision, HandsOverToARestartThatIsLongEnough) {
  if (!isCg(GetParam())) GTEST_SKIP() << GetParam().canonical << " is no CG";
  const System system = withSkewPreconditioner(systemWithRightHandSide(shiftedGrid(14, 14, 1.7)), 0.5);
  Params p = parameters(3000);
  p.set("Num Blocks", 30);
  const Outcome stuck = solve(methodOf(id::Gmres), p, system, Side::Right);
  ASSERT_FALSE(stuck.converged) << stuck.iterations;
  system.x->putScalar(0);
  const Outcome outcome = solve(GetParam(), parameters(3000), system, Side::Right);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_TRUE(mentions(told(outcome, "restart length"), "has not halved"));
}

TEST_P(Supervision, LeavesIterationsForTheNextMethod) {
  if (GetParam().family != Family::BiCgStab) GTEST_SKIP() << GetParam().canonical << " is no BiCGStab";
  for (const int limit : {200, 1000}) {
    const System system = systemWithRightHandSide(almostSkew(28));
    const Outcome outcome = solve(GetParam(), parameters(limit), system);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason) << ", limit " << limit;
    EXPECT_FALSE(told(outcome, "fallback").empty());
  }
}

}  // namespace
}  // namespace capstan::testing
