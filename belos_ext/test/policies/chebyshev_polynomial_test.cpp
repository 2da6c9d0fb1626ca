/// \file
/// The polynomial that preconditions CG, on numbers in the place of matrices, and what Ritz values tell of its
/// interval.

#include "belos_ext/spectrum/chebyshev_polynomial.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "belos_ext/dense/ritz_values.hpp"
#include "belos_ext/spectrum/ritz_watch.hpp"
#include "belos_ext/spectrum/spectrum_estimate.hpp"

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

INSTANTIATE_TEST_SUITE_P(Chebyshev, Degrees, ::testing::Values(2, 3, 4, 7, 12, PolynomialOptions::highestDegree));

TEST(ChebyshevPolynomial, UsesASmallestEigenvalueThatIsKnown) {
  const ChebyshevPolynomial polynomial(8, {1, 4});
  EXPECT_EQ(polynomial.interval().min, 1);
  EXPECT_GT(polynomial.image().min, 0.99);
}

TEST_P(Degrees, OfAMirroredIntervalAreMirrored) {
  const ChebyshevPolynomial polynomial(GetParam(), {0, 8}), mirror(GetParam(), {-8, 0});
  EXPECT_EQ(mirror.interval().min, -polynomial.interval().max);
  EXPECT_EQ(mirror.interval().max, -polynomial.interval().min);
  EXPECT_EQ(mirror.image().max, polynomial.image().max);
  EXPECT_EQ(mirror.image().min, 0);
  for (const double t : {0.01, 0.3, 2.0, 7.9, 8.5}) EXPECT_EQ(residual(mirror, -t), residual(polynomial, t)) << t;
}

// Beyond the interval 1 - p grows where the degree is odd, and falls through zero where it is even.
TEST_P(Degrees, TellHowFarAnEigenvalueBeyondTheIntervalIs) {
  const int d = GetParam();
  const ChebyshevPolynomial polynomial(d, {0, 8});
  if (d % 2 == 0) {
    EXPECT_NEAR(residual(polynomial, polynomial.farEnd()), 1, 1e-9);
    EXPECT_GT(polynomial.farEnd(), 8);
    return;
  }
  for (const double t : {8.01, 8.1, 9.0, 12.0, 32.0}) {
    EXPECT_NEAR(polynomial.farEndOf(1 - residual(polynomial, t)), t, 1e-6 * t) << t;
  }
}

/// A Lanczos matrix by its factors, and its eigenvalues.
struct Lanczos {
  std::vector<double> pivots, couplings;

  std::vector<double> ritz(std::size_t count) const {
    std::vector<double> diagonal, below;
    for (std::size_t k = 0; k < count; ++k) {
      diagonal.push_back(pivots[k] + (k > 0 ? couplings[k] * pivots[k - 1] : 0));
      if (k + 1 < count) below.push_back(std::sqrt(couplings[k + 1]) * pivots[k]);
    }
    below.push_back(0);
    return tridiagonalEigenvalues(diagonal, below);
  }
};

// 1 / alpha alone reaches theta later, or never.
TEST(RitzWatch, SeesTheFirstRitzValueBeyondItsBound) {
  Lanczos lanczos;
  for (int k = 0; k < 30; ++k) {
    lanczos.pivots.push_back(1 + 0.7 * std::sin(1.7 * k));
    lanczos.couplings.push_back(0.5 + 0.4 * std::cos(2.3 * k));
  }
  int later = 0;
  for (const double theta : {0.05, 0.2, 0.6, 1.2, 1.9, 2.2, 2.6}) {
    RitzWatch above(RitzWatch::Side::Above, theta), below(RitzWatch::Side::Below, theta);
    bool pivotAbove = false;
    for (std::size_t k = 0; k < lanczos.pivots.size(); ++k) {
      above.sees(lanczos.pivots[k], k == 0 ? 0 : lanczos.couplings[k]);
      below.sees(lanczos.pivots[k], k == 0 ? 0 : lanczos.couplings[k]);
      const auto ritz = lanczos.ritz(k + 1);
      EXPECT_EQ(above.found(), ritz.back() > theta) << theta << ", " << k;
      EXPECT_EQ(below.found(), ritz.front() < theta) << theta << ", " << k;
      pivotAbove = pivotAbove || lanczos.pivots[k] > theta;
      EXPECT_TRUE(above.found() || !pivotAbove) << theta << ", " << k;
      if (above.found() && !pivotAbove) ++later;
    }
  }
  EXPECT_GT(later, 0);
}

TEST(RitzWatch, BeginsAnewAndBearsNumbersThatAreNone) {
  RitzWatch above(RitzWatch::Side::Above, 2);
  for (const double pivot : {1.9, 1.9, 1.9}) above.sees(pivot, 0);
  above.sees(std::nan(""), 0.5);
  above.sees(1.9, 0);
  EXPECT_FALSE(above.found());
  above.sees(1.9, 0.5);
  EXPECT_TRUE(above.found());
  above.sees(0.1, 0);
  EXPECT_TRUE(above.found()) << "a proof stands";
}

TEST(BoundsOfRitzValues, OfAMirroredSpectrumAreMirrored) {
  using Values = std::vector<std::complex<double>>;
  const std::vector<std::pair<Values, Values>> spectra{
      {Values{1.0, 3.0}, Values{0.1, 2.0, 3.5}}, {Values{2.0, 3.0}, Values{1.0, 3.0}}, {Values{}, Values{5.0}}};
  for (const auto& [half, all] : spectra) {
    Values minusHalf, minusAll;
    for (const auto& value : half) minusHalf.push_back(-value);
    for (const auto& value : all) minusAll.push_back(-value);
    const auto bounds = boundsOfRitzValues(half, all), mirror = boundsOfRitzValues(minusHalf, minusAll);
    ASSERT_TRUE(bounds && mirror);
    EXPECT_EQ(mirror->min, -bounds->max);
    EXPECT_EQ(mirror->max, -bounds->min);
  }
  EXPECT_FALSE(boundsOfRitzValues({}, Values{0.0}));
}

}  // namespace
}  // namespace capstan
