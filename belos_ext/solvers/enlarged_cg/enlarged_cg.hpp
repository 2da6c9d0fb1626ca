#pragma once
/// \file
/// Enlarged conjugate gradients (ECG): t search directions an iteration, from the residual split over t subdomains. It
/// needs fewer iterations than CG, and so fewer reductions; each costs t products and t applications of M.
///
/// Source: [enlarged-cg], algorithms 1 to 4; [Grigori, Moufawad and Nataf 2016]; [Grigori and Tissot 2019]. The forms:
///
/// | form     | reductions                      | A  | M  | vectors beyond x and b | file         |
/// |----------|---------------------------------|----|----|------------------------|--------------|
/// | orthodir | 2, of s and t^2 + s + 2 t + 1   | t  | t  | 6 t + 3                | orthodir.hpp |
/// | orthomin | 2, of 2 s + t + 1 and s         | t  | t  | 4 t + 2                | orthomin.hpp |
/// | fused    | 1, of t^2 + 3 s                 | t  | t  | 4 t + 2                | orthomin.hpp |
///
/// s = t (t + 1) / 2: of a symmetric matrix one half is sent. With a preconditioner: s numbers more in orthodir's
/// second message; s + t + 1 more, and 2 t vectors, in fused; 2 t^2 - s more in the first steps of orthomin, and in all
/// where M is not linear and symmetric. One vector more for residuals that are computed, one for
/// a guess that is not zero, t with a left and a right preconditioner, t that the product of a Tpetra::CrsMatrix packs.
/// Overlap: none.
///
/// A solve of n iterations takes n + 2 products (the first and the last residual among them) and n applications of M,
/// orthodir and fused n + 1; 2 reductions beyond those of the iterations, 3 in orthomin and fused, which make the parts
/// of the residual orthonormal, 1 more with "Enlarging Factor" auto. The norm of the next residual is predicted, so
/// that a solve ends without a block of products that nobody needs.
///
/// Directions that depend on the others are dropped for good, CG's own the last.
///
/// x has the smallest error in the norm of A. Where its residual wanders, that of another vector of the same space is
/// judged, which does not: supervision/smoothed_residual.hpp, with what it costs.
///
/// It hands over where A is known not to be symmetric, one direction is left, or Z^T A Z is not positive.

#include <cmath>
#include <limits>
#include <vector>

#include "belos_ext/convergence/iteration_pace.hpp"
#include "belos_ext/solvers/enlarged_cg/orthodir.hpp"
#include "belos_ext/solvers/enlarged_cg/orthomin.hpp"
#include "belos_ext/supervision/enlarging_factor.hpp"
#include "belos_ext/supervision/progress.hpp"
#include "belos_ext/supervision/smoothed_residual.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan::tuning::enlarged_cg {
/// Iterations that the start and the end of a solve count as. Derived: the products of the first and the last residual.
inline constexpr int startUp = 2;
}  // namespace capstan::tuning::enlarged_cg

namespace capstan {

template <class Types>
class EnlargedCg final : public Method<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Directions = EnlargedDirections<Types>;

  static constexpr Treatment treatment = [] {
    Treatment how;
    how.symmetric = how.replaces = how.keepsSpace = how.mayOverflow = true;
    how.restart = EventKind::ResidualSplit;
    return how;
  }();

  /// Of the form that is chosen without a preconditioner, or with one that is no more than a diagonal: fused.
  static Cost cost(const SolverOptions& options, bool preconditioned) {
    const double t = options.enlargingFactor;
    const bool fused =
        options.enlargedForm == EnlargedForm::Fused || (options.enlargedForm == EnlargedForm::Auto && !preconditioned);
    const bool orthodir = options.enlargedForm == EnlargedForm::Orthodir;
    const double hidden = fused && preconditioned ? 1 : 0, more = preconditioned ? 1 : 0, t2 = t * t;
    const double vectors = (orthodir ? 6 * t + 1 : 4 * t) + 3 + hidden * 2 * t + t;  // t that the product packs on CPUs
    // Products of blocks, 2 t^2 each, t^2 + t where they are symmetric; solves with C or T, t^2; updates, 2 t^2.
    // Without a preconditioner orthodir copies.
    double flops = fused ? 12 * t2 + 5 * t + 1 : 11 * t2 + 7 * t + 3,
           moved = fused ? 14 * t + 2 : (16 - 2 * more) * t + 4;
    if (hidden > 0) flops = 17 * t2 + 8 * t + 3, moved = 21 * t + 4;
    if (orthodir) flops = (10 + more) * t2 + (10 + more) * t + 2, moved = (22 - more) * t + 7;
    return {fused ? 1.0 : 2.0, 1, 1, vectors, flops, 8 * moved};
  }

