/// \file
/// What the watch of local views sees, so that a test that passes beside it says something.

#include "tpetra_ext/compat/local_views.hpp"

#include <gtest/gtest.h>

#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tpetra_ext/compat/host_rows.hpp"
#include "tpetra_ext/kernels/base/copy.hpp"
#include "tpetra_ext/node_queue.hpp"
#include "tpetra_ext/test/support/case_matrix.hpp"
#include "tpetra_ext/test/support/vectors.hpp"
#include "tpetra_ext/test/support/watched_views.hpp"

namespace capstan::test {
namespace {

using Tpetra::Access::OverwriteAll;
using Tpetra::Access::ReadOnly;
using Tpetra::Access::ReadWrite;

struct DoNothing {
  KOKKOS_FUNCTION void operator()(std::size_t) const {}
};

CrsMatrix tridiagonal(std::size_t rows) {
  CrsMatrix a(mapOfLocal(rows), 3);
  const auto size = static_cast<GlobalOrdinal>(a.getGlobalNumRows());
  for (const auto row : compat::localElementList(*a.getRowMap())) {
    for (const GlobalOrdinal column : {row - 1, row, row + 1}) {
      if (column < 0 || column >= size) continue;
      a.insertGlobalValues(row, Teuchos::tuple<GlobalOrdinal>(column)(), Teuchos::tuple<Scalar>(1)());
    }
  }
  a.fillComplete();
  return a;
}

class LocalViews : public testing::Test {
 protected:
  static constexpr std::size_t rows = 30;
  MultiVector x{mapOfLocal(rows), 3}, y{mapOfLocal(rows), 3};
  const CollectedComplaints complaints;

  std::size_t found() const { return complaints.list().size(); }
};

// Where the two have memories of their own, Tpetra throws here.
TEST_F(LocalViews, OfHostAndDeviceAreSeenTogether) {
  if (!kernels::runsOnHost<Types::ExecutionSpace>) GTEST_SKIP() << "Tpetra's to refuse";
  { const auto device = compat::deviceView(x, ReadWrite); }
  { const auto host = compat::hostView(x, ReadWrite); }
  const auto others = compat::hostView(y, ReadOnly);
  EXPECT_EQ(found(), 0U) << "one after the other, or of two vectors";
  {
    const auto device = compat::deviceView(x, ReadOnly), again = compat::deviceView(x, ReadOnly);
    EXPECT_EQ(found(), 0U) << "of one side";
    const auto host = compat::hostView(x, ReadOnly);
    EXPECT_EQ(found(), 1U);
  }
  const auto column = x.getVectorNonConst(1);
  const auto device = compat::deviceColumn(*column, OverwriteAll);
  const auto host = compat::hostView(x, ReadOnly);
  EXPECT_EQ(found(), 2U) << "a column is of the same memory";
}

TEST_F(LocalViews, OfAMatrixAreOfItsGraphToo) {
  if (!kernels::runsOnHost<Types::ExecutionSpace>) GTEST_SKIP() << "Tpetra's to refuse";
  const auto a = tridiagonal(rows);
  const auto graph = compat::deviceGraph(a);
  { const auto device = compat::deviceMatrix(a); }
  EXPECT_EQ(found(), 0U);
  { const auto host = compat::hostMatrix(a); }
  EXPECT_EQ(found(), 1U) << "of the graph";
  compat::HostRows<CrsMatrix> entries(a);
  entries.read(0);
  EXPECT_EQ(found(), 2U) << "of the graph";
  const auto local = compat::deviceMatrix(a);
  EXPECT_EQ(found(), 4U) << "of both";
}

TEST_F(LocalViews, AreNotAliveWhereOthersWork) {
  const auto a = tridiagonal(rows);
  std::optional<decltype(compat::deviceView(x, ReadOnly))> view;
  view.emplace(compat::deviceView(x, ReadOnly));
  kernels::launch("capstan kernel", nodeQueue<Types>(), 0, DoNothing());
  kernels::handOver<Types::ExecutionSpace>();
  EXPECT_EQ(found(), 0U);
  Kokkos::parallel_for("another's kernel", Kokkos::RangePolicy<Types::ExecutionSpace>(0, 0), DoNothing());
  EXPECT_EQ(found(), 1U);
  compat::handOver<Types::ExecutionSpace>("the application");
  EXPECT_EQ(found(), 2U);
  a.apply(x, y);
  const std::size_t before = found();
  EXPECT_GT(before, 2U) << "Tpetra's product";
  view.reset();
  a.apply(x, y);
  compat::handOver<Types::ExecutionSpace>("the application");
  EXPECT_EQ(found(), before);
}

/// Kernels of Capstan, some with a queue, begin; what is found.
template <class Begin>
std::vector<std::string> foundWhere(const Begin& begin) {
  compareWithQueues();
  const CollectedComplaints found;
  begin();
  compareWithQueues();
  return found.list();
}

TEST(WatchedQueues, AKernelIsGivenToOne) {
  EXPECT_TRUE(foundWhere([] { kernels::launch("capstan kernel", nodeQueue<Types>(), 3, DoNothing()); }).empty());
  const auto stray = foundWhere([] {
    kernels::launch("capstan kernel", nodeQueue<Types>(), 3, DoNothing());
    Kokkos::parallel_for("capstan kernel", kernels::Range<Types::ExecutionSpace>(0, 3), DoNothing());
  });
  ASSERT_EQ(stray.size(), 1U);
  EXPECT_EQ(stray.front(), "2 of Capstan's kernels began, and queues were given 1");
  const auto ofAnother = foundWhere([] {
    kernels::Queue<Types::ExecutionSpace> another{Types::ExecutionSpace()};
    kernels::launch("capstan kernel", another, 3, DoNothing());
  });
  EXPECT_EQ(ofAnother.size(), 1U) << "a queue that nobody knows";
}

TEST(WatchedQueues, NoViewIsFilledByTheDefaultInstance) {
  using View = Kokkos::View<Scalar*, Types::DeviceType>;
  EXPECT_TRUE(foundWhere([] { kernels::unfilled<View>("capstan view", 3); }).empty());
  EXPECT_TRUE(foundWhere([] {
                kernels::copied<View>(nodeQueue<Types>(), "capstan view", std::vector<Scalar>{1, 2});
              }).empty());
  EXPECT_EQ(foundWhere([] { const View filled("capstan view", 3); }).size(), 1U);
}

/// Whether Kokkos tells of waits for all instances: since release 4.
bool tellsOfFences() {
  static bool told;
  told = false;
  const auto before = Kokkos::Tools::Experimental::get_callbacks().begin_fence;
  Kokkos::Tools::Experimental::set_begin_fence_callback(
      [](const char*, std::uint32_t, std::uint64_t*) { told = true; });
  Kokkos::fence();
  Kokkos::Tools::Experimental::set_begin_fence_callback(before);
  return told;
}

TEST_F(LocalViews, AreNotAliveWhereTheHostWaitsForAllInstances) {
  if (!tellsOfFences()) GTEST_SKIP() << "this Kokkos does not tell of fences";
  Kokkos::fence();
  EXPECT_EQ(found(), 0U);
  const auto view = compat::deviceView(x, ReadOnly);
  kernels::fence(nodeQueue<Types>());
  EXPECT_EQ(found(), 0U);
  Kokkos::fence();
  EXPECT_EQ(found(), 1U);
}

}  // namespace
}  // namespace capstan::test
