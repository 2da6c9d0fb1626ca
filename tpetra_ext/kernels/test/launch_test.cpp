/// \file
/// When kernels run, and who may use the memory meanwhile. CAPSTAN_KERNELS=delayed makes a CPU as late as a device.

#include "tpetra_ext/kernels/base/launch.hpp"

#include <cmath>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "support.hpp"
#include "tpetra_ext/kernels/base/leased_buffers.hpp"
#include "tpetra_ext/kernels/dots.hpp"
#include "tpetra_ext/kernels/sweep.hpp"

namespace capstan::kernels::test {
namespace {

using Numbers = Kokkos::View<double*, PinnedSpace<Exec>>;

struct Set {
  Numbers to;
  double value;
  KOKKOS_FUNCTION void operator()(const std::size_t i) const { to(i) = value; }
};

/// By the address: what it reads is no longer its own when it runs.
struct CopyFrom {
  const double* from;
  Numbers to;
  KOKKOS_FUNCTION void operator()(const std::size_t i) const { to(i) = from[i]; }
};

struct Sum {
  Numbers of;
  KOKKOS_FUNCTION void operator()(const std::size_t i, double& total) const { total += of(i); }
};

TEST(Launch, IsSeenAfterAFence) {
  Queue<Exec>& queue = testQueue();
  const Numbers v("v", 1);
  launch("set", queue, 1, Set{v, 1});
  if (runsOnHost<Exec>) {
    EXPECT_EQ(v(0), launchesDelayed() ? 0 : 1) << "not before";
  }
  fence(queue);
  EXPECT_EQ(v(0), 1);
}

TEST(Launch, KernelsAndCopiesOfOthersComeAfterIt) {
  Queue<Exec>& queue = testQueue();
  const Numbers v("v", 2), w("w", 2), x("x", 2);
  launch("set", queue, 2, Set{v, 3});
  Kokkos::parallel_for("another's", Range<Exec>(queue.instance(), 0, 2), CopyFrom{v.data(), w});
  launch("set", queue, 2, Set{v, 4});
  Kokkos::deep_copy(x, v);
  launch("set", queue, 2, Set{v, 5});
  double total = 0;
  reduceAndWait("sum", queue, 2, Sum{v}, total);
  EXPECT_EQ(total, 10);
  fence(queue);
  EXPECT_EQ(w(1), 3);
  EXPECT_EQ(x(1), 4);
}

TEST(Launch, EndsBeforeMemoryIsFreed) {
  Queue<Exec>& queue = testQueue();
  const Numbers w("w", 1);
  {
    Numbers v("v", 1);
    Kokkos::deep_copy(v, 7);
    launch("copy", queue, 1, CopyFrom{v.data(), w});
  }
  const Numbers another("another", 1);
  fence(queue);
  EXPECT_EQ(w(0), 7);
}

TEST(Launch, KeepsItsOrderWithManyKernels) {
  Queue<Exec>& queue = testQueue();
  const int n = 100, count = 3000;
  auto v = TestMatrix<double>::random(n, 2, 1);
  Kokkos::deep_copy(v.column(1), 0);
  for (int k = 0; k < count; ++k) sweep<GenericPath>(queue, n, axpby(1.0, v.column(0), -1.0, v.column(1)));
  v.pull();
  for (int i = 0; i < n; ++i) ASSERT_EQ(v(i, 1), 0) << i;
}

TEST(Launch, AResultIsThereAfterAFence) {
  Queue<Exec>& queue = testQueue();
  auto v = TestMatrix<double>::random(50, 1, 2);
  Kokkos::deep_copy(v.view(), 2);
  const Kokkos::View<double, PinnedSpace<Exec>> result("result");
  sum<GenericPath>(queue, v.column(0), result);
  fence(queue);
  EXPECT_EQ(result(), 100);
}

/// Whether a kernel can be launched with this where the queue stands.
template <class On, class = void>
struct Launches : std::false_type {};
template <class On>
struct Launches<On, std::void_t<decltype(launch("", std::declval<On>(), 1, std::declval<Set>()))>> : std::true_type {};

static_assert(Launches<Queue<Exec>&>::value);
static_assert(!Launches<Exec&>::value && !Launches<Exec>::value && !Launches<Range<Exec>>::value,
              "without a queue nothing is launched");
static_assert(!std::is_default_constructible<Queue<Exec>>::value && !std::is_convertible<Exec, Queue<Exec>>::value,
              "a queue is of an instance that somebody names");

TEST(Queues, CountWhatTheyAreGiven) {
  Queue<Exec>& queue = testQueue();
  const Numbers v("v", 1);
  const long launches = queue.launches(), waits = queue.fences(), all = fences();
  launch("set", queue, 1, Set{v, 1});
  double total = 0;
  reduceAndWait("sum", queue, 1, Sum{v}, total);
  EXPECT_EQ(queue.launches(), launches + 2);
  EXPECT_EQ(queue.fences(), waits + 1);
  EXPECT_EQ(fences(), all + 1);
}

/// Few sums of teams are added by the team that ends last, many by another launch; again and again the same.
TEST(Queues, AddTheSumsOfTeamsInOneLaunchWhereTheyAreFew) {
  Queue<Exec>& queue = testQueue();
  detail::finishedTeams(queue);  // made once
  for (const auto& [rows, launches] : {std::pair(5000, 1), std::pair(3000000, 2)}) {
    auto v = TestMatrix<double>::random(rows, 4, 3);
    Kokkos::deep_copy(v.view(), 2);
    const Numbers result("result", 5);
    const auto x = v.column(0), y = v.column(1), z = v.column(2), w = v.column(3);
    for (int k = 0; k < 3; ++k) {
      Kokkos::deep_copy(result, 0);
      const long before = queue.launches();
      dots<GenericPath>(queue, {std::pair(x, x), std::pair(x, y), std::pair(z, y), std::pair(w, x), std::pair(w, w)},
                        result);
      EXPECT_EQ(queue.launches() - before, launches) << rows;
      fence(queue);
      for (int pair = 0; pair < 5; ++pair) EXPECT_EQ(result(pair), 4. * rows);
    }
  }
}

TEST(Queues, AWaitForOneSaysNothingOfAnother) {
  Queue<Exec> another{Exec()};
  UseByKernels<Exec> use(testQueue());
  use.begin();
  fence(another);
  EXPECT_FALSE(use.over());
  fence(testQueue());
  EXPECT_TRUE(use.over());
}

TEST(Queues, HaveMemoryOfTheirOwn) {
  const int n = 3000;
  Queue<Exec> another{Exec()};
  auto v = TestMatrix<double>::random(n, 1, 3);
  Kokkos::deep_copy(v.view(), 2);
  const Numbers here("here", 1), there("there", 1);
  const auto x = v.column(0);
  for (int k = 0; k < 2; ++k) {
    dots<GenericPath>(testQueue(), {std::pair(x, x)}, here);
    dots<GenericPath>(another, {std::pair(x, x)}, there);
  }
  EXPECT_NE(testQueue().memory().data(), another.memory().data());
  fence(testQueue());
  fence(another);
  EXPECT_EQ(here(0), 4 * n);
  EXPECT_EQ(there(0), 4 * n);
}

using Buffers = LeasedBuffers<Exec, double>;

TEST(LeasedBuffers, StayWithTheirHolderOverFences) {
  Queue<Exec>& queue = testQueue();
  Buffers buffers(queue);
  std::vector<Buffers::Lease> leases;
  std::set<const double*> places;
  for (int k = 0; k < 20; ++k) {
    leases.push_back(buffers.take(4));
    places.insert(leases.back().data());
    fence(queue);
  }
  EXPECT_EQ(places.size(), 20U);
}

TEST(LeasedBuffers, AreFreeWithTheFenceAfterTheLease) {
  Queue<Exec>& queue = testQueue();
  Buffers buffers(queue);
  const double *first = nullptr, *second = nullptr;
  {
    const auto lease = buffers.take(4);
    first = lease.data();
    fence(queue);  // before the launch: says nothing of the kernel that is to come
  }
  second = buffers.take(4).data();
  EXPECT_NE(second, first);
  fence(queue);
  EXPECT_EQ(buffers.take(4).data(), first);
}

TEST(LeasedBuffers, WaitForOneMoreThanThereAreOnly) {
  Queue<Exec>& queue = testQueue();
  Buffers buffers(queue);
  fence(queue);
  const long before = fences();
  std::set<const double*> places;
  for (std::size_t k = 0; k < Buffers::most; ++k) places.insert(buffers.take(9).data());
  EXPECT_EQ(places.size(), Buffers::most);
  EXPECT_EQ(fences(), before);
  EXPECT_EQ(places.count(buffers.take(9).data()), 1U);
  EXPECT_EQ(fences(), before + 1);
}

TEST(LeasedBuffers, HoldWhatKernelsOfTheLeaseRead) {
  Queue<Exec>& queue = testQueue();
  Buffers buffers(queue);
  const int count = 100;
  const Numbers results("results", count);
  for (int k = 0; k < count; ++k) {
    const auto lease = buffers.take(1);
    lease.data()[0] = k;
    if (k % 7 == 3) fence(queue);
    const Numbers result(results.data() + k, 1);
    launch("copy", queue, 1, CopyFrom{lease.data(), result});
  }
  fence(queue);
  for (int k = 0; k < count; ++k) EXPECT_EQ(results(k), k);
}

TEST(LeasedBuffers, ArePoisonedWhenTheLeaseEnds) {
  if (!launchesDelayed()) GTEST_SKIP() << "with CAPSTAN_KERNELS=delayed only";
  Queue<Exec>& queue = testQueue();
  Buffers buffers(queue);
  const Numbers during("during", 1), after("after", 1);
  const double* place = nullptr;
  {
    const auto lease = buffers.take(1);
    place = lease.data();
    lease.data()[0] = 5;
    launch("copy", queue, 1, CopyFrom{place, during});
  }
  launch("copy", queue, 1, CopyFrom{place, after});
  fence(queue);
  EXPECT_EQ(during(0), 5);
  EXPECT_TRUE(std::isnan(after(0)));
}

}  // namespace
}  // namespace capstan::kernels::test
