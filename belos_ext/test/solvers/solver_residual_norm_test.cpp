/// \file
/// "Residual Norm" and "Initial Residual": the 1-norm of b - A x decides where it is asked for, at no reduction more; a
/// residual that the application knows saves a product, and a wrong one makes nothing wrong.

#include <algorithm>
#include <cmath>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

class ResidualNorms1 : public EverySolver {};
CAPSTAN_FOR_EVERY_SOLVER(ResidualNorms1);

double norm1(const MultiVector& v) {
  std::vector<double> norms(v.getNumVectors());
  v.norm1(Teuchos::ArrayView<double>(norms));
  return *std::max_element(norms.begin(), norms.end());
}

RCP<MultiVector> residualOf(const System& system) {
  auto r = rcp(new MultiVector(*system.b, Teuchos::Copy));
  auto image = rcp(new MultiVector(system.b->getMap(), system.b->getNumVectors()));
  system.a->apply(*system.x, *image);
  r->update(-1, *image, 1);
  return r;
}

Params oneNorm(double tolerance) {
  Params p;
  p.set("Residual Norm", "OneNorm");
  p.set("Convergence Tolerance", tolerance);
  p.set("Implicit Residual Scaling", "Norm of Initial Residual");
  return p;
}

System spread() {
  const auto a = grid2d(40, 30);
  return systemWithRightHandSide(a, [](GO g) { return g == 17 ? 1.0 : 1e-3 * wave(g); });
}

TEST_P(ResidualNorms1, DecidesAndIsHardlyMetBeforeItNeedsToBe) {
  StateCache::instance().clear();
  const System system = spread();
  const double first = norm1(*system.b), tolerance = 1e-6;
  const auto solver = solverOf(GetParam(), oneNorm(tolerance));
  for (int k = 0; k < 3; ++k) {  // later solves know the ratio of the two norms
    system.x->putScalar(0);
    const Outcome outcome = solve(*solver, system, Side::Right);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_EQ(outcome.report.norm, "1-norm of b - A x");
    const double attained = norm1(*residualOf(system)) / first;
    EXPECT_LE(attained, tolerance * (1 + 1e-6));
    EXPECT_NEAR(outcome.achieved, attained, 1e-3 * tolerance);
    EXPECT_LE(outcome.report.restarts, GetParam().family == Family::BiCgStab ? 1 : 0) << "which ends a cycle to claim";
    if (GetParam().canonical == id::Cg) {
      // One more iteration of the textbook's CG would not have been needed.
      EXPECT_GE(attained, tolerance / 10);
      EXPECT_LE(outcome.report.reductionsBlocking, outcome.iterations + 4) << "claims that came early, and the start";
    }
    expectSameOnAllRanks(outcome);
  }
}

TEST_P(ResidualNorms1, DecidesForEachRightHandSide) {
  const auto a = grid2d(20, 30);
  const System system = systemWithRightHandSide(a, wave, 3);
  const Outcome outcome = solve(GetParam(), oneNorm(1e-7), system, Side::Right);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  const auto r = residualOf(system);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_LE(norm1(*r->getVector(c)), 1e-7 * (1 + 1e-6) * norm1(*system.b->getVector(c))) << c;
  }
  expectSameOnAllRanks(outcome);
}

TEST_P(ResidualNorms1, GoesWithALeftPreconditioner) {
  const System system = spread();
  const Outcome outcome = solve(GetParam(), oneNorm(1e-6), system, Side::Left);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(norm1(*residualOf(system)), 1e-6 * (1 + 1e-6) * norm1(*system.b));
}

TEST_P(ResidualNorms1, OfTheRightHandSideIsNotKnown) {
  Params p = oneNorm(1e-6);
  p.set("Implicit Residual Scaling", "Norm of RHS");
  try {
    solverOf(GetParam(), p);
    ADD_FAILURE() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("\"Residual Norm\" = \"OneNorm\""), std::string::npos) << error.what();
  }
}

class InitialResiduals : public EverySolver {};
CAPSTAN_FOR_EVERY_SOLVER(InitialResiduals);

