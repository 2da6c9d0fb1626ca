#pragma once
/// \file
/// The step size of an s-step method: fixed, or led by the conditioning of the Gram matrices.

#include <algorithm>
#include <cmath>

#include "belos_ext/parameters/solver_options.hpp"

namespace capstan::tuning::step_size {
/// The largest s that is chosen automatically. Chosen.
inline constexpr int largest = 30;
/// The same where a product costs more than a reduction. Chosen.
inline constexpr int largestCostly = 16;
/// s grows by this factor at most from one panel to the next. Chosen.
inline constexpr double growth = 2;
/// s grows after panels of a condition below this. Derived: a panel of condition kappa loses kappa^2 eps of
/// orthogonality, so that kappa is kept well under 1 / sqrt(eps) ~ 7e7.
inline constexpr double comfortable = 1e4;
/// s shrinks after panels of a condition above this. Derived likewise.
inline constexpr double strained = 1e6;
}  // namespace capstan::tuning::step_size

namespace capstan {

/// Controls s. Replicated: fed with reduced numbers only, so it decides alike on all ranks.
///
/// A panel of condition kappa loses about kappa^2 eps of orthogonality in its Cholesky factorisation, so kappa is kept
/// well under 1 / sqrt(eps) ~ 7e7. A failed factorisation halves s whether it was given or not; a given s comes back
/// with the next cycle, an automatic one grows again after each comfortable panel: to as many steps as its condition
/// allows, but by one where products are costly, since a long panel goes beyond the end of the solve. How many steps
/// A Q = Q H bears is another question (panel_errors.hpp).
class StepSize {
 public:
  void configure(bool automatic, int asked) {
    automatic_ = automatic;
    asked_ = asked;
    current_ = asked;
    ceiling_ = tuning::step_size::largest;
  }
  void recall(int steps) {
    if (automatic_ && steps > 0) current_ = std::min(steps, tuning::step_size::largest);
  }
  /// \param costly a product costs more than the reduction of another panel
  void beginCycle(bool costly = false) {
    costly_ = costly;
    current_ = automatic_ ? std::min(current_, most()) : asked_;
  }

  /// The steps of the next panel.
  int current() const { return current_; }
  /// The most steps that a panel may come to have.
  int most() const {
    if (!automatic_) return asked_;
    return costly_ ? std::min(ceiling_, tuning::step_size::largestCostly) : ceiling_;
  }

  /// The panel was factored completely, with this condition.
  /// \param shortened it had fewer steps than s because the end was near: the condition of a whole one follows from its
  ///   own, where it had half of the steps at least
  void succeeded(int steps, double condition, bool shortened = false) {
    if (!automatic_ || (shortened ? 2 * steps : steps) < current_) return;
    const double whole = std::pow(condition, std::max(1.0, static_cast<double>(current_) / steps));
    if (whole < tuning::step_size::comfortable) {
      const int fitting = costly_ ? 0 : stepsOf(tuning::step_size::comfortable, whole);
      current_ = std::min(std::max(current_ + 1, fitting), most());
    } else if (condition > tuning::step_size::strained) {
      current_ = std::max(current_ - 1, 1);
    }
  }

  /// A panel of that many steps lost rank. An automatic s does not grow back to where it failed.
  void failed(int steps) {
    current_ = std::max(1, std::min(current_, steps) / 2);
    ceiling_ = std::max(1, std::min(ceiling_, steps - 1));
  }

  /// Whether a panel of this condition has lost most of its digits.
  static bool isStrained(double condition) { return condition > tuning::step_size::strained; }

 private:
  /// The steps of a panel of condition `wanted`, where the current ones lead to `found`: kappa grows by a factor a
  /// step.
  int stepsOf(double wanted, double found) const {
    const double factor = std::log(wanted) / std::log(std::max(found, 2.0));
    return static_cast<int>(current_ * std::min(factor, tuning::step_size::growth));
  }

  bool automatic_ = true;
  bool costly_ = false;
  int asked_ = StepSizeOptions().stepSize;
  int ceiling_ = tuning::step_size::largest;
  int current_ = asked_;
};

}  // namespace capstan
