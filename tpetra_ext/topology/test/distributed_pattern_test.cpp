#include "tpetra_ext/topology/exchange/distributed_pattern.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <Teuchos_DefaultMpiComm.hpp>
#include <Teuchos_DefaultSerialComm.hpp>
#include <memory>

#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/topology/test/distributed_case.hpp"
#include "tpetra_ext/topology/test/expect_refused.hpp"

namespace capstan::topology::test {
namespace {

void expectSame(const RankPlan& got, const RankPlan& wanted) {
  EXPECT_EQ(got.strategy, wanted.strategy);
  EXPECT_EQ(got.rank, wanted.rank);
  EXPECT_EQ(got.owned, wanted.owned);
  EXPECT_EQ(got.slots, wanted.slots);
  EXPECT_EQ(got.needed, wanted.needed);
  for (const Step step : allSteps) {
    SCOPED_TRACE(nameOf(step));
    EXPECT_EQ(got.at(step).sends.peers, wanted.at(step).sends.peers);
    EXPECT_EQ(got.at(step).sends.begin, wanted.at(step).sends.begin);
    EXPECT_EQ(got.at(step).sends.entries, wanted.at(step).sends.entries);
    EXPECT_EQ(got.at(step).sources, wanted.at(step).sources);
    EXPECT_EQ(got.at(step).begin, wanted.at(step).begin);
  }
}

TEST(DistributedPattern, GivesThePlansThatOneProcessMakesForAll) {
  const int ranks = world()->getSize(), rank = world()->getRank();
  for (const Case& given : casesFor(ranks)) {
    const auto pattern = given.pattern();
    for (int ranksPerNode = 1; ranksPerNode <= 4; ++ranksPerNode) {
      const NodeMap map = NodeMap::uniform(ranks, ranksPerNode);
      const DistributedPattern distributed = onThisRank(pattern, map);
      for (const PlanOptions& options : allOptions()) {
        SCOPED_TRACE(given.name + ", " + std::to_string(ranksPerNode) + " a node, " + nameOf(options.strategy));
        expectSame(distributed.plan(options), plansOf(options, map, pattern)[static_cast<std::size_t>(rank)]);
      }
    }
  }
}

TEST(DistributedPattern, AlsoWhereTheRanksOfANodeAreScattered) {
  const int ranks = world()->getSize(), rank = world()->getRank();
  std::vector<long long> labels;
  for (int k = 0; k < ranks; ++k) labels.push_back((k * 5) % 3);
  const NodeMap map = NodeMap::fromLabels(labels);
  for (const Case& given : casesFor(ranks)) {
    const auto pattern = given.pattern();
    const DistributedPattern distributed = onThisRank(pattern, map);
    for (const PlanOptions& options : allOptions()) {
      SCOPED_TRACE(given.name + ", " + nameOf(options.strategy));
      expectSame(distributed.plan(options), plansOf(options, map, pattern)[static_cast<std::size_t>(rank)]);
    }
  }
}

TEST(DistributedPattern, RefusesOnAllRanksWhatIsWrongOnOne) {
  const int ranks = world()->getSize(), rank = world()->getRank();
  const NodeMap map = NodeMap::uniform(ranks, 2);
  const auto refused = [&](LocalIndex owned, const PeerLists& needs, const std::string& hereSaid, int where) {
    expectRefused([&] { DistributedPattern(worldChannel(), map, owned, needs); },
                  rank == where ? hereSaid : "refused on another rank");
  };
  expectRefused([&] { DistributedPattern(worldChannel(), NodeMap::uniform(ranks + 1, 2), 1, {}); },
                "a node map of " + std::to_string(ranks + 1));
  refused(rank == 0 ? -1 : 1, {}, "-1 entries", 0);
  if (ranks == 1) return;
  PeerLists needs;
  if (rank == 1) needs.append(1, 0);
  refused(3, needs, "the rank itself", 1);
  // What an owner does not have, the owner refuses.
  needs = {};
  if (rank == 1) needs.append(0, 3);
  refused(3, needs, "rank 1 needs entry 3 of rank 0, which has 3", 0);
}

TEST(Channel, IsOneForACommunicatorAndNoneForOneRank) {
  const auto channel = worldChannel();
  if (world()->getSize() == 1) {
    EXPECT_EQ(channel, nullptr);
  } else {
    EXPECT_EQ(channel, worldChannel());
    EXPECT_EQ(channel->rank(), world()->getRank());
    EXPECT_NE(channel->takeTags(), channel->takeTags());
  }
  EXPECT_EQ(Channel::of(Teuchos::SerialComm<int>()), nullptr);
}

TEST(Channel, LivesWithItsCommunicatorAndWithWhomeverHoldsIt) {
  if (world()->getSize() == 1) return;  // there is none, see above
  std::weak_ptr<Channel> kept, held;
  std::shared_ptr<Channel> holder;
  for (const bool hold : {false, true}) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, world()->getRank(), &own);  // begins without attributes
    {
      const Teuchos::MpiComm<int> comm(Teuchos::opaqueWrapper(own));
      const auto channel = Channel::of(comm);
      EXPECT_NE(channel, worldChannel());
      EXPECT_EQ(channel->exchangeMessages({}).size(), 0U);
      (hold ? held : kept) = channel;
      if (hold) holder = channel;
    }
    EXPECT_FALSE((hold ? held : kept).expired());
    MPI_Comm_free(&own);
  }
  EXPECT_TRUE(kept.expired());
  // What is in use outlives the communicator.
  ASSERT_FALSE(held.expired());
  EXPECT_TRUE(holder->onAll(true));
  holder = nullptr;
  EXPECT_TRUE(held.expired());
}

TEST(Channel, FindsRanksThatShareMemoryOnce) {
  const auto channel = worldChannel();
  if (channel == nullptr) return;  // one rank: there is nothing to find
  const NodeMap& map = channel->nodes();
  EXPECT_EQ(map.ranks(), world()->getSize());
  EXPECT_EQ(map.nodes(), 1);  // the tests run on one machine
  capstan::test::resetMpiCalls();
  EXPECT_EQ(&channel->nodes(), &map);
  EXPECT_EQ(capstan::test::mpiCalls().otherCollectives, 0);
}

TEST(Channel, BringsLettersToTheirRanks) {
  const auto channel = worldChannel();
  if (channel == nullptr) return;
  const int ranks = channel->ranks(), rank = channel->rank();
  for (int round = 0; round < 20; ++round) {  // the messages of one call are not taken for those of the next
    // Everybody writes to rank 0, rank 1 to all, itself included; one message is empty.
    std::vector<Message> messages;
    for (int to = 0; to < ranks; ++to) {
      if (to == 0 || rank == 1) messages.emplace_back(to, std::vector<int>(static_cast<std::size_t>(rank), round));
    }
    const auto received = channel->exchangeMessages(messages);
    ASSERT_EQ(received.size(), rank == 0 ? static_cast<std::size_t>(ranks) : 1U);
    for (std::size_t k = 0; k < received.size(); ++k) {
      const int from = rank == 0 ? static_cast<int>(k) : 1;
      EXPECT_EQ(received[k], Message(from, std::vector<int>(static_cast<std::size_t>(from), round)));
    }
  }
}

}  // namespace
}  // namespace capstan::topology::test
