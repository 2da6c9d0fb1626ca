#pragma once
/// \file
/// Preconditioned conjugate residuals with one reduction an iteration, and their pipelined form.
///
/// Source: [Stiefel 1955]; [Saad 2003], algorithm 6.20, with M as the inner product. The vectors are those of
/// [Chronopoulos and Gear 1989], s = w + beta s with w = A z, so that one reduction is enough; the product that alpha
/// divides by is predicted from measured ones before s is made, and recomputed from s in the next reduction, as [Chen
/// and Carson 2020] do for CG. Pipelined: the conjugate residuals of [Ghysels and Vanroose 2014], where w has a
/// recurrence, too, and A hides the reduction.
/// `line k` beside a statement: docs/methods/cr.md and pipelined-cr.md.
///
/// Each step makes (r, M^{-1} r) least along p: without M the norm that the tolerance is asked of, whatever A is; CG
/// makes the error in the norm of A least. A and M may be negative definite.
///
/// Cost of an iteration: 1 reduction of 6 numbers (14 with a preconditioner), 1 fence, 1 A, 1 M^{-1}, all updates in
/// one sweep (5 vectors read, 4 written; 8 and 6 with a preconditioner; pipelined 7 and 6, 10 and 8). A solve of n
/// iterations: n + 1 reductions, n + 2 A (the first and the last residual among them), n + 1 M^{-1}; pipelined 1 A
/// more. M^{-1} once more every 100 iterations, pipelined both every 50. Storage: 4 vectors (7 with a preconditioner),
/// pipelined 6 (9), 1 more with a left and a right one, 1 more with a guess that is not zero. Overlap: pipelined the
/// reduction and A.
///
/// | paper       | here        | shape               | meaning                                                   |
/// |-------------|-------------|---------------------|-----------------------------------------------------------|
/// | r           | r           | n x 1, distributed  | recursive residual of b - A x                             |
/// | u           | z           | n x 1, distributed  | M^{-1} r by recurrence (r itself without M)               |
/// | w           | w           | n x 1, distributed  | A z; by recurrence where pipelined                        |
/// | m           | m           | n x 1, distributed  | M^{-1} w (w itself without M)                             |
/// | n           | n           | n x 1, distributed  | A m, where pipelined                                      |
/// | p, s        | p, s        | n x 1, distributed  | search direction and A p                                  |
/// | q           | t           | n x 1, distributed  | M^{-1} s (s itself without M)                             |
/// | z           | y           | n x 1, distributed  | A t, where pipelined                                      |
/// | gamma       | zs          | scalar, replicated  | (z, s) of the next s, which is (z, A z) where A is        |
/// |             |             |                     | symmetric                                                 |
/// | delta       | mu          | scalar, replicated  | (s, t) of the next s and t                                |
/// | alpha, beta | alpha, beta | scalars, replicated | the step; what makes the next s orthogonal to t           |
///
/// beta = -(w, t) / (s, t) and alpha = (z, s) / (s, t) are measured, not derived from symmetry: where A is not quite
/// symmetric, as with a row that pins a pressure, the residual still falls. z -= alpha t asks for an M that is linear
/// and symmetric. Where the first steps see another, that is the end of the cycle.

#include <array>

#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/supervision/progress.hpp"
#include "belos_ext/support/bounded_quotients.hpp"
#include "tpetra_ext/reductions/pending_reduction.hpp"

namespace capstan::tuning::cr {
/// Iterations between products w = A z of the pipelined form, which otherwise follows w by a recurrence. Measured
/// without M: 1138_bus, nos7 and msc01440 take 2208, 1017 and 4465 iterations never renewed, 1992, 463 and 3462 every
/// 100, 1961, 430 and 3435 every 50, 1946, 417 and 3417 every 20; w = A z always 1912, 393 and 3345.
inline constexpr int renewal = 50;
}  // namespace capstan::tuning::cr

