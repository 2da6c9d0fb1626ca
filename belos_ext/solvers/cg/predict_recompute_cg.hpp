#pragma once
/// \file
/// CG with s = A p and t = M^{-1} s computed in every iteration, z = M^{-1} r by recurrence, and beta from the next
/// (r, z), predicted: one reduction an iteration and the rounding behaviour of Hestenes and Stiefel's.
///
/// Source: [Chen and Carson 2020], predict-and-recompute CG (PR-CG), preconditioned; [Hestenes and Stiefel 1952].
///
/// Cost of an iteration: 1 reduction of 9 numbers (5 without a preconditioner), 1 A, 1 M^{-1}, all updates in one sweep
/// (6 vectors read, 4 written; without a preconditioner 4 and 3). Overlap: none.
///
/// | paper   | here   | shape              | meaning                                                    |
/// |---------|--------|--------------------|------------------------------------------------------------|
/// | r       | r      | n x 1, distributed | recursive residual of b - A x                              |
/// | r tilde | z      | n x 1, distributed | M^{-1} r by recurrence (r itself without a preconditioner) |
/// | p, s    | p, s   | n x 1, distributed | search direction and A p                                   |
/// | s tilde | t      | n x 1, distributed | M^{-1} s (s itself without a preconditioner)               |
/// | nu, mu  | nu, mu | scalar, replicated | (r, z) and (p, s)                                          |
/// | delta   | delta  | scalar, replicated | (r, t), and (s, z) where M is not symmetric: their mean    |
/// | gamma   | st     | scalar, replicated | (s, t)                                                     |
///
/// The norm of the next residual is predicted as nu is, so that a solve ends without a product that nobody needs. Where
/// nothing but rounding is left of the predicted nu, and the solve is not over, (r, z) is reduced and beta formed from
/// it before p is made: one reduction more in that iteration, and an event in the report.

#include <utility>

#include "belos_ext/solvers/cg/cg_vectors.hpp"
#include "belos_ext/supervision/progress.hpp"

namespace capstan {

/// \tparam Product how s = A p and t = M^{-1} s come by what they need of other ranks: PlainProduct, or one like it
template <class Types, class Product>
class PredictRecomputeCg {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  explicit PredictRecomputeCg(CgVectors<Types>& vectors) : v_(vectors) {}

  /// \param doubtedSteps steps in which M is looked at, which may not be linear. Local.
  void prepare(int doubtedSteps) {
    doubtedSteps_ = doubtedSteps;
    rough_ = false;
    product_.replaced();
  }
  bool keepsDirection() const { return !rough_; }

  /// z = M^{-1} r, p = z, s = A p, t = M^{-1} s, and their products.
  void enter(LinearSystem<Types>& system) {
    beginAt(system, Start::Anew);
    system.act(Action::Operator, v_.p(), v_.s());  // nothing is carried yet: the solve may be over after the reduction
    if (v_.preconditioned) system.precondition(v_.s(), v_.between(), v_.t());
    enterProducts();
  }
  void take() {
    const auto& batch = *v_.batch;
    q_ = {batch[at_.ps], batch[at_.rr], batch[at_.rs], batch[at_.ss], batch[at_.pp],
          batch[at_.rz], batch[at_.sz], batch[at_.rt], batch[at_.st]};
    v_.constants->takeSums(batch);
    if (!v_.constants->active()) return;
    const auto& sums = v_.constants->sums();  // of t as if it had no constant: advance() takes it out
    const Scalar mean = v_.constants->meanOf(sums.t);
    q_.rt -= mean * sums.r;
    q_.st -= mean * sums.s;
  }

