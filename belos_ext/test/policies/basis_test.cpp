/// \file
/// The polynomial bases, the Arnoldi relation A Q = Q H through changes of the basis, and the step size, on small dense
/// matrices.

#include <gtest/gtest.h>

#include <random>

#include "belos_ext/basis/arnoldi_relation.hpp"
#include "belos_ext/basis/basis_recurrence.hpp"
#include "belos_ext/basis/step_size.hpp"

namespace capstan {
namespace {

using Matrix = SmallMatrix<double>;
using Complex = std::complex<double>;

class Uniform {
 public:
  explicit Uniform(unsigned seed) : generator_(seed) {}
  double operator()() { return distribution_(generator_); }
  Matrix matrix(int rows, int cols) {
    Matrix a(rows, cols);
    for (int j = 0; j < cols; ++j) {
      for (int i = 0; i < rows; ++i) a(i, j) = (*this)();
    }
    return a;
  }
  /// rows x cols whose last cols rows are upper triangular with a diagonal in [1, 2].
  Matrix change(int rows, int cols) {
    Matrix s = matrix(rows, cols);
    for (int j = 0; j < cols; ++j) {
      s(rows - cols + j, j) = 1.5 + 0.5 * s(rows - cols + j, j);
      for (int i = rows - cols + j + 1; i < rows; ++i) s(i, j) = 0;
    }
    return s;
  }

