/// \file
/// CG and p(l)-CG on what CFD codes hand them: a pinned pressure, a preconditioner that is a little indefinite, numbers
/// at the ends of the range, short solves atop a strong preconditioner.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "belos_ext/convergence/residual_smoothing.hpp"
#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "belos_ext/test/solvers/textbook_cg.hpp"

namespace capstan::testing {
namespace {

class CgTypes : public EverySolver {
 protected:
  void SetUp() override {
    if (!isCg(GetParam())) GTEST_SKIP() << GetParam().canonical << " needs no symmetry";
  }
};

Params strict() {
  Params p;
  p.set("State Cache", false);
  p.set("Maximum Iterations", 3000);
  return p;
}

/// All-Neumann pressure on an n x n grid whose first equation pins the pressure: the row is a diagonal, the column is
/// kept.
RCP<CrsMatrix> pinned(GO n) {
  return matrixFrom(evenMap(n * n), [=](GO g) { return g == 0 ? std::vector<Entry>{{0, 1}} : neumannRow(g, n, n); });
}

/// Hestenes and Stiefel's CG, written down; the count of iterations to 1e-8.
int textbookIterations(const System& system) {
  MultiVector r(*system.b, Teuchos::Copy), p(r, Teuchos::Copy), s(r.getMap(), 1);
  const auto dot = [](const MultiVector& v, const MultiVector& w) {
    double result = 0;
    v.dot(w, Teuchos::ArrayView<double>(&result, 1));
    return result;
  };
  double rr = dot(r, r);
  const double goal = 1e-16 * rr;
  for (int k = 1; k < 3000; ++k) {
    system.a->apply(p, s);
    const double alpha = rr / dot(p, s), before = rr;
    r.update(-alpha, s, 1);
    rr = dot(r, r);
    if (rr <= goal) return k;
    p.update(1, r, rr / before);
  }
  return 3000;
}

// x += r / a leaves rounding of the guess in x, which A makes large again.
TEST_P(CgTypes, DoNotForgetWhatRowsSolvedFirstStillHold) {
  const System system = systemWithRightHandSide(diagonal([](GO) { return 1e70; }, 1));
  system.x->putScalar(0.3);
  Params p = strict();
  p.set("Explicit Residual Scaling", "Norm of RHS");
  const Outcome outcome = solve(GetParam(), p, system);
  const double relative = residualNorms(system, *system.x)[0] / norms(*system.b)[0];
  EXPECT_EQ(outcome.converged, relative <= 1e-8) << toString(outcome.report.reason) << ", " << relative;
}

TEST_P(CgTypes, KeepTheTextbooksIterationsOnAPinnedPressure) {
  const System system = systemWithSolution(pinned(40));
  const int expected = textbookIterations(system);
  const Outcome read = solve(GetParam(), strict(), system);
  EXPECT_TRUE(read.converged);
  EXPECT_LE(read.iterations, 1.1 * expected + 5);
  EXPECT_FALSE(told(read, "diagonal rows").empty());
  if (GetParam().canonical == id::Cg) {  // and where the rows cannot be read
    system.x->putScalar(0);
    const Outcome hidden = solve(GetParam(), strict(), rowsHidden(system));
    EXPECT_TRUE(hidden.converged);
    EXPECT_LE(hidden.iterations, 1.05 * expected + 5);
  }
}

TEST_P(CgTypes, GoOnWhereThePreconditionerIsALittleIndefinite) {
  System system = systemWithRightHandSide(grid2d(20, 20));
  const auto map = system.b->getMap();
  system.preconditioner = rcp(new FunctionOperator(map, [map](const MultiVector& in, MultiVector& out) {
    out.update(1, in, 0);
    if (map->isNodeGlobalElement(7)) {  // one eigenvalue is negative
      const auto local = map->getLocalElement(7);
      for (size_t j = 0; j < in.getNumVectors(); ++j) out.replaceLocalValue(local, j, -0.5 * in.getData(j)[local]);
    }
  }));
  const auto guess = copyOf(*system.x);
  for (const Side side : {Side::Left, Side::Right}) {
    system.x->putScalar(0);
    const Outcome outcome = solve(GetParam(), strict(), system, side);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8 * (1 + 1e-6));
    EXPECT_LE(outcome.iterations, 200);
    // Enlarged CG may be done before (r, M^{-1} r) shows it.
    if (GetParam().canonical != id::EnlargedCg) {
      EXPECT_FALSE(told(outcome, "indefinite").empty());
    }
  }
}

/// A diagonal in some strange units; its diagonal cannot be seen.
RCP<const Operator> hiddenDiagonal(const RCP<const Map>& map, double sign) {
  return rcp(new FunctionOperator(map, [sign, map](const MultiVector& in, MultiVector& out) {
    for (size_t j = 0; j < in.getNumVectors(); ++j) {
      const auto x = in.getData(j);
      for (size_t i = 0; i < static_cast<size_t>(x.size()); ++i) {
        const auto row = static_cast<Types::LocalOrdinal>(i);
        out.replaceLocalValue(row, j,
                              sign * (1 + 0.5 * std::sin(static_cast<double>(map->getGlobalElement(row)))) * x[row]);
      }
    }
  }));
}

enum class M { None, Diagonal, Unknown };

/// sign A x = sign b and the inverse of signOfM M, A the Laplacian on a grid that no symmetry makes simple.
System signedSystem(int sign, M m, int signOfM) {
  System system = systemWithRightHandSide(grid2d(24, 17));
  const auto a = rcp(new CrsMatrix(*Teuchos::rcp_dynamic_cast<const CrsMatrix>(system.a, true), Teuchos::Copy));
  a->resumeFill();
  a->scale(sign);
  a->fillComplete();
  a->setObjectLabel("of either sign");
  system.a = a;
  system.b->scale(sign);
  if (m == M::Diagonal) system.preconditioner = systemWithRightHandSide(a).preconditioner;
  if (m == M::Unknown) system.preconditioner = hiddenDiagonal(system.b->getMap(), signOfM);
  return system;
}

// OpenFOAM's pressure matrices and their preconditioners are negative definite. So may A be alone, or M.
TEST_P(CgTypes, TakeTheSameStepsWhereAOrMIsNegativeDefinite) {
  std::vector<Params> variants(1);
  if (GetParam().takes("Pipeline Depth")) {
    variants.emplace_back().set("Pipeline Depth", 3);
  }
  if (GetParam().takes("Polynomial Degree")) {
    variants.emplace_back().set("Polynomial Degree", 4);
    variants.emplace_back().set("Polynomial Degree", 5);
  }
  for (const char* form : {"orthodir", "orthomin", "fused"}) {
    if (GetParam().takes("Enlarged Form")) variants.emplace_back().set("Enlarged Form", form);
  }
  solve(GetParam(), Params(), signedSystem(1, M::None, 1));  // later ones of that size presume a guess of zero
  for (const Params& variant : variants) {
    for (const M m : {M::None, M::Diagonal, M::Unknown}) {
      std::vector<std::array<int, 2>> signs{{-1, -1}};
      if (m == M::Unknown) signs.insert(signs.end(), {{-1, 1}, {1, -1}});
      const Side side = m == M::None ? Side::None : Side::Right;
      const auto solutions = [&](const System& system) {
        StateCache::instance().clear();
        std::vector<Outcome> outcomes;
        for (int turn = 0; turn < 3; ++turn) {  // later ones know what the first has learnt
          system.x->putScalar(0);
          outcomes.push_back(solve(GetParam(), variant, system, side));
        }
        StateCache::instance().clear();
        return outcomes;
      };
      const System positive = signedSystem(1, m, 1);
      const auto expected = solutions(positive);
      for (const auto& [ofA, ofM] : signs) {
        const System system = signedSystem(ofA, m, ofM);
        const auto outcomes = solutions(system);
        for (std::size_t turn = 0; turn < outcomes.size(); ++turn) {
          const Outcome &outcome = outcomes[turn], &should = expected[turn];
          std::ostringstream where;
          where << "M " << static_cast<int>(m) << ", signs " << ofA << " " << ofM << ", solve " << turn << "\n"
                << variant;
          SCOPED_TRACE(where.str());
          EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
          EXPECT_TRUE(told(outcome, "indefinite").empty());
          EXPECT_EQ(told(outcome, "eigenvalue bounds").size(), told(should, "eigenvalue bounds").size());
          EXPECT_EQ(told(outcome, "classical").size(), told(should, "classical").size());
          EXPECT_EQ(outcome.iterations, should.iterations);
          EXPECT_EQ(outcome.report.operatorApplications, should.report.operatorApplications);
          EXPECT_EQ(outcome.report.preconditionerApplications, should.report.preconditionerApplications);
          EXPECT_EQ(outcome.report.reductionsBlocking, should.report.reductionsBlocking);
          EXPECT_EQ(outcome.report.reductionsNonblocking, should.report.reductionsNonblocking);
        }
        system.x->update(-1, *positive.x, 1);
        EXPECT_LE(norms(*system.x)[0], 1e-6 * norms(*positive.x)[0]);
      }
    }
  }
}

// Products are measured in the first steps, where every M^{-1} counts.
TEST_P(CgTypes, ApplyThePreconditionerOnceMoreInALongSolve) {
  if (GetParam().canonical != id::Cg) GTEST_SKIP() << "the recurrences of " << id::Cg;
  System system = rowsHidden(systemWithRightHandSide(grid2d(20, 20)));
  system.preconditioner = hiddenDiagonal(system.b->getMap(), 1);
  system.x->putScalar(1);
  solve(GetParam(), strict(), system, Side::Right);  // from here on no residual of a guess is taken for b
  for (const double tolerance : {1e-1, 1e-8}) {
    system.x->putScalar(1);
    Params p = strict();
    p.set("Convergence Tolerance", tolerance);
    const Outcome outcome = solve(GetParam(), p, system, Side::Right);
    ASSERT_TRUE(outcome.converged) << toString(outcome.report.reason);
    const bool isLong = outcome.iterations > tuning::cg::measuredSteps;
    EXPECT_EQ(isLong, tolerance < 1e-2) << outcome.iterations;
    const long n = outcome.iterations;
    EXPECT_EQ(outcome.report.preconditionerApplications, isLong ? n + 1 : n);
    EXPECT_EQ(outcome.report.operatorApplications, n + 2);
    EXPECT_EQ(outcome.report.reductionsBlocking, isLong ? n + 2 : n + 1);
  }
}

TEST_P(CgTypes, HandOverToGmresWhereTheyCannotGoOn) {
  // (p, A p) = 0 in the first step.
  const auto a = matrixFrom(evenMap(20), [](GO g) { return std::vector<Entry>{{g % 2 == 0 ? g + 1 : g - 1, 1}}; });
  const System system = systemWithRightHandSide(a, [](GO g) { return g == 0 ? 1.0 : 0.0; });
  const Outcome outcome = solve(GetParam(), strict(), system);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_TRUE(mentions(told(outcome, "fallback"), "CAPSTAN GMRES, restart 20"));
  EXPECT_TRUE(mentions(told(outcome, "fallback"), "vectors more"));
  Params none = strict();
  none.set("Fallback", "none");
  system.x->putScalar(0);
  const Outcome stopped = solve(GetParam(), none, system);
  EXPECT_FALSE(stopped.converged);
  EXPECT_EQ(stopped.report.reason, StopReason::Breakdown);
  EXPECT_TRUE(told(stopped, "fallback").empty());
}

// The second solve brings a left preconditioner too: the scratch between the two was missing.
TEST_P(CgTypes, HandOverAgainWithOneMorePreconditioner) {
  const auto a = matrixFrom(evenMap(20), [](GO g) { return std::vector<Entry>{{g % 2 == 0 ? g + 1 : g - 1, 1}}; });
  const System system = systemWithRightHandSide(a, [](GO g) { return g == 0 ? 1.0 : 0.0; });
  const auto solver = solverOf(GetParam());
  EXPECT_FALSE(told(solve(*solver, system, Side::Right), "fallback").empty());
  const auto problem = problemOf(system, Side::Right);
  problem->setLeftPrec(system.preconditioner);
  system.x->putScalar(0);
  problem->setProblem();
  solver->setProblem(problem);
  EXPECT_EQ(solver->solve(), Belos::Converged);
  const auto& events = reportOf(*solver).events;
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const auto& event) { return event.kind == "fallback"; }));
}

