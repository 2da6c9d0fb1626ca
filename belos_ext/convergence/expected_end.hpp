#pragma once
/// \file
/// How many iterations a solve may still need, so that what is generated ahead of the convergence test is not in vain:
/// atop multigrid a product too many costs more than a reduction.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan::tuning::expected_end {
/// Iterations whose mean rate is taken for that of those to come, at most and at least. Chosen: GMRES atop multigrid
/// changes its rate slowly, and one step alone is often a lucky or an idle one.
inline constexpr int window = 5;
inline constexpr int least = 2;
/// Iterations from which the rate may say that a solve ends sooner than all before it. Chosen.
inline constexpr int trusted = 4;
/// More iterations than that are not worth a guess. Chosen.
inline constexpr double farAway = 1000;
/// How many iterations behind the longest of the earlier solves the rate may point while the solve is still taken to
/// end there; by as many more as are left where earlier solves differ by no more than `alike`. Chosen: a solve that
/// does go on has lost its pipeline, one that does not would have made as many products in vain.
inline constexpr int late = 2;
inline constexpr int alike = 1;
/// A target that falls below this part of what it was is another one: a norm other than the 2-norm has been measured.
/// Chosen: the ratio of the norms changes less than that once it has been measured near the end.
inline constexpr double another = 0.5;
}  // namespace capstan::tuning::expected_end

namespace capstan {

/// Guesses from two sources: the rate at which the residual of this solve has fallen last, and how many iterations
/// earlier solves took: up to the fewest nearly all had to go, and to the next more where the rate says nothing yet.
/// Replicated: fed with reduced numbers only, so it guesses alike on all ranks. Local.
class ExpectedEnd {
 public:
  static constexpr int unknown = std::numeric_limits<int>::max();

  /// \param earlier iterations of earlier solves, the latest last; empty: none are known
  void recall(const std::vector<int>& earlier) {
    earlier_ = earlier;
    std::sort(earlier_.begin(), earlier_.end());
  }
  void forget() { earlier_.clear(); }

  /// A cycle begins at a residual of that norm, after `iterations` of the solve.
  void begin(int iterations, double residual) {
    done_ = iterations;
    logs_.assign(1, std::log(positive(residual)));
    panelTarget_ = 0;
    endsWithPanel_ = false;
    missed_ = 0;
  }

  /// The residual after one more iteration.
  void observe(double residual) {
    ++done_;
    logs_.push_back(std::log(positive(residual)));
  }

  /// The iterations still to come until the residual is `target`, at least 1; `unknown` where nothing tells.
  int remaining(double target) const {
    const int next = toNextEnd(), bySlope = fromSlope(target);
    if (!trusted()) return next != unknown ? next : bySlope;
    return earlier_.empty() || earlier_.front() <= done_ ? bySlope : std::min(next, bySlope);
  }

  /// What a method that has ended too early loses when it goes on: reductions that nothing hides, or a product, too.
  enum class TooEarly { CostsReductions, CostsProduct };

  /// The same where stopping too early costs more than going on in vain: only what earlier solves say, and as much as
  /// the rate of this one says. Krylov methods gain speed towards the end, so that a rate which points somewhat behind
  /// the longest of the earlier solves means that one, and farther behind where these are all alike. Where it costs a
  /// product, too, alike solves mean the end that most of them had.
  int likely(double target, TooEarly tooEarly) const {
    if (earlier_.empty() || earlier_.front() <= done_) return unknown;
    namespace tuned = tuning::expected_end;
    const int fewest = earlier_.front() - done_, most = earlier_.back() - done_;
    const bool alike = earlier_.size() > 1 && most - fewest <= tuned::alike;
    const bool byMost = alike && tooEarly == TooEarly::CostsProduct;
    const int usual = byMost ? earlier_[earlier_.size() / 2] - done_ : fewest;
    if (!trusted()) return usual;
    const int bySlope = fromSlope(target);
    if (byMost && bySlope <= most) return usual;
    return bySlope - most <= tuned::late + (alike ? most : 0) ? std::min(most, std::max(usual, bySlope)) : bySlope;
  }

  /// The length of the next panel of at most s steps: as few panels as there must be, all of about the same length,
  /// and none beyond the end expected. A solve that has not ended where it should gets twice as many steps each time,
  /// but where an earlier solve ended there, or the target is another one since; so does one that has passed all
  /// earlier ones and shows no rate yet.
  int nextPanel(double target, int s) {
    if (target < tuning::expected_end::another * panelTarget_) {
      missed_ = 0;
    } else if (endsWithPanel_) {
      ++missed_;
    }
    panelTarget_ = target;
    int left = remaining(target);
    if (left == unknown && !earlier_.empty()) left = 1;
    endsWithPanel_ = left <= s;
    if (left == unknown) return s;
    const int panels = (left + s - 1) / s, even = (left + panels - 1) / panels;
    const bool known = endsWithPanel_ && left == toNextEnd();
    return std::min(s, std::max(even, missed_ > 0 && !known ? 1 << std::min(missed_, 10) : 1));
  }

 private:
  /// The iterations to the next number of them with which an earlier solve ended; `unknown` beyond the last.
  int toNextEnd() const {
    const auto next = std::upper_bound(earlier_.begin(), earlier_.end(), done_);
    return next != earlier_.end() ? *next - done_ : unknown;
  }
  int steps() const { return static_cast<int>(logs_.size()) - 1; }
  bool trusted() const { return steps() >= tuning::expected_end::trusted; }

  int fromSlope(double target) const {
    const int window = std::min(steps(), tuning::expected_end::window);
    if (window < tuning::expected_end::least || target == 0) return unknown;
    const double rate = (logs_[logs_.size() - 1 - static_cast<std::size_t>(window)] - logs_.back()) / window;
    const double left = ratioOr(logs_.back() - std::log(target), rate, tuning::expected_end::farAway);
    if (!(rate > 0) || !(left < tuning::expected_end::farAway)) return unknown;
    return std::max(1, static_cast<int>(std::lround(left)));
  }

  std::vector<int> earlier_;  ///< iterations of earlier solves, in ascending order
  int done_ = 0, missed_ = 0;
  double panelTarget_ = 0;  ///< of the last panel
  bool endsWithPanel_ = false;
  std::vector<double> logs_;  ///< of the residuals of this cycle
};

}  // namespace capstan
