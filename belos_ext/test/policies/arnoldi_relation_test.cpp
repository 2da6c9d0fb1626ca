/// \file
/// The Arnoldi relation A Q = Q H through panels and changes of the basis, and the estimate of its error.

#include "belos_ext/dense/arnoldi_relation.hpp"

#include <gtest/gtest.h>

#include "belos_ext/basis/basis_recurrence.hpp"
#include "belos_ext/dense/relation_error.hpp"
#include "belos_ext/test/policies/dense_support.hpp"

namespace capstan {
namespace {

/// Generates panels on a dense A and keeps Q (not orthonormal where `sloppy`) and the directions Z.
struct PanelRun {
  PanelRun(int n, int columns, bool flexibly, unsigned seed)
      : uniform(seed), a(uniform.matrix(n, n)), q(n, columns + 1), z(n, columns), flexible(flexibly) {
    for (int i = 0; i < n; ++i) a(i, i) += 3;
    begin(columns);
  }

  /// The same with this matrix.
  PanelRun(Matrix given, int columns, unsigned seed)
      : uniform(seed), a(std::move(given)), q(a.numRows(), columns + 1), z(a.numRows(), columns), flexible(false) {
    begin(columns);
  }

  void begin(int columns) {
    const int n = a.numRows();
    recurrence.reset(Basis::Newton);
    recurrence.setShifts({{3.5, 1}, {3.5, -1}, {2, 0}, {5, 0}});
    Matrix r = uniform.matrix(n, 1);
    const double beta = r.normFrobenius();
    r *= 1 / beta;
    block(q, 0, 0, n, 1).assign(r);
    relation.begin(columns, beta, flexible);
    error.begin();
    start = copyOf(r);
    start *= beta;
  }

  /// One panel of `steps`; coefficients from Gram-Schmidt (twice), or any upper triangle.
  void panel(int first, int steps, bool sloppy) {
    const int n = a.numRows(), count = steps + 1;
    Matrix v(n, count);
    block(v, 0, 0, n, 1).assign(block(q, 0, first, n, 1));
    for (int k = 0; k < steps; ++k) {
      Matrix direction = copyOf(block(v, 0, k, n, 1));
      if (flexible) {
        for (int i = 0; i < n; ++i) direction(i, 0) *= 1 + 0.3 * std::sin(i + 5 * (first + k));
      }
      block(z, 0, first + k, n, 1).assign(direction);
      const Matrix w = product(a, direction);
      const RecurrenceStep step = recurrence.step(k);
      for (int i = 0; i < n; ++i) {
        v(i, k + 1) = (w(i, 0) - step.alpha * v(i, k) - (k > 0 ? step.beta * v(i, k - 1) : 0)) / step.gamma;
      }
    }
    const Matrix r = sloppy ? uniform.change(first + count, count) : gramSchmidt(v, first);
    if (first > 0) {
      multiply<double>(-1, Teuchos::NO_TRANS, copyOf(block(q, 0, 0, n, first)), Teuchos::NO_TRANS,
                       copyOf(block(r, 0, 0, first, count)), 1, v);
    }
    solveRight(copyOf(block(r, first, 0, count, count)), v);
    block(q, 0, first, n, count).assign(v);
    relation.addPanel(first, recurrence.changeOfBasis<double>(steps), r);
    error.add(first, recurrence.changeOfBasis<double>(steps), r);
  }

  /// Q_old(:,first:first+width) = Q_new(:,0:first+width) s for a random s.
  void changeColumns(int first, int width) {
    const int n = a.numRows();
    const Matrix s = uniform.change(first + width, width);
    Matrix columns = copyOf(block(q, 0, first, n, width));
    if (first > 0) {
      multiply<double>(-1, Teuchos::NO_TRANS, copyOf(block(q, 0, 0, n, first)), Teuchos::NO_TRANS,
                       copyOf(block(s, 0, 0, first, width)), 1, columns);
    }
    solveRight(copyOf(block(s, first, 0, width, width)), columns);
    block(q, 0, first, n, width).assign(columns);
    relation.reexpress(first, s);
  }

  /// max | A Q_m - Q_{m+1} H | (or A Z) relative to max | A Q |.
  double mismatch() {
    const int n = a.numRows(), m = relation.columns();
    relation.refresh();
    const Matrix left = product(a, copyOf(block(flexible ? z : q, 0, 0, n, m)));
    const Matrix h = copyOf(block(relation.hessenberg(), 0, 0, m + 1, m));
    for (int j = 0; j < m; ++j) {
      for (int i = j + 2; i <= m; ++i) EXPECT_EQ(h(i, j), 0) << i << ", " << j;
    }
    return largest(difference(left, product(copyOf(block(q, 0, 0, n, m + 1)), h))) / largest(left);
  }

