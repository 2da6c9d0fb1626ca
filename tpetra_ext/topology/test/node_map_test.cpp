#include "tpetra_ext/topology/node_map.hpp"

#include <gtest/gtest.h>

#include "tpetra_ext/topology/test/expect_refused.hpp"

namespace capstan::topology::test {
namespace {

std::vector<int> ranksOf(const NodeMap& map, int node) {
  const auto ranks = map.ranksOf(node);
  return {ranks.begin(), ranks.end()};
}

TEST(NodeMap, LastNodeIsSmallerWhereRanksPerNodeDoesNotDivide) {
  const NodeMap map = NodeMap::uniform(8, 3);
  EXPECT_EQ(map.ranks(), 8);
  EXPECT_EQ(map.nodes(), 3);
  EXPECT_EQ(ranksOf(map, 0), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(ranksOf(map, 2), (std::vector<int>{6, 7}));
  EXPECT_EQ(map.largestNode(), 3);
  EXPECT_EQ(map.nodeOf(5), 1);
  EXPECT_EQ(map.placeOf(5), 2);
  EXPECT_TRUE(map.sameNode(3, 5));
  EXPECT_FALSE(map.sameNode(2, 3));
}

TEST(NodeMap, MoreRanksPerNodeThanRanksIsOneNode) {
  const NodeMap map = NodeMap::uniform(2, 100);
  EXPECT_EQ(map.nodes(), 1);
  EXPECT_EQ(map.sizeOf(0), 2);
}

TEST(NodeMap, LabelsMayBeAnythingAndInAnyOrder) {
  const NodeMap map = NodeMap::fromLabels({7, -3, 7, 7, -3});
  EXPECT_EQ(map.nodes(), 2);
  EXPECT_EQ(ranksOf(map, 0), (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(ranksOf(map, 1), (std::vector<int>{1, 4}));
  EXPECT_EQ(map.placeOf(3), 2);
}

TEST(NodeMap, PairsRanksByTheirPlaceAndGoesRoundASmallerNode) {
  const NodeMap map = NodeMap::uniform(8, 3);
  EXPECT_EQ(map.pairedRank(1, 1), 4);
  EXPECT_EQ(map.pairedRank(4, 0), 1);
  EXPECT_EQ(map.pairedRank(2, 2), 6);  // place 2 of a node of 2
}

TEST(NodeMap, RefusesWhatIsNoJob) {
  expectRefused([] { NodeMap::uniform(4, 0); }, "ranks per node: 0; allowed: 1 or more");
  expectRefused([] { NodeMap::uniform(4, -2); }, "ranks per node: -2");
  expectRefused([] { NodeMap::uniform(0, 2); }, "ranks: 0");
  expectRefused([] { NodeMap::fromLabels({}); }, "ranks: 0");
}

}  // namespace
}  // namespace capstan::topology::test
