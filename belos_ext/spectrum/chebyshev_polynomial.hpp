#pragma once
/// \file
/// The Chebyshev polynomial that preconditions: M_d^{-1} = q(M^{-1} A) M^{-1} with 1 - t q(t) = p(t), where p is of all
/// polynomials of degree d with p(0) = 1 the one that is smallest on an interval.
///
/// Source: [Golub and Varga 1961] for the recurrence, [Ashby, Manteuffel and Otto 1992] and [Saad 1985] as a
/// preconditioner. With u given, theta and delta the centre and half the length of the interval, T_k Chebyshev's
/// polynomials:
///
///     z = M^{-1} u / theta;  p = z
///     for k = 1, ..., d - 1:  p = rho_k rho_{k-1} p + (2 rho_k / delta) M^{-1} (u - A z);  z = z + p
///
/// with rho_0 = delta / theta, rho_k = 1 / (2 theta / delta - rho_{k-1}). Of a negative spectrum the signs of theta and
/// delta differ. Replicated, local.

#include <algorithm>
#include <cmath>
#include <vector>

#include "belos_ext/spectrum/definite_interval.hpp"

namespace capstan::tuning::polynomial {
/// The lower end of the interval over its upper end, times the square of the degree. Measured on Laplacians and on
/// matrices of finite elements, with Jacobi and DIC, degrees 3 to 12: from 0.5 to 1 CG takes 1.1 to 1.3 of the products
/// that it takes without; half of that and twice that are worse for strong preconditioners and weak ones.
inline constexpr double lower = 0.75;
/// How much larger than its estimate the upper end is made. Chosen: above it the polynomial would soon be negative.
inline constexpr double margin = 1.05;
}  // namespace capstan::tuning::polynomial

namespace capstan {

class ChebyshevPolynomial {
 public:
  /// p <- onto p + along M^{-1} (u - A z)
  struct Step {
    double onto, along;
  };

  /// Of a spectrum within (0, bounds.max], or [bounds.min, 0) where that is farther from zero. Between zero and the
  /// interval p is between 0 and 1, so that M_d is as definite as M, or, of a negative spectrum, as -M.
  /// \param degree d >= 1   \param bounds their end near zero: no eigenvalue is nearer, or 0 where that is not known
  ChebyshevPolynomial(int degree, const EigenvalueBounds& bounds) {
    const auto [least, upper] = upright(bounds);
    const double d = degree, sign = signOf(bounds);
    lower_ = std::min(std::max(tuning::polynomial::lower / (d * d) * upper, least), upper / 2);
    upper_ = upper;
    isNegative_ = sign < 0;
    isAbove_ = least >= lower_;
    const double centre = (upper_ + lower_) / 2, half = (upper_ - lower_) / 2;
    first_ = sign / centre;
    double rho = half / centre;
    for (int k = 1; k < degree; ++k) {
      const double next = 1 / (2 * centre / half - rho);
      steps_.push_back({next * rho, sign * 2 * next / half});
      rho = next;
    }
    deviation_ = 1 / std::cosh(d * std::acosh(centre / half));
  }

  int degree() const { return static_cast<int>(steps_.size()) + 1; }
  /// 1 / theta
  double first() const { return first_; }
  const std::vector<Step>& steps() const { return steps_; }

  /// The interval on which p is small.
  EigenvalueBounds interval() const {
    return isNegative_ ? mirrored({lower_, upper_}) : EigenvalueBounds{lower_, upper_};
  }
  /// Where the eigenvalues of M_d^{-1} A lie: 1 - p(t).
  EigenvalueBounds image() const { return {isAbove_ ? 1 - deviation_ : 0, 1 + deviation_}; }
  /// How far from zero the t beyond the interval lies where 1 - p(t), which grows there, has that value, which is at
  /// least image().max: d is odd.
  double farEndOf(double value) const {
    const double x = std::cosh(std::acosh((value - 1) / deviation_) / degree());
    return (upper_ + lower_) / 2 + x * (upper_ - lower_) / 2;
  }
  /// How far from zero the t beyond the interval lies where 1 - p(t), which falls there, is zero: d is even.
  double farEnd() const { return upper_ + lower_; }

 private:
  double lower_ = 0, upper_ = 0, first_ = 1, deviation_ = 0;
  bool isNegative_ = false;
  bool isAbove_ = false;  ///< no eigenvalue is between zero and the interval
  std::vector<Step> steps_;
};

}  // namespace capstan
