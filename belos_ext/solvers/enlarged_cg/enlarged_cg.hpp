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
/// s = t (t + 1) / 2: of symmetric products one half is sent. With a preconditioner: s numbers more in orthodir's
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
/// judged, which does not: smoothed_residual.hpp, with what it costs.
///
/// Ladder, each step in the report: dependent directions dropped -> a new splitting of the computed residual -> CAPSTAN
/// CG, and its ladder: where A is known not to be symmetric, one direction is left, Z^T A Z is not positive, or the
/// residual has not fallen for long.

#include <cmath>
#include <limits>
#include <vector>

#include "belos_ext/convergence/definiteness_watch.hpp"
#include "belos_ext/convergence/iteration_pace.hpp"
#include "belos_ext/convergence/residual_gap.hpp"
#include "belos_ext/solvers/enlarged_cg/enlarging_factor.hpp"
#include "belos_ext/solvers/enlarged_cg/orthodir.hpp"
#include "belos_ext/solvers/enlarged_cg/orthomin.hpp"
#include "belos_ext/solvers/enlarged_cg/smoothed_residual.hpp"
#include "belos_ext/supervision/judged_residual.hpp"
#include "belos_ext/supervision/krylov_solver.hpp"
#include "belos_ext/supervision/next_method.hpp"
#include "belos_ext/supervision/rounding_level.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan {

