#include "tpetra_ext/topology/exchange_plan.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tpetra_ext/topology/plan_counts.hpp"
#include "tpetra_ext/topology/plan_simulation.hpp"
#include "tpetra_ext/topology/test/expect_refused.hpp"
#include "tpetra_ext/topology/test/patterns.hpp"

namespace capstan::topology::test {
namespace {

PlanOptions optionsFor(Strategy strategy, long long eagerLimit = defaultEagerLimit) {
  PlanOptions options;
  options.strategy = strategy;
  options.eagerLimit = eagerLimit;
  return options;
}

/// Every rank has `owned` entries, and needs those of the ranks listed.
ExchangePattern allOf(LocalIndex owned, const std::vector<std::vector<int>>& ownersByRank) {
  std::vector<PeerLists> needs;
  for (const auto& owners : ownersByRank) {
    PeerLists lists;
    for (const int owner : owners) {
      for (LocalIndex index = 0; index < owned; ++index) lists.append(owner, index);
    }
    needs.push_back(lists);
  }
  return ExchangePattern::fromNeeds(std::vector<LocalIndex>(ownersByRank.size(), owned), needs);
}

/// Pairs (rank, receiver) of a step.
std::vector<std::pair<int, int>> messages(const std::vector<RankPlan>& plans, Step step) {
  std::vector<std::pair<int, int>> found;
  for (const RankPlan& plan : plans) {
    for (const int peer : plan.at(step).sends.peers) found.emplace_back(plan.rank, peer);
  }
  return found;
}
using Messages = std::vector<std::pair<int, int>>;

/// What must hold for every pattern and node map.
void expectSound(const ExchangePattern& pattern, const NodeMap& map) {
  PlanCounts counts[4];
  for (const Strategy strategy : allStrategies) {
    const auto plans = plansOf(optionsFor(strategy, 64), map, pattern);
    EXPECT_EQ(problemOf(plans, map, pattern, 1), "") << nameOf(strategy);
    EXPECT_EQ(problemOf(plans, map, pattern, 3), "") << nameOf(strategy);
    counts[static_cast<int>(strategy)] = countsOf(plans, map, 1);
  }
  const auto& [standard, two, three, optimal] = counts;
  EXPECT_LE(three.mostBetweenNodes, 1);
  EXPECT_EQ(two.network.bytes.total, three.network.bytes.total);
  EXPECT_EQ(two.network.bytes.total, optimal.network.bytes.total);
  EXPECT_LE(two.network.bytes.total, standard.network.bytes.total);
  EXPECT_LE(two.network.messages.total, standard.network.messages.total);
  EXPECT_LE(three.network.messages.total, two.network.messages.total);
  EXPECT_LE(three.network.messages.total, optimal.network.messages.total);
  // [enlarged-cg], inequality (4.4), in each of its readings.
  const long long ranksPerNode = map.largestNode();
  EXPECT_LE(three.mostBetweenNodes, optimal.network.messages.mostOfARank);
  EXPECT_LE((three.mostNodesOfANode - 1) / ranksPerNode, optimal.network.messages.mostOfARank);
  EXPECT_LE(optimal.network.messages.mostOfARank, std::max(two.mostNodesOfARank, ranksPerNode));
  EXPECT_LE(optimal.mostBetweenNodes, ranksPerNode);
}

TEST(ExchangePlan, BringsEveryRankWhatItNeedsAndKeepsItsPromises) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    for (const Case& given : casesFor(ranks)) {
      const auto pattern = given.pattern();
      for (int ranksPerNode = 1; ranksPerNode <= 4; ++ranksPerNode) {
        SCOPED_TRACE(given.name + ", " + std::to_string(ranks) + " ranks, " + std::to_string(ranksPerNode) + " a node");
        expectSound(pattern, NodeMap::uniform(ranks, ranksPerNode));
      }
    }
  }
}

TEST(ExchangePlan, AlsoOn64RanksAndOnNodesOfAnyShape) {
  std::vector<long long> shuffled, uneven;
  for (int rank = 0; rank < 64; ++rank) {
    shuffled.push_back((rank * 29) % 7);
    uneven.push_back(rank < 40 ? 0 : rank < 41 ? 1 : rank);
  }
  const std::vector<NodeMap> maps = {NodeMap::uniform(64, 1),       NodeMap::uniform(64, 4),
                                     NodeMap::uniform(64, 15),      NodeMap::uniform(64, 64),
                                     NodeMap::fromLabels(shuffled), NodeMap::fromLabels(uneven)};
  for (const Case& given : casesFor(64)) {
    const auto pattern = given.pattern();
    for (std::size_t k = 0; k < maps.size(); ++k) {
      SCOPED_TRACE(given.name + ", node map " + std::to_string(k));
      expectSound(pattern, maps[k]);
    }
  }
}

