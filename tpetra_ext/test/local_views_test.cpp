/// \file
/// What the watch of local views sees, so that a test that passes beside it says something.

#include "tpetra_ext/compat/local_views.hpp"

#include <gtest/gtest.h>

#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <optional>

#include "tpetra_ext/compat/host_rows.hpp"
#include "tpetra_ext/kernels/base/execution.hpp"
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
  const auto local = compat::deviceMatrix(a);
  EXPECT_EQ(found(), 2U) << "of the values";
}

TEST_F(LocalViews, AreNotAliveWhereOthersWork) {
  const auto a = tridiagonal(rows);
  std::optional<decltype(compat::deviceView(x, ReadOnly))> view;
  view.emplace(compat::deviceView(x, ReadOnly));
  Kokkos::parallel_for("capstan kernel", Kokkos::RangePolicy<Types::ExecutionSpace>(0, 0), DoNothing());
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

}  // namespace
}  // namespace capstan::test
