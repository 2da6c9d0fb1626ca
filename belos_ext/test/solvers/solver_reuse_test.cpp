/// \file
/// One solver object for systems that live on different communicators.

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

CAPSTAN_FOR_EVERY_SOLVER(Reuse);

}  // namespace
}  // namespace capstan::testing
