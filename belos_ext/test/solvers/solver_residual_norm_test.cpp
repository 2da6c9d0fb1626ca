/// \file
/// "Residual Norm" and "Initial Residual": the 1-norm of b - A x decides where it is asked for, at no reduction more; a
/// residual that the application knows saves a product, and a wrong one makes nothing wrong.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "belos_ext/guess/guess_store.hpp"
#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

class ResidualNorms1 : public EverySolver {};
CAPSTAN_FOR_EVERY_SOLVER(ResidualNorms1);

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
    EXPECT_EQ(outcome.report.restarts, 0) << "a claim that comes early costs no Krylov space";
    const std::string& method = GetParam().canonical;
    if (method == id::Cg || method == id::Cr || method == id::PipelinedCr) {
      // One more iteration would not have been needed.
      EXPECT_GE(attained, tolerance / 10);
    }
    if (method == id::Cg || method == id::Cr) {
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

/// A preconditioner for small systems that multiplies by f(k) when it is applied for the k-th time.
void preconditionBy(System& system, const std::function<Scalar(int)>& f) {
  const auto applications = std::make_shared<int>(0);
  system.preconditioner =
      rcp(new FunctionOperator(system.b->getMap(), [applications, f](const MultiVector& in, MultiVector& out) {
        out.update(f((*applications)++), in, 0);
      }));
}

/// Systems on which methods end without convergence, each for a reason of its own: what they begin from is no zero
/// guess, and the ratio of the two norms changes from iterate to iterate.
std::vector<System> hardSystems() {
  std::vector<System> systems;
  for (const Scalar wind : {0.0, 0.9, 3.0}) systems.push_back(systemWithRightHandSide(grid2d(12, 11, wind)));
  systems.push_back(systemWithRightHandSide(lowSyncDiagonal()));
  systems.push_back(systemWithRightHandSide(diagonal([](GO g) { return g % 3 == 0 ? -1.0 - g : 1.0 + g; }, 60)));
  systems.push_back(systemWithRightHandSide(neumannGrid(9, 8)));  // no x solves it
  systems.push_back(systemWithRightHandSide(grid2d(12, 11)));
  preconditionBy(systems.back(), [](int k) { return std::pow(-1.5, k % 40); });
  systems.push_back(systemWithRightHandSide(grid2d(12, 11, 0.3)));
  preconditionBy(systems.back(), [](int k) { return k < 9 ? 1 : std::numeric_limits<Scalar>::quiet_NaN(); });
  // From some product on A makes nothing but NaN.
  systems.push_back(systemWithRightHandSide(grid2d(12, 11)));
  const auto a = systems.back().a;
  const auto products = std::make_shared<int>(0);
  systems.back().a = rcp(new FunctionOperator(a->getRangeMap(), [a, products](const MultiVector& in, MultiVector& out) {
    a->apply(in, out);
    if (++*products > 11) out.putScalar(std::numeric_limits<Scalar>::quiet_NaN());
  }));
  systems.back().arm = [products] { *products = 0; };
  for (System& system : systems) {
    system.x = vectorFrom(system.b->getMap(), [](GO g) { return g % 7 == 0 ? 3 * wave(g) : 0.01 * wave(g + 5); });
  }
  return systems;
}

/// Whether the residual a solve reports is that of the x it returns, over that of its guess.
void expectTrueReport(const Params& p, const System& system, const MethodTraits& method, Side side) {
  const bool one = p.get<std::string>("Residual Norm") == "OneNorm";
  const auto residual = [&] {
    system.arm();
    return one ? norm1(*residualOf(system)) : residualNorms(system, *system.x).front();
  };
  StateCache::instance().clear();
  const double first = residual();
  const Outcome outcome = solve(method, p, system, side);
  const double attained = residual() / first;
  // The x of a system that no x solves grows without bound, and with it what rounding makes of the residual.
  const auto rounding = residualRounding(system);
  const double slack = (one ? norm1(*rounding) : norms(*rounding).front()) / first;
  EXPECT_NEAR(outcome.achieved, attained, 1e-7 * attained + 1e-13 + slack) << toString(outcome.report.reason);
}

TEST_P(ResidualNorms1, ReportedAreThoseOfTheSolutionHoweverASolveEnds) {
  Params other = oneNorm(1e-14);
  if (isGmres(GetParam())) {
    other.set("Num Blocks", 4);
  } else {
    other.set("Fallback", "none");
  }
  if (isCg(GetParam())) other.set("Residual Replacement", "every 3");
  Params two = other;
  two.set("Residual Norm", "TwoNorm");
  const std::pair<Params, Side> runs[] = {{oneNorm(1e-14), Side::Left},
                                          {oneNorm(1e-14), Side::None},
                                          {other, Side::Right},
                                          {other, Side::None},
                                          {two, Side::Right}};  // GMRES has another 2-norm with a left preconditioner
  for (auto [p, side] : runs) {
    for (const int limit : {0, 13, 100}) {
      p.set("Maximum Iterations", limit);
      const std::vector<System> systems = hardSystems();
      for (std::size_t k = 0; k < systems.size(); ++k) {
        SCOPED_TRACE("system " + std::to_string(k) + ", at most " + std::to_string(limit) + " iterations, " +
                     toString(side) + ", " + p.get<std::string>("Residual Norm"));
        expectTrueReport(p, systems[k], GetParam(), side);
      }
    }
  }
}

/// A row that is no number leaves x as it was, also where other rows can be solved by themselves.
TEST_P(ResidualNorms1, OfAZeroGuessAreReportedWhereARowIsNoNumber) {
  StateCache::instance().clear();
  const auto a = diagonal([](GO g) { return g == 3 ? std::numeric_limits<Scalar>::quiet_NaN() : 1.0 + g; }, 9);
  Params p = oneNorm(1e-6);
  p.set("Initial Residual", "zero guess");
  const auto solver = solverOf(GetParam(), p);
  for (int k = 0; k < 2; ++k) {  // the second one begins without a product
    const System system = systemWithRightHandSide(a);
    const Outcome outcome = solve(*solver, system, Side::None);
    EXPECT_FALSE(outcome.converged);
    EXPECT_EQ(norm1(*system.x), 0) << "solve " << k;
    EXPECT_TRUE(k == 0 || outcome.achieved == 1) << outcome.achieved;
  }
}

class InitialResiduals : public EverySolver {};
CAPSTAN_FOR_EVERY_SOLVER(InitialResiduals);

/// A communicator of its own, which has seen no solve.
RCP<CrsMatrix> gridOfItsOwn(GO nx, GO ny) {
  return grid2d(nx, ny, 0, evenMap(nx * ny, Tpetra::getDefaultComm()->duplicate()));
}

/// What the option says, and what an application does that sets x to zero.
TEST_P(InitialResiduals, OfAZeroGuessSaveAProduct) {
  for (const bool option : {false, true}) {
    std::vector<Outcome> computed, zero;
    for (const bool isZero : {false, true}) {
      StateCache::instance().clear();
      const auto a = gridOfItsOwn(30, 20);
      Params p;
      p.set("Initial Residual", isZero && option ? "zero guess" : "computed");
      p.set("Convergence Tolerance", 1e-9);
      const auto solver = solverOf(GetParam(), p);
      for (int k = 0; k < 3; ++k) {
        SCOPED_TRACE((isZero ? "zero guess, solve " : "computed, solve ") + std::to_string(k));
        const System system = systemWithRightHandSide(a, [k](GO g) { return wave(g) + 0.1 * k; });
        if (!isZero && rank() == 0 && system.x->getLocalLength() > 0) system.x->getDataNonConst(0)[0] = 1e-300;
        if (isZero && option) system.x->putScalar(7);  // which counts for nothing
        const auto guess = rcp(new MultiVector(system.x->getMap(), 1));
        const Outcome outcome = solve(*solver, system, Side::Right);
        EXPECT_TRUE(outcome.converged);
        EXPECT_LE(relativeResidual(system, *guess), 1e-9 * (1 + 1e-6));
        expectSameOnAllRanks(outcome);
        (isZero ? zero : computed).push_back(outcome);
      }
    }
    for (std::size_t k = 0; k < zero.size(); ++k) {
      EXPECT_EQ(zero[k].iterations, computed[k].iterations);
      EXPECT_EQ(zero[k].report.operatorApplications, computed[k].report.operatorApplications - (k > 0 ? 1 : 0))
          << "what the ranks agree on is known after a first solve";
      EXPECT_EQ(zero[k].report.preconditionerApplications, computed[k].report.preconditionerApplications);
    }
  }
}

/// b = 0: nothing but b - A x shows that A is broken.
TEST_P(InitialResiduals, OfAZeroGuessAreComputedWhereTheSolveEndsThere) {
  for (const std::string guess : {"application", "projection 3", "extrapolation 1"}) {
    SCOPED_TRACE(guess);
    StateCache::instance().clear();
    GuessStore::instance().clear();
    const auto a = gridOfItsOwn(25, 15);
    Params p;
    p.set("Initial Guess", guess);
    const auto solver = solverOf(GetParam(), p);
    EXPECT_TRUE(solve(*solver, systemWithRightHandSide(a), Side::Right).converged);
    System system = systemWithRightHandSide(a, [](GO) { return 0.0; });
    const Outcome trivial = solve(*solver, system, Side::Right);
    EXPECT_TRUE(trivial.converged);
    EXPECT_EQ(trivial.iterations, 0);
    EXPECT_EQ(system.x->getVector(0)->norm2(), 0.0);
    system.a = rcp(new FunctionOperator(a->getRowMap(), [](const MultiVector&, MultiVector& y) {
      y.putScalar(std::numeric_limits<Scalar>::quiet_NaN());
    }));
    const Outcome broken = solve(*solver, system, Side::Right);
    EXPECT_FALSE(broken.converged);
    EXPECT_EQ(broken.report.reason, StopReason::NonFinite) << toString(broken.report.reason);
    expectSameOnAllRanks(broken);
  }
}

/// Rows that hold a diagonal alone are solved without an iteration: the claim is not one about x = 0.
TEST_P(InitialResiduals, OfAZeroGuessAreNotThoseOfRowsSolvedExactly) {
  StateCache::instance().clear();
  const auto a = matrixFrom(evenMap(307), [](GO g) {
    return std::vector<Entry>{{g, 2.0 + 0.001 * static_cast<double>(g)}};
  });
  const auto solver = solverOf(GetParam(), Params());
  for (int k = 0; k < 3; ++k) {
    SCOPED_TRACE(k);
    const System system = systemWithRightHandSide(a, wave);
    const auto guess = rcp(new MultiVector(system.x->getMap(), 1));
    const Outcome outcome = solve(*solver, system, Side::None);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  }
}

/// A rank that begins elsewhere, or all: the solve begins once more, at x; the next ones at once.
TEST_P(InitialResiduals, OfAGuessThatIsZeroNoMore) {
  for (const int columns : {1, 3}) {
    for (const std::string guess : {"application", "projection 3", "extrapolation 1"}) {
      for (const bool all : {false, true}) {
        SCOPED_TRACE(std::to_string(columns) + ", " + guess + (all ? ", all ranks" : ", one rank"));
        StateCache::instance().clear();
        GuessStore::instance().clear();
        const auto a = gridOfItsOwn(20, 15);
        Params p;
        p.set("Convergence Tolerance", 1e-9);
        p.set("Initial Guess", guess);
        p.set("Residual Scaling", "Norm of RHS");
        const auto solver = solverOf(GetParam(), p);
        long refuted = 0, later = 0;
        for (int k = 0; k < 6; ++k) {
          SCOPED_TRACE("solve " + std::to_string(k));
          System system = systemWithRightHandSide(a, wave, columns);
          const bool moved = k >= 3;
          if (moved && (all || rank() == ranks() - 1)) {
            system.x->update(100,
                             *vectorFrom(
                                 a->getRowMap(), [](GO g) { return wave(3 * g); }, columns),
                             0);
          }
          const Outcome outcome = solve(*solver, system, Side::Right);
          EXPECT_TRUE(outcome.converged);
          EXPECT_LE(relativeResidual(system, MultiVector(system.x->getMap(), columns)), 1e-9 * (1 + 1e-6));
          expectSameOnAllRanks(outcome);
          if (k == 3) refuted = outcome.report.operatorApplications - outcome.iterations;
          if (k == 5) later = outcome.report.operatorApplications - outcome.iterations;
        }
        if (guess == "application" && columns == 1 && GetParam().canonical == id::Cg) {
          EXPECT_EQ(refuted, later + 1);
        }
      }
    }
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

/// || M_L^{-1} r || of a zero guess is that of b, also where A 0 is no number and other rows are solved by themselves.
TEST_P(InitialResiduals, OfAZeroGuessAreThoseThatScale) {
  StateCache::instance().clear();
  const auto a = diagonal([](GO g) { return g == 3 ? std::numeric_limits<Scalar>::infinity() : 1.0 + g; }, 9);
  Params p;
  p.set("Initial Residual", "zero guess");
  p.set("Explicit Residual Scaling", "Norm of Preconditioned Initial Residual");
  const auto solver = solverOf(GetParam(), p);
  for (int k = 0; k < 2; ++k) {  // the second one begins without a product
    System system = systemWithRightHandSide(a);
    system.preconditioner = rcp(
        new FunctionOperator(a->getRowMap(), [](const MultiVector& in, MultiVector& out) { out.update(0.5, in, 0); }));
    const Outcome outcome = solve(*solver, system, Side::Left);
    EXPECT_FALSE(outcome.converged);
    EXPECT_EQ(norm1(*system.x), 0) << "solve " << k;
    EXPECT_TRUE(k == 0 || std::abs(outcome.achieved - 2) < 1e-12) << outcome.achieved;
    expectSameOnAllRanks(outcome);
  }
}

/// Every other solve has a quarter of the rows in its residuals, and half the 1-norm to a 2-norm. Where residuals
/// shrink fast, one that may meet the tolerance is measured before M is applied to it.
TEST(CostlyCg, AppliesMNoMoreOftenThanItIterates) {
  StateCache::instance().clear();
  const auto a = diagonal([](GO g) { return 1 + 0.1 * std::cos(1.7 * static_cast<double>(g)); }, 600);
  const auto identity =
      rcp(new FunctionOperator(a->getRowMap(), [](const MultiVector& in, MultiVector& out) { out.update(1, in, 0); }));
  for (int k = 0; k < 24; ++k) {
    const auto entry = [k](GO g) { return k % 2 == 0 || g % 4 == 0 ? wave(g) : 0; };
    System system = rowsHidden(systemWithRightHandSide(a, entry));
    system.preconditioner = identity;
    const double tolerance = 0.1 * std::pow(0.7, k);
    const Outcome outcome = solve(methodOf(id::Cg), oneNorm(tolerance), system, Side::Right);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_LE(norm1(*residualOf(system)), tolerance * (1 + 1e-6) * norm1(*system.b));
    EXPECT_EQ(outcome.report.preconditionerApplications, outcome.iterations) << "solve " << k;
    EXPECT_LE(outcome.report.reductionsBlocking, outcome.iterations + 5);
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
