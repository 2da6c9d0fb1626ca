#pragma once
/// \file
/// "Enlarging Factor" auto: the number of directions that earlier solves of the label were fastest with.
///
/// Factors 1, 2, 4, ... are compared by what a digit of the residual takes: iterations for a digit times seconds of an
/// iteration. What an untried factor t would take is foretold from those tried: iterations as a power of t, seconds of
/// an iteration as a straight line in t, whose constant part is the reductions and whose slope the work on columns.
/// Two solves, with t = 4 and t = 1, give both. From then on a factor is tried only where it may be best, and the
/// forecast gets better with each.
///
/// Other work of the machine makes solves slow, never fast: a factor counts with the fastest of its last solves. Those
/// near the best are timed again in one solve of four, and the neighbours of the best now and then. All ranks hold the
/// same numbers, so that they choose alike.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

#include "belos_ext/problem/solver_state.hpp"

namespace capstan::tuning::enlarged_cg {
/// The most directions that "auto" takes: they cost memory. Chosen.
inline constexpr int mostAuto = 16;
/// Iterations fall with t to this power, sooner or later, and by this part of what is missing sooner with the next t.
/// Measured (the systems of perf/campaigns/enlarged.yaml, t = 1 to 16): the powers from one t to the next are 0.26,
/// 0.41, 0.47, 0.49, and 0.16, 0.35, 0.44, 0.46; forecasts are wrong by up to 3 %.
inline constexpr double usualPower = 0.5;
inline constexpr double towardsUsual = 0.7;
/// A factor that is untried is tried where it is expected to take at most so many times the best one's seconds. Chosen.
inline constexpr double worthTrying = 1.08;
/// Solves of a factor that are kept. Measured (the systems of EnlargingFactor.FindsTheBestAmongDisturbedSolves, a
/// thousand seeds; one solve of five takes up to three times as long): of a thousand labels at most 18 are more than
/// 5 % above the best in their second hundred of solves.
inline constexpr int timesKept = 5;
/// Only one of so many solves is spent on trying again. Chosen: the others take the best, so that their median does.
inline constexpr int againEvery = 4;
/// A solve that takes less than this part of what its factor takes is one of another system. Chosen.
inline constexpr double otherSystem = 0.3;
/// Iterations for a digit of a solve that gained none. Chosen: more than any other.
inline constexpr double noProgress = 1e30;
}  // namespace capstan::tuning::enlarged_cg

namespace capstan {

class EnlargingFactor {
 public:
  void configure(const EnlargedOptions& options) {
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
    if (times_.empty()) return std::min(given_, most);
    if (const int untried = nextUntried(most); untried > 0) return untried;
    const long before = solves();
    // Before, the untried are tried.
    const bool mayTry = before % tuning::enlarged_cg::againEvery == 0 && before > tuning::enlarged_cg::againEvery;
    const int again = mayTry ? nextAgain(most) : 0;
    return again > 0 ? again : bestOf(most);
  }

  /// What a solve with this factor took; where it gained no digits, nothing is known to be slower. The same numbers on
  /// all ranks. Local.
  /// \param seconds of an iteration
  void took(int factor, double seconds, double iterations, double digits) {
    if (!automatic_) return;
    const long number = solves() + 1;
    const bool known = digits > 0 && std::isfinite(digits) && std::isfinite(seconds);
    const double each = known ? iterations / digits : tuning::enlarged_cg::noProgress, pace = known ? seconds : 1;
    if (const auto before = times_.find(factor); before != times_.end() && before->second.seconds.size() > 1 &&
                                                 pace * each < tuning::enlarged_cg::otherSystem * cost(factor)) {
      times_.clear();  // nothing makes a solve faster but another system
    }
    FactorTimes& times = times_[factor];
    keep(times.seconds, pace);
    keep(times.iterations, each);
    times.solve = number;
  }

