/// \file
/// What pipelined methods promise beyond the suite: the iterates of their classical twin, one nonblocking reduction an
/// iteration, and work between its start and its wait.

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>

#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/reductions/counters.hpp"

namespace capstan::testing {
namespace {

const MethodTraits& named(const std::string& method) { return methodOf(method); }

Params tight(int depth) {
  Params p;
  p.set("State Cache", false);
  p.set("Pipeline Depth", depth);
  keepHistory(p);
  return p;
}

Outcome oracle(const std::string& method, const System& system, Side side) {
  Params p;
  p.set("State Cache", false);
  keepHistory(p);
  return solve(named(method), p, system, side);
}

void expectSameResiduals(const Outcome& outcome, const Outcome& expected, std::size_t count, double relative) {
  ASSERT_GE(outcome.report.history.size(), count);
  ASSERT_GE(expected.report.history.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    const double wanted = expected.report.history[i].residual;
    EXPECT_NEAR(outcome.report.history[i].residual, wanted, relative * wanted) << "iteration " << i + 1;
  }
}

class Depths : public ::testing::TestWithParam<int> {};

TEST_P(Depths, GmresHasTheResidualsOfItsOracle) {
  for (Side side : {Side::None, Side::Left, Side::Right}) {
    SCOPED_TRACE(toString(side));
    const auto a = grid2d(20, 20, 0.3);
    const Outcome expected = oracle(id::Gmres, systemWithRightHandSide(a), side);
    const Outcome outcome = solve(named(id::PipelinedGmres), tight(GetParam()), systemWithRightHandSide(a), side);
    EXPECT_TRUE(outcome.converged);
    expectSameResiduals(outcome, expected, 30, 1e-6);
  }
}

TEST_P(Depths, CgHasTheResidualsOfItsOracle) {
  const auto a = grid2d(20, 20);
  const Outcome expected = oracle(id::Cg, systemWithRightHandSide(a), Side::None);
  const Outcome outcome = solve(named(id::PipelinedCg), tight(GetParam()), systemWithRightHandSide(a));
  EXPECT_TRUE(outcome.converged);
  expectSameResiduals(outcome, expected, 30, 1e-6);
  EXPECT_LE(outcome.iterations, 1.15 * expected.iterations + 3 * GetParam());
}

TEST_P(Depths, PreconditionedCgNeedsTheIterationsOfItsOracle) {
  const auto a = scaledLaplacian(30, [](GO i) { return 1 + static_cast<double>(i % 7); });  // Jacobi takes that back
  for (Side side : {Side::Left, Side::Right}) {
    const Outcome expected = oracle(id::Cg, systemWithRightHandSide(a), side);
    const Outcome outcome = solve(named(id::PipelinedCg), tight(GetParam()), systemWithRightHandSide(a), side);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(outcome.iterations, 1.15 * expected.iterations + 3 * GetParam());
  }
}

TEST_P(Depths, OneNonblockingReductionAnIteration) {
  const int depth = GetParam();
  for (const std::string& method : {id::PipelinedGmres, id::PipelinedCg}) {
    const auto a = grid2d(30, 30);
    const Outcome outcome = solve(named(method), tight(depth), systemWithRightHandSide(a));
    EXPECT_TRUE(outcome.converged);
    const long cycles = outcome.report.restarts + 1;
    EXPECT_GE(outcome.report.reductionsNonblocking, outcome.iterations);
    EXPECT_LE(outcome.report.reductionsNonblocking, outcome.iterations + cycles * (depth + 2));
    // The first residual, the check at the end of each cycle, and three for the bounds of the spectrum.
    EXPECT_LE(outcome.report.reductionsBlocking, 2 * cycles + 3);
  }
}

/// Starts and waits of nonblocking reductions, with the operator applications between them.
std::vector<int> applicationsInFlight() {
  std::map<long, int> started;
  std::vector<int> between;
  int applications = 0;
  for (const LoggedEvent& event : eventLog().events()) {
    if (event.kind == LoggedKind::OperatorApply) ++applications;
    if (event.kind == LoggedKind::ReductionStart) started[event.id] = applications;
    if (event.kind == LoggedKind::ReductionWait && started.count(event.id) != 0) {
      between.push_back(applications - started[event.id]);
    }
  }
  return between;
}

TEST_P(Depths, OperatorApplicationsLieBetweenStartAndWait) {
  const int depth = GetParam();
  for (const std::string& method : {id::PipelinedGmres, id::PipelinedSStepGmres, id::PipelinedCg}) {
    SCOPED_TRACE(named(method).canonical);
    Params p = tight(depth);
    const int block = method == id::PipelinedSStepGmres ? 3 : 1;
    if (block > 1) p.set("Step Size", block);
    const auto solver = solverOf(named(method), p);
    System system = systemWithRightHandSide(grid2d(30, 30));
    system.arm = [] {
      eventLog().clear();
      eventLog().enable(true);
    };
    const Outcome outcome = solve(*solver, system);
    eventLog().enable(false);
    EXPECT_TRUE(outcome.converged);
    const std::vector<int> between = applicationsInFlight();
    eventLog().clear();
    ASSERT_FALSE(between.empty());
    // The last reductions of a cycle only drain. A breakdown makes the pipeline shallower, which the report tells.
    long shallow = 0, allowed = 0;
    for (const int applications : between) shallow += applications < depth * block ? 1 : 0;
    allowed = (outcome.report.restarts + 1) * (depth + 1);
    if (told(outcome, "restart").empty()) {
      EXPECT_LE(shallow, allowed) << "of " << between.size();
    }
    EXPECT_GT(static_cast<long>(between.size()), allowed);
  }
}

INSTANTIATE_TEST_SUITE_P(Pipeline, Depths, ::testing::Values(1, 2, 3, 5));

TEST(Pipeline, BlocksHaveTheResidualsOfTheOracle) {
  const auto a = grid2d(20, 20, 0.3);
  const Outcome expected = oracle(id::Gmres, systemWithRightHandSide(a), Side::None);
  for (const auto& [block, depth] : {std::pair(5, 1), std::pair(5, 2), std::pair(10, 1), std::pair(3, 3)}) {
    SCOPED_TRACE(std::to_string(block) + ", " + std::to_string(depth));
    Params p = tight(depth);
    p.set("Step Size", block);
    const Outcome outcome = solve(named(id::PipelinedSStepGmres), p, systemWithRightHandSide(a));
    EXPECT_TRUE(outcome.converged);
    expectSameResiduals(outcome, expected, 30, 1e-6);
    EXPECT_LE(outcome.report.reductionsNonblocking,
              outcome.iterations / block + (outcome.report.restarts + 1) * (depth + 2));
  }
}

TEST(Pipeline, DropToleranceChangesTheBasisNotTheAnswer) {
  const auto a = grid2d(20, 20, 0.3);
  const auto same = [](const HistoryPoint& p, const HistoryPoint& q) { return p.residual == q.residual; };
  std::vector<HistoryPoint> plain;
  for (const double tau : {0.0, 1e-3, 1e-2}) {
    Params p = tight(1);
    p.set("Step Size", 3);
    p.set("Change of Basis Drop Tolerance", tau);
    const System system = systemWithRightHandSide(a);
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(named(id::PipelinedSStepGmres), p, system);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8 * (1 + 1e-6));
    EXPECT_EQ(outcome.report.finalStepSize, 3);
    if (tau == 0) plain = outcome.report.history;
    const auto& history = outcome.report.history;
    EXPECT_EQ(std::equal(history.begin(), history.end(), plain.begin(), plain.end(), same), tau == 0) << tau;
  }
}

TEST(Pipeline, GivenShiftsNeedNoEstimateOfTheSpectrum) {
  const auto a = grid2d(20, 20, 0.3);
  for (const std::string& method : {id::PipelinedGmres, id::PipelinedSStepGmres}) {
    Params p = tight(2);
    const Outcome automatic = solve(named(method), p, systemWithRightHandSide(a));
    p.set("Shifts", "[1, 7, 3, 5]");
    const Outcome given = solve(named(method), p, systemWithRightHandSide(a));
    EXPECT_TRUE(automatic.converged && given.converged);
    EXPECT_FALSE(told(automatic, "eigenvalue bounds").empty());
    EXPECT_TRUE(told(given, "eigenvalue bounds").empty());
    EXPECT_LT(given.report.reductionsBlocking, automatic.report.reductionsBlocking);
    p.set("Eigenvalue Bounds", "[0.1, 8]");
    EXPECT_THROW(solverOf(named(method), p), std::invalid_argument) << "one of them would have no effect";
  }
}

TEST(Pipeline, WithoutReplacementADriftEndsCg) {
  Params p = tight(3);
  p.set("Convergence Tolerance", 1e-30);
  // Rounding decides on which system the pipeline drifts before it breaks down. Other tests have none of these sizes
  // but 20: what is learned of a system is kept by its size.
  bool replaced = false;
  for (const int n : {20, 22, 23, 27, 31}) {
    const Outcome outcome = solve(named(id::PipelinedCg), p, systemWithRightHandSide(grid2d(n, n)));
    replaced = replaced || !told(outcome, "residual replacement").empty();
  }
  EXPECT_TRUE(replaced);
  p.set("Residual Replacement", "off");
  const Outcome outcome = solve(named(id::PipelinedCg), p, systemWithRightHandSide(grid2d(20, 20)));
  EXPECT_TRUE(told(outcome, "residual replacement").empty());
  EXPECT_FALSE(outcome.converged);
  EXPECT_TRUE(outcome.lossOfAccuracy);
}

TEST(Pipeline, LongerThanTheCycleIsShortenedAndTold) {
  for (int depth : {12, 50, std::numeric_limits<int>::max() / 2, std::numeric_limits<int>::max()}) {
    Params p = tight(depth);
    p.set("Num Blocks", 12);
    for (const std::string& method : {id::PipelinedGmres, id::PipelinedSStepGmres}) {
      const Outcome outcome = solve(named(method), p, systemWithRightHandSide(grid2d(12, 12)));
      EXPECT_TRUE(outcome.converged);
      EXPECT_FALSE(told(outcome, "pipeline depth").empty()) << depth;
    }
  }
}

TEST(Pipeline, LongerThanTheProblemStillSolves) {
  for (const std::string& method : {id::PipelinedGmres, id::PipelinedSStepGmres, id::PipelinedCg}) {
    EXPECT_TRUE(solve(named(method), tight(20), systemWithRightHandSide(grid2d(3, 3))).converged);
  }
}

TEST(Pipeline, BoundsThatExcludeTheSpectrumCostIterationsNotTruth) {
  for (const std::string& method : {id::PipelinedGmres, id::PipelinedSStepGmres, id::PipelinedCg}) {
    for (const char* bounds : {"[100, 200]", "[-50, -1]", "[0, 0.001]"}) {
      Params p = tight(3);
      p.set("Eigenvalue Bounds", bounds);
      const System system = systemWithRightHandSide(grid2d(15, 15));
      const auto guess = copyOf(*system.x);
      EXPECT_TRUE(solve(named(method), p, system).converged) << named(method).canonical << " " << bounds;
      EXPECT_LE(relativeResidual(system, *guess), 1e-8 * (1 + 1e-6));
    }
  }
}

TEST(Pipeline, DepthZeroIsRefused) {
  EXPECT_THROW(solverOf(named(id::PipelinedCg), tight(0)), std::invalid_argument);
  EXPECT_THROW(solverOf(named(id::PipelinedGmres), tight(-1)), std::invalid_argument);
}

// PETSc 3.18's p(1)-CG reports convergence here at a true relative residual of 0.89.
TEST(Pipeline, CgOnTheLaplacianThatFoolsOthers) {
  for (int depth : {1, 3}) {
    Params p = tight(depth);
    p.set("Convergence Tolerance", 1e-6);
    const System system = systemWithRightHandSide(grid3d(48), [](GO) { return Scalar(1); });
    const auto guess = copyOf(*system.x);
    EXPECT_TRUE(solve(named(id::PipelinedCg), p, system).converged);
    EXPECT_LE(relativeResidual(system, *guess), 1e-6 * (1 + 1e-6));
  }
}

}  // namespace
}  // namespace capstan::testing