  /// max | r - q_0 beta | for the beta of the least-squares problem.
  double startMismatch() {
    relation.refresh();
    Matrix expected = copyOf(block(q, 0, 0, a.numRows(), 1));
    expected *= relation.leastSquares().residual(0);
    return largest(difference(start, expected));
  }

  Uniform uniform;
  Matrix a, q, z, start;
  bool flexible;
  BasisRecurrence recurrence;
  ArnoldiRelation<double> relation;
  RelationError<double> error;

 private:
  /// V = Q R with orthonormal columns; a copy of v is worked on.
  Matrix gramSchmidt(Matrix v, int first) const {
    v = copyOf(v);
    const int n = v.numRows(), count = v.numCols();
    Matrix r(first + count, count), basis(n, first + count);
    if (first > 0) block(basis, 0, 0, n, first).assign(block(const_cast<Matrix&>(q), 0, 0, n, first));
    for (int c = 0; c < count; ++c) {
      for (int pass = 0; pass < 2; ++pass) {
        for (int k = 0; k < first + c; ++k) {
          double dot = 0;
          for (int i = 0; i < n; ++i) dot += basis(i, k) * v(i, c);
          for (int i = 0; i < n; ++i) v(i, c) -= dot * basis(i, k);
          r(k, c) += dot;
        }
      }
      double norm = 0;
      for (int i = 0; i < n; ++i) norm = std::hypot(norm, v(i, c));
      for (int i = 0; i < n; ++i) basis(i, first + c) = v(i, c) / norm;
      r(first + c, c) = norm;
    }
    return r;
  }
};

/// Classical Arnoldi with modified Gram-Schmidt, twice: H (m+1) x m.
Matrix directArnoldi(const Matrix& a, const Matrix& start, int m) {
  const int n = a.numRows();
  Matrix q(n, m + 1), h(m + 1, m);
  for (int i = 0; i < n; ++i) q(i, 0) = start(i, 0) / start.normFrobenius();
  for (int j = 0; j < m; ++j) {
    Matrix w = product(a, copyOf(block(q, 0, j, n, 1)));
    for (int pass = 0; pass < 2; ++pass) {
      for (int k = 0; k <= j; ++k) {
        double dot = 0;
        for (int i = 0; i < n; ++i) dot += q(i, k) * w(i, 0);
        for (int i = 0; i < n; ++i) w(i, 0) -= dot * q(i, k);
        h(k, j) += dot;
      }
    }
    h(j + 1, j) = w.normFrobenius();
    for (int i = 0; i < n; ++i) q(i, j + 1) = w(i, 0) / h(j + 1, j);
  }
  return h;
}

TEST(ArnoldiRelation, FindsTheCoordinatesInTheVectorsAsGenerated) {
  const int n = 25;
  PanelRun run(n, 12, false, 5);
  run.panel(0, 1, false);
  run.panel(1, 5, true);
  run.changeColumns(2, 3);
  run.panel(6, 4, false);
  run.panel(10, 2, true);
  run.changeColumns(0, 12);
  for (const int columns : {12, 11, 8, 6, 3, 1}) {  // the last panel need not be whole
    const Matrix y = run.uniform.matrix(columns, 1);
    std::vector<double> numbers(y.values(), y.values() + columns);
    numbers = run.relation.asGenerated(numbers);
    Matrix c(columns, 1);
    for (int j = 0; j < columns; ++j) c(j, 0) = numbers[static_cast<std::size_t>(j)];
    const Matrix expected = product(copyOf(block(run.q, 0, 0, n, columns)), y);
    const Matrix found = product(copyOf(block(run.z, 0, 0, n, columns)), c);
    EXPECT_LT(largest(difference(found, expected)), 1e-10 * (1 + largest(expected))) << columns;
  }
}

TEST(ArnoldiRelation, EqualsDirectArnoldi) {
  const int n = 30;
  PanelRun run(n, 14, false, 2);
  int first = 0;
  for (const int steps : {3, 4, 1, 4, 2}) {
    run.panel(first, steps, false);
    first += steps;
  }
  EXPECT_LT(run.mismatch(), 1e-12);
  const Matrix direct = directArnoldi(run.a, run.start, 14);
  const Matrix ours = copyOf(block(run.relation.hessenberg(), 0, 0, 15, 14));
  EXPECT_LT(largest(difference(ours, direct)), 1e-9 * largest(direct));

  HessenbergLeastSquares<double> reference;
  reference.reset(14, run.start.normFrobenius());
  for (int k = 0; k < 14; ++k) reference.append(direct[k]);
  EXPECT_NEAR(run.relation.refresh(), reference.residual(), 1e-10);
}

TEST(ArnoldiRelation, HoldsForAnyTriangularCoefficients) {
  for (const bool flexible : {false, true}) {
    PanelRun run(20, 9, flexible, 3);
    int first = 0;
    for (const int steps : {2, 3, 1, 3}) {
      run.panel(first, steps, true);
      first += steps;
      EXPECT_LT(run.mismatch(), 1e-11) << "columns " << first << (flexible ? " flexible" : "");
      EXPECT_LT(run.startMismatch(), 1e-13);
    }
  }
}

TEST(ArnoldiRelation, HoldsThroughChangesOfTheBasis) {
  for (const bool flexible : {false, true}) {
    PanelRun run(24, 10, flexible, 4);
    run.panel(0, 3, false);
    run.panel(3, 4, false);
    run.changeColumns(3, 4);  // lagged normalisation of a panel
    EXPECT_LT(run.mismatch(), 1e-11);
    run.panel(7, 3, false);
    run.changeColumns(7, 1);  // one vector
    run.changeColumns(2, 5);  // across panels
    EXPECT_LT(run.mismatch(), 1e-11);
    run.changeColumns(0, 11);  // second stage over all vectors
    EXPECT_LT(run.mismatch(), 1e-10);
    EXPECT_LT(run.startMismatch(), 1e-12);
    run.changeColumns(0, 6);  // second stage that kept the first columns only
    EXPECT_LT(run.mismatch(), 1e-9);
  }
}

TEST(ArnoldiRelation, RefreshEqualsAFreshLeastSquaresProblem) {
  PanelRun run(24, 10, false, 5);
  run.panel(0, 4, false);
  run.relation.refresh();
  run.panel(4, 3, false);
  run.relation.refresh();
  run.changeColumns(4, 3);
  run.panel(7, 3, true);
  const double residual = run.relation.refresh();
  HessenbergLeastSquares<double> fresh;
  fresh.reset(10, run.relation.leastSquares().residual(0));
  for (int k = 0; k < 10; ++k) fresh.append(run.relation.hessenberg()[k]);
  EXPECT_EQ(fresh.residual(), residual);
  EXPECT_EQ(run.relation.leastSquares().columns(), 10);
}

/// The columns of a flexible H are as long as the vectors that nothing has normalised: powers of A.
TEST(ArnoldiRelation, MinimisesWhateverTheLengthsOfFlexibleDirections) {
  for (const double factor : {1.0, 1e20, 1e-20}) {
    const int n = 12, columns = 5;
    PanelRun run(n, columns, true, 6);
    run.a *= factor;
    run.recurrence.reset(Basis::Monomial);
    run.panel(0, columns, false);
    const double residual = run.relation.refresh();
    Matrix left = copyOf(run.start);
    const std::vector<double> y = run.relation.leastSquares().solve(columns);
    for (int j = 0; j < columns; ++j) {
      Matrix image = product(run.a, copyOf(block(run.z, 0, j, n, 1)));
      image *= y[static_cast<std::size_t>(j)];
      left -= image;
    }
    EXPECT_NEAR(left.normFrobenius(), residual, 1e-8 * run.start.normFrobenius()) << factor;
    EXPECT_GT(run.relation.leastSquares().reciprocalCondition(), 1e-8) << factor;
  }
}

TEST(ArnoldiRelation, TruncateTakesWholePanelsBack) {
  const int n = 30;
  PanelRun run(n, 9, false, 8), same(n, 9, false, 8);
  for (PanelRun* r : {&run, &same}) {
    r->panel(0, 3, false);
    r->panel(3, 2, false);
  }
  run.relation.refresh();
  run.relation.truncate(4);
  EXPECT_EQ(run.relation.columns(), 3);
  EXPECT_EQ(run.relation.leastSquares().columns(), 3);
  run.panel(3, 2, false);
  run.relation.refresh();
  same.relation.refresh();
  EXPECT_LT(
      largest(difference(block(run.relation.hessenberg(), 0, 0, 6, 5), block(same.relation.hessenberg(), 0, 0, 6, 5))),
      1e-13);
  EXPECT_NEAR(run.relation.leastSquares().residual(), same.relation.leastSquares().residual(), 1e-13);
}

TEST(ArnoldiRelation, BeginForgetsTheLastCycle) {
  PanelRun run(20, 6, false, 6);
  run.panel(0, 6, true);
  run.relation.refresh();
  run.relation.begin(6, 2, false);
  EXPECT_EQ(run.relation.columns(), 0);
  EXPECT_EQ(run.relation.refresh(), 2);
  EXPECT_EQ(run.relation.leastSquares().columns(), 0);
  EXPECT_EQ(largest(run.relation.hessenberg()), 0);
}

// A diagonal matrix with eigenvalues over many scales: Krylov vectors soon bring little that is new.
Matrix graded(int n) {
  Matrix a(n, n);
  for (int i = 0; i < n; ++i) a(i, i) = std::pow(10.0, -8.0 * i / n);
  for (int i = 0; i + 1 < n; ++i) a(i, i + 1) = 0.5;
  return a;
}

/// || F w || for columns of F with nothing in common, however w is aligned with the signs of one row.
TEST(SampledColumn, FewRowsStandForAll) {
  constexpr int terms = 40;
  for (int first = 0; first < 2000; ++first) {
    SampledColumn<double> sum;
    for (int k = 0; k < terms; ++k) sum.subtract(1, SampledColumn<double>::rounding(first + k, 1));
    EXPECT_GT(sum.size(), 0.1 * std::sqrt(1.0 * terms)) << first;
    EXPECT_LT(sum.size(), 3 * std::sqrt(1.0 * terms)) << first;
  }
}

/// || E || of a column that follows from another one is as much larger as it is.
TEST(SampledColumn, FollowsWhatColumnsAreMadeOf) {
  auto column = SampledColumn<double>::rounding(7, 1e-16);
  EXPECT_DOUBLE_EQ(column.size(), 1e-16);
  const auto first = column;
  column.subtract(-1, first);
  EXPECT_DOUBLE_EQ(column.size(), 2e-16);
  column.divide(1e-3);
  EXPECT_DOUBLE_EQ(column.size(), 2e-13);
}

TEST(RelationError, EstimatesWhatRoundingDid) {
  for (const int steps : {4, 6, 8}) {
    PanelRun run(graded(60), 24, 7);
    for (int first = 0; first < 24; first += steps) {
      run.panel(first, steps, false);
      const double truth = run.mismatch(), estimate = run.error.estimate();
      EXPECT_LT(truth, 1e3 * estimate) << steps << " steps, from column " << first;
      if (truth > 1e-14) {
        EXPECT_GT(truth, 1e-3 * estimate) << steps << " steps, from column " << first;
      }
    }
    EXPECT_GT(run.mismatch(), 1e-13) << "the case must be one in which errors grow";
  }
}

TEST(RelationError, PanelsOfOneStepInheritNothing) {
  PanelRun run(graded(60), 24, 8);
  for (int first = 0; first < 20; first += 5) run.panel(first, 5, false);
  const double before = run.error.estimate();
  EXPECT_GT(before, 1e-14);
  RelationError<double> fresh;
  fresh.begin();
  for (int first = 20; first < 24; ++first) {
    run.panel(first, 1, false);
    EXPECT_EQ(run.error.estimate(), before);
  }
}

/// How many steps would be taken in; `error` itself stays as it is.
int reliableSteps(RelationError<double> error, int first, const Matrix& b, const Matrix& r, double limit) {
  return error.add(first, b, r, limit);
}

TEST(RelationError, NamesTheWorstColumn) {
  PanelRun run(40, 16, false, 5);
  EXPECT_EQ(run.error.worst(5), -1) << "there is none yet";
  for (int first = 0; first < 16; first += 4) run.panel(first, 4, false);
  const int worst = run.error.worst(16);
  ASSERT_GE(worst, 0);
  EXPECT_DOUBLE_EQ(run.error.estimate(worst), run.error.estimate());
  for (int c = 0; c < 16; ++c) EXPECT_LE(run.error.estimate(c), run.error.estimate(worst));
  EXPECT_LT(run.error.worst(worst), worst);
  EXPECT_EQ(run.error.within(run.error.estimate()), 16);
  EXPECT_EQ(run.error.within(0.999 * run.error.estimate()), worst);
  EXPECT_EQ(run.relation.wholePanels(16), 16);
  EXPECT_EQ(run.relation.wholePanels(11), 8);
  EXPECT_EQ(run.relation.wholePanels(3), 0);
}

TEST(RelationError, CutsWhatIsBeyondTheLimit) {
  PanelRun run(graded(60), 24, 9);
  run.panel(0, 6, false);
  run.panel(6, 6, false);
  const Matrix b = run.recurrence.changeOfBasis<double>(6);
  Matrix r = run.uniform.change(19, 7);
  r(0, 0) = 0;
  for (int k = 1; k < 7; ++k) r(12 + k, k) = std::pow(10.0, -k);  // less that is new from vector to vector
  int last = 6;
  for (const double limit : {1e100, 1e-9, 1e-12, 1e-14, 0.0}) {
    const int steps = reliableSteps(run.error, 12, b, r, limit);
    EXPECT_LE(steps, last);
    last = steps;
    RelationError<double> after = run.error;
    after.add(12, b, r, limit);
    if (steps > 1) {
      EXPECT_LE(after.estimate(), std::max(limit, run.error.estimate()))
          << "what is cut off must leave no error behind";
    }
  }
  EXPECT_EQ(reliableSteps(run.error, 12, b, r, 1e100), 6);
  EXPECT_EQ(last, 1) << "the first step is always usable";
}

/// What a panel comes to is known from H alone, once H has its columns: as from the panel itself.
TEST(RelationError, ForeseesWhatAPanelHasShown) {
  PanelRun run(graded(60), 24, 9);
  run.panel(0, 6, false);
  run.panel(6, 6, false);
  run.panel(12, 6, false);
  run.relation.refresh();
  const Matrix b = run.recurrence.changeOfBasis<double>(6);
  std::vector<double> limits = {1e100, 0};
  for (int k = 1; k < 6; ++k) limits.push_back(1.01 * run.error.estimate(12 + k));
  for (const double limit : limits) {
    int held = 1;
    while (held < 6 && run.error.estimate(12 + held) <= limit) ++held;
    EXPECT_EQ(run.error.foreseen(run.relation.hessenberg(), 18, b, limit, false), held) << limit;
    EXPECT_LE(run.error.foreseen(run.relation.hessenberg(), 18, b, limit, true), held);
  }
}

TEST(RelationError, FollowsTheRoughnessOfProducts) {
  PanelRun run(graded(60), 24, 9);
  run.panel(0, 6, false);
  run.panel(6, 6, false);
  RelationError<double> rough = run.error;
  rough.roughen(100);
  EXPECT_NEAR(rough.estimate() / run.error.estimate(), 100, 1e-10);
  rough.roughen(1);
  EXPECT_NEAR(rough.estimate() / run.error.estimate(), 1, 1e-12);
  rough.roughen(100);
  RelationError<double> smooth = run.error;
  const Matrix r = run.uniform.change(19, 7);
  rough.add(12, run.recurrence.changeOfBasis<double>(6), r);
  smooth.add(12, run.recurrence.changeOfBasis<double>(6), r);
  EXPECT_NEAR(rough.estimate(17) / smooth.estimate(17), 100, 1e-9) << "of columns to come, too";
}

TEST(RelationError, KnowsThePanelAsFarAsItsGramMatrixDoes) {
  // V = Q R with pivots of 1 in columns of length 12: only the inverse, growing by 12 a column, tells what is lost.
  const int first = 3, count = 11;
  Matrix r(first + count, count);
  for (int k = 0; k < count; ++k) {
    r(first + k, k) = 1;
    if (k > 0) r(first + k - 1, k) = 12;
  }
  // eps (sum_i || v_i || |w_i|)^2 is 6e-5 for k = 5 and 9e-3 for k = 6.
  EXPECT_EQ(RelationError<double>::knownSteps(first, r), 5);
  EXPECT_EQ(RelationError<double>::knownSteps(first, block(r, 0, 0, first + 4, 4)), 3) << "all of a shorter panel";
  for (int k = 1; k < count; ++k) r(first + k - 1, k) = 1e10;
  EXPECT_EQ(RelationError<double>::knownSteps(first, r), 1) << "the first step is always usable";
}

TEST(RelationError, ColumnsOfOthersCountAsExact) {
  PanelRun run(graded(60), 24, 10);
  run.panel(0, 3, false);
  const Matrix b = run.recurrence.changeOfBasis<double>(2), r = run.uniform.change(10, 3);
  EXPECT_GE(reliableSteps(run.error, 7, b, r, 1e-6), 1);  // columns 3 to 6 came from classical steps
  run.error.add(7, b, r);
  EXPECT_TRUE(std::isfinite(run.error.estimate()));
}

}  // namespace
}  // namespace capstan
