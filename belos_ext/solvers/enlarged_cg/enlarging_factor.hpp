#pragma once
/// \file
/// "Enlarging Factor" auto: the number of directions that earlier solves of the label were fastest with.
///
/// Seconds for a digit of the residual are compared, factor by factor: 1, 2, 4, ... The best one need not be next to
/// the second best, so that all are tried: from a small one down to 1, then up until two in a row are far from the
/// best. Other work of the machine makes single solves slow, never fast: a factor counts with the fastest of its last
/// solves, one that is near the best is tried again, and the neighbours of the best now and then. All ranks hold the
/// same mean time, so that they choose alike.

#include <algorithm>
#include <cmath>
#include <map>

#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/problem/solver_state.hpp"

namespace capstan {

class EnlargingFactor {
 public:
  void configure(const SolverOptions& options) {
    automatic_ = options.enlargingFactorAuto;
    given_ = options.enlargingFactor;
    times_.clear();
  }
  void recall(const SolverState& state) {
    if (automatic_) times_ = state.factorTimes;
  }
  void forget() { times_.clear(); }
  void remember(SolverState& state) const {
    if (automatic_) state.factorTimes = times_;
  }

  bool automatic() const { return automatic_; }

  /// The factor of the next solve. \param rows of the system: there are no more directions
  int choose(double rows) const {
    if (!automatic_) return std::min(given_, std::max(1, static_cast<int>(std::min<double>(rows, given_))));
    const int most = std::max(1, static_cast<int>(std::min<double>(rows, tuning::enlarged_cg::mostAuto)));
    if (times_.empty()) return std::min(tuning::enlarged_cg::firstAuto, most);
    if (const int untried = nextUntried(most); untried > 0) return untried;
    if (const int doubtful = nextDoubtful(most); doubtful > 0) return doubtful;
    return bestOf(most);
  }

  /// A solve with this factor took so long for so many digits; where there are none, nothing is known to be slower.
  /// \param seconds the same on all ranks
  void took(int factor, double seconds, double digits) {
    if (!automatic_) return;
    const long number = solves() + 1;
    const double ratio = seconds / digits;
    const double each = digits > 0 && std::isfinite(ratio) ? ratio : tuning::enlarged_cg::noProgress;
    if (const auto known = times_.find(factor); known != times_.end() && known->second.seconds.size() > 1 &&
                                                each < tuning::enlarged_cg::otherSystem * fastest(known->second)) {
      times_.clear();  // nothing makes a solve faster but another system
    }
    FactorTimes& times = times_[factor];
    times.seconds.push_back(each);
    if (times.seconds.size() > std::size_t{tuning::enlarged_cg::timesKept}) times.seconds.erase(times.seconds.begin());
    times.solve = number;
  }

 private:
  /// Solves that have been timed.
  long solves() const {
    long last = 0;
    for (const auto& [factor, times] : times_) last = std::max(last, times.solve);
    return last;
  }
  static double fastest(const FactorTimes& times) {
    return *std::min_element(times.seconds.begin(), times.seconds.end());
  }
  bool isTried(int factor) const { return times_.count(factor) > 0; }
  int bestOf(int most) const {
    int best = 0;
    for (const auto& [factor, times] : times_) {
      if (factor <= most && (best == 0 || fastest(times) < fastest(times_.at(best)))) best = factor;
    }
    return best == 0 ? 1 : best;
  }
  /// How much slower than the best one.
  double over(int factor, int best) const { return fastest(times_.at(factor)) / fastest(times_.at(best)); }

  /// Down to 1, then up; 0: all are tried that may be best.
  int nextUntried(int most) const {
    const int best = bestOf(most);
    if (!isTried(best)) return best;  // fewer rows than before
    int factor = best;
    while (factor > 1 && isTried(factor / 2)) factor /= 2;
    if (factor > 1) return factor / 2;
    int far = 0;  // in a row
    for (factor = best; isTried(factor) && factor <= most; factor *= 2) {
      far = over(factor, best) > tuning::enlarged_cg::farFromBest ? far + 1 : 0;
    }
    return far < 2 && factor <= most ? factor : 0;
  }

  /// One that may be best, but for a disturbance when it was timed: the one timed least. 0: none.
  int nextDoubtful(int most) const {
    const int best = bestOf(most);
    int chosen = 0;
    for (const auto& [factor, times] : times_) {
      const double near = times.seconds.size() == 1 ? tuning::enlarged_cg::nearAfterOne
                          : times.seconds.size() < std::size_t{tuning::enlarged_cg::timesKept}
                              ? tuning::enlarged_cg::nearAfterMore
                              : 0;
      const bool isNear = factor == best ? near > 0 : over(factor, best) <= near;
      if (factor > most || !isNear) continue;
      if (chosen == 0 || times.seconds.size() < times_.at(chosen).seconds.size()) chosen = factor;
    }
    if (chosen > 0) return chosen;
    for (const int neighbour : {best / 2, 2 * best}) {
      if (neighbour < 1 || neighbour > most || !isTried(neighbour)) continue;
      const double slower = over(neighbour, best);  // the more, the more seldom
      const auto since = static_cast<double>(solves() - times_.at(neighbour).solve);
      if (since >= tuning::enlarged_cg::trustedFor * slower * slower) return neighbour;
    }
    return 0;
  }

  bool automatic_ = false;
  int given_ = 1;
  std::map<int, FactorTimes> times_;
};

}  // namespace capstan
