/// \file
/// Where pipelined BiCGStab gives up its recurrences, what it costs from then on, and where cycles of both forms end,
/// on real matrices.

#include <algorithm>
#include <iostream>
#include <limits>

#include "belos_ext/supervision/progress.hpp"
#include "belos_ext/test/solvers/real_matrices.hpp"
#include "belos_ext/test/support/methods.hpp"

namespace capstan::testing {
namespace {

/// The solve of A x = A v, v the `seed`th of vectors without a pattern that are the same on any number of ranks.
Outcome solveSeeded(const std::string& method, System& system, Side side, int seed, int iterations = 3000) {
  const auto v = vectorFrom(system.a->getDomainMap(),
                            [&](GO g) { return std::sin(1e4 * static_cast<double>(g * g % 7919 + g) + seed); });
  system.a->apply(*v, *system.b);
  system.x->putScalar(0);
  Params p;
  p.set("Convergence Tolerance", 1e-8);
  p.set("Maximum Iterations", iterations);
  p.set("State Cache", false);
  keepHistory(p);
  return solve(methodOf(method), p, system, side);
}

/// The iteration after which the pipeline was given up; 0: never.
int handover(const Outcome& outcome) {
  const auto events = told(outcome, "classical");
  return events.empty() ? 0 : events.front().iteration;
}

int median(std::vector<int> counts) {
  std::nth_element(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2), counts.end());
  return counts[counts.size() / 2];
}

/// Nothing of the pipeline is left after a handover, which begins nothing anew.
void expectGivenUp(const Outcome& outcome) {
  const int at = handover(outcome);
  EXPECT_LE(told(outcome, "classical").size(), 1U) << "for the rest of the solve";
  for (const auto& event : told(outcome, "restart")) EXPECT_NE(event.iteration, at);
  for (const auto& event : told(outcome, "residual replacement")) {
    const bool ofPipeline = event.detail.find("separates the recurrences") != std::string::npos;
    EXPECT_FALSE(ofPipeline && event.iteration > at) << event.iteration;
  }
}

// Its recurrences lose their digits. The pipeline used to go on with them, and took twice the iterations in the median.
TEST(BiCgStabHandover, KeepsUpWithTheUnpipelinedFormWhereRecurrencesDrift) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  System system = systemFrom("rdb2048");
  std::vector<int> expected, found;
  for (int seed = 1; seed <= 9; ++seed) {
    SCOPED_TRACE(seed);
    const Outcome outcome = solveSeeded(id::PipelinedBiCgStab, system, Side::None, seed);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_GT(handover(outcome), 0);
    expectGivenUp(outcome);
    expectSameOnAllRanks(outcome);
    found.push_back(outcome.iterations);
    expected.push_back(solveSeeded(id::BiCgStab, system, Side::None, seed).iterations);
  }
  if (rank() == 0) std::cout << median(found) << " iterations, unpipelined " << median(expected) << '\n';
  EXPECT_LE(median(found), 1.4 * median(expected)) << "medians of nine scatter by less";
}

// Half the digits of (r*, s) are about what is left there after 50 iterations: not of every right-hand side.
TEST(BiCgStabHandover, StaysPipelinedWhereTheDigitsLast) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  System system = systemFrom("2dcyl1");
  std::vector<int> handovers;
  for (int seed = 1; seed <= 9; ++seed) {
    SCOPED_TRACE(seed);
    const Outcome outcome = solveSeeded(id::PipelinedBiCgStab, system, Side::Right, seed);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_FALSE(told(outcome, "residual replacement").empty()) << "its digits are not judged";
    handovers.push_back(handover(outcome));
  }
  EXPECT_EQ(median(handovers), 0);
}

class BiCgStabHandoverCosts : public ::testing::TestWithParam<Side> {};

// Of 60 iterations after the handover: 2 A, 2 M^{-1}, 1 reduction each.
TEST_P(BiCgStabHandoverCosts, AreThoseOfTheUnpipelinedForm) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  const bool preconditioned = GetParam() != Side::None;
  System system = systemFrom("orsreg_1");
  solveSeeded(id::PipelinedBiCgStab, system, GetParam(), 1, 1);  // the next ones make no product for r_0
  const Outcome first = solveSeeded(id::PipelinedBiCgStab, system, GetParam(), 1, 110);
  const Outcome second = solveSeeded(id::PipelinedBiCgStab, system, GetParam(), 1, 170);
  ASSERT_GT(handover(first), 0);
  ASSERT_EQ(first.iterations, 110);
  ASSERT_EQ(second.iterations, 170);
  ASSERT_TRUE(told(second, "restart").empty());
  const auto grown = [&](long SolveReport::*count) { return second.report.*count - first.report.*count; };
  EXPECT_EQ(grown(&SolveReport::operatorApplications), 120);
  EXPECT_EQ(grown(&SolveReport::preconditionerApplications), preconditioned ? 120 : 0);
  EXPECT_EQ(grown(&SolveReport::reductionsNonblocking), 0);
  EXPECT_NEAR(grown(&SolveReport::reductionsBlocking), 60, 3) << "where products have lost digits, one more";
}

INSTANTIATE_TEST_SUITE_P(Sides, BiCgStabHandoverCosts, ::testing::Values(Side::None, Side::Right),
                         [](const auto& side) { return toString(side.param); });

/// The most iterations of a cycle in a row in which the residual did not halve.
int longestPlateau(const Outcome& outcome) {
  const auto restarts = told(outcome, "restart");
  double halved = std::numeric_limits<double>::infinity();
  int since = 0, longest = 0;
  for (const auto& entry : outcome.report.history) {
    const bool begins = std::any_of(restarts.begin(), restarts.end(),
                                    [&](const auto& event) { return event.iteration == entry.iteration - 1; });
    if (begins || entry.residual < tuning::bicgstab::progress * halved) {
      halved = entry.residual;
      since = entry.iteration;
    }
    longest = std::max(longest, entry.iteration - since);
  }
  return longest;
}

// Cycles used to go on as long as one residual in a thousand was smaller by a tenth.
TEST(BiCgStabPlateaus, EndACycle) {
  CAPSTAN_NEEDS_REAL_MATRICES();
  System system = systemFrom("1138_bus");
  size_t ended = 0;
  for (int seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    const Outcome outcome = solveSeeded(id::BiCgStab, system, Side::None, seed, 4000);
    EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason);
    EXPECT_LE(longestPlateau(outcome), tuning::bicgstab::patience);
    ended += told(outcome, "restart").size();
    expectSameOnAllRanks(outcome);
  }
  EXPECT_GT(ended, 0U) << "nothing was tested";
}

}  // namespace
}  // namespace capstan::testing
