#pragma once
/// \file
/// The interval that pipelined methods take their shifts from: given by the user, remembered, or estimated once.
///
/// Ritz values of the solve judge it: they lie within the spectrum, so that one outside of the interval proves it
/// wrong. In p(l)-CG they correct it. Of a negative spectrum all is mirrored.

#include <algorithm>

#include "belos_ext/dense/pipelined_lanczos.hpp"
#include "belos_ext/problem/solver_state.hpp"
#include "belos_ext/spectrum/spectrum_estimate.hpp"

namespace capstan::tuning::spectrum {
/// Ritz values may exceed remembered bounds of the spectrum by this factor. Chosen.
inline constexpr double largestOvershoot = 1.5;
/// Columns from which Ritz values tell something, and half as many from which they tell more than a first product.
/// Chosen: half of the steps of an estimate.
inline constexpr int few = steps / 2;
/// Columns beyond which all eigenvalues cost more than they tell. Chosen.
inline constexpr int enough = 20;
/// Half the length of a rough interval, in standard deviations of the spectrum as a vector sees it. Chosen: a uniform
/// density reaches to 1.7.
inline constexpr double spreads = 2;
/// First columns whose largest Ritz value is compared between solves: later ones may be spurious. Chosen.
inline constexpr int first = panels[0];
/// Remembered bounds are dropped where that value is so many times smaller than before; where columns are few, so many.
/// Chosen.
inline constexpr int shrunk = 4;
inline constexpr int shrunkOfFew = 20;
/// How far Ritz values may leave the bounds of the user, as part of their length. Chosen.
inline constexpr double slack = 0.05;
/// How much larger than the largest Ritz value a bound is made. Chosen: Ritz values lie inside the spectrum.
inline constexpr double margin = 1.01;
}  // namespace capstan::tuning::spectrum

namespace capstan {

/// How a rough interval lies: Any: as the spread says, but for what is negative. Centred: about the mean.
enum class Spread { Any, Centred };

template <class Types>
class SpectralInterval {
 public:
  using Scalar = typename Types::Scalar;

  void configure(const SpectrumOptions& options) {
    automatic_ = options.eigenvalueBoundsAuto;
    bounds_.reset();
    if (!automatic_) bounds_ = options.eigenvalueBounds;
    shown_ = 1;
    fresh_ = compared_ = rough_ = false;
  }
  void recall(const SolverState& state) {
    if (!automatic_) return;
    bounds_ = state.eigenvalueBounds;
    shown_ = state.shownOfBounds;
  }
  void remember(SolverState& state) const {
    if (!automatic_) return;
    state.eigenvalueBounds.reset();
    if (bounds_ && bounds_->min < bounds_->max) state.eigenvalueBounds = bounds_;
    state.shownOfBounds = shown_;
  }

  /// Whether there is an interval. Local.
  bool known() const { return bounds_.has_value(); }
  /// Whether the next solve would begin with this interval, or nearly, one that get() has given. Local.
  bool wouldBe(const EigenvalueBounds& used) const {
    if (!automatic_) return true;
    if (!bounds_) return false;
    const double moved = std::abs(bounds_->min - used.min) + std::abs(bounds_->max - used.max);
    return moved <= tuning::spectrum::same * (used.max - used.min);
  }
  /// Whether it is one of takeRough(), and so not the user's. Local.
  bool rough() const { return rough_; }

  /// Takes a rough interval until Ritz values are there, if the spectrum is definite: its mean as a vector sees it, and
  /// its spread to both sides. A strong preconditioner makes a solve too short to repay an estimate. Returns whether it
  /// did. Local.
  /// \param mean (q, A q), |q| = 1   \param square |A q|^2
  /// \param iteration of the solve, for its report
  bool takeRough(LinearSystem<Types>& system, double mean, double square, Spread spread, int iteration) {
    const double size = std::abs(mean), deviation = std::sqrt(std::max(0.0, square - mean * mean));
    if (!(size > 0) || !std::isfinite(square)) return false;
    double radius = tuning::spectrum::spreads * deviation;
    if (spread == Spread::Centred) radius = std::min(radius, size);
    const EigenvalueBounds found{std::max(0.0, size - radius), size + radius};
    bounds_ = mean < 0 ? mirrored(found) : found;
    system.tell(iteration, {EventKind::BoundsOfProduct, bounds_->min, bounds_->max});
    rough_ = true;
    return true;
  }

