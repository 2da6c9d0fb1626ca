/// \file
/// update, accumulate, updateAndGram, orthonormalize and triangularSolve against long double.

#include "support.hpp"
#include "tpetra_ext/kernels/orthonormalize.hpp"

namespace capstan::kernels::test {

template <class Type>
class BlockUpdateTest : public KernelTest<Type> {};
TYPED_TEST_SUITE(BlockUpdateTest, Cases, CaseNames);

template <class T>
using Small = typename TestMatrix<T>::Small;

TYPED_TEST(BlockUpdateTest, SmallCaseByHand) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> Q(2, 1);
  TestMatrix<T> P(2, 1);
  TestMatrix<T> V(2, 2);
  Q(0, 0) = 1;
  Q(1, 0) = 2;
  P(0, 0) = 4;
  P(1, 0) = 6;
  V(0, 0) = 7;
  V(1, 0) = 9;
  V(0, 1) = 5;
  V(1, 1) = 3;
  Small<T> S("S", 1, 1);
  Small<T> R("R", 2, 2);
  Small<T> U("U", 2, 2);
  S(0, 0) = 2;  // P S^-1 = (2, 3)
  R(0, 0) = 1;
  R(1, 0) = 2;  // V(:, 0) - [Q P] R(:, 0) = (2, 1)
  R(0, 1) = -1;
  R(1, 1) = 0;  // V(:, 1) - [Q P] R(:, 1) = (6, 5)
  U(0, 0) = T(0.5);
  U(0, 1) = 1;
  U(1, 1) = 4;  // V(:, 0) = (4, 2); V(:, 1) = ((6, 5) - (4, 2)) / 4
  Q.push();
  P.push();
  V.push();
  orthonormalize<typename TypeParam::Path>(testQueue(), Q.view(), P.view(), S, V.view(), R, U);
  P.pull();
  V.pull();
  EXPECT_EQ(P(0, 0), T(2));
  EXPECT_EQ(P(1, 0), T(3));
  EXPECT_EQ(V(0, 0), T(4));
  EXPECT_EQ(V(1, 0), T(2));
  EXPECT_EQ(V(0, 1), T(0.5));
  EXPECT_EQ(V(1, 1), T(0.75));
}

TYPED_TEST(BlockUpdateTest, UpdateFromAnotherBlockIsACopyThatIsUpdated) {
  using T = typename TypeParam::Scalar;
  for (const int n : {0, 1, 17, 1025, 2063}) {
    for (const int k : {0, 1, 5, 9}) {
      for (const int s : {0, 1, 4, 8, 17}) {
        const auto W = TestMatrix<T>::random(n, s, 3), Q = TestMatrix<T>::random(n, k, 5);
        const auto R = randomSmall<T>(k, s, 7);
        auto V = TestMatrix<T>::random(n, s, 9), copy = TestMatrix<T>::random(n, s, 3);
        updateFrom<typename TypeParam::Path>(testQueue(), W.view(), Q.view(), R, V.view());
        update<typename TypeParam::Path>(testQueue(), Q.view(), R, copy.view());
        V.pull();
        copy.pull();
        EXPECT_TRUE(V.paddingIntact());
        for (int j = 0; j < s; ++j) {
          for (int i = 0; i < n; ++i) ASSERT_EQ(V(i, j), copy(i, j)) << n << ' ' << k << ' ' << s;
        }
      }
    }
  }
  const auto W = TestMatrix<T>::random(8, 3, 1), Q = TestMatrix<T>::random(8, 2, 1);
  auto V = TestMatrix<T>::random(8, 2, 1);
  const auto R = randomSmall<T>(2, 2, 1);
  EXPECT_THROW(updateFrom<typename TypeParam::Path>(testQueue(), W.view(), Q.view(), R, V.view()),
               std::invalid_argument);
}

TYPED_TEST(BlockUpdateTest, UpdateAndAccumulateAgreeWithLongDouble) {
  using T = typename TypeParam::Scalar;
  for (const int n : rowCounts()) {
    for (const int k : basisSizes()) {
      const auto Q = TestMatrix<T>::random(n, k, 17);
      for (int s = 0; s <= 13; ++s) {
        auto V = TestMatrix<T>::random(n, s, 29, 5);
        auto X = TestMatrix<T>::random(n, s, 31, 1);
        const auto R = randomSmall<T>(k, s, 3);
        Reference expectedV = Reference::of(V, n, s);
        Reference expectedX = Reference::of(X, n, s);
        Reference magnitude(n, s);
        expectedV.addProduct(-1, Reference::of(Q, n, k), Reference::of(R, k, s), &magnitude);
        expectedX.addProduct(1, Reference::of(Q, n, k), Reference::of(R, k, s));
        update<typename TypeParam::Path>(testQueue(), Q.view(), R, V.view());
        accumulate<typename TypeParam::Path>(testQueue(), Q.view(), R, X.view());
        V.pull();
        X.pull();
        EXPECT_TRUE(near<T>(V, expectedV, magnitude, k)) << "n = " << n << ", k = " << k << ", s = " << s;
        EXPECT_TRUE(near<T>(X, expectedX, magnitude, k)) << "n = " << n << ", k = " << k << ", s = " << s;
        EXPECT_TRUE(V.paddingIntact() && X.paddingIntact());
      }
    }
  }
}

