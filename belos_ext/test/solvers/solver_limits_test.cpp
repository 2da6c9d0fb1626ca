/// \file
/// A restart length that no solve can use up, a least number of iterations, and operators that change between solves.

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

class RestartLength : public EverySolver {};

TEST_P(RestartLength, TakesMemoryForWhatASolveCanUse) {
  if (!isGmres(GetParam())) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  for (int blocks : {200000, std::numeric_limits<int>::max()}) {
    for (const char* scheme : {"single-reduce cgs2", "mgs", "two-stage", "sketched"}) {
      if (!takesOrthogonalization(GetParam(), scheme)) continue;
      SCOPED_TRACE(std::to_string(blocks) + ", " + scheme);
      Params p;
      p.set("Num Blocks", blocks);
      p.set("Block Orthogonalization", scheme);
      const System few = systemWithRightHandSide(grid2d(10, 10, 0.2));
      EXPECT_TRUE(solve(GetParam(), p, few).converged) << "as many as there are equations";
      p.set("Maximum Iterations", 60);
      const System many = systemWithRightHandSide(grid2d(40, 40, 0.2));
      EXPECT_LE(solve(GetParam(), p, many).iterations, 60) << "as many as there may be iterations";
    }
  }
}

/// Also where a pipelined cycle breaks down at once and another form begins anew.
TEST_P(RestartLength, AndRestartsLimitTheIterations) {
  if (!isGmres(GetParam())) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  for (const Scalar wind : {0.3, 5.0}) {
    for (const int steps : {0, 10}) {
      if (steps > 0 && !getsStepSize(GetParam())) continue;
      for (const int restarts : {0, 1, 2}) {
        for (const int most : {6, 39, 61}) {
          SCOPED_TRACE(std::to_string(wind) + ", " + std::to_string(steps) + ", " + std::to_string(restarts) + ", " +
                       std::to_string(most));
          StateCache::instance().clear();
          const int blocks = 20, allowed = blocks * (restarts + 1);
          Params p;
          p.set("Num Blocks", blocks);
          p.set("Maximum Restarts", restarts);
          p.set("Maximum Iterations", most);
          p.set("Convergence Tolerance", 1e-14);
          if (steps > 0) p.set("Step Size", steps);
          const SolveReport report = solve(GetParam(), p, systemWithRightHandSide(grid2d(30, 30, wind))).report;
          EXPECT_LE(report.iterations, std::min(most, allowed));
          // A pipelined cycle that breaks down, and has gained something, ends before its length.
          const int least = isPipelined(GetParam()) ? 1 : std::min(most, allowed);
          EXPECT_GE(report.iterations, least);
          EXPECT_EQ(report.reason, report.iterations == most ? StopReason::MaxIterations : StopReason::MaxRestarts);
        }
      }
    }
  }
}

class LeastIterations : public EverySolver {
 protected:
  /// Scales by || b ||, so that the tolerance may be met at the start.
  static Outcome solveWith(int least, const System& system) {
    Params p;
    p.set("Convergence Tolerance", 1e-2);
    p.set("Implicit Residual Scaling", "Norm of RHS");
    p.set("Explicit Residual Scaling", "Norm of RHS");
    const auto solver = solverOf(GetParam(), p);
    dynamic_cast<ReportingSolver&>(*solver).setMinimumIterations(least);
    return solve(*solver, system, Side::Right);
  }

  /// The solution is known, and x is as far from it as `error` says.
  static System near(Scalar error) {
    System system = systemWithSolution(grid2d(12, 12));
    const auto exact = vectorFrom(system.a->getDomainMap(), wave);
    const auto rest = vectorFrom(system.a->getDomainMap(), [](GO g) { return static_cast<Scalar>(g % 5) - 2; });
    system.x->update(1, *exact, error, *rest, 0);
    return system;
  }
};

TEST_P(LeastIterations, AreMadeThoughTheToleranceIsMet) {
  const System far = systemWithRightHandSide(grid2d(12, 12));
  const Outcome soon = solveWith(0, far);
  const int asked = soon.iterations + 3;
  far.x->putScalar(0);
  const Outcome later = solveWith(asked, far);
  EXPECT_TRUE(later.converged);
  EXPECT_GE(later.iterations, asked);
  EXPECT_LE(later.iterations, asked + 8) << "no more than a panel beyond";
  EXPECT_LE(later.report.trueResidual, 1e-2);
}

TEST_P(LeastIterations, AreNotAskedForWhereThereIsNoResidual) {
  System solved = systemWithRightHandSide(grid2d(12, 12), [](GO) { return Scalar(0); });
  const Outcome outcome = solveWith(3, solved);
  EXPECT_TRUE(outcome.converged);
  EXPECT_EQ(outcome.iterations, 0);
}

