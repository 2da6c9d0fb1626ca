/// \file
/// Preconditioners that take A in between (SplitPreconditioner): every method solves the split system, and all that is
/// said of it is true of A x = b.

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "belos_ext/guess/guess_order.hpp"
#include "belos_ext/guess/guess_store.hpp"
#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/operators/split_preconditioner.hpp"

namespace capstan::testing {
namespace {

/// M_L = M_R = S for a diagonal S > 0, so that M = S^2.
class SplitDiagonal final : public Operator, public SplitPreconditioner<Types> {
 public:
  /// \param s entries of S, n x 1
  SplitDiagonal(RCP<const Operator> a, RCP<const MultiVector> s) : a_(std::move(a)), s_(std::move(s)) {
    inverse_ = rcp(new Tpetra::Vector<Scalar>(s_->getMap()));
    inverse_->reciprocal(*s_);
  }

  bool active = true;
  mutable int split = 0, whole = 0, timesRight = 0;  ///< applications so far

  RCP<const Map> getDomainMap() const override { return s_->getMap(); }
  RCP<const Map> getRangeMap() const override { return s_->getMap(); }
  void apply(const MultiVector& r, MultiVector& z, Teuchos::ETransp, Scalar, Scalar) const override {
    ++whole;
    multiply(*inverse_, r, z);
    multiply(*inverse_, MultiVector(z, Teuchos::Copy), z);
  }
  bool splits() const override { return active; }
  void applySplit(const MultiVector& v, MultiVector& w) const override {
    ++split;
    MultiVector u(v.getMap(), v.getNumVectors()), image(v.getMap(), v.getNumVectors());
    multiply(*inverse_, v, u);
    a_->apply(u, image);
    multiply(*inverse_, image, w);
  }
  void applyLeftPart(const MultiVector& r, MultiVector& z) const override { multiply(*inverse_, r, z); }
  void applyRightPart(const MultiVector& u, MultiVector& d) const override { multiply(*inverse_, u, d); }
  void multiplyRightPart(const MultiVector& d, MultiVector& u) const override {
    ++timesRight;
    multiply(*s_, d, u);
  }
  double absoluteSum(const MultiVector& z) const override {
    const auto ours = s_->getLocalViewHost(Tpetra::Access::ReadOnly);
    const auto values = z.getLocalViewHost(Tpetra::Access::ReadOnly);
    double sum = 0;
    for (std::size_t i = 0; i < values.extent(0); ++i) sum += std::abs(ours(i, 0) * values(i, 0));
    return sum;
  }

