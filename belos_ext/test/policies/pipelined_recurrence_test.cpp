// The small matrices of pipelined GMRES against the tall ones they stand for.

#include <gtest/gtest.h>

#include "belos_ext/orthogonalization/pipelined_correction.hpp"
#include "belos_ext/test/policies/dense_support.hpp"

namespace capstan {
namespace {

constexpr int rows = 40;

Matrix transposedTimes(const Matrix& a, const Matrix& b) {
  Matrix c(a.numCols(), b.numCols());
  multiply<double>(1, Teuchos::TRANS, a, Teuchos::NO_TRANS, b, 0, c);
  return c;
}

Matrix columns(const Matrix& a, int first, int count) { return copyOf(block(a, 0, first, a.numRows(), count)); }

double norm(const Matrix& v) { return std::sqrt(transposedTimes(v, v)(0, 0)); }

/// Q R = a with Q orthonormal: Gram-Schmidt twice.
void factor(const Matrix& a, Matrix& q, Matrix& r) {
  q = copyOf(a);
  r.shape(a.numCols(), a.numCols());
  for (int c = 0; c < a.numCols(); ++c) {
    for (int pass = 0; pass < 2; ++pass) {
      for (int j = 0; j < c; ++j) {
        const double h = transposedTimes(columns(q, j, 1), columns(q, c, 1))(0, 0);
        r(j, c) += h;
        for (int i = 0; i < a.numRows(); ++i) q(i, c) -= h * q(i, j);
      }
    }
    r(c, c) = norm(columns(q, c, 1));
    for (int i = 0; i < a.numRows(); ++i) q(i, c) /= r(c, c);
  }
}

TEST(PipelinedRecurrence, ColumnsFromAnyMixOfProductsAreThoseOfTheFactorization) {
  const int count = 8;
  const Matrix z = Uniform(3).matrix(rows, count);
  Matrix q, r;
  factor(z, q, r);
  // z_0 = q_0 is a unit vector for the recurrence.
  Matrix scaled = copyOf(z);
  for (int i = 0; i < rows; ++i) scaled(i, 0) /= r(0, 0);
  r(0, 0) = 1;
  const Matrix withQ = transposedTimes(q, scaled), withZ = transposedTimes(scaled, scaled);
  for (int behind = 0; behind < 5; ++behind) {
    PipelinedRecurrence<double> recurrence;
    recurrence.begin(count, 3);
    for (int c = 1; c < count; ++c) {
      const int known = std::max(1, c - behind);
      ASSERT_TRUE(recurrence.orthogonalize(c, known, withQ[c], withZ[c] + known));
      const Matrix above = recurrence.above(c, 1), within = recurrence.within(c, 1);
      EXPECT_LT(largest(difference(above, block(r, 0, c, c, 1))), 1e-11) << c << ", known " << known;
      EXPECT_NEAR(within(0, 0), r(c, c), 1e-11);
      EXPECT_NEAR(recurrence.condition(c), norm(columns(scaled, c, 1)) / r(c, c), 1e-9);
    }
  }
}

/// || row of F G^{-1} || for G of the identity but for one small pivot and what stands above it.
TEST(PipelinedRecurrence, SmallPivotsMakeTheRelationInexactAndTheErrorIsInherited) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  PipelinedRecurrence<double> recurrence;
  recurrence.begin(4, 1);
  const double unit[] = {0, 1}, nearly[] = {1, 1, 1e-6}, next[] = {0, 0, 1, 0.5};
  recurrence.set(1, unit);
  recurrence.set(2, nearly);
  recurrence.set(3, next);
  EXPECT_DOUBLE_EQ(recurrence.relationError(0), eps);
  EXPECT_DOUBLE_EQ(recurrence.relationError(1), eps);
  const double large = recurrence.relationError(2);
  EXPECT_GT(large, 1e5 * eps * (std::sqrt(2.0) - 1));
  EXPECT_LT(large, 1e7 * eps);
  EXPECT_NEAR(recurrence.relationError(3), 2 * large, 1e-4 * large);
  recurrence.begin(4, 1);
  EXPECT_DOUBLE_EQ(recurrence.relationError(0), eps);
}

TEST(PipelinedRecurrence, ADependentVectorIsNotTrusted) {
  PipelinedRecurrence<double> recurrence;
  recurrence.begin(3, 1);
  const double withQ[] = {2}, square[] = {4}, larger[] = {4 + 1e-10}, nan[] = {std::nan("")};
  EXPECT_FALSE(recurrence.orthogonalize(1, 1, withQ, square));
  EXPECT_FALSE(recurrence.orthogonalize(1, 1, withQ, nan));
  EXPECT_TRUE(recurrence.orthogonalize(1, 1, withQ, larger));
}

/// p(L)-GMRES with tall matrices in the open, its products taken as the solver takes them.
struct SmallGmres {
  static constexpr int steps = 14;
  Matrix q{rows, steps + 1}, h{steps + 1, steps};

  SmallGmres(const Matrix& a, int lag, double drop) {
    PipelinedRecurrence<double> recurrence;
    recurrence.begin(steps + lag, lag);
    Matrix z(rows, steps + lag + 1);
    for (int i = 0; i < rows; ++i) z(i, 0) = q(i, 0) = 1 / std::sqrt(rows);
    for (int i = 0; i < steps + lag; ++i) {
      Matrix next = block(z, 0, i + 1, rows, 1);
      next.assign(product(a, columns(z, i, 1)));
      if (i < lag) {
        const double sigma = 0.3 * i - 0.5;
        recurrence.shift(i, sigma);
        for (int k = 0; k < rows; ++k) z(k, i + 1) -= sigma * z(k, i);
      } else {
        column(recurrence, z, i - lag + 1, std::max(1, i - 2 * lag + 2));
        const auto change = recurrence.changeOfBasis(i, h, drop);
        next -= product(columns(z, lag, change.r.numRows()), change.r);
        next.scale(1 / change.norm);
      }
    }
  }

