/// \file
/// Small dense pieces: Cholesky with rank detection, the Hessenberg least-squares problem, Ritz values and Leja order.

#include <gtest/gtest.h>

#include <Teuchos_LAPACK.hpp>
#include <limits>
#include <random>

#include "belos_ext/dense/cholesky.hpp"
#include "belos_ext/dense/hessenberg_least_squares.hpp"
#include "belos_ext/dense/ritz_values.hpp"
#include "belos_ext/dense/triangular_condition.hpp"
#include "belos_ext/test/policies/dense_support.hpp"

namespace capstan {
namespace {

using Complex = std::complex<double>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Matrix randomHessenberg(int columns, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Matrix h(columns + 1, columns);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i <= j + 1; ++i) h(i, j) = uniform(generator);
  }
  return h;
}

TEST(Cholesky, FactorsASmallMatrixExactly) {
  const Matrix g = matrixOf(3, 3, {4, 2, -2, 2, 10, 5, -2, 5, 14});
  Matrix u(3, 3);
  const CholeskyResult result = cholesky(g, u);
  EXPECT_TRUE(result.succeeded(3));
  EXPECT_TRUE(result.finite);
  const Matrix expected = matrixOf(3, 3, {2, 1, -1, 0, 3, 2, 0, 0, 3});
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) EXPECT_EQ(u(i, j), expected(i, j)) << i << ", " << j;
  }
  // The smallest pivot relative to its diagonal: 3 / sqrt(14) in the last column.
  EXPECT_DOUBLE_EQ(result.condition, std::sqrt(14.0) / 3);
}

TEST(Cholesky, ReadsTheUpperTriangleOnly) {
  const Matrix g = matrixOf(2, 2, {4, 2, nan, 10});
  Matrix u(2, 2);
  EXPECT_EQ(cholesky(g, u).rank, 2);
  EXPECT_EQ(u(0, 1), 1);
}

TEST(Cholesky, OfNothingSucceeds) {
  Matrix u(0, 0);
  const CholeskyResult result = cholesky(Matrix(0, 0), u);
  EXPECT_TRUE(result.succeeded(0));
  EXPECT_TRUE(result.finite);
}

TEST(Cholesky, StopsAtADependentColumnAndKeepsTheOnesBefore) {
  for (int dependent = 1; dependent < 5; ++dependent) {
    // V^T V of unit vectors e_0..e_4 with column `dependent` = (e_0 + e_1 + .. ) of those before it.
    Matrix v = identity<double>(5);
    for (int i = 0; i < 5; ++i) v(i, dependent) = i < dependent ? 1 : 0;
    Matrix g(5, 5), u(5, 5);
    multiply<double>(1, Teuchos::TRANS, v, Teuchos::NO_TRANS, v, 0, g);
    u.putScalar(7);
    const CholeskyResult result = cholesky(g, u);
    EXPECT_EQ(result.rank, dependent);
    EXPECT_TRUE(result.finite);
    EXPECT_EQ(result.condition, inf);
    EXPECT_FALSE(result.succeeded(5));
    for (int j = 0; j < 5; ++j) {
      for (int i = 0; i < 5; ++i) EXPECT_EQ(u(i, j), i == j && j < dependent ? 1 : 0) << i << ", " << j;
    }
  }
}

TEST(Cholesky, RejectsAPivotThatIsRounding) {
  const double eps = std::numeric_limits<double>::epsilon();
  for (const double excess : {10.0, 200.0}) {
    const Matrix g = matrixOf(2, 2, {1, 1, 1, 1 + excess * eps});
    Matrix u(2, 2);
    EXPECT_EQ(cholesky(g, u).rank, excess < 50 ? 1 : 2) << excess;
    EXPECT_EQ(cholesky(g, u, static_cast<const double*>(nullptr), 1.0).rank, 2) << excess;
  }
}

TEST(Cholesky, ComparesPivotsWithTheGivenScale) {
  // What is left of a vector of squared norm 1 after a Pythagorean update: 1e-15 is rounding, though positive.
  const Matrix g = matrixOf(2, 2, {1, 0, 0, 1e-15});
  const double scale[] = {1, 1};
  Matrix u(2, 2);
  EXPECT_EQ(cholesky(g, u).rank, 2);
  EXPECT_EQ(cholesky(g, u, scale).rank, 1);
  const Matrix kept = matrixOf(2, 2, {1, 0, 0, 1e-12});
  const CholeskyResult result = cholesky(kept, u, scale);
  EXPECT_EQ(result.rank, 2);
  EXPECT_NEAR(result.condition, 1e6, 1);
}

