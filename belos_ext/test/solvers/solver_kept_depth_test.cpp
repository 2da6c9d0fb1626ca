/// \file
/// A pipeline that has failed is not tried again in the next solves, as long as the matrix has the same values.

#include <iostream>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/ifpack2_preconditioner.hpp"
#include "belos_ext/test/solvers/real_matrices.hpp"
#include "belos_ext/test/support/methods.hpp"

namespace capstan::testing {
namespace {

Outcome run(const std::string& method, int depth, const System& system, Side side) {
  Params p;
  p.set("Convergence Tolerance", 1e-8);
  p.set("Maximum Iterations", 1000);
  if (depth > 0) p.set("Pipeline Depth", depth);
  if (methodOf(method).takes("Num Blocks")) p.set("Num Blocks", 300);
  system.x->putScalar(0);
  Outcome outcome = solve(methodOf(method), p, system, side);
  EXPECT_TRUE(outcome.converged);
  expectSameOnAllRanks(outcome);
  return outcome;
}

struct Case {
  const char *matrix, *preconditioner, *method, *classical;
  int depth;
  int solves;  ///< until the depth is found that works
};

class KeptDepth : public ::testing::TestWithParam<Case> {};

bool remembered(const Outcome& outcome) { return mentions(outcome.report.events, "as in an earlier solve"); }

TEST_P(KeptDepth, IsTriedAgainOnlyWhereTheMatrixHasChanged) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  const Case c = GetParam();
  System system = systemFrom(c.matrix);
  const auto a = Teuchos::rcp_const_cast<CrsMatrix>(Teuchos::rcp_dynamic_cast<const CrsMatrix>(system.a));
  system.preconditioner = ifpack2Preconditioner(a, c.preconditioner);
  system.b = vectorFrom(a->getRangeMap(), [](GO g) { return std::sin(1e4 * static_cast<double>(g * g % 7919 + g)); });
  const Side side = std::string(c.method).find("GMRES") != std::string::npos ? Side::Right : Side::Left;
  StateCache::instance().clear();
  const int classical = run(c.classical, 0, system, side).iterations;
  for (int k = 0; k < c.solves + 3; ++k) {
    const Outcome outcome = run(c.method, c.depth, system, side);
    if (rank() == 0) std::cout << outcome.iterations << " iterations, " << c.classical << ' ' << classical << '\n';
    if (k < c.solves) continue;
    EXPECT_LE(outcome.iterations, classical + 1) << "solve " << k;
    EXPECT_TRUE(remembered(outcome)) << "solve " << k;
  }
  a->resumeFill();
  a->scale(1.25);
  a->fillComplete();
  EXPECT_FALSE(remembered(run(c.method, c.depth, system, side)));
}

INSTANTIATE_TEST_SUITE_P(RealMatrices, KeptDepth,
                         ::testing::Values(Case{"nos7", "riluk", "CAPSTAN CG PIPELINE", "CAPSTAN CG", 1, 1},
                                           Case{"nos7", "riluk", "CAPSTAN CG PIPELINE", "CAPSTAN CG", 3, 1},
                                           Case{"opm_spe1", "riluk", "CAPSTAN GMRES PIPELINE", "CAPSTAN GMRES", 2, 3}));

}  // namespace
}  // namespace capstan::testing
