#include "tpetra_ext/operators/block_product.hpp"

#include <gtest/gtest.h>

#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/base/instruction_set.hpp"
#include "tpetra_ext/operators/block_kernels.hpp"
#include "tpetra_ext/operators/node_aware_operator.hpp"
#include "tpetra_ext/test/support/case_matrix.hpp"
#include "tpetra_ext/test/support/counted_allocations.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/vectors.hpp"
#include "tpetra_ext/test/support/watched_views.hpp"
#include "tpetra_ext/topology/test/distributed_case.hpp"

namespace capstan::test {
namespace {

using topology::test::Case;
using topology::test::casesFor;
using Product = BlockProduct<Types>;

/// Largest difference of two blocks; infinite where one has a NaN and the other none.
Scalar difference(const MultiVector& got, const MultiVector& wanted) {
  compat::handOver<Types::ExecutionSpace>("the test");
  const auto a = got.getLocalViewHost(Tpetra::Access::ReadOnly);
  const auto b = wanted.getLocalViewHost(Tpetra::Access::ReadOnly);
  Scalar largest = 0;
  for (std::size_t i = 0; i < b.extent(0); ++i) {
    for (std::size_t j = 0; j < b.extent(1); ++j) {
      const Scalar apart = std::abs(a(i, j) - b(i, j));
      const bool same = std::isnan(a(i, j)) && std::isnan(b(i, j));
      if (!same) largest = std::max(largest, std::isnan(apart) ? std::numeric_limits<Scalar>::infinity() : apart);
    }
  }
  return largest;
}

/// What a product sends, in order of size and receiver.
template <class Multiply>
std::vector<std::pair<int, long>> messagesOf(const Multiply& multiply) {
  sentMessages() = {true, {}};
  multiply();
  std::vector<std::pair<int, long>> sent;
  for (const SentMessage& message : sentMessages().list) sent.emplace_back(message.to, message.bytes);
  sentMessages() = {};
  std::sort(sent.begin(), sent.end());
  return sent;
}

constexpr bool takesProducts = kernels::runsOnHost<Types::ExecutionSpace>;

TEST(BlockProduct, EqualsTpetrasAndSendsItsMessages) {
  for (const Case& given : casesFor(world()->getSize())) {
    SCOPED_TRACE(given.name);
    for (const bool integers : {true, false}) {
      const MatrixPtr matrix = matrixOf(given, integers);
      Product product(matrix);
      for (const std::size_t columns : {9, 1, 2, 8, 33}) {
        const MapPtr map = matrix->getDomainMap();
        const MultiVector x = filled(map, columns, 1);
        MultiVector y(map, columns), wanted(map, columns);
        y.putScalar(std::numeric_limits<Scalar>::quiet_NaN());
        matrix->apply(x, wanted);  // makes its buffers
        const auto theirs = messagesOf([&] { matrix->apply(x, wanted); });
        bool taken = false;
        const auto ours = messagesOf([&] { taken = product.apply(x, y); });
        EXPECT_EQ(taken, takesProducts) << "on devices all products are Tpetra's";
        if (!taken) continue;
        EXPECT_EQ(ours, theirs);
        // Sums of small integers are exact; rows have up to n + 3 entries of magnitude up to 1.
        EXPECT_LE(difference(y, wanted), integers ? 0 : 1e-12) << columns << " columns";
      }
    }
  }
}

TEST(BlockProduct, DoesARecurrenceInThePassOfTheProduct) {
  if (!takesProducts) GTEST_SKIP() << "on devices all products are Tpetra's";
  using Recurrence = VectorRecurrence<Types>;
  BlockKernels<Types> kernels;
  for (const Case& given : casesFor(world()->getSize())) {
    SCOPED_TRACE(given.name);
    const MatrixPtr matrix = matrixOf(given, false);
    const MapPtr map = matrix->getDomainMap();
    Product product(matrix);
    const MultiVector x = filled(map, 1, 1), v = filled(map, 1, 2), u = filled(map, 1, 3);
    for (const Recurrence& then : {Recurrence{}, Recurrence{0.5}, Recurrence{1, -0.3, &v}, Recurrence{0.7, -0.3, &x},
                                   Recurrence{0.7, -0.3, &v, 0.9, &u}, Recurrence{0.7, 0, &v, 0.9, &u}}) {
      MultiVector y(map, 1), wanted(map, 1);
      y.putScalar(std::numeric_limits<Scalar>::quiet_NaN());
      if (!product.apply(x, wanted)) continue;
      kernels.recur(then, wanted);
      ASSERT_TRUE(product.apply(x, y, &then));
      EXPECT_EQ(difference(y, wanted), 0) << then.a << ' ' << then.b << ' ' << then.c;
    }
    const MultiVector two = filled(map, 2, 1);
    MultiVector y(map, 2);
    const Recurrence then{0.5};
    if (product.apply(two, y)) {
      EXPECT_THROW(product.apply(two, y, &then), std::invalid_argument);
    }
  }
}

/// Computes its products in a way of its own.
class Doubled final : public CrsMatrix {
 public:
  using CrsMatrix::CrsMatrix;
};

class OneBlock : public testing::Test {
 protected:
  const Case given = casesFor(world()->getSize())[1];
  const MatrixPtr matrix = matrixOf(given, true);
  const MapPtr map = Teuchos::rcp_const_cast<const Map>(matrix->getDomainMap());
  Product product{matrix};