 private:
  static void multiply(const MultiVector& diagonal, const MultiVector& in, MultiVector& out) {
    out.elementWiseMultiply(1, *diagonal.getVector(0), in, 0);
  }
  RCP<const Operator> a_;
  RCP<const MultiVector> s_;
  RCP<Tpetra::Vector<Scalar>> inverse_;
};

/// Norms of residuals differ by up to 1e6 between the two systems, row by row.
Scalar scaleOf(GO g) { return std::pow(10.0, static_cast<double>(g % 7) - 3); }

struct SplitSystemOf {
  System system;
  RCP<SplitDiagonal> preconditioner;
};

SplitSystemOf scaledSystem(GO n = 25) {
  const auto a = scaledLaplacian(n, scaleOf);
  SplitSystemOf made{systemWithSolution(a, [](GO g) { return wave(g) / scaleOf(g); }), Teuchos::null};
  const auto s = vectorFrom(a->getRangeMap(), [](GO g) { return 2 * scaleOf(g); });
  made.preconditioner = rcp(new SplitDiagonal(a, s));
  made.system.preconditioner = made.preconditioner;
  return made;
}

Params inOneNorm(double tolerance = 1e-6) {
  Params p;
  p.set("Residual Norm", "OneNorm");
  p.set("Convergence Tolerance", tolerance);
  p.set("Implicit Residual Scaling", "Norm of Initial Residual");
  return p;
}

class Splits : public EverySolver {
 protected:
  void SetUp() override {
    StateCache::instance().clear();
    GuessStore::instance().clear();
  }
};
CAPSTAN_FOR_EVERY_SOLVER(Splits);

TEST_P(Splits, MeetTheToleranceOfTheApplicationsResidual) {
  const auto [system, preconditioner] = scaledSystem();
  const double first = norm1(*system.b);
  const auto solver = solverOf(GetParam(), inOneNorm());
  for (int k = 0; k < 3; ++k) {  // later solves know the ratio of the two norms
    system.x->putScalar(0);
    preconditioner->split = preconditioner->whole = 0;
    const Outcome outcome = solve(*solver, system, Side::Right);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    const double attained = norm1(*residualOf(system)) / first;
    EXPECT_LE(attained, 1e-6 * (1 + 1e-6));
    EXPECT_NEAR(outcome.achieved, attained, 1e-3 * 1e-6);
    EXPECT_GT(preconditioner->split, 0);
    EXPECT_EQ(preconditioner->whole, 0);
    EXPECT_GE(outcome.report.preconditionerApplications, preconditioner->split);
    expectSameOnAllRanks(outcome);
  }
}

TEST_P(Splits, GoOnFromAGuess) {
  const auto [system, preconditioner] = scaledSystem();
  const auto solution = copyOf(*system.x);
  ASSERT_TRUE(solve(GetParam(), inOneNorm(1e-10), system, Side::Right).converged);
  system.x->scale(1 - 1e-4);
  StateCache::instance().clear();
  const double first = norm1(*residualOf(system));
  const Outcome outcome = solve(GetParam(), inOneNorm(1e-3), system, Side::Right);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_LE(norm1(*residualOf(system)), 1e-3 * (1 + 1e-6) * first);
}

/// The guess is large and good, so that b - A x is all rounding near the tolerance, and its 1-norm to the 2-norm that
/// the method follows changes from step to step. A claim that comes early there leaves CG with a residual that its
/// direction does not fit.
TEST_P(Splits, EndWhereTheResidualFallsNoFurther) {
  const auto a = scaledLaplacian(25, scaleOf);
  const auto s = vectorFrom(a->getRangeMap(), [](GO g) { return 2 * scaleOf(g); });
  const auto guess = [](GO g) { return 1e6 * wave(g) / scaleOf(g); };
  for (double tolerance = 7e-10; tolerance > 1e-10; tolerance *= 0.9) {
    StateCache::instance().clear();
    System system = systemWithSolution(a, [&](GO g) { return guess(g) + wave(3 * g) / scaleOf(g); });
    system.preconditioner = rcp(new SplitDiagonal(a, s));
    system.x->update(1, *vectorFrom(system.x->getMap(), guess), 0);
    const double first = norm1(*residualOf(system));
    auto p = inOneNorm(tolerance);
    p.set("Maximum Iterations", 3000);
    const Outcome outcome = solve(GetParam(), p, system, Side::Right);
    EXPECT_LE(outcome.iterations, 150) << tolerance << ' ' << toString(outcome.report.reason);
    EXPECT_LE(norm1(*residualOf(system)), 1e-8 * first) << tolerance;
    expectSameOnAllRanks(outcome);
  }
}

/// The product with M_R may send messages: a rank cannot leave it out where its own part of x is zero.
TEST_P(Splits, ApplyTheSamePartsOnAllRanks) {
  const auto [system, preconditioner] = scaledSystem();
  GuessOrders::forget(system.x->getMap()->getComm());
  for (int k = 0; k < 4; ++k) {
    SCOPED_TRACE(k);
    system.x->putScalar(k == 1 || (k == 2 && rank() == ranks() - 1) ? 1 : 0);
    preconditioner->timesRight = 0;
    EXPECT_TRUE(solve(GetParam(), inOneNorm(), system, Side::Right).converged);
    expectSameOnAllRanks(std::vector<double>{static_cast<double>(preconditioner->timesRight)});
  }
}

TEST_P(Splits, BeginWithWhatEarlierSolvesHaveLeft) {
  const auto [system, preconditioner] = scaledSystem();
  Params p = inOneNorm();
  p.set("Initial Guess", "projection 5");
  const auto solver = solverOf(GetParam(), p);
  const auto b = copyOf(*system.b);
  int first = 0;
  for (int k = 0; k < 6; ++k) {
    system.x->putScalar(0);
    system.b->update(1 + 0.1 * k, *b, 0);
    const Outcome outcome = solve(*solver, system, Side::Right);
    EXPECT_TRUE(outcome.converged) << "solve " << k << ": " << toString(outcome.report.reason);
    EXPECT_LE(norm1(*residualOf(system)), 1e-6 * (1 + 1e-6) * norm1(*system.b)) << "solve " << k;
    EXPECT_TRUE(told(outcome, "initial guess").empty() || k == 0) << "solve " << k;
    if (k == 0) first = outcome.iterations;
    if (k > 1) {
      EXPECT_LE(outcome.iterations, 1 + first / 4) << "solve " << k;
    }
    expectSameOnAllRanks(outcome);
  }
}

TEST_P(Splits, ReturnWhatTheyReportWhereTheLimitEndsThem) {
  const auto [system, preconditioner] = scaledSystem();
  for (const int limit : {0, 1, 4, 13}) {
    Params p = inOneNorm(1e-12);
    p.set("Maximum Iterations", limit);
    system.x->update(0.5, *vectorFrom(system.b->getMap(), wave), 0);
    const double first = norm1(*residualOf(system));
    const Outcome outcome = solve(GetParam(), p, system, Side::Right);
    EXPECT_FALSE(outcome.converged);
    const double attained = norm1(*residualOf(system)) / first;
    EXPECT_NEAR(outcome.achieved, attained, 1e-6 * attained) << "limit " << limit;
    expectSameOnAllRanks(outcome);
  }
}

TEST_P(Splits, EndAlikeWhereAMakesNaN) {
  const auto [good, preconditioner] = scaledSystem();
  System system = good;
  const auto products = std::make_shared<int>(0);
  const auto a = good.a;
  system.a = rcp(new FunctionOperator(a->getRangeMap(), [a, products](const MultiVector& in, MultiVector& out) {
    a->apply(in, out);
    if (++*products > 7) out.putScalar(std::numeric_limits<Scalar>::quiet_NaN());
  }));
  system.preconditioner =
      rcp(new SplitDiagonal(system.a, vectorFrom(a->getRangeMap(), [](GO g) { return 2 * scaleOf(g); })));
  const Outcome outcome = solve(GetParam(), inOneNorm(), system, Side::Right);
  EXPECT_FALSE(outcome.converged);
  EXPECT_TRUE(allFinite(*system.x));
  expectSameOnAllRanks(outcome);
}

TEST_P(Splits, AreNotUsedWhereTheToleranceIsMeantInTheMethodsNorm) {
  const auto [system, preconditioner] = scaledSystem();
  Params p;
  p.set("Convergence Tolerance", 1e-6);
  const auto solver = solverOf(GetParam(), p);
  // Before the ranks have agreed, zeros may be split: in the first solve, and where it is known that guesses are zero.
  for (int known = 0; known < 3; ++known) {
    const int before = preconditioner->split;
    system.x->putScalar(0);
    EXPECT_TRUE(solve(*solver, system, Side::Right).converged);
    EXPECT_LE(preconditioner->split, before + (known < 2 ? 1 : 0));
  }
  EXPECT_GT(preconditioner->whole, 0);
}

TEST_P(Splits, AreNotUsedWhereTheyMayNotBe) {
  const auto [system, preconditioner] = scaledSystem();
  preconditioner->active = false;
  const Outcome outcome = solve(GetParam(), inOneNorm(), system, Side::Right);
  EXPECT_TRUE(outcome.converged);
  EXPECT_EQ(preconditioner->split, 0);
}

TEST_P(Splits, ForgetTheRatioOfNormsWhereTheyBeginAndEnd) {
  const auto [system, preconditioner] = scaledSystem();
  const auto solver = solverOf(GetParam(), inOneNorm());
  std::vector<int> iterations;
  for (const bool active : {true, false, true, false}) {
    preconditioner->active = active;
    system.x->putScalar(0);
    const Outcome outcome = solve(*solver, system, Side::Right);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    iterations.push_back(outcome.iterations);
  }
  // With the ratio of the other one a solve goes on for digits, or claims what is far away.
  EXPECT_NEAR(iterations[2], iterations[0], 1 + iterations[0] / 10);
  EXPECT_NEAR(iterations[3], iterations[1], 1 + iterations[1] / 10);
}

TEST_P(Splits, LeaveNothingToRightHandSidesThatAdvanceTogether) {
  const auto [single, preconditioner] = scaledSystem();
  System several = systemWithRightHandSide(scaledLaplacian(25, scaleOf), wave, 2);
  several.preconditioner = preconditioner;
  const auto fresh = solverOf(GetParam(), inOneNorm()), used = solverOf(GetParam(), inOneNorm());
  const Outcome expected = solve(*fresh, several, Side::Right);
  ASSERT_TRUE(solve(*used, single, Side::Right).converged);
  StateCache::instance().clear();
  several.x->putScalar(0);
  const Outcome outcome = solve(*used, several, Side::Right);
  EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
  EXPECT_EQ(outcome.iterations, expected.iterations);
}

/// In exact arithmetic the iterates are those of CG with M.
TEST(SplitCg, TakesAsManyIterationsAsWithTheWholePreconditioner) {
  const auto [system, preconditioner] = scaledSystem();
  const MethodTraits& cg = methodOf(id::Cg);
  StateCache::instance().clear();
  const Outcome split = solve(cg, inOneNorm(1e-8), system, Side::Right);
  system.x->putScalar(0);
  preconditioner->active = false;
  StateCache::instance().clear();
  const Outcome whole = solve(cg, inOneNorm(1e-8), system, Side::Right);
  EXPECT_NEAR(split.iterations, whole.iterations, 2);
  EXPECT_LE(split.report.reductionsBlocking, split.iterations + 4);
  EXPECT_EQ(split.report.operatorsBeyond, 1) << "the residual at the end";
}

}  // namespace
}  // namespace capstan::testing
