/// \file
/// Products and updates with columns in single precision against long double.

#include "support.hpp"
#include "tpetra_ext/kernels/orthonormalize.hpp"

namespace capstan::kernels::test {

template <class Type>
class SingleBasisTest : public KernelTest<Type> {};
TYPED_TEST_SUITE(SingleBasisTest, Cases, CaseNames);

TYPED_TEST(SingleBasisTest, TrailingGramAgreesWithLongDouble) {
  using T = typename TypeParam::Scalar;
  for (const int n : rowCounts()) {
    for (const int k : basisSizes()) {
      for (const int m : {0, 1, 2, 3, 4, 5, 7, 11, 13}) {
        const auto Q = TestMatrix<float>::random(n, k, 17);
        const auto W = TestMatrix<T>::random(n, m, 18);
        for (const int first : {0, 1, m - 1, m}) {
          if (first < 0 || first > m) continue;
          auto C = randomSmall<T>(k + m, m - first, 4);
          trailingGram<typename TypeParam::Path>(testQueue(), Q.view(), W.view(), first, C);
          fence(testQueue());
          const auto both = [&](int i, int j) { return j < k ? static_cast<double>(Q(i, j)) : W(i, j - k); };
          const auto trailing = [&](int i, int j) { return W(i, first + j); };
          Reference expected(k + m, m - first), magnitude(k + m, m - first);
          expected.addProduct(1, Reference::of(both, n, k + m).transposed(), Reference::of(trailing, n, m - first),
                              &magnitude);
          EXPECT_TRUE(near<T>(C, expected, magnitude, n)) << n << ' ' << k << ' ' << m << ' ' << first;
          for (int j = 0; j < m - first; ++j) {
            for (int i = 0; i < j; ++i) EXPECT_EQ(C(k + first + i, j), C(k + first + j, i));
          }
        }
      }
    }
  }
}

TYPED_TEST(SingleBasisTest, UpdateAndAccumulateAgreeWithLongDouble) {
  using T = typename TypeParam::Scalar;
  for (const int n : rowCounts()) {
    for (const int k : basisSizes()) {
      const auto Q = TestMatrix<float>::random(n, k, 17);
      for (const int s : {0, 1, 2, 3, 4, 5, 6, 7, 12, 13}) {
        auto V = TestMatrix<T>::random(n, s, 29, 5), X = TestMatrix<T>::random(n, s, 31, 1);
        const auto R = randomSmall<T>(k, s, 3);
        Reference expectedV = Reference::of(V, n, s), expectedX = Reference::of(X, n, s), magnitude(n, s);
        expectedV.addProduct(-1, Reference::of(Q, n, k), Reference::of(R, k, s), &magnitude);
        expectedX.addProduct(1, Reference::of(Q, n, k), Reference::of(R, k, s));
        update<typename TypeParam::Path>(testQueue(), Q.view(), R, V.view());
        accumulate<typename TypeParam::Path>(testQueue(), Q.view(), R, X.view());
        V.pull();
        X.pull();
        EXPECT_TRUE(near<T>(V, expectedV, magnitude, k)) << n << ' ' << k << ' ' << s;
        EXPECT_TRUE(near<T>(X, expectedX, magnitude, k)) << n << ' ' << k << ' ' << s;
        EXPECT_TRUE(V.paddingIntact() && X.paddingIntact());
      }
    }
  }
}

/// What is written in single precision is what a conversion makes of the other.
TYPED_TEST(SingleBasisTest, OrthonormalizeAgreesWithLongDoubleAndRoundsP) {
  using T = typename TypeParam::Scalar;
  for (const int n : {0, 1, 7, 511, 513, 2063}) {
    for (const int k : basisSizes()) {
      for (const int p : {0, 1, 5, 10}) {
        for (const int s : {0, 1, 2, 3, 6, 7, 13}) {
          const auto Q = TestMatrix<float>::random(n, k, 17);
          auto P = TestMatrix<T>::random(n, p, 18), V = TestMatrix<T>::random(n, s, 19);
          auto single = TestMatrix<float>::random(n, p, 20);
          const auto S = randomUpper<T>(p, 5), U = randomUpper<T>(s, 6), R = randomSmall<T>(k + p, s, 7);
          Reference expectedP = Reference::of(P, n, p), expectedV = Reference::of(V, n, s);
          expectedP.solve(Reference::of(S, p, p));
          Reference magnitude = absoluteValues(V, n, s);
          const auto rowsOfP = [&](int i, int j) { return R(k + i, j); };
          expectedV.addProduct(-1, Reference::of(Q, n, k), Reference::of(R, k, s), &magnitude);
          expectedV.addProduct(-1, expectedP, Reference::of(rowsOfP, p, s), &magnitude);
          expectedV.solve(Reference::of(U, s, s));
          orthonormalize<typename TypeParam::Path>(testQueue(), Q.view(), P.view(), S, single.view(), V.view(), R, U);
          P.pull();
          V.pull();
          single.pull();
          EXPECT_TRUE(near<T>(P, expectedP, absoluteValues(expectedP, n, p), 16 * (p + 1)));
          for (int j = 1; j < s; ++j) {
            for (int i = 0; i < n; ++i) magnitude(i, j) = std::max(magnitude(i, j), magnitude(i, j - 1));
          }
          EXPECT_TRUE(near<T>(V, expectedV, magnitude, 4 * (k + p + s))) << n << ' ' << k << ' ' << p << ' ' << s;
          for (int j = 0; j < p; ++j) {
            for (int i = 0; i < n; ++i) ASSERT_EQ(single(i, j), static_cast<float>(P(i, j)));
          }
          EXPECT_TRUE(P.paddingIntact() && V.paddingIntact() && single.paddingIntact());
        }
      }
    }
  }
}

TYPED_TEST(SingleBasisTest, RoundingKeepsNanAndInfAndDropsTinyNumbers) {
  using T = typename TypeParam::Scalar;
  for (const int n : {0, 1, 17, 2063}) {
    auto from = TestMatrix<T>::random(n, 3, 1);
    if (n > 0) {
      from(0, 0) = std::numeric_limits<T>::quiet_NaN();
      from(0, 1) = -std::numeric_limits<T>::infinity();
      from(0, 2) = T(-1e-40);
      from(n - 1, 1) = n > 1 ? T(std::numeric_limits<float>::min()) : from(0, 1);
    }
    from.push();
    auto to = TestMatrix<float>::random(n, 3, 2);
    round<typename TypeParam::Path>(testQueue(), from.view(), to.view());
    to.pull();
    EXPECT_TRUE(to.paddingIntact());
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < n; ++i) {
        if (i == 0 && j == 0) {
          EXPECT_TRUE(std::isnan(to(i, j)));
        } else {
          const float expected = i == 0 && j == 2 ? 0.0F : static_cast<float>(from(i, j));
          ASSERT_EQ(to(i, j), expected) << i << ' ' << j;
        }
      }
    }
  }
}