TEST(Cholesky, ReportsWhatIsNotFinite) {
  for (const double bad : {nan, inf}) {
    for (int row = 0; row <= 2; ++row) {
      Matrix g = identity<double>(4), u(4, 4);
      g(row, 2) = bad;
      const CholeskyResult result = cholesky(g, u);
      EXPECT_FALSE(result.finite) << bad << " at row " << row;
      EXPECT_EQ(result.rank, 2) << bad << " at row " << row;
      EXPECT_TRUE(allFinite(u));
    }
  }
  Matrix u(2, 2);
  EXPECT_EQ(cholesky(matrixOf(2, 2, {-1, 0, 0, 1}), u).rank, 0);
  EXPECT_EQ(cholesky(matrixOf(2, 2, {0, 0, 0, 1}), u).rank, 0);
}

/// min || beta e_1 - H y || by LAPACK; y comes back, the residual is returned.
double referenceLeastSquares(const Matrix& h, double beta, std::vector<double>& y) {
  const int m = h.numRows(), n = h.numCols();
  Matrix a = copyOf(h);
  std::vector<double> rhs(static_cast<std::size_t>(m), 0.0), work(static_cast<std::size_t>(64 * (m + n)));
  rhs[0] = beta;
  int info = 0;
  Teuchos::LAPACK<int, double>().GELS('N', m, n, 1, a.values(), a.stride(), rhs.data(), m, work.data(),
                                      static_cast<int>(work.size()), &info);
  EXPECT_EQ(info, 0);
  y.assign(rhs.begin(), rhs.begin() + n);
  return std::abs(rhs[static_cast<std::size_t>(n)]);
}

TEST(HessenbergLeastSquares, AgreesWithLapackColumnByColumn) {
  const int capacity = 30;
  const Matrix h = randomHessenberg(capacity, 1);
  HessenbergLeastSquares<double> problem;
  problem.reset(capacity, 2.5);
  EXPECT_EQ(problem.residual(), 2.5);
  for (int k = 1; k <= capacity; ++k) {
    const double residual = problem.append(h[k - 1]);
    std::vector<double> y;
    EXPECT_NEAR(residual, referenceLeastSquares(copyOf(block(h, 0, 0, k + 1, k)), 2.5, y), 1e-13);
    EXPECT_EQ(problem.columns(), k);
    const std::vector<double> ours = problem.solve(k);
    for (int i = 0; i < k; ++i) {
      EXPECT_NEAR(ours[static_cast<std::size_t>(i)], y[static_cast<std::size_t>(i)], 1e-10) << "column " << k;
    }
  }
  // Earlier minimisers stay available.
  std::vector<double> y;
  EXPECT_NEAR(problem.residual(7), referenceLeastSquares(copyOf(block(h, 0, 0, 8, 7)), 2.5, y), 1e-13);
  const std::vector<double> seventh = problem.solve(7);
  for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(seventh[i], y[i], 1e-11);
}

TEST(HessenbergLeastSquares, TruncatedAndContinuedEqualsFromScratch) {
  const int capacity = 12;
  const Matrix before = randomHessenberg(capacity, 2), after = randomHessenberg(capacity, 3);
  HessenbergLeastSquares<double> patched, fresh;
  patched.reset(capacity, 1);
  for (int k = 0; k < capacity; ++k) patched.append(before[k]);
  patched.truncate(5);
  EXPECT_EQ(patched.columns(), 5);
  fresh.reset(capacity, 1);
  for (int k = 0; k < capacity; ++k) {
    fresh.append(k < 5 ? before[k] : after[k]);
    if (k >= 5) patched.append(after[k]);
  }
  for (int k = 0; k <= capacity; ++k) EXPECT_EQ(patched.residual(k), fresh.residual(k));
  EXPECT_EQ(patched.solve(capacity), fresh.solve(capacity));

  patched.restart(3);
  fresh.reset(capacity, 3);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(patched.append(after[k]), fresh.append(after[k]));
}