TEST_P(CgTypes, ScaleByThePreconditionedInitialResidualWhereAsked) {
  System system = systemWithRightHandSide(grid2d(30, 30));
  system.preconditioner = rcp(new FunctionOperator(
      system.b->getMap(), [](const MultiVector& in, MultiVector& out) { out.update(1e-4, in, 0); }));
  for (const char* key : {"Implicit Residual Scaling", "Explicit Residual Scaling"}) {
    SCOPED_TRACE(key);
    Params p = strict();
    p.set("Convergence Tolerance", 1e-6);
    p.set(key, "Norm of Preconditioned Initial Residual");
    system.x->putScalar(0);
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), p, system, Side::Left);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(relativeResidual(system, *guess), 1e-4 * 1e-6 * (1 + 1e-6));
  }
}

/// M_L^{-1} of the whole residual: that of the rows that are solved first too, and however small it is.
TEST_P(CgTypes, ScaleByThePreconditionedInitialResidualAsItIs) {
  for (const double size : {1.0, 1e-200}) {
    SCOPED_TRACE(size);
    const auto a = pinned(8);
    System system = systemWithRightHandSide(a, [=](GO g) { return size * (g == 0 ? 5.0 : wave(g)); });
    system.preconditioner = grid2d(64, 1);  // spreads what the pinned row holds
    Params p = strict();
    p.set("Residual Scaling", "Norm of Preconditioned Initial Residual");
    MultiVector native(system.b->getMap(), 1);
    system.preconditioner->apply(*system.b, native);
    const Outcome outcome = solve(GetParam(), p, system, Side::Left);
    EXPECT_NEAR(outcome.report.rightHandSides[0].scale / norms(native)[0], 1, 1e-10);
    EXPECT_NEAR(outcome.achieved * outcome.report.rightHandSides[0].scale, residualNorms(system, *system.x)[0],
                1e-6 * residualNorms(system, *system.x)[0]);
  }
}

