#include "tpetra_ext/topology/plan_simulation.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tpetra_ext/topology/test/patterns.hpp"

namespace capstan::topology::test {
namespace {

using Plans = std::vector<RankPlan>;

/// A three-step plan on nodes of two ranks, with messages in every step.
class PlanSimulation : public testing::Test {
 protected:
  const NodeMap map = NodeMap::uniform(6, 2);
  const ExchangePattern pattern = casesFor(6)[2].pattern();
  const Plans good = [this] {
    PlanOptions options;
    options.strategy = Strategy::ThreeStep;
    return plansOf(options, map, pattern);
  }();

  static StepMessages& at(Plans& plans, std::size_t rank, Step step) {
    return plans[rank].steps[static_cast<std::size_t>(step)];
  }
  /// A rank that sends in this step.
  std::size_t senderIn(Step step) const {
    for (std::size_t rank = 0; rank < good.size(); ++rank) {
      if (!good[rank].at(step).sends.empty()) return rank;
    }
    ADD_FAILURE() << "nobody sends in step " << nameOf(step);
    return 0;
  }
  void expectProblem(const std::function<void(Plans&)>& spoil, const std::string& part) const {
    Plans plans = good;
    spoil(plans);
    const std::string problem = problemOf(plans, map, pattern, 2);
    EXPECT_NE(problem.find(part), std::string::npos) << "'" << problem << "', wanted: " << part;
  }
};

TEST_F(PlanSimulation, GivesTheValuesOfTheirOwnersColumnByColumn) {
  ASSERT_EQ(problemOf(good, map, pattern, 2), "");
  const auto exchange = simulate<long>(good, 2, [](int rank, LocalIndex index, std::size_t j) {
    return 10000 * rank + 10 * index + static_cast<long>(j);
  });
  ASSERT_EQ(exchange.problem, "");
  const PeerLists& needs = pattern.of(3).needs;
  ASSERT_EQ(exchange.received[3].size(), 2 * needs.entries.size());
  EXPECT_EQ(exchange.received[3][0], 10000 * needs.peers[0] + 10 * needs.entries[0]);
  EXPECT_EQ(exchange.received[3][1], exchange.received[3][0] + 1);
}

TEST_F(PlanSimulation, SeesAWrongEntry) {
  for (const Step step : {Step::Local, Step::Network, Step::Scatter}) {
    const std::size_t rank = senderIn(step);
    expectProblem(
        [&](Plans& plans) {
          auto& entries = at(plans, rank, step).sends.entries;
          ASSERT_GE(entries.size(), 2U);
          std::swap(entries[0], entries[1]);
        },
        "does not get entry");
  }
  expectProblem([](Plans& plans) { std::swap(plans[1].needed[0], plans[1].needed[1]); }, "does not get entry");
}

TEST_F(PlanSimulation, SeesAMessageThatIsNotSentOrNotExpected) {
  const std::size_t rank = senderIn(Step::Network);
  expectProblem([&](Plans& plans) { at(plans, rank, Step::Network).sends = {}; }, "expected that nobody sends");
  // Rank 0 gathers at rank 1 alone.
  expectProblem([&](Plans& plans) { at(plans, 0, Step::Gather).sends.append(5, 0); },
                "rank 0, gather, to rank 5: not expected");
}

TEST_F(PlanSimulation, SeesAnotherLength) {
  const std::size_t rank = senderIn(Step::Gather);
  expectProblem(
      [&](Plans& plans) {
        PeerLists& sends = at(plans, rank, Step::Gather).sends;
        sends.entries.pop_back();
        --sends.begin.back();
      },
      "another length is expected");
}

TEST_F(PlanSimulation, SeesAMessageThatDoesNotWaitForWhatItHolds) {
  // A value that Local brings is not there for certain when the network's messages are sent.
  for (std::size_t rank = 0; rank < good.size(); ++rank) {
    if (good[rank].at(Step::Local).sources.empty() || good[rank].at(Step::Network).sends.empty()) continue;
    expectProblem(
        [&](Plans& plans) { at(plans, rank, Step::Network).sends.entries[0] = good[rank].at(Step::Local).begin[0]; },
        "holds what is not there yet");
    return;
  }
  FAIL() << "no rank with both";
}

TEST_F(PlanSimulation, SeesAValueThatCrossesTwice) {
  PlanOptions options;
  Plans plans = plansOf(options, map, pattern);
  EXPECT_EQ(problemOf(plans, map, pattern), "");  // the standard exchange promises nothing
  plans[0].strategy = Strategy::TwoStep;
  EXPECT_NE(problemOf(plans, map, pattern).find("crosses the network twice to node"), std::string::npos);
}

TEST_F(PlanSimulation, SeesMessagesThatDoNotBelongToTheirStep) {
  const NodeMap other = NodeMap::fromLabels({0, 1, 2, 0, 1, 2});
  const std::string problem = problemOf(good, other, pattern);
  EXPECT_TRUE(problem.find("its node") != std::string::npos) << problem;
}

TEST_F(PlanSimulation, SeesPlansThatAreNotWellFormed) {
  expectProblem([](Plans& plans) { plans[0].rank = 1; }, "rank 0: the plan of rank 1");
  expectProblem([](Plans& plans) { plans[0].needed[0] = plans[0].slots; }, "needs a slot that does not exist");
  expectProblem([](Plans& plans) { plans[0].needed[0] = -1; }, "needs a slot that does not exist");
  expectProblem([](Plans& plans) { ++plans[0].slots; }, "slots that nothing fills");
  expectProblem([](Plans& plans) { plans[0].owned = -1; }, "fewer slots than own entries");
  expectProblem([](Plans& plans) { ++plans[2].owned; }, "receives into slots of others");
  expectProblem([](Plans& plans) { at(plans, 0, Step::Local).sends.peers[0] = 0; }, "peers do not ascend");
  expectProblem([](Plans& plans) { at(plans, 0, Step::Local).sends.entries[0] = -1; }, "does not exist is sent");
  expectProblem([](Plans& plans) { plans.pop_back(); }, "plans of 5 ranks, a node map of 6");
  expectProblem([](Plans& plans) { plans[1].needed.pop_back(); }, "the plan is for another pattern");
}

}  // namespace
}  // namespace capstan::topology::test
