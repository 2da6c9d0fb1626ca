/// \file
/// When kernels run, and who may use the memory meanwhile. CAPSTAN_KERNELS=delayed makes a CPU as late as a device.

#include "tpetra_ext/kernels/base/launch.hpp"

#include <cmath>
#include <set>
#include <vector>

#include "support.hpp"
#include "tpetra_ext/kernels/base/leased_buffers.hpp"
#include "tpetra_ext/kernels/dots.hpp"
#include "tpetra_ext/kernels/sweep.hpp"

namespace capstan::kernels::test {
namespace {

using Numbers = Kokkos::View<double*, PinnedSpace<Exec>>;
using One = Kokkos::RangePolicy<Exec>;

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
  const Exec exec;
  const Numbers v("v", 1);
  launch("set", One(exec, 0, 1), Set{v, 1});
  if (runsOnHost<Exec>) {
    EXPECT_EQ(v(0), launchesDelayed() ? 0 : 1) << "not before";
  }
  fence(exec);
  EXPECT_EQ(v(0), 1);
}

TEST(Launch, KernelsAndCopiesOfOthersComeAfterIt) {
  const Exec exec;
  const Numbers v("v", 2), w("w", 2), x("x", 2);
  launch("set", One(exec, 0, 2), Set{v, 3});
  Kokkos::parallel_for("another's", One(exec, 0, 2), CopyFrom{v.data(), w});
  launch("set", One(exec, 0, 2), Set{v, 4});
  Kokkos::deep_copy(x, v);
  launch("set", One(exec, 0, 2), Set{v, 5});
  double total = 0;
  reduceAndWait("sum", One(exec, 0, 2), Sum{v}, total);
  EXPECT_EQ(total, 10);
  fence(exec);
  EXPECT_EQ(w(1), 3);
  EXPECT_EQ(x(1), 4);
}

TEST(Launch, EndsBeforeMemoryIsFreed) {
  const Exec exec;
  const Numbers w("w", 1);
  {
    Numbers v("v", 1);
    Kokkos::deep_copy(v, 7);
    launch("copy", One(exec, 0, 1), CopyFrom{v.data(), w});
  }
  const Numbers another("another", 1);
  fence(exec);
  EXPECT_EQ(w(0), 7);
}

TEST(Launch, KeepsItsOrderWithManyKernels) {
  const Exec exec;
  const int n = 100, count = 3000;
  auto v = TestMatrix<double>::random(n, 2, 1);
  Kokkos::deep_copy(v.column(1), 0);
  for (int k = 0; k < count; ++k) sweep<GenericPath>(exec, n, axpby(1.0, v.column(0), -1.0, v.column(1)));
  v.pull();
  for (int i = 0; i < n; ++i) ASSERT_EQ(v(i, 1), 0) << i;
}

TEST(Launch, AResultIsThereAfterAFence) {
  const Exec exec;
  auto v = TestMatrix<double>::random(50, 1, 2);
  Kokkos::deep_copy(v.view(), 2);
  const Kokkos::View<double, PinnedSpace<Exec>> result("result");
  sum<GenericPath>(exec, v.column(0), result);
  fence(exec);
  EXPECT_EQ(result(), 100);
}

using Buffers = LeasedBuffers<Exec, double>;

TEST(LeasedBuffers, StayWithTheirHolderOverFences) {
  const Exec exec;
  Buffers buffers;
  std::vector<Buffers::Lease> leases;
  std::set<const double*> places;
  for (int k = 0; k < 20; ++k) {
    leases.push_back(buffers.take(exec, 4));
    places.insert(leases.back().data());
    fence(exec);
  }
  EXPECT_EQ(places.size(), 20U);
}

TEST(LeasedBuffers, AreFreeWithTheFenceAfterTheLease) {
  const Exec exec;
  Buffers buffers;
  const double *first = nullptr, *second = nullptr;
  {
    const auto lease = buffers.take(exec, 4);
    first = lease.data();
    fence(exec);  // before the launch: says nothing of the kernel that is to come
  }
  second = buffers.take(exec, 4).data();
  EXPECT_NE(second, first);
  fence(exec);
  EXPECT_EQ(buffers.take(exec, 4).data(), first);
}

TEST(LeasedBuffers, WaitForOneMoreThanThereAreOnly) {
  const Exec exec;
  Buffers buffers;
  fence(exec);
  const long before = fences();
  std::set<const double*> places;
  for (std::size_t k = 0; k < Buffers::most; ++k) places.insert(buffers.take(exec, 9).data());
  EXPECT_EQ(places.size(), Buffers::most);
  EXPECT_EQ(fences(), before);
  EXPECT_EQ(places.count(buffers.take(exec, 9).data()), 1U);
  EXPECT_EQ(fences(), before + 1);
}

TEST(LeasedBuffers, HoldWhatKernelsOfTheLeaseRead) {
  const Exec exec;
  Buffers buffers;
  const int count = 100;
  const Numbers results("results", count);
  for (int k = 0; k < count; ++k) {
    const auto lease = buffers.take(exec, 1);
    lease.data()[0] = k;
    if (k % 7 == 3) fence(exec);
    const Numbers result(results.data() + k, 1);
    launch("copy", One(exec, 0, 1), CopyFrom{lease.data(), result});
  }
  fence(exec);
  for (int k = 0; k < count; ++k) EXPECT_EQ(results(k), k);
}

TEST(LeasedBuffers, ArePoisonedWhenTheLeaseEnds) {
  if (!launchesDelayed()) GTEST_SKIP() << "with CAPSTAN_KERNELS=delayed only";
  const Exec exec;
  Buffers buffers;
  const Numbers during("during", 1), after("after", 1);
  const double* place = nullptr;
  {
    const auto lease = buffers.take(exec, 1);
    place = lease.data();
    lease.data()[0] = 5;
    launch("copy", One(exec, 0, 1), CopyFrom{place, during});
  }
  launch("copy", One(exec, 0, 1), CopyFrom{place, after});
  fence(exec);
  EXPECT_EQ(during(0), 5);
  EXPECT_TRUE(std::isnan(after(0)));
}

}  // namespace
}  // namespace capstan::kernels::test