  /// The interval; [0, 0] where nothing can be estimated. Collective.
  /// \param iteration of the solve, for its report   \param apply w = (operator) v
  template <class Apply>
  EigenvalueBounds get(LinearSystem<Types>& system, const Teuchos::RCP<const typename Types::Map>& map, int iteration,
                       const Apply& apply) {
    if (!bounds_) {
      const auto found = SpectrumEstimate<Types>()(system, map, apply);  // a basis of its own, given back at once
      system.tell(iteration,
                  found ? Event(EventKind::BoundsEstimated, found->min, found->max) : EventKind::BoundsBroken);
      bounds_ = found.value_or(EigenvalueBounds{0, 0});
      fresh_ = true;
      compared_ = false;
    }
    return *bounds_;
  }

  /// Drops remembered bounds that do not fit the Ritz values of this solve: the operator is another one. Right-hand
  /// sides need not show the far end of the spectrum, so it is compared with what solves have shown of it before, in
  /// the first columns: wrong shifts leave spurious values near themselves in later ones. Bounds of the user that leave
  /// Ritz values out are told, and dropped. Local.
  /// \param columns of `hessenberg` that stand   \param whole the cycle did not break down: few columns prove nothing
  void compare(LinearSystem<Types>& system, const SmallMatrix<Scalar>& hessenberg, int columns, bool whole,
               int iteration) {
    if (rough_) return replaceRough(system, hessenberg, columns, iteration);
    if (columns == 0) return;
    const auto ritzOf = [&](int count) { return hessenbergEigenvalues(hessenberg, count); };
    if (automatic_) {
      compareWithEarlier(system, ritzOf, columns, whole, iteration);
    } else {
      judgeGiven(system, ritzOf, columns, iteration);
    }
  }

  /// Ritz values of the steps just made know the spectrum better than an estimate did. Bounds that leave the far one of
  /// them out are replaced; those of the user are told. Bounds of an earlier solve that do not fit at all are dropped,
  /// as by compare(): false then. Local.
  /// \param whole the cycle did not break down; the last step of one that did tells nothing
  bool learn(const PipelinedLanczos<Scalar>& lanczos, LinearSystem<Types>& system, bool whole, int iteration) {
    const int made = static_cast<int>(lanczos.gammas().size()), steps = whole ? made : std::max(made - 1, 0);
    const auto ritzOf = [&lanczos](int count) {
      const auto from = [&](const std::vector<Scalar>& v) { return std::vector<Scalar>(v.begin(), v.begin() + count); };
      const auto values = tridiagonalEigenvalues(from(lanczos.gammas()), from(lanczos.deltas()));
      return std::vector<std::complex<double>>(values.begin(), values.end());
    };
    const int count = std::min(steps, tuning::spectrum::enough);
    if (!bounds_ || steps < (rough_ ? tuning::spectrum::few / 2 : 1)) return true;
    if (rough_) {
      rough_ = false;
      bounds_ = boundsOfRitzValues(ritzOf(count / 2), ritzOf(count));
      return true;
    }
    if (!automatic_) {
      judgeGiven(system, ritzOf, steps, iteration);
      return true;
    }
    compareWithEarlier(system, ritzOf, steps, whole, iteration);
    if (bounds_ && (steps >= tuning::spectrum::few || !whole)) {
      const double far = tuning::spectrum::margin * farthest(ritzOf(count));
      if (signOf(*bounds_) > 0) bounds_->max = std::max(bounds_->max, far);
      if (signOf(*bounds_) < 0) bounds_->min = std::min(bounds_->min, -far);
    }
    return bounds_.has_value();
  }