TEST(HessenbergLeastSquares, SingularHGivesAFiniteAnswer) {
  HessenbergLeastSquares<double> problem;
  problem.reset(2, 1);
  const double zeroColumn[] = {0, 0, 0};
  EXPECT_EQ(problem.append(zeroColumn), 1);
  EXPECT_EQ(problem.solve(1), std::vector<double>{0});

  // Shift matrix: H e_j = e_{j+1}; the right-hand side is never reached until the last column closes the circle.
  problem.reset(2, 1);
  const double down[] = {0, 1, 0}, up[] = {1, 0, 0};
  EXPECT_EQ(problem.append(down), 1);
  EXPECT_NEAR(problem.append(up), 0, 1e-15);
  const std::vector<double> y = problem.solve(2);
  EXPECT_NEAR(y[0], 0, 1e-15);
  EXPECT_NEAR(y[1], 1, 1e-15);

  // A column that repeats the one before up to rounding gets no component instead of a huge one.
  problem.reset(2, 1);
  const double first[] = {1, 0, 0}, same[] = {1, 1e-17, 0};
  problem.append(first);
  problem.append(same);
  const std::vector<double> z = problem.solve(2);
  EXPECT_NEAR(z[0] + z[1], 1, 1e-15);
  EXPECT_LE(std::abs(z[1]), 1);
}

/// sigma_min by LAPACK.
double smallestSingularValue(const SmallMatrix<double>& a) {
  const int n = a.numRows();
  SmallMatrix<double> copy(Teuchos::Copy, a, n, n);
  std::vector<double> values(static_cast<std::size_t>(n)), work(static_cast<std::size_t>(8 * n));
  int info = 0;
  Teuchos::LAPACK<int, double>().GESVD('N', 'N', n, n, copy.values(), copy.stride(), values.data(), nullptr, 1, nullptr,
                                       1, work.data(), 8 * n, nullptr, &info);
  EXPECT_EQ(info, 0);
  return values.back();
}

TEST(TriangularCondition, FollowsTheSmallestSingularValueWherePivotsDoNot) {
  // Pivots of 1, and above them what makes the inverse grow by 1.6 a column.
  const int n = 30;
  SmallMatrix<double> r(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) r(i, j) = -0.6;
    r(j, j) = 1;
  }
  TriangularCondition<double> condition;
  EXPECT_EQ(condition.reciprocal(), 1);
  for (int k = 0; k < n; ++k) {
    condition.append(r[k]);
    const double truth = smallestSingularValue(block(r, 0, 0, k + 1, k + 1));
    EXPECT_GE(condition.reciprocal(), truth * (1 - 1e-6)) << k + 1 << " columns";
    EXPECT_LE(condition.reciprocal(), 10 * truth) << k + 1 << " columns";
  }
  EXPECT_LT(condition.reciprocal(), 1e-5) << "the case must be one in which pivots say nothing";

  const double before = condition.reciprocal();
  condition.truncate(12);
  for (int k = 12; k < n; ++k) condition.append(r[k]);
  EXPECT_EQ(condition.reciprocal(), before);
}

TEST(TriangularCondition, IsZeroForASingularMatrixAndBearsAnyScale) {
  TriangularCondition<double> condition;
  const double first[] = {1e200}, second[] = {3e200, 4e200}, third[] = {1e200, 1e200, 0};
  condition.append(first);
  condition.append(second);
  EXPECT_GT(condition.reciprocal(), 0.1);
  condition.append(third);
  EXPECT_LT(condition.reciprocal(), 1e-15);
  condition.truncate(0);
  const double nothing[] = {0};
  condition.append(nothing);
  EXPECT_EQ(condition.reciprocal(), 0);
}

