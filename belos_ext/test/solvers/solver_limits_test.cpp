/// \file
/// A restart length that no solve can use up.

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

CAPSTAN_FOR_EVERY_SOLVER(RestartLength);

}  // namespace
}  // namespace capstan::testing
