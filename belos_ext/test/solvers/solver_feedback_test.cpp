/// \file
/// What a solver tells its user unasked, what it tells the application's timers, and what it refuses to call solved.

#include <Teuchos_StackedTimer.hpp>
#include <Teuchos_TimeMonitor.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <sstream>

#include "belos_ext/support/said_once.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class Feedback : public EverySolver {};

System plain() { return systemWithRightHandSide(grid2d(14, 14)); }

/// What goes to the standard error stream while it lives.
class Stderr {
 public:
  Stderr() : before_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~Stderr() { std::cerr.rdbuf(before_); }
  Stderr(const Stderr&) = delete;
  Stderr& operator=(const Stderr&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Params printingTo(const RCP<std::ostringstream>& stream, int verbosity) {
  Params p;
  p.set("Output Stream", Teuchos::rcp_implicit_cast<std::ostream>(stream));
  p.set("Verbosity", verbosity);
  return p;
}

TEST_P(Feedback, CurrentParametersGivenBackMakeTheSameSolver) {
  Params p;
  p.set("Convergence Tolerance", 1e-5);
  p.set("Strict Parameters", true);
  p.set("State Cache", false);
  if (GetParam().canonical == id::SStepGmres) p.set("Compute Ritz Values", false);
  const auto first = solverOf(GetParam(), p), second = solverOf(GetParam());
  ASSERT_NO_THROW(change(*second, *first->getCurrentParameters()));
  for (Side side : {Side::None, Side::Left}) {
    System system = plain();
    system.x = vectorFrom(system.x->getMap(), [](GO g) { return 300 * wave(3 * g); });
    const auto guess = copyOf(*system.x);
    const Outcome one = solve(*first, system, side);
    system.x->assign(*guess);
    const Outcome two = solve(*second, system, side);
    EXPECT_TRUE(one.converged);
    EXPECT_EQ(one.iterations, two.iterations);
    EXPECT_EQ(one.report.scaling, two.report.scaling);
    EXPECT_EQ(one.report.norm, two.report.norm);
  }
}

/// The last unknown is in no equation, and the last equation is 0 = 0.
System withUnreadUnknown(std::size_t columns) {
  const GO n = 30;
  const auto a = matrixFrom(evenMap(n), [](GO g) {
    return g + 1 == n ? std::vector<Entry>{} : std::vector<Entry>{{g, static_cast<Scalar>(g % 5 + 1)}};
  });
  return systemWithRightHandSide(
      a, [](GO g) { return g % 7919 + 1 == n ? Scalar(0) : wave(g); }, columns);
}

TEST_P(Feedback, ANanInTheGuessThatNoEquationReadsIsRefused) {
  for (double bad : {nan, std::numeric_limits<double>::infinity()}) {
    const System system = withUnreadUnknown(1);
    if (system.x->getMap()->isNodeGlobalElement(29)) system.x->replaceGlobalValue(29, 0, bad);
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(GetParam(), Params(), system);
    EXPECT_FALSE(outcome.converged);
    EXPECT_EQ(outcome.report.reason, StopReason::NonFinite);
    EXPECT_TRUE(identical(*system.x, *guess));
    expectSameOnAllRanks(outcome);
  }
}

TEST_P(Feedback, ANanInOneGuessLeavesTheOtherColumnsAlone) {
  const System system = withUnreadUnknown(2);
  const auto rightHandSide = copyOf(*system.b);
  if (system.x->getMap()->isNodeGlobalElement(29)) system.x->replaceGlobalValue(29, 1, nan);
  const Outcome outcome = solve(GetParam(), Params(), system);
  EXPECT_FALSE(outcome.converged);
  ASSERT_EQ(outcome.report.rightHandSides.size(), 2U);
  EXPECT_TRUE(outcome.report.rightHandSides[0].converged);
  EXPECT_EQ(outcome.report.rightHandSides[1].reason, StopReason::NonFinite);
  EXPECT_TRUE(identical(*system.b, *rightHandSide)) << "the right-hand side is the application's";
}

TEST_P(Feedback, WithoutRightHandSidesNothingIsDoneAndAllIsConverged) {
  System system = plain();
  system.b = rcp(new MultiVector(system.a->getRangeMap(), 0));
  system.x = rcp(new MultiVector(system.a->getDomainMap(), 0));
  const auto problem = rcp(new Problem(system.a, system.x, system.b));
  problem->setProblem();
  const auto solver = solverOf(GetParam());
  solver->setProblem(problem);
  EXPECT_EQ(solver->solve(), Belos::Converged);
  EXPECT_EQ(solver->getNumIters(), 0);
  EXPECT_EQ(reportOf(*solver).operatorApplications, 0);
  EXPECT_TRUE(reportOf(*solver).rightHandSides.empty());
  EXPECT_TRUE(solve(*solver, plain()).converged) << "and the next solve is a usual one";
}

TEST_P(Feedback, PrintedResidualsGoOnAfterAClaimThatFails) {
  const auto stream = rcp(new std::ostringstream);
  Params p = printingTo(stream, Belos::StatusTestDetails);
  p.set("Output Style", static_cast<int>(Belos::Brief));
  p.set("Output Frequency", 1);
  p.set("Convergence Tolerance", 1e-30);
  keepHistory(p);
  const Outcome outcome = solve(GetParam(), p, plain());
  ASSERT_TRUE(outcome.lossOfAccuracy) << "no claim has failed";
  if (rank() != 0) return;
  std::istringstream text(stream->str());
  std::vector<double> shown;
  for (std::string line; std::getline(text, line);) {
    if (line.find("Iter") == std::string::npos || line.find(" : ") == std::string::npos) continue;
    shown.push_back(std::strtod(line.c_str() + line.find(" : ") + 3, nullptr));
  }
  const auto& history = outcome.report.history;
  ASSERT_EQ(shown.size(), history.size()) << stream->str();
  for (std::size_t i = 0; i < shown.size(); ++i) {
    EXPECT_NEAR(shown[i], history[i].residual, 1e-4 * history[i].residual) << "iteration " << history[i].iteration;
  }
}

TEST_P(Feedback, StackedTimersSeeProductsAndPreconditioner) {
  const auto stacked = rcp(new Teuchos::StackedTimer("test"));
  Teuchos::TimeMonitor::setStackedTimer(stacked);
  const Outcome outcome = solve(GetParam(), Params(), plain(), Side::Right);
  Teuchos::TimeMonitor::setStackedTimer(Teuchos::null);
  stacked->stopBaseTimer();
  const std::string above = "test@Capstan: " + GetParam().canonical + " total solve time@Capstan: Operation ";
  EXPECT_EQ(static_cast<long>(stacked->findTimer(above + "Op*x").count), outcome.report.operatorApplications);
  EXPECT_EQ(static_cast<long>(stacked->findTimer(above + "Prec*x").count), outcome.report.preconditionerApplications);
}

TEST_P(Feedback, WhatBreaksDownIsSaidOnceForALabelAlsoWhenQuiet) {
  forgetWhatWasSaid();
  const auto stream = rcp(new std::ostringstream);
  const Stderr captured;
  for (const char* label : {"pressure", "pressure", "velocity"}) {
    Params p = printingTo(stream, 0);
    p.set("Solver Name", label);
    System system = plain();
    if (system.b->getMap()->isNodeGlobalElement(20)) system.b->replaceGlobalValue(20, 0, nan);
    EXPECT_EQ(solve(GetParam(), p, system).report.reason, StopReason::NonFinite);
  }
  EXPECT_TRUE(solve(GetParam(), Params(), plain()).converged);
  EXPECT_EQ(stream->str(), "");
  const std::string text = captured.text();
  EXPECT_EQ(count(text, "not converged"), rank() == 0 ? 2 : 0) << text;
  EXPECT_EQ(count(text, "\"pressure\""), rank() == 0 ? 1 : 0) << text;
  EXPECT_EQ(count(text, "\"velocity\""), rank() == 0 ? 1 : 0) << text;
}

/// As a pressure matrix with a reference cell: its row is that of the identity, its column is not.
RCP<CrsMatrix> pinned(GO cell) {
  const GO n = 12;
  return matrixFrom(evenMap(n * n), [=](GO g) {
    if (g == cell) return std::vector<Entry>{{g, 4}};
    std::vector<Entry> row{{g, 4}};
    if (g % n > 0) row.push_back({g - 1, -1});
    if (g % n + 1 < n) row.push_back({g + 1, -1});
    if (g >= n) row.push_back({g - n, -1});
    if (g + n < n * n) row.push_back({g + n, -1});
    return row;
  });
}

/// The five-point Laplacian on an n x n grid but for one entry of one row, of the many that a rank has.
RCP<CrsMatrix> oneOddRow(GO n) {
  const GO odd = n * n / 8 + 3;
  return matrixFrom(evenMap(n * n), [=](GO g) {
    std::vector<Entry> row{{g, 4}};
    if (g % n > 0) row.push_back({g - 1, -1});
    if (g % n + 1 < n) row.push_back({g + 1, g == odd ? Scalar(-0.5) : Scalar(-1)});
    if (g >= n) row.push_back({g - n, -1});
    if (g + n < n * n) row.push_back({g + n, -1});
    return row;
  });
}

TEST_P(Feedback, CgCountsTheRowsThatDiffer) {
  if (!isCg(GetParam())) GTEST_SKIP() << GetParam().canonical << " takes any matrix";
  const Outcome outcome = solve(GetParam(), Params(), systemWithRightHandSide(oneOddRow(70)));
  EXPECT_TRUE(mentions(told(outcome, "symmetry"), "2 of the 4900 rows compared"));
}

TEST_P(Feedback, CgSaysThatAMatrixIsNotSymmetric) {
  forgetWhatWasSaid();
  const bool concerned = isCg(GetParam());
  for (const auto& matrix : {grid2d(12, 12, 0.4), oneOddRow(70)}) {
    const auto stream = rcp(new std::ostringstream), quiet = rcp(new std::ostringstream);
    const System system = systemWithRightHandSide(matrix);
    Params p = printingTo(stream, Belos::Warnings);
    p.set("Solver Name", "nonsymmetric " + std::to_string(matrix->getGlobalNumEntries()));
    p.set("State Cache", false);
    const Outcome first = solve(GetParam(), p, system);
    ASSERT_EQ(told(first, "symmetry").size(), concerned ? 1U : 0U);
    expectSameOnAllRanks(first);
    EXPECT_EQ(mentions(told(first, "symmetry"), "the matrix is not symmetric: "), concerned);
    system.x->putScalar(0);
    const Outcome second = solve(GetParam(), p, system);  // by another solver, as applications do
    EXPECT_EQ(told(second, "symmetry").size(), told(first, "symmetry").size());
    EXPECT_EQ(first.report.reductionsBlocking, second.report.reductionsBlocking) << "what ranks found travels along";
    // The first solve of the process may not know yet that x is zero.
    EXPECT_EQ(first.report.operatorApplications - first.report.operatorsAtStart,
              second.report.operatorApplications - second.report.operatorsAtStart);
    EXPECT_EQ(count(stream->str(), "the matrix is not symmetric"), concerned && rank() == 0 ? 1 : 0) << stream->str();
    system.x->putScalar(0);
    solve(GetParam(), printingTo(quiet, 0), system);
    EXPECT_EQ(quiet->str(), "");
  }
}

TEST_P(Feedback, CgHasNothingToSayOfSymmetricMatrices) {
  for (const auto& matrix : {grid2d(12, 12), grid2d(12, 12, 0, lastRankMap(144)), lowSyncDiagonal(),
                             scaledLaplacian(9, [](GO g) { return std::pow(10.0, static_cast<double>(g % 7) - 3); })}) {
    EXPECT_TRUE(told(solve(GetParam(), Params(), systemWithRightHandSide(matrix)), "symmetry").empty());
  }
  // A row that is solved first, and whose column is kept, does not matter to CG.
  const System pressure = systemWithRightHandSide(pinned(50));
  EXPECT_TRUE(told(solve(GetParam(), Params(), pressure), "symmetry").empty());
  // What gives no rows is not looked at.
  System free = plain();
  const auto inner = free.a;
  free.a = rcp(new FunctionOperator(inner->getDomainMap(),
                                    [inner](const MultiVector& in, MultiVector& out) { inner->apply(in, out); }));
  EXPECT_TRUE(told(solve(GetParam(), Params(), free), "symmetry").empty());
}

CAPSTAN_FOR_EVERY_SOLVER(Feedback);

}  // namespace
}  // namespace capstan::testing
