/// \file
/// S-step GMRES with a preconditioner that rounds its products far more than by eps.

#include <cmath>
#include <cstdio>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

/// Grcar's matrix, 200 x 200: far from normal, and well conditioned. Its preconditioner does nothing but to round to 53
/// - bits - 1 bits.
System rounded(int bits) {
  constexpr GO n = 200;
  System system = systemWithRightHandSide(matrixFrom(evenMap(n), [](GO g) {
    std::vector<Entry> row{{g, 1}};
    if (g > 0) row.push_back({g - 1, -1});
    for (GO k = 1; k <= 3 && g + k < n; ++k) row.push_back({g + k, 1});
    return row;
  }));
  const double factor = std::ldexp(1.0, bits) + 1;
  system.preconditioner =
      rcp(new FunctionOperator(system.b->getMap(), [factor](const MultiVector& in, MultiVector& out) {
        out.assign(in);
        for (std::size_t c = 0; c < out.getNumVectors(); ++c) {
          for (Scalar& entry : out.getDataNonConst(c)) {
            const Scalar scaled = factor * entry;
            entry = scaled - (scaled - entry);
          }
        }
      }));
  return system;
}

Params longCycle() {
  Params p;
  p.set("Num Blocks", 200);
  return p;
}

std::vector<ReportEvent> steps(const Outcome& outcome) { return told(outcome, "step size"); }
constexpr const char* found = "products are rounded by more than panels bear";

/// Products of panels that were cut.
long lostToCuts(const Outcome& outcome) {
  long lost = 0;
  for (const ReportEvent& event : steps(outcome)) {
    int kept = 0, made = 0;
    if (std::sscanf(event.detail.c_str(), "%d of %d steps", &kept, &made) == 2) lost += made - kept;
  }
  return lost;
}

/// Whatever the scheme, what is left of the space after columns are taken back is one to go on from.
TEST(RoughProducts, TakeBackColumnsAndGoOnInTheSameSpace) {
  StateCache::instance().clear();
  const Outcome gmres = solve(methodOf(id::Gmres), longCycle(), rounded(12), Side::Right);
  ASSERT_TRUE(gmres.converged);
  for (const char* scheme : {"cgs2", "mgs", "pip2", "two-stage", "sketched"}) {
    SCOPED_TRACE(scheme);
    StateCache::instance().clear();
    Params p = longCycle();
    p.set("Block Orthogonalization", scheme);
    const Outcome outcome = solve(methodOf(id::SStepGmres), p, rounded(12), Side::Right);
    EXPECT_TRUE(outcome.converged);
    EXPECT_TRUE(mentions(steps(outcome), found));
    EXPECT_TRUE(mentions(steps(outcome), "columns are kept"));
    EXPECT_EQ(outcome.report.restarts, 0) << "no claim was refuted";
    EXPECT_LE(outcome.iterations, gmres.iterations + 16);
    expectSameOnAllRanks(outcome);
  }
}

/// Products that are rounded as any are looked at once for a label, and cost what they did from then on.
TEST(RoughProducts, AreLookedForOnce) {
  StateCache::instance().clear();
  const auto solver = solverOf(methodOf(id::SStepGmres), longCycle());
  std::vector<long> beyond;
  for (int k = 0; k < 3; ++k) {
    const Outcome outcome = solve(*solver, rounded(0), Side::Right);
    EXPECT_TRUE(outcome.converged);
    EXPECT_FALSE(mentions(steps(outcome), found));
    beyond.push_back(outcome.report.preconditionerApplications - outcome.iterations - lostToCuts(outcome));
    expectSameOnAllRanks(outcome);
  }
  EXPECT_LE(beyond[0], beyond[2] + 1);
  EXPECT_EQ(beyond[1], beyond[2]);
  EXPECT_TRUE(mentions(steps(solve(*solver, rounded(0), Side::Right)), "exact enough")) << "nothing to look at";
}

}  // namespace
}  // namespace capstan::testing
