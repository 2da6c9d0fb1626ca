/// \file
/// Applications of the preconditioner in sequences of short solves, as CFD codes have them atop multigrid: there a
/// V-cycle costs more than all else in an iteration.

#include <cmath>

#include "belos_ext/manager/problem_key.hpp"
#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/short_solves.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

struct Sequence {
  std::vector<int> iterations;
  std::vector<long> preconditioners;
};

/// Solves one after the other, each by a solver of its own and with another right-hand side.
Sequence sequence(const MethodTraits& method, const Params& parameters, int solves) {
  const auto a = grid2d(40, 40, isCg(method) ? 0.0 : 0.1);
  Sequence seen;
  for (int k = 0; k < solves; ++k) {
    System system = systemWithRightHandSide(a, [k](GO g) { return wave(g) + 0.3 * std::sin(0.7 * (k + 1) * g); });
    system.preconditioner = strong(a, 8, 12);
    const Outcome outcome = solve(*solverOf(method, parameters), system, Side::Right);
    EXPECT_TRUE(outcome.converged);
    seen.iterations.push_back(outcome.iterations);
    seen.preconditioners.push_back(outcome.report.preconditionerApplications);
    expectAccount(method, outcome.report);
    if (rank() == 0) {
      std::cout << method.canonical << ": " << outcome.iterations << " iterations, "
                << outcome.report.preconditionerApplications << " of M, " << outcome.report.operatorApplications
                << " of A, " << outcome.report.reductionsBlocking + outcome.report.reductionsNonblocking
                << " reductions\n";
    }
  }
  return seen;
}

class Applications : public EverySolver {};

TEST_P(Applications, OfThePreconditionerAreHardlyMoreThanIterations) {
  StateCache::instance().clear();
  Params p;
  p.set("Solver Name", "pressure");
  const Sequence seen = sequence(GetParam(), p, 6);
  const bool bicgstab = GetParam().family == Family::BiCgStab;
  const long each = bicgstab ? 2 : 1, ahead = !isPipelined(GetParam()) ? 0 : getsStepSize(GetParam()) ? 3 : 1;
  long sum = 0;
  for (std::size_t k = 0; k < seen.iterations.size(); ++k) {
    const long wasted = seen.preconditioners[k] - each * seen.iterations[k];
    if (GetParam().canonical == id::Cg) {
      EXPECT_EQ(wasted, 0);
    }
    if (k == 0) {
      EXPECT_LE(wasted, 2 + ahead);
    } else {
      sum += wasted;
    }
  }
  EXPECT_LE(sum, (ahead > 1 ? 2 : 1) * static_cast<long>(seen.iterations.size() - 1));
}

// x_n needs no M^{-1} of the n-th product, at any depth.
TEST_P(Applications, OfAPipelineAreAsManyAsIterationsWhereTheEndIsForeseen) {
  if (GetParam().canonical != id::PipelinedCg) GTEST_SKIP() << "the recurrences of " << id::PipelinedCg;
  for (const int depth : {1, 2, 3}) {
    SCOPED_TRACE(depth);
    StateCache::instance().clear();
    Params p;
    p.set("Pipeline Depth", depth);
    const Sequence seen = sequence(GetParam(), p, 5);
    for (std::size_t k = 1; k < seen.iterations.size(); ++k) {
      const bool foreseen = k > 1 && seen.iterations[k] == seen.iterations[0];
      EXPECT_LE(seen.preconditioners[k] - seen.iterations[k], foreseen ? 0 : 1) << k;
    }
  }
}

