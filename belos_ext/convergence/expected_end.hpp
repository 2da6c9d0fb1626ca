#pragma once
/// \file
/// How many iterations a solve may still need, so that what is generated ahead of the convergence test is not in vain:
/// atop multigrid a product too many costs more than a reduction.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "belos_ext/parameters/tuning.hpp"

namespace capstan {

/// Guesses from two sources: the rate at which the residual of this solve has fallen last, and how many iterations
/// earlier solves took, of which the fewest count: up to there nearly all of them had to go. Replicated: fed with
/// reduced numbers only, so it guesses alike on all ranks. Local.
class ExpectedEnd {
 public:
  static constexpr int unknown = std::numeric_limits<int>::max();

  /// \param earlier iterations of earlier solves, the latest last; empty: none are known
  void recall(const std::vector<int>& earlier) {
    fewest_ = earlier.empty() ? 0 : *std::min_element(earlier.begin(), earlier.end());
  }
  void forget() { fewest_ = 0; }

  /// A cycle begins at a residual of that norm, after `iterations` of the solve.
  void begin(int iterations, double residual) {
    done_ = iterations;
    logs_.assign(1, std::log(residual));
    endsWithPanel_ = false;
    missed_ = 0;
  }

  /// The residual after one more iteration.
  void observe(double residual) {
    ++done_;
    logs_.push_back(std::log(residual));
  }

  /// The iterations still to come until the residual is `target`, at least 1; `unknown` where nothing tells.
  int remaining(double target) const {
    const int fewest = fewest_ > done_ ? fewest_ - done_ : unknown;
    const int bySlope = fromSlope(std::log(target));
    if (fewest == unknown) return bySlope;
    return trusted() ? std::min(fewest, bySlope) : fewest;
  }

  /// The same where stopping too early costs more than going on in vain: only what earlier solves say, and as much as
  /// the rate of this one says.
  int likely(double target) const {
    if (fewest_ <= done_) return unknown;
    return trusted() ? std::max(fewest_ - done_, fromSlope(std::log(target))) : fewest_ - done_;
  }

  /// The length of the next panel of at most s steps: as few panels as there must be, all of about the same length,
  /// and none beyond the end expected. A solve that has not ended where it should gets twice as many steps each time.
  int nextPanel(double target, int s) {
    if (endsWithPanel_) ++missed_;
    const int left = remaining(target);
    endsWithPanel_ = left <= s;
    if (left == unknown) return s;
    const int panels = (left + s - 1) / s, even = (left + panels - 1) / panels;
    return std::min(s, std::max(even, missed_ > 0 ? 1 << std::min(missed_, 10) : 1));
  }

 private:
  int steps() const { return static_cast<int>(logs_.size()) - 1; }
  bool trusted() const { return steps() >= tuning::expected_end::trusted; }

  int fromSlope(double target) const {
    const int window = std::min(steps(), tuning::expected_end::window);
    if (window < tuning::expected_end::least) return unknown;
    const double rate = (logs_[logs_.size() - 1 - static_cast<std::size_t>(window)] - logs_.back()) / window;
    const double left = (logs_.back() - target) / rate;
    if (!(rate > 0) || !(left < tuning::expected_end::farAway)) return unknown;
    return std::max(1, static_cast<int>(std::lround(left)));
  }

  int fewest_ = 0;  ///< iterations of an earlier solve; 0: unknown
  int done_ = 0, missed_ = 0;
  bool endsWithPanel_ = false;
  std::vector<double> logs_;  ///< of the residuals of this cycle
};

}  // namespace capstan