  using Options = MethodOptions<SymmetricOptions, SmoothingOptions, FallbackOptions, EnlargedOptions>;
  void configure(const Options& options) {
    options_ = options;
    smoothed_.configure(options.residualSmoothing);
    factor_.configure(options);
  }
  void recall(const SolverState& state) override { factor_.recall(state); }
  void remember(SolverState& state) const override { factor_.remember(state); }
  void forget(const Options&) { factor_.forget(); }

  void prepare(LinearSystem<Types>&, const MultiVector& b, JudgedResidual<Types>& judged) override {
    judged_ = &judged;
    vectorLike(b, r_);
    t_ = 0;
  }
  Teuchos::RCP<MultiVector>& residual() override { return r_; }

  Ending cycle(Progress<Types>& progress, Start start) override {
    auto& system = progress.system();
    if (t_ == 0 && !begin(progress)) return Ending::HandsOver;
    switch (start) {
      case Start::GoOn:
        break;
      case Start::Direction:
        smoothed_.renew();
        system.kernels().scale(Scalar(1), *r_, directions_->r());
        directions_->replaced(system);
        break;
      default:
        split(progress);
    }
    for (bool makes = start == Start::GoOn || start == Start::Direction;; makes = true) {  // line 3
      if (makes && !makeDirections(progress)) return Ending::HandsOver;
      if (progress.isHopeless()) return Ending::Unfit;
      if (const auto ending = step(progress)) return *ending;
    }
  }

  bool keepsDirection() const override { return true; }
  Cause why() const override { return why_; }

  /// Where the factor is chosen: what an iteration of this solve took, the mean of all ranks. 1 reduction.
  void learn(LinearSystem<Types>& system, StopTest& stop, int) override {
    if (t_ == 0 || !factor_.automatic()) return;
    stop.timeBy(nullptr);
    auto& batch = judged_->batch();
    batch.clear();
    const auto sum = batch.value(static_cast<Scalar>(pace_.seconds()));
    system.reduce(batch);
    const double mean = static_cast<double>(batch[sum]) / r_->getMap()->getComm()->getSize();
    const double digits = std::log10(boundedRatio(judged_->initial().explicit_, judged_->attained().explicit_));
    factor_.took(t_, mean, static_cast<double>(pace_.iterations()) + tuning::enlarged_cg::startUp,
                 std::min(digits, -std::log10(static_cast<double>(std::numeric_limits<Scalar>::epsilon()))));
  }

 private:
  using Outcome = typename Directions::Outcome;

  /// A solve begins with t directions. False where it is the next method's.
  bool begin(Progress<Types>& progress) {
    auto& system = progress.system();
    auto& stop = progress.stop();
    system.startUpEnds();
    t_ = factor_.choose(static_cast<double>(r_->getGlobalLength()));
    if (factor_.automatic()) {
      system.tell(stop.iterations(), {EventKind::EnlargingFactor, t_});
      pace_.begin();
      stop.timeBy(&pace_);
    } else if (t_ < options_.enlargingFactor) {
      system.tell(stop.iterations(), {EventKind::EnlargingReduced, options_.enlargingFactor, t_});
    }
    smoothed_.begin(*r_);
    directions_ = &form(system);
    why_ = Cause::None;
    if (factor_.automatic() && t_ == 1) {
      why_ = Cause::OneDirection;
    } else if (system.isNonsymmetric()) {
      // Measured: where A is a little nonsymmetric, and CG converges nevertheless, t directions are soon dependent.
      why_ = Cause::NotSymmetric;
    } else if (system.annihilatesConstants() && options_.nullSpace == NullSpace::None && system.preconditioned()) {
      // t directions fill x with constants sooner than one does.
      why_ = Cause::NullSpaceUnknown;
    }
    return why_ == Cause::None;
  }

