/// \file
/// Several right-hand sides at once, other distributions of the same system, and preconditioners that change.

#include <Teuchos_DefaultSerialComm.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class RightHandSides : public EverySolver {};

RCP<CrsMatrix> matrixFor(const MethodTraits& name) { return grid2d(16, 16, isCg(name) ? 0.0 : 0.3); }

System column(const System& all, size_t c) {
  System one = all;
  one.b = rcp(new MultiVector(*all.b->getVector(c), Teuchos::Copy));
  one.x = rcp(new MultiVector(all.x->getMap(), 1));
  return one;
}

long reductions(const Outcome& outcome) {
  return outcome.report.reductionsBlocking + outcome.report.reductionsNonblocking;
}

double difference(const MultiVector& x, const MultiVector& y) {
  MultiVector d(x, Teuchos::Copy);
  d.update(-1, y, 1);
  return norms(d)[0] / norms(y)[0];
}

TEST_P(RightHandSides, EachIsSolvedAsIfItWereAlone) {
  for (Side side : {Side::None, Side::Left, Side::Right}) {
    for (size_t count : {size_t(2), size_t(3), size_t(5)}) {
      SCOPED_TRACE(toString(side) + ", " + std::to_string(count));
      Params p;
      p.set("State Cache", false);
      const System all = systemWithRightHandSide(matrixFor(GetParam()), wave, count);
      const Outcome together = solve(GetParam(), p, all, side);
      EXPECT_TRUE(together.converged);
      ASSERT_EQ(together.report.rightHandSides.size(), count);
      long slowest = 0, sum = 0;
      int iterations = 0;
      for (size_t c = 0; c < count; ++c) {
        const System one = column(all, c);
        const Outcome alone = solve(GetParam(), p, one, side);
        EXPECT_LE(std::abs(together.report.rightHandSides[c].iterations - alone.iterations), 1);
        EXPECT_LE(difference(*all.x->getVector(c), *one.x), 1e-6);
        slowest = std::max(slowest, reductions(alone));
        sum += reductions(alone);
        iterations = std::max(iterations, alone.iterations);
      }
      EXPECT_LE(std::abs(together.iterations - iterations), 1);
      EXPECT_LE(reductions(together), slowest + (isPipelined(GetParam()) ? 8 : 4));
      EXPECT_LT(reductions(together), sum);
      expectSameOnAllRanks(together);
    }
  }
}

TEST_P(RightHandSides, BlockSizeLimitsHowManyAdvanceTogether) {
  Params p;
  p.set("State Cache", false);
  const System all = systemWithRightHandSide(matrixFor(GetParam()), wave, 3);
  const Outcome together = solve(GetParam(), p, all);
  all.x->putScalar(0);
  p.set("Block Size", 1);
  const Outcome separate = solve(GetParam(), p, all);
  EXPECT_TRUE(separate.converged);
  EXPECT_EQ(separate.iterations, together.iterations);
  EXPECT_GT(reductions(separate), 2 * reductions(together));
  EXPECT_EQ(together.report.iterationsInTurn, together.iterations);
  int sum = 0;
  for (const RightHandSideReport& one : separate.report.rightHandSides) sum += one.iterations;
  EXPECT_EQ(separate.report.iterationsInTurn, sum);
  EXPECT_GT(sum, separate.iterations);
  p.set("Block Size", 2);
  all.x->putScalar(0);
  const SolveReport pairs = solve(GetParam(), p, all).report;
  const auto& c = pairs.rightHandSides;
  EXPECT_EQ(pairs.iterationsInTurn, std::max(c[0].iterations, c[1].iterations) + c[2].iterations);
}

/// Applications of each set of right-hand sides are those of its start, of its iterations, and those beyond.
TEST_P(RightHandSides, AccountForTheirApplications) {
  for (const Side side : {Side::None, Side::Left, Side::Right}) {
    for (const int together : {0, 1, 2}) {
      SCOPED_TRACE(toString(side) + ", Block Size " + std::to_string(together));
      Params p;
      p.set("State Cache", false);
      if (together > 0) p.set("Block Size", together);
      const SolveReport report =
          solve(GetParam(), p, systemWithRightHandSide(matrixFor(GetParam()), wave, 3), side).report;
      const int sets = together == 0 ? 1 : 3 / together + 3 % together;
      // The last iteration of BiCGStab may be half a one.
      const int half = GetParam().family == Family::BiCgStab ? sets : 0;
      EXPECT_GE(report.operatorsBeyond, -half);
      EXPECT_GE(report.preconditionersBeyond, -half);
      if (side == Side::None) {
        EXPECT_EQ(report.preconditionerApplications, 0);
        EXPECT_EQ(report.preconditionersAtStart, 0);
        EXPECT_EQ(report.preconditionersBeyond, 0);
      }
      // What each set needs to begin; a pipeline without state estimates the spectrum.
      EXPECT_GE(report.operatorsAtStart, 0);
      EXPECT_LE(report.operatorsAtStart, sets * (isPipelined(GetParam()) ? 20 : 2));
    }
  }
}

