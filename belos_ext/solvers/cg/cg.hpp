#pragma once
/// \file
/// Preconditioned conjugate gradients with one reduction an iteration and the rounding behaviour of Hestenes and
/// Stiefel's.
///
/// Source: [Chen and Carson 2020], predict-and-recompute CG (PR-CG), preconditioned; [Hestenes and Stiefel 1952]. Other
/// forms with one reduction ([Chronopoulos and Gear 1989]) derive (p, A p) from symmetry, and lose convergence where a
/// pressure is pinned by a row whose column is kept.
/// `line k` beside a statement: docs/methods/cg.md.
///
/// The first steps with a costly M, and all with one that is not linear, have another form: flexible_cg.hpp.
///
/// Cost of an iteration: 1 reduction of 9 numbers (5 without a preconditioner), 1 A, 1 M^{-1}, all updates in one sweep
/// (6 vectors read, 4 written; without a preconditioner 4 and 3). A solve of n iterations: n + 1 reductions, n + 2 A
/// (the first and the last residual among them), n + 1 M^{-1}. Storage: 5 vectors (3 without a preconditioner), 1 more
/// with a left and a right one, 1 more with a guess that is not zero. Overlap: none.
/// With a diagonal M: 1 M^{-1} a solve, and none after it; 4 vectors read for the inner products, then 5 read and 3
/// written; storage: 4 vectors. z and t are not stored, as M^{-1} is a vector D: (r, z) = (r, D r).
///
/// | paper   | here   | shape              | meaning                                                    |
/// |---------|--------|--------------------|------------------------------------------------------------|
/// | r       | r      | n x 1, distributed | recursive residual of b - A x                              |
/// | r tilde | z      | n x 1, distributed | M^{-1} r by recurrence (r itself without a preconditioner) |
/// | p, s    | p, s   | n x 1, distributed | search direction and A p                                   |
/// | s tilde | t      | n x 1, distributed | M^{-1} s (s itself without a preconditioner)               |
/// | nu, mu  | rz, ps | scalar, replicated | (r, z) and (p, s)                                          |
/// | delta   | rt, sz | scalar, replicated | (r, t), and (s, z) where M is not symmetric: their mean    |
/// | gamma   | st     | scalar, replicated | (s, t)                                                     |
///
/// The norm of the next residual is predicted as nu is, so that a solve ends without a product that nobody needs.
///
/// Rows that hold a diagonal alone are solved first, and every vector is kept at zero there. What is done about
/// constants that A annihilates, and what it takes: constant_null_space.hpp. A may be negative definite, and so may M:
/// the steps are those with -A and -b, or with -M. (p, A p) < 0 or (r, M^{-1} r) < 0 alone: go on, as Hestenes and
/// Stiefel's does.

#include "belos_ext/solvers/cg/cg_vectors.hpp"
#include "belos_ext/solvers/cg/plain_product.hpp"

namespace capstan::tuning::cg {
/// Iterations between renewals of z where M is indefinite; half as many where z is no longer M^{-1} r. Measured:
/// nasa4704 with RILU(0) takes 735 iterations never renewed, 525 renewed every 20, 522 every 10, 511 always; Belos'
/// TPETRA CG 534.
inline constexpr int renewalIndefinite = 10;
}  // namespace capstan::tuning::cg

namespace capstan {

/// \tparam Product how s = A p and t = M^{-1} s come by what they need of other ranks: PlainProduct, or one like it
template <class Types, class Product = PlainProduct<Types>>
class Cg {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  static constexpr bool isFirst = Product::recurs;  ///< whether a solve begins with this form, whatever M costs

  using Options = typename Product::Options;
  static Cost cost(const SolverOptions&, bool preconditioned) {
    if (preconditioned) return {1, 1, 1, 5, 26, 8 * (6 + 4 + 5)};
    return {1, 1, 1, 3, 16, 8 * (4 + 3 + 3)};
  }

  explicit Cg(CgVectors<Types>& vectors) : v_(vectors) {}

