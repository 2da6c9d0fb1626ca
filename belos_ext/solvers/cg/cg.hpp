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
/// Ladder, each step in the report: (p, A p) < 0 or (r, M^{-1} r) < 0 alone: go on, as Hestenes and Stiefel's does ->
/// restart from the computed residual -> CAPSTAN GMRES, from the better of x and the guess ("Fallback").

#include <utility>

#include "belos_ext/convergence/definiteness_watch.hpp"
#include "belos_ext/convergence/residual_gap.hpp"
#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/problem/kept_iterate.hpp"
#include "belos_ext/problem/rows_first.hpp"
#include "belos_ext/solvers/cg/cg_vectors.hpp"
#include "belos_ext/solvers/common/rounding_level.hpp"
#include "belos_ext/solvers/gmres/gmres_fallback.hpp"

namespace capstan {

/// \tparam Product how s = A p comes by what it needs of other ranks; embedded_cg.hpp has another one
template <class Types, class Product = PlainProduct<Types>>
class Cg final : public KrylovSolver<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  static Cost cost(const SolverOptions&, bool preconditioned) {
    if (preconditioned) return {1, 1, 1, 5, 26, 8 * (6 + 4 + 5)};
    return {1, 1, 1, 3, 16, 8 * (4 + 3 + 3)};
  }

  void configure(const SolverOptions& options) override {
    replacement_ = options.residualReplacement;
    v_.configure(options);
    fallback_.configure(options);
  }

