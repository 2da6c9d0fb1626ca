/// \file
/// innerProducts and trailingGram against long double, in odd shapes and with special values.

#include "tpetra_ext/kernels/inner_products.hpp"

#include "support.hpp"

namespace capstan::kernels::test {

template <class Type>
class InnerProductsTest : public KernelTest<Type> {};
TYPED_TEST_SUITE(InnerProductsTest, Cases, CaseNames);

template <class T>
using Small = typename TestMatrix<T>::Small;

/// Compares C with X^T Y in long double; the bound is that of a sum of n products.
template <class T, class MatrixX, class MatrixY>
void expectProduct(const Small<T>& C, const MatrixX& X, const MatrixY& Y, int n) {
  const int k = static_cast<int>(C.extent(0));
  const int t = static_cast<int>(C.extent(1));
  Reference expected(k, t);
  Reference magnitude(k, t);
  expected.addProduct(1, Reference::of(X, n, k).transposed(), Reference::of(Y, n, t), &magnitude);
  EXPECT_TRUE(near<T>(C, expected, magnitude, n)) << "n = " << n << ", k = " << k << ", t = " << t;
}

TYPED_TEST(InnerProductsTest, SmallCaseByHand) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> X(3, 2);
  TestMatrix<T> Y(3, 1);
  const T x[2][3] = {{1, 2, 3}, {-1, 0, 4}};
  const T y[3] = {2, -1, 5};
  for (int i = 0; i < 3; ++i) {
    X(i, 0) = x[0][i];
    X(i, 1) = x[1][i];
    Y(i, 0) = y[i];
  }
  X.push();
  Y.push();
  Small<T> C("C", 2, 1);
  innerProducts<typename TypeParam::Path>(testQueue(), X.view(), Y.view(), C);
  fence(testQueue());
  EXPECT_EQ(C(0, 0), T(15));
  EXPECT_EQ(C(1, 0), T(18));
}

TYPED_TEST(InnerProductsTest, AgreesWithLongDouble) {
  using T = typename TypeParam::Scalar;
  for (const int n : rowCounts()) {
    for (const int k : basisSizes()) {
      const auto X = TestMatrix<T>::random(n, k, 17);
      for (int t = 0; t <= 13; ++t) {
        const auto Y = TestMatrix<T>::random(n, t, 29, 5);
        auto C = randomSmall<T>(k, t, 3);  // must be overwritten
        innerProducts<typename TypeParam::Path>(testQueue(), X.view(), Y.view(), C);
        fence(testQueue());
        expectProduct<T>(C, X, Y, n);
      }
    }
  }
}

TYPED_TEST(InnerProductsTest, TrailingGramAgreesAndIsSymmetric) {
  using T = typename TypeParam::Scalar;
  for (const int n : {0, 1, 7, 1023, 1025, 2063}) {
    for (const int first : basisSizes()) {
      for (const int trailing : {0, 1, 2, 3, 5, 6, 7, 10, 12, 13, 20}) {
        const auto B = TestMatrix<T>::random(n, first + trailing, 11);
        auto C = randomSmall<T>(first + trailing, trailing, 3);
        trailingGram<typename TypeParam::Path>(testQueue(), B.view(), first, C);
        fence(testQueue());
        expectProduct<T>(
            C, B, [&](int i, int j) { return B(i, first + j); }, n);
        for (int j = 0; j < trailing; ++j) {
          for (int i = 0; i < j; ++i) EXPECT_EQ(C(first + i, j), C(first + j, i));
        }
      }
    }
  }
}

TYPED_TEST(InnerProductsTest, SymmetricProductsAgreeAndAreSymmetric) {
  using T = typename TypeParam::Scalar;
  for (const int n : {0, 1, 7, 1023, 1025, 2063}) {
    for (const int k : {0, 1, 2, 3, 4, 5, 6, 8, 13, 20}) {
      for (const int more : {0, 1, 3, 8, 13}) {
        const auto X = TestMatrix<T>::random(n, k, 11);
        auto Y = TestMatrix<T>::random(n, k + more, 13);
        // X^T Y is symmetric to rounding where Y is X with its rows scaled.
        for (int i = 0; i < n; ++i) {
          for (int j = 0; j < k; ++j) Y(i, j) = T(1 + i % 3) * X(i, j);
        }
        Y.push();
        auto C = randomSmall<T>(k, k + more, 3);
        symmetricProducts<typename TypeParam::Path>(testQueue(), X.view(), Y.view(), C);
        fence(testQueue());
        expectProduct<T>(C, X, Y, n);
        for (int j = 0; j < k; ++j) {
          for (int i = 0; i < j; ++i) EXPECT_EQ(C(i, j), C(j, i));
        }
      }
    }
  }
}