// Earlier solves were shorter: what is left is done without the pipeline.
TEST_P(Applications, AreNotLostWhereASolveTakesLongerThanAllBeforeIt) {
  if (!isPipelined(GetParam())) GTEST_SKIP() << "only pipelines end ahead of the test";
  const auto a = grid2d(40, 40, isCg(GetParam()) ? 0.0 : 0.1);
  const auto solveTo = [&](double tolerance, bool cached) {
    Params p;
    p.set("State Cache", cached);
    p.set("Convergence Tolerance", tolerance);
    System system = systemWithRightHandSide(a, [](GO g) { return wave(g); });
    system.preconditioner = strong(a, 8, 12);
    const Outcome outcome = solve(*solverOf(GetParam(), p), system, Side::Right);
    EXPECT_TRUE(outcome.converged);
    return outcome;
  };
  const Outcome alone = solveTo(1e-10, false);
  for (const double earlier : {1e-2, 1e-5, 1e-9}) {
    SCOPED_TRACE(earlier);
    StateCache::instance().clear();
    for (int k = 0; k < 2; ++k) solveTo(earlier, true);
    const Outcome outcome = solveTo(1e-10, true);
    EXPECT_LE(outcome.iterations, alone.iterations + 2);
    EXPECT_LE(outcome.report.preconditionerApplications, alone.report.preconditionerApplications + 3);
  }
}

// The end of the cycle and that of the solve come near each other: no product is made beyond either.
TEST_P(Applications, EndWithShortCyclesToo) {
  if (!isGmres(GetParam())) GTEST_SKIP() << "only GMRES restarts";
  const auto a = grid2d(9, 3);
  for (int length = 2; length <= 9; ++length) {
    for (int depth : {1, 3, 25}) {
      SCOPED_TRACE(std::to_string(length) + ", depth " + std::to_string(depth));
      StateCache::instance().clear();
      Params p;
      p.set("Num Blocks", length);
      if (isPipelined(GetParam())) p.set("Pipeline Depth", depth);
      p.set("Maximum Iterations", 300);
      for (int k = 0; k < 3; ++k) {
        const System system = systemWithRightHandSide(a, [k](GO g) { return std::cos(0.3 * (k + 1) * g); });
        EXPECT_TRUE(solve(*solverOf(GetParam(), p), system, Side::Right).converged);
      }
    }
  }
}

TEST_P(Applications, AreAsManyAsIterationsWhereThePreconditionedBasisIsKept) {
  if (!GetParam().takes("Keep Preconditioned Basis")) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  StateCache::instance().clear();
  for (const char* keep : {"auto", "on", "off"}) {
    Params p;
    p.set("State Cache", false);
    p.set("Keep Preconditioned Basis", keep);
    const bool kept = keep != std::string("off");
    const Sequence seen = sequence(GetParam(), p, 1);
    EXPECT_EQ(seen.preconditioners[0] - seen.iterations[0], (kept ? 0 : 1) + (GetParam().canonical == id::SStepGmres))
        << keep;
  }
}

// A monomial basis is too ill-conditioned for Z c: M decides once the residual does not bear it out.
TEST_P(Applications, OfTheBasisAreMadeAgainWhereTheKeptOneIsNotGoodEnough) {
  if (GetParam().canonical != id::SStepGmres) GTEST_SKIP() << "panels are well-conditioned in " << GetParam().canonical;
  Params p;
  p.set("State Cache", false);
  p.set("Basis", "monomial");
  p.set("Step Size", 12);
  p.set("Convergence Tolerance", 1e-13);
  const System system = systemWithRightHandSide(grid2d(30, 30));
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(*solverOf(GetParam(), p), system, Side::Right);
  EXPECT_TRUE(outcome.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-13 * (1 + 1e-6));
}