TYPED_TEST(BlockUpdateTest, UpdateAndGramIsUpdateThenGram) {
  using T = typename TypeParam::Scalar;
  for (const int n : {0, 1, 7, 511, 512, 513, 2063}) {
    for (const int k : basisSizes()) {
      for (const int s : {0, 1, 2, 3, 4, 5, 6, 7, 10, 12}) {
        const auto Q = TestMatrix<T>::random(n, k, 17);
        auto V = TestMatrix<T>::random(n, s, 29);
        const auto twin = TestMatrix<T>::random(n, s, 29);
        const auto R = randomSmall<T>(k, s, 3);
        auto G = randomSmall<T>(s, s, 4);
        updateAndGram<typename TypeParam::Path>(testQueue(), Q.view(), R, V.view(), G);
        update<typename TypeParam::Path>(testQueue(), Q.view(), R, twin.view());
        V.pull();
        auto copy = twin;
        copy.pull();
        Reference expected(s, s);
        Reference magnitude(s, s);
        const Reference v = Reference::of(V, n, s);
        expected.addProduct(1, v.transposed(), v, &magnitude);
        EXPECT_TRUE(near<T>(G, expected, magnitude, n)) << "n = " << n << ", k = " << k << ", s = " << s;
        for (int j = 0; j < s; ++j) {
          for (int i = 0; i < j; ++i) EXPECT_EQ(G(i, j), G(j, i));
          for (int i = 0; i < n; ++i) ASSERT_EQ(V(i, j), copy(i, j));
        }
        EXPECT_TRUE(V.paddingIntact());
      }
    }
  }
}

TYPED_TEST(BlockUpdateTest, TriangularSolveIsBackwardStable) {
  using T = typename TypeParam::Scalar;
  for (const int n : rowCounts()) {
    for (const int s : {0, 1, 2, 3, 4, 5, 6, 7, 10, 12, 13, 17, 20}) {
      const auto B = TestMatrix<T>::random(n, s, 29);
      auto V = TestMatrix<T>::random(n, s, 29);
      const auto U = randomUpper<T>(s, 7);
      triangularSolve<typename TypeParam::Path>(testQueue(), V.view(), U);
      V.pull();
      Reference upper(s, s);
      for (int j = 0; j < s; ++j) {
        for (int i = 0; i <= j; ++i) upper(i, j) = U(i, j);
      }
      Reference product(n, s);
      Reference magnitude(n, s);
      product.addProduct(1, Reference::of(V, n, s), upper, &magnitude);
      EXPECT_TRUE(near<T>(B, product, magnitude, 2 * s)) << "n = " << n << ", s = " << s;
      EXPECT_TRUE(V.paddingIntact());
    }
  }
}

TYPED_TEST(BlockUpdateTest, OrthonormalizeAgreesWithLongDouble) {
  using T = typename TypeParam::Scalar;
  for (const int n : {0, 1, 7, 511, 512, 513, 1030}) {
    for (const int k : basisSizes()) {
      for (const int p : {0, 1, 5, 10}) {
        for (const int s : {0, 1, 2, 3, 5, 6, 10, 12, 17}) {
          const auto Q = TestMatrix<T>::random(n, k, 17);
          auto P = TestMatrix<T>::random(n, p, 18);
          auto V = TestMatrix<T>::random(n, s, 19);
          const auto S = randomUpper<T>(p, 5);
          const auto U = randomUpper<T>(s, 6);
          const auto R = randomSmall<T>(k + p, s, 7);
          Reference expectedP = Reference::of(P, n, p);
          Reference expectedV = Reference::of(V, n, s);
          expectedP.solve(Reference::of(S, p, p));
          Reference magnitude = absoluteValues(V, n, s);
          const auto rowsOfP = [&](int i, int j) { return R(k + i, j); };
          expectedV.addProduct(-1, Reference::of(Q, n, k), Reference::of(R, k, s), &magnitude);
          expectedV.addProduct(-1, expectedP, Reference::of(rowsOfP, p, s), &magnitude);
          expectedV.solve(Reference::of(U, s, s));
          orthonormalize<typename TypeParam::Path>(testQueue(), Q.view(), P.view(), S, V.view(), R, U);
          P.pull();
          V.pull();
          // The triangles are well conditioned, so a forward bound of the size of the sums holds.
          EXPECT_TRUE(near<T>(P, expectedP, absoluteValues(expectedP, n, p), 16 * (p + 1)));
          for (int j = 1; j < s; ++j) {
            for (int i = 0; i < n; ++i) magnitude(i, j) = std::max(magnitude(i, j), magnitude(i, j - 1));
          }
          EXPECT_TRUE(near<T>(V, expectedV, magnitude, 4 * (k + p + s)))
              << "n = " << n << ", k = " << k << ", p = " << p << ", s = " << s;
          EXPECT_TRUE(P.paddingIntact() && V.paddingIntact());
        }
      }
    }
  }
}

