#pragma once
/// \file
/// Preconditioned conjugate gradients with one reduction an iteration and the rounding behaviour of Hestenes and
/// Stiefel's.
///
/// Source: [Chen and Carson 2020], predict-and-recompute CG (PR-CG), preconditioned; [Hestenes and Stiefel 1952]. Other
/// forms with one reduction ([Chronopoulos and Gear 1989]) derive (p, A p) from symmetry, and lose convergence where a
/// pressure is pinned by a row whose column is kept.
///
/// Where M is costly, the first steps have z = M^{-1} r and w = A z instead, and products that are all measured; where
/// M is not linear, all steps have: measured_products.hpp. There x is the combination of the last one and CG's of least
/// residual, which is what is judged and recorded: residual_smoothing.hpp.
///
/// Cost of an iteration: 1 reduction of 9 numbers (5 without a preconditioner, 15 where they are measured, 4 more where
/// residuals are smoothed), 1 fence, 1 A, 1 M^{-1}, all updates in one sweep (6 vectors read, 4 written; without a
/// preconditioner 4 and 3; 8 and 6 where residuals are smoothed). A solve of n iterations: n + 1 reductions, n + 2 A
/// (the first and the last residual among them), n + 1 M^{-1}, or n where all steps are measured; 1 reduction more
/// where that ends; 1 reduction more in an iteration that brings the residual near its target at once, where the
/// tolerance is meant in another norm and M is costly; 1 M_L^{-1} and 1 reduction more where residuals are scaled by
/// the preconditioned initial one. Storage: 5 vectors (3 without a preconditioner), 2 more where residuals are
/// smoothed, 1 more with a left and a right one, 1 more with a guess that is not zero. Overlap: none.
///
/// | paper   | here   | shape              | meaning                                                    |
/// |---------|--------|--------------------|------------------------------------------------------------|
/// | r       | r      | n x 1, distributed | recursive residual of b - A x                              |
/// | r tilde | z      | n x 1, distributed | M^{-1} r by recurrence (r itself without a preconditioner) |
/// | p, s    | p, s   | n x 1, distributed | search direction and A p                                   |
/// | s tilde | t      | n x 1, distributed | M^{-1} s (s itself without a preconditioner)               |
/// | nu, mu  | nu, mu | scalar, replicated | (r, z) and (p, s)                                          |
/// | delta   | delta  | scalar, replicated | (r, t), and (s, z) where M is not symmetric: their mean    |
/// | gamma   | gamma  | scalar, replicated | (s, t)                                                     |
///
/// The norm of the next residual is predicted as nu is, so that a solve ends without a product that nobody needs. Where
/// nothing but rounding is left of the predicted nu, and the solve is not over, (r, z) is reduced and beta formed from
/// it before p is made: one reduction more in that iteration, and an event in the report.
///
/// Rows that hold a diagonal alone are solved first, and every vector is kept at zero there. What is done about
/// constants that A annihilates, and what it takes: constant_null_space.hpp.
///
/// A may be negative definite, and so may M: the steps are those with -A and -b, or with -M.
///
/// (p, A p) < 0 or (r, M^{-1} r) < 0 alone: go on, as Hestenes and Stiefel's does.

#include <utility>

#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/solvers/cg/cg_vectors.hpp"
#include "belos_ext/supervision/progress.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan {

