#include "tpetra_ext/topology/exchange/block_exchange.hpp"

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <Tpetra_Import.hpp>
#include <algorithm>
#include <cstring>
#include <utility>

#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/kernels/base/host_mirror.hpp"
#include "tpetra_ext/test/support/counted_allocations.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/watched_views.hpp"
#include "tpetra_ext/topology/plan_counts.hpp"
#include "tpetra_ext/topology/test/distributed_case.hpp"
#include "tpetra_ext/topology/test/expect_refused.hpp"

namespace capstan::topology::test {
namespace {

using capstan::test::MultiVector;
using capstan::test::Scalar;
using capstan::test::SentMessage;
using capstan::test::sentMessages;
using Exchange = BlockExchange<Types>;
using Map = Types::Map;

std::unique_ptr<Exchange> makeExchange(const DistributedPattern& pattern, const PlanOptions& options) {
  return std::make_unique<Exchange>(queue(), worldChannel(), std::make_shared<const RankPlan>(pattern.plan(options)));
}

/// What stands in an entry: nothing a computation would give by chance.
double entry(int rank, LocalIndex index, std::size_t column, int salt) {
  return 1.0 / (3 + rank) + 1000.0 * index + 0.1 * static_cast<double>(column) + salt;
}

/// A block of this rank's entries, as a Tpetra::MultiVector has it.
class Block {
 public:
  Block(LocalIndex owned, std::size_t columns, int salt)
      : view_("block", static_cast<std::size_t>(owned), columns), host_(Kokkos::create_mirror_view(view_)) {
    for (LocalIndex i = 0; i < owned; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        host_(static_cast<std::size_t>(i), j) = entry(world()->getRank(), i, j, salt);
      }
    }
    Kokkos::deep_copy(view_, host_);
  }
  Exchange::Own own() const { return Exchange::Own(view_.data(), view_.extent(0), view_.extent(1)); }
  /// What a caller may do after start().
  void spoil() { Kokkos::deep_copy(view_, -1); }

 private:
  using View = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Types::DeviceType>;
  View view_;
  capstan::kernels::HostMirror<View> host_;
};

/// What has been received, on the host.
auto onHost(const Exchange& exchange) {
  kernels::handOver<Types::ExecutionSpace>();
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), exchange.received());
}

void expectReceived(const Exchange& exchange, const PeerLists& needs, std::size_t columns, int salt) {
  const auto received = onHost(exchange);
  ASSERT_EQ(received.extent(0), needs.entries.size());
  ASSERT_EQ(received.extent(1), columns);
  std::size_t row = 0;
  for (std::size_t k = 0; k < needs.size(); ++k) {
    for (const LocalIndex index : needs.list(k)) {
      for (std::size_t j = 0; j < columns; ++j) {
        ASSERT_EQ(received(row, j), entry(needs.peers[k], index, j, salt))
            << "entry " << index << " of rank " << needs.peers[k];
      }
      ++row;
    }
  }
}

TEST(BlockExchange, BringsWhatIsNeededForEveryPlanAndBlock) {
  const int ranks = world()->getSize();
  for (const Case& given : casesFor(ranks)) {
    const auto pattern = given.pattern();
    for (int ranksPerNode = 1; ranksPerNode <= 4; ++ranksPerNode) {
      const DistributedPattern mine = onThisRank(pattern, NodeMap::uniform(ranks, ranksPerNode));
      for (const PlanOptions& options : allOptions()) {
        SCOPED_TRACE(given.name + ", " + std::to_string(ranksPerNode) + " a node, " + nameOf(options.strategy));
        const auto exchange = makeExchange(mine, options);
        for (const std::size_t columns : {2, 1, 33, 5}) {
          Block block(mine.pattern().owned, columns, ranksPerNode);
          exchange->start(block.own());
          block.spoil();
          exchange->finish();
          expectReceived(*exchange, mine.pattern().needs, columns, ranksPerNode);
        }
      }
    }
  }
}