template <class Types>
class EnlargedCg final : public KrylovSolver<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Directions = EnlargedDirections<Types>;

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

  void configure(const SolverOptions& options) override {
    options_ = options;
    residual_.configure(options.nullSpace);
    smoothed_.configure(options.residualSmoothing);
    factor_.configure(options);
    next_.configure(options);
  }
  void setNext(const MethodTraits& method) override { next_.set(method); }
  void recall(const SolverState& state) override { factor_.recall(state); }
  void remember(SolverState& state) const override { factor_.remember(state); }

  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) override {
    if (residual_.begin(system, b, x, stop)) {
      if (!system.agreesOnState()) factor_.forget();
      const int t = chooseFactor(system, b, stop);
      if (factor_.automatic()) {
        pace_.begin();
        stop.timeBy(&pace_);
      }
      if (factor_.automatic() && t == 1) {
        next_.solve(system, b, x, stop);
        residual_.attain(stop.norms());
      } else {
        iterate(system, b, x, stop, t);
      }
      if (factor_.automatic()) learn(system, stop, t);
    }
    residual_.settle(system, b, x, stop, true);
  }

 private:
  using Outcome = typename Directions::Outcome;

  int chooseFactor(LinearSystem<Types>& system, const MultiVector& b, const StopTest& stop) const {
    const int t = factor_.choose(static_cast<double>(b.getGlobalLength()));
    if (factor_.automatic()) {
      system.tell(stop.iterations(), {EventKind::EnlargingFactor, t});
    } else if (t < options_.enlargingFactor) {
      system.tell(stop.iterations(), {EventKind::EnlargingReduced, options_.enlargingFactor, t});
    }
    return t;
  }

  enum class Next { Over, GoOn, Restarted };

  /// The loop, from the residual just computed, with t directions.
  void iterate(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, int t) {
    system.startUpEnds();
    // Measured: where A is a little nonsymmetric, and CG converges nevertheless, t directions are soon dependent.
    if (system.isNonsymmetric()) return goClassical(system, b, x, stop, Cause::NotSymmetric);
    if (system.annihilatesConstants() && options_.nullSpace == NullSpace::None && system.preconditioned()) {
      // t directions fill x with constants sooner than one does.
      return goClassical(system, b, x, stop, Cause::NullSpaceUnknown);
    }
    watch_.begin(residual_.attained().explicit_);
    smoothed_.begin(b);
    start(system, b, stop.iterations(), t);
    while (!stop.over()) {
      const bool smooths = smoothed_.norm() < directions_->norm().norm;
      const bool measures = stop.wantsMeasure(stop.recursive());
      if (measures) system.takeMeasure(smooths ? smoothed_.s() : directions_->r());
      smoothed_.aim(stop.target());
      const int before = directions_->width();
      const auto outcome = directions_->step(system, x);
      if (outcome != Outcome::Moved) {
        const bool indefinite = outcome == Outcome::Indefinite;
        return goClassical(system, b, x, stop, indefinite ? Cause::NegativeGram : Cause::RecurrencesOverflow);
      }
      if (measures) stop.measured(smooths ? smoothed_.measured() : directions_->measured(), system.measured());
      tellWidth(system, stop.iterations(), before);
      const double curvature = directions_->curvature();
      if (watch_.sees(curvature, directions_->energy(), curvature)) {
        system.tell(stop.iterations(), {EventKind::Indefinite, watch_.seen()});
      }
      const Next next = follow(system, b, x, stop, t);
      if (next == Next::Over) return;
      const bool varied = directions_->varies();
      if (next == Next::GoOn) directions_->next(system);
      if (directions_->varies()) watch_.doubt();
      if (directions_->varies() && !varied) tellVariation(system, stop.iterations());
      const bool alone = directions_->width() == 1 && t > 1;
      if (alone || watch_.hopeless(stop.target(), stop.remaining())) {
        return goClassical(system, b, x, stop, alone ? Cause::OneDirection : Cause::NoProgressForLong);
      }
    }
  }

  /// Z from the residual just computed, split anew. Where A annihilates constants, only r is without them by itself: a
  /// part with one would be no residual of any x.
  void start(LinearSystem<Types>& system, const MultiVector& b, int iteration, int t) {
    directions_ = &form(system);
    directions_->prepare(system, b, t);
    directions_->smoothBy(smoothed_);
    smoothed_.renew();
    system.kernels().scale(Scalar(1), residual_.r(), directions_->r());
    splitByRows<Types>(options_.residualSplitting, directions_->parts());
    auto& constants = residual_.constants();
    const bool said = options_.nullSpace == NullSpace::Constant;
    const bool singular = said ? constants.isSingular() : system.annihilatesConstants();
    const bool projects = singular && system.preconditioned();
    directions_->project(projects ? &constants : nullptr);
    if (projects) system.tell(iteration, EventKind::ConstantsProjectedAll);
    if (t > 1 && singular) {
      auto& batch = residual_.batch();
      batch.clear();
      std::vector<typename ReductionBatch<Types>::Slot> sums;
      for (int j = 1; j < t; ++j) sums.push_back(batch.sum(directions_->part(j)));
      system.reduce(batch);
      for (int j = 1; j < t; ++j) {
        constants.remove(system, constants.meanOf(batch[sums[j - 1]]), directions_->part(j));
      }
    }
    directions_->begin(system);
    tellWidth(system, iteration, t);
    if (directions_->varies()) tellVariation(system, iteration);
    gap_.begin(std::numeric_limits<Scalar>::epsilon(), residual_.sizeOfImage(), residual_.attained().explicit_);
  }

  /// Counts the iteration that led to this residual, and computes b - A x where something asks for it: of the smoothed
  /// iterate where its residual is the smaller one. A claim that fails replaces the residual, but not where that was
  /// smoothed; where it is another one than the recurrence says, it is split anew.
  Next follow(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, int t) {
    const auto& next = directions_->norm();
    const bool smooths = smoothed_.norm() < next.norm;
    const double recursive = smooths ? smoothed_.norm() : next.norm;
    stop.iterated(recursive);
    system.record(stop.iterations(), recursive);
    watch_.iterated(next.norm);
    gap_.stepped(1, directions_->image(), directions_->image());
    gap_.left(next.norm);
    const bool goOn = system.boundary(stop.iterations(), next.norm, {});
    if (smooths && goOn && (stop.reached(recursive) || stop.exhausted())) {
      if (smoothed_.ends(system, residual_, b, x, stop, stop.reached(recursive))) return Next::Over;
    }
    const bool claimed = stop.reached(next.norm) && !next.cancelled;
    if (goOn && !claimed && !next.cancelled && !stop.exhausted() && std::isfinite(next.norm) &&
        !replacementIsDue(stop)) {
      return Next::GoOn;
    }

    if (residual_.verify(system, b, x, stop, claimed)) return Next::Over;
    if (!goOn) stop.stop(StopReason::UserTest);
    if (!std::isfinite(residual_.attained().explicit_)) stop.stop(StopReason::NonFinite);
    if (stop.over() || (claimed && rounding_.ends(system, x, stop))) return Next::Over;
    if (claimed && stop.cameEarly()) return Next::GoOn;
    if (claimed && options_.residualReplacement.mode == ResidualReplacement::Mode::Off) {
      stop.stop(StopReason::Stagnation);
      return Next::Over;
    }
    const bool lost = !next.cancelled && !(residual_.rest() <= tuning::cg::lostFactor * next.norm);
    system.tell(stop.iterations(), lost      ? EventKind::ResidualSplit
                                   : claimed ? EventKind::ClaimRefuted
                                             : EventKind::ResidualReplaced);
    stop.restarted(true);
    if (stop.over()) return Next::Over;
    if (lost) {
      start(system, b, stop.iterations(), t);
      return Next::Restarted;
    }
    gap_.replaced(residual_.rest());
    smoothed_.renew();
    system.kernels().scale(Scalar(1), residual_.r(), directions_->r());
    directions_->replaced(system);
    return Next::GoOn;
  }

  bool replacementIsDue(const StopTest& stop) const {
    using Mode = ResidualReplacement::Mode;
    if (options_.residualReplacement.mode == Mode::Every) {
      return stop.iterations() % options_.residualReplacement.every == 0;
    }
    return options_.residualReplacement.mode == Mode::Auto && gap_.due(stop.target());
  }

  void tellWidth(LinearSystem<Types>& system, int iteration, int before) {
    const int width = directions_->width();
    if (width == before) return;
    system.tell(iteration, {EventKind::DirectionsDropped, width, before});
  }

  void tellVariation(LinearSystem<Types>& system, int iteration) {
    system.tell(iteration, EventKind::DirectionsMeasured);
  }

  void goClassical(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, Cause why) {
    next_.goOn(system, b, x, stop, why);
    residual_.attain(stop.norms());
  }

  /// What an iteration of this solve took, the mean of all ranks. 1 reduction.
  void learn(LinearSystem<Types>& system, StopTest& stop, int t) {
    stop.timeBy(nullptr);
    auto& batch = residual_.batch();
    batch.clear();
    const auto sum = batch.value(static_cast<Scalar>(pace_.seconds()));
    system.reduce(batch);
    const double mean = static_cast<double>(batch[sum]) / residual_.r().getMap()->getComm()->getSize();
    const double digits = std::log10(boundedRatio(residual_.initial().explicit_, residual_.attained().explicit_));
    factor_.took(t, mean, static_cast<double>(pace_.iterations()) + tuning::enlarged_cg::startUp,
                 std::min(digits, -std::log10(static_cast<double>(std::numeric_limits<Scalar>::epsilon()))));
  }

  Directions& form(LinearSystem<Types>& system) {
    const auto asked = options_.enlargedForm;
    if (asked == EnlargedForm::Orthodir) return orthodir_;
    const bool fused = asked == EnlargedForm::Fused || (asked == EnlargedForm::Auto && !system.sparesProducts());
    return fused ? fused_ : orthomin_;
  }

  SolverOptions options_;
  EnlargingFactor factor_;
  IterationPace pace_;
  Orthodir<Types> orthodir_;
  Orthomin<Types> orthomin_{false}, fused_{true};
  Directions* directions_ = nullptr;
  JudgedResidual<Types> residual_;
  RoundingLevel<Types> rounding_;
  SmoothedResidual<Types> smoothed_;
  DefinitenessWatch watch_;
  ResidualGap gap_;  ///< in units of A x: steps of x count as what A makes of them
  NextMethod<Types> next_;
};

}  // namespace capstan