 private:
  using Values = std::vector<std::complex<double>>;

  /// \param ritzOf the Ritz values of so many columns
  template <class Ritz>
  void compareWithEarlier(LinearSystem<Types>& system, const Ritz& ritzOf, int columns, bool whole, int iteration) {
    const bool many = columns >= tuning::spectrum::few;
    if (compared_ || !bounds_ || !(farEnd() > 0)) return;
    if (!many && whole) return;
    compared_ = many || !fresh_;
    const double first = farthest(ritzOf(std::clamp(columns / 2, 1, tuning::spectrum::first))) / farEnd();
    const double all = farthest(ritzOf(std::min(columns, tuning::spectrum::enough))) / farEnd();
    if (fresh_) {
      shown_ = many ? first : std::min(shown_, first);  // few columns of a right-hand side that hides the far end
    } else if (all > tuning::spectrum::largestOvershoot ||
               first < std::min(1.0, shown_) / (many ? tuning::spectrum::shrunk : tuning::spectrum::shrunkOfFew)) {
      system.tell(iteration, {EventKind::BoundsOutdated, bounds_->min, bounds_->max});
      bounds_.reset();
      shown_ = 1;
    }
  }

  /// Whether the user's bounds hold all Ritz values, but for a little; else better ones take their place.
  template <class Ritz>
  void judgeGiven(LinearSystem<Types>& system, const Ritz& ritzOf, int columns, int iteration) {
    if (!bounds_ || columns == 0) return;
    const int count = std::min(columns, tuning::spectrum::enough);
    const Values all = ritzOf(count);
    const double slack = tuning::spectrum::slack * (bounds_->max - bounds_->min);
    for (const auto& value : all) {
      if (value.real() >= bounds_->min - slack && value.real() <= bounds_->max + slack) continue;
      const auto better = boundsOfRitzValues(ritzOf(count / 2), all);
      if (!better) return;
      system.tell(iteration,
                  {EventKind::BoundsReplaced, bounds_->min, bounds_->max, value.real(), better->min, better->max});
      bounds_ = better;
      return;
    }
  }

  /// Ritz values of a whole cycle in the place of what its first product showed; nothing where there are too few.
  void replaceRough(LinearSystem<Types>& system, const SmallMatrix<Scalar>& hessenberg, int columns, int iteration) {
    rough_ = false;
    bounds_.reset();
    if (columns < tuning::spectrum::few / 2) return;
    const int enough = std::min(columns, tuning::spectrum::enough);
    bounds_ =
        boundsOfRitzValues(hessenbergEigenvalues(hessenberg, enough / 2), hessenbergEigenvalues(hessenberg, enough));
    if (!bounds_) return;
    const int first = std::clamp(columns / 2, 1, tuning::spectrum::first);
    shown_ = farthest(hessenbergEigenvalues(hessenberg, first)) / farEnd();
    compared_ = true;
    system.tell(iteration, {EventKind::BoundsOfRitz, bounds_->min, bounds_->max, enough});
  }

  /// How far the bounds reach from zero.
  double farEnd() const { return upright(*bounds_).max; }

  /// How far these reach, on the same side; 0 where they do not.
  double farthest(const Values& values) const {
    double farthest = 0;
    for (const auto& value : values) farthest = std::max(farthest, signOf(*bounds_) * value.real());
    return farthest;
  }

  bool automatic_ = true;
  bool fresh_ = false;     ///< the bounds were estimated in this solve
  bool compared_ = false;  ///< with Ritz values of this solve
  bool rough_ = false;
  double shown_ = 1;  ///< largest early Ritz value of the solve that estimated them over the upper bound
  std::optional<EigenvalueBounds> bounds_;
};

}  // namespace capstan