  void recall(const SolverState& state) override { v_.expectVariation(state.preconditionerVaries); }
  void remember(SolverState& state) const override { state.preconditionerVaries = v_.expectsVariation(); }

  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) override {
    v_.prepare(system, b);
    rough_ = false;
    system.residual(b, x, v_.r());  // r = b - A x
    if (begin(system, b, x, stop)) iterate(system, b, x, stop);
  }

  /// Goes on where another form of CG stands, without a loss of conjugacy: p is its last search direction, of any
  /// length. The residual is computed from x, so that what rounding has made of the other recurrences stays behind.
  /// `stop` has begun. Collective.
  void resume(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, const MultiVector& p) {
    v_.prepare(system, b);
    rough_ = false;
    v_.recompute();
    auto& batch = v_.batch();
    system.residual(b, x, v_.r());
    rows_.takeOut(system, v_.r());
    system.kernels().scale(Scalar(1), p, v_.p());
    system.act(Action::Operator, v_.p(), v_.s());
    batch.clear();
    const auto pr = batch.dot(v_.p(), v_.r()), sp = batch.dot(v_.s(), v_.p()), xx = batch.norm2(x);
    const auto rr = batch.norm2(v_.r()), sum = batch.sum(x);
    rows_.enter(batch);
    system.reduce(batch);
    const Scalar along = batch[pr] / batch[sp], curvature = batch[sp], size = batch[xx];
    const Scalar square = batch[rr], left = rows_.left(batch);
    guess_.keepGuess(system, x, size, batch[sum]);
    startWatches(size, normsOf(system, rows_.norm(system, v_.r(), left, square, batch)));
    if (std::isfinite(along)) system.kernels().sweep(axpy(along, v_.p(), x), axpy(-along, v_.s(), v_.r()));
    v_.preconditionResidual(system);
    batch.clear();
    const auto sz = batch.dot(v_.s(), v_.z());
    system.reduce(batch);
    const Scalar onto = batch[sz] / curvature;
    system.kernels().axpby(Scalar(1), v_.z(), std::isfinite(onto) ? -onto : Scalar(0), v_.p());  // conjugate to p
    fresh_ = false;
    v_.multiply(system);
    v_.measure(system);
    judgeConstants(system, stop);
    iterate(system, b, x, stop);
  }

  /// Norms of b - A x as last computed, of the x that solve() or resume() has left.
  const ResidualNorms& attained() const { return attained_; }

 private:
  /// The first direction, and all that a solve begins with, in one reduction. False when there is nothing to do.
  bool begin(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    rows_.takeOut(system, v_.r());
    auto& batch = v_.begin(system);  // z = M^{-1} r, p = z, s = A p, t = M^{-1} s
    const auto bb = batch.norm2(b), xx = batch.norm2(x), sum = batch.sum(x);
    rows_.enter(batch);
    system.reduce(batch);
    if (!system.agreesOnState()) v_.expectVariation(false);
    v_.take();
    const Scalar rhs = batch[bb], size = batch[xx], rest = rows_.left(batch);
    guess_.keepGuess(system, x, size, batch[sum]);

    const Scalar rr = v_.products().rr;
    const ResidualNorms norms = normsOf(system, rows_.norm(system, v_.r(), rest, rr, batch));
    const double whole = system.norm(b, rhs, batch);
    double native = norms.native;
    if (system.hasLeft() && stop.criteria().scalesByNative()) {
      native = rows_.nativeNorm(system, v_.r(), v_.z(), batch);
      system.kernels().scale(Scalar(1), v_.p(), v_.z());  // p = z
    }
    attained_ = norms;
    stop.begin(norms, whole, native);
    if (stop.verified(norms, false)) return false;
    fresh_ = true;
    if (rows_.matters(v_.r(), rest, rhs, rr)) {
      rows_.solve(system, stop.iterations(), b, x, v_.r());
      v_.begin(system);
      rows_.enter(batch);
      system.reduce(batch);
      v_.take();
      const Scalar others = v_.products().rr, left = rows_.left(batch);
      const ResidualNorms now = normsOf(system, rows_.norm(system, v_.r(), left, others, batch));
      if (std::isfinite(now.explicit_)) {
        guess_.keep(system, x);
        startWatches(std::max(size, Scalar(1)), now);
      } else {
        guess_.restore(system, x);  // the norms of which the stop test keeps
      }
      if (stop.verified(now, false)) return false;
    } else {
      startWatches(size, norms);
    }
    judgeConstants(system, stop);
    return true;
  }

  /// Decides whether constants may be projected out, and does it where b - A x holds one.
  void judgeConstants(LinearSystem<Types>& system, const StopTest& stop) {
    auto& constants = v_.constants();
    const auto& q = v_.products();
    if (!constants.judge(system, stop, v_.sums().r, v_.sums().s, q.ss) || !constants.ofResidual()) return;
    if (constants.matters(v_.sums().r, q.rr)) v_.projectResidual(system);
  }

  /// The textbook's loop. p, s = A p, t = M^{-1} s and their products are there.
  void iterate(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    system.startUpEnds(1, 1);
    while (!stop.over()) {
      const auto& q = v_.products();
      if (v_.constants().dominates(v_.sums().p, q.pp)) v_.projectDirection(system, stop.iterations());
      auto next = v_.nextStep();  // alpha = nu / mu; beta from the next nu, predicted
      const Scalar alpha = next.alpha, beta = next.beta;
      if (watch_.sees(q.mu, q.nu, q.sz)) system.tell(stop.iterations(), "indefinite", watch_.seen());
      const double judged = root(v_.judgedSquare());
      if (stop.reached(judged)) {
        if (!examine(system, b, x, stop, judged, true)) break;
      } else if (alpha == Scalar(0) || !std::isfinite(alpha) || !std::isfinite(beta) || watch_.hopeless()) {
        if (!recover(system, b, x, stop)) break;
      } else if (!staysFinite(system, alpha, x)) {
        overflow(system, b, x, stop);
        break;
      } else {
        const PredictedNorm norm = v_.nextNorm(alpha);
        rough_ = next.cancelled && stop.reached(norm.norm);  // most often the solve is over, and p is not needed
        next.cancelled = next.cancelled && !rough_;
        observe(system, alpha);
        if (next.cancelled) system.tell(stop.iterations(), "beta", "(r, M^-1 r) is reduced: its prediction cancels");
        v_.step(system, next, x, renewalIsDue());  // x += alpha p, r -= alpha s, z -= alpha t, p = z + beta p
        gap_.stepped(static_cast<double>(alpha), root(q.pp), root(q.ss));
        if (!follow(system, b, x, stop, norm)) break;
      }
      v_.multiply(system);  // s = A p, t = M^{-1} s
      const bool measures = stop.wantsMeasure(stop.recursive());
      if (measures) system.takeMeasure(v_.judged());
      v_.measure(system);  // (p, s), (r, t), (s, t), (r, z) recomputed, (r, r)
      if (measures) stop.measured(root(v_.judgedSquare()), system.measured());
      if (v_.stopsCarrying()) system.tell(stop.iterations(), "embedding", "M is not linear: A sends its own messages");
    }
    goBack(system, x, stop);
  }

  /// A row of the Lanczos matrix, where M is an operator that has one.
  void observe(LinearSystem<Types>& system, Scalar alpha) {
    if (!v_.varies()) system.observe(1 / static_cast<double>(alpha), static_cast<double>(v_.coupling()));
  }

  /// Counts the iteration that led to this residual, and computes b - A x where something asks for it. False when the
  /// solve is over.
  bool follow(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop,
              const PredictedNorm& next) {
    fresh_ = false;
    const bool fast = next.norm <= tuning::cg::fast * stop.recursive() || v_.varies();  // a cycle of multigrid
    stop.iterated(next.norm);
    system.record(stop.iterations(), next.norm);
    watch_.iterated(next.norm);
    gap_.left(next.norm);
    const bool goOn = system.boundary(stop.iterations(), next.norm, {});
    if (goOn && fast && v_.measures()) measureAhead(system, stop, next.norm);
    const bool claimed = stop.reached(next.norm);
    if (goOn && !claimed && !next.cancelled && !replacementIsDue(stop) && !stop.exhausted() &&
        std::isfinite(next.norm)) {
      return true;
    }
    if (goOn) return examine(system, b, x, stop, next.norm, claimed);
    attained_ = v_.computeResidual(system, b, x);
    if (!stop.verified(attained_, claimed)) stop.stop(StopReason::UserTest);
    return false;
  }

  /// The norm of the tolerance of a residual that may meet it: a reduction, in place of an M^{-1} that may not be
  /// needed.
  void measureAhead(LinearSystem<Types>& system, StopTest& stop, double predicted) {
    if (stop.measure() == nullptr || stop.reached(predicted)) return;
    if (!(predicted <= tuning::cg::uncertain * stop.target())) return;
    auto& batch = v_.batch();
    batch.clear();
    system.takeMeasure(v_.judged());
    const auto rr = batch.norm2(v_.judged());
    system.reduce(batch);
    stop.measured(root(batch[rr]), system.measured());
  }

  /// r = b - A x decides; where the solve is not over it goes on from there: with the direction it has, or, where that
  /// followed another residual, with a new one. True when it goes on.
  bool examine(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, double recursive,
               bool claimed) {
    const bool rough = std::exchange(rough_, false);
    attained_ = v_.computeResidual(system, b, x);
    const bool diverged = std::isinf(attained_.explicit_) && fallback_.wanted() && !stop.exhausted();
    if (diverged) return goToGmres(system, b, x, stop, "the residual grows without bound");
    if (claimed && v_.constants().endsInconsistent(system, attained_, v_.rest(), stop)) return false;
    if (stop.verified(attained_, claimed)) return false;
    if (claimed && rounding_.ends(system, x, stop)) return false;
    if (claimed && stop.cameEarly()) {
      rows_.takeOut(system, v_.judged());
      if (rough) v_.beginAgain(system);
      return true;
    }
    if (claimed && replacement_.mode == ResidualReplacement::Mode::Off) {
      stop.stop(StopReason::Stagnation);
      return false;
    }
    const bool lost = !(v_.rest() <= tuning::cg::lostFactor * recursive) || !gap_.isSmall();
    system.tell(stop.iterations(), "residual replacement",
                claimed ? "the computed residual does not meet the tolerance yet"
                : lost  ? "restarted from the computed residual"
                        : "before rounding separates the two");
    stop.restarted(true);
    replaceResidual(system, lost || rough);
    return !stop.over();
  }

  /// Whether z = M^{-1} r replaces the recurrence: errors in t = M^{-1} s add up in z. Seldom where M is
  /// linear; where M is indefinite, convergence hangs on it.
  bool renewalIsDue() {
    const int interval = v_.strayed()            ? tuning::cg::renewalStrayed
                         : watch_.seen().empty() ? tuning::cg::renewal
                                                 : tuning::cg::renewalIndefinite;
    if (++sinceRenewal_ < interval) return false;
    sinceRenewal_ = 0;
    return true;
  }

  /// r has been computed anew: z = M^{-1} r, and p = z where nothing is to be kept.
  void replaceResidual(LinearSystem<Types>& system, bool newDirection) {
    v_.adoptJudged(system);
    rows_.takeOut(system, v_.r());
    gap_.replaced(v_.rest());
    sinceRenewal_ = 0;
    if (!newDirection && v_.measures()) return v_.keepDirection(system);
    v_.preconditionResidual(system);
    if (newDirection) v_.beginAgain(system);
    fresh_ = fresh_ || newDirection;
  }

  /// CG cannot take this step: its numbers are zero, not finite, or hopeless. True when it goes on from a new
  /// direction.
  bool recover(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    const bool hopeless = watch_.hopeless(), poisoned = v_.poisoned(), first = fresh_;
    if (first && poisoned) {
      stop.stop(StopReason::NonFinite);
      return false;
    }
    if (!first) {
      attained_ = v_.computeResidual(system, b, x);
      if (stop.verified(attained_, false)) return false;
      if (poisoned) {
        stop.stop(StopReason::NonFinite);
        return false;
      }
      if (!hopeless) {
        system.tell(stop.iterations(), "restart", "breakdown; restarted from the computed residual");
        stop.restarted(true);
        replaceResidual(system, true);
        return !stop.over();
      }
    }
    if (!fallback_.wanted()) {
      stop.stop(hopeless ? StopReason::Stagnation : StopReason::Breakdown);
      return false;
    }
    return goToGmres(system, b, x, stop,
                     hopeless ? watch_.seen() + "; the residual no longer falls" : "(p, A p) or (r, M^-1 r) is zero");
  }

  /// The last rung; the solve is over afterwards. Returns false.
  bool goToGmres(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop,
                 const std::string& why) {
    if (!(attained_.explicit_ <= initial_.explicit_)) restoreGuess(system, x, stop);
    fallback_.goOn(system, b, x, stop, why);
    attained_ = stop.norms();
    return false;
  }

  /// Whether x + alpha p can be represented. Norms tell; where they cannot, every entry is asked in one more reduction.
  bool staysFinite(LinearSystem<Types>& system, Scalar alpha, const MultiVector& x) {
    constexpr double largest = static_cast<double>(std::numeric_limits<Scalar>::max());
    const double least = root(static_cast<Scalar>(x.getGlobalLength()) * std::numeric_limits<Scalar>::min());
    const double step = std::abs(static_cast<double>(alpha)) * std::max(root(v_.products().pp), least);
    if (gap_.iterate() + step < tuning::cg::farFromOverflow * largest) return true;
    v_.settleDirection(system);
    MultiVector candidate(x, Teuchos::Copy);
    system.kernels().axpby(alpha, v_.p(), Scalar(1), candidate);
    v_.batch().clear();
    const auto bad = v_.batch().value(system.kernels().finite(candidate) ? Scalar(0) : Scalar(1));
    system.reduce(v_.batch());
    return v_.batch()[bad] == Scalar(0);
  }

  void overflow(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop) {
    system.tell(stop.iterations(), "overflow", "the next iterate cannot be represented");
    attained_ = v_.computeResidual(system, b, x);
    if (!stop.verified(attained_, false)) stop.stop(StopReason::NonFinite);
  }

  /// After a solve that failed on a system that is not what CG is for: the guess, where it is better than x.
  void goBack(LinearSystem<Types>& system, MultiVector& x, StopTest& stop) {
    if (stop.converged() || stop.reason() == StopReason::UserTest) return;
    const bool normal = stop.reason() == StopReason::MaxIterations && watch_.seen().empty();
    if ((normal && std::isfinite(attained_.explicit_)) || attained_.explicit_ <= initial_.explicit_) return;
    restoreGuess(system, x, stop);
    system.tell(stop.iterations(), "went back", "to the guess, whose residual is smaller");
  }

  void restoreGuess(LinearSystem<Types>& system, MultiVector& x, StopTest& stop) {
    guess_.restore(system, x);
    attained_ = initial_;
    stop.wentBack(initial_);
  }

  /// \param size (x, x)   \param residual norms of b - A x
  void startWatches(Scalar size, const ResidualNorms& residual) {
    watch_.begin(residual.explicit_);
    sinceRenewal_ = 0;
    gap_.begin(std::numeric_limits<Scalar>::epsilon(), root(size), residual.explicit_);
    initial_ = attained_ = residual;
  }

  /// Of the residual of x that has been reduced last.
  static ResidualNorms normsOf(LinearSystem<Types>& system, double norm) { return {norm, norm, system.measured()}; }

  bool replacementIsDue(const StopTest& stop) const {
    using Mode = ResidualReplacement::Mode;
    if (replacement_.mode == Mode::Every) return stop.iterations() % replacement_.every == 0;
    return replacement_.mode == Mode::Auto && gap_.due(stop.target());
  }

  static double root(Scalar square) { return std::sqrt(static_cast<double>(square)); }

  ResidualReplacement replacement_;
  int sinceRenewal_ = 0;
  bool fresh_ = true;                 ///< p is z: no direction is kept
  bool rough_ = false;                ///< p is made with a beta of which nothing but rounding is left
  ResidualNorms initial_, attained_;  ///< computed residuals: of the guess, and the last one of x
  CgVectors<Types, Product> v_;
  RowsFirst<Types> rows_;
  DefinitenessWatch watch_;
  ResidualGap gap_;
  RoundingLevel<Types> rounding_;
  GmresFallback<Types> fallback_;
  KeptIterate<Types> guess_;
};

}  // namespace capstan
