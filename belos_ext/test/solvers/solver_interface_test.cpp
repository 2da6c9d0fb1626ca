/// \file
/// Belos::SolverManager as an application uses it: parameters, limits, scalings, misuse, state between solves.

#include <Teuchos_TimeMonitor.hpp>
#include <cmath>
#include <map>
#include <stdexcept>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

class Interface : public EverySolver {};

System plain() { return systemWithRightHandSide(grid2d(14, 14)); }

TEST_P(Interface, SetParametersKeepsWhatIsNotNamed) {
  Params first;
  first.set("Convergence Tolerance", 1e-3);
  first.set("Maximum Iterations", 77);
  first.set("Verbosity", 0);
  const auto solver = solverOf(GetParam(), first);
  Params second;
  second.set("Convergence Tolerance", 1e-5);
  change(*solver, second);
  solver->setParameters(Teuchos::null);
  const auto current = solver->getCurrentParameters();
  EXPECT_EQ(current->get<double>("Convergence Tolerance"), 1e-5);
  EXPECT_EQ(current->get<int>("Maximum Iterations"), 77);
}

TEST_P(Interface, ToleranceMayChangeBeforeEverySolve) {
  const auto solver = solverOf(GetParam());
  const System system = plain();
  const auto guess = copyOf(*system.x);
  int iterations = 0;
  for (double tolerance : {1e-2, 1e-5, 1e-9}) {
    system.x->putScalar(0);
    Params p;
    p.set("Convergence Tolerance", tolerance);
    change(*solver, p);
    const Outcome outcome = solve(*solver, system);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(relativeResidual(system, *guess), tolerance);
    EXPECT_NEAR(outcome.achieved, relativeResidual(system, *guess), 1e-3 * tolerance);
    EXPECT_GT(outcome.iterations, iterations);
    iterations = outcome.iterations;
  }
}

TEST_P(Interface, CurrentAndValidParametersNameTheSameKeys) {
  const auto solver = solverOf(GetParam());
  const auto valid = solver->getValidParameters(), current = solver->getCurrentParameters();
  for (const char* key : {"Convergence Tolerance", "Maximum Iterations", "Maximum Restarts", "Num Blocks", "Verbosity",
                          "Output Style", "Output Frequency", "Output Stream", "Timer Label", "Orthogonalization"}) {
    EXPECT_TRUE(valid->isParameter(key)) << key;
  }
  for (auto entry = current->begin(); entry != current->end(); ++entry) {
    EXPECT_TRUE(valid->isParameter(current->name(entry))) << current->name(entry);
  }
  // What a solver says of itself can be given to another one.
  const auto other = solverOf(GetParam());
  EXPECT_NO_THROW(change(*other, *current));
}

TEST_P(Interface, CloneHasTheParametersAndNoProblem) {
  Params p;
  p.set("Maximum Iterations", 3);
  const auto solver = solverOf(GetParam(), p);
  solver->setProblem(problemOf(plain()));
  const auto copy = solver->clone();
  EXPECT_EQ(copy->getCurrentParameters()->get<int>("Maximum Iterations"), 3);
  EXPECT_THROW(copy->solve(), std::invalid_argument);
  EXPECT_EQ(solve(*copy, plain()).iterations, 3);
  EXPECT_EQ(solver->getCurrentParameters()->get<int>("Maximum Iterations"), 3);
  EXPECT_EQ(reportOf(*solver).reason, StopReason::NotStarted);
}

TEST_P(Interface, MisuseThrows) {
  const auto solver = solverOf(GetParam());
  EXPECT_THROW(solver->solve(), std::invalid_argument);
  EXPECT_THROW(solver->getProblem(), std::invalid_argument);
  const System system = plain();
  const auto unset = rcp(new Problem(system.a, system.x, system.b));
  solver->setProblem(unset);
  EXPECT_THROW(solver->solve(), std::invalid_argument) << "setProblem() of the problem has not been called";

  System columns = plain();
  columns.b = vectorFrom(columns.b->getMap(), wave, 2);
  // Belos itself applies the operator in setProblem(): one that does not look at its arguments.
  columns.a =
      rcp(new FunctionOperator(columns.b->getMap(), [](const MultiVector&, MultiVector& y) { y.putScalar(0); }));
  const auto mismatched = rcp(new Problem(columns.a, columns.x, columns.b));
  mismatched->setProblem();
  solver->setProblem(mismatched);
  EXPECT_THROW(solver->solve(), std::invalid_argument);

  const auto noSolution = rcp(new Problem());
  noSolution->setOperator(system.a);
  noSolution->setRHS(system.b);
  noSolution->setProblem();
  solver->setProblem(noSolution);
  EXPECT_THROW(solver->solve(), std::invalid_argument);

  EXPECT_TRUE(solve(*solver, system).converged) << "misuse must not spoil the solver";
}

