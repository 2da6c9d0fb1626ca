#pragma once
/// \file
/// The shifts of the first products of a pipelined GMRES cycle, which run ahead of the orthogonalisation.
///
/// The user's ("Shifts", real parts, in turn), else Chebyshev points of an interval that holds the spectrum: the
/// user's ("Eigenvalue Bounds") or an estimate, made once where nothing is remembered.

#include "belos_ext/basis/spectrum_estimate.hpp"
#include "belos_ext/core/state_cache.hpp"

namespace capstan {

template <class Types>
class PipelineShifts {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  /// \param needsRadius whether radius() will be asked for
  void configure(const SolverOptions& options, bool needsRadius) {
    automatic_ = options.shiftsAuto;
    estimates_ = options.eigenvalueBoundsAuto;
    needsRadius_ = needsRadius;
    given_ = options.shifts;
    bounds_.reset();
    if (!estimates_) bounds_ = options.eigenvalueBounds;
  }
  void recall(const SolverState& state) {
    if (estimates_) bounds_ = state.eigenvalueBounds;
  }
  void remember(SolverState& state) const {
    if (estimates_ && bounds_) state.eigenvalueBounds = bounds_;
  }

  /// Chooses `count` shifts. Collective.
  /// \param iteration of the solve, for its report
  void choose(LinearSystem<Types>& system, const Teuchos::RCP<const typename Types::Map>& map, int count,
              int iteration) {
    if (!bounds_ && (automatic_ || needsRadius_)) {
      bounds_ = estimate_(system, map, [&](const MultiVector& v, MultiVector& w) { system.apply(v, w); });
      if (!bounds_) bounds_ = EigenvalueBounds{0, 0};
      system.tell(iteration, "eigenvalue bounds", std::to_string(bounds_->min) + " to " + std::to_string(bounds_->max));
    }
    if (automatic_) {
      shifts_ = chebyshevPoints<Scalar>(*bounds_, count);
      return;
    }
    shifts_.resize(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < shifts_.size(); ++k) {
      shifts_[k] = static_cast<Scalar>(given_[k % given_.size()].real());
    }
  }

  Scalar operator[](int i) const { return shifts_[static_cast<std::size_t>(i)]; }

  /// |lambda|_max as far as it is known, else 0.
  double radius() const { return bounds_ ? std::max(std::abs(bounds_->min), std::abs(bounds_->max)) : 0; }

 private:
  bool automatic_ = true, estimates_ = true, needsRadius_ = false;
  std::vector<std::complex<double>> given_;
  std::optional<EigenvalueBounds> bounds_;
  std::vector<Scalar> shifts_;
  SpectrumEstimate<Types> estimate_;
};

}  // namespace capstan