/// \tparam Product how s = A p comes by what it needs of other ranks; embedded_cg.hpp has another one
template <class Types, class Product = PlainProduct<Types>>
class Cg final : public Method<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  static constexpr Treatment treatment = [] {
    Treatment how;
    how.symmetric = how.replaces = true;
    how.restart = "; restarted from the computed residual";
    return how;
  }();

  static Cost cost(const SolverOptions&, bool preconditioned) {
    if (preconditioned) return {1, 1, 1, 5, 26, 8 * (6 + 4 + 5)};
    return {1, 1, 1, 3, 16, 8 * (4 + 3 + 3)};
  }

  void configure(const SolverOptions& options) override { v_.configure(options); }
  void recall(const SolverState& state) override { v_.expectVariation(state.preconditionerVaries); }
  void remember(SolverState& state) const override { state.preconditionerVaries = v_.expectsVariation(); }
  void forget() override { v_.expectVariation(false); }

  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>& judged) override {
    v_.prepare(system, b, judged);
    rough_ = false;
    sinceRenewal_ = 0;
  }
  Teuchos::RCP<MultiVector>& residual() override { return v_.judged(); }

  /// z = M^{-1} r, p = z, s = A p, t = M^{-1} s, and their products.
  void enter(LinearSystem<Types>& system, ReductionBatch<Types>&) override { v_.begin(system); }
  void take(LinearSystem<Types>&) override { v_.take(); }

  /// The textbook's loop.
  Ending cycle(Progress<Types>& progress, Start start) override {
    auto& system = progress.system();
    auto& stop = progress.stop();
    begin(progress, start);
    for (;; v_.multiply(system), reduce(progress)) {  // s = A p, t = M^{-1} s; (p, s), (r, t), (s, t), (r, z), (r, r)
      const auto& q = v_.products();
      if (v_.constants().dominates(v_.sums().p, q.pp)) v_.projectDirection(system, stop.iterations());
      auto next = v_.nextStep();  // alpha = nu / mu; beta from the next nu, predicted
      const Scalar alpha = next.alpha, beta = next.beta;
      progress.sees(q.mu, q.nu, q.sz, v_.varies());
      if (const auto claimed = progress.reduced(root(v_.judgedSquare()))) return *claimed;
      if (v_.poisoned()) return Ending::NotFinite;
      if (alpha == Scalar(0) || !std::isfinite(alpha) || !std::isfinite(beta)) return Ending::Breakdown;
      if (progress.isHopeless()) return Ending::Unfit;
      if (!progress.isFarFromOverflow(alpha, q.pp) && !staysFinite(progress, alpha)) return Ending::Overflow;

      const PredictedNorm norm = v_.nextNorm(alpha);
      rough_ = next.cancelled && stop.reached(norm.norm);  // most often the solve is over, and p is not needed
      next.cancelled = next.cancelled && !rough_;
      if (!v_.varies()) system.observe(1 / static_cast<double>(alpha), static_cast<double>(v_.coupling()));
      if (next.cancelled) system.tell(stop.iterations(), "beta", "(r, M^-1 r) is reduced: its prediction cancels");
      const bool fast = norm.norm <= tuning::cg::fast * stop.recursive() || v_.varies();  // a cycle of multigrid
      const Scalar pp = q.pp, ss = q.ss;
      v_.step(system, next, progress.x(), renewalIsDue(progress));  // x += alpha p, r -= alpha s, z -= alpha t, p
      progress.stepped(alpha, pp, ss);
      if (const auto ending = progress.follow(norm, fast && v_.measures())) return *ending;
    }
  }

  bool keepsDirection() const override { return !rough_; }

  /// The residual is computed from x, so that what rounding has made of the other recurrences stays behind.
  bool startAlong(Progress<Types>& progress, const MultiVector& p) override {
    auto& system = progress.system();
    auto& residual = progress.residual();
    auto& batch = residual.batch();
    using Slot = typename ReductionBatch<Types>::Slot;
    v_.recompute();
    system.kernels().scale(Scalar(1), p, v_.p());
    system.act(Action::Operator, v_.p(), v_.s());
    Slot pr, sp;
    Scalar along = 0, curvature = 0;
    const auto enter = [&](ReductionBatch<Types>&) {
      pr = batch.dot(v_.p(), v_.r());
      sp = batch.dot(v_.s(), v_.p());
    };
    const auto take = [&] {
      along = ratioOr(batch[pr], batch[sp], Scalar(0));
      curvature = batch[sp];
    };
    residual.resume(system, progress.b(), progress.x(), v_.r(), {enter, take});
    progress.watch(residual.attained().explicit_);
    if (std::isfinite(along)) system.kernels().sweep(axpy(along, v_.p(), progress.x()), axpy(-along, v_.s(), v_.r()));
    v_.preconditionResidual(system);
    batch.clear();
    const auto sz = batch.dot(v_.s(), v_.z());
    system.reduce(batch);
    const Scalar onto = ratioOr(batch[sz], curvature, Scalar(0));
    system.kernels().axpby(Scalar(1), v_.z(), std::isfinite(onto) ? -onto : Scalar(0), v_.p());  // conjugate to p
    v_.multiply(system);
    v_.measure(system);
    return true;
  }

 private:
  /// The direction of the first step, and its products.
  void begin(Progress<Types>& progress, Start start) {
    auto& system = progress.system();
    const bool rough = std::exchange(rough_, false);
    switch (start) {
      case Start::First:
        v_.judgeConstants(system, progress.stop());
        return system.startUpEnds(1, 1);
      case Start::Anew:
        v_.adoptJudged(system);
        v_.preconditionResidual(system);
        v_.beginAgain(system);
        break;
      case Start::Direction:
        v_.adoptJudged(system);
        v_.keepDirection(system);
        break;
      case Start::GoOn:
        if (rough) v_.beginAgain(system);
        break;
    }
    if (start != Start::GoOn) sinceRenewal_ = 0;
    v_.multiply(system);
    reduce(progress);
  }

  /// The one reduction; the norm of the tolerance goes with it where a claim is near.
  void reduce(Progress<Types>& progress) {
    auto& system = progress.system();
    auto& stop = progress.stop();
    const bool measures = stop.wantsMeasure(stop.recursive());
    if (measures) system.takeMeasure(*v_.judged());
    v_.measure(system);
    if (measures) stop.measured(root(v_.judgedSquare()), system.measured());
    if (v_.stopsCarrying()) system.tell(stop.iterations(), "embedding", "M is not linear: A sends its own messages");
  }

  /// Whether z = M^{-1} r replaces the recurrence: errors in t = M^{-1} s add up in z. Seldom where M is
  /// linear; where M is indefinite, convergence hangs on it.
  bool renewalIsDue(const Progress<Types>& progress) {
    const int interval = v_.strayed()              ? tuning::cg::renewalStrayed
                         : progress.seen().empty() ? tuning::cg::renewal
                                                   : tuning::cg::renewalIndefinite;
    if (++sinceRenewal_ < interval) return false;
    sinceRenewal_ = 0;
    return true;
  }

  /// Whether every entry of x + alpha p can be represented. One reduction.
  bool staysFinite(Progress<Types>& progress, Scalar alpha) {
    auto& system = progress.system();
    auto& batch = progress.residual().batch();
    v_.settleDirection(system);
    MultiVector candidate(progress.x(), Teuchos::Copy);
    system.kernels().axpby(alpha, v_.p(), Scalar(1), candidate);
    batch.clear();
    const auto bad = batch.value(system.kernels().finite(candidate) ? Scalar(0) : Scalar(1));
    system.reduce(batch);
    return batch[bad] == Scalar(0);
  }

  static double root(Scalar square) { return std::sqrt(static_cast<double>(square)); }

  int sinceRenewal_ = 0;
  bool rough_ = false;  ///< p is made with a beta of which nothing but rounding is left
  CgVectors<Types, Product> v_;
};

}  // namespace capstan
