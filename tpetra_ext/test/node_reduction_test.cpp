#include "tpetra_ext/topology/exchange/node_reduction.hpp"

#include <gtest/gtest.h>

#include <Teuchos_DefaultMpiComm.hpp>
#include <cstring>
#include <memory>
#include <vector>

#include "tpetra_ext/reductions/all_reduce.hpp"
#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/reductions/pending_reduction.hpp"
#include "tpetra_ext/reductions/progress.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/vectors.hpp"

namespace capstan::test {
namespace {

using topology::NodeMap;
using topology::NodeReduction;
using topology::nodesPay;
using topology::reductionBy;
using topology::ReductionStrategy;
using topology::ReductionTimes;

MPI_Comm raw() { return *dynamic_cast<const Teuchos::MpiComm<int>&>(*world()).getRawMpiComm(); }

/// Numbers whose sum depends on the order.
template <class T>
std::vector<T> part(int rank, std::size_t count, int seed) {
  std::vector<T> values(count);
  for (std::size_t k = 0; k < count; ++k) {
    values[k] = T(1) / T(3 + (rank * 31 + static_cast<int>(k) * 7 + seed) % 101) - T(0.05);
  }
  return values;
}

/// The sum of all parts, to rounding, and the same bits on all ranks.
template <class T>
void expectSum(const std::vector<T>& got, int seed) {
  const int ranks = world()->getSize();
  std::vector<T> sum(got.size(), T(0));
  for (int rank = 0; rank < ranks; ++rank) {
    const auto one = part<T>(rank, got.size(), seed);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += one[k];
  }
  for (std::size_t k = 0; k < sum.size(); ++k) {
    ASSERT_NEAR(got[k], sum[k], static_cast<double>(ranks) * std::numeric_limits<T>::epsilon()) << k;
  }
  std::vector<T> first = got;
  MPI_Bcast(first.data(), static_cast<int>(first.size() * sizeof(T)), MPI_BYTE, 0, raw());
  EXPECT_EQ(std::memcmp(first.data(), got.data(), got.size() * sizeof(T)), 0);
}

std::shared_ptr<NodeReduction> routeOf(int ranksPerNode) {
  return std::make_shared<NodeReduction>(raw(), NodeMap::uniform(world()->getSize(), ranksPerNode));
}

template <class T>
void expectSumsBothWays(const std::shared_ptr<NodeReduction>& route) {
  const int rank = world()->getRank();
  const ReductionRouteScope scope(route);
  AllReduce reduction(world());
  for (const std::size_t count : {1, 2, 17, 5000}) {
    auto blocking = part<T>(rank, count, 1), pending = part<T>(rank, count, 2);
    reduction.run(blocking.data(), static_cast<int>(count));
    expectSum(blocking, 1);
    reduction.wait(reduction.start(pending.data(), static_cast<int>(count)));
    expectSum(pending, 2);
  }
}

TEST(NodeReduction, SumsWithTheSameBitsOnAllRanks) {
  for (int ranksPerNode = 1; ranksPerNode <= 4; ++ranksPerNode) {
    SCOPED_TRACE(ranksPerNode);
    const auto route = routeOf(ranksPerNode);
    expectSumsBothWays<double>(route);
    expectSumsBothWays<float>(route);
  }
}

/// Several in flight, completed in another order than begun, with polls of some ranks between.
TEST(NodeReduction, CarriesSeveralSumsAtOnce) {
  const int rank = world()->getRank();
  for (const auto mode : {ProgressMode::None, ProgressMode::Poll, ProgressMode::Thread}) {
    for (int ranksPerNode = 1; ranksPerNode <= 4; ++ranksPerNode) {
      const ProgressScope progress(mode);
      const ReductionRouteScope scope(routeOf(ranksPerNode));
      constexpr int sums = 7;
      std::vector<std::unique_ptr<AllReduce>> reductions;
      std::vector<std::vector<double>> data;
      std::vector<long> tickets;
      for (int k = 0; k < sums; ++k) {
        reductions.push_back(std::make_unique<AllReduce>(world()));
        data.push_back(part<double>(rank, 10 + 300 * static_cast<std::size_t>(k % 3), k));
      }
      for (int k = 0; k < sums; ++k) {
        tickets.push_back(reductions[k]->start(data[k].data(), static_cast<int>(data[k].size())));
        for (int polls = 0; polls < rank % 3; ++polls) pollReductions();
        if (rank % 2 == 0) reductions[k / 2]->test(tickets[k / 2]);
      }
      for (const int k : {3, 6, 0, 1, 5, 2, 4}) {
        reductions[k]->wait(tickets[k]);
        expectSum(data[k], k);
      }
      EXPECT_EQ(progressPending(), 0);
    }
  }
}

TEST(NodeReduction, IsOverWhereItFallsOutOfScope) {
  auto data = std::make_shared<std::vector<double>>(part<double>(world()->getRank(), 40, 1));
  const ReductionRouteScope scope(routeOf(2));
  { AllReduce(world()).start(data->data(), 40); }
  expectSum(*data, 1);
}

/// Calls of MPI_Allreduce by all ranks together.
long allReduces() {
  long mine = mpiCalls().allreduce, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, raw());
  return all;
}

TEST(NodeReduction, SumsBetweenOneRankOfEachNode) {
  const int ranks = world()->getSize();
  const auto route = routeOf(2);
  AllReduce reduction(world());
  double value = 1;
  resetMpiCalls();
  {
    const ReductionRouteScope scope(route);
    reduction.run(&value, 1);
  }
  EXPECT_EQ(allReduces(), ranks == 1 ? 0 : (ranks + 1) / 2);
  resetMpiCalls();
  reduction.run(&value, 1);  // the scope is over
  EXPECT_EQ(allReduces(), ranks == 1 ? 0 : ranks);
}

TEST(NodeReduction, TakesTheSizesThatPay) {
  EXPECT_TRUE(nodesPay({8, true, 1.0, 0.9}, 0.05));
  EXPECT_FALSE(nodesPay({8, true, 1.0, 0.96}, 0.05));
  const auto route = routeOf(2);
  EXPECT_TRUE(route->takes(raw(), 8, true));
  EXPECT_FALSE(route->takes(MPI_COMM_SELF, 8, true));
  route->take({{8, true, 1, 2}, {1024, true, 1, 0.5}, {8, false, 1, 0.5}, {1024, false, 1, 2}}, 0.05);
  EXPECT_FALSE(route->takes(raw(), 8, true));
  EXPECT_TRUE(route->takes(raw(), 9, true));
  EXPECT_TRUE(route->takes(raw(), 1024, true));
  EXPECT_TRUE(route->takes(raw(), 1 << 20, true));
  EXPECT_TRUE(route->takes(raw(), 8, false));
  EXPECT_FALSE(route->takes(raw(), 100, false));
}

TEST(NodeReduction, IsMeasuredOnceAndAlikeOnAllRanks) {
  const auto chosen = reductionBy(*world(), ReductionStrategy::Tuned, 2);
  const auto again = reductionBy(*world(), ReductionStrategy::Tuned, 2);
  EXPECT_EQ(chosen.route, again.route);
  EXPECT_EQ(chosen.route != nullptr, world()->getSize() > 2);
  if (chosen.route == nullptr) return;
  EXPECT_GT(chosen.route->setupSeconds(), 0);
  EXPECT_NE(chosen.reason.find("set-up"), std::string::npos);
  for (const ReductionTimes& times : chosen.route->times()) {
    for (const double seconds : {times.mpi, times.nodeAware}) {
      double first = seconds;
      MPI_Bcast(&first, 1, MPI_DOUBLE, 0, raw());
      EXPECT_EQ(seconds, first);
      EXPECT_GT(seconds, 0);
    }
  }
  expectSumsBothWays<double>(chosen.route);
}

TEST(NodeReduction, IsMpisOwnWhereThereIsNothingToGain) {
  const int ranks = world()->getSize();
  for (const auto strategy : {ReductionStrategy::NodeAware, ReductionStrategy::Tuned}) {
    EXPECT_EQ(reductionBy(*world(), strategy, 1).route, nullptr);
    EXPECT_EQ(reductionBy(*world(), strategy, ranks).route, nullptr);
  }
  EXPECT_EQ(reductionBy(*world(), ReductionStrategy::Mpi, 2).route, nullptr);
  EXPECT_THROW(reductionBy(*world(), ReductionStrategy::NodeAware, -1), std::invalid_argument);
}

/// A duplicate shares much that is kept with its original, but not its route.
TEST(NodeReduction, BelongsToOneCommunicator) {
  if (world()->getSize() < 3) return;
  const auto chosen = reductionBy(*world(), ReductionStrategy::NodeAware, 2);
  const auto copy = world()->duplicate();
  const auto other = reductionBy(*copy, ReductionStrategy::NodeAware, 2);
  EXPECT_NE(chosen.route, other.route);
  const ReductionRouteScope scope(other.route);
  auto values = part<double>(world()->getRank(), 5, 1);
  resetMpiCalls();
  AllReduce(copy).run(values.data(), 5);
  EXPECT_EQ(allReduces(), (world()->getSize() + 1) / 2);
  expectSum(values, 1);
}

/// The route was found by the number of a handle. A duplicate inherited it, and had it when MPI gave the number to
/// another communicator.
TEST(NodeReduction, EndsWithItsCommunicator) {
  if (world()->getSize() < 3) return;
  CommPtr original = world()->duplicate();
  std::weak_ptr<NodeReduction> route = reductionBy(*original, ReductionStrategy::NodeAware, 2).route;
  EXPECT_FALSE(route.expired());
  const CommPtr copy = original->duplicate();
  original = Teuchos::null;
  EXPECT_TRUE(route.expired());
  const CommPtr next = copy->duplicate();  // perhaps with the handle that the first one had
  const ReductionRouteScope scope(reductionBy(*next, ReductionStrategy::NodeAware, 2).route);
  auto values = part<double>(world()->getRank(), 5, 1);
  resetMpiCalls();
  AllReduce(next).run(values.data(), 5);
  EXPECT_EQ(allReduces(), (world()->getSize() + 1) / 2);
  expectSum(values, 1);
}

}  // namespace
}  // namespace capstan::test
