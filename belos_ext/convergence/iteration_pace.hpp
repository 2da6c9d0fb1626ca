#pragma once
/// \file
/// Seconds of an iteration, as they usually are: the median of a solve's. What takes long once (set-up within the first
/// iterations, residuals that are computed from x, another job on the machine) leaves it as it is.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tpetra_ext/wall_clock.hpp"

namespace capstan::tuning::iteration_pace {
/// Iterations of which the median is taken, the last ones of a solve. Chosen: 8 kB.
inline constexpr int kept = 1024;
}  // namespace capstan::tuning::iteration_pace

namespace capstan {

class IterationPace {
 public:
  using Clock = double (*)();  ///< seconds since some moment

  /// Allocates all that it will ever need.
  explicit IterationPace(Clock clock = &wallSeconds) : clock_(clock) {
    seconds_.reserve(kept);
    sorted_.reserve(kept);
  }

  /// A solve begins.
  void begin() {
    seconds_.clear();
    iterations_ = 0;
    last_ = clock_();
  }

  /// Another iteration is over. Of a long solve the last ones count.
  void iterated() {
    const double now = clock_();
    if (seconds_.size() < kept) {
      seconds_.push_back(now - last_);
    } else {
      seconds_[iterations_ % kept] = now - last_;
    }
    ++iterations_;
    last_ = now;
  }

  std::size_t iterations() const { return iterations_; }

  /// Seconds of an iteration, on this rank; 0 before there is one.
  double seconds() {
    sorted_ = seconds_;
    if (sorted_.empty()) return 0;
    const auto middle = sorted_.begin() + static_cast<std::ptrdiff_t>(sorted_.size() / 2);
    std::nth_element(sorted_.begin(), middle, sorted_.end());
    return *middle;
  }

 private:
  static constexpr std::size_t kept = tuning::iteration_pace::kept;

  Clock clock_;
  std::vector<double> seconds_, sorted_;
  std::size_t iterations_ = 0;
  double last_ = 0;
};

}  // namespace capstan
