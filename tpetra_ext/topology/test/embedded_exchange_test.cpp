#include "tpetra_ext/topology/exchange/embedded_exchange.hpp"

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "tpetra_ext/test/support/counted_allocations.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/topology/exchange/distributed_embedding.hpp"
#include "tpetra_ext/topology/test/distributed_case.hpp"
#include "tpetra_ext/topology/test/expect_refused.hpp"

namespace capstan::topology::test {
namespace {

using capstan::test::mpiCalls;
using capstan::test::resetMpiCalls;
using capstan::test::Scalar;
using capstan::test::sentMessages;
using Exchange = EmbeddedExchange<Types>;

/// As many positions as there are ranks, in an order that is not theirs.
Positions shuffled(int ranks, std::uint64_t seed) {
  Positions positions = orderedPositions(ranks);
  Random random(seed);
  for (int r = ranks - 1; r > 0; --r) {
    std::swap(positions[static_cast<std::size_t>(r)], positions[static_cast<std::size_t>(random.below(r + 1))]);
  }
  return positions;
}

std::unique_ptr<Exchange> makeExchange(const DistributedPattern& mine, const Positions& positions) {
  return std::make_unique<Exchange>(
      worldChannel(), std::make_shared<const EmbeddedPlan>(embeddedPlan(worldChannel(), positions, mine.pattern())));
}

double entry(int rank, LocalIndex index, std::size_t column, int salt) {
  return 1.0 / (3 + rank) + 1000.0 * index + 0.1 * static_cast<double>(column) + salt;
}

/// A block of this rank's entries, and room for those of others.
struct Block {
  using View = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Types::DeviceType>;
  View own, ghosts;

  Block(const RankPattern& mine, std::size_t columns, int salt)
      : own("own", static_cast<std::size_t>(mine.owned), columns),
        ghosts("ghosts", mine.needs.entries.size(), columns) {
    const auto host = Kokkos::create_mirror_view(own);
    for (LocalIndex i = 0; i < mine.owned; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        host(static_cast<std::size_t>(i), j) = entry(world()->getRank(), i, j, salt);
      }
    }
    Kokkos::deep_copy(own, host);
  }
  Exchange::Carried carried() const { return {own, ghosts}; }

  void expectArrived(const PeerLists& needs, int salt) const {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ghosts);
    std::size_t row = 0;
    for (std::size_t k = 0; k < needs.size(); ++k) {
      for (const LocalIndex index : needs.list(k)) {
        for (std::size_t j = 0; j < host.extent(1); ++j) {
          ASSERT_EQ(host(row, j), entry(needs.peers[k], index, j, salt))
              << "entry " << index << " of rank " << needs.peers[k];
        }
        ++row;
      }
    }
  }
};

/// Numbers whose sums are rounded.
std::vector<Scalar> numbers(int count, int salt) {
  std::vector<Scalar> all(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    all[static_cast<std::size_t>(k)] = std::sin(1.0 + 3 * world()->getRank() + 0.7 * k + salt) * std::pow(10, k % 7);
  }
  return all;
}

void expectSame(const std::vector<Scalar>& mine) {
  std::vector<Scalar> first = mine;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  EXPECT_EQ(std::memcmp(first.data(), mine.data(), mine.size() * sizeof(Scalar)), 0);
}