/// A guess that is far larger than the solution leaves nothing of it in x + r / a.
TEST_P(CgTypes, SolveADiagonalRowToTheLastDigitWhateverTheGuess) {
  for (const double size : {1e-10, 1e-70}) {
    SCOPED_TRACE(size);
    const auto a = diagonal([](GO g) { return g == 0 ? Scalar(2) : Scalar(0); }, 10);
    const System system = systemWithRightHandSide(a, [=](GO g) { return g == 0 ? size : 0.0; });
    system.x->putScalar(0.7);
    Params p = strict();
    p.set("Convergence Tolerance", 1e-3 * size);
    const Outcome outcome = solve(GetParam(), p, system);
    EXPECT_TRUE(outcome.converged);
    EXPECT_EQ(outcome.achieved, 0);
    EXPECT_EQ(residualNorms(system, *system.x)[0], 0);
  }
}

/// What is told is told of b - A x, the rows that are solved first included.
TEST_P(CgTypes, CountWhatIsLeftOfTheRowsSolvedFirst) {
  const auto a = diagonal([](GO g) { return static_cast<Scalar>(41 + g % 10); }, 50);
  const System system = systemWithRightHandSide(a, [](GO) { return 1.0; });
  system.x->putScalar(0.3);
  const Outcome outcome = solve(GetParam(), strict(), system);
  EXPECT_TRUE(outcome.converged);
  const double norm = residualNorms(system, *system.x)[0];
  EXPECT_GT(norm, 0);  // 49 (1 / 49) is not 1 in this arithmetic
  EXPECT_NEAR(outcome.achieved * outcome.report.rightHandSides[0].scale, norm, 1e-6 * norm);
}

