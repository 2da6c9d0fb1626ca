/// \file
/// sweep, dots and magnitudes: order of operations, aliasing, special values, long lists.

#include <array>

#include "support.hpp"
#include "tpetra_ext/kernels/dots.hpp"
#include "tpetra_ext/kernels/sweep.hpp"
#include "tpetra_ext/kernels/sweep_list.hpp"

namespace capstan::kernels::test {

template <class Type>
class VectorTest : public KernelTest<Type> {};
TYPED_TEST_SUITE(VectorTest, Cases, CaseNames);

template <class T>
using Result = Kokkos::View<T*, PinnedSpace<Exec>>;

TYPED_TEST(VectorTest, EveryOperation) {
  using T = typename TypeParam::Scalar;
  for (const int n : rowCounts()) {
    const auto in = TestMatrix<T>::random(n, 2, 1);
    auto out = TestMatrix<T>::random(n, 4, 2);
    const auto before = TestMatrix<T>::random(n, 4, 2);
    sweep<typename TypeParam::Path>(
        testQueue(), n, axpby(T(2), in.column(0), T(-0.5), out.column(0)), axpy(T(4), in.column(1), out.column(1)),
        combine(T(0.25), in.column(0), T(-2), in.column(1), out.column(2)), scale(T(-8), in.column(1), out.column(3)));
    out.pull();
    // A power of two times a value is exact, so there is one rounding, whether or not it is fused.
    for (int i = 0; i < n; ++i) {
      ASSERT_EQ(out(i, 0), T(2) * in(i, 0) + T(-0.5) * before(i, 0));
      ASSERT_EQ(out(i, 1), before(i, 1) + T(4) * in(i, 1));
      ASSERT_EQ(out(i, 2), T(0.25) * in(i, 0) + T(-2) * in(i, 1));
      ASSERT_EQ(out(i, 3), T(-8) * in(i, 1));
    }
    EXPECT_TRUE(out.paddingIntact());
  }
}

TYPED_TEST(VectorTest, ADiagonalTimesAVector) {
  using T = typename TypeParam::Scalar;
  for (const int n : rowCounts()) {
    auto v = TestMatrix<T>::random(n, 5, 1);
    const auto before = TestMatrix<T>::random(n, 5, 1);
    for (int i = 0; i < n; ++i) v(i, 4) = std::numeric_limits<T>::quiet_NaN();
    v.push();
    // r is renewed first: the diagonal is multiplied with what it is then.
    sweep<typename TypeParam::Path>(testQueue(), n, axpy(T(-2), v.column(0), v.column(1)),
                                    scaledAxpby(v.column(2), v.column(1), T(0.5), v.column(3)),
                                    scaledAxpby(v.column(2), v.column(0), T(0), v.column(4)));
    v.pull();
    for (int i = 0; i < n; ++i) {
      const T r = before(i, 1) + T(-2) * before(i, 0);
      ASSERT_EQ(v(i, 1), r);
      // The product is rounded, or fused with the sum.
      ASSERT_NEAR(v(i, 3), before(i, 2) * r + T(0.5) * before(i, 3), 8 * std::numeric_limits<T>::epsilon());
      ASSERT_EQ(v(i, 4), before(i, 2) * before(i, 0));
    }
    EXPECT_TRUE(v.paddingIntact());
  }
}

TYPED_TEST(VectorTest, DotsWithWeights) {
  using T = typename TypeParam::Scalar;
  for (const int n : rowCounts()) {
    TestMatrix<T> v(n, 9);  // small integers, so that every order of summation is exact
    const auto entry = [](int i, int j) { return static_cast<T>((7 * i + 3 * j) % 5 - 2); };
    for (int j = 0; j < 9; ++j) {
      for (int i = 0; i < n; ++i) v(i, j) = entry(i, j);
    }
    v.push();
    // Weighted vectors: 0 * 8, 1 * 8, .. 6 * 8 and 0 * 7, in another pass.
    std::vector<detail::VectorPair<T>> pairs;
    std::vector<std::array<int, 3>> which;
    for (int j = 0; j < 7; ++j) which.push_back({0, j, 8});
    which.push_back({1, 0, 7});
    which.push_back({1, 2, -1});
    for (const auto& [x, y, w] : which) {
      pairs.push_back({v.column(x).data(), v.column(y).data(), w < 0 ? nullptr : v.column(w).data()});
    }
    Result<T> result("result", pairs.size());
    detail::dotsOf<typename TypeParam::Path>(testQueue(), n, pairs.data(), static_cast<std::ptrdiff_t>(pairs.size()),
                                             result.data());
    fence(testQueue());
    for (std::size_t k = 0; k < which.size(); ++k) {
      T sum = 0;
      for (int i = 0; i < n; ++i) {
        const auto [x, y, w] = which[k];
        sum += entry(i, x) * entry(i, y) * (w < 0 ? T(1) : entry(i, w));
      }
      EXPECT_EQ(result(k), sum) << n << ' ' << k;
    }
  }
}

TYPED_TEST(VectorTest, LaterOperationsSeeEarlierOnes) {
  using T = typename TypeParam::Scalar;
  const int n = 1030;
  auto v = TestMatrix<T>::random(n, 3, 1);
  const auto before = TestMatrix<T>::random(n, 3, 1);
  // p = z + p/2; x += 2 p; p = -p; z = p (new)
  sweep<typename TypeParam::Path>(testQueue(), n, axpby(T(1), v.column(0), T(0.5), v.column(1)),
                                  axpy(T(2), v.column(1), v.column(2)), scale(T(-1), v.column(1), v.column(1)),
                                  scale(T(1), v.column(1), v.column(0)));
  v.pull();
  for (int i = 0; i < n; ++i) {
    const T p = before(i, 0) + T(0.5) * before(i, 1);
    ASSERT_EQ(v(i, 1), -p);
    ASSERT_EQ(v(i, 0), -p);
    ASSERT_EQ(v(i, 2), before(i, 2) + T(2) * p);
  }
}

TYPED_TEST(VectorTest, OperandsOfOneOperationMayBeTheSame) {
  using T = typename TypeParam::Scalar;
  const int n = 777;
  auto v = TestMatrix<T>::random(n, 3, 1);
  const auto before = TestMatrix<T>::random(n, 3, 1);
  sweep<typename TypeParam::Path>(testQueue(), n, axpby(T(2), v.column(0), T(4), v.column(0)),
                                  axpy(T(-1), v.column(1), v.column(1)),
                                  combine(T(2), v.column(2), T(1), v.column(2), v.column(2)));
  v.pull();
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(v(i, 0), T(2) * before(i, 0) + T(4) * before(i, 0));
    ASSERT_EQ(v(i, 1), T(0));
    ASSERT_EQ(v(i, 2), T(2) * before(i, 2) + before(i, 2));
  }
}

