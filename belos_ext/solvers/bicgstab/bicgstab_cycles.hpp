#pragma once
/// \file
/// What both forms of BiCGStab share: residual and shadow residual of a cycle, and the claim that half an iteration may
/// make.
///
/// q is a residual, too, that of x + alpha p^: where it meets the target, half an iteration is saved, which counts as
/// one. A claim that comes too early costs no more than its examination (1 A, 1 reduction): the cycle goes on.

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/supervision/progress.hpp"

namespace capstan::tuning::bicgstab {
/// Cycles in a row that gained nothing, and so end BiCGStab. Chosen.
inline constexpr int mostFruitless = 2;
}  // namespace capstan::tuning::bicgstab

namespace capstan {

template <class Types>
class BiCgStabCycles : public Method<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Vector = Teuchos::RCP<MultiVector>;

  static constexpr Treatment treatment = [] {
    Treatment how;
    how.goesBack = how.examines = true;
    how.mostFruitless = tuning::bicgstab::mostFruitless;
    how.restart = EventKind::NewShadowResidual;
    return how;
  }();

  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>&) override {
    otherMap_ = r_.is_null() || r_->getMap().get() != b.getMap().get();
    vectorLike(b, r_);
    vectorLike(b, shadow_);
    allocate(system, b);
  }
  Vector& residual() final { return r_; }

  Ending cycle(Progress<Types>& progress, Start) final {
    if (progress.steps() == 0 && progress.stop().iterations() == 0) progress.system().startUpEnds();
    halfTaken_ = false;
    square_ = progress.residual().square();
    // A square that may have underflowed is no product to divide by.
    const Scalar least = static_cast<Scalar>(progress.x().getGlobalLength()) * std::numeric_limits<Scalar>::min();
    return square_ > least ? iterate(progress) : Ending::Breakdown;
  }

 protected:
  /// Iterates from r_, which is b - A x with (r, r) = square_, until something ends the cycle; x is finite where alpha
  /// and omega were. Collective.
  virtual Ending iterate(Progress<Types>& progress) = 0;

  /// Makes what is missing for vectors like b. Collective where it allocates.
  virtual void allocate(LinearSystem<Types>& system, const MultiVector& b) = 0;

  /// Where q = r - alpha s, of this norm, meets the target: x += alpha p^, and the claim is examined. Nothing: go on
  /// with the second half, for which the first one has been taken, or not (stepOfP()). Collective.
  std::optional<Ending> followHalf(Progress<Types>& progress, Scalar alpha, const MultiVector& pHat,
                                   const PredictedNorm& ofQ) {
    if (ofQ.cancelled || !progress.stop().reached(ofQ.norm, 1)) return std::nullopt;
    progress.system().kernels().axpby(alpha, pHat, Scalar(1), progress.x());
    halfTaken_ = true;
    return progress.followHalf(ofQ);
  }

  /// What of alpha p^ is still to be added to x.
  Scalar stepOfP(Scalar alpha) { return std::exchange(halfTaken_, false) ? Scalar(0) : alpha; }

  /// A batch over the ranks of b, made where it is missing or the map is another one.
  void make(std::unique_ptr<ReductionBatch<Types>>& batch, const MultiVector& b) const {
    if (!batch || otherMap_) batch = std::make_unique<ReductionBatch<Types>>(b.getMap()->getComm());
  }

  Vector r_, shadow_;  ///< r and r*
  Scalar square_ = 0;  ///< (r, r) as a cycle begins

 private:
  bool otherMap_ = true;    ///< than the solve before
  bool halfTaken_ = false;  ///< x has its alpha p^ of this iteration
};

}  // namespace capstan