/// Fails unless the residual told is that of x.
void expectToldOfX(const Outcome& outcome, const System& system) {
  const double norm = residualNorms(system, *system.x)[0];
  const double rounding = norms(*residualRounding(system))[0];
  EXPECT_NEAR(outcome.achieved * outcome.report.rightHandSides[0].scale, norm, 1e-6 * norm + rounding)
      << toString(outcome.report.reason) << " after " << outcome.iterations;
}

/// x is another one once the diagonal rows are solved.
TEST_P(CgTypes, TellTheResidualOfXWhereTheyCannotTakeAStep) {
  System system = systemWithRightHandSide(pinned(6), [](GO g) { return g == 0 ? 5.0 : wave(g); });
  system.preconditioner = diagonal([](GO) { return 1e200; }, 36);
  expectToldOfX(solve(GetParam(), strict(), system, Side::Right), system);
  Params none = strict();
  none.set("Fallback", "none");
  const auto zero = diagonal([](GO g) { return g == 0 ? Scalar(1) : Scalar(0); }, 10);
  const System singular = systemWithRightHandSide(zero);
  expectToldOfX(solve(GetParam(), none, singular), singular);
}

TEST_P(CgTypes, TellTheResidualOfXWhereThePreconditionerFails) {
  for (int k = 0; k < 60; ++k) {  // beyond those that estimate bounds of the spectrum
    SCOPED_TRACE(k);
    System system = systemWithRightHandSide(grid2d(6, 6));
    const auto seen = std::make_shared<int>(0);
    system.preconditioner = rcp(new FunctionOperator(system.b->getMap(), [=](const MultiVector& in, MultiVector& out) {
      out.update((*seen)++ < k ? 1 : std::numeric_limits<double>::quiet_NaN(), in, 0);
    }));
    Params p = strict();
    p.set("Residual Replacement", "every 1");
    if (GetParam().canonical == id::PipelinedCg) p.set("Pipeline Depth", 1 + k % 5);
    expectToldOfX(solve(GetParam(), p, system, Side::Right), system);
  }
}