TEST_P(LeastIterations, EndWhereOnlyRoundingIsLeft) {
  for (const Scalar error : {Scalar(0), Scalar(1e-15), Scalar(1e-4)}) {
    SCOPED_TRACE(error);
    const System system = near(error);
    const Outcome outcome = solveWith(2, system);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(outcome.iterations, 10);
    EXPECT_LE(outcome.report.trueResidual, 1e-2);
    EXPECT_TRUE(allFinite(*system.x));
  }
}

// Such a row is solved first, and the rest judged again, before there is an iteration.
TEST_P(LeastIterations, AreMadeWhereARowHoldsADiagonalAlone) {
  const auto a = matrixFrom(evenMap(100), [](GO g) {
    std::vector<Entry> row{{g, g == 0 ? 1.0 : 2.5}};
    if (g > 1) row.push_back({g - 1, -1.0});
    if (g > 0 && g < 99) row.push_back({g + 1, -1.0});
    return row;
  });
  System system = systemWithSolution(a);
  const auto exact = vectorFrom(a->getDomainMap(), wave);
  system.x->update(1, *exact, 1e-4,
                   *vectorFrom(a->getDomainMap(), [](GO g) { return 1.0 + static_cast<Scalar>(g % 3); }), 0);
  const Outcome outcome = solveWith(2, system);
  EXPECT_TRUE(outcome.converged);
  EXPECT_GE(outcome.iterations, 2);
}

std::string eventsOf(const Outcome& outcome) {
  std::string text = std::to_string(outcome.iterations) + " iterations\n";
  for (const ReportEvent& e : outcome.report.events) {
    text += std::to_string(e.iteration) + ' ' + e.kind + ": " + e.detail + '\n';
  }
  return text;
}

class ChangedOperator : public EverySolver {
 protected:
  void SetUp() override { StateCache::instance().clear(); }
  void TearDown() override { StateCache::instance().clear(); }

  static System scaledBy(Scalar factor) {
    const auto root = [=](GO) { return std::sqrt(factor); };
    return systemWithRightHandSide(scaledLaplacian(24, root), [=](GO g) { return factor * wave(g); });
  }
};

TEST_P(ChangedOperator, CostsIterationsOnceAtMost) {
  const auto solveScaled = [](Scalar factor, bool cached, int depth) {
    Params p;
    p.set("State Cache", cached);
    if (isPipelined(GetParam())) p.set("Pipeline Depth", depth);
    return solve(GetParam(), p, scaledBy(factor));
  };
  for (int depth : {1, 2}) {
    if (depth > 1 && !isPipelined(GetParam())) continue;
    SCOPED_TRACE("depth " + std::to_string(depth));
    StateCache::instance().clear();
    solveScaled(1, true, depth);
    for (Scalar factor : {1e-6, 1.0, 1e-2, 1e2}) {
      SCOPED_TRACE("factor " + std::to_string(factor));
      const Outcome fresh = solveScaled(factor, false, depth);
      const Outcome changed = solveScaled(factor, true, depth);
      EXPECT_TRUE(changed.converged);
      SCOPED_TRACE("just changed: " + eventsOf(changed));
      const Outcome later = solveScaled(factor, true, depth);
      EXPECT_TRUE(later.converged);
      EXPECT_LE(later.iterations, fresh.iterations + fresh.iterations / 20 + 2) << eventsOf(later);
      EXPECT_TRUE(told(solveScaled(factor, true, depth), "eigenvalue bounds").empty()) << "bounds that fit are kept";
    }
  }
}

TEST_P(ChangedOperator, IsNotSeenInARightHandSideThatHidesPartOfTheSpectrum) {
  if (!isPipelined(GetParam())) GTEST_SKIP() << GetParam().canonical << " has no bounds";
  const GO n = 30;
  const auto a = grid2d(n, n);
  const auto smooth = [=](GO g) {
    Scalar sum = 0;
    for (int k = 1; k <= 6; ++k) {
      sum += std::sin(M_PI * k * static_cast<double>(g % n + 1) / static_cast<double>(n + 1)) *
             std::sin(M_PI * (7 - k) * static_cast<double>(g / n + 1) / static_cast<double>(n + 1)) / k;
    }
    return sum;
  };
  std::vector<Outcome> outcomes;
  for (int k = 0; k < 4; ++k) outcomes.push_back(solve(GetParam(), Params(), systemWithRightHandSide(a, smooth)));
  EXPECT_TRUE(told(outcomes[3], "eigenvalue bounds").empty()) << "estimated anew at most once";
}

CAPSTAN_FOR_EVERY_SOLVER(RestartLength);
CAPSTAN_FOR_EVERY_SOLVER(LeastIterations);
CAPSTAN_FOR_EVERY_SOLVER(ChangedOperator);

}  // namespace
}  // namespace capstan::testing
