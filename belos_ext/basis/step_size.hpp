#pragma once
/// \file
/// The step size of an s-step method: fixed, or led by the conditioning of the Gram matrices.

#include <algorithm>

namespace capstan {

/// Controls s. Replicated: fed with reduced numbers only, so it decides alike on all ranks.
///
/// A panel of condition kappa loses about kappa^2 eps of orthogonality in its Cholesky factorisation, so kappa is kept
/// well under 1 / sqrt(eps) ~ 7e7. A failed factorisation halves s whether it was given or not; a given s comes back
/// with the next cycle, an automatic one grows again by one after each comfortable panel.
class StepSize {
 public:
  void configure(bool automatic, int asked) {
    automatic_ = automatic;
    asked_ = asked;
    current_ = asked;
    ceiling_ = largest;
  }
  void recall(int steps) {
    if (automatic_ && steps > 0) current_ = std::min(steps, largest);
  }
  void beginCycle() {
    if (!automatic_) current_ = asked_;
  }

  int current() const { return current_; }

  /// The panel was factored completely, with this condition.
  void succeeded(int steps, double condition) {
    if (!automatic_ || steps < current_) return;
    if (condition < comfortable) {
      current_ = std::min(current_ + 1, ceiling_);
    } else if (condition > strained) {
      current_ = std::max(current_ - 1, 1);
    }
  }

  /// A panel of that many steps lost rank. An automatic s does not grow back to where it failed.
  void failed(int steps) {
    current_ = std::max(1, std::min(current_, steps) / 2);
    ceiling_ = std::max(1, std::min(ceiling_, steps - 1));
  }

  /// Whether a panel of this condition has lost most of its digits.
  static bool isStrained(double condition) { return condition > strained; }

 private:
  static constexpr int largest = 16;
  static constexpr double comfortable = 1e4;
  static constexpr double strained = 1e6;

  bool automatic_ = true;
  int asked_ = 5;
  int ceiling_ = largest;
  int current_ = 5;
};

}  // namespace capstan
