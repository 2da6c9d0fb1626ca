#include "tpetra_ext/kernels/block_product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tpetra_ext/kernels/sweep_list.hpp"
#include "tpetra_ext/kernels/test/sparse_case.hpp"

namespace capstan::kernels::test {
namespace {

template <class Type>
class BlockProductTest : public KernelTest<Type> {};
TYPED_TEST_SUITE(BlockProductTest, Cases, CaseNames);

TYPED_TEST(BlockProductTest, MatchesReferenceForAnyNumberOfColumns) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  for (const int rows : {0, 1, 3, 5, 255, 257, 1031}) {
    const int columns = rows + 2;
    const SparseCase<T> sparse(rows, columns, 7);
    for (int t = 1; t <= 33; ++t) {
      const auto X = TestMatrix<T>::random(columns, t, 11);
      auto Y = TestMatrix<T>::random(rows, t, 13);
      const Line<T> packed("packed", static_cast<std::size_t>(columns * t));
      packRows<Path>(testQueue(), X.view(), packed);
      multiplyRows<Path>(testQueue(), sparse.matrix(), 0, rows, T(1), packed, Line<T>(), T(0), Y.view());
      Y.pull();
      Reference magnitude(rows, t);
      const Reference expected = sparse.times(X, t, magnitude);
      ASSERT_TRUE(near<T>(Y, expected, magnitude, 40)) << rows << " rows, " << t << " columns";
      ASSERT_TRUE(Y.paddingIntact());
    }
  }
}

TYPED_TEST(BlockProductTest, HasTheSameBitsForAnyNumberOfColumnsAndAnyRows) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  const int rows = 515, columns = 400, most = 34;
  const SparseCase<T> sparse(rows, columns, 3);
  const auto X = TestMatrix<T>::random(columns, most, 5);
  TestMatrix<T> pairs(rows, most);
  const Line<T> two("two", static_cast<std::size_t>(2 * columns));
  for (int j = 0; j < most; j += 2) {
    packRows<Path>(testQueue(), X.view(j, 2), two);
    multiplyRows<Path>(testQueue(), sparse.matrix(), 0, rows, T(1), two, Line<T>(), T(0), pairs.view(j, 2));
  }
  pairs.pull();
  // Every third row, in descending order: other rows stand beside it, or none.
  std::vector<int> some;
  for (int i = rows - 1; i >= 0; i -= 3) some.push_back(i);
  const auto list = onDevice(some);
  for (const int t : {1, 2, 3, 4, 7, 8, 16, 31, 33, 34}) {
    const Line<T> packed("packed", static_cast<std::size_t>(columns * t));
    packRows<Path>(testQueue(), X.view(0, t), packed);
    TestMatrix<T> all(rows, t), chosen(rows, t);
    multiplyRows<Path>(testQueue(), sparse.matrix(), 0, rows, T(1), packed, Line<T>(), T(0), all.view());
    auto listed = sparse.matrix();
    listed.rows = list.data();
    const auto middle = static_cast<std::ptrdiff_t>(some.size() / 2);
    multiplyRows<Path>(testQueue(), listed, 0, middle, T(1), packed, Line<T>(), T(0), chosen.view());
    multiplyRows<Path>(testQueue(), listed, middle, static_cast<std::ptrdiff_t>(some.size()), T(1), packed, Line<T>(),
                       T(0), chosen.view());
    all.pull();
    chosen.pull();
    const TestMatrix<T> untouched(rows, t);
    for (int i = 0; i < rows; ++i) {
      const bool inList = (rows - 1 - i) % 3 == 0;
      for (int j = 0; j < t; ++j) {
        ASSERT_EQ(all(i, j), pairs(i, j)) << t << " columns";
        ASSERT_EQ(chosen(i, j), inList ? pairs(i, j) : untouched(i, j)) << t << " columns";
      }
    }
  }
}

TYPED_TEST(BlockProductTest, FindsRowsElsewhereAndAmongWhatIsReceived) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  const int rows = 300, columns = 200, own = 140;
  const SparseCase<T> sparse(rows, columns, 17);
  std::vector<int> sources(columns);
  for (int c = 0; c < columns; ++c) sources[c] = (c * 77 + 5) % columns;  // 77 and 200 have no common factor
  const auto onDeviceSources = onDevice(sources);
  for (const int t : {1, 2, 5, 8, 19}) {
    const auto all = TestMatrix<T>::random(columns, t, 19, 0);
    const Line<T> packed("packed", static_cast<std::size_t>(columns * t));
    packRows<Path>(testQueue(), all.view(), packed);
    const auto part = [&](int from, int to) {
      Line<T> copy("part", static_cast<std::size_t>((to - from) * t));
      Kokkos::deep_copy(copy, Kokkos::subview(packed, std::make_pair(from * t, to * t)));
      return copy;
    };
    const Line<T> here = part(0, own), received = part(own, columns);
    for (const bool mapped : {false, true}) {
      auto a = sparse.matrix();
      a.own = own;
      if (mapped) a.sources = onDeviceSources.data();
      TestMatrix<T> Y(rows, t);
      multiplyRows<Path>(testQueue(), a, 0, rows, T(1), here, received, T(0), Y.view());
      Y.pull();
      Reference magnitude(rows, t);
      const auto x = [&](int c, int j) { return all(mapped ? sources[static_cast<std::size_t>(c)] : c, j); };
      ASSERT_TRUE(near<T>(Y, sparse.times(x, t, magnitude), magnitude, 40)) << t << " columns";
    }
  }
}

