/// \file
/// A restart length that no solve can use up, and operators that change between solves.

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

class RestartLength : public EverySolver {};

TEST_P(RestartLength, TakesMemoryForWhatASolveCanUse) {
  if (!isGmres(GetParam())) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  for (int blocks : {200000, std::numeric_limits<int>::max()}) {
    for (const char* scheme : {"single-reduce cgs2", "mgs", "two-stage"}) {
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
CAPSTAN_FOR_EVERY_SOLVER(ChangedOperator);

}  // namespace
}  // namespace capstan::testing
