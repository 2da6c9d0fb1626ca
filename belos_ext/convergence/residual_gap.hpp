#pragma once
/// \file
/// How far a recursive residual may have left b - A x, and when it is to be replaced.
///
/// Source: [van der Vorst and Ye 2000], section 3 (residual replacement strategies); [Cools, Yetkin, Agullo, Giraud and
/// Vanroose 2018] for the recurrences of pipelined methods. The gap grows by rounding alone: by eps (|A| |x| + |r|) an
/// iteration. Replicated: fed with reduced numbers only, so that all ranks replace together.

#include <algorithm>
#include <cmath>
#include <limits>

namespace capstan::tuning::residual_gap {
/// A gap below this part of the target does no harm. Chosen.
inline constexpr double relevant = 0.1;
/// The recursive residual is still that of x while the gap is below this part of it. Chosen.
inline constexpr double small = 0.01;
/// The gap has to grow by this factor before the next replacement. Source: [van der Vorst and Ye 2000], section 3.
inline constexpr double grown = 1.1;
}  // namespace capstan::tuning::residual_gap

namespace capstan {

class ResidualGap {
 public:
  /// \param epsilon of the scalars   \param x, r norms of the iterate and of its computed residual
  void begin(double epsilon, double x, double r) {
    epsilon_ = epsilon;
    operatorNorm_ = 0;
    x_ = x;
    replaced(r);
  }

  /// The residual has just been computed from x.
  void replaced(double r) {
    r_ = r;
    wasSmall_ = true;
    gap_ = first_ = epsilon_ * (operatorNorm_ * x_ + r_);
  }

  /// x += alpha p, r -= alpha A p. |x| is bounded by the sum of the steps.
  /// \param p, image norms of p and of A p
  void stepped(double alpha, double p, double image) {
    if (p > 0) operatorNorm_ = std::max(operatorNorm_, image / p);
    x_ += std::abs(alpha) * p;
  }

  /// The norm of the recursive residual after that step. Without a step nothing is known.
  void left(double r) {
    if (operatorNorm_ == 0) return;
    wasSmall_ = gap_ <= threshold() * r_;
    gap_ += epsilon_ * (operatorNorm_ * x_ + r);
    r_ = r;
  }

  /// Whether the gap has just become so large that the recursion would soon follow it, and matters for the target.
  bool due(double target) const {
    return wasSmall_ && gap_ > threshold() * r_ && gap_ > tuning::residual_gap::grown * first_ &&
           gap_ > tuning::residual_gap::relevant * target;
  }

  /// Whether the recursive residual is still that of x, but for a small part.
  bool isSmall() const { return gap_ <= tuning::residual_gap::small * r_; }

  /// A bound of |x|; NaN or Inf where it may have overflowed.
  double iterate() const { return x_; }

 private:
  double threshold() const { return std::sqrt(epsilon_); }

  double epsilon_ = std::numeric_limits<double>::epsilon();
  double operatorNorm_ = 0, x_ = 0, r_ = 0;
  double gap_ = 0, first_ = 0;
  bool wasSmall_ = true;
};

}  // namespace capstan