TYPED_TEST(InnerProductsTest, SharedColumnsAndStridedResult) {
  using T = typename TypeParam::Scalar;
  const auto B = TestMatrix<T>::random(700, 9, 5);
  Small<T> large("large", 20, 20);
  const auto C = Kokkos::subview(large, std::pair<int, int>(2, 11), std::pair<int, int>(4, 8));
  innerProducts<typename TypeParam::Path>(testQueue(), B.view(), B.view(5, 4), C);
  Small<T> G("G", 9, 4);
  trailingGram<typename TypeParam::Path>(testQueue(), B.view(), 5, G);
  fence(testQueue());
  for (int j = 0; j < 4; ++j) {
    for (int i = 0; i < 9; ++i) EXPECT_NEAR(C(i, j), G(i, j), 700 * std::numeric_limits<T>::epsilon());
  }
  EXPECT_EQ(large(1, 4), T(0));
  EXPECT_EQ(large(11, 7), T(0));
}

TYPED_TEST(InnerProductsTest, NanAndInfReachExactlyTheirColumns) {
  using T = typename TypeParam::Scalar;
  const int n = 1030;
  for (const int row : {0, 515, n - 1}) {
    auto X = TestMatrix<T>::random(n, 6, 5);
    auto Y = TestMatrix<T>::random(n, 4, 6);
    X(row, 2) = std::numeric_limits<T>::quiet_NaN();
    Y(row, 1) = std::numeric_limits<T>::infinity();
    X.push();
    Y.push();
    Small<T> C("C", 6, 4);
    innerProducts<typename TypeParam::Path>(testQueue(), X.view(), Y.view(), C);
    fence(testQueue());
    for (int j = 0; j < 4; ++j) {
      for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(std::isfinite(C(i, j)), i != 2 && j != 1) << i << ", " << j;
        EXPECT_EQ(std::isnan(C(i, j)), i == 2) << i << ", " << j;
      }
    }
  }
}

TYPED_TEST(InnerProductsTest, SameResultInEveryRun) {
  using T = typename TypeParam::Scalar;
  const auto B = TestMatrix<T>::random(20011, 14, 5);
  Small<T> first("first", 14, 5);
  trailingGram<typename TypeParam::Path>(testQueue(), B.view(), 9, first);
  for (int run = 0; run < 5; ++run) {
    Small<T> again("again", 14, 5);
    trailingGram<typename TypeParam::Path>(testQueue(), B.view(), 9, again);
    fence(testQueue());
    for (int j = 0; j < 5; ++j) {
      for (int i = 0; i < 14; ++i) EXPECT_EQ(first(i, j), again(i, j));
    }
  }
}

TYPED_TEST(InnerProductsTest, WrongShapesAreNamed) {
  using T = typename TypeParam::Scalar;
  const auto X = TestMatrix<T>::random(8, 3, 1);
  const auto Y = TestMatrix<T>::random(9, 2, 1);
  Small<T> C("C", 3, 2);
  Small<T> D("D", 3, 3);
  try {
    innerProducts<typename TypeParam::Path>(testQueue(), X.view(), Y.view(), C);
    FAIL() << "rows that differ were accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "capstan::kernels::innerProducts: Y is 9 x 2, must be 8 x 2");
  }
  EXPECT_THROW(innerProducts<typename TypeParam::Path>(testQueue(), X.view(), X.view(), C), std::invalid_argument);
  EXPECT_THROW(symmetricProducts<typename TypeParam::Path>(testQueue(), X.view(), X.view(0, 2), C),
               std::invalid_argument);
  EXPECT_THROW(trailingGram<typename TypeParam::Path>(testQueue(), X.view(), 4, C), std::invalid_argument);
  EXPECT_THROW(trailingGram<typename TypeParam::Path>(testQueue(), X.view(), -1, C), std::invalid_argument);
  EXPECT_THROW(trailingGram<typename TypeParam::Path>(testQueue(), X.view(), 1, D), std::invalid_argument);
}

}  // namespace capstan::kernels::test