TYPED_TEST(SingleBasisTest, NanStaysInItsRowOrItsSums) {
  using T = typename TypeParam::Scalar;
  const int n = 1030;
  auto Q = TestMatrix<float>::random(n, 5, 1);
  auto V = TestMatrix<T>::random(n, 3, 3);
  Q(515, 4) = std::numeric_limits<float>::quiet_NaN();
  Q.push();
  const auto R = randomSmall<T>(5, 3, 2);
  const auto C = randomSmall<T>(8, 3, 4);
  trailingGram<typename TypeParam::Path>(testQueue(), Q.view(), V.view(), 0, C);
  update<typename TypeParam::Path>(testQueue(), Q.view(), R, V.view());
  V.pull();
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < n; ++i) ASSERT_EQ(std::isnan(V(i, j)), i == 515);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(std::isnan(C(i, j)), i == 4) << i << ' ' << j;
  }
}

TYPED_TEST(SingleBasisTest, WrongShapesAreNamed) {
  using T = typename TypeParam::Scalar;
  using Path = typename TypeParam::Path;
  const auto Q = TestMatrix<float>::random(8, 3, 1), shorter = TestMatrix<float>::random(7, 3, 1);
  const auto W = TestMatrix<T>::random(8, 2, 1);
  auto P = TestMatrix<T>::random(8, 2, 1), V = TestMatrix<T>::random(8, 1, 1);
  const auto C = randomSmall<T>(5, 1, 1), S = randomUpper<T>(2, 1), U = randomUpper<T>(1, 1);
  EXPECT_THROW(trailingGram<Path>(testQueue(), Q.view(), W.view(), 0, C), std::invalid_argument);
  EXPECT_THROW(trailingGram<Path>(testQueue(), shorter.view(), W.view(), 1, C), std::invalid_argument);
  EXPECT_THROW(trailingGram<Path>(testQueue(), Q.view(), W.view(), 3, C), std::invalid_argument);
  EXPECT_THROW(round<Path>(testQueue(), W.view(), Q.view()), std::invalid_argument);
  try {
    orthonormalize<Path>(testQueue(), Q.view(), P.view(), S, shorter.view(), V.view(), C, U);
    FAIL() << "a copy of P with too few rows was accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "capstan::kernels::orthonormalize: the single precision of P is 7 x 3, must be 8 x 2");
  }
}

}  // namespace capstan::kernels::test
