/// \file
/// The polynomial that preconditions CG, on numbers in the place of matrices.

#include "belos_ext/spectrum/chebyshev_polynomial.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace capstan {
namespace {

/// p(t) = 1 - t q(t): M_d^{-1} applied to the number 1, with A = t and M = 1.
double residual(const ChebyshevPolynomial& polynomial, double t) {
  double z = polynomial.first(), p = z;
  for (const auto& step : polynomial.steps()) {
    p = step.onto * p + step.along * (1 - t * z);
    z += p;
  }
  return 1 - t * z;
}

TEST(ChebyshevPolynomial, OfDegreeOneIsTheCentreOfTheInterval) {
  const ChebyshevPolynomial polynomial(1, {1, 3});
  EXPECT_EQ(polynomial.degree(), 1);
  EXPECT_EQ(polynomial.interval().max, 3);
  EXPECT_DOUBLE_EQ(polynomial.interval().min, 1.5);  // not above half of the upper end
  EXPECT_DOUBLE_EQ(residual(polynomial, 2.25), 0);
}

// T_2(x) = 2 x^2 - 1 with x = (6 - t) / 4 on [2, 10], over T_2(6 / 4) = 3.5.
TEST(ChebyshevPolynomial, OfDegreeTwoIsThatComputedByHand) {
  const ChebyshevPolynomial polynomial(2, {2, 10});
  EXPECT_DOUBLE_EQ(polynomial.interval().min, 2);
  for (const double t : {0.0, 1.0, 2.0, 4.5, 6.0, 10.0, 12.0}) {
    const double x = (6 - t) / 4;
    EXPECT_NEAR(residual(polynomial, t), (2 * x * x - 1) / 3.5, 1e-14) << t;
  }
  EXPECT_NEAR(polynomial.image().max, 1 + 1 / 3.5, 1e-14);
  EXPECT_NEAR(polynomial.image().min, 1 - 1 / 3.5, 1e-14);
}

class Degrees : public ::testing::TestWithParam<int> {};

TEST_P(Degrees, TakeTheirLargestValueDPlusOneTimesAndAreBetweenZeroAndOneBelow) {
  const int d = GetParam();
  const ChebyshevPolynomial polynomial(d, {0, 8});
  const auto [lower, upper] = polynomial.interval();
  EXPECT_NEAR(lower, tuning::polynomial::lower / (d * d) * 8, 1e-15);
  const double largest = polynomial.image().max - 1;
  EXPECT_LT(largest, 1);
  EXPECT_EQ(polynomial.image().min, 0) << "eigenvalues may be below the interval";
  constexpr double pi = 3.14159265358979323846;
  for (int k = 0; k <= d; ++k) {
    const double t = (upper + lower) / 2 - (upper - lower) / 2 * std::cos(pi * k / d);
    EXPECT_NEAR(residual(polynomial, t), (k % 2 == 0 ? 1 : -1) * largest, 1e-12) << k;
  }
  for (int k = 1; k < 50; ++k) {
    const double value = residual(polynomial, lower * k / 50);
    EXPECT_GT(value, largest) << k;
    EXPECT_LT(value, 1) << k;
  }
  for (int k = 0; k <= 500; ++k) {
    EXPECT_LE(std::abs(residual(polynomial, lower + (upper - lower) * k / 500)), largest * (1 + 1e-10)) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Chebyshev, Degrees, ::testing::Values(2, 3, 4, 7, 12, tuning::polynomial::highest));

TEST(ChebyshevPolynomial, UsesASmallestEigenvalueThatIsKnown) {
  const ChebyshevPolynomial polynomial(8, {1, 4});
  EXPECT_EQ(polynomial.interval().min, 1);
  EXPECT_GT(polynomial.image().min, 0.99);
}

}  // namespace
}  // namespace capstan
