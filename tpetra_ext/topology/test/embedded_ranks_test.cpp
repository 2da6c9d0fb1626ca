/// \file
/// Embedded exchanges beside an all-reduce and what the owners have, on every number of ranks from 1 to 17: one job for
/// each up to 8, and one of 17 ranks of which the first 9 to 16 exchange, too.

#include <gtest/gtest.h>

#include "tpetra_ext/topology/test/embedded_case.hpp"

namespace capstan::topology::test {
namespace {

constexpr int largestAlone = 8;

/// Calls `check` with all ranks, and, where the job is large, with the first 9, 10, ... of them.
template <class Check>
void onEveryGroup(const Check& check) {
  const int rank = world()->getRank(), ranks = world()->getSize();
  for (int size = std::min(ranks, largestAlone + 1); size <= ranks; ++size) {
    const CommPtr part = size == ranks ? world() : CommPtr(world()->split(rank < size ? 0 : 1, rank));
    SCOPED_TRACE(std::to_string(size) + " ranks");
    if (rank < size) check(Group(part));
  }
}

struct Route {
  Positions positions;
  StepOrder order;
};

/// In order, at random, and mapped: without nodes, and with two ranks on each.
std::vector<Route> routesFor(const Group& group, const RankPattern& pattern) {
  const auto mapped = [&](int ranksPerNode) {
    MappingOptions options;
    options.ranksPerNode = ranksPerNode;
    return mappedPositions(group.channel, pattern, options);
  };
  return {{orderedPositions(group.ranks), StepOrder::Ascending},
          {shuffled(group.ranks, 3), StepOrder::Descending},
          {mapped(0), StepOrder::Ascending},
          {mapped(2), StepOrder::Descending}};
}

void expectSums(const Group& group, const std::vector<Scalar>& sums, const std::vector<Scalar>& mine) {
  std::vector<Scalar> wanted(mine.size());
  MPI_Allreduce(mine.data(), wanted.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_SUM, group.raw);
  for (std::size_t k = 0; k < sums.size(); ++k) {
    EXPECT_NEAR(sums[k], wanted[k], 1e-14 * group.ranks * std::pow(10, static_cast<int>(k) % 7));
  }
  expectSame(group, sums);
}

TEST(EmbeddedRanks, EqualAnAllReduceAndAHaloExchange) {
  onEveryGroup([](const Group& group) {
    for (const Case& given : casesFor(group.ranks)) {
      SCOPED_TRACE(given.name);
      const DistributedPattern mine = group.part(given.pattern(), 2);
      for (const Route& route : routesFor(group, mine.pattern())) {
        const auto exchange = group.exchange(mine, route.positions, route.order);
        int salt = 0;
        for (const auto& [count, columns] : std::vector<std::pair<int, std::size_t>>{{3, 1}, {0, 2}, {12, 0}, {5, 3}}) {
          const Block block(group.rank, mine.pattern(), columns, ++salt);
          const std::vector<Scalar> numbersHere = numbers(group.rank, count, salt);
          std::vector<Scalar> sums = numbersHere;
          exchange->run(sums.data(), count, {block.carried()});
          block.expectArrived(mine.pattern().needs, salt);
          expectSums(group, sums, numbersHere);
        }
      }
    }
  });
}

TEST(EmbeddedRanks, EveryRankNeedsAllOfAllInManySizes) {
  onEveryGroup([](const Group& group) {
    for (const LocalIndex size : {0, 1, 1000, 100000 / group.ranks}) {
      // The largest once: it is slow where ranks share a core.
      if (size > 1000 && group.ranks != world()->getSize()) continue;
      PeerLists needs;
      for (int peer = 0; peer < group.ranks; ++peer) {
        for (LocalIndex i = 0; peer != group.rank && i < size; ++i) needs.append(peer, i);
      }
      const DistributedPattern mine(group.channel, NodeMap::uniform(group.ranks, 2), size, needs);
      const auto exchange = group.exchange(mine, orderedPositions(group.ranks));
      const Block block(group.rank, mine.pattern(), 1, 4);
      const std::vector<Scalar> numbersHere = numbers(group.rank, 3, 1);
      std::vector<Scalar> sums = numbersHere;
      exchange->run(sums.data(), 3, {block.carried()});
      block.expectArrived(needs, 4);
      expectSums(group, sums, numbersHere);
    }
  });
}

}  // namespace
}  // namespace capstan::topology::test