TYPED_TEST(BlockProductTest, ScalesAndAdds) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  const int rows = 90, t = 6;
  const SparseCase<T> sparse(rows, rows, 23);
  const auto X = TestMatrix<T>::random(rows, t, 29);
  const Line<T> packed("packed", static_cast<std::size_t>(rows * t));
  packRows<Path>(testQueue(), X.view(), packed);
  for (const T beta : {T(0), T(1), T(-3)}) {
    auto Y = TestMatrix<T>::random(rows, t, 31);
    const auto before = Reference::of(Y, rows, t);
    if (beta == T(0)) {  // counts for nothing
      for (int i = 0; i < rows; ++i) Y(i, 2) = std::numeric_limits<T>::quiet_NaN();
      Y.push();
    }
    multiplyRows<Path>(testQueue(), sparse.matrix(), 0, rows, T(-2), packed, Line<T>(), beta, Y.view());
    Y.pull();
    Reference magnitude(rows, t);
    Reference expected = sparse.times(X, t, magnitude);
    for (int j = 0; j < t; ++j) {
      for (int i = 0; i < rows; ++i) {
        expected(i, j) = -2 * expected(i, j) + beta * before(i, j);
        magnitude(i, j) = 2 * magnitude(i, j) + std::abs(beta * before(i, j));
      }
    }
    EXPECT_TRUE(near<T>(Y, expected, magnitude, 40)) << double(beta);
  }
}

TYPED_TEST(BlockProductTest, LetsNaNThroughToTheRowsThatNeedIt) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  const int rows = 64, t = 9;
  const SparseCase<T> sparse(rows, rows, 37);
  auto X = TestMatrix<T>::random(rows, t, 41);
  X(5, 3) = std::numeric_limits<T>::quiet_NaN();
  X.push();
  const Line<T> packed("packed", static_cast<std::size_t>(rows * t));
  packRows<Path>(testQueue(), X.view(), packed);
  TestMatrix<T> Y(rows, t);
  multiplyRows<Path>(testQueue(), sparse.matrix(), 0, rows, T(1), packed, Line<T>(), T(0), Y.view());
  Y.pull();
  for (int i = 0; i < rows; ++i) {
    const auto first = sparse.column.begin() + static_cast<std::ptrdiff_t>(sparse.begin[i]);
    const auto last = sparse.column.begin() + static_cast<std::ptrdiff_t>(sparse.begin[i + 1]);
    const bool needs = std::find(first, last, 5) != last;
    for (int j = 0; j < t; ++j) EXPECT_EQ(std::isnan(Y(i, j)), needs && j == 3) << i << ", " << j;
  }
}

/// Rows go through an operation as soon as they are there: the bits of two passes, for rows of any list.
TYPED_TEST(BlockProductTest, TakesAnOperationAlong) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  const int rows = 2600;  // more than two chunks
  const SparseCase<T> sparse(rows, rows, 3);
  const auto X = TestMatrix<T>::random(rows, 1, 5), V = TestMatrix<T>::random(rows, 2, 7);
  std::vector<int> some;  // alone, in pairs and in long runs
  for (int i = 0; i < rows; ++i) {
    if (i % 7 != 3 && (i < 100 || i % 500 != 0)) some.push_back(i);
  }
  const auto list = onDevice(some);
  const auto x = X.column(0), v = V.column(0), u = V.column(1);
  for (const bool listed : {false, true}) {
    auto a = sparse.matrix();
    if (listed) a.rows = list.data();
    const auto count = static_cast<std::ptrdiff_t>(listed ? some.size() : std::size_t(rows));
    TestMatrix<T> once(rows, 1), twice(rows, 1);
    const auto y = once.column(0), z = twice.column(0);
    SweepList<T> then, after;
    then.template add<Exec>(rows, T(-0.3), v, T(0.9), u, T(0.7), y, y);
    after.template add<Exec>(rows, T(-0.3), v, T(0.9), u, T(0.7), z, z);
    multiplyRows<Path>(testQueue(), a, 0, count, T(1), x, Line<T>(), T(0), once.view(), then.begin());
    multiplyRows<Path>(testQueue(), a, 0, count, T(1), x, Line<T>(), T(0), twice.view());
    sweep<Path>(testQueue(), rows, after);
    once.pull();
    twice.pull();
    const TestMatrix<T> untouched(rows, 1);
    for (int i = 0; i < rows; ++i) {
      const bool in = !listed || std::binary_search(some.begin(), some.end(), i);
      ASSERT_EQ(once(i, 0), in ? twice(i, 0) : untouched(i, 0)) << i;
    }
  }
}

TEST(BlockProduct, RefusesWhatDoesNotFit) {
  const auto Y = TestMatrix<double>::random(10, 2, 1);
  const Line<double> x("x", 20);
  const SparseCase<double> sparse(10, 10, 3);
  SweepList<double> then;
  then.add<Exec>(10, 1., Y.column(0), 1., Y.column(0), Y.column(0));
  EXPECT_THROW(multiplyRows(testQueue(), sparse.matrix(), 0, 10, 1., x, Line<double>(), 0., Y.view(), then.begin()),
               std::invalid_argument);
  const auto X = TestMatrix<double>::random(10, 4, 1);
  const Line<double> packed("packed", 39);
  EXPECT_THROW(packRows(testQueue(), X.view(), packed), std::invalid_argument);
}

}  // namespace
}  // namespace capstan::kernels::test