TEST_P(CgTypes, LeaveAFiniteIterateWhereTheSolutionOverflows) {
  const auto scaledBy = [](Scalar factor) {
    auto a = grid2d(8, 8);
    a->resumeFill();
    a->scale(factor);
    a->fillComplete();
    return a;
  };
  System tiny = systemWithRightHandSide(scaledBy(1e-300));
  tiny.b->scale(1e10);
  System far = systemWithRightHandSide(grid2d(8, 8), [](GO) { return 0.0; });
  far.x->putScalar(1e306);
  for (const System& system : {tiny, far, rowsHidden(tiny)}) {
    const Outcome outcome = solve(GetParam(), strict(), system);
    EXPECT_TRUE(allFinite(*system.x));
    expectSameOnAllRanks(outcome);
    if (outcome.converged) continue;
    // What is told is told of the x that is there.
    const double norm = residualNorms(system, *system.x)[0] / outcome.report.rightHandSides[0].scale;
    if (std::isfinite(norm) && std::isfinite(outcome.achieved)) {
      EXPECT_NEAR(outcome.achieved, norm, 1e-6 * norm);
    }
  }
}

/// Four damped sweeps of Jacobi: symmetric, positive definite, and strong enough for short solves.
RCP<const Operator> sweeps(const RCP<CrsMatrix>& a, const std::shared_ptr<int>& applications) {
  return rcp(new FunctionOperator(a->getDomainMap(), [=](const MultiVector& in, MultiVector& out) {
    ++*applications;
    out.update(0.24, in, 0);
    MultiVector r(in.getMap(), in.getNumVectors());
    for (int k = 1; k < 4; ++k) {
      a->apply(out, r);
      r.update(1, in, -1);
      out.update(0.24, r, 1);
    }
  }));
}

TEST_P(CgTypes, SpendNoPreconditionerInShortSolves) {
  const auto applications = std::make_shared<int>(0);
  const auto a = grid2d(40, 40);
  System system = systemWithRightHandSide(a, [](GO g) { return g % 3 == 0 ? 1.0 : 0.5; });
  system.preconditioner = sweeps(a, applications);
  Params p;
  p.set("Convergence Tolerance", 1e-2);
  const auto solver = solverOf(GetParam(), p);
  for (int k = 0; k < 4; ++k) {
    system.x->putScalar(0);
    *applications = 0;
    const Outcome outcome = solve(*solver, system, Side::Right);
    EXPECT_TRUE(outcome.converged);
    EXPECT_EQ(outcome.report.preconditionerApplications, *applications);
    const int depth = GetParam().canonical == id::PipelinedCg ? 1 : 0;
    if (k > 0) {
      EXPECT_LE(*applications, outcome.iterations + 1 + (depth > 0 ? depth + 2 : 0)) << outcome.iterations;
      EXPECT_TRUE(told(outcome, "restart").empty());
    }
  }
}

/// A, and M near it: M^-1 A has the eigenvalues 1 and 1e6, each spread by 3e-9, and a part with 1e6 times the entries
/// is spread by 3e-6. (r, M^-1 r) first grows, so that p is much longer than z. In the second step it falls by 1e-17,
/// (r, r) by 1e-13 only.
class NearlyInverted {
 public:
  /// Diagonal, each row its own.
  static System diagonal(double phase) {
    System system = systemWithRightHandSide(made(size, 0), rightHandSide(phase));
    const auto m = made([](GO i) { return 1 / inverse(i); }, 0);
    const auto diagonal = Teuchos::rcp_const_cast<Operator>(jacobi(*m));
    diagonal->setObjectLabel(R"("Ifpack2::Diagonal")");  // known by that
    system.preconditioner = diagonal;
    return rowsHidden(system);
  }
  /// Rows that are far away from each other in pairs; M^-1 is a matrix.
  static System coupled(double phase) {
    System system = systemWithRightHandSide(made(size, 0.5), rightHandSide(phase));
    system.preconditioner = made([](GO i) { return inverse(i) / 0.75; }, -0.5);
    return system;
  }