TYPED_TEST(VectorTest, ZeroFactorOverwritesNan) {
  using T = typename TypeParam::Scalar;
  const int n = 520;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  auto v = TestMatrix<T>::random(n, 4, 1);
  for (int i = 0; i < n; ++i) v(i, 1) = nan;
  v(7, 0) = nan;
  v.push();
  sweep<typename TypeParam::Path>(testQueue(), n, combine(T(3), v.column(0), T(0), v.column(1), v.column(2)),
                                  axpy(T(1), v.column(0), v.column(3)), axpby(T(2), v.column(0), T(0), v.column(1)));
  v.pull();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 4; ++j) ASSERT_EQ(std::isnan(v(i, j)), i == 7) << i << ", " << j;
  }
}

TYPED_TEST(VectorTest, SweepRefusesShortVectors) {
  using T = typename TypeParam::Scalar;
  const auto v = TestMatrix<T>::random(5, 2, 1);
  EXPECT_THROW(sweep<typename TypeParam::Path>(testQueue(), 6, axpy(T(1), v.column(0), v.column(1))),
               std::invalid_argument);
}

TYPED_TEST(VectorTest, ListsOfThreeTermRecurrences) {
  using T = typename TypeParam::Scalar;
  for (const int n : rowCounts()) {
    TestMatrix<T> v(n, 5);  // small integers, so that every order of summation is exact
    const auto entry = [](int i, int j) { return static_cast<T>((7 * i + 3 * j) % 11 - 5); };
    for (int j = 0; j < 5; ++j) {
      for (int i = 0; i < n; ++i) v(i, j) = j == 4 ? std::numeric_limits<T>::quiet_NaN() : entry(i, j);
    }
    v.push();
    SweepList<T> list;
    list.template add<Exec>(n, T(2), v.column(0), T(-3), v.column(1), T(4), v.column(2),
                            v.column(2));  // in its last term
    list.template add<Exec>(n, T(1), v.column(2), T(5), v.column(1), T(0), v.column(4), v.column(3));
    list.template add<Exec>(n, T(1), v.column(3), T(0), v.column(4), T(2), v.column(0), v.column(1));
    list.template add<Exec>(n, T(6), v.column(0), T(0), v.column(4), T(0), v.column(4), v.column(4));
    EXPECT_EQ(list.size(), 4);
    sweep<typename TypeParam::Path>(testQueue(), n, list);
    v.pull();
    for (int i = 0; i < n; ++i) {
      const T first = T(2) * entry(i, 0) - T(3) * entry(i, 1) + T(4) * entry(i, 2);
      const T second = first + T(5) * entry(i, 1);
      ASSERT_EQ(v(i, 2), first);
      ASSERT_EQ(v(i, 3), second);
      ASSERT_EQ(v(i, 1), second + T(2) * entry(i, 0));
      ASSERT_EQ(v(i, 4), T(6) * entry(i, 0));
    }
    EXPECT_TRUE(v.paddingIntact());
  }
}

