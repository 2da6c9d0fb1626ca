/// \file
/// sketch() against the dense Theta in long double, in odd shapes and with special values.

#include "tpetra_ext/kernels/sketch.hpp"

#include "support.hpp"

namespace capstan::kernels::test {

template <class Type>
class SketchTest : public KernelTest<Type> {};
TYPED_TEST_SUITE(SketchTest, Cases, CaseNames);

template <class T>
using Small = typename TestMatrix<T>::Small;

/// Theta, m x n, of rows `first` and on, by its definition.
Reference theta(int m, int n, const SketchedRows& rows) {
  const auto size = static_cast<std::uint64_t>(m);
  const auto sign = [&](std::uint64_t block, std::uint64_t bit) {
    const std::uint64_t word = detail::sketchSigns(rows.seed, block * (size / 32) + bit / 64);
    return (word >> (bit % 64) & 1U) != 0 ? -1 : 1;
  };
  Reference dense(m, n);
  for (int j = 0; j < n; ++j) {
    const std::uint64_t number = rows.first + static_cast<std::uint64_t>(j), block = number / size,
                        place = number % size;
    for (int i = 0; i < m; ++i) {
      const auto row = static_cast<std::uint64_t>(i);
      int ones = 0;
      for (std::uint64_t both = row & place; both != 0; both &= both - 1) ++ones;
      dense(i, j) = (ones % 2 == 0 ? 1 : -1) * sign(block, place) * sign(block, size + row) /
                    std::sqrt(static_cast<long double>(m));
    }
  }
  return dense;
}

TEST(SketchSigns, AreEven) {
  int ones = 0, changes = 0;
  std::uint64_t last = 0;
  for (std::uint64_t word = 0; word < 1000; ++word) {
    const std::uint64_t bits = detail::sketchSigns(0, word);
    for (int k = 0; k < 64; ++k) {
      ones += static_cast<int>(bits >> k & 1U);
      changes += static_cast<int>((bits ^ last) >> k & 1U);
    }
    last = bits;
  }
  EXPECT_NEAR(ones, 32000, 5 * 127);
  EXPECT_NEAR(changes, 32000, 5 * 127);
}

TEST(SketchHeights, ArePowersOfTwo) {
  for (const int rows : {64, 256, 1 << 24}) EXPECT_TRUE(isSketchHeight(rows)) << rows;
  for (const int rows : {-64, 0, 32, 96, 1 << 25}) EXPECT_FALSE(isSketchHeight(rows)) << rows;
}

TYPED_TEST(SketchTest, AgreesWithTheDenseMatrix) {
  using T = typename TypeParam::Scalar;
  for (const int n : {0, 1, 7, 255, 257, 2063, 20000}) {
    for (const int k : {0, 1, 2, 4, 5, 16, 17, 33}) {
      for (const int m : {64, 128, 512}) {
        if (n > 3000 && (k > 5 || m > 64)) continue;
        const SketchedRows rows{1000, static_cast<std::uint64_t>(k)};
        const auto X = TestMatrix<T>::random(n, k, 17);
        auto S = randomSmall<T>(m, k, 3);  // must be overwritten
        sketch<typename TypeParam::Path>(testQueue(), rows, X.view(), S);
        fence(testQueue());
        Reference expected(m, k), magnitude(m, k);
        expected.addProduct(1, theta(m, n, rows), Reference::of(X, n, k), &magnitude);
        EXPECT_TRUE(near<T>(S, expected, magnitude, n + 16)) << "n = " << n << ", k = " << k << ", m = " << m;
      }
    }
  }
}

TYPED_TEST(SketchTest, IsTheSumOfThoseOfParts) {
  using T = typename TypeParam::Scalar;
  const int n = 700, k = 3, m = 64, cut = 301;
  auto X = TestMatrix<T>::random(n, k, 5);
  for (int j = 0; j < k; ++j) {
    for (int i = 0; i < n; ++i) X(i, j) = std::round(8 * X(i, j));  // exact sums
  }
  X.push();
  Small<T> whole("whole", m, k), upper("upper", m, k), lower("lower", m, k);
  const auto rows = [&](int first, int last) {
    return Kokkos::subview(X.view(), std::pair<int, int>(first, last), Kokkos::ALL());
  };
  sketch<typename TypeParam::Path>(testQueue(), SketchedRows{}, X.view(), whole);
  sketch<typename TypeParam::Path>(testQueue(), SketchedRows{}, rows(0, cut), upper);
  sketch<typename TypeParam::Path>(testQueue(), SketchedRows{cut, 0}, rows(cut, n), lower);
  fence(testQueue());
  const T eps = std::numeric_limits<T>::epsilon();
  for (int j = 0; j < k; ++j) {
    for (int i = 0; i < m; ++i) EXPECT_NEAR(whole(i, j), upper(i, j) + lower(i, j), 200 * eps);
  }
}

TYPED_TEST(SketchTest, KeepsTheLengthOfWhatIsInOneBlock) {
  using T = typename TypeParam::Scalar;
  const int m = 128;
  const auto X = TestMatrix<T>::random(m, 2, 5);
  Small<T> S("S", m, 2);
  sketch<typename TypeParam::Path>(testQueue(), SketchedRows{5 * m, 7}, X.view(), S);
  fence(testQueue());
  double length = 0, product = 0, expected = 0, between = 0;
  for (int i = 0; i < m; ++i) {
    length += S(i, 0) * S(i, 0), product += S(i, 0) * S(i, 1);
    expected += X(i, 0) * X(i, 0), between += X(i, 0) * X(i, 1);
  }
  EXPECT_NEAR(length, expected, 100 * std::numeric_limits<T>::epsilon() * expected);
  EXPECT_NEAR(product, between, 100 * std::numeric_limits<T>::epsilon() * expected);
}

TYPED_TEST(SketchTest, KeepsNaNInItsColumn) {
  using T = typename TypeParam::Scalar;
  auto X = TestMatrix<T>::random(300, 3, 5);
  X(200, 1) = std::numeric_limits<T>::quiet_NaN();
  X.push();
  Small<T> S("S", 64, 3);
  sketch<typename TypeParam::Path>(testQueue(), SketchedRows{}, X.view(), S);
  fence(testQueue());
  for (int i = 0; i < 64; ++i) {
    EXPECT_TRUE(std::isfinite(S(i, 0)) && std::isfinite(S(i, 2)));
    EXPECT_TRUE(std::isnan(S(i, 1)));
  }
}

TYPED_TEST(SketchTest, RefusesShapesThatDoNotFit) {
  using T = typename TypeParam::Scalar;
  const auto X = TestMatrix<T>::random(10, 2, 5);
  const auto sketched = [&](int m, int k) {
    sketch<typename TypeParam::Path>(testQueue(), SketchedRows{}, X.view(), Small<T>("S", m, k));
  };
  EXPECT_THROW(sketched(64, 3), std::invalid_argument);
  EXPECT_THROW(sketched(96, 2), std::invalid_argument);
  EXPECT_THROW(sketched(0, 2), std::invalid_argument);
}

}  // namespace capstan::kernels::test