TEST(ExchangePlan, OnNodesOfOneRankAllSendTheSame) {
  const auto pattern = casesFor(7)[2].pattern();
  const NodeMap map = NodeMap::uniform(7, 1);
  const auto standard = plansOf(optionsFor(Strategy::Standard), map, pattern);
  for (const Strategy strategy : allStrategies) {
    const auto plans = plansOf(optionsFor(strategy), map, pattern);
    EXPECT_EQ(messages(plans, Step::Network), messages(standard, Step::Network)) << nameOf(strategy);
    for (const Step step : {Step::Local, Step::Gather, Step::Scatter}) {
      EXPECT_TRUE(messages(plans, step).empty()) << nameOf(strategy);
    }
  }
}

TEST(ExchangePlan, OnOneNodeNothingCrossesTheNetwork) {
  const auto pattern = casesFor(5)[2].pattern();
  const NodeMap map = NodeMap::uniform(5, 5);
  for (const Strategy strategy : allStrategies) {
    const auto plans = plansOf(optionsFor(strategy), map, pattern);
    EXPECT_EQ(messages(plans, Step::Local).size(), 20U);
    for (const Step step : {Step::Gather, Step::Network, Step::Scatter}) EXPECT_TRUE(messages(plans, step).empty());
  }
}

/// Two nodes of two ranks; 0 and 1 send all they have to both ranks of the other node.
class TwoNodes : public testing::Test {
 protected:
  const NodeMap map = NodeMap::uniform(4, 2);
  const ExchangePattern pattern = allOf(10, {{}, {}, {0, 1}, {0, 1}});
};

TEST_F(TwoNodes, StandardSendsTheSameTwice) {
  const auto plans = plansOf(optionsFor(Strategy::Standard), map, pattern);
  EXPECT_EQ(messages(plans, Step::Network), (Messages{{0, 2}, {0, 3}, {1, 2}, {1, 3}}));
  EXPECT_EQ(messages(plans, Step::Scatter), Messages());
}

TEST_F(TwoNodes, TwoStepSendsToThePairedRankWhichDistributes) {
  const auto plans = plansOf(optionsFor(Strategy::TwoStep), map, pattern);
  EXPECT_EQ(messages(plans, Step::Gather), Messages());
  EXPECT_EQ(messages(plans, Step::Network), (Messages{{0, 2}, {1, 3}}));
  EXPECT_EQ(messages(plans, Step::Scatter), (Messages{{2, 3}, {3, 2}}));
}

TEST_F(TwoNodes, ThreeStepSendsOneMessage) {
  const auto plans = plansOf(optionsFor(Strategy::ThreeStep), map, pattern);
  EXPECT_EQ(messages(plans, Step::Gather), (Messages{{1, 0}}));
  EXPECT_EQ(messages(plans, Step::Network), (Messages{{0, 2}}));
  EXPECT_EQ(messages(plans, Step::Scatter), (Messages{{2, 3}}));
  EXPECT_EQ(plans[2].at(Step::Network).values(0), 20U);
}

TEST_F(TwoNodes, OptimalGathersUpToTheEagerLimitAndSplitsAbove) {
  // 20 values of 8 bytes in all.
  for (const long long limit : {160, 1000}) {
    const auto plans = plansOf(optionsFor(Strategy::Optimal, limit), map, pattern);
    EXPECT_EQ(messages(plans, Step::Network), (Messages{{0, 2}})) << limit;
  }
  for (const long long limit : {159, 80, 1}) {
    const auto plans = plansOf(optionsFor(Strategy::Optimal, limit), map, pattern);
    EXPECT_EQ(messages(plans, Step::Network), (Messages{{0, 2}, {1, 3}})) << limit;
    // Each takes the half it owns.
    EXPECT_EQ(messages(plans, Step::Gather), Messages()) << limit;
    EXPECT_EQ(plans[2].at(Step::Network).values(0), 10U);
  }
}

TEST_F(TwoNodes, OptimalWeighsTheColumnsAndTheSizeOfANumber) {
  PlanOptions options = optionsFor(Strategy::Optimal, 160);
  options.columns = 2;
  EXPECT_EQ(messages(plansOf(options, map, pattern), Step::Network).size(), 2U);
  options.bytesPerValue = 4;
  EXPECT_EQ(messages(plansOf(options, map, pattern), Step::Network).size(), 1U);
}

