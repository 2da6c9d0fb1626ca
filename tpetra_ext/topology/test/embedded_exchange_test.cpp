/// \file
/// What an embedded exchange promises beside its result: messages, memory, and what it refuses.

#include <gtest/gtest.h>

#include "tpetra_ext/test/support/counted_allocations.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/watched_views.hpp"
#include "tpetra_ext/topology/test/embedded_case.hpp"
#include "tpetra_ext/topology/test/expect_refused.hpp"

namespace capstan::topology::test {
namespace {

using capstan::test::mpiCalls;
using capstan::test::resetMpiCalls;
using capstan::test::sentMessages;

TEST(EmbeddedExchange, CarriesSeveralBlocksAtOnce) {
  const Group group = everyone();
  const int ranks = group.ranks;
  const DistributedPattern mine = group.part(casesFor(ranks)[2].pattern(), 1);
  const auto exchange = group.exchange(mine, shuffled(ranks, 9));
  const Block one(group.rank, mine.pattern(), 1, 5), two(group.rank, mine.pattern(), 2, 6);
  std::vector<Scalar> sums{1};
  exchange->run(sums.data(), 1, {one.carried(), two.carried()});
  EXPECT_EQ(sums[0], ranks);
  one.expectArrived(mine.pattern().needs, 5);
  two.expectArrived(mine.pattern().needs, 6);
}

TEST(EmbeddedExchange, NaNAndInfinityAreTheSameOnAllRanks) {
  const Group group = everyone();
  const int ranks = group.ranks;
  const DistributedPattern mine = group.part(casesFor(ranks)[0].pattern(), 2);
  const auto exchange = group.exchange(mine, shuffled(ranks, 1));
  using Limits = std::numeric_limits<Scalar>;
  const bool last = group.rank == ranks - 1;
  std::vector<Scalar> sums{last ? std::nan("7") : 1, last ? Limits::infinity() : -1, last ? -0.0 : 0.0};
  exchange->run(sums.data(), 3, {});
  EXPECT_TRUE(std::isnan(sums[0]));
  EXPECT_EQ(sums[1], Limits::infinity());
  expectSame(group, sums);
}

TEST(EmbeddedExchange, ANaNOfSeveralIsTheSameOnAllRanks) {
  const Group group = everyone();
  const int ranks = group.ranks;
  const DistributedPattern mine = group.part(casesFor(ranks)[0].pattern(), 2);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto exchange = group.exchange(mine, shuffled(ranks, seed));
    std::vector<Scalar> sums(9, group.rank == 0 ? std::nan("7") : group.rank == 1 ? -std::nan("9") : 1);
    exchange->run(sums.data(), 9, {});
    EXPECT_TRUE(std::isnan(sums[0]));
    expectSame(group, sums);
  }
}

TEST(EmbeddedExchange, SendsOneMessageADimensionAndNothingElse) {
  const Group group = everyone();
  const int ranks = group.ranks, dimensions = hypercubeDimensions(ranks);
  const DistributedPattern mine = group.part(casesFor(ranks)[3].pattern(), 2);  // dense rows
  const auto exchange = group.exchange(mine, orderedPositions(ranks));
  const Block block(group.rank, mine.pattern(), 1, 2);
  std::vector<Scalar> sums = numbers(group.rank, 9, 1);
  exchange->run(sums.data(), 9, {block.carried()});
  const ExchangeCounters before = exchange->counters();
  resetMpiCalls();
  sentMessages() = {true, {}};
  exchange->run(sums.data(), 9, {block.carried()});
  sentMessages().wanted = false;
  const int rank = group.rank, corners = 1 << dimensions;
  const long wanted = rank >= corners ? 1 : dimensions + (rank + corners < ranks ? 1 : 0);
  EXPECT_EQ(static_cast<long>(sentMessages().list.size()), wanted);
  EXPECT_EQ(exchange->counters().messages - before.messages, wanted);
  long bytes = 0;
  for (const auto& message : sentMessages().list) bytes += message.bytes;
  EXPECT_EQ(exchange->counters().bytes - before.bytes, bytes);
  EXPECT_EQ(mpiCalls().allreduce + mpiCalls().iallreduce + mpiCalls().otherCollectives, 0);
}

TEST(EmbeddedExchange, AllocatesNothingFromTheSecondUseOn) {
  const Group group = everyone();
  const int ranks = group.ranks;
  const DistributedPattern mine = group.part(casesFor(ranks)[0].pattern(), 2);
  const auto exchange = group.exchange(mine, orderedPositions(ranks));
  const Block block(group.rank, mine.pattern(), 1, 2);
  std::vector<Scalar> sums = numbers(group.rank, 9, 1);
  const std::vector<Exchange::Carried> carried{block.carried()};
  for (int k = 0; k < 2; ++k) exchange->run(sums.data(), 9, carried);
  const capstan::test::CountedKernels kernels;
  const long before = capstan::test::allocations();
  exchange->run(sums.data(), 9, carried);
  const long found = capstan::test::allocations() - before;
  EXPECT_EQ(found, kernels.count() * capstan::test::allocationsOfARange());
}

TEST(EmbeddedExchange, OutlivesMoreShapesThanItKeeps) {
  const Group group = everyone();
  const int ranks = group.ranks;
  const DistributedPattern mine = group.part(casesFor(ranks)[1].pattern(), 2);
  const auto exchange = group.exchange(mine, orderedPositions(ranks));
  for (int count = 1; count < 40; ++count) {
    const Block block(group.rank, mine.pattern(), static_cast<std::size_t>(count % 3), count);
    std::vector<Scalar> sums(static_cast<std::size_t>(count), 1);
    exchange->run(sums.data(), count, {block.carried()});
    EXPECT_EQ(std::count(sums.begin(), sums.end(), ranks), count);
    block.expectArrived(mine.pattern().needs, count);
  }
}

TEST(EmbeddedExchange, RefusesBlocksOfOtherSizes) {
  const Group group = everyone();
  const int ranks = group.ranks;
  const DistributedPattern mine = group.part(casesFor(ranks)[0].pattern(), 2);
  const auto exchange = group.exchange(mine, orderedPositions(ranks));
  RankPattern other = mine.pattern();
  ++other.owned;
  const Block block(group.rank, other, 1, 2);
  expectRefused([&] { exchange->run(static_cast<Scalar*>(nullptr), 0, {block.carried()}); }, "the plan is for");
  expectRefused([&] { Exchange(queue(), worldChannel(), nullptr); }, "null pointer");
}

}  // namespace
}  // namespace capstan::topology::test
