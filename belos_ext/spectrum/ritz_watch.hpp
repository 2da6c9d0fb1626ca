#pragma once
/// \file
/// What the numbers of CG tell of the spectrum of M^{-1} A: whether it leaves an interval.
///
/// CG is the Lanczos process, and has its matrix factored, T = L D L^T, with D = 1 / alpha and the squares of L below
/// its diagonal beta ([Hestenes and Stiefel 1952]). T - theta = L+ D+ L+^T follows by a recurrence of one number, the
/// stationary qd transformation, and D+ has as many positive numbers as T has eigenvalues above theta (Sylvester).
/// These are Rayleigh quotients of M^{-1} A, so that one beyond theta is a proof, and the largest of them is beyond it
/// no later than 1 / alpha, which is a smaller Rayleigh quotient. No reduction, no storage. Replicated: fed with
/// reduced numbers only. Local.

#include "belos_ext/parameters/solver_options.hpp"

namespace capstan::tuning::polynomial {
/// Ritz values beyond the image of the interval by this factor prove bounds wrong: beyond rounding. Chosen.
inline constexpr double wrong = 1.001;
}  // namespace capstan::tuning::polynomial

namespace capstan {

/// Whether an eigenvalue of T lies on one side of theta.
class RitzWatch {
 public:
  enum class Side { Above, Below };

  RitzWatch(Side side, double theta) : side_(side), theta_(theta) {}

  /// The next row of T: 1 / alpha of a step, and the beta that its direction was made with; not positive: T begins
  /// anew.
  void sees(double pivot, double coupling) {
    if (found_) return;
    rest_ = coupling > 0 ? rest_ * coupling * factor_ - theta_ : -theta_;
    const double shifted = pivot + rest_;  // D+
    found_ = side_ == Side::Above ? shifted > 0 : shifted < 0;
    factor_ = shifted == 0 ? 0 : pivot / shifted;
  }

  /// Whether there has been one, in any T since this was made.
  bool found() const { return found_; }

 private:
  Side side_;
  double theta_;
  double rest_ = 0, factor_ = 0;
  bool found_ = false;
};

/// Whether an eigenvalue of T lies outside of an interval that is meant to hold those of M^{-1} A: beyond rounding, or
/// so far out that it costs many iterations.
class IntervalWatch {
 public:
  /// \param interval of a positive spectrum   \param far so many times above it, or below, is far
  /// \param judgesBelow false: what is below it is far only where it is negative
  IntervalWatch(const EigenvalueBounds& interval, double far, bool judgesBelow)
      : above_(RitzWatch::Side::Above, tuning::polynomial::wrong * interval.max),
        below_(RitzWatch::Side::Below, interval.min / tuning::polynomial::wrong),
        farAbove_(RitzWatch::Side::Above, far * interval.max),
        farBelow_(RitzWatch::Side::Below, judgesBelow ? interval.min / far : 0) {}

  /// \see RitzWatch::sees()
  void sees(double pivot, double coupling) {
    for (auto* watch : {&above_, &below_, &farAbove_, &farBelow_}) watch->sees(pivot, coupling);
  }

  bool above() const { return above_.found(); }
  bool below() const { return below_.found(); }
  bool farAbove() const { return farAbove_.found(); }
  bool farBelow() const { return farBelow_.found(); }

 private:
  RitzWatch above_, below_, farAbove_, farBelow_;
};

}  // namespace capstan