  /// The textbook's loop.
  Ending cycle(Progress<Types>& progress, Start start) {
    auto& system = progress.system();
    begin(progress, start);
    for (;; multiply(system), reduce(progress)) {  // s = A p, t = M^{-1} s; all products of r, z, p, s and t
      if (v_.isConstant(q_.pp)) {
        v_.projectDirection(progress);
        replaced(system), reduce(progress);
      }
      if (isNotLinear()) return Ending::OtherForm;
      const auto [alpha, beta, cancelled] = next();  // alpha = nu / mu; beta from the next nu
      const CgStep<Scalar> step{alpha, beta, made_, q_.ps, q_.rz, q_.sz, q_.rr, q_.pp, q_.ss};
      const auto add = [&](MultiVector& x) { system.kernels().sweep(axpy(step.alpha, v_.p(), x)); };
      if (const auto ending = progress.admits(step, false, add)) return *ending;
      const auto norm = predictNorm(q_.rr, q_.rs, q_.ss, alpha);
      rough_ = cancelled && progress.stop().reached(norm.norm);  // most often the solve is over, and p is not needed
      advance(progress, alpha, beta, cancelled && !rough_);  // x += alpha p, r -= alpha s, z -= alpha t, p = z + beta p
      if (const auto ending = progress.follow(norm)) return *ending;
    }
  }

 private:
  struct Products {
    Scalar ps, rr, rs, ss, pp, rz, sz, rt, st;
  };
  struct Slots {
    typename ReductionBatch<Types>::Slot ps, rr, rs, ss, pp, rz, sz, rt, st;
  };
  struct Next {
    Scalar alpha, beta;
    bool cancelled;  ///< nothing but rounding is left of the (r, z) that beta has been predicted from
  };

  void begin(Progress<Types>& progress, Start start) {
    auto& system = progress.system();
    if (start == Start::First) {
      if (!v_.constants->takesOutOfFirst(system, progress.stop(), q_.rr, q_.ss, v_.r()))
        return system.startUpEnds(1, 1);
      start = Start::Anew;
    }
    if (start == Start::Made) {
      product_.replaced();
      if (v_.preconditioned) system.precondition(v_.s(), v_.between(), v_.t());
    } else {
      if (start != Start::GoOn || std::exchange(rough_, false)) beginAt(system, start);
      multiply(system);
    }
    reduce(progress);
  }
  /// z = M^{-1} r, and p = z but where the direction stays.
  void beginAt(LinearSystem<Types>& system, Start start) {
    product_.replaced();
    if (start != Start::GoOn) v_.preconditionResidual(system);
    rough_ = false;
    sinceRenewal_ = 0;
    if (start == Start::Direction) return;
    system.kernels().scale(Scalar(1), v_.z(), v_.p());
    made_ = 0;
  }

  void multiply(LinearSystem<Types>& system) {
    product_.multiply(system, v_.z(), v_.p(), v_.s());
    if (v_.preconditioned) product_.precondition(system, v_.s(), v_.between(), v_.t());
  }
  /// The same with a p and a z that are not those of the recurrences.
  void replaced(LinearSystem<Types>& system) {
    product_.replaced();
    multiply(system);
  }

  void enterProducts() {
    auto& batch = *v_.batch;
    const MultiVector &r = v_.r(), &p = v_.p(), &s = v_.s(), &z = v_.z(), &t = v_.t();
    if (v_.preconditioned) {
      const auto [ps, rr, rs, ss, pp, rz, sz, rt, st] =
          batch.dots({{p, s}, {r, r}, {r, s}, {s, s}, {p, p}, {r, z}, {s, z}, {r, t}, {s, t}});
      at_ = {ps, rr, rs, ss, pp, rz, sz, rt, st};
    } else {
      const auto [ps, rr, rs, ss, pp] = batch.dots({{p, s}, {r, r}, {r, s}, {s, s}, {p, p}});
      at_ = {ps, rr, rs, ss, pp, rr, rs, rs, ss};
    }
    v_.constants->enterSums(batch, r, s, p, nullptr, &t);
  }
  void reduce(Progress<Types>& progress) {
    v_.batch->clear();
    enterProducts();
    progress.takeMeasure();
    product_.reduce(progress.system(), *v_.batch, v_.t());
    take();
  }

