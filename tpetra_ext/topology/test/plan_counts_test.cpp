#include "tpetra_ext/topology/plan_counts.hpp"

#include <gtest/gtest.h>

#include "tpetra_ext/topology/test/expect_refused.hpp"

namespace capstan::topology::test {
namespace {

void expectTally(const Tally& got, long long total, long long mostOfARank, long long mostOfANode) {
  EXPECT_EQ(got.total, total);
  EXPECT_EQ(got.mostOfARank, mostOfARank);
  EXPECT_EQ(got.mostOfANode, mostOfANode);
}

/// Nodes {0, 1}, {2, 3}, {4}. Rank 0 owns 5 entries: rank 1 needs one, ranks 2 and 3 all, rank 4 two. Rank 1 owns 3:
/// rank 3 needs all.
class Counts : public testing::Test {
 protected:
  const NodeMap map = NodeMap::uniform(5, 2);

  PlanCounts of(Strategy strategy, int columns, int bytes = 8) const {
    std::vector<PeerLists> needs(5);
    needs[1].append(0, 2);
    for (LocalIndex index = 0; index < 5; ++index) {
      needs[2].append(0, index);
      needs[3].append(0, index);
    }
    for (LocalIndex index = 0; index < 3; ++index) needs[3].append(1, index);
    for (LocalIndex index = 0; index < 2; ++index) needs[4].append(0, index);
    PlanOptions options;
    options.strategy = strategy;
    return countsOf(plansOf(options, map, ExchangePattern::fromNeeds({5, 3, 0, 0, 0}, needs)), map, columns, bytes);
  }
};

TEST_F(Counts, Standard) {
  const PlanCounts counts = of(Strategy::Standard, 1);
  expectTally(counts.network.messages, 4, 3, 4);
  expectTally(counts.network.bytes, 8 * 15, 8 * 12, 8 * 15);
  expectTally(counts.onNode.messages, 1, 1, 1);
  expectTally(counts.onNode.bytes, 8, 8, 8);
  EXPECT_EQ(counts.mostBetweenNodes, 3);
  EXPECT_EQ(counts.mostBytesBetweenNodes, 8 * 13);
  EXPECT_EQ(counts.mostNodesOfARank, 2);
  EXPECT_EQ(counts.mostNodesOfANode, 2);
}

TEST_F(Counts, TwoStepForBlocks) {
  const PlanCounts counts = of(Strategy::TwoStep, 3);
  expectTally(counts.network.messages, 3, 2, 3);
  expectTally(counts.network.bytes, 24 * 10, 24 * 7, 24 * 10);
  // Rank 0 to 1: one value. Rank 2 passes rank 0's 5 on to rank 3; rank 1's 3 have gone to rank 3 itself.
  expectTally(counts.onNode.messages, 2, 1, 1);
  expectTally(counts.onNode.bytes, 24 * 6, 24 * 5, 24 * 5);
  EXPECT_EQ(counts.mostBetweenNodes, 2);
}

TEST_F(Counts, ThreeStepInSinglePrecision) {
  const PlanCounts counts = of(Strategy::ThreeStep, 1, 4);
  expectTally(counts.network.messages, 2, 1, 2);
  expectTally(counts.network.bytes, 4 * 10, 4 * 8, 4 * 10);
  EXPECT_EQ(counts.mostBetweenNodes, 1);
  EXPECT_EQ(counts.mostBytesBetweenNodes, 4 * 8);
}

TEST_F(Counts, RefuseWhatTheyCannotCount) {
  expectRefused([&] { of(Strategy::Standard, 0); }, "columns: 0");
  expectRefused([&] { of(Strategy::Standard, 1, 0); }, "bytes per value: 0");
  expectRefused([&] { countsOf({}, map, 1); }, "plans of 0 ranks, a node map of 5");
}

}  // namespace
}  // namespace capstan::topology::test