TEST(EmbeddedExchange, EqualsAnAllReduceAndAHaloExchange) {
  const int ranks = world()->getSize();
  for (const Case& given : casesFor(ranks)) {
    SCOPED_TRACE(given.name);
    const DistributedPattern mine = onThisRank(given.pattern(), NodeMap::uniform(ranks, 2));
    for (const Positions& positions : {orderedPositions(ranks), shuffled(ranks, 3)}) {
      const auto exchange = makeExchange(mine, positions);
      int salt = 0;
      for (const auto& [count, columns] : std::vector<std::pair<int, std::size_t>>{{3, 1}, {0, 2}, {12, 0}, {5, 3}}) {
        const Block block(mine.pattern(), columns, ++salt);
        std::vector<Scalar> sums = numbers(count, salt), wanted(sums.size());
        MPI_Allreduce(sums.data(), wanted.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        exchange->run(sums.data(), count, {block.carried()});
        block.expectArrived(mine.pattern().needs, salt);
        for (std::size_t k = 0; k < sums.size(); ++k) {
          EXPECT_NEAR(sums[k], wanted[k], 1e-14 * ranks * std::pow(10, static_cast<int>(k) % 7));
        }
        expectSame(sums);
      }
    }
  }
}

TEST(EmbeddedExchange, CarriesSeveralBlocksAtOnce) {
  const int ranks = world()->getSize();
  const DistributedPattern mine = onThisRank(casesFor(ranks)[2].pattern(), NodeMap::uniform(ranks, 1));
  const auto exchange = makeExchange(mine, shuffled(ranks, 9));
  const Block one(mine.pattern(), 1, 5), two(mine.pattern(), 2, 6);
  std::vector<Scalar> sums{1};
  exchange->run(sums.data(), 1, {one.carried(), two.carried()});
  EXPECT_EQ(sums[0], ranks);
  one.expectArrived(mine.pattern().needs, 5);
  two.expectArrived(mine.pattern().needs, 6);
}

TEST(EmbeddedExchange, EveryRankNeedsAllOfAllInManySizes) {
  const int ranks = world()->getSize();
  for (const LocalIndex size : {0, 1, 1000, 100000 / ranks}) {
    PeerLists needs;
    for (int peer = 0; peer < ranks; ++peer) {
      for (LocalIndex i = 0; peer != world()->getRank() && i < size; ++i) needs.append(peer, i);
    }
    const DistributedPattern mine(worldChannel(), NodeMap::uniform(ranks, 2), size, needs);
    const auto exchange = makeExchange(mine, orderedPositions(ranks));
    const Block block(mine.pattern(), 1, 4);
    std::vector<Scalar> sums = numbers(3, 1);
    exchange->run(sums.data(), 3, {block.carried()});
    block.expectArrived(needs, 4);
    expectSame(sums);
  }
}

TEST(EmbeddedExchange, NaNAndInfinityAreTheSameOnAllRanks) {
  const int ranks = world()->getSize();
  const DistributedPattern mine = onThisRank(casesFor(ranks)[0].pattern(), NodeMap::uniform(ranks, 2));
  const auto exchange = makeExchange(mine, shuffled(ranks, 1));
  using Limits = std::numeric_limits<Scalar>;
  const bool last = world()->getRank() == ranks - 1;
  std::vector<Scalar> sums{last ? std::nan("7") : 1, last ? Limits::infinity() : -1, last ? -0.0 : 0.0};
  exchange->run(sums.data(), 3, {});
  EXPECT_TRUE(std::isnan(sums[0]));
  EXPECT_EQ(sums[1], Limits::infinity());
  expectSame(sums);
}

TEST(EmbeddedExchange, SendsOneMessageADimensionAndNothingElse) {
  const int ranks = world()->getSize(), dimensions = hypercubeDimensions(ranks);
  const DistributedPattern mine = onThisRank(casesFor(ranks)[3].pattern(), NodeMap::uniform(ranks, 2));  // dense rows
  const auto exchange = makeExchange(mine, orderedPositions(ranks));
  const Block block(mine.pattern(), 1, 2);
  std::vector<Scalar> sums = numbers(9, 1);
  exchange->run(sums.data(), 9, {block.carried()});
  const ExchangeCounters before = exchange->counters();
  resetMpiCalls();
  sentMessages() = {true, {}};
  exchange->run(sums.data(), 9, {block.carried()});
  sentMessages().wanted = false;
  const int rank = world()->getRank(), corners = 1 << dimensions;
  const long wanted = rank >= corners ? 1 : dimensions + (rank + corners < ranks ? 1 : 0);
  EXPECT_EQ(static_cast<long>(sentMessages().list.size()), wanted);
  EXPECT_EQ(exchange->counters().messages - before.messages, wanted);
  long bytes = 0;
  for (const auto& message : sentMessages().list) bytes += message.bytes;
  EXPECT_EQ(exchange->counters().bytes - before.bytes, bytes);
  EXPECT_EQ(mpiCalls().allreduce + mpiCalls().iallreduce + mpiCalls().otherCollectives, 0);
}

TEST(EmbeddedExchange, AllocatesNothingFromTheSecondUseOn) {
  const int ranks = world()->getSize();
  const DistributedPattern mine = onThisRank(casesFor(ranks)[0].pattern(), NodeMap::uniform(ranks, 2));
  const auto exchange = makeExchange(mine, orderedPositions(ranks));
  const Block block(mine.pattern(), 1, 2);
  std::vector<Scalar> sums = numbers(9, 1);
  const std::vector<Exchange::Carried> carried{block.carried()};
  for (int k = 0; k < 2; ++k) exchange->run(sums.data(), 9, carried);
  const long before = capstan::test::allocations();
  exchange->run(sums.data(), 9, carried);
  EXPECT_EQ(capstan::test::allocations() - before, 0);
}

TEST(EmbeddedExchange, OutlivesMoreShapesThanItKeeps) {
  const int ranks = world()->getSize();
  const DistributedPattern mine = onThisRank(casesFor(ranks)[1].pattern(), NodeMap::uniform(ranks, 2));
  const auto exchange = makeExchange(mine, orderedPositions(ranks));
  for (int count = 1; count < 40; ++count) {
    const Block block(mine.pattern(), static_cast<std::size_t>(count % 3), count);
    std::vector<Scalar> sums(static_cast<std::size_t>(count), 1);
    exchange->run(sums.data(), count, {block.carried()});
    EXPECT_EQ(std::count(sums.begin(), sums.end(), ranks), count);
    block.expectArrived(mine.pattern().needs, count);
  }
}

TEST(EmbeddedExchange, RefusesBlocksOfOtherSizes) {
  const int ranks = world()->getSize();
  const DistributedPattern mine = onThisRank(casesFor(ranks)[0].pattern(), NodeMap::uniform(ranks, 2));
  const auto exchange = makeExchange(mine, orderedPositions(ranks));
  RankPattern other = mine.pattern();
  ++other.owned;
  const Block block(other, 1, 2);
  expectRefused([&] { exchange->run(static_cast<Scalar*>(nullptr), 0, {block.carried()}); }, "the plan is for");
  expectRefused([&] { Exchange(worldChannel(), nullptr); }, "null pointer");
}

}  // namespace
}  // namespace capstan::topology::test