TYPED_TEST(BlockUpdateTest, NanStaysInItsRow) {
  using T = typename TypeParam::Scalar;
  const int n = 1030;
  auto Q = TestMatrix<T>::random(n, 5, 1);
  auto P = TestMatrix<T>::random(n, 3, 2);
  auto V = TestMatrix<T>::random(n, 7, 3);
  Q(515, 4) = std::numeric_limits<T>::quiet_NaN();
  V(n - 1, 2) = std::numeric_limits<T>::quiet_NaN();
  Q.push();
  V.push();
  orthonormalize<typename TypeParam::Path>(testQueue(), Q.view(), P.view(), randomUpper<T>(3, 1), V.view(),
                                           randomSmall<T>(8, 7, 2), randomUpper<T>(7, 3));
  V.pull();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 7; ++j) {
      const bool poisoned = i == 515 || (i == n - 1 && j >= 2);
      ASSERT_EQ(std::isnan(V(i, j)), poisoned) << i << ", " << j;
    }
  }
}

TYPED_TEST(BlockUpdateTest, ColumnsOfOneMatrixAreUpdatedInPlace) {
  using T = typename TypeParam::Scalar;
  auto B = TestMatrix<T>::random(2063, 12, 1);
  auto Q = TestMatrix<T>::random(2063, 12, 1);
  auto V = TestMatrix<T>::random(2063, 12, 1);
  const auto R = randomSmall<T>(7, 5, 2);
  update<typename TypeParam::Path>(testQueue(), B.view(0, 7), R, B.view(7, 5));
  update<typename TypeParam::Path>(testQueue(), Q.view(0, 7), R, V.view(7, 5));
  B.pull();
  V.pull();
  for (int j = 0; j < 12; ++j) {
    for (int i = 0; i < 2063; ++i) ASSERT_EQ(B(i, j), V(i, j));
  }
}

TYPED_TEST(BlockUpdateTest, WrongShapesAreNamed) {
  using T = typename TypeParam::Scalar;
  const auto Q = TestMatrix<T>::random(8, 3, 1);
  const auto V = TestMatrix<T>::random(8, 2, 1);
  const auto shorter = TestMatrix<T>::random(7, 3, 1);
  const Small<T> R("R", 3, 2);
  const Small<T> square("square", 2, 2);
  const Small<T> none("none", 0, 0);
  const auto empty = TestMatrix<T>(0, 0);
  try {
    update<typename TypeParam::Path>(testQueue(), Q.view(), square, V.view());
    FAIL() << "a wrong R was accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "capstan::kernels::update: R is 2 x 2, must be 3 x 2");
  }
  EXPECT_THROW(update<typename TypeParam::Path>(testQueue(), shorter.view(), R, V.view()), std::invalid_argument);
  EXPECT_THROW(accumulate<typename TypeParam::Path>(testQueue(), shorter.view(), R, V.view()), std::invalid_argument);
  EXPECT_THROW(triangularSolve<typename TypeParam::Path>(testQueue(), V.view(), R), std::invalid_argument);
  EXPECT_THROW(updateAndGram<typename TypeParam::Path>(testQueue(), Q.view(), R, V.view(), R), std::invalid_argument);
  EXPECT_THROW(orthonormalize<typename TypeParam::Path>(testQueue(), Q.view(), empty.view(), none, V.view(), R, R),
               std::invalid_argument);
  EXPECT_THROW(orthonormalize<typename TypeParam::Path>(testQueue(), Q.view(), V.view(), none, V.view(), R, square),
               std::invalid_argument);
}

}  // namespace capstan::kernels::test