 private:
  static constexpr GO half = 200;
  static bool isStiff(GO i) { return i % 10 == 6; }
  static double eigenvalue(GO i) { return i % 10 == 3 ? 1e6 : 1; }
  static double size(GO i) { return (1 + static_cast<double>(i) / half) * (isStiff(i) ? 1e6 : 1); }
  static double inverse(GO i) {
    const double spread = (isStiff(i) ? 3e-6 : 3e-9) * std::sin(1.0 + static_cast<double>(i * i % 17));
    return eigenvalue(i) * (1 + spread) / size(i);
  }
  static RCP<CrsMatrix> made(const std::function<double(GO)>& entry, double other) {
    return matrixFrom(evenMap(2 * half), [&](GO g) {
      std::vector<Entry> row{{g, entry(g % half)}};
      if (other != 0) row.push_back({(g + half) % (2 * half), other * entry(g % half)});
      return row;
    });
  }
  static std::function<Scalar(GO)> rightHandSide(double phase) {
    return [phase](GO g) {
      const GO i = g % half;
      const double part = isStiff(i) ? 1 : (eigenvalue(i) > 1 ? 3e-3 : 1) / std::sqrt(inverse(i));
      return part * (1 + 0.3 * std::cos(static_cast<double>(g) + phase));
    };
  }
};

// A beta predicted from terms that cancel is rounding: directions are no longer conjugate where p is long.
TEST_P(CgTypes, TakeNoBetaThatHasCancelled) {
  const bool embedded = GetParam().canonical == id::EmbeddedCg;
  if (!embedded && GetParam().canonical != id::Cg) GTEST_SKIP() << "predicts no beta";
  constexpr int phases = 8;
  for (const bool coupled : {false, true}) {
    // Where M is more than a diagonal, CAPSTAN CG measures beta in the first steps.
    if (coupled && !embedded) continue;
    double ratio = 1;
    for (int phase = 0; phase < phases; ++phase) {
      const System system = coupled ? NearlyInverted::coupled(phase) : NearlyInverted::diagonal(phase);
      Params p = strict();
      p.set("Convergence Tolerance", 0.0);
      p.set("Maximum Iterations", 4);
      const Outcome outcome = solve(GetParam(), p, system, Side::Right);
      // z and p travel once where they are carried.
      EXPECT_EQ(outcome.report.reductionsBlocking, 4 + 1 + (coupled ? 1 : 0));
      const auto x = textbook(*system.a, system.preconditioner.get(), *system.b, 4);
      const double own = residualNorms(system, *system.x)[0], expected = residualNorms(system, *x)[0];
      ratio *= own / expected;
      expectSameOnAllRanks(outcome);
    }
    // The predicted beta leaves 20 to 40 times.
    EXPECT_LE(std::pow(ratio, 1.0 / phases), onCpus ? 6 : 8) << "of Hestenes and Stiefel's residual";
  }
}

