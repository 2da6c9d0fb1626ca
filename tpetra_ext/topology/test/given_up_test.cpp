/// \file
/// Exchanges in which MPI fails: their memory is given back once MPI does not use it any more, and not before.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <chrono>
#include <cstring>
#include <thread>

#include "tpetra_ext/kernels/base/host_mirror.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/topology/exchange/block_exchange.hpp"
#include "tpetra_ext/topology/test/distributed_case.hpp"
#include "tpetra_ext/topology/test/embedded_case.hpp"

namespace capstan::topology::test {
namespace {

using capstan::test::mpiFaults;
using capstan::test::MpiFaults;

/// Whether a message comes within a second. A receive that is still active would take it.
bool comes(MPI_Comm comm, int from, int tag) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  int found = 0;
  while (found == 0 && std::chrono::steady_clock::now() < end) {
    MPI_Iprobe(from, tag, comm, &found, MPI_STATUS_IGNORE);
    std::this_thread::yield();
  }
  return found != 0;
}

/// Sends a number to each of `to`, and expects to be sent one by each of `from`, none of which is taken by anybody
/// else.
void expectNoReceivesOf(int tag, const std::vector<int>& from, const std::vector<int>& to) {
  const MPI_Comm comm = worldChannel()->comm();
  MPI_Barrier(comm);  // all have given up
  std::vector<double> sent(to.size(), 7);
  std::vector<MPI_Request> requests(to.size());
  for (std::size_t k = 0; k < to.size(); ++k) {
    MPI_Isend(&sent[k], 1, MPI_DOUBLE, to[k], tag, comm, &requests[k]);
  }
  for (const int rank : from) {
    const bool came = comes(comm, rank, tag);
    EXPECT_TRUE(came) << "a receive from rank " << rank << " is still active";
    double number = 0;
    if (came) MPI_Recv(&number, 1, MPI_DOUBLE, rank, tag, comm, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

/// The first tag of the exchange made last.
int tagOfTheLast() {
  constexpr int tagsOfAnExchange = 4;
  return worldChannel()->takeTags() - tagsOfAnExchange;
}

/// One value, and 70000 that a step brings or sends, in 40000 columns: more numbers than MPI's counts hold.
RankPlan manySlots(bool sends) {
  constexpr int values = 70000;
  RankPlan plan;
  plan.rank = world()->getRank();
  plan.owned = plan.slots = 1;
  StepMessages& network = plan.steps[static_cast<std::size_t>(Step::Network)];
  if (sends) {
    for (int k = 0; k < values; ++k) network.sends.append(plan.rank, 0);
  } else {
    network.sources = {plan.rank};
    network.begin = {1, 1 + values};
    plan.slots += values;
  }
  return plan;
}

TEST(ExchangeMessages, OfMoreNumbersThanMpiCountsCanBeMade) {
  if (world()->getSize() == 1) GTEST_SKIP() << "one rank has no channel";
  for (const bool sends : {true, false}) {
    ExchangeMessages<double> messages(worldChannel(), std::make_shared<const RankPlan>(manySlots(sends)),
                                      Carrier::Requests);
    double memory = 0;  // nothing is sent
    messages.use(&memory, &memory);
    EXPECT_NO_THROW(messages.open(40000));
    EXPECT_TRUE(messages.giveUp());
  }
}

// One request has been made, the next one not.
TEST(ExchangeMessages, CanBeGivenUpWhereMpiMakesNoRequest) {
  if (world()->getSize() == 1) GTEST_SKIP() << "one rank has no channel";
  RankPlan plan = manySlots(true);
  plan.steps[static_cast<std::size_t>(Step::Local)].sends.append(plan.rank, 0);
  ExchangeMessages<double> messages(worldChannel(), std::make_shared<const RankPlan>(plan), Carrier::Requests);
  double memory = 0;
  messages.use(&memory, &memory);
  mpiFaults() = MpiFaults();
  mpiFaults().sendInit = MPI_ERR_OTHER;
  mpiFaults().spared = 1;
  EXPECT_THROW(messages.open(1), std::runtime_error);
  EXPECT_EQ(mpiFaults().sendInit, MPI_SUCCESS);
  EXPECT_TRUE(messages.giveUp());
}

class GivenUp : public testing::Test {
 protected:
  void TearDown() override { mpiFaults() = MpiFaults(); }

  const Case given = casesFor(world()->getSize())[3];  // dense rows: every rank sends and receives
  const DistributedPattern mine = onThisRank(given.pattern(), NodeMap::uniform(world()->getSize(), 1));
  const std::shared_ptr<const RankPlan> plan = std::make_shared<const RankPlan>(mine.plan(PlanOptions()));
  const Kokkos::View<Scalar**, Kokkos::LayoutLeft, Types::DeviceType> block{
      "block", static_cast<std::size_t>(mine.pattern().owned), 2};

  BlockExchange<Types>::Own own() const {
    return BlockExchange<Types>::Own(block.data(), block.extent(0), block.extent(1));
  }
};

// MPI fails where this rank sends, when all its receives are active.
TEST_F(GivenUp, ReceivesOfABlockAreCancelled) {
  if (world()->getSize() == 1) GTEST_SKIP() << "one rank sends nothing";
  const StepMessages& network = plan->at(Step::Network);
  ASSERT_FALSE(network.sources.empty() || network.sends.empty());
  int tag = 0;
  {
    BlockExchange<Types> exchange(queue(), worldChannel(), plan);
    tag = tagOfTheLast() + static_cast<int>(Step::Network);
    exchange.reserve(2);
    mpiFaults().startall = MPI_ERR_OTHER;
    mpiFaults().spared = 1;
    EXPECT_THROW(exchange.start(own()), std::runtime_error);
    EXPECT_THROW(exchange.start(own()), std::runtime_error) << "it cannot be used any more";
  }
  expectNoReceivesOf(tag, network.sources, network.sends.peers);
}

TEST_F(GivenUp, ReceivesOfAReductionAreCancelled) {
  const Group group = everyone();
  if (group.ranks != 2 && group.ranks != 4) GTEST_SKIP() << "where every rank sends and receives in each step";
  std::vector<int> partners;
  int tag = 0;
  {
    const auto exchange = group.exchange(mine, orderedPositions(group.ranks));
    tag = tagOfTheLast();
    for (const EmbeddedStep& step : exchange->plan().steps) partners.push_back(step.partner);
    mpiFaults().start = MPI_ERR_OTHER;
    mpiFaults().spared = static_cast<long>(partners.size());
    Scalar sum = 1;
    EXPECT_THROW(exchange->run(&sum, 1, {}), std::runtime_error);
  }
  expectNoReceivesOf(tag, partners, partners);
}

/// What MPI writes to: on a device a mirror of it on the host.
using MemoryOfMpi = kernels::HostMirror<Kokkos::View<Scalar*, Types::DeviceType>>::memory_space;

long stagingFreed = 0;
void noteFreed(Kokkos::Profiling::SpaceHandle space, const char* label, const void*, std::uint64_t) {
  if (std::strcmp(space.name, MemoryOfMpi::name()) != 0) return;
  if (std::strncmp(label, "capstan staging", 15) == 0) ++stagingFreed;
}

// A collective that others have not begun: MPI will write when they do.
TEST_F(GivenUp, MemoryOfACollectiveStays) {
  if (world()->getSize() == 1) GTEST_SKIP() << "one rank sends nothing";
  const bool fails = world()->getRank() == 0;
  auto exchange = std::make_unique<BlockExchange<Types>>(queue(), worldChannel(), plan, Carrier::Neighbourhood);
  exchange->reserve(2);
  if (fails) {
    exchange->start(own());
    mpiFaults().test = MPI_ERR_OTHER;
    EXPECT_THROW(exchange->advance(), std::runtime_error);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(noteFreed);
    stagingFreed = 0;
    exchange.reset();
    Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
    EXPECT_EQ(stagingFreed, 0);
  }
  MPI_Barrier(worldChannel()->comm());
  if (!fails) {
    exchange->start(own());
    exchange->finish();
  }
}

}  // namespace
}  // namespace capstan::topology::test