  /// \param costly M is more than a diagonal: it may not be linear. Local.
  void prepare(bool costly) {
    isDiagonal_ = !costly && !Product::recurs && v_.preconditioned;
    doubtedSteps_ = costly ? tuning::preconditioner::firstSteps : 0;
    product_.replaced();
  }

  /// z = M^{-1} r, p = z, s = A p, t = M^{-1} s, and their inner products.
  void enter(LinearSystem<Types>& system) {
    if (isDiagonal_ && !v_.constants->active()) v_.takeDiagonal(system);
    beginAt(system, Start::Anew);
    system.act(Action::Operator, v_.p(), v_.s());  // nothing is carried yet: the solve may be over after the reduction
    if (v_.isStored()) system.precondition(v_.s(), v_.between(), v_.t());
    enterInnerProducts();
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
    for (;; multiply(system), reduce(progress)) {  // lines 3, 9, 10: s = A p, t = M^{-1} s, all inner products
      if (v_.isConstant(q_.pp)) {
        v_.projectDirection(progress);
        replaced(system), reduce(progress);
      }
      if (isNotLinear()) return Ending::OtherForm;
      const Scalar alpha = ratioOr(q_.rz, q_.ps, Scalar(0)), beta = nextBeta(alpha);  // lines 4, 6, 8
      const CgStep<Scalar> step{alpha, beta, v_.made, q_.ps, q_.rz, q_.sz, q_.rr, q_.pp, q_.ss};
      const auto add = [&](MultiVector& x) { system.kernels().sweep(axpy(alpha, v_.p(), x)); };
      if (const auto ending = progress.admits(step, false, add)) return *ending;
      const auto norm = predictNorm(q_.rr, q_.rs, q_.ss, alpha);      // line 7
      advance(progress, alpha, beta);                                 // lines 5, 8
      if (const auto ending = progress.follow(norm)) return *ending;  // line 7
    }
  }

 private:
  template <class Number>
  struct InnerProducts {
    Number ps, rr, rs, ss, pp, rz, sz, rt, st;
  };

  void begin(Progress<Types>& progress, Start start) {
    auto& system = progress.system();
    if (start == Start::First) {
      const bool replaces = v_.constants->takesOutOfFirst(system, progress.stop(), q_.rr, q_.ss, v_.r());
      if (!replaces) return system.startUpEnds(1, v_.scales() ? 0 : 1);
      start = Start::Anew;
    }
    if (start == Start::Made) {
      sinceRenewal_ = 0;
      product_.replaced();
      if (v_.isStored()) system.precondition(v_.s(), v_.between(), v_.t());
    } else {
      if (start != Start::GoOn) beginAt(system, start);
      multiply(system);
    }
    reduce(progress);
  }
  /// z = M^{-1} r, and p = z but where the direction stays.
  void beginAt(LinearSystem<Types>& system, Start start) {
    product_.replaced();
    v_.preconditionResidual(system);  // line 1
    sinceRenewal_ = 0;
    if (start == Start::Direction) return;
    if (v_.scales()) {
      system.kernels().sweep(scaledAxpby(v_.d(), v_.r(), Scalar(0), v_.p()));  // line 1
    } else {
      system.kernels().scale(Scalar(1), v_.z(), v_.p());  // line 1
    }
    v_.made = 0;
  }

  void multiply(LinearSystem<Types>& system) {
    product_.multiply(system, v_.z(), v_.p(), v_.s());                               // lines 1, 9
    if (v_.isStored()) product_.precondition(system, v_.s(), v_.between(), v_.t());  // lines 1, 9
  }
  /// The same with a p and a z that are not those of the recurrences.
  void replaced(LinearSystem<Types>& system) {
    product_.replaced();
    multiply(system);
  }

  void enterInnerProducts() {
    auto& batch = *v_.batch;
    const MultiVector &r = v_.r(), &p = v_.p(), &s = v_.s(), &z = v_.z(), &t = v_.t();
    if (v_.scales()) {
      const MultiVector* const d = &v_.d();
      const auto [ps, rr, rs, ss, pp, rz, sz, st] =
          batch.dots({{p, s}, {r, r}, {r, s}, {s, s}, {p, p}, {r, r, d}, {s, r, d}, {s, s, d}});
      at_ = {ps, rr, rs, ss, pp, rz, sz, sz, st};
      return v_.constants->enterSums(batch, r, s, p, nullptr, nullptr);  // not active: z and t were stored then
    }
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
    enterInnerProducts();
    progress.takeMeasure();
    product_.reduce(progress.system(), *v_.batch, v_.t());  // lines 2, 10
    take();
  }