// Dirichlet values by a penalty of 1e30: |b| is 1e30, and the inside, of size 1, is rounding of b - A x. The first step
// leaves nothing of the predicted norm, which is no claim.
TEST_P(CgTypes, SolveTheInsideBehindAPenalty) {
  constexpr GO n = 20;
  const auto isBoundary = [](GO g) { return g % n == 0 || g % n == n - 1 || g < n || g >= n * n - n; };
  const auto grid = [&](double boundary) {
    return matrixFrom(evenMap(n * n), [=](GO g) {
      std::vector<Entry> row{{g, isBoundary(g) ? boundary : 4}};
      for (const GO h : {g - n, g - 1, g + 1, g + n}) {
        const bool isNeighbour = h >= 0 && h < n * n && (h / n == g / n || h % n == g % n);
        if (isNeighbour && (boundary > 1 || (!isBoundary(g) && !isBoundary(h)))) row.push_back({h, -1});
      }
      return row;
    });
  };
  const auto value = [](GO g) { return 1 + std::sin(static_cast<double>(g)); };
  const auto penalized = grid(1e30);
  System penalty = systemWithRightHandSide(penalized, [=](GO g) { return isBoundary(g) ? 1e30 * value(g) : 1.0; });
  penalty.preconditioner = jacobi(*penalized);
  // The same with the values of the boundary on the right-hand side.
  const System eliminated = systemWithRightHandSide(grid(1), [=](GO g) {
    double rhs = 1;
    for (const GO h : {g - n, g - 1, g + 1, g + n}) rhs += isBoundary(h) ? value(h) : 0;
    return isBoundary(g) ? value(g) : rhs;
  });
  Params p = strict();
  p.set("Convergence Tolerance", 1e-12);
  ASSERT_TRUE(solve(methodOf(id::Gmres), p, eliminated).converged);
  p.set("Convergence Tolerance", 1e-8);
  p.set("Implicit Residual Scaling", "Norm of Preconditioned Initial Residual");
  const Outcome outcome = solve(GetParam(), p, penalty, Side::Left);
  const auto reason = outcome.report.reason;
  EXPECT_TRUE(outcome.converged || reason == StopReason::AttainableAccuracy) << toString(reason);
  MultiVector difference(*penalty.x, Teuchos::Copy);
  difference.update(-1, *eliminated.x, 1);
  EXPECT_LE(norms(difference)[0], 1e-6 * norms(*eliminated.x)[0]) << outcome.iterations;
  expectSameOnAllRanks(outcome);
}

// D L D with Jacobi is L with Jacobi, whatever D is: a residual that grows by D is no divergence.
TEST_P(CgTypes, TakeNoScalingOfRowsForDivergence) {
  constexpr GO n = 400;
  const auto laplacian = grid2d(20, 20);
  const auto size = [](GO g) { return g < n / 2 ? 1.0 : 1e10; };
  const auto scaled = matrixFrom(evenMap(n), [=](GO g) {
    std::vector<Entry> row{{g, 4 * size(g) * size(g)}};
    for (const GO h : {g - 20, g - 1, g + 1, g + 20}) {
      if (h >= 0 && h < n && (h / 20 == g / 20 || h % 20 == g % 20)) row.push_back({h, -size(g) * size(h)});
    }
    return row;
  });
  System system = systemWithRightHandSide(scaled, [](GO g) { return g < 20 ? 1.0 : 0.0; });
  system.preconditioner = jacobi(*scaled);
  Params p = strict();
  p.set("Convergence Tolerance", 1e-4);
  const Outcome outcome = solve(GetParam(), p, system, Side::Left);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason) << " after " << outcome.iterations;
  EXPECT_LE(outcome.iterations, 90);
  EXPECT_TRUE(told(outcome, "indefinite").empty() && told(outcome, "fallback").empty()) << outcome.iterations;
}

/// Says what Ifpack2 says of its scaling by a diagonal.
RCP<const Operator> known(const RCP<const Map>& map, std::function<Scalar(GO)> inverse) {
  const auto m = rcp(new FunctionOperator(map, [map, inverse](const MultiVector& in, MultiVector& out) {
    for (size_t j = 0; j < in.getNumVectors(); ++j) {
      const auto x = in.getData(j);
      for (int i = 0; i < static_cast<int>(in.getLocalLength()); ++i) {
        out.replaceLocalValue(i, j, inverse(map->getGlobalElement(i)) * x[i]);
      }
    }
  }));
  m->setObjectLabel(R"("Ifpack2::Diagonal")");
  return m;
}

/// Keeps another operator's description to itself.
RCP<const Operator> hidden(const RCP<const Operator>& m) {
  return rcp(
      new FunctionOperator(m->getDomainMap(), [m](const MultiVector& in, MultiVector& out) { m->apply(in, out); }));
}