/// Column 0 ordinary, 1 zero, 2 an eigenvector (solved at once), 3 with a NaN, 4 ordinary.
TEST_P(RightHandSides, OneThatFailsOrEndsEarlyDoesNotTouchTheOthers) {
  for (Side side : {Side::None, Side::Right}) {
    const System all = systemWithRightHandSide(grid2d(12, 12), wave, 5);
    const auto sine = [](GO g) {
      return std::sin(M_PI * static_cast<double>(g % 12 + 1) / 13) *
             std::sin(M_PI * static_cast<double>(g / 12 + 1) / 13);
    };
    all.b->getVectorNonConst(1)->putScalar(0);
    Tpetra::deep_copy(*all.b->getVectorNonConst(2), *vectorFrom(all.b->getMap(), sine));
    if (all.b->getMap()->isNodeGlobalElement(7)) all.b->replaceGlobalValue(7, 3, nan);
    const Outcome outcome = solve(GetParam(), Params(), all, side);
    EXPECT_FALSE(outcome.converged) << "column 3 cannot be solved";
    EXPECT_EQ(outcome.report.reason, StopReason::NonFinite);
    const auto& columns = outcome.report.rightHandSides;
    ASSERT_EQ(columns.size(), 5U);
    for (size_t c : {size_t(0), size_t(1), size_t(2), size_t(4)}) {
      EXPECT_TRUE(columns[c].converged) << "column " << c;
      const System one = column(all, c);
      Tpetra::deep_copy(*one.x, *all.x->getVector(c));
      const double scale = norms(*one.b)[0];
      EXPECT_LE(residualNorms(one, *one.x)[0], 1e-8 * (scale > 0 ? scale : 1) * (1 + 1e-6));
    }
    EXPECT_EQ(columns[1].iterations, 0);
    EXPECT_LE(columns[2].iterations, 2);
    EXPECT_FALSE(columns[3].converged);
    EXPECT_EQ(norms(*all.x->getVector(3))[0], 0) << "left as it was";
    expectSameOnAllRanks(outcome);
  }
}

struct Refusal : std::runtime_error {
  Refusal() : std::runtime_error("the application's operator gave up") {}
};

TEST_P(RightHandSides, ExceptionsOfTheOperatorReachTheApplication) {
  for (size_t count : {size_t(1), size_t(3)}) {
    for (int application : {1, 4, 9}) {
      System all = systemWithRightHandSide(grid2d(12, 12), wave, count);
      auto left = std::make_shared<int>(std::numeric_limits<int>::max());
      const auto inner = all.a;
      all.a = rcp(new FunctionOperator(inner->getDomainMap(), [=](const MultiVector& in, MultiVector& out) {
        if (--*left <= 0) throw Refusal();
        inner->apply(in, out);
      }));
      all.arm = [=] { *left = application; };
      const auto solver = solverOf(GetParam());
      EXPECT_THROW(solve(*solver, all), Refusal);
      const System sound = systemWithRightHandSide(grid2d(12, 12), wave, count);
      EXPECT_TRUE(solve(*solver, sound).converged) << "the solver stays usable";
    }
  }
}

/// Rows dealt out one by one.
RCP<const Map> cyclicMap(GO rows) {
  std::vector<GO> mine;
  for (GO g = rank(); g < rows; g += ranks()) mine.push_back(g);
  return rcp(new Map(static_cast<Tpetra::global_size_t>(rows), Teuchos::ArrayView<const GO>(mine), 0,
                     Tpetra::getDefaultComm()));
}

class Distribution : public EverySolver {};

TEST_P(Distribution, DoesNotChangeTheIterates) {
  const GO n = 20;
  const Scalar wind = isCg(GetParam()) ? 0.0 : 0.3;
  const RCP<const Teuchos::Comm<int>> self = rcp(new Teuchos::SerialComm<int>);
  for (Side side : {Side::None, Side::Left, Side::Right}) {
    Params p;
    p.set("State Cache", false);
    if (isGmres(GetParam())) p.set("Num Blocks", 30);
    const System serial = systemWithRightHandSide(grid2d(n, n, wind, evenMap(n * n, self)));
    const Outcome expected = solve(GetParam(), p, serial, side);
    EXPECT_TRUE(expected.converged);
    const auto reference = serial.x->getData(0);  // every row, on every rank
    for (const auto& map : {evenMap(n * n), lastRankMap(n * n), cyclicMap(n * n)}) {
      const System system = systemWithRightHandSide(grid2d(n, n, wind, map));
      const Outcome outcome = solve(GetParam(), p, system, side);
      EXPECT_TRUE(outcome.converged);
      EXPECT_LE(std::abs(outcome.iterations - expected.iterations), 2);
      const auto x = system.x->getData(0);
      double worst = 0;
      for (Teuchos::Ordinal i = 0; i < x.size(); ++i) {
        worst = std::max(
            worst,
            std::abs(x[i] - reference[static_cast<Teuchos::Ordinal>(map->getGlobalElement(static_cast<int>(i)))]));
      }
      EXPECT_LE(worst, 1e-6);
    }
  }
}

