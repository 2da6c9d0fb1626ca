#pragma once
/// \file
/// The shifts of the first products of a pipelined GMRES cycle, which run ahead of the orthogonalisation.
///
/// The user's ("Shifts", real parts, in turn), else Chebyshev points of an interval that holds the spectrum: the
/// user's ("Eigenvalue Bounds"), the one that an earlier cycle has shown, or an estimate, which costs products of its
/// own. One product ahead does with the mean of the spectrum, as its own first product shows it.

#include "belos_ext/spectrum/spectral_interval.hpp"

namespace capstan {

template <class Types>
class PipelineShifts {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  /// \param needsRadius whether radius() will be asked for
  void configure(const ShiftOptions& options, const SpectrumOptions& spectrum, bool needsRadius) {
    automatic_ = options.shiftsAuto;
    needsRadius_ = needsRadius;
    given_ = options.shifts;
    interval_.configure(spectrum);
  }
  void recall(const SolverState& state) { interval_.recall(state); }
  void remember(SolverState& state) const { interval_.remember(state); }

  /// Whether shifts are to be chosen automatically, and nothing is known to choose them by. Local.
  bool unknown() const { return automatic_ && !needsRadius_ && !interval_.known(); }

  /// Whether the shifts come from the first product alone: eigenvalues far away spoil the basis sooner or later. Local.
  bool rough() const { return interval_.rough(); }

  /// Chooses one shift by the first product, or by an estimate where the mean of the spectrum is not positive. 1
  /// reduction. Collective.
  /// \param q0 of length 1   \param w its product; n x 1   \param iteration of the solve, for its report
  void chooseOne(LinearSystem<Types>& system, const MultiVector& q0, const MultiVector& w, int iteration) {
    ReductionBatch<Types> batch(w.getMap()->getComm());
    const auto mean = batch.dot(q0, w), square = batch.norm2(w);
    system.reduce(batch);
    interval_.takeRough(system, static_cast<double>(batch[mean]), static_cast<double>(batch[square]), Spread::Centred,
                        iteration);
    choose(system, w.getMap(), 1, iteration);
  }

  /// Chooses `count` shifts. Collective.
  /// \param iteration of the solve, for its report
  void choose(LinearSystem<Types>& system, const Teuchos::RCP<const typename Types::Map>& map, int count,
              int iteration) {
    if (automatic_ || needsRadius_) {
      bounds_ =
          interval_.get(system, map, iteration, [&](const MultiVector& v, MultiVector& w) { system.apply(v, w); });
    }
    if (automatic_) {
      shifts_ = chebyshevPoints<Scalar>(bounds_, count);
      return;
    }
    shifts_.resize(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < shifts_.size(); ++k) {
      shifts_[k] = static_cast<Scalar>(given_[k % given_.size()].real());
    }
  }

  /// After a cycle: whether the interval was this operator's. \see SpectralInterval::compare()
  void compare(LinearSystem<Types>& system, const SmallMatrix<Scalar>& hessenberg, int columns, bool whole,
               int iteration) {
    interval_.compare(system, hessenberg, columns, whole, iteration);
  }

  Scalar operator[](int i) const { return shifts_[static_cast<std::size_t>(i)]; }

  /// |lambda|_max as far as it is known, else 0.
  double radius() const { return std::max(std::abs(bounds_.min), std::abs(bounds_.max)); }

 private:
  bool automatic_ = true, needsRadius_ = false;
  std::vector<std::complex<double>> given_;
  SpectralInterval<Types> interval_;
  EigenvalueBounds bounds_;
  std::vector<Scalar> shifts_;
};

}  // namespace capstan