TEST_P(Interface, MaximumIterationsIsNeverExceeded) {
  for (int limit : {0, 1, 2, 3, 7, 13}) {
    Params p;
    p.set("Maximum Iterations", limit);
    const System system = plain();
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), p, system);
    EXPECT_FALSE(outcome.converged);
    EXPECT_EQ(outcome.iterations, limit);
    EXPECT_EQ(outcome.report.reason, StopReason::MaxIterations);
    EXPECT_NEAR(outcome.achieved, relativeResidual(system, *guess), 1e-9);
    EXPECT_EQ(limit == 0, identical(*system.x, *guess));
  }
}

TEST_P(Interface, MaximumRestartsIsExact) {
  if (!isGmres(GetParam())) GTEST_SKIP() << GetParam().canonical << " does not restart";
  for (int limit : {0, 1, 3}) {
    Params p;
    p.set("Maximum Restarts", limit);
    p.set("Num Blocks", 5);
    const Outcome outcome = solve(GetParam(), p, plain());
    EXPECT_EQ(outcome.report.reason, StopReason::MaxRestarts);
    EXPECT_EQ(outcome.iterations, 5 * (limit + 1));
    EXPECT_EQ(outcome.report.restarts, limit);
  }
}

struct Scaling {
  const char* name;
  std::function<double(const System&, const MultiVector& guess)> divisor;
};

std::vector<Scaling> scalings() {
  return {{"Norm of Initial Residual", [](const System& s, const MultiVector& x) { return residualNorms(s, x)[0]; }},
          {"Norm of RHS", [](const System& s, const MultiVector&) { return norms(*s.b)[0]; }},
          {"None", [](const System&, const MultiVector&) { return 1.0; }},
          {"User Provided", [](const System&, const MultiVector&) { return 0.02; }}};
}

/// A guess that makes the scalings differ by orders of magnitude.
System farGuess() {
  System system = plain();
  system.x = vectorFrom(system.x->getMap(), [](GO g) { return 300 * wave(3 * g); });
  return system;
}

TEST_P(Interface, EveryScalingIsKept) {
  for (const char* key : {"Implicit Residual Scaling", "Explicit Residual Scaling", "Residual Scaling"}) {
    for (const Scaling& scaling : scalings()) {
      for (Side side : {Side::None, Side::Left, Side::Right}) {
        // The implicit residual of GMRES with a left preconditioner is the preconditioned one: tested below.
        if (side == Side::Left && std::string(key) == "Implicit Residual Scaling") continue;
        SCOPED_TRACE(std::string(key) + ": " + scaling.name + ", " + toString(side));
        Params p;
        p.set(key, scaling.name);
        if (std::string(scaling.name) == "User Provided") p.set("User Defined Residual Scaling", 0.02);
        p.set("Convergence Tolerance", 1e-6);
        const System system = farGuess();
        const auto guess = copyOf(*system.x);
        const Outcome outcome = solve(GetParam(), p, system, side);
        const double scaled = residualNorms(system, *system.x)[0] / scaling.divisor(system, *guess);
        EXPECT_TRUE(outcome.converged);
        EXPECT_LE(scaled, 1e-6 * (1 + 1e-9));
        if (side == Side::None && std::string(key) != "Explicit Residual Scaling") {
          EXPECT_NEAR(outcome.achieved, scaled, 1e-9);
          EXPECT_GT(scaled, 1e-9) << "solved far beyond the tolerance: another scaling was used";
        }
      }
    }
  }
}

TEST_P(Interface, ImplicitScalingOfGmresIsOfThePreconditionedResidual) {
  if (!isGmres(GetParam())) GTEST_SKIP() << GetParam().canonical << " follows b - A x itself";
  Params p;
  p.set("Implicit Residual Scaling", "Norm of Preconditioned Initial Residual");
  p.set("Convergence Tolerance", 1e-6);
  const System system = systemWithRightHandSide(diagonal([](GO g) { return std::pow(1.3, g); }, 30));
  System preconditioned = system;  // the residual is measured through M^{-1}
  const auto guess = copyOf(*system.x);
  EXPECT_TRUE(solve(GetParam(), p, system, Side::Left).converged);
  const auto native = [&](const MultiVector& x) {
    MultiVector r(x.getMap(), 1), z(x.getMap(), 1);
    system.a->apply(x, r);
    r.update(1, *system.b, -1);
    preconditioned.preconditioner->apply(r, z);
    return norms(z)[0];
  };
  EXPECT_LE(native(*system.x), 1e-6 * native(*guess));
}