TEST_P(Distribution, AScaledIdentityOnAnySideLeavesTheIterates) {
  Params p;
  p.set("State Cache", false);
  System system = systemWithRightHandSide(matrixFor(GetParam()));
  const auto map = system.b->getMap();
  system.preconditioner =
      rcp(new FunctionOperator(map, [](const MultiVector& in, MultiVector& out) { out.update(0.25, in, 0); }));
  const Outcome none = solve(GetParam(), p, system, Side::None);
  const auto x = copyOf(*system.x);
  for (Side side : {Side::Left, Side::Right}) {
    system.x->putScalar(0);
    const Outcome outcome = solve(GetParam(), p, system, side);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(std::abs(outcome.iterations - none.iterations), 1);
    EXPECT_LE(difference(*system.x, *x), 1e-7);
  }
}

class Flexible : public EverySolver {};

bool hasFlexibleVariant(const MethodTraits& name) { return isGmres(name) && !isPipelined(name); }

/// Damped by another factor, and through another relaxation, at every application.
System changingPreconditioner(const RCP<CrsMatrix>& a) {
  System system = systemWithRightHandSide(a);
  auto calls = std::make_shared<int>(0);
  const auto inner = system.preconditioner;
  system.preconditioner = rcp(new FunctionOperator(a->getRowMap(), [=](const MultiVector& in, MultiVector& out) {
    inner->apply(in, out);
    const int sweeps = ++*calls % 3;
    MultiVector r(in.getMap(), in.getNumVectors()), z(in.getMap(), in.getNumVectors());
    for (int i = 0; i < sweeps; ++i) {
      a->apply(out, r);
      r.update(1, in, -1);
      inner->apply(r, z);
      out.update(0.7, z, 1);
    }
  }));
  return system;
}

TEST_P(Flexible, ConvergesWithAPreconditionerThatChanges) {
  Params p;
  p.set("Flexible Gmres", true);
  if (!hasFlexibleVariant(GetParam())) {
    EXPECT_THROW(solve(GetParam(), p, changingPreconditioner(grid2d(8, 8)), Side::Right), std::invalid_argument);
    return;
  }
  for (int restart : {100, 12}) {
    p.set("Num Blocks", restart);
    const System system = changingPreconditioner(grid2d(18, 18, 0.3));
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), p, system, Side::Right);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8 * (1 + 1e-6));
    EXPECT_LE(outcome.report.restarts, outcome.iterations / restart + 1) << "claims of the recursion must hold";
    expectSameOnAllRanks(outcome);
  }
}

TEST_P(Flexible, IsTheSameMethodWithAFixedPreconditioner) {
  if (!hasFlexibleVariant(GetParam())) GTEST_SKIP() << GetParam().canonical << " has no flexible variant";
  Params p;
  p.set("State Cache", false);
  const System plain = systemWithRightHandSide(grid2d(18, 18, 0.3)),
               flexible = systemWithRightHandSide(grid2d(18, 18, 0.3));
  const Outcome expected = solve(GetParam(), p, plain, Side::Right);
  p.set("Flexible Gmres", true);
  const Outcome outcome = solve(GetParam(), p, flexible, Side::Right);
  EXPECT_LE(std::abs(outcome.iterations - expected.iterations), 1);
  EXPECT_LE(difference(*flexible.x, *plain.x), 1e-7);
}

TEST_P(Flexible, RefusesALeftPreconditioner) {
  if (!hasFlexibleVariant(GetParam())) GTEST_SKIP() << GetParam().canonical << " has no flexible variant";
  Params p;
  p.set("Flexible Gmres", true);
  EXPECT_THROW(solve(GetParam(), p, systemWithRightHandSide(grid2d(8, 8)), Side::Left), std::invalid_argument);
}

CAPSTAN_FOR_EVERY_SOLVER(RightHandSides);
CAPSTAN_FOR_EVERY_SOLVER(Distribution);
CAPSTAN_FOR_EVERY_SOLVER(Flexible);

}  // namespace
}  // namespace capstan::testing