TEST(RitzValues, EigenvaluesOfKnownMatrices) {
  // Second differences: 2 - 2 cos(k pi / (n + 1)).
  const int n = 8;
  Matrix h(n + 1, n);
  for (int j = 0; j < n; ++j) {
    h(j, j) = 2;
    if (j > 0) h(j - 1, j) = -1;
    h(j + 1, j) = -1;
  }
  auto values = hessenbergEigenvalues(h, n);
  ASSERT_EQ(values.size(), 8U);
  std::sort(values.begin(), values.end(), [](Complex a, Complex b) { return a.real() < b.real(); });
  for (int k = 1; k <= n; ++k) {
    EXPECT_NEAR(values[static_cast<std::size_t>(k - 1)].real(), 2 - 2 * std::cos(k * M_PI / (n + 1)), 1e-13);
    EXPECT_EQ(values[static_cast<std::size_t>(k - 1)].imag(), 0);
  }
  // A rotation by 90 degrees times 2, shifted by 3: 3 +- 2 i. Entries below the subdiagonal are not read.
  const auto pair = hessenbergEigenvalues(matrixOf(3, 2, {3, -2, 2, 3, nan, nan}), 2);
  ASSERT_EQ(pair.size(), 2U);
  EXPECT_NEAR(pair[0].real(), 3, 1e-14);
  EXPECT_NEAR(std::abs(pair[0].imag()), 2, 1e-14);
  EXPECT_EQ(pair[1], std::conj(pair[0]));
}

TEST(RitzValues, NothingFromWhatIsNotFiniteOrEmpty) {
  EXPECT_TRUE(hessenbergEigenvalues(matrixOf(2, 2, {1, nan, 0, 1}), 2).empty());
  EXPECT_TRUE(hessenbergEigenvalues(matrixOf(2, 2, {1, inf, 0, 1}), 2).empty());
  EXPECT_TRUE(hessenbergEigenvalues(Matrix(3, 2), 0).empty());
}

TEST(LejaOrder, FirstPointsByHand) {
  // 4 is largest in modulus; 0 is farthest from it; then |x||x-4|: 1 -> 3, 2 -> 4, 3 -> 3.
  const auto ordered = lejaOrder({1.0, 3.0, 0.0, 4.0, 2.0});
  ASSERT_EQ(ordered.size(), 5U);
  EXPECT_EQ(ordered[0], 4.0);
  EXPECT_EQ(ordered[1], 0.0);
  EXPECT_EQ(ordered[2], 2.0);
  EXPECT_EQ(lejaOrder({-5.0, 1.0, 4.0}), (std::vector<Complex>{-5.0, 4.0, 1.0}));
}

TEST(LejaOrder, ConjugatesStayTogether) {
  std::mt19937 generator(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Complex> points{0.5, -0.25, 0.125};
  for (int k = 0; k < 10; ++k) {
    const Complex z(uniform(generator), std::abs(uniform(generator)) + 0.01);
    points.insert(points.begin() + k, std::conj(z));
    points.push_back(z);
  }
  auto ordered = lejaOrder(points);
  ASSERT_EQ(ordered.size(), points.size());
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (ordered[i].imag() > 0) {
      ASSERT_LT(i + 1, ordered.size());
      EXPECT_EQ(ordered[i + 1], std::conj(ordered[i]));
    } else if (ordered[i].imag() < 0) {
      ASSERT_GT(i, 0U);
      EXPECT_EQ(ordered[i - 1], std::conj(ordered[i]));
    }
  }
  const auto byParts = [](Complex a, Complex b) {
    return std::pair(a.real(), a.imag()) < std::pair(b.real(), b.imag());
  };
  std::sort(points.begin(), points.end(), byParts);
  std::sort(ordered.begin(), ordered.end(), byParts);
  EXPECT_EQ(ordered, points);
}

TEST(LejaOrder, SuppliesAMissingConjugate) {
  const std::vector<Complex> pair{{1, 2}, {1, -2}};
  EXPECT_EQ(lejaOrder({{1, 2}}), pair);
  EXPECT_EQ(lejaOrder({{1, -2}}), pair);
  EXPECT_EQ(lejaOrder({{1, -2}, {1, 2}}), pair);
  EXPECT_EQ(lejaOrder({{1, -2}, {1, 2}, {1, -2}}).size(), 4U);
}

TEST(LejaOrder, KeepsRepeatedPoints) {
  EXPECT_EQ(lejaOrder({2.0, 2.0, 2.0}).size(), 3U);
  const auto ordered = lejaOrder({2.0, 1.0, 2.0});
  EXPECT_EQ(ordered, (std::vector<Complex>{2.0, 1.0, 2.0}));
  EXPECT_TRUE(lejaOrder({}).empty());
}

}  // namespace
}  // namespace capstan