TEST_P(Interface, AnUnreachableToleranceEndsAsLossOfAccuracy) {
  for (Side side : {Side::None, Side::Left, Side::Right}) {
    Params p;
    p.set("Convergence Tolerance", 1e-30);
    p.set("Maximum Iterations", 5000);
    const System system = systemWithRightHandSide(grid2d(14, 14, isCg(GetParam()) ? 0.0 : 0.3));
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), p, system, side);
    EXPECT_FALSE(outcome.converged);
    EXPECT_TRUE(outcome.lossOfAccuracy);
    if (isGmres(GetParam())) {
      EXPECT_EQ(outcome.report.reason, StopReason::AttainableAccuracy);
      EXPECT_EQ(told(outcome, "attainable accuracy").size(), 1U);
    }
    EXPECT_LT(outcome.iterations, isGmres(GetParam()) ? 300 : 5000);
    EXPECT_LT(relativeResidual(system, *guess), 1e-12);
    EXPECT_NEAR(outcome.achieved, relativeResidual(system, *guess), 1e-13);
    expectSameOnAllRanks(outcome);
  }
}

TEST_P(Interface, LossOfAccuracyIsForgottenByTheNextSolve) {
  Params p;
  p.set("Convergence Tolerance", 1e-30);
  const auto solver = solverOf(GetParam(), p);
  EXPECT_TRUE(solve(*solver, plain()).lossOfAccuracy);
  p.set("Convergence Tolerance", 1e-6);
  change(*solver, p);
  const Outcome outcome = solve(*solver, plain());
  EXPECT_TRUE(outcome.converged);
  EXPECT_FALSE(outcome.lossOfAccuracy);
}

TEST_P(Interface, ResetForgetsWhatWasLearnt) {
  const auto solver = solverOf(GetParam());
  solver->reset(Belos::RecycleSubspace);  // nothing to forget yet
  solve(*solver, plain());
  solver->reset(Belos::RecycleSubspace);
  const Outcome first = solve(*solver, plain());
  solver->reset(Belos::Problem);
  solver->reset(static_cast<Belos::ResetType>(Belos::Problem | Belos::RecycleSubspace));
  const Outcome second = solve(*solver, plain());
  EXPECT_TRUE(second.converged);
  EXPECT_EQ(first.iterations, second.iterations);
  EXPECT_EQ(first.report.reductionsBlocking, second.report.reductionsBlocking);
}

TEST_P(Interface, ResetOfTheProblemKeepsTheSolverUsable) {
  Params p;
  p.set("Convergence Tolerance", 1e-4);
  const auto solver = solverOf(GetParam(), p);
  const System system = plain();
  solver->setProblem(problemOf(system));
  solver->reset(Belos::Problem);
  EXPECT_EQ(solver->solve(), Belos::Converged);
  solver->reset(Belos::Problem);
  EXPECT_EQ(solver->solve(), Belos::Converged) << "from its own solution";
}

TEST_P(Interface, TimerHasTheLabel) {
  Params p;
  p.set("Timer Label", "interface test");
  solve(GetParam(), p, plain());
  const auto timer =
      Teuchos::TimeMonitor::lookupCounter("interface test: " + GetParam().canonical + " total solve time");
  ASSERT_FALSE(timer.is_null());
  EXPECT_EQ(timer->numCalls(), 1);
  const auto products = Teuchos::TimeMonitor::getNewCounter("interface test: Operation Op*x");
  const int before = products->numCalls();
  const Outcome outcome = solve(GetParam(), p, plain());
  EXPECT_EQ(products->numCalls() - before, outcome.report.operatorApplications);
}

TEST_P(Interface, HasNoTimersWithoutALabel) {
  Params p;
  p.set("Timer Label", "");
  const Outcome outcome = solve(GetParam(), p, plain());
  const std::string name = GetParam().canonical + " total solve time";
  EXPECT_TRUE(Teuchos::TimeMonitor::lookupCounter(": " + name).is_null());
  EXPECT_TRUE(Teuchos::TimeMonitor::lookupCounter(name).is_null());
  EXPECT_GT(outcome.report.seconds.operatorSeconds, 0) << "the report has its own clock";
}

TEST_P(Interface, ResidualReplacementStillConverges) {
  if (!isCg(GetParam())) GTEST_SKIP() << GetParam().canonical << " does not take it";
  std::map<std::string, long> products;
  for (const char* policy : {"auto", "off", "every 7"}) {
    Params p;
    p.set("Residual Replacement", policy);
    p.set("State Cache", false);
    const System system = plain();
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), p, system, Side::Right);
    EXPECT_TRUE(outcome.converged) << policy;
    EXPECT_LE(relativeResidual(system, *guess), 1e-8);
    products[policy] = outcome.report.operatorApplications - outcome.iterations;
  }
  EXPECT_GT(products["every 7"], products["off"] + 1) << "residuals computed on the way";
}

CAPSTAN_FOR_EVERY_SOLVER(Interface);

}  // namespace
}  // namespace capstan::testing
