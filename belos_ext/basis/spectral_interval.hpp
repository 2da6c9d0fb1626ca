#pragma once
/// \file
/// The interval that pipelined methods take their shifts from: given by the user, remembered, or estimated once; in
/// p(l)-CG corrected by what the Lanczos matrix of the solve itself tells.

#include <algorithm>
#include <string>

#include "belos_ext/basis/spectrum_estimate.hpp"
#include "belos_ext/core/state_cache.hpp"
#include "belos_ext/dense/pipelined_lanczos.hpp"

namespace capstan {

template <class Types>
class SpectralInterval {
 public:
  using Scalar = typename Types::Scalar;

  void configure(const SolverOptions& options) {
    automatic_ = options.eigenvalueBoundsAuto;
    bounds_.reset();
    if (!automatic_) bounds_ = options.eigenvalueBounds;
  }
  void recall(const SolverState& state) {
    if (automatic_) bounds_ = state.eigenvalueBounds;
  }
  void remember(SolverState& state) const {
    if (automatic_ && bounds_ && bounds_->min < bounds_->max) state.eigenvalueBounds = bounds_;
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
    }
    return *bounds_;
  }

  /// Ritz values of the steps just made know the spectrum better than an estimate did. Bounds of the user that leave
  /// the largest of them out are told, and replaced. Local.
  void learn(const PipelinedLanczos<Scalar>& lanczos, LinearSystem<Types>& system, int iteration) {
    const std::size_t steps = std::min(lanczos.gammas().size(), enough);
    if (!bounds_ || (automatic_ && steps < few)) return;
    const auto from = [&](const std::vector<Scalar>& v) { return std::vector<Scalar>(v.begin(), v.begin() + steps); };
    const auto ritz = tridiagonalEigenvalues(from(lanczos.gammas()), from(lanczos.deltas()));
    if (ritz.empty() || !std::isfinite(ritz.back())) return;
    const double slack = 0.05 * (bounds_->max - bounds_->min);
    if (automatic_) {
      bounds_->max = std::max(bounds_->max, margin * ritz.back());
    } else if (ritz.back() > bounds_->max + slack || ritz.back() < bounds_->min - slack) {
      const EigenvalueBounds better{0, margin * ritz.back()};
      system.tell(iteration, "eigenvalue bounds",
                  toString(*bounds_) + ", as given, leave out the Ritz value " + std::to_string(ritz.back()) +
                      "; replaced by " + toString(better));
      bounds_ = better;
    }
  }

 private:
  static constexpr std::size_t few = 8, enough = 20;  // all eigenvalues of many steps cost more than they tell
  static constexpr double margin = 1.01;

  bool automatic_ = true;
  std::optional<EigenvalueBounds> bounds_;
};

}  // namespace capstan