TYPED_TEST(VectorTest, ListsRefuseShortVectorsAndWhatTheyCannotHold) {
  using T = typename TypeParam::Scalar;
  const auto v = TestMatrix<T>::random(5, 2, 1);
  const auto more = TestMatrix<T>::random(6, 2, 1);
  SweepList<T> list;
  EXPECT_THROW(
      list.template add<Exec>(6, T(1), more.column(0), T(1), more.column(1), T(1), v.column(0), more.column(0)),
      std::invalid_argument);
  list.clear();
  for (int k = 0; k < SweepList<T>::capacity; ++k)
    list.template add<Exec>(5, T(1), v.column(0), T(1), v.column(1), v.column(0));
  EXPECT_THROW(list.template add<Exec>(5, T(1), v.column(0), T(1), v.column(1), v.column(0)), std::length_error);
}

/// Every size in which a list may travel, and the sizes' limits.
TYPED_TEST(VectorTest, ListsOfAnyLengthActInOrder) {
  using T = typename TypeParam::Scalar;
  for (const int count : {1, detail::shortSweep, detail::shortSweep + 1, detail::longSweep, detail::longSweep + 1,
                          SweepList<T>::capacity}) {
    const int n = 600;
    TestMatrix<T> v(n, 2);
    for (int i = 0; i < n; ++i) {
      v(i, 0) = T(i % 5);
      v(i, 1) = T(0);
    }
    v.push();
    SweepList<T> list;
    // y = x + (+-1) y: the order matters, and small integers stay exact.
    for (int k = 0; k < count; ++k) {
      list.template add<Exec>(n, T(1), v.column(0), k % 3 == 0 ? T(-1) : T(1), v.column(1), v.column(1));
    }
    sweep<typename TypeParam::Path>(testQueue(), n, list);
    v.pull();
    for (int i = 0; i < n; ++i) {
      T expected = T(0);
      for (int k = 0; k < count; ++k) expected = T(i % 5) + (k % 3 == 0 ? -expected : expected);
      ASSERT_EQ(v(i, 1), expected) << count << " operations, row " << i;
    }
    EXPECT_TRUE(v.paddingIntact());
  }
}