 private:
  std::mt19937 generator_;
  std::uniform_real_distribution<double> distribution_{-1, 1};
};

double largest(const Matrix& a) {
  double most = 0;
  for (int j = 0; j < a.numCols(); ++j) {
    for (int i = 0; i < a.numRows(); ++i) most = std::max(most, std::abs(a(i, j)));
  }
  return most;
}

Matrix difference(const Matrix& a, const Matrix& b) {
  Matrix c = copyOf(a);
  c -= b;
  return c;
}

/// V = [v_0, p_1(A) v_0, ..., p_s(A) v_0] by the recurrence.
Matrix powers(const Matrix& a, const Matrix& start, const BasisRecurrence& recurrence, int steps) {
  const int n = a.numRows();
  Matrix v(n, steps + 1);
  block(v, 0, 0, n, 1).assign(start);
  for (int k = 0; k < steps; ++k) {
    const RecurrenceStep step = recurrence.step(k);
    const Matrix w = product(a, copyOf(block(v, 0, k, n, 1)));
    for (int i = 0; i < n; ++i) {
      v(i, k + 1) = (w(i, 0) - step.alpha * v(i, k) - (k > 0 ? step.beta * v(i, k - 1) : 0)) / step.gamma;
    }
  }
  return v;
}

TEST(BasisRecurrence, ChangeOfBasisHoldsForEveryBasis) {
  const int n = 12, steps = 7;
  Uniform uniform(1);
  const Matrix a = uniform.matrix(n, n), start = uniform.matrix(n, 1);
  const std::vector<Complex> shifts{{0.5, 0.7}, {0.5, -0.7}, {-1.5, 0}, {0.9, 0}, {-0.2, 1.1}, {-0.2, -1.1}};
  for (const Basis kind : {Basis::Monomial, Basis::Newton, Basis::Chebyshev}) {
    for (const bool known : {false, true}) {
      BasisRecurrence recurrence;
      recurrence.reset(kind);
      EXPECT_FALSE(recurrence.ready());
      if (known) recurrence.setShifts(shifts);
      EXPECT_EQ(recurrence.ready(), known);
      const Matrix v = powers(a, start, recurrence, steps);
      const Matrix left = product(a, copyOf(block(v, 0, 0, n, steps)));
      const Matrix right = product(v, recurrence.changeOfBasis<double>(steps));
      EXPECT_LT(largest(difference(left, right)), 1e-13 * largest(left)) << static_cast<int>(kind) << known;
    }
  }
}

TEST(BasisRecurrence, NewtonPolynomialsVanishAtTheirShifts) {
  // p_k(A) v_0 on a 1 x 1 or 2 x 2 block with eigenvalue theta is zero once theta is among the first k shifts.
  BasisRecurrence recurrence;
  recurrence.reset(Basis::Newton);
  recurrence.setShifts({{1, 2}, {1, -2}, {3, 0}, {-0.5, 0}});
  Matrix rotation(2, 2), start(2, 1);
  rotation(0, 0) = rotation(1, 1) = 1;
  rotation(0, 1) = -2;
  rotation(1, 0) = 2;
  start(0, 0) = 0.3;
  start(1, 0) = -0.8;
  const auto& shifts = recurrence.shifts();
  ASSERT_EQ(shifts.size(), 4U);
  const Matrix v = powers(rotation, start, recurrence, 4);
  const int after = static_cast<int>(std::find(shifts.begin(), shifts.end(), Complex(1, -2)) - shifts.begin()) + 1;
  EXPECT_GT(largest(copyOf(block(v, 0, after - 1, 2, 1))), 1e-3);
  for (int k = after; k <= 4; ++k) EXPECT_LT(largest(copyOf(block(v, 0, k, 2, 1))), 1e-14) << k;

  for (const double real : {3.0, -0.5}) {
    Matrix scalar(1, 1), one(1, 1);
    scalar(0, 0) = real;
    one(0, 0) = 1;
    const Matrix p = powers(scalar, one, recurrence, 4);
    const int zero = static_cast<int>(std::find(shifts.begin(), shifts.end(), Complex(real)) - shifts.begin()) + 1;
    EXPECT_NE(p(0, zero - 1), 0);
    EXPECT_EQ(p(0, zero), 0);
  }
}

TEST(BasisRecurrence, ChebyshevPolynomialsOfTheInterval) {
  BasisRecurrence recurrence;
  recurrence.reset(Basis::Chebyshev);
  recurrence.setInterval(2, 6);
  EXPECT_TRUE(recurrence.ready());
  Matrix one(1, 1), x(1, 1);
  one(0, 0) = 1;
  for (const double t : {-1.0, -0.3, 0.0, 0.8, 1.0}) {
    x(0, 0) = 4 + 2 * t;
    const Matrix p = powers(x, one, recurrence, 8);
    for (int k = 0; k <= 8; ++k) EXPECT_NEAR(p(0, k), std::cos(k * std::acos(t)), 1e-13) << t << ", degree " << k;
  }
  recurrence.setShifts({100.0});  // an interval given by the user stays
  EXPECT_EQ(recurrence.step(0).alpha, 4);
}

TEST(BasisRecurrence, UnusableShiftsAreLeftOut) {
  BasisRecurrence recurrence;
  recurrence.reset(Basis::Newton);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  recurrence.setShifts({{nan, 0}, {0, std::numeric_limits<double>::infinity()}});
  EXPECT_FALSE(recurrence.ready());
  recurrence.setShifts({});
  EXPECT_FALSE(recurrence.ready());
  recurrence.setShifts({{nan, 0}, {2, 0}});
  EXPECT_TRUE(recurrence.ready());
  EXPECT_EQ(recurrence.shifts(), std::vector<Complex>{2.0});
  // All shifts zero: no scale can be drawn from them.
  recurrence.reset(Basis::Newton);
  recurrence.setShifts({0.0, 0.0});
  EXPECT_EQ(recurrence.step(0).gamma, 1);
}

TEST(BasisRecurrence, AShiftWithoutItsConjugateIsUsable) {
  for (const double sign : {1.0, -1.0}) {
    BasisRecurrence recurrence;
    recurrence.reset(Basis::Newton);
    recurrence.setShifts({{1, 2 * sign}});
    ASSERT_TRUE(recurrence.ready());
    EXPECT_EQ(recurrence.shifts(), (std::vector<Complex>{{1, 2}, {1, -2}}));
  }
}

/// Generates panels on a dense A and keeps Q (not orthonormal where `sloppy`) and the directions Z.
struct PanelRun {
  PanelRun(int n, int columns, bool flexibly, unsigned seed)
      : uniform(seed), a(uniform.matrix(n, n)), q(n, columns + 1), z(n, columns), flexible(flexibly) {
    for (int i = 0; i < n; ++i) a(i, i) += 3;
    recurrence.reset(Basis::Newton);
    recurrence.setShifts({{3.5, 1}, {3.5, -1}, {2, 0}, {5, 0}});
    Matrix r = uniform.matrix(n, 1);
    const double beta = r.normFrobenius();
    r *= 1 / beta;
    block(q, 0, 0, n, 1).assign(r);
    relation.begin(columns, beta, flexible);
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

TEST(StepSize, FixedComesBackWithTheNextCycle) {
  StepSize s;
  s.configure(false, 8);
  s.recall(3);
  EXPECT_EQ(s.current(), 8);
  s.succeeded(8, 1);
  s.succeeded(8, 1e12);
  EXPECT_EQ(s.current(), 8);
  s.failed(8);
  EXPECT_EQ(s.current(), 4);
  s.failed(3);  // a short panel at the end of a cycle
  EXPECT_EQ(s.current(), 1);
  s.failed(1);
  EXPECT_EQ(s.current(), 1);
  s.beginCycle();
  EXPECT_EQ(s.current(), 8);
}

TEST(StepSize, AutomaticFollowsTheConditioning) {
  StepSize s;
  s.configure(true, 5);
  s.succeeded(5, 10);
  EXPECT_EQ(s.current(), 6);
  s.succeeded(5, 10);  // shorter than asked: says nothing about 6
  EXPECT_EQ(s.current(), 6);
  s.succeeded(6, 1e5);
  EXPECT_EQ(s.current(), 6);
  s.succeeded(6, 1e7);
  EXPECT_EQ(s.current(), 5);
  s.beginCycle();
  EXPECT_EQ(s.current(), 5);
  for (int k = 0; k < 40; ++k) s.succeeded(s.current(), 1);
  const int most = s.current();
  EXPECT_GT(most, 8);
  s.recall(most + 100);
  EXPECT_EQ(s.current(), most);
  s.recall(0);
  EXPECT_EQ(s.current(), most);
  s.recall(4);
  EXPECT_EQ(s.current(), 4);
  for (int k = 0; k < 40; ++k) s.succeeded(s.current(), 1e9);
  EXPECT_EQ(s.current(), 1);
  EXPECT_TRUE(StepSize::isStrained(1e9));
  EXPECT_FALSE(StepSize::isStrained(1e2));
}

TEST(StepSize, AutomaticDoesNotGrowBackToWhereItFailed) {
  StepSize s;
  s.configure(true, 6);
  s.failed(6);
  EXPECT_EQ(s.current(), 3);
  for (int k = 0; k < 40; ++k) s.succeeded(s.current(), 1);
  EXPECT_EQ(s.current(), 5);
  s.failed(1);
  EXPECT_EQ(s.current(), 1);
  s.succeeded(1, 1);
  EXPECT_EQ(s.current(), 1);
}

}  // namespace
}  // namespace capstan