TEST(ExchangePlan, ThreeStepDealsTheNodesToTheRanksOnBothSides) {
  // Rank 0 alone has something to send, to one rank on each of four other nodes; ranks 2, 4, 6, 8 are the first there.
  const NodeMap map = NodeMap::uniform(10, 2);
  const auto out = allOf(3, {{}, {}, {0}, {}, {0}, {}, {0}, {}, {0}, {}});
  const auto plans = plansOf(optionsFor(Strategy::ThreeStep), map, out);
  EXPECT_EQ(plans[0].at(Step::Network).sends.size(), 2U);
  EXPECT_EQ(plans[1].at(Step::Network).sends.size(), 2U);
  EXPECT_EQ(messages(plans, Step::Gather), (Messages{{0, 1}}));
  // The other way round: rank 0 alone needs something, of four nodes.
  const auto in = allOf(3, {{2, 4, 6, 8}, {}, {}, {}, {}, {}, {}, {}, {}, {}});
  const auto back = plansOf(optionsFor(Strategy::ThreeStep), map, in);
  EXPECT_EQ(back[0].at(Step::Network).sources.size(), 2U);
  EXPECT_EQ(back[1].at(Step::Network).sources.size(), 2U);
}

TEST(ExchangePlan, OptimalDealsInDescendingSizeToTheFirstThatHasTheFewest) {
  // Rank 0 sends 40 values to node 1, 10 to node 2, 20 to node 3, 30 to node 4, each a single rank; rank 1 has none.
  const NodeMap map = NodeMap::fromLabels({0, 0, 1, 2, 3, 4});
  std::vector<PeerLists> needs(6);
  const std::vector<std::pair<std::size_t, int>> counts{{2, 40}, {3, 10}, {4, 20}, {5, 30}};
  for (const auto& [rank, count] : counts) {
    for (LocalIndex index = 0; index < count; ++index) needs[rank].append(0, index);
  }
  const auto pattern = ExchangePattern::fromNeeds({40, 0, 0, 0, 0, 0}, needs);
  const auto plans = plansOf(optionsFor(Strategy::Optimal), map, pattern);
  // In order 40, 30, 20, 10; the owner is preferred among those with equally few.
  EXPECT_EQ(messages(plans, Step::Network), (Messages{{0, 2}, {0, 4}, {1, 3}, {1, 5}}));
}

TEST(ExchangePlan, OptimalSplitsLessWhereItWouldSendMoreThanTwoStep) {
  // Ranks 0 and 1 send 100 values each to two nodes of their own: with an eager limit of a byte all would be split in
  // two, which makes 4 messages a rank; inequality (4.4) allows max(2, 2).
  const NodeMap map = NodeMap::uniform(10, 2);
  const auto pattern = allOf(100, {{}, {}, {0}, {}, {0}, {}, {1}, {}, {1}, {}});
  const auto counts = countsOf(plansOf(optionsFor(Strategy::Optimal, 1), map, pattern), map, 1);
  EXPECT_EQ(counts.network.messages.mostOfARank, 2);
  EXPECT_EQ(counts.network.messages.total, 4);
}

TEST(ExchangePlan, GathersAValueOnceForSeveralNodes) {
  // Rank 1 needs to send nothing itself: rank 0's entry goes to three nodes, two of them by rank 1.
  const NodeMap map = NodeMap::uniform(10, 2);
  const auto pattern = allOf(1, {{}, {}, {0}, {}, {0}, {}, {0}, {}, {0}, {}});
  const auto plans = plansOf(optionsFor(Strategy::ThreeStep), map, pattern);
  EXPECT_EQ(plans[1].at(Step::Network).sends.entries.size(), 2U);
  EXPECT_EQ(plans[0].at(Step::Gather).sends.entries.size(), 1U);
}

TEST(ExchangePlan, RefusesBadOptionsAndOtherNodeMaps) {
  const auto pattern = allOf(1, {{1}, {}});
  const NodeMap map = NodeMap::uniform(2, 1);
  expectRefused([&] { plansOf({}, NodeMap::uniform(3, 1), pattern); }, "a pattern of 2 ranks, a node map of 3");
  PlanOptions options = optionsFor(Strategy::Optimal, 0);
  expectRefused([&] { plansOf(options, map, pattern); }, "eager limit in bytes: 0; allowed: 1 or more");
  options = {};
  options.columns = 0;
  expectRefused([&] { plansOf(options, map, pattern); }, "columns: 0");
  options = {};
  options.bytesPerValue = -8;
  expectRefused([&] { plansOf(options, map, pattern); }, "bytes per value: -8");
}

TEST(ExchangePlan, RefusesPartsThatDoNotBringWhatIsNeeded) {
  const auto pattern = allOf(1, {{1}, {}});
  expectRefused([&] { assemble(Strategy::Standard, NodeMap::uniform(2, 1), 0, pattern.of(0), {}, {}, {}); },
                "entry 0 of rank 1 does not reach rank 0");
}

TEST(Strategy, HasANameThatLeadsBack) {
  for (const Strategy strategy : allStrategies) EXPECT_EQ(strategyNamed(nameOf(strategy)), strategy);
  expectRefused([] { strategyNamed("fastest"); }, "'fastest'; allowed: standard, two-step, three-step, optimal");
}

}  // namespace
}  // namespace capstan::topology::test
