#pragma once
/// \file
/// "Enlarging Factor" auto: the number of directions that earlier solves of the label were fastest with.
///
/// Seconds for a digit of the residual are compared, factor by factor: the first solve takes a middle one, later ones
/// the neighbours, twice and half, of the best so far, until both are known. All ranks hold the same mean time, so that
/// they choose alike.

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
    seconds_.clear();
  }
  void recall(const SolverState& state) {
    if (automatic_) seconds_ = state.secondsPerDigit;
  }
  void forget() { seconds_.clear(); }
  void remember(SolverState& state) const {
    if (automatic_) state.secondsPerDigit = seconds_;
  }

  bool automatic() const { return automatic_; }

  /// The factor of the next solve. \param rows of the system: there are no more directions
  int choose(double rows) const {
    const int most = std::max(1, static_cast<int>(std::min<double>(rows, tuning::enlarged_cg::mostAuto)));
    if (!automatic_) return std::min(given_, std::max(1, static_cast<int>(std::min<double>(rows, given_))));
    if (seconds_.empty()) return std::min(tuning::enlarged_cg::firstAuto, most);
    const auto best = std::min_element(seconds_.begin(), seconds_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const int neighbour : {2 * best->first, best->first / 2}) {
      if (neighbour >= 1 && neighbour <= most && seconds_.count(neighbour) == 0) return neighbour;
    }
    return best->first;
  }

  /// A solve with this factor took so long for so many digits. \param seconds the same on all ranks
  void took(int factor, double seconds, double digits) {
    const double each = seconds / digits;
    if (!automatic_ || !(digits > 0) || !std::isfinite(each)) return;
    const auto [place, first] = seconds_.emplace(factor, each);
    if (!first) place->second += tuning::enlarged_cg::newestCounts * (each - place->second);
  }

 private:
  bool automatic_ = false;
  int given_ = 1;
  std::map<int, double> seconds_;
};

}  // namespace capstan
