#include "tpetra_ext/topology/hypercube/hypercube_mapping.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "tpetra_ext/topology/test/expect_refused.hpp"
#include "tpetra_ext/topology/test/shared_cases.hpp"

namespace capstan::topology {
namespace {

using test::expectRefused;
using test::randomValues;

constexpr MappingHeuristic both[] = {MappingHeuristic::Klf, MappingHeuristic::Klr};

MappingOptions optionsFor(MappingHeuristic heuristic, int ranksPerNode = 0) {
  MappingOptions options;
  options.heuristic = heuristic;
  options.ranksPerNode = ranksPerNode;
  return options;
}

TEST(HypercubeMapping, CountsDimensions) {
  const std::vector<std::pair<int, int>> known = {{1, 0},  {2, 1},  {3, 1},     {4, 2},
                                                  {12, 3}, {16, 4}, {2047, 10}, {2048, 11}};
  for (const auto& [ranks, dimensions] : known) EXPECT_EQ(hypercubeDimensions(ranks), dimensions) << ranks;
  expectRefused([] { hypercubeDimensions(0); }, "ranks: 0; allowed: 1 or more");
}

TEST(HypercubeMapping, CostsByHand) {
  // Fig. 2 of the paper: P1 and P6 differ in three bits, P1 and P0 in one.
  const Positions ordered = orderedPositions(8);
  EXPECT_EQ(mappingCost({{{1, 6}, 5}}, ordered), 15);
  EXPECT_EQ(mappingCost({{{0, 1}, 5}}, ordered), 5);
  EXPECT_EQ(mappingCost({{{0, 1, 2, 4, 6}, 1}, {{2, 3}, 2}}, ordered), 3 + 2);
  EXPECT_EQ(mappingCost({}, ordered), 0);
  Positions swapped = ordered;
  std::swap(swapped[6], swapped[3]);
  EXPECT_EQ(mappingCost({{{1, 6}, 5}}, swapped), 5);
  // Three ranks: the third goes through position 0.
  EXPECT_EQ(mappingCost({{{0, 2}, 7}, {{1, 2}, 1}}, orderedPositions(3)), 1);
  EXPECT_EQ(mappingCost({}, {0}), 0);
}

TEST(HypercubeMapping, TakesValuesWithTheSameRanksTogether) {
  // Rank 0 sends entries 0 and 2 to ranks 1 and 2, entry 1 to rank 2; rank 1 sends entry 0 to ranks 0 and 2.
  const auto list = [](std::vector<ValueId> values) { return listsOf(std::move(values)); };
  const auto pattern = ExchangePattern::fromNeeds(
      {4, 1, 0}, {list({{1, 0}}), list({{0, 0}, {0, 2}}), list({{0, 0}, {0, 1}, {0, 2}, {1, 0}})});
  const auto values = sharedValuesOf(pattern);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].ranks, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(values[0].count, 3);
  EXPECT_EQ(values[1].ranks, (std::vector<int>{0, 2}));
  EXPECT_EQ(values[1].count, 1);
}

TEST(HypercubeMapping, CostIsThatOfTheDefinitionForPatternsOfMatrices) {
  for (const int ranks : {1, 2, 8, 16, 32}) {
    for (const auto& one : test::casesFor(ranks)) {
      const auto values = sharedValuesOf(one.pattern());
      const auto positions = randomPositions(ranks, 3);
      EXPECT_EQ(mappingCost(values, positions), test::costByDefinition(values, positions)) << one.name;
    }
  }
}

/// The least cost of any mapping of 8 ranks. XOR with any position keeps costs, so that rank 0 may stay at 0.
long long leastCost(const std::vector<SharedValues>& values) {
  Positions positions = orderedPositions(8);
  long long least = std::numeric_limits<long long>::max();
  do {
    least = std::min(least, test::costByDefinition(values, positions));
  } while (std::next_permutation(positions.begin() + 1, positions.end()));
  return least;
}

TEST(HypercubeMapping, ComesNearTheBestOfAllMappings) {
  constexpr int instances = 50;
  double klf = 0, klr = 0, random = 0;
  for (std::uint64_t seed = 1; seed <= instances; ++seed) {
    // From few pairs to lists of nearly all ranks.
    const auto values = randomValues(8, 6 + static_cast<int>(seed), 2 + static_cast<int>(seed % 5), seed);
    const auto start = randomPositions(8, seed);
    const auto least = static_cast<double>(leastCost(values));
    const auto excess = [&](MappingHeuristic heuristic) {
      const auto result = improveMapping(values, start, optionsFor(heuristic));
      return static_cast<double>(result.after) / least - 1;
    };
    klf += excess(MappingHeuristic::Klf) / instances;
    klr += excess(MappingHeuristic::Klr) / instances;
    random += excess(MappingHeuristic::None) / instances;
  }
  RecordProperty("klf", std::to_string(klf));
  RecordProperty("klr", std::to_string(klr));
  EXPECT_LE(klf, 0.05);
  EXPECT_LE(klr, 0.15);
  EXPECT_GT(random, klr);
}

TEST(HypercubeMapping, NeverMakesAMappingWorseAndRepeatsItself) {
  for (const int ranks : {1, 2, 3, 4, 7, 12, 16, 31, 64, 100}) {
    for (const auto heuristic : both) {
      const auto values = randomValues(ranks, 4 * ranks, 6, static_cast<std::uint64_t>(ranks));
      const auto start = randomPositions(ranks, 9);
      const auto result = improveMapping(values, start, optionsFor(heuristic));
      requirePermutation(result.positions);
      EXPECT_EQ(result.before, mappingCost(values, start));
      EXPECT_EQ(result.after, mappingCost(values, result.positions));
      EXPECT_LE(result.after, result.before);
      if (ranks > 4) {
        EXPECT_LT(result.after, result.before) << ranks;
      }
      EXPECT_EQ(improveMapping(values, start, optionsFor(heuristic)).positions, result.positions);
      EXPECT_EQ(mapToHypercube(ranks, values, start, optionsFor(heuristic)), result.positions);
    }
  }
}

TEST(HypercubeMapping, FindsTheBestOfThreeRanks) {
  // Ranks 0 and 2 belong together: on one corner, whichever is folded.
  for (const auto& start : {Positions{0, 2, 1}, Positions{2, 0, 1}, Positions{0, 1, 2}}) {
    for (const auto heuristic : both) {
      EXPECT_EQ(improveMapping({{{0, 2}, 9}, {{0, 1}, 1}}, start, optionsFor(heuristic)).after, 1);
    }
  }
}

TEST(HypercubeMapping, MapsAHypercubeOntoItself) {
  // Shuffled neighbours of a 4-cube: the least cost is 1 a value, and KLF finds a mapping near it.
  const auto shuffle = randomPositions(16, 4);
  std::vector<SharedValues> values;
  for (int p = 0; p < 16; ++p) {
    for (int d = 0; d < 4; ++d) {
      if ((p >> d & 1) != 0) continue;
      std::vector<int> ends = {shuffle[static_cast<std::size_t>(p)], shuffle[static_cast<std::size_t>(p | 1 << d)]};
      std::sort(ends.begin(), ends.end());
      values.push_back({ends, 1});
    }
  }
  EXPECT_LE(improveMapping(values, orderedPositions(16), optionsFor(MappingHeuristic::Klf)).after, 40);
}

TEST(HypercubeMapping, TakesDisconnectedAndEmptyRanksAndNoValues) {
  // Two rings of four ranks and eight ranks that share nothing.
  std::vector<SharedValues> rings;
  const std::vector<std::vector<int>> pairs{{0, 5}, {1, 5}, {1, 6}, {0, 6}};
  for (const int first : {0, 8}) {
    for (const auto& pair : pairs) {
      rings.push_back({{first + pair[0], first + pair[1]}, 1});
    }
  }
  for (const auto heuristic : both) {
    const auto result = improveMapping(rings, randomPositions(16, 2), optionsFor(heuristic));
    EXPECT_LT(result.after, result.before);
    EXPECT_GE(result.after, 8);  // a ring of four is a face of the hypercube
    EXPECT_LE(result.after, 12);
    const auto start = randomPositions(16, 2);
    EXPECT_EQ(improveMapping({}, start, optionsFor(heuristic)).positions, start);
    EXPECT_EQ(improveMapping({}, {0}, optionsFor(heuristic)).positions, Positions{0});
  }
}

TEST(HypercubeMapping, DoesAtMostThePassesAsked) {
  const auto values = randomValues(64, 300, 5, 1);
  const auto start = randomPositions(64, 1);
  for (const auto heuristic : both) {
    auto options = optionsFor(heuristic);
    options.threshold = 0;
    const auto full = improveMapping(values, start, options);
    EXPECT_GT(full.passes, 2);
    options.passes = 1;
    const auto one = improveMapping(values, start, options);
    EXPECT_EQ(one.passes, 1);
    EXPECT_LT(full.after, one.after);
    options.passes = 0;
    EXPECT_EQ(improveMapping(values, start, options).positions, start);
    options.passes = 20;
    options.threshold = 0.9;
    EXPECT_EQ(improveMapping(values, start, options).passes, 1);
  }
  EXPECT_EQ(improveMapping(values, start, optionsFor(MappingHeuristic::None)).positions, start);
}

TEST(HypercubeMapping, TakesThousandsOfRanks) {
  // 2048 ranks as 32 x 64 points, each sharing with its neighbours: a mapping of a line along each side costs 1 a
  // value.
  std::vector<SharedValues> grid;
  for (int i = 0; i < 32; ++i) {
    for (int j = 0; j < 64; ++j) {
      if (j < 63) grid.push_back({{64 * i + j, 64 * i + j + 1}, 1});
      if (i < 31) grid.push_back({{64 * i + j, 64 * i + j + 64}, 1});
    }
  }
  const auto result = improveMapping(grid, randomPositions(2048, 1), optionsFor(MappingHeuristic::Klr));
  EXPECT_LT(10 * result.after, 6 * result.before);
  const auto fromOrder = improveMapping(grid, orderedPositions(2048), optionsFor(MappingHeuristic::Klr, 16));
  EXPECT_LT(fromOrder.after, result.after);
}

TEST(HypercubeMapping, GroupsRanksOfANode) {
  EXPECT_EQ(ranksPerGroup(64, 0), 1);
  EXPECT_EQ(ranksPerGroup(64, 16), 16);
  EXPECT_EQ(ranksPerGroup(64, 24), 8);
  EXPECT_EQ(ranksPerGroup(64, 7), 1);
  EXPECT_EQ(ranksPerGroup(64, 64), 1);
  EXPECT_EQ(ranksPerGroup(64, 100), 1);
  EXPECT_EQ(ranksPerGroup(12, 8), 8);
  expectRefused([] { ranksPerGroup(4, -1); }, "ranks per node: -1; allowed: 0 or more");
}

TEST(HypercubeMapping, KeepsTheLowDimensionsWithinANode) {
  const std::vector<std::pair<int, int>> shapes = {{16, 4}, {64, 8}, {12, 4},  {14, 4},
                                                   {15, 8}, {13, 2}, {40, 24}, {9, 8}};
  for (const auto& [ranks, perNode] : shapes) {
    const int group = ranksPerGroup(ranks, perNode);
    const auto values = randomValues(ranks, 5 * ranks, 5, 17);
    const auto start = randomPositions(ranks, 5);
    const auto grouped = improveMapping(values, start, optionsFor(MappingHeuristic::None, perNode));
    for (const auto heuristic : both) {
      const auto result = improveMapping(values, start, optionsFor(heuristic, perNode));
      requirePermutation(result.positions);
      EXPECT_LE(result.after, grouped.after);
      std::vector<int> places(static_cast<std::size_t>((ranks + group - 1) / group), -1);
      for (int rank = 0; rank < ranks; ++rank) {
        int& place = places[static_cast<std::size_t>(rank / group)];
        const int here = result.positions[static_cast<std::size_t>(rank)] / group;
        if (place < 0) place = here;
        EXPECT_EQ(place, here) << ranks << " ranks, " << perNode << " a node, rank " << rank;
      }
    }
  }
}

TEST(HypercubeMapping, SharesLessBetweenNodesWhereItKnowsThem) {
  // 256 ranks in a line, as numbered, 16 a node: neighbours stay on their node, nodes next to their neighbours.
  std::vector<SharedValues> line;
  for (int rank = 0; rank + 1 < 256; ++rank) line.push_back({{rank, rank + 1}, 1});
  const auto start = randomPositions(256, 1);
  const auto high = [&](const Positions& positions) {
    auto nodes = positions;
    for (int& position : nodes) position = position / 16 * 16;
    long long crossing = 0;
    for (const auto& value : line) {
      const auto a = static_cast<std::size_t>(value.ranks[0]), b = static_cast<std::size_t>(value.ranks[1]);
      crossing += __builtin_popcount(static_cast<unsigned>(nodes[a] ^ nodes[b]));
    }
    return crossing;
  };
  for (const auto heuristic : both) {
    const auto without = improveMapping(line, start, optionsFor(heuristic));
    const auto with = improveMapping(line, start, optionsFor(heuristic, 16));
    EXPECT_LT(high(with.positions), 40);
    EXPECT_GT(high(without.positions), 2 * high(with.positions));
  }
}

TEST(HypercubeMapping, SaysWhatIsWrong) {
  expectRefused([] { mappingCost({}, {0, 0}); }, "rank 1 has position 0; allowed: each of 0 to 1 once");
  expectRefused([] { mappingCost({}, {1}); }, "rank 0 has position 1");
  expectRefused([] { mappingCost({}, {}); }, "ranks: 0");
  expectRefused([] { mappingCost({{{0}, 1}}, {0, 1}); }, "two or more, ascending, from 0 to 1");
  expectRefused([] { mappingCost({{{1, 0}, 1}}, {0, 1}); }, "ascending");
  expectRefused([] { mappingCost({{{0, 2}, 1}}, {0, 1}); }, "from 0 to 1");
  expectRefused([] { mappingCost({{{0, 1}, -1}}, {0, 1}); }, "is -1; allowed: 0 or more");
  MappingOptions options;
  options.passes = -1;
  expectRefused([&] { improveMapping({}, {0}, options); }, "passes: -1");
  options = {};
  options.threshold = 1;
  expectRefused([&] { improveMapping({}, {0}, options); }, "threshold: 1");
  expectRefused([] { mapToHypercube(2, {}, {0}, {}); }, "1 positions for 2 ranks");
  expectRefused([] { randomPositions(0, 1); }, "ranks: 0");
}

}  // namespace
}  // namespace capstan::topology