// z = M^{-1} r and t = M^{-1} s are not stored, and M is applied once.
TEST(CgOfADiagonal, TakesTheStepsOfAnyOtherM) {
  const auto a = grid2d(37, 29);
  for (const size_t columns : {1, 3}) {
    for (const Side side : {Side::Left, Side::Right}) {
      System system = systemWithRightHandSide(
          a, [](GO g) { return std::cos(0.3 * static_cast<double>(g * g)); }, columns);
      system.preconditioner = known(a->getRowMap(), [](GO g) { return 1 + 0.9 * std::sin(static_cast<double>(g)); });
      const auto guess = copyOf(*system.x);
      const Outcome outcome = solve(methodOf(id::Cg), strict(), system, side);
      EXPECT_TRUE(outcome.converged);
      EXPECT_LE(relativeResidual(system, *guess), 1e-8 * (1 + 1e-6));
      EXPECT_LE(outcome.report.preconditionerApplications, 2) << "once more where ranks begin anew";
      system.x->putScalar(0);
      system.preconditioner = hidden(system.preconditioner);
      const Outcome other = solve(methodOf(id::Cg), strict(), system, side);
      EXPECT_TRUE(other.converged);
      EXPECT_NEAR(outcome.iterations, other.iterations, 2);
      expectSameOnAllRanks(outcome);
    }
  }
}

// M^{-1} b is almost a constant, which A annihilates: from there on z and t are stored, without their constants.
TEST(CgOfADiagonal, StoresWhatItMakesWhereConstantsAreTakenOut) {
  constexpr GO n = 20;
  const auto a = matrixFrom(evenMap(n * n), [](GO g) { return neumannRow(g, n, n); });
  const auto sign = [](GO g) { return g % 2 == 0 ? 1.0 : -1.0; };
  Params p = strict();
  p.set("Maximum Iterations", 20);
  std::vector<double> residuals;
  for (const bool isHidden : {false, true}) {
    System system = systemWithRightHandSide(
        a, [=](GO g) { return 1e5 * sign(g) + std::cos(0.7 * static_cast<double>(g / 2 % n)) * sign(g / n); });
    system.preconditioner = known(a->getRowMap(), sign);
    if (isHidden) system.preconditioner = hidden(system.preconditioner);
    const Outcome outcome = solve(methodOf(id::Cg), p, system, Side::Right);
    EXPECT_TRUE(mentions(told(outcome, "null space"), "projected out"));
    EXPECT_EQ(outcome.iterations, 20);
    residuals.push_back(outcome.report.history.empty() ? residualNorms(system, *system.x)[0]
                                                       : outcome.report.history.back().residual);
    expectSameOnAllRanks(outcome);
  }
  EXPECT_NEAR(residuals[0], residuals[1], 1e-3 * residuals[1]);
}

// A NaN of M ends the solve as any other does, and leaves the guess.
TEST(CgOfADiagonal, MayHoldNaN) {
  System system = systemWithRightHandSide(grid2d(12, 12));
  system.preconditioner =
      known(system.b->getMap(), [](GO g) { return g == 77 ? std::numeric_limits<double>::quiet_NaN() : 0.25; });
  const Outcome outcome = solve(methodOf(id::Cg), strict(), system, Side::Right);
  EXPECT_FALSE(outcome.converged);
  EXPECT_EQ(outcome.report.reason, StopReason::NonFinite);
  EXPECT_EQ(norms(*system.x)[0], 0);
  expectSameOnAllRanks(outcome);
}

// Rows that hold a diagonal alone are solved first. A is not symmetric: GMRES goes on from the guess, where they are
// not.
TEST_P(CgTypes, LeaveRowsToGmresThatItBeginsWith) {
  constexpr GO n = 20;
  const auto a = matrixFrom(evenMap(n * n), [](GO g) {
    if (g == 0) return std::vector<Entry>{{0, 1}};
    std::vector<Entry> row{{g, 4}};
    if (g % n > 0) row.push_back({g - 1, -1.9});
    if (g % n + 1 < n) row.push_back({g + 1, -0.1});
    if (g >= n) row.push_back({g - n, -1.9});
    if (g + n < n * n) row.push_back({g + n, -0.1});
    return row;
  });
  for (const double first : {0.0, 50.0}) {
    for (const Side side : {Side::Left, Side::Right}) {
      const System system = systemWithRightHandSide(a, [=](GO g) { return g == 0 ? first : std::sin(1.7 * g * g); });
      const auto guess = copyOf(*system.x);
      const Outcome outcome = solve(GetParam(), strict(), system, side);
      EXPECT_TRUE(outcome.converged) << first << ", " << toString(outcome.report.reason) << ' ' << outcome.iterations;
      EXPECT_LE(relativeResidual(system, *guess), 1e-8 * (1 + 1e-6));
    }
  }
}

CAPSTAN_FOR_EVERY_SOLVER(CgTypes);

}  // namespace
}  // namespace capstan::testing
