/// \file
/// One solver object for systems that live on different communicators.

#include <limits>
#include <vector>

#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

class Reuse : public EverySolver {};

RCP<const Teuchos::Comm<int>> group(int color) { return Tpetra::getDefaultComm()->split(color, rank()); }

/// Few distinct eigenvalues: the Krylov space is exhausted early, and the fallbacks after a breakdown have
/// their turn.
System exhausted(const RCP<const Teuchos::Comm<int>>& comm) {
  return systemWithRightHandSide(diagonal([](GO g) { return static_cast<Scalar>(1 + g % 3); }, 40, evenMap(40, comm)));
}

TEST_P(Reuse, MovesFromOneCommunicatorToAnother) {
  Params p;
  p.set("State Cache", false);
  const auto solver = solverOf(GetParam(), p);
  const auto world = Tpetra::getDefaultComm();
  // All, halves, other halves (of the same size on four ranks), alone, all.
  for (const auto& comm : {world, group(rank() / 2), group(rank() % 2), group(rank()), world}) {
    for (const bool early : {true, false}) {
      const System system = early ? exhausted(comm) : systemWithRightHandSide(grid2d(9, 9, 0, evenMap(81, comm)));
      const auto guess = copyOf(*system.x);
      const Outcome outcome = solve(*solver, system, Side::Right);
      EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
      EXPECT_LE(relativeResidual(system, *guess), 1.001e-8);
    }
  }
}

// Each rank alone has solved another system, so that the ranks would tell different things.
TEST_P(Reuse, ASolveWithoutAnIterationReportsNothingOfTheOneBefore) {
  Params p;
  p.set("State Cache", false);
  const auto alone = group(rank());
  for (const Scalar b : {Scalar(0), std::numeric_limits<Scalar>::quiet_NaN()}) {
    const auto solver = solverOf(GetParam(), p);
    const int n = 5 + 4 * rank();
    EXPECT_TRUE(solve(*solver, systemWithRightHandSide(grid2d(n, n, 0, evenMap(n * n, alone))), Side::None).converged);
    const auto solveNext = [&](auto& by) {
      return solve(by, systemWithRightHandSide(grid2d(9, 9), [b](GO) { return b; }), Side::None);
    };
    Outcome used = solveNext(*solver);
    Outcome fresh = solveNext(*solverOf(GetParam(), p));
    EXPECT_EQ(used.iterations, 0);
    used.report.system = fresh.report.system;
    EXPECT_EQ(bitsOf(sharedNumbers(used)), bitsOf(sharedNumbers(fresh)));
  }
}

/// Systems alike in all but their labels learn nothing from one another.
// No panel of few independent vectors makes the user's interval one of an earlier solve.
TEST(ReuseOfBounds, ThoseOfTheUserStayFromSolveToSolve) {
  StateCache::instance().clear();
  const auto a = matrixFrom(evenMap(100), [](GO g) {
    return std::vector<Entry>{{g, static_cast<Scalar>(1 + g % 12)}};
  });
  Params p;
  p.set("Basis", "chebyshev");
  p.set("Eigenvalue Bounds", "[1, 12]");
  p.set("Step Size", 20);
  const auto solver = solverOf(methodOf(id::SStepGmres), p);
  System system = systemWithRightHandSide(a);
  system.preconditioner = Teuchos::null;
  for (int k = 0; k < 3; ++k) {
    system.x->putScalar(0);
    const Outcome outcome = solve(*solver, system);
    EXPECT_TRUE(outcome.converged);
    EXPECT_TRUE(told(outcome, "shifts").empty()) << "solve " << k;
  }
}

TEST_P(Reuse, StateIsKeptForEachLabel) {
  StateCache& cache = StateCache::instance();
  cache.clear();
  std::vector<std::size_t> entries;
  for (const char* label : {"pressure", "momentum", "pressure"}) {
    const auto a = grid2d(9, 9);
    a->setObjectLabel(label);
    EXPECT_TRUE(solve(*solverOf(GetParam(), Params()), systemWithRightHandSide(a), Side::None).converged) << label;
    entries.push_back(cache.size());
  }
  EXPECT_GT(entries[0], 0U);
  EXPECT_GT(entries[1], entries[0]);
  EXPECT_EQ(entries[2], entries[1]) << "the first label again";
  cache.clear();
}

CAPSTAN_FOR_EVERY_SOLVER(Reuse);

}  // namespace
}  // namespace capstan::testing
