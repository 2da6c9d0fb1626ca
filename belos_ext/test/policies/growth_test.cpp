/// \file
/// Projected matrices whose storage follows the columns there are: the same numbers for any
/// capacity.

#include <gtest/gtest.h>

#include <cmath>

#include "belos_ext/dense/arnoldi_relation.hpp"
#include "belos_ext/orthogonalization/pipelined_correction.hpp"

namespace capstan {
namespace {

using Matrix = SmallMatrix<double>;

constexpr int small = 100, huge = 1 << 29, columns = 90;

double entry(int i, int j) { return std::sin(0.7 * i + 1.3 * j) + (i == j + 1 ? 2 : 0); }

TEST(Growth, KeepsWhatIsThere) {
  Matrix a;
  growTo(a, 3, huge);
  for (int size = 3; size < 200; size += 13) {
    growTo(a, size, 150);
    ASSERT_GE(a.numRows(), size);
    ASSERT_GE(a.numCols(), size);
    EXPECT_EQ(a(size - 1, size - 1), 0);
    a(size - 1, size - 1) = size;
    for (int earlier = 3; earlier <= size; earlier += 13) EXPECT_EQ(a(earlier - 1, earlier - 1), earlier);
  }
  EXPECT_EQ(a.numCols(), 198) << "no more than asked for beyond the capacity";
}

TEST(Growth, OfTheArnoldiRelationDoesNotDependOnItsCapacity) {
  ArnoldiRelation<double> one, other;
  for (int cycle = 0; cycle < 2; ++cycle) {
    one.begin(small, 3, false);
    other.begin(huge, 3, false);
    Matrix plain(2, 1);
    plain(1, 0) = 1;
    for (int j = 0; j < columns; ++j) {
      Matrix coefficients(j + 2, 2);
      coefficients(j, 0) = 1;
      for (int i = 0; i <= j + 1; ++i) coefficients(i, 1) = entry(i, j);
      one.addPanel(j, plain, coefficients);
      other.addPanel(j, plain, coefficients);
      EXPECT_EQ(one.refresh(), other.refresh());
    }
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i <= columns; ++i) EXPECT_EQ(one.hessenberg()(i, j), other.hessenberg()(i, j));
    }
    EXPECT_EQ(one.leastSquares().solve(columns), other.leastSquares().solve(columns));
  }
}

TEST(Growth, OfPipelinedRecurrencesDoesNotDependOnTheirCapacity) {
  PipelinedRecurrence<double> one, other;
  for (int lag : {1, 3}) {
    one.begin(small, lag);
    other.begin(huge, lag);
    Matrix h(columns + 2, columns + 1);
    for (int i = 0; i < columns; ++i) {
      const int a = i - lag;
      for (auto* recurrence : {&one, &other}) {
        if (a < 0) {
          recurrence->shift(i, 0.1 * i);
        } else {
          recurrence->changeOfBasis(i, h, 0);
        }
        Matrix column(i + 2, 1);
        for (int j = 0; j <= i + 1; ++j) column(j, 0) = entry(j, i);
        recurrence->set(i + 1, column.values());
      }
      if (a + 1 < 0) continue;
      const Matrix found = one.hessenbergColumn(a + 1, h), expected = other.hessenbergColumn(a + 1, h);
      for (int j = 0; j < found.numRows(); ++j) {
        EXPECT_EQ(found(j, 0), expected(j, 0));
        h(j, a + 1) = entry(j, a + 1);
      }
    }
  }
}

TEST(Growth, OfCorrectionsDoesNotDependOnTheirCapacity) {
  for (auto scheme : {PipelinedScheme::Cgs1, PipelinedScheme::Cgs2, PipelinedScheme::Mgs}) {
    PipelinedCorrection<double> one, other;
    one.begin(small, scheme);
    other.begin(huge, scheme);
    for (int c = 1; c < columns; ++c) {
      Matrix products(c + 1, one.columnsNeeded());
      for (int k = 0; k < products.numCols(); ++k) {
        for (int j = 0; j <= c; ++j) products(j, k) = 1e-3 * entry(j, c + k);
        products(c - products.numCols() + 1 + k, k) = 1;
      }
      const auto found = one.orthogonalize(c, products), expected = other.orthogonalize(c, products);
      EXPECT_EQ(found.usable, expected.usable);
      for (int j = 0; j <= c; ++j) EXPECT_EQ(found.r(j, 0), expected.r(j, 0));
    }
  }
}

}  // namespace
}  // namespace capstan
