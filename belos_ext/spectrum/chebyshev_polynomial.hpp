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
/// with rho_0 = delta / theta, rho_k = 1 / (2 theta / delta - rho_{k-1}). Replicated, local.

#include <cmath>
#include <vector>

#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/parameters/tuning.hpp"

namespace capstan {

class ChebyshevPolynomial {
 public:
  /// p <- onto p + along M^{-1} (u - A z)
  struct Step {
    double onto, along;
  };

  /// Of a spectrum within (0, bounds.max]. Below the interval p is between 0 and 1, so that M_d is as definite as M.
  /// \param degree d >= 1   \param bounds min: no eigenvalue is below it, or 0 where that is not known
  ChebyshevPolynomial(int degree, const EigenvalueBounds& bounds) {
    const double d = degree, upper = bounds.max;
    lower_ = std::min(std::max(tuning::polynomial::lower / (d * d) * upper, bounds.min), upper / 2);
    upper_ = upper;
    isAbove_ = bounds.min >= lower_;
    const double centre = (upper_ + lower_) / 2, half = (upper_ - lower_) / 2;
    first_ = 1 / centre;
    double rho = half / centre;
    for (int k = 1; k < degree; ++k) {
      const double next = 1 / (2 * centre / half - rho);
      steps_.push_back({next * rho, 2 * next / half});
      rho = next;
    }
    deviation_ = 1 / std::cosh(d * std::acosh(centre / half));
  }

  int degree() const { return static_cast<int>(steps_.size()) + 1; }
  /// 1 / theta
  double first() const { return first_; }
  const std::vector<Step>& steps() const { return steps_; }

  /// The interval on which p is small.
  EigenvalueBounds interval() const { return {lower_, upper_}; }
  /// Where the eigenvalues of M_d^{-1} A lie: 1 - p(t).
  EigenvalueBounds image() const { return {isAbove_ ? 1 - deviation_ : 0, 1 + deviation_}; }

 private:
  double lower_ = 0, upper_ = 0, first_ = 1, deviation_ = 0;
  bool isAbove_ = false;  ///< no eigenvalue is below the interval
  std::vector<Step> steps_;
};

}  // namespace capstan