  /// An indefinite M has (r, z) < 0, so that a sign tells nothing of rounding: what is left of the terms does.
  Next next() const {
    const Scalar alpha = ratioOr(q_.rz, q_.ps, Scalar(0)), delta = (q_.rt + q_.sz) / 2;
    const Scalar middle = 2 * alpha * delta, last = alpha * alpha * q_.st, nu = q_.rz - middle + last;
    return {alpha, ratioOr(nu, q_.rz, Scalar(0)),
            hasCancelled(nu, std::abs(q_.rz) + std::abs(middle) + std::abs(last))};
  }

  /// One sweep; one more, and 1 M^{-1} or a reduction, where z is not z - alpha t or beta is not the predicted one.
  void advance(Progress<Types>& progress, Scalar alpha, Scalar beta, bool cancelled) {
    auto& system = progress.system();
    auto& constants = *v_.constants;
    const bool renew = v_.preconditioned && renewalIsDue(progress.seen().empty());
    const Scalar nu = q_.rz, shift = constants.active() ? alpha * constants.meanOf(constants.sums().t) : Scalar(0);
    SweepList<Types> sweep(v_.r().getLocalLength()), direction(v_.r().getLocalLength());
    sweep.axpy(alpha, v_.p(), progress.x());
    sweep.axpy(-alpha, v_.s(), v_.r());
    if (v_.preconditioned && !renew) sweep.axpy(-alpha, v_.t(), v_.z());
    if (shift != Scalar(0) && !renew) sweep.axpy(shift, constants.ones(v_.z()), v_.z());
    if (!renew && !cancelled) {
      product_.step(system, alpha, beta, shift);
      sweep.axpby(Scalar(1), v_.z(), beta, v_.p());
    }
    system.kernels().sweep(sweep);
    if (renew) {
      product_.replaced();
      v_.preconditionResidual(system);
    }
    if (cancelled) {  // (r, z) before p, as Hestenes and Stiefel do
      progress.system().tell(progress.stop().iterations(), "beta", "(r, M^-1 r) is reduced: its prediction cancels");
      v_.batch->clear();
      const auto rz = v_.preconditioned ? v_.batch->dot(v_.r(), v_.z()) : v_.batch->norm2(v_.r());
      system.reduce(*v_.batch);
      beta = ratioOr((*v_.batch)[rz], nu, Scalar(0));
      if (!renew) product_.step(system, alpha, beta, shift);
    }
    made_ = beta;
    if (!renew && !cancelled) return;
    direction.axpby(Scalar(1), v_.z(), beta, v_.p());
    system.kernels().sweep(direction);
  }

  /// Whether z = M^{-1} r replaces the recurrence: errors in t = M^{-1} s add up in z. Seldom where M is
  /// linear; where M is indefinite, convergence hangs on it.
  bool renewalIsDue(bool definite) {
    const int interval = hasStrayed() ? tuning::cg::renewalStrayed
                         : definite   ? tuning::cg::renewal
                                      : tuning::cg::renewalIndefinite;
    if (++sinceRenewal_ < interval) return false;
    sinceRenewal_ = 0;
    return true;
  }
  /// Whether (r, M^{-1} s) and (s, z) differ by more than rounding makes them: z is no longer M^{-1} r, or M is not
  /// symmetric.
  bool hasStrayed() const {
    return std::abs(q_.rt - q_.sz) > static_cast<Scalar>(tuning::cg::strayed) * (std::abs(q_.rt) + std::abs(q_.sz));
  }
  bool isNotLinear() { return doubtedSteps_ > 0 && !v_.constants->active() && --doubtedSteps_ >= 0 && hasStrayed(); }

  CgVectors<Types>& v_;
  Product product_;
  int doubtedSteps_ = 0, sinceRenewal_ = 0;
  bool rough_ = false;  ///< p is made with a beta of which nothing but rounding is left
  Scalar made_ = 0;     ///< the beta that p was made with; 0: p is z
  Products q_ = {};
  Slots at_;
};

}  // namespace capstan