// Ifpack2's Jacobi says what it is; a product too many is then cheaper than a shorter panel's reduction.
TEST_P(Applications, OfADiagonalMayBeMoreThanReductionsFewer) {
  if (GetParam().canonical != id::SStepGmres) GTEST_SKIP() << "panels are " << id::SStepGmres << "'s";
  std::vector<long> reductions, applications;
  for (const bool told : {false, true}) {
    StateCache::instance().clear();
    const auto a = grid2d(30, 30);
    long ofSolves = 0, ofM = 0;
    for (int k = 0; k < 3; ++k) {
      System system = systemWithRightHandSide(a, [k](GO g) { return wave(g) + 0.3 * std::sin(0.7 * (k + 1) * g); });
      const auto diagonal = system.preconditioner;
      const auto apply = [diagonal](const MultiVector& in, MultiVector& out) { diagonal->apply(in, out); };
      const auto same = rcp(new FunctionOperator(a->getRowMap(), apply));
      if (told) same->setObjectLabel(R"("Ifpack2::Diagonal")");
      system.preconditioner = same;
      Params p;
      p.set("Step Size", 8);
      const Outcome outcome = solve(*solverOf(GetParam(), p), system, Side::Right);
      EXPECT_TRUE(outcome.converged);
      ofSolves += outcome.report.reductionsBlocking;
      ofM += outcome.report.preconditionerApplications - outcome.iterations;
    }
    reductions.push_back(ofSolves);
    applications.push_back(ofM);
  }
  EXPECT_LE(applications[0], 6);
  EXPECT_LE(reductions[1], reductions[0]);
}

TEST(ProblemKey, TellsTheSystemsOfAnApplicationApart) {
  const auto a = grid2d(6, 5);
  const auto keyOf = [](const System& system, Side side, const std::string& label = "",
                        const std::string& method = id::Gmres,
                        int number = 1) { return problemKey<Types>(method, label, *problemOf(system, side), number); };
  const System one = systemWithRightHandSide(a);
  System other = one, two = one, noneAtAll = one;
  other.preconditioner = strong(a, 8, 2);
  two.x = rcp(new MultiVector(a->getRowMap(), 2));
  two.b = rcp(new MultiVector(a->getRowMap(), 2));
  const StateKey key = keyOf(one, Side::Right);
  EXPECT_EQ(key, keyOf(systemWithRightHandSide(grid2d(6, 5)), Side::Right)) << "the same made anew";
  EXPECT_FALSE(key == keyOf(one, Side::Left));
  EXPECT_FALSE(key == keyOf(one, Side::None));
  EXPECT_FALSE(key == keyOf(two, Side::Right)) << "momentum and pressure";
  EXPECT_FALSE(key == keyOf(systemWithRightHandSide(grid2d(10, 3)), Side::Right)) << "as many rows, other entries";
  EXPECT_FALSE(key == keyOf(one, Side::Right, "p"));
  EXPECT_FALSE(key == keyOf(one, Side::Right, "", id::SStepGmres));
  other.preconditioner = rcp(new FunctionOperator(a->getRowMap(), [](const MultiVector&, MultiVector&) {}));
  const StateKey unnamed = keyOf(other, Side::Right);
  const auto named = rcp(new FunctionOperator(a->getRowMap(), [](const MultiVector&, MultiVector&) {}));
  named->setObjectLabel("GAMG");
  other.preconditioner = named;
  EXPECT_FALSE(unnamed == keyOf(other, Side::Right)) << "of one type, but with another name";
  EXPECT_FALSE(key == keyOf(one, Side::Right, "", id::Gmres, 2)) << "alike in all, but another one";
  EXPECT_EQ(keyOf(one, Side::Right, "p", id::Gmres, 1), keyOf(one, Side::Right, "p", id::Gmres, 2));
}

// Two transport equations of an application, neither of which has a name: what one solve has learnt is not the other's.
TEST(ProblemKey, KeepsApartWhatTwoSystemsThatAreAlikeTeach) {
  StateCache::instance().clear();
  const auto first = grid2d(20, 20), second = grid2d(20, 20, 0.0);
  const auto startOf = [](const RCP<CrsMatrix>& a) {
    const auto solver = solverOf(*findMethod(id::PipelinedCg), Params());
    return solve(*solver, systemWithRightHandSide(a), Side::None).report.operatorsAtStart;
  };
  EXPECT_GT(startOf(first), 10) << "bounds of the spectrum";
  EXPECT_LT(startOf(first), 4);
  EXPECT_GT(startOf(second), 10) << "another matrix";
  EXPECT_LT(startOf(first), 4);
  EXPECT_LT(startOf(second), 4);
}

CAPSTAN_FOR_EVERY_SOLVER(Applications);

}  // namespace
}  // namespace capstan::testing
