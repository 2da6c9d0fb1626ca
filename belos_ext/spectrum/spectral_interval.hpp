#pragma once
/// \file
/// The interval that pipelined methods take their shifts from: given by the user, remembered, or estimated once; in
/// p(l)-CG corrected by what the Lanczos matrix of the solve itself tells.

#include <algorithm>
#include <string>

#include "belos_ext/dense/pipelined_lanczos.hpp"
#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/problem/solver_state.hpp"
#include "belos_ext/spectrum/spectrum_estimate.hpp"

namespace capstan {

/// How a rough interval lies: Any: as the spread says, but for what is negative. Centred: about the mean.
enum class Spread { Any, Centred };

template <class Types>
class SpectralInterval {
 public:
  using Scalar = typename Types::Scalar;

  void configure(const SolverOptions& options) {
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
  /// Whether it is one of takeRough(), and so not the user's. Local.
  bool rough() const { return rough_; }

  /// Takes a rough interval until Ritz values are there, if the spectrum is positive: its mean as a vector sees it, and
  /// its spread to both sides. A strong preconditioner makes a solve too short to repay an estimate. Returns whether it
  /// did. Local.
  /// \param mean (q, A q), |q| = 1   \param square |A q|^2
  /// \param iteration of the solve, for its report
  bool takeRough(LinearSystem<Types>& system, double mean, double square, Spread spread, int iteration) {
    const double deviation = std::sqrt(std::max(0.0, square - mean * mean));
    if (!(mean > 0) || !std::isfinite(square)) return false;
    double radius = tuning::spectrum::spreads * deviation;
    if (spread == Spread::Centred) radius = std::min(radius, mean);
    bounds_ = EigenvalueBounds{std::max(0.0, mean - radius), mean + radius};
    system.tell(iteration, "eigenvalue bounds", toString(*bounds_) + ", as the first product shows them");
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
      system.tell(iteration, "eigenvalue bounds", found ? toString(*found) : "the estimate broke down");
      bounds_ = found.value_or(EigenvalueBounds{0, 0});
      fresh_ = true;
      compared_ = false;
    }
    return *bounds_;
  }

  /// Drops remembered bounds that do not fit the Ritz values of this solve: the operator is another one. Right-hand
  /// sides need not show the upper end of the spectrum, so it is compared with what solves have shown of it before, in
  /// the first columns: wrong shifts leave spurious values near themselves in later ones. Local.
  /// \param columns of `hessenberg` that stand   \param whole the cycle did not break down: few columns prove nothing
  void compare(LinearSystem<Types>& system, const SmallMatrix<Scalar>& hessenberg, int columns, bool whole,
               int iteration) {
    const bool many = columns >= tuning::spectrum::few;
    if (rough_) return replaceRough(system, hessenberg, columns, iteration);
    if (compared_ || !automatic_ || !bounds_ || !(bounds_->max > 0) || columns == 0) return;
    if (!many && (fresh_ || whole)) return;
    compared_ = true;
    const double first = largestOf(hessenberg, std::clamp(columns / 2, 1, tuning::spectrum::first)) / bounds_->max;
    const double all = largestOf(hessenberg, std::min(columns, tuning::spectrum::enough)) / bounds_->max;
    if (fresh_) {
      shown_ = first;
    } else if (all > tuning::spectrum::largestOvershoot ||
               first < std::min(1.0, shown_) / (many ? tuning::spectrum::shrunk : tuning::spectrum::shrunkOfFew)) {
      system.tell(iteration, "eigenvalue bounds",
                  "those of an earlier solve, " + toString(*bounds_) + ", do not fit its Ritz values");
      bounds_.reset();
      shown_ = 1;
    }
  }

  /// Ritz values of the steps just made know the spectrum better than an estimate did. Bounds of the user that leave
  /// the largest of them out are told, and replaced. Local.
  void learn(const PipelinedLanczos<Scalar>& lanczos, LinearSystem<Types>& system, int iteration) {
    const std::size_t steps = std::min(lanczos.gammas().size(), std::size_t{tuning::spectrum::enough});
    const std::size_t least = rough_ ? tuning::spectrum::fewest : tuning::spectrum::few;
    if (!bounds_ || (automatic_ && steps < least)) return;
    const auto ritzOf = [&lanczos](std::size_t count) {
      const auto from = [&](const std::vector<Scalar>& v) { return std::vector<Scalar>(v.begin(), v.begin() + count); };
      return tridiagonalEigenvalues(from(lanczos.gammas()), from(lanczos.deltas()));
    };
    const auto ritz = ritzOf(steps);
    if (rough_) {
      rough_ = false;
      const auto half = ritzOf(steps / 2);
      bounds_ = boundsOfRitzValues({half.begin(), half.end()}, {ritz.begin(), ritz.end()});
      return;
    }
    if (ritz.empty() || !std::isfinite(ritz.back())) return;
    const double slack = tuning::spectrum::slack * (bounds_->max - bounds_->min);
    if (automatic_) {
      bounds_->max = std::max(bounds_->max, tuning::spectrum::margin * ritz.back());
    } else if (ritz.back() > bounds_->max + slack || ritz.back() < bounds_->min - slack) {
      const EigenvalueBounds better{0, tuning::spectrum::margin * ritz.back()};
      system.tell(iteration, "eigenvalue bounds",
                  toString(*bounds_) + ", as given, leave out the Ritz value " + std::to_string(ritz.back()) +
                      "; replaced by " + toString(better));
      bounds_ = better;
    }
  }

 private:
  /// Ritz values of a whole cycle in the place of what its first product showed; nothing where there are too few.
  void replaceRough(LinearSystem<Types>& system, const SmallMatrix<Scalar>& hessenberg, int columns, int iteration) {
    rough_ = false;
    bounds_.reset();
    if (columns < tuning::spectrum::fewest) return;
    const int enough = std::min(columns, tuning::spectrum::enough);
    bounds_ =
        boundsOfRitzValues(hessenbergEigenvalues(hessenberg, enough / 2), hessenbergEigenvalues(hessenberg, enough));
    if (!bounds_) return;
    shown_ = largestOf(hessenberg, std::clamp(columns / 2, 1, tuning::spectrum::first)) / bounds_->max;
    compared_ = true;
    system.tell(iteration, "eigenvalue bounds", toString(*bounds_) + ", by " + std::to_string(enough) + " Ritz values");
  }

  static double largestOf(const SmallMatrix<Scalar>& hessenberg, int columns) {
    double largest = 0;
    for (const auto& value : hessenbergEigenvalues(hessenberg, columns)) largest = std::max(largest, value.real());
    return largest;
  }

  bool automatic_ = true;
  bool fresh_ = false;     ///< the bounds were estimated in this solve
  bool compared_ = false;  ///< with Ritz values of this solve
  bool rough_ = false;
  double shown_ = 1;  ///< largest early Ritz value of the solve that estimated them over the upper bound
  std::optional<EigenvalueBounds> bounds_;
};

}  // namespace capstan
