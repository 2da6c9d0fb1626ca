#pragma once
/// \file
/// The polynomial basis of an s-step panel: v_{k+1} = (A v_k - alpha_k v_k - beta_k v_{k-1}) / gamma_k.
///
/// All three bases have this form, so the matrix powers loop and the change-of-basis matrix are written once:
///
/// | basis     | alpha_k     | beta_k                            | gamma_k          | source                      |
/// |-----------|-------------|-----------------------------------|------------------|-----------------------------|
/// | monomial  | 0           | 0                                 | g                | [Walker 1988]               |
/// | Newton    | Re(theta_k) | -Im(theta_k)^2 after a pair's 1st | g                | [Bai, Hu and Reichel 1994]  |
/// | Chebyshev | c           | d / 2 (k > 0)                     | d (k = 0), d / 2 | [Hoemmen 2010], section 7.3 |
///
/// theta: Leja-ordered Ritz values; [c - d, c + d]: the interval of the spectrum's real parts; g: a scale near the
/// spectral radius of A - theta that keeps the vectors from over- or underflowing (1 when nothing is known).

#include <cmath>
#include <complex>
#include <vector>

#include "belos_ext/dense/small_matrix.hpp"
#include "belos_ext/parameters/solver_options.hpp"

namespace capstan {

struct RecurrenceStep {
  double alpha = 0, beta = 0, gamma = 1;
  bool plain() const { return alpha == 0 && beta == 0 && gamma == 1; }
};

/// Chooses the recurrence of each step of a panel; the same for every panel of a cycle. Replicated, no communication.
class BasisRecurrence {
 public:
  /// Forgets what was learnt: monomial, unscaled.
  void reset(Basis kind);

  /// Newton shifts from the user's list or from Ritz values; ordered here. Non-finite ones are left out.
  void setShifts(const std::vector<std::complex<double>>& shifts);

  /// Interval for the Chebyshev basis, overriding what the Ritz values say. Needs lower < upper.
  void setInterval(double lower, double upper);

  /// Of the Chebyshev basis, where ready(): whether a value's real part is farther from the centre of the interval than
  /// so many times half of its length.
  bool leavesOut(const std::complex<double>& value, double times) const {
    return std::abs(value.real() - centre_) > times * halfWidth_;
  }
  EigenvalueBounds interval() const { return {centre_ - halfWidth_, centre_ + halfWidth_}; }

  /// True when the asked basis can be built; until then steps are monomial.
  bool ready() const { return ready_; }
  const std::vector<std::complex<double>>& shifts() const { return shifts_; }

  RecurrenceStep step(int k) const;

  /// The (s+1) x s matrix B with A V(:,0:s) = V(:,0:s+1) B.
  template <class Scalar>
  SmallMatrix<Scalar> changeOfBasis(int steps) const {
    SmallMatrix<Scalar> b(steps + 1, steps);
    for (int k = 0; k < steps; ++k) {
      const RecurrenceStep r = step(k);
      b(k + 1, k) = static_cast<Scalar>(r.gamma);
      b(k, k) = static_cast<Scalar>(r.alpha);
      if (k > 0) b(k - 1, k) = static_cast<Scalar>(r.beta);
    }
    return b;
  }

 private:
  Basis kind_ = Basis::Newton;
  bool ready_ = false;
  std::vector<std::complex<double>> shifts_;
  double scale_ = 1;
  double centre_ = 0, halfWidth_ = 1;
  bool intervalGiven_ = false;
};

}  // namespace capstan
