/// \file
/// The polynomial bases on small dense matrices.

#include <gtest/gtest.h>

#include "belos_ext/basis/basis_recurrence.hpp"
#include "belos_ext/test/policies/dense_support.hpp"

namespace capstan {
namespace {

using Complex = std::complex<double>;

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

}  // namespace
}  // namespace capstan