  /// beta from the next (r, z). 0 where nothing but rounding is left of that: beta is 1e-12 then, or less, and another
  /// one that small makes p worse than none. An indefinite M has (r, z) < 0, so that a sign tells nothing of rounding.
  Scalar nextBeta(Scalar alpha) const {
    const Scalar middle = alpha * (q_.rt + q_.sz), last = alpha * alpha * q_.st, nu = q_.rz - middle + last;  // line 6
    const bool cancelled = hasCancelled(nu, std::abs(q_.rz) + std::abs(middle) + std::abs(last));
    return cancelled ? Scalar(0) : ratioOr(nu, q_.rz, Scalar(0));  // line 8
  }

  /// x += alpha p, r -= alpha s, z -= alpha t, p = z + beta p: one sweep. Two, and 1 M^{-1}, where z is renewed.
  void advance(Progress<Types>& progress, Scalar alpha, Scalar beta) {
    auto& system = progress.system();
    auto& constants = *v_.constants;
    if (v_.scales()) {
      v_.made = beta;
      return system.kernels().sweep(axpy(alpha, v_.p(), progress.x()), axpy(-alpha, v_.s(), v_.r()),  // line 5
                                    scaledAxpby(v_.d(), v_.r(), beta, v_.p()));                       // line 8
    }
    const bool renew = v_.preconditioned && renewalIsDue(progress.seen() == Cause::None);
    SweepList<Types> sweep(v_.r().getLocalLength());
    sweep.axpy(alpha, v_.p(), progress.x());  // line 5
    sweep.axpy(-alpha, v_.s(), v_.r());       // line 5
    v_.made = beta;
    if (renew) {
      system.kernels().sweep(sweep);
      product_.replaced();
      v_.preconditionResidual(system);
      return system.kernels().axpby(Scalar(1), v_.z(), beta, v_.p());
    }
    const Scalar shift = constants.active() ? alpha * constants.meanOf(constants.sums().t) : Scalar(0);
    product_.step(system, alpha, beta, shift);
    if (v_.preconditioned) sweep.axpy(-alpha, v_.t(), v_.z());  // line 5
    if (shift != Scalar(0)) sweep.axpy(shift, constants.ones(v_.z()), v_.z());
    sweep.axpby(Scalar(1), v_.z(), beta, v_.p());  // line 8
    system.kernels().sweep(sweep);
  }

  /// Whether z = M^{-1} r replaces the recurrence: errors in t = M^{-1} s add up in z. Seldom where M is
  /// linear; where M is indefinite, convergence hangs on it.
  bool renewalIsDue(bool definite) {
    const int interval = hasStrayed() ? tuning::cg::renewalIndefinite / 2
                         : definite   ? tuning::preconditioner::renewal
                                      : tuning::cg::renewalIndefinite;
    if (++sinceRenewal_ < interval) return false;
    sinceRenewal_ = 0;
    return true;
  }
  /// Whether (r, M^{-1} s) and (s, z) differ by more than rounding makes them: z is no longer M^{-1} r, or M is not
  /// symmetric.
  bool hasStrayed() const {
    return std::abs(q_.rt - q_.sz) >
           static_cast<Scalar>(tuning::preconditioner::unequal) * (std::abs(q_.rt) + std::abs(q_.sz));
  }
  bool isNotLinear() { return doubtedSteps_ > 0 && !v_.constants->active() && --doubtedSteps_ >= 0 && hasStrayed(); }

  CgVectors<Types>& v_;
  Product product_;
  bool isDiagonal_ = false;  ///< M is one
  int doubtedSteps_ = 0, sinceRenewal_ = 0;
  InnerProducts<Scalar> q_ = {};
  InnerProducts<typename ReductionBatch<Types>::Slot> at_;
};

}  // namespace capstan