TYPED_TEST(VectorTest, ArgumentsOfShortListsAreSmall) {
  using T = typename TypeParam::Scalar;
  // CUDA's launch: up to 512 bytes without a copy, up to 4 kB of arguments; the policy takes some of it.
  constexpr std::size_t policy = sizeof(Range<Exec>);
  EXPECT_LE(sizeof(detail::SweepArguments<T, detail::shortSweep>) + policy, 512u);
  EXPECT_LE(sizeof(detail::SweepArguments<T, detail::longSweep>) + policy, 4096u);
  EXPECT_GE(detail::shortSweep, 7) << "the pipeline of depth 1 updates 3 + 4 vectors";
  EXPECT_GE(SweepList<T>::capacity, 3 * 20 + 4);
}

TYPED_TEST(VectorTest, DotsAgreeWithLongDouble) {
  using T = typename TypeParam::Scalar;
  for (const int n : rowCounts()) {
    for (const int count : {1, 2, 3, 15, 16, 17, 40}) {
      const auto v = TestMatrix<T>::random(n, 6, 1);
      std::vector<std::pair<decltype(v.column(0)), decltype(v.column(0))>> pairs;
      for (int i = 0; i < count; ++i) pairs.emplace_back(v.column(i % 6), v.column((i * i + 1) % 6));
      Result<T> result("result", count);
      dots<typename TypeParam::Path>(testQueue(), pairs, result);
      fence(testQueue());
      for (int p = 0; p < count; ++p) {
        long double expected = 0;
        long double magnitude = 0;
        for (int i = 0; i < n; ++i) {
          const long double product = static_cast<long double>(v(i, p % 6)) * v(i, (p * p + 1) % 6);
          expected += product;
          magnitude += std::abs(product);
        }
        EXPECT_LE(std::abs(result(p) - expected), (n + 2) * magnitude * std::numeric_limits<T>::epsilon())
            << "n = " << n << ", pair " << p << " of " << count;
      }
    }
  }
}

// Pairs that share a vector are formed together.
TYPED_TEST(VectorTest, ADotIsTheSameWhateverElseIsFormed) {
  using T = typename TypeParam::Scalar;
  for (const int n : rowCounts()) {
    const auto v = TestMatrix<T>::random(n, 5, 1);
    std::vector<std::pair<decltype(v.column(0)), decltype(v.column(0))>> pairs;
    const std::vector<std::pair<int, int>> columns = {{0, 1}, {2, 3}, {1, 2}, {4, 2}, {1, 3},
                                                      {3, 2}, {2, 2}, {0, 0}, {2, 0}};
    for (const auto& [i, j] : columns) pairs.emplace_back(v.column(i), v.column(j));
    Result<T> together("together", pairs.size()), alone("alone", 1);
    dots<typename TypeParam::Path>(testQueue(), pairs, together);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      dots<typename TypeParam::Path>(testQueue(), {pairs[p]}, alone);
      fence(testQueue());
      EXPECT_EQ(alone(0), together(p)) << "n = " << n << ", pair " << p;
    }
  }
}

TYPED_TEST(VectorTest, DotsTakeArraysAndBracedLists) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> v(3, 2);
  for (int i = 0; i < 3; ++i) {
    v(i, 0) = T(i + 1);
    v(i, 1) = T(10 * i);
  }
  v.push();
  const auto x = v.column(0);
  const auto y = v.column(1);
  Result<T> result("result", 3);
  dots<typename TypeParam::Path>(testQueue(), {std::pair(x, x), std::pair(x, y)}, result);
  fence(testQueue());
  EXPECT_EQ(result(0), T(14));
  EXPECT_EQ(result(1), T(80));
  EXPECT_EQ(result(2), T(0));
  const std::array<std::pair<decltype(x), decltype(y)>, 3> pairs{{{y, y}, {x, y}, {x, x}}};
  dots<typename TypeParam::Path>(testQueue(), pairs, result);
  fence(testQueue());
  EXPECT_EQ(result(0), T(500));
  EXPECT_EQ(result(1), T(80));
  EXPECT_EQ(result(2), T(14));
}