  void expectLeft(Product& by, const MultiVector& x, MultiVector& y) {
    y.putScalar(5);
    const MultiVector before(y, Teuchos::Copy);
    EXPECT_TRUE(messagesOf([&] { EXPECT_FALSE(by.apply(x, y)); }).empty());
    EXPECT_EQ(difference(y, before), 0);
  }
};

TEST_F(OneBlock, LeavesToTheOperatorWhatItDoesNotTake) {
  const MultiVector x = filled(map, 4, 1);
  MultiVector y(map, 4);
  Product nothing(Teuchos::null);
  expectLeft(nothing, x, y);
  const auto derived = Teuchos::rcp(new Doubled(map, 1));
  derived->fillComplete();
  Product ofDerived(derived);
  expectLeft(ofDerived, x, y);
  const auto unfinished = Teuchos::rcp(new CrsMatrix(map, 1));
  Product ofUnfinished(unfinished);
  expectLeft(ofUnfinished, x, y);
  if (world()->getSize() > 1) {  // products that Tpetra adds up over the ranks
    const MapPtr everywhere = replicatedMap(4);
    const auto replicated = Teuchos::rcp(new CrsMatrix(everywhere, 1));
    replicated->fillComplete();
    Product ofReplicated(replicated);
    MultiVector result(everywhere, 4);
    expectLeft(ofReplicated, filled(everywhere, 4, 1), result);
  }
  const Teuchos::Array<std::size_t> apart = Teuchos::tuple<std::size_t>(3, 0);
  MultiVector two(map, 2);
  expectLeft(product, *x.subView(apart()), two);
}

/// Products that are taken.
class TakenBlock : public OneBlock {
 protected:
  void SetUp() override {
    if (!takesProducts) GTEST_SKIP() << "on devices all products are Tpetra's";
  }
};

TEST_F(TakenBlock, MayBeMultipliedIntoItself) {
  MultiVector same = filled(map, 3, 1);
  MultiVector wanted(map, 3);
  matrix->apply(same, wanted);
  ASSERT_TRUE(product.apply(same, same));
  EXPECT_EQ(difference(same, wanted), 0);
}

TEST_F(TakenBlock, TakesColumnsOfWiderBlocks) {
  MultiVector x = filled(map, 7, 1), y = filled(map, 7, 2);
  const MultiVector before = filled(map, 7, 2);
  MultiVector wanted(map, 3);
  matrix->apply(*x.subView(Teuchos::Range1D(2, 4)), wanted);
  ASSERT_TRUE(product.apply(*x.subView(Teuchos::Range1D(2, 4)), *y.subViewNonConst(Teuchos::Range1D(1, 3))));
  EXPECT_EQ(difference(*y.subView(Teuchos::Range1D(1, 3)), wanted), 0);
  for (const std::size_t j : {0, 4, 5, 6}) EXPECT_EQ(difference(*y.getVector(j), *before.getVector(j)), 0);
}

TEST_F(TakenBlock, FollowsTheValuesOfTheMatrixAndItsGraph) {
  for (const std::size_t columns : {1, 3}) {
    const MultiVector x = filled(map, columns, 1);
    MultiVector y(map, columns), wanted(map, columns);
    ASSERT_TRUE(product.apply(x, y));
    compat::handOver<Types::ExecutionSpace>("the test, which changes the matrix");
    matrix->resumeFill();
    matrix->scale(2);
    matrix->fillComplete();
    matrix->apply(x, wanted);
    ASSERT_TRUE(product.apply(x, y));
    EXPECT_EQ(difference(y, wanted), 0);
  }
  // Other columns, and another import.
  Case other = given;
  const long long rows = other.partition.rows();
  for (long long row = 0; row < rows; ++row) {
    other.rows[static_cast<std::size_t>(row)] = {row, (row + rows / 2) % rows};
  }
  compat::handOver<Types::ExecutionSpace>("the test, which changes the matrix");
  *matrix = *matrixOf(other, true);
  for (const std::size_t columns : {1, 3}) {
    const MultiVector x = filled(map, columns, 1);
    MultiVector y(map, columns), wanted(map, columns);
    matrix->apply(x, wanted);
    ASSERT_TRUE(product.apply(x, y));
    EXPECT_EQ(difference(y, wanted), 0);
  }
}

/// Where most rows are of one pattern; the result may be the vector itself.
TEST(BlockProduct, MultipliesOneVectorByABandAndIntoItself) {
  if (!takesProducts) GTEST_SKIP() << "on devices all products are Tpetra's";
  const GlobalOrdinal n = 60 * world()->getSize();
  const MapPtr map = Teuchos::rcp(new Map(static_cast<std::size_t>(n), 0, world()));
  const auto matrix = Teuchos::rcp(new CrsMatrix(map, 6));
  for (const GlobalOrdinal row : compat::localElementList(*map)) {
    for (const GlobalOrdinal away : {-7, -1, 0, 1, 7, row % 11 == 3 ? 2 : 100000}) {
      if (row + away < 0 || row + away >= n) continue;
      matrix->insertGlobalValues(row, Teuchos::tuple<GlobalOrdinal>(row + away)(),
                                 Teuchos::tuple<Scalar>(Scalar(3 + away))());
    }
  }
  matrix->fillComplete();
  Product product(matrix);
  const MultiVector x = filled(map, 1, 1);
  MultiVector y(map, 1), wanted(map, 1), twice(map, 1);
  matrix->apply(x, wanted);
  matrix->apply(wanted, twice);
  ASSERT_TRUE(product.apply(x, y));
  EXPECT_LE(difference(y, wanted), 1e-12);
  ASSERT_TRUE(product.apply(y, y));
  EXPECT_LE(difference(y, twice), 1e-10);
}

TEST_F(TakenBlock, AllocatesNothingOnceItIsPrepared) {
  if (kernels::launchesDelayed()) GTEST_SKIP() << "launches that are delayed are kept in memory of their own";
  const MultiVector x = filled(map, 1, 1);
  MultiVector y(map, 1);
  product.prepare(x, y);
  const auto allocationsOfAProduct = [&] {
    const long before = allocations();
    EXPECT_TRUE(product.apply(x, y));
    return allocations() - before;
  };
  // Tpetra makes a few records for its views each time.
  const long first = allocationsOfAProduct();
  EXPECT_LE(first, allocationsOfAProduct());
}

TEST_F(TakenBlock, AllocatesNoVectorFromTheSecondTimeOn) {
  for (const std::size_t columns : {1, 4}) {
    const MultiVector x = filled(map, columns, 1);
    MultiVector y(map, columns);
    product.apply(x, y);
    matrix->apply(x, y);
    const CountedKernels kernels;
    const long before = allocations();
    product.apply(x, y);
    const long ours = allocations() - before, ranges = kernels.count() * allocationsOfARange();
    const long after = allocations();
    matrix->apply(x, y);
    EXPECT_LE(ours - ranges, allocations() - after) << columns;  // Tpetra makes a few records for its views
  }
}

}  // namespace
}  // namespace capstan::test
