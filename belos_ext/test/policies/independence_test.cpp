/// \file
/// Vectors that depend on one another, as their Gram matrix shows: which are independent, and normal equations with
/// those that are.

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "belos_ext/dense/independent_columns.hpp"
#include "belos_ext/dense/independent_solve.hpp"
#include "belos_ext/test/policies/dense_support.hpp"

namespace capstan {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(IndependentColumns, AreAllOfAWellConditionedBlock) {
  EXPECT_EQ(independentColumns(matrixOf(3, 3, {2, 1, 0, 1, 2, 1, 0, 1, 2}), 50.0), (std::vector<int>{0, 1, 2}));
}

TEST(IndependentColumns, KeepTheFirstAndTheMostIndependent) {
  // Columns e1, e1 + 1e-9 e2, e3: the second is nearly the first; the third counts however short it is.
  EXPECT_EQ(independentColumns(matrixOf(3, 3, {1, 1, 0, 1, 1 + 1e-18, 0, 0, 0, 1e-40}), 50.0),
            (std::vector<int>{0, 2}));
  EXPECT_EQ(independentColumns(matrixOf(3, 3, {1, 0, 0, 0, 0, 0, 0, 0, 1}), 50.0), (std::vector<int>{0, 2}));
  EXPECT_EQ(independentColumns(matrixOf(2, 2, {1, 0, 0, -1}), 50.0), (std::vector<int>{0}));
}

TEST(IndependentColumns, AreNoneWhereTheFirstIsNotPositiveOrSomethingIsNotFinite) {
  EXPECT_TRUE(independentColumns(matrixOf(2, 2, {0, 0, 0, 1}), 50.0).empty());
  EXPECT_TRUE(independentColumns(matrixOf(2, 2, {-1, 0, 0, 1}), 50.0).empty());
  EXPECT_TRUE(independentColumns(matrixOf(2, 2, {1, nan, nan, 1}), 50.0).empty());
  EXPECT_TRUE(independentColumns(matrixOf(2, 2, {1, 0, 0, inf}), 50.0).empty());
}

int solveInOrder(const Matrix& gram, const std::vector<int>& order, const std::vector<double>& right, Matrix& shares) {
  return solveOfIndependent(
      gram, order, [&](int i) { return right[static_cast<std::size_t>(i)]; }, 1e-12, shares);
}

TEST(SolveOfIndependent, SolvesWhateverTheOrderAndTheSign) {
  const std::vector<std::vector<int>> orders = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}};
  for (const double sign : {1.0, -1.0}) {
    const Matrix gram = matrixOf(3, 3, {4 * sign, 2 * sign, 0, 2 * sign, 5 * sign, 2 * sign, 0, 2 * sign, 5 * sign});
    for (const std::vector<int>& order : orders) {
      Matrix a(4, 1);
      EXPECT_EQ(solveInOrder(gram, order, {8 * sign, 18 * sign, 19 * sign}, a), 3);  // of (1, 2, 3)
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(a(i, 0), i + 1, 1e-13);
      EXPECT_EQ(a(3, 0), 0);
    }
  }
}

TEST(SolveOfIndependent, LeavesOutWhatDependsOnThoseBefore) {
  // e1, 2 e1 and e2: whichever of the first two comes first has the share.
  const Matrix gram = matrixOf(3, 3, {1, 2, 0, 2, 4, 0, 0, 0, 1});
  Matrix a(3, 1);
  EXPECT_EQ(solveInOrder(gram, {0, 1, 2}, {6, 12, 5}, a), 2);
  EXPECT_EQ(a(0, 0), 6);
  EXPECT_EQ(a(1, 0), 0);
  EXPECT_EQ(a(2, 0), 5);
  EXPECT_EQ(solveInOrder(gram, {1, 0, 2}, {6, 12, 5}, a), 2);
  EXPECT_EQ(a(0, 0), 0);
  EXPECT_EQ(a(1, 0), 3);
}

TEST(SolveOfIndependent, HasNoSharesOfNothingOrOfNotANumber) {
  Matrix a(2, 1);
  EXPECT_EQ(solveInOrder(matrixOf(2, 2, {0, 0, 0, 0}), {0, 1}, {1, 1}, a), 0);
  EXPECT_EQ(solveInOrder(matrixOf(2, 2, {nan, nan, nan, nan}), {0, 1}, {1, 1}, a), 0);
  EXPECT_EQ(solveInOrder(matrixOf(2, 2, {1, 0, 0, 1}), {0, 1}, {nan, 1}, a), 0);
  EXPECT_EQ(a(1, 0), 0);
  EXPECT_EQ(solveInOrder(matrixOf(2, 2, {1, 0, 0, 1}), {}, {1, 1}, a), 0);
}

}  // namespace
}  // namespace capstan
