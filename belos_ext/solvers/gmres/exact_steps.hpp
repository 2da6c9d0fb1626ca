#pragma once
/// \file
/// How many steps of a panel of s-step GMRES keep A Q = Q H exact enough, as the panels have shown.

#include <algorithm>
#include <limits>

#include "belos_ext/parameters/tuning.hpp"

namespace capstan {

/// A panel that could be used in part holds the next ones to as many steps. One step more is tried after 2 panels in
/// full; where that fails, after 4, 8, ... So a failure, which costs products, becomes rare, and a larger step is found
/// when it is possible again. Replicated: fed with reduced numbers only. Local.
class ExactSteps {
 public:
  void forget() { *this = ExactSteps(); }
  /// \param steps of an earlier solve; 0: not limited   \param patience panels until one more is tried
  void recall(int steps, int patience) {
    forget();
    if (steps <= 0) return;
    most_ = steps;
    patience_ = waiting_ = std::clamp(patience, tuning::step_size::leastPatience, tuning::step_size::mostPatience);
  }

  bool limited() const { return most_ < unlimited; }
  /// The steps that a panel may have.
  int most() const { return most_; }
  /// What recall() takes.
  int remembered() const { return limited() ? most_ - (trying_ ? 1 : 0) : 0; }
  int patience() const { return patience_; }

  /// Only `steps` of a panel that had more could be used.
  void cut(int steps) {
    patience_ = trying_ ? std::min(2 * patience_, tuning::step_size::mostPatience)
                        : std::max(patience_, tuning::step_size::leastPatience);
    waiting_ = patience_;
    trying_ = false;
    most_ = std::max(1, steps);
  }

  /// All of a panel of so many steps could be used.
  void held(int steps) {
    if (!limited() || steps < most_) return;
    if (trying_) patience_ = std::max(patience_ / 2, tuning::step_size::leastPatience);
    trying_ = false;
    if (--waiting_ > 0) return;
    ++most_;
    trying_ = true;
  }

 private:
  static constexpr int unlimited = std::numeric_limits<int>::max();

  int most_ = unlimited;
  int patience_ = 0, waiting_ = 0;
  bool trying_ = false;  ///< most_ steps have not been seen to hold
};

}  // namespace capstan
