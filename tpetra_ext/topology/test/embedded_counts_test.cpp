#include "tpetra_ext/topology/hypercube/embedded_counts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "tpetra_ext/topology/test/expect_refused.hpp"
#include "tpetra_ext/topology/test/patterns.hpp"

namespace capstan::topology {
namespace {

/// One value of rank `owner`, that `receivers` need.
ExchangePattern oneValue(int ranks, int owner, const std::set<int>& receivers) {
  std::vector<LocalIndex> owned(static_cast<std::size_t>(ranks), 1);
  std::vector<PeerLists> needs(static_cast<std::size_t>(ranks));
  for (const int receiver : receivers) needs[static_cast<std::size_t>(receiver)] = listsOf({{owner, 0}});
  return ExchangePattern::fromNeeds(owned, needs);
}

TEST(EmbeddedCounts, OfTheExampleOfThePaper) {
  // Fig. 2: P1 sends to P0, P2, P4, P6: 1-0, then 0-2, then 0-4 and 2-6.
  const auto pattern = oneValue(8, 1, {0, 2, 4, 6});
  const auto nodes = NodeMap::uniform(8, 4);
  const auto counts = embeddedCounts(pattern, orderedPositions(8), nodes);
  EXPECT_EQ(counts.messages, 8 * 3);
  EXPECT_EQ(counts.mostMessages, 3);
  EXPECT_EQ(counts.volume, 4);
  EXPECT_EQ(counts.mostVolume, 3);
  EXPECT_EQ(counts.mostSent, 3);
  EXPECT_EQ(counts.networkMessages, 8);
  EXPECT_EQ(counts.networkVolume, 2);
  // The network first: 1-5, then 1-3 and 5-7, then 1-0, 3-2, 5-4, 7-6: more in all, and less between nodes.
  const auto down = embeddedCounts(pattern, orderedPositions(8), nodes, StepOrder::Descending);
  EXPECT_EQ(down.volume, 7);
  EXPECT_EQ(down.networkVolume, 1);
  const auto conventional = conventionalCounts(pattern, nodes);
  EXPECT_EQ(conventional.messages, 4 + 8 * 3);
  EXPECT_EQ(conventional.mostMessages, 4 + 3);
  EXPECT_EQ(conventional.volume, 4);
  EXPECT_EQ(conventional.mostVolume, 4);
  EXPECT_EQ(conventional.mostSent, 4);
  EXPECT_EQ(conventional.networkVolume, 2);
}

TEST(EmbeddedCounts, FoldsRanksBeyondThePowerOfTwo) {
  // Six ranks: 4 goes through 0, 5 through 1. 5 to 0, 1, 4: 5-1, 1-0, 0-4.
  const auto counts = embeddedCounts(oneValue(6, 5, {0, 1, 4}), orderedPositions(6), NodeMap::uniform(6, 3));
  EXPECT_EQ(counts.messages, 4 * 2 + 2 * 2);
  EXPECT_EQ(counts.mostMessages, 3);
  EXPECT_EQ(counts.volume, 3);
  EXPECT_EQ(counts.mostVolume, 3);
  EXPECT_EQ(counts.networkVolume, 2);
  // Moved: rank 5 at position 0.
  const auto moved = embeddedCounts(oneValue(6, 5, {0, 1, 4}), {5, 1, 2, 3, 4, 0}, NodeMap::uniform(6, 6));
  EXPECT_EQ(moved.volume, 3);  // 0-1, then 1-5 and 0-4 at once
  EXPECT_EQ(moved.mostVolume, 2);
  EXPECT_EQ(moved.networkVolume, 0);
  EXPECT_EQ(moved.networkMessages, 0);
}

/// Links of a value: all steps of the ways to its receivers, each once.
using Link = std::array<int, 3>;  // step, from, to: positions
std::set<Link> linksOf(int from, const std::vector<int>& receivers, int dimensions, StepOrder order) {
  std::set<Link> links;
  const int folded = 1 << dimensions;
  for (const int receiver : receivers) {
    int here = from, step = 0;
    if (here >= folded) {
      links.insert({0, here, here - folded});
      here -= folded;
    }
    const int target = receiver % folded;
    for (int k = 0; k < dimensions; ++k) {
      const int bit = 1 << (order == StepOrder::Ascending ? k : dimensions - 1 - k);
      ++step;
      if (((here ^ target) & bit) == 0) continue;
      links.insert({step, here, here ^ bit});
      here ^= bit;
    }
    if (receiver >= folded) links.insert({dimensions + 1, here, receiver});
  }
  return links;
}

TEST(EmbeddedCounts, AreThoseOfTheUnionOfAllWays) {
  for (const int ranks : {1, 2, 3, 8, 12, 17, 32}) {
    for (const auto& one : test::casesFor(ranks)) {
      for (const auto order : {StepOrder::Ascending, StepOrder::Descending}) {
        const auto pattern = one.pattern();
        const auto positions = randomPositions(ranks, 11);
        const auto nodes = NodeMap::uniform(ranks, 5);
        std::vector<int> rankAt(positions.size());
        for (int rank = 0; rank < ranks; ++rank)
          rankAt[static_cast<std::size_t>(positions[static_cast<std::size_t>(rank)])] = rank;
        const int dimensions = hypercubeDimensions(ranks);
        long long volume = 0, network = 0;
        std::map<std::pair<int, int>, long long> handled, sent;
        for (int owner = 0; owner < ranks; ++owner) {
          std::map<LocalIndex, std::vector<int>> receivers;
          const auto& sends = pattern.of(owner).sends;
          for (std::size_t k = 0; k < sends.size(); ++k) {
            for (const auto entry : sends.list(k)) {
              receivers[entry].push_back(positions[static_cast<std::size_t>(sends.peers[k])]);
            }
          }
          for (const auto& [entry, targets] : receivers) {
            for (const auto& [step, from, to] :
                 linksOf(positions[static_cast<std::size_t>(owner)], targets, dimensions, order)) {
              ++volume;
              ++handled[{step, from}];
              ++sent[{step, from}];
              ++handled[{step, to}];
              network +=
                  nodes.sameNode(rankAt[static_cast<std::size_t>(from)], rankAt[static_cast<std::size_t>(to)]) ? 0 : 1;
            }
          }
        }
        const auto concurrent = [](const std::map<std::pair<int, int>, long long>& volumes) {
          std::map<int, long long> most;
          for (const auto& [where, values] : volumes) most[where.first] = std::max(most[where.first], values);
          long long sum = 0;
          for (const auto& [step, values] : most) sum += values;
          return sum;
        };
        const auto counts = embeddedCounts(pattern, positions, nodes, order);
        EXPECT_EQ(counts.volume, volume) << one.name << ", " << ranks;
        EXPECT_EQ(counts.mostVolume, concurrent(handled)) << one.name << ", " << ranks;
        EXPECT_EQ(counts.mostSent, concurrent(sent)) << one.name << ", " << ranks;
        EXPECT_EQ(counts.networkVolume, network) << one.name << ", " << ranks;
      }
    }
  }
}

TEST(EmbeddedCounts, LowDimensionsWithinANodeNeedFewMessagesBetweenNodes) {
  const auto pattern = test::casesFor(64)[0].pattern();
  const auto nodes = NodeMap::uniform(64, 8);
  const auto counts = embeddedCounts(pattern, orderedPositions(64), nodes);
  EXPECT_EQ(counts.messages, 64 * 6);
  EXPECT_EQ(counts.networkMessages, 64 * 3);
  EXPECT_GT(embeddedCounts(pattern, randomPositions(64, 1), nodes).networkMessages, 64 * 5);
}

TEST(EmbeddedCounts, SayWhatIsWrong) {
  const auto pattern = oneValue(4, 0, {1});
  const auto nodes = NodeMap::uniform(4, 2);
  test::expectRefused([&] { embeddedCounts(pattern, orderedPositions(3), nodes); },
                      "positions of 3 ranks for a pattern of 4");
  test::expectRefused([&] { embeddedCounts(pattern, orderedPositions(4), NodeMap::uniform(3, 2)); },
                      "nodes of 3 ranks");
  test::expectRefused([&] { embeddedCounts(pattern, {0, 0, 1, 2}, nodes); }, "rank 1 has position 0");
  test::expectRefused([&] { conventionalCounts(pattern, NodeMap::uniform(5, 2)); }, "nodes of 5 ranks");
}

}  // namespace
}  // namespace capstan::topology
