/// \file
/// One solver for all steps of a time integration: nothing of one step is in the way of the next.

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

constexpr GO n = 24;
constexpr double tolerance = 1e-8;

/// I + dt L, L the five-point Laplacian.
RCP<CrsMatrix> heat(Scalar dt) {
  return matrixFrom(evenMap(n * n), [dt](GO g) {
    std::vector<Entry> row = {{g, 1 + 4 * dt}};
    if (g % n > 0) row.push_back({g - 1, -dt});
    if (g % n < n - 1) row.push_back({g + 1, -dt});
    if (g >= n) row.push_back({g - n, -dt});
    if (g < n * n - n) row.push_back({g + n, -dt});
    return row;
  });
}

double difference(const MultiVector& a, const MultiVector& b) {
  const auto d = copyOf(a);
  d->update(-1, b, 1);
  return norms(*d)[0] / norms(b)[0];
}

class TimeSteps : public EverySolver {};
CAPSTAN_FOR_EVERY_SOLVER(TimeSteps);

TEST_P(TimeSteps, OfOneSolverAreThoseOfANewOne) {
  Params p;
  p.set("Convergence Tolerance", tolerance);
  for (const Side side : {Side::Left, Side::Right}) {
    SCOPED_TRACE(toString(side));
    System kept = systemWithRightHandSide(heat(0.3));
    const auto solver = solverOf(GetParam(), p);
    const auto problem = problemOf(kept, side);
    solver->setProblem(problem);
    for (int step = 0; step < 10; ++step) {
      SCOPED_TRACE(step);
      System fresh = kept;
      fresh.b = copyOf(*kept.b);
      fresh.x = copyOf(*kept.x);
      // As applications do: other vectors, with or without setProblem() taking them, and the same with other values.
      if (step % 3 < 2) kept.x = copyOf(*kept.x), kept.b = copyOf(*kept.b);
      if (step % 3 == 0) problem->setLHS(kept.x), problem->setRHS(kept.b);
      ASSERT_TRUE(step % 3 == 1 ? problem->setProblem(kept.x, kept.b) : problem->setProblem());
      EXPECT_EQ(solver->solve(), Belos::Converged);
      EXPECT_TRUE(solve(GetParam(), p, fresh, side).converged);
      EXPECT_LE(difference(*kept.x, *fresh.x), 20 * tolerance);
      Tpetra::deep_copy(*kept.b, *kept.x);
    }
  }
}

TEST_P(TimeSteps, OfOtherLengthsCostNoIterations) {
  Params p, uncached;
  p.set("Convergence Tolerance", tolerance);
  uncached = p;
  uncached.set("State Cache", false);
  const auto solver = solverOf(GetParam(), p);
  int kept = 0, anew = 0;
  System system = systemWithRightHandSide(heat(0.3));
  for (int step = 0; step < 40; ++step) {
    const Scalar dt = 0.3 * (1 + 0.2 * std::sin(7.0 * step * step));
    const System next = systemWithRightHandSide(heat(dt), [step](GO g) { return wave(g + 5 * step); });
    system.a = next.a, system.b = next.b, system.preconditioner = next.preconditioner;
    system.x->putScalar(0);
    const Outcome outcome = solve(*solver, system, Side::Right);
    EXPECT_TRUE(outcome.converged) << step;
    kept += outcome.iterations;
    system.x->putScalar(0);
    anew += solve(GetParam(), uncached, system, Side::Right).iterations;
  }
  EXPECT_LE(kept, 1.3 * anew);
}

}  // namespace
}  // namespace capstan::testing