  /// The next Z. False where that is one direction alone, which CG takes at less cost.
  bool makeDirections(Progress<Types>& progress) {
    auto& system = progress.system();
    const bool varied = directions_->varies();
    directions_->next(system);
    if (directions_->varies()) progress.doubt();
    if (directions_->varies() && !varied) tellVariation(system, progress.stop().iterations());
    if (directions_->width() == 1 && t_ > 1) why_ = Cause::OneDirection;
    return why_ == Cause::None;
  }

  /// x += P P^T r, and the residual.
  std::optional<Ending> step(Progress<Types>& progress) {
    auto& system = progress.system();
    auto& stop = progress.stop();
    const bool smooths = smoothed_.norm() < directions_->norm().norm;
    progress.takeMeasure(smooths ? smoothed_.s() : directions_->r());
    smoothed_.aim(stop.target());
    const int before = directions_->width();
    const auto outcome = directions_->step(system, progress.x());
    if (outcome != Outcome::Moved) {
      why_ = outcome == Outcome::Indefinite ? Cause::NegativeGram : Cause::RecurrencesOverflow;
      return Ending::HandsOver;
    }
    progress.tookMeasure(smooths ? smoothed_.measured() : directions_->measured());
    tellWidth(system, stop.iterations(), before);
    const double curvature = directions_->curvature(), image = directions_->image();
    progress.sees(curvature, directions_->energy(), curvature);
    progress.stepped(1, image, image);
    return progress.followBoth(directions_->norm(), directions_->r(), smoothed_);
  }

  /// Z from the residual just computed, split anew. Where A annihilates constants, only r is without them by itself: a
  /// part with one would be no residual of any x.
  void split(Progress<Types>& progress) {
    auto& system = progress.system();
    const int iteration = progress.stop().iterations();
    directions_->prepare(system, *r_, t_);
    directions_->smoothBy(smoothed_);
    smoothed_.renew();
    system.kernels().scale(Scalar(1), *r_, directions_->r());
    splitByRows<Types>(options_.residualSplitting, directions_->parts());
    auto& constants = judged_->constants();
    const bool said = options_.nullSpace == NullSpace::Constant;
    const bool singular = said ? constants.isSingular() : system.annihilatesConstants();
    const bool projects = singular && system.preconditioned();
    directions_->project(projects ? &constants : nullptr);
    if (projects) system.tell(iteration, EventKind::ConstantsProjectedAll);
    if (t_ > 1 && singular) takeOutConstants(system);
    directions_->begin(system);
    tellWidth(system, iteration, t_);
    if (directions_->varies()) tellVariation(system, iteration);
    progress.watchGap(judged_->sizeOfImage());  // steps of x count as what A makes of them
  }

  /// Of the parts but the first. 1 reduction.
  void takeOutConstants(LinearSystem<Types>& system) {
    auto& constants = judged_->constants();
    auto& batch = judged_->batch();
    batch.clear();
    std::vector<typename ReductionBatch<Types>::Slot> sums;
    for (int j = 1; j < t_; ++j) sums.push_back(batch.sum(directions_->part(j)));
    system.reduce(batch);
    for (int j = 1; j < t_; ++j) {
      constants.remove(system, constants.meanOf(batch[sums[static_cast<std::size_t>(j - 1)]]), directions_->part(j));
    }
  }

  void tellWidth(LinearSystem<Types>& system, int iteration, int before) {
    const int width = directions_->width();
    if (width == before) return;
    system.tell(iteration, {EventKind::DirectionsDropped, width, before});
  }

  void tellVariation(LinearSystem<Types>& system, int iteration) {
    system.tell(iteration, EventKind::DirectionsMeasured);
  }

  Directions& form(LinearSystem<Types>& system) {
    const auto asked = options_.enlargedForm;
    if (asked == EnlargedForm::Orthodir) return orthodir_;
    const bool fused = asked == EnlargedForm::Fused || (asked == EnlargedForm::Auto && !system.sparesProducts());
    return fused ? fused_ : orthomin_;
  }

  Options options_;
  EnlargingFactor factor_;
  IterationPace pace_;
  int t_ = 0;  ///< directions that the solve begins with; 0: it has not begun
  Cause why_ = Cause::None;
  Orthodir<Types> orthodir_;
  Orthomin<Types> orthomin_{false}, fused_{true};
  Directions* directions_ = nullptr;
  Teuchos::RCP<MultiVector> r_;
  JudgedResidual<Types>* judged_ = nullptr;
  SmoothedResidual<Types> smoothed_;
};

}  // namespace capstan