TEST(BlockExchange, GivesTheBitsOfTpetrasImport) {
  const int ranks = world()->getSize(), rank = world()->getRank();
  const CommPtr comm = world();
  const auto invalid = Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid();
  for (const Case& given : casesFor(ranks)) {
    const DistributedPattern mine = onThisRank(given.pattern(), NodeMap::uniform(ranks, 2));
    const auto rows = given.partition.rowsOf(rank);
    const Teuchos::Array<Types::GlobalOrdinal> here(rows.begin(), rows.end());
    Teuchos::Array<Types::GlobalOrdinal> wanted;
    const PeerLists& needs = mine.pattern().needs;
    for (std::size_t k = 0; k < needs.size(); ++k) {
      for (const LocalIndex index : needs.list(k)) {
        wanted.push_back(given.partition.rowsOf(needs.peers[k])[static_cast<std::size_t>(index)]);
      }
    }
    const auto source = Teuchos::rcp(new Map(invalid, here(), 0, comm));
    const auto target = Teuchos::rcp(new Map(invalid, wanted(), 0, comm));
    MultiVector x(source, 3), imported(target, 3);
    x.randomize();
    imported.doImport(x, Tpetra::Import<Types::LocalOrdinal, Types::GlobalOrdinal, Types::Node>(source, target),
                      Tpetra::INSERT);
    const auto theirs = imported.getLocalViewHost(Tpetra::Access::ReadOnly);
    for (const PlanOptions& options : allOptions()) {
      const auto exchange = makeExchange(mine, options);
      const auto own = x.getLocalViewDevice(Tpetra::Access::ReadOnly);
      exchange->start(Exchange::Own(own.data(), own.extent(0), own.extent(1)));
      exchange->finish();
      const auto ours = onHost(*exchange);
      ASSERT_EQ(ours.extent(0), theirs.extent(0));
      for (std::size_t i = 0; i < ours.extent(0); ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
          ASSERT_EQ(std::memcmp(&ours(i, j), &theirs(i, j), sizeof(Scalar)), 0) << given.name << ", " << i;
        }
      }
    }
  }
}

/// Messages and bytes that this rank has sent to its node and to others.
struct Sent {
  long long messages[2] = {0, 0}, bytes[2] = {0, 0};  // 0: on the node, 1: network
};

/// The tally of what every rank has.
Tally tallyOf(long long mine, const NodeMap& map) {
  std::vector<long long> all(static_cast<std::size_t>(map.ranks()));
  MPI_Allgather(&mine, 1, MPI_LONG_LONG, all.data(), 1, MPI_LONG_LONG, MPI_COMM_WORLD);
  Tally tally;
  for (int node = 0; node < map.nodes(); ++node) {
    long long sum = 0;
    for (const int rank : map.ranksOf(node)) sum += all[static_cast<std::size_t>(rank)];
    tally.total += sum;
    tally.mostOfANode = std::max(tally.mostOfANode, sum);
  }
  tally.mostOfARank = *std::max_element(all.begin(), all.end());
  return tally;
}

void expectTally(const Tally& got, const Tally& wanted) {
  EXPECT_EQ(got.total, wanted.total);
  EXPECT_EQ(got.mostOfARank, wanted.mostOfARank);
  EXPECT_EQ(got.mostOfANode, wanted.mostOfANode);
}