 private:
  static void keep(std::vector<double>& last, double value) {
    last.push_back(value);
    if (last.size() > std::size_t{tuning::enlarged_cg::timesKept}) last.erase(last.begin());
  }
  /// Solves that have been timed.
  long solves() const {
    long last = 0;
    for (const auto& [factor, times] : times_) last = std::max(last, times.solve);
    return last;
  }
  bool isTried(int factor) const { return times_.count(factor) > 0; }
  bool progressed(int factor) const { return iterations(factor) < tuning::enlarged_cg::noProgress; }
  /// Of an iteration with a factor that is tried.
  double seconds(int factor) const {
    const auto& last = times_.at(factor).seconds;
    return *std::min_element(last.begin(), last.end());
  }
  /// For a digit, with a factor that is tried: right-hand sides differ, and one may be unlike the others.
  double iterations(int factor) const {
    auto last = times_.at(factor).iterations;
    std::sort(last.begin(), last.end());
    return last[(last.size() - 1) / 2];
  }
  /// Seconds for a digit, with a factor that is tried.
  double cost(int factor) const { return seconds(factor) * iterations(factor); }
  int bestOf(int most) const {
    int best = 0;
    for (const auto& [factor, times] : times_) {
      if (factor <= most && (best == 0 || cost(factor) < cost(best))) best = factor;
    }
    return best == 0 ? 1 : best;
  }

  /// Seconds for a digit, foretold where the factor is untried. With one factor known: as good as that.
  double expected(int factor) const {
    if (isTried(factor)) return cost(factor);
    int low = 0, high = 0;  // the two tried that enclose the factor, or else the two that are nearest
    for (const auto& [tried, times] : times_) {
      if (!progressed(tried)) continue;
      if (low > 0 && high > factor) break;
      low = high;
      high = tried;
    }
    if (low == 0) return high == 0 ? 0 : cost(high);
    const double doublings = std::log2(static_cast<double>(factor) / high);
    double power = std::log(iterations(low) / iterations(high)) / std::log(static_cast<double>(high) / low);
    const double rest = tuning::enlarged_cg::usualPower - power;
    if (doublings > 0 && rest > 0) power += tuning::enlarged_cg::towardsUsual * rest;
    const double slope = std::max(0.0, (seconds(high) - seconds(low)) / (high - low));
    return (seconds(high) + slope * (factor - high)) * iterations(high) * std::exp2(-power * doublings);
  }

  /// The untried factor that is expected to be best, where it may be; 0: none. A second one comes first.
  int nextUntried(int most) const {
    const int best = bestOf(most);
    if (!isTried(best)) return best;  // fewer rows than before
    if (times_.size() == 1 && most > 1) return best > 1 ? 1 : std::min(given_, most);
    int chosen = 0;
    for (int factor = 1; factor <= most; factor *= 2) {
      if (!isTried(factor) && (chosen == 0 || expected(factor) < expected(chosen))) chosen = factor;
    }
    return chosen > 0 && expected(chosen) <= tuning::enlarged_cg::worthTrying * cost(best) ? chosen : 0;
  }

  /// One that may be best, but for a disturbance when it was timed: the one timed least. 0: none.
  int nextAgain(int most) const {
    const int best = bestOf(most);
    int chosen = 0;
    for (const auto& [factor, times] : times_) {
      const std::size_t known = times.seconds.size();
      // One time may be three times too long; of more, the least is the less wrong the more there are.
      const double near = 1 + 2 / static_cast<double>(known);
      if (factor > most || known >= std::size_t{tuning::enlarged_cg::timesKept} || cost(factor) > near * cost(best)) {
        continue;
      }
      if (chosen == 0 || times.seconds.size() < times_.at(chosen).seconds.size()) chosen = factor;
    }
    if (chosen > 0) return chosen;
    for (const int neighbour : {best / 2, 2 * best}) {
      if (neighbour < 1 || neighbour > most) continue;
      const double slower = expected(neighbour) / cost(best);  // the more, the more seldom
      const long since = solves() - (isTried(neighbour) ? times_.at(neighbour).solve : 0);
      // That costs less than a hundredth.
      const double trusted = 2 * tuning::enlarged_cg::againEvery * tuning::enlarged_cg::againEvery * slower * slower;
      if (static_cast<double>(since) >= trusted) return neighbour;
    }
    return 0;
  }

  bool automatic_ = false;
  int given_ = 1;
  std::map<int, FactorTimes> times_;
};

}  // namespace capstan