TYPED_TEST(VectorTest, DotsPropagateNanAndAreDeterministic) {
  using T = typename TypeParam::Scalar;
  auto v = TestMatrix<T>::random(9001, 3, 1);
  v(9000, 2) = std::numeric_limits<T>::quiet_NaN();
  v.push();
  const auto x = v.column(0);
  Result<T> first("first", 2);
  dots<typename TypeParam::Path>(testQueue(), {std::pair(x, v.column(1)), std::pair(x, v.column(2))}, first);
  for (int run = 0; run < 5; ++run) {
    Result<T> again("again", 2);
    dots<typename TypeParam::Path>(testQueue(), {std::pair(x, v.column(1)), std::pair(x, v.column(2))}, again);
    fence(testQueue());
    EXPECT_EQ(first(0), again(0));
    EXPECT_TRUE(std::isnan(again(1)));
  }
}

TYPED_TEST(VectorTest, MagnitudesAgreeWithLongDouble) {
  using T = typename TypeParam::Scalar;
  for (const int n : rowCounts()) {
    auto v = TestMatrix<T>::random(n, 1, 1);
    long double expected = 0;
    for (int i = 0; i < n; ++i) expected += std::abs(static_cast<long double>(v(i, 0)));
    const T sum = magnitudes<typename TypeParam::Path>(testQueue(), v.column(0));
    EXPECT_LE(std::abs(sum - expected), (n + 2) * expected * std::numeric_limits<T>::epsilon()) << "n = " << n;
    EXPECT_EQ(magnitudes<typename TypeParam::Path>(testQueue(), v.column(0)), sum);
    if (n == 0) continue;
    for (const T bad : {std::numeric_limits<T>::quiet_NaN(), -std::numeric_limits<T>::infinity()}) {
      v(n - 1, 0) = bad;
      v.push();
      EXPECT_FALSE(std::isfinite(magnitudes<typename TypeParam::Path>(testQueue(), v.column(0)))) << "n = " << n;
    }
  }
}

TYPED_TEST(VectorTest, SumsAgreeWithLongDouble) {
  using T = typename TypeParam::Scalar;
  const auto sumOf = [](const auto& x) {
    Result<T> total("total", 1);
    sum<typename TypeParam::Path>(testQueue(), x, Kokkos::subview(total, 0));
    fence(testQueue());
    return total(0);
  };
  for (const int n : rowCounts()) {
    auto v = TestMatrix<T>::random(n, 1, 1);
    long double expected = 0, magnitude = 0;
    for (int i = 0; i < n; ++i) {
      expected += v(i, 0);
      magnitude += std::abs(static_cast<long double>(v(i, 0)));
    }
    const T total = sumOf(v.column(0));
    EXPECT_LE(std::abs(total - expected), (n + 2) * magnitude * std::numeric_limits<T>::epsilon()) << "n = " << n;
    EXPECT_EQ(sumOf(v.column(0)), total);
    if (n == 0) continue;
    v(n - 1, 0) = std::numeric_limits<T>::quiet_NaN();
    v.push();
    EXPECT_TRUE(std::isnan(sumOf(v.column(0)))) << "n = " << n;
  }
}

TYPED_TEST(VectorTest, DotsRefuseWrongLengths) {
  using T = typename TypeParam::Scalar;
  const auto v = TestMatrix<T>::random(5, 2, 1);
  const auto w = TestMatrix<T>::random(6, 2, 1);
  Result<T> result("result", 1);
  EXPECT_THROW(dots<typename TypeParam::Path>(testQueue(), {std::pair(v.column(0), w.column(0))}, result),
               std::invalid_argument);
  EXPECT_THROW(dots<typename TypeParam::Path>(
                   testQueue(), {std::pair(v.column(0), v.column(0)), std::pair(v.column(0), v.column(1))}, result),
               std::invalid_argument);
}

}  // namespace capstan::kernels::test