TEST(BlockExchange, SendsTheMessagesThatThePlanCounts) {
  const int ranks = world()->getSize(), rank = world()->getRank();
  constexpr int columns = 3;
  for (const Case& given : casesFor(ranks)) {
    const auto pattern = given.pattern();
    for (int ranksPerNode = 1; ranksPerNode <= 4; ++ranksPerNode) {
      const NodeMap map = NodeMap::uniform(ranks, ranksPerNode);
      const DistributedPattern mine = onThisRank(pattern, map);
      for (const PlanOptions& options : allOptions()) {
        SCOPED_TRACE(given.name + ", " + std::to_string(ranksPerNode) + " a node, " + nameOf(options.strategy));
        const auto exchange = makeExchange(mine, options);
        const Block block(mine.pattern().owned, columns, 0);
        const ExchangeCounters before = exchangeCounters();
        sentMessages() = {true, {}};
        exchange->start(block.own());
        exchange->finish();
        sentMessages().wanted = false;
        Sent sent;
        for (const SentMessage& message : sentMessages().list) {
          const std::size_t kind = map.sameNode(rank, message.to) ? 0 : 1;
          ++sent.messages[kind];
          sent.bytes[kind] += message.bytes;
        }
        EXPECT_EQ(exchangeCounters().messages - before.messages, sent.messages[0] + sent.messages[1]);
        EXPECT_EQ(exchangeCounters().bytes - before.bytes, sent.bytes[0] + sent.bytes[1]);
        const PlanCounts counts = countsOf(plansOf(options, map, pattern), map, columns, sizeof(Scalar));
        expectTally(tallyOf(sent.messages[0], map), counts.onNode.messages);
        expectTally(tallyOf(sent.bytes[0], map), counts.onNode.bytes);
        expectTally(tallyOf(sent.messages[1], map), counts.network.messages);
        expectTally(tallyOf(sent.bytes[1], map), counts.network.bytes);
      }
    }
  }
}

class OneExchange : public testing::Test {
 protected:
  const Case given = casesFor(world()->getSize())[2];
  const DistributedPattern mine = onThisRank(given.pattern(), NodeMap::uniform(world()->getSize(), 2));
  PlanOptions options = [] {
    PlanOptions three;
    three.strategy = Strategy::ThreeStep;
    return three;
  }();
  const LocalIndex owned = mine.pattern().owned;
};

TEST_F(OneExchange, SeveralAreInFlightTogetherAndFinishInAnyOrder) {
  const auto a = makeExchange(mine, options), b = makeExchange(mine, options);
  const Block first(owned, 2, 1), second(owned, 2, 2);
  for (int round = 0; round < 3; ++round) {
    a->start(first.own());
    b->start(second.own());
    b->finish();
    a->finish();
    expectReceived(*a, mine.pattern().needs, 2, 1);
    expectReceived(*b, mine.pattern().needs, 2, 2);
  }
}

TEST_F(OneExchange, AllocatesNothingFromTheSecondTimeOn) {
  const auto exchange = makeExchange(mine, options);
  const Block wide(owned, 7, 1), narrow(owned, 2, 1);
  for (const Block* block : {&wide, &narrow}) {
    exchange->start(block->own());
    exchange->finish();
  }
  const capstan::test::CountedKernels kernels;
  const long before = capstan::test::allocations();
  for (const Block* block : {&wide, &narrow, &wide}) {
    exchange->start(block->own());
    exchange->finish();
  }
  const long found = capstan::test::allocations() - before;
  EXPECT_EQ(found, kernels.count() * capstan::test::allocationsOfARange());
}

TEST_F(OneExchange, IsFinishedByItsDestructor) {
  const Block block(owned, 2, 1);
  makeExchange(mine, options)->start(block.own());
  const auto next = makeExchange(mine, options);
  next->start(block.own());
  next->finish();
  expectReceived(*next, mine.pattern().needs, 2, 1);
}

TEST_F(OneExchange, RefusesMisuse) {
  const auto exchange = makeExchange(mine, options);
  EXPECT_THROW(exchange->finish(), std::logic_error);
  expectRefused([&] { exchange->start(Block(owned + 1, 2, 0).own()); }, "the communication plan is for ");
  expectRefused([&] { exchange->start(Block(owned, 0, 0).own()); }, "0 columns");
  const Block block(owned, 1, 4);
  exchange->start(block.own());
  EXPECT_THROW(exchange->start(block.own()), std::logic_error);
  exchange->finish();
  expectReceived(*exchange, mine.pattern().needs, 1, 4);
  expectRefused([&] { Exchange(queue(), worldChannel(), nullptr); }, "null pointer");
  auto other = std::make_shared<RankPlan>(mine.plan(options));
  other->rank += 1;
  expectRefused([&] { Exchange(queue(), worldChannel(), other); }, "the communication plan of rank ");
}

}  // namespace
}  // namespace capstan::topology::test