TEST_P(InitialResiduals, OfAZeroGuessSaveAProduct) {
  const auto a = grid2d(30, 20);
  std::vector<Outcome> computed, zero;
  for (const char* known : {"computed", "zero guess"}) {
    StateCache::instance().clear();
    Params p;
    p.set("Initial Residual", known);
    p.set("Convergence Tolerance", 1e-9);
    const auto solver = solverOf(GetParam(), p);
    const bool isZero = std::string(known) == "zero guess";
    for (int k = 0; k < 3; ++k) {
      const System system = systemWithRightHandSide(a, [k](GO g) { return wave(g) + 0.1 * k; });
      const auto guess = rcp(new MultiVector(system.x->getMap(), 1));
      if (isZero) system.x->putScalar(7);  // which counts for nothing
      const Outcome outcome = solve(*solver, system, Side::Right);
      EXPECT_TRUE(outcome.converged) << known << ", solve " << k;
      EXPECT_LE(relativeResidual(system, *guess), 1e-9 * (1 + 1e-6)) << known << ", solve " << k;
      expectSameOnAllRanks(outcome);
      (isZero ? zero : computed).push_back(outcome);
    }
  }
  for (std::size_t k = 0; k < zero.size(); ++k) {
    EXPECT_EQ(zero[k].iterations, computed[k].iterations);
    EXPECT_LE(zero[k].report.operatorApplications, computed[k].report.operatorApplications - (k > 0 ? 1 : 0))
        << "what the ranks agree on is known after a first solve";
  }
}

TEST_P(InitialResiduals, AreComputedAgainWhenThatIsAskedFor) {
  StateCache::instance().clear();
  const System system = systemWithRightHandSide(grid2d(20, 20));
  const auto solver = solverOf(GetParam());
  for (const char* known : {"zero guess", "zero guess", "computed", "computed"}) {
    Params p;
    p.set("Initial Residual", known);
    change(*solver, p);
    system.x->putScalar(0);
    const Outcome outcome = solve(*solver, system, Side::Right);
    EXPECT_TRUE(outcome.converged) << known;
    expectSameOnAllRanks(outcome);
  }
}

/// The solve after those that began at zero begins at the application's x, whatever the ranks have agreed on before.
TEST_P(InitialResiduals, OfAnotherGuessCountAfterThoseOfAZeroGuess) {
  const auto a = grid2d(20, 20);
  StateCache::instance().clear();
  const auto solver = solverOf(GetParam());
  const bool zeros[] = {true, true, false, false, true, false};
  const char* guesses[] = {"application", "application", "application", "application", "application", "projection 3"};
  for (int k = 0; k < 6; ++k) {
    SCOPED_TRACE("solve " + std::to_string(k));
    Params p;
    p.set("Initial Residual", zeros[k] ? "zero guess" : "computed");
    p.set("Initial Guess", guesses[k]);
    change(*solver, p);
    System system = systemWithRightHandSide(a, wave, 2);
    system.x = vectorFrom(
        a->getRowMap(), [](GO g) { return 100 * wave(3 * g); }, 2);
    const auto guess = zeros[k] ? rcp(new MultiVector(system.x->getMap(), 2)) : copyOf(*system.x);
    const Outcome outcome = solve(*solver, system, Side::Right);
    EXPECT_TRUE(outcome.converged);
    const double attained = relativeResidual(system, *guess);
    EXPECT_NEAR(outcome.achieved, attained, 1e-4 * attained);
    expectSameOnAllRanks(outcome);
  }
}

/// CG with a preconditioner that is another one at each application, as a multigrid cycle with scaled corrections is.
TEST(FlexibleCg, HardlyNoticesAPreconditionerThatChanges) {
  const auto a = grid2d(40, 40);
  int iterations[2] = {0, 0};
  for (const bool changes : {false, true}) {
    System system = systemWithRightHandSide(a);
    int count = 0;
    const auto plain = system.preconditioner;
    system.preconditioner = rcp(new FunctionOperator(a->getRowMap(), [&](const MultiVector& r, MultiVector& z) {
      plain->apply(r, z);
      // Another scale each time, and a part that depends on r in a way that is not linear.
      std::vector<double> size(r.getNumVectors());
      r.normInf(Teuchos::ArrayView<double>(size));
      const double turn = changes ? 1 + 0.4 * std::sin(3.0 * ++count) + 0.1 * std::cos(std::log(size[0] + 1e-300)) : 1;
      z.scale(turn);
    }));
    const Outcome outcome = solve(methodOf(id::Cg), Params(), system, Side::Right);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_EQ(outcome.report.restarts, 0);
    iterations[changes ? 1 : 0] = outcome.iterations;
    expectSameOnAllRanks(outcome);
  }
  EXPECT_LE(iterations[1], 1.1 * iterations[0] + 2);
}

}  // namespace
}  // namespace capstan::testing