namespace capstan {

template <class Types, bool pipelined>
class ConjugateResiduals final : public Method<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Vector = Teuchos::RCP<MultiVector>;
  using Batch = ReductionBatch<Types>;
  using Slot = typename Batch::Slot;

  static constexpr Treatment treatment = [] {
    Treatment how;
    how.symmetric = how.replaces = how.judges = true;
    return how;
  }();

  static Cost cost(const SolverOptions&, bool preconditioned) {
    if (pipelined)
      return preconditioned ? Cost{1, 1, 1, 9, 44, 8 * (10 + 8 + 6), 2} : Cost{1, 1, 1, 6, 24, 8 * (7 + 6 + 3), 2};
    return preconditioned ? Cost{1, 1, 1, 7, 40, 8 * (8 + 6 + 6)} : Cost{1, 1, 1, 4, 20, 8 * (5 + 4 + 3)};
  }

  using Options = std::conditional_t<pipelined, MethodOptions<SymmetricOptions, FallbackOptions, HiddenOptions>,
                                     MethodOptions<SymmetricOptions, FallbackOptions>>;

  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>& judged) override {
    batch_ = &judged.batch();
    constants_ = &judged.constants();
    preconditioned_ = system.preconditioned();
    for (Vector* vector : {&r_, &w_, &p_, &s_}) vectorLike(b, *vector);
    for (Vector* vector : {&z_, &m_, &t_}) {
      if (preconditioned_) vectorLike(b, *vector);
    }
    for (Vector* vector : {&n_, &y_}) {
      if (pipelined) vectorLike(b, *vector);
    }
    if (system.hasLeft() && system.hasRight()) vectorLike(b, between_);
    follows_ = false;
    sinceRenewal_ = 0;
  }
  Vector& residual() override { return r_; }

  /// z = M^{-1} r, w = A z, m = M^{-1} w, and their products.
  void enter(LinearSystem<Types>& system, Batch&) override {
    follows_ = false;
    precondition(system, *r_, z());
    multiply(system);
    enterProducts();
  }
  void take(LinearSystem<Types>&) override { takeProducts(); }

  Ending cycle(Progress<Types>& progress, Start start) override {
    auto& system = progress.system();
    begin(progress, start);
    for (;; advance(progress)) {     // lines 2 to 4: w = A z, m = M^{-1} w, and the products
      const Step next = nextStep();  // lines 5, 6
      const Scalar alpha = next.alpha, beta = next.beta;
      const Scalar pp = boundOfDirection(beta), image = pp * ratioOr(q_.ww, q_.zz, Scalar(0));
      const auto add = [&](MultiVector& x) {
        system.kernels().sweep(axpy(alpha, z(), x));
        if (beta != Scalar(0)) system.kernels().sweep(axpy(alpha * beta, *p_, x));
      };
      if (const auto ending =
              progress.admits({alpha, beta, beta, q_.zw, q_.rz, q_.zw, q_.rr, pp, image}, strayed(), add))
        return *ending;
      if (strayed() && progress.steps() <= tuning::preconditioner::firstSteps) return Ending::NotLinear;
      if (constants_->dominates(constants_->sums().p, q_.zz)) return Ending::Unfit;

      const PredictedNorm norm = predictNorm(q_.rr, next.rs, next.ss, alpha);  // line 9
      SweepList<Types> sweep(r_->getLocalLength());
      sweep.axpby(Scalar(1), z(), beta, *p_);                       // line 7: p = z + beta p
      sweep.axpby(Scalar(1), *w_, beta, *s_);                       // line 7: s = w + beta s
      if (preconditioned_) sweep.axpby(Scalar(1), *m_, beta, *t_);  // line 7: t = m + beta t
      if (pipelined) sweep.axpby(Scalar(1), *n_, beta, *y_);        // line 7: y = n + beta y
      sweep.axpy(alpha, *p_, progress.x());                         // line 8: x = x + alpha p
      sweep.axpy(-alpha, *s_, *r_);                                 // line 8: r = r - alpha s
      if (preconditioned_) sweep.axpy(-alpha, t(), z());            // line 8: z = z - alpha t
      if (pipelined) sweep.axpy(-alpha, *y_, *w_);                  // line 8: w = w - alpha y
      system.kernels().sweep(sweep);
      follows_ = true;
      boundOfP_ = pp;
      if (const auto ending = progress.follow(norm)) return *ending;  // line 9
    }
  }

  bool keepsDirection() const override { return true; }

 private:
  /// What one reduction brings: of the current r, z, w, m, and of the last s and t.
  struct Products {
    Scalar rr = 0, rw = 0, ww = 0, rz = 0, zw = 0, wm = 0, zz = 0;
    Scalar rs = 0, ws = 0, ss = 0, zs = 0, wt = 0, sm = 0, st = 0;
  };
  /// With (r, s) and (s, s) of the s that it makes.
  struct Step {
    Scalar alpha, beta, rs, ss;
  };

  Step nextStep() const {
    Scalar beta = follows_ ? ratioOr(-q_.wt, q_.st, Scalar(0)) : Scalar(0);  // line 5
    if (!std::isfinite(beta)) beta = 0;
    const Scalar middle = beta * (q_.wt + q_.sm), last = beta * beta * q_.st;  // line 5
    Scalar mu = q_.wm + middle + last;                                         // line 5
    // Nothing is left of (s, t): p = z.
    if (hasCancelled(mu, std::abs(q_.wm) + std::abs(middle) + std::abs(last))) beta = 0, mu = q_.wm;
    const Scalar zs = q_.zw + beta * q_.zs, ss = q_.ww + 2 * beta * q_.ws + beta * beta * q_.ss;  // line 6
    return {ratioOr(zs, mu, Scalar(0)), beta, q_.rw + beta * q_.rs, std::max(ss, Scalar(0))};     // line 6
  }

  /// Whether (w, M^{-1} s) and (s, M^{-1} w) differ by more than rounding: M is not linear and symmetric.
  bool strayed() const {
    if (!preconditioned_ || !follows_) return false;
    const Scalar most = std::sqrt(std::abs(q_.wm)) * std::sqrt(std::abs(q_.st));
    const Scalar bound = static_cast<Scalar>(tuning::preconditioner::unequal) * (std::abs(q_.wt) + std::abs(q_.sm));
    return std::abs(q_.wt - q_.sm) > bound && !hasCancelled(q_.wt, most) && !hasCancelled(q_.sm, most);
  }

  /// (p, p) of z + beta p, or more.
  Scalar boundOfDirection(Scalar beta) const {
    if (beta == Scalar(0)) return q_.zz;
    const Scalar norm = std::sqrt(q_.zz) + std::abs(beta) * std::sqrt(boundOfP_);
    return norm * norm;
  }

  /// The products of the first step. Collective.
  void begin(Progress<Types>& progress, Start start) {
    auto& system = progress.system();
    if (start == Start::First) {
      if (!constants_->takesOutOfFirst(system, progress.stop(), q_.rr, q_.ww, *r_)) {
        system.startUpEnds(1, 1);
        if (pipelined) system.act(Action::Operator, m(), *n_);
        return;
      }
      start = Start::Anew;
    }
    if (start == Start::GoOn) return advance(progress);
    if (start == Start::Anew) follows_ = false;
    precondition(system, *r_, z());                         // line 1
    if (pipelined) system.act(Action::Operator, z(), *w_);  // line 1
    if (follows_) {                                         // s, t and y without what rounding has made of them
      system.act(Action::Operator, *p_, *s_);
      precondition(system, *s_, t());
      if (pipelined) system.act(Action::Operator, t(), *y_);
    }
    sinceRenewal_ = 0;
    advance(progress);
  }

  /// w = A z, m = M^{-1} w, and the one reduction; pipelined m = M^{-1} w, and n = A m while it is under way. The
  /// norm of the tolerance goes with a reduction that blocks, where a claim is near. Collective.
  void advance(Progress<Types>& progress) {
    auto& system = progress.system();
    constexpr int interval = pipelined ? tuning::cr::renewal : tuning::preconditioner::renewal;
    if ((preconditioned_ || pipelined) && follows_ && ++sinceRenewal_ >= interval) {
      precondition(system, *r_, z());
      if (pipelined) system.act(Action::Operator, z(), *w_);
      sinceRenewal_ = 0;
    }
    if (!pipelined) progress.takeMeasure();
    batch_->clear();
    if (pipelined) {
      precondition(system, *w_, m());  // line 3
      enterProducts();
      PendingReduction<Types> products = system.start(*batch_);  // line 4
      system.act(Action::Operator, m(), *n_);                    // line 4
      products.wait();                                           // line 4
    } else if (preconditioned_) {
      multiply(system);  // line 3
      enterProducts();
      system.reduce(*batch_);  // line 4
    } else {
      enterProducts();
      system.applyAndReduce(z(), *w_, *batch_);  // lines 3, 4
    }
    takeProducts();
  }

  void multiply(LinearSystem<Types>& system) {
    system.act(Action::Operator, z(), *w_);  // line 3
    precondition(system, *w_, m());          // line 3
  }
  void precondition(LinearSystem<Types>& system, const MultiVector& in, MultiVector& out) {
    if (preconditioned_) system.precondition(in, between_.get(), out);
  }

  void enterProducts() {
    auto& batch = *batch_;
    const MultiVector &r = *r_, &z = this->z(), &w = *w_, &m = this->m(), &s = *s_, &t = this->t();
    if (!preconditioned_ && !follows_) {
      const auto [rr, rw, ww] = batch.dots({{r, r}, {r, w}, {w, w}});
      slots_ = {rr, rw, ww, rr, rw, ww, rr};
    } else if (!preconditioned_) {
      const auto [rr, rw, ww, rs, ws, ss] = batch.dots({{r, r}, {r, w}, {w, w}, {r, s}, {w, s}, {s, s}});
      slots_ = {rr, rw, ww, rr, rw, ww, rr, rs, ws, ss, rs, ws, ws, ss};
    } else if (!follows_) {
      const auto of = batch.dots({{r, r}, {r, w}, {w, w}, {r, z}, {z, w}, {w, m}, {z, z}});
      std::copy(of.begin(), of.end(), slots_.begin());
    } else {
      slots_ = batch.dots({{r, r},
                           {r, w},
                           {w, w},
                           {r, z},
                           {z, w},
                           {w, m},
                           {z, z},
                           {r, s},
                           {w, s},
                           {s, s},
                           {z, s},
                           {w, t},
                           {s, m},
                           {s, t}});
    }
    constants_->enterSums(batch, r, w, z, nullptr, nullptr);
  }
  void takeProducts() {
    const auto of = [this](int i) { return (*batch_)[slots_[static_cast<std::size_t>(i)]]; };
    q_ = {of(0), of(1), of(2), of(3), of(4), of(5), of(6)};
    if (!follows_) return constants_->takeSums(*batch_);
    q_ = {of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7), of(8), of(9), of(10), of(11), of(12), of(13)};
    constants_->takeSums(*batch_);
  }

  MultiVector& z() { return preconditioned_ ? *z_ : *r_; }
  MultiVector& m() { return preconditioned_ ? *m_ : *w_; }
  MultiVector& t() { return preconditioned_ ? *t_ : *s_; }

  bool preconditioned_ = false;
  bool follows_ = false;  ///< p, s and t are those of a last step
  int sinceRenewal_ = 0;  ///< of z, and of w where pipelined, steps
  Scalar boundOfP_ = 0;   ///< of (p, p)
  Products q_;
  Batch* batch_ = nullptr;                         ///< of the solve
  ConstantNullSpace<Types>* constants_ = nullptr;  ///< of the solve
  std::array<Slot, 14> slots_;
  Vector r_, z_, w_, m_, n_, p_, s_, t_, y_, between_;
};

}  // namespace capstan