 private:
  void column(PipelinedRecurrence<double>& recurrence, const Matrix& z, int c, int known) {
    const Matrix zc = columns(z, c, 1);
    const Matrix withQ = transposedTimes(columns(q, 0, known), zc);
    const Matrix withZ = transposedTimes(columns(z, known, c - known + 1), zc);
    ASSERT_TRUE(recurrence.orthogonalize(c, known, withQ.values(), withZ.values())) << c;
    Matrix qc = block(q, 0, c, rows, 1);
    qc.assign(zc);
    qc -= product(columns(q, 0, c), copyOf(recurrence.above(c, 1)));
    qc.scale(1 / recurrence.within(c, 1)(0, 0));
    const Matrix entries = recurrence.hessenbergColumn(c - 1, h);
    for (int j = 0; j <= c; ++j) h(j, c - 1) = entries(j, 0);
  }
};

TEST(PipelinedRecurrence, FollowsTheArnoldiRelationAtEveryLag) {
  Matrix a = Uniform(8).matrix(rows, rows);
  for (int i = 0; i < rows; ++i) a(i, i) += 4;
  for (int lag : {1, 2, 3, 5}) {
    for (double drop : {0.0, 0.05}) {
      SCOPED_TRACE("lag " + std::to_string(lag) + ", drop " + std::to_string(drop));
      const SmallGmres run(a, lag, drop);
      const Matrix residual = difference(product(a, columns(run.q, 0, SmallGmres::steps)), product(run.q, run.h));
      EXPECT_LT(largest(residual), 1e-9);
      EXPECT_LT(largest(difference(transposedTimes(run.q, run.q), identity<double>(SmallGmres::steps + 1))), 1e-5)
          << "rounding grows with the lag";
    }
  }
}

/// Nearly orthonormal columns, and one more vector.
struct Nearly {
  Matrix q, z;

  explicit Nearly(int count) {
    Uniform uniform(5);
    Matrix r;
    factor(uniform.matrix(rows, count), q, r);
    Matrix noise = uniform.matrix(rows, count);
    noise.scale(1e-3);
    q += noise;
    z = uniform.matrix(rows, 1);
  }
};

/// Feeds column after column of Q, so that T is known, and returns what becomes of z.
PipelinedCorrection<double>::Column orthogonalized(PipelinedScheme scheme, Matrix& q, Matrix& z) {
  PipelinedCorrection<double> correction;
  const int count = q.numCols();
  correction.begin(count, scheme);
  PipelinedCorrection<double>::Column column;
  for (int c = 1; c <= count; ++c) {
    Matrix all(rows, c + 1);
    Matrix left = block(all, 0, 0, rows, c), right = block(all, 0, c, rows, 1);
    left.assign(block(q, 0, 0, rows, c));
    right.assign(z);
    const int needed = correction.columnsNeeded();
    column = correction.orthogonalize(c, transposedTimes(all, columns(all, c + 1 - needed, needed)));
    for (int i = 0; i < rows; ++i) q(i, c - 1) /= column.normalizer;
    if (c == count) z.scale(1 / column.normalizer);
  }
  return column;
}

TEST(PipelinedCorrection, Cgs2IsTwoPassesOfClassicalGramSchmidt) {
  Nearly at(7);
  const auto column = orthogonalized(PipelinedScheme::Cgs2, at.q, at.z);
  EXPECT_NE(column.normalizer, 1);
  for (int j = 0; j < 7; ++j) EXPECT_NEAR(norm(columns(at.q, j, 1)), 1, 1e-14) << "normalised one vector later";
  Matrix w = copyOf(at.z), r(7, 1);
  for (int pass = 0; pass < 2; ++pass) {
    const Matrix h = transposedTimes(at.q, w);
    r += h;
    w -= product(at.q, h);
  }
  EXPECT_LT(largest(difference(block(column.r, 0, 0, 7, 1), r)), 1e-14);
  EXPECT_NEAR(column.r(7, 0), norm(w), 1e-13) << "T = I is not assumed";
}

TEST(PipelinedCorrection, MgsIsModifiedGramSchmidt) {
  Nearly at(7);
  const auto column = orthogonalized(PipelinedScheme::Mgs, at.q, at.z);
  Matrix w = copyOf(at.z), r(7, 1);
  for (int j = 0; j < 7; ++j) {
    r(j, 0) = transposedTimes(columns(at.q, j, 1), w)(0, 0);
    Matrix step = columns(at.q, j, 1);
    step.scale(r(j, 0));
    w -= step;
  }
  EXPECT_LT(largest(difference(block(column.r, 0, 0, 7, 1), r)), 1e-14);
  EXPECT_NEAR(column.r(7, 0), norm(w), 1e-13);
}

TEST(PipelinedCorrection, Cgs1IsOnePassWithThePythagoreanNorm) {
  Nearly at(7);
  const Matrix before = copyOf(at.q);
  const auto column = orthogonalized(PipelinedScheme::Cgs1, at.q, at.z);
  EXPECT_EQ(column.normalizer, 1);
  const Matrix r = transposedTimes(before, at.z);
  EXPECT_LT(largest(difference(block(column.r, 0, 0, 7, 1), r)), 1e-15);
  EXPECT_NEAR(column.r(7, 0), std::sqrt(transposedTimes(at.z, at.z)(0, 0) - transposedTimes(r, r)(0, 0)), 1e-14);
}

}  // namespace
}  // namespace capstan
