#pragma once
/// \file
/// BiCGStab with the vectors of its pipelined form, of which A p^ and A q^ are products again, no recurrences: what
/// that form hands over to. It goes on with the same x, residual, direction and shadow residual.
///
/// Source: [van der Vorst 1992], preconditioned from the right, as CAPSTAN BICGSTAB, in the letters of [Cools and
/// Vanroose 2017]. CAPSTAN BICGSTAB stores p and r and applies M^{-1} to them before a product; here p^ and r^ are
/// stored, since the pipeline has no p, and M^{-1} follows the product.
/// `line k` beside a statement: docs/methods/pipelined-bicgstab.md.
///
/// Cost of an iteration: 2 nonblocking reductions of 3 and 5 numbers, 2 A, 2 M^{-1}, 2 sweeps. Overlap: (r*, s) behind
/// M^{-1} s, the others behind M^{-1} y. Without a preconditioner the reductions are blocking. Storage: 5 vectors (8
/// with a preconditioner, 9 with a left and a right one).
///
/// The left column has the letters of [van der Vorst 1992].
///
/// | paper      | here           | shape               | meaning                                           |
/// |------------|----------------|---------------------|---------------------------------------------------|
/// | r, s       | r_             | n x 1, distributed  | residual; q = r - alpha s in its place            |
/// | r~_0       | shadow_        | n x 1, distributed  | shadow residual r*                                |
/// | y          | pHat_          | n x 1, distributed  | p^ = M^{-1} p, search direction of x              |
/// | v, t       | s_, y in w_    | n x 1, distributed  | s = A p^, y = A q^                                |
/// | z          | hat(r)         | n x 1, distributed  | q^ = M^{-1} q, in the place of r^ = M^{-1} r      |
/// |            | hat(s), hat(y) | n x 1, distributed  | M^{-1} s, M^{-1} y; s, y without a preconditioner |
/// | rho, alpha | rho, alpha     | scalars, replicated | (r*, r); rho / (r*, s)                            |
/// | omega      | omega          | scalar, replicated  | (q, y) / (y, y)                                   |

#include "belos_ext/solvers/bicgstab/bicgstab_cycles.hpp"
#include "tpetra_ext/reductions/pending_reduction.hpp"

namespace capstan {

template <class Types>
class UnpipelinedBiCgStab : public BiCgStabCycles<Types> {
 public:
  using Base = BiCgStabCycles<Types>;
  using typename Base::MultiVector;
  using typename Base::Scalar;
  using typename Base::Vector;

 protected:
  /// A cycle from r_, which is b - A x. Collective.
  Ending unpipelined(Progress<Types>& progress) {
    auto& system = progress.system();
    MultiVector &r = *this->r_, &shadow = *this->shadow_;
    system.kernels().axpby(Scalar(1), r, Scalar(0), shadow);  // r* = r
    hatOf(system, r, rHat_);
    const Scalar rr = this->square_;
    return goOn(progress, {std::sqrt(rr), rr, rr, Scalar(0), Scalar(0)});
  }

  /// The scalars of an iteration that has ended.
  struct Scalars {
    Scalar length;       ///< || r* ||
    Scalar rr, rho;      ///< (r, r) and (r*, r)
    Scalar beta, omega;  ///< p^ = r^ + beta (p^ - omega s^) comes next
  };

  /// Goes on where an iteration has ended: from x, r, r^, and the p^, s, s^ of that iteration. Collective.
  Ending goOn(Progress<Types>& progress, const Scalars& from) {
    auto& system = progress.system();
    auto [length, rr, rho, beta, omega] = from;
    auto& kernels = system.kernels();
    auto& batch = *batch_;
    MultiVector &r = *this->r_, &shadow = *this->shadow_, &s = *s_, &y = *w_;
    SweepList<Types> first(r.getLocalLength());
    turn(first, beta, omega);
    kernels.sweep(first);
    for (double peak = 0;;) {  // line 1
      batch.clear();
      const auto sigma = batch.dot(shadow, s), ss = batch.norm2(s), rs = batch.dot(r, s);  // line 2
      multiply(system, *pHat_, s, sHat_);                                                  // line 2: s = A p^, s^
      if (!std::isfinite(batch[sigma])) return Ending::NotFinite;
      if (isRounding(batch[sigma], length * std::sqrt(batch[ss]))) return Ending::Breakdown;
      const Scalar alpha = rho / batch[sigma];  // line 3
      const auto ofQ = predictNorm(rr, batch[rs], batch[ss], alpha);
      if (const auto ending = this->followHalf(progress, alpha, *pHat_, ofQ)) return *ending;
      SweepList<Types> half(r.getLocalLength());
      half.axpy(-alpha, s, r);                                 // line 3: q, q^
      if (preconditioned_) half.axpy(-alpha, *sHat_, *rHat_);  // line 3
      kernels.sweep(half);

      batch.clear();
      const auto qy = batch.dot(r, y), yy = batch.norm2(y), qq = batch.norm2(r);  // line 4
      const auto shadowQ = batch.dot(shadow, r), shadowY = batch.dot(shadow, y);  // line 4
      multiply(system, hat(r, rHat_), y, wHat_);                                  // line 4: y = A q^, y^
      omega = batch[yy] > 0 ? batch[qy] / batch[yy] : Scalar(0);                  // line 5
      if (!std::isfinite(omega) || !std::isfinite(alpha)) return Ending::NotFinite;
      const Scalar next = batch[shadowQ] - omega * batch[shadowY];  // line 6: (r*, r), not reduced
      const bool vanishes = isRounding(batch[qy], std::sqrt(batch[qq]) * std::sqrt(batch[yy]));
      beta = vanishes ? Scalar(0) : (next / rho) * (alpha / omega);  // line 6
      const bool last = vanishes || !std::isfinite(beta);
      const auto predicted = predictNorm(batch[qq], batch[qy], batch[yy], omega);
      // A norm that has cancelled is not known yet, but has fallen.
      const bool refreshes = preconditioned_ && (predicted.cancelled || fallenFrom(peak, predicted.norm));
      step(system, this->stepOfP(alpha), omega, last ? Scalar(0) : beta, refreshes, progress.x());  // lines 5, 6

      if (const auto ending = progress.follow(predicted)) return *ending;
      const double norm = progress.recursive();
      if (last || isRounding(next, length * static_cast<Scalar>(norm))) return Ending::Breakdown;
      if (refreshes) peak = norm;
      rho = next;
      rr = static_cast<Scalar>(norm) * static_cast<Scalar>(norm);
    }
  }

  /// Whether the residual has fallen so far that what recurrences make of it has lost half its digits.
  /// \param peak the largest one so far, which is updated
  static bool fallenFrom(double& peak, double norm) {
    peak = std::max(peak, norm);
    return norm <= std::sqrt(static_cast<double>(std::numeric_limits<Scalar>::epsilon())) * peak;
  }

  /// hat = M^{-1} vector, where there is a preconditioner.
  void hatOf(LinearSystem<Types>& system, const MultiVector& vector, const Vector& hat) {
    if (preconditioned_) system.precondition(vector, between_.get(), *hat);
  }
  MultiVector& hat(MultiVector& vector, const Vector& hat) { return preconditioned_ ? *hat : vector; }

  void allocate(LinearSystem<Types>& system, const MultiVector& b) override {
    preconditioned_ = system.preconditioned();
    for (Vector* vector : {&pHat_, &s_, &w_}) vectorLike(b, *vector);
    for (Vector* vector : {&rHat_, &sHat_, &wHat_}) {
      if (preconditioned_) vectorLike(b, *vector);
    }
    if (system.hasLeft() && system.hasRight()) vectorLike(b, between_);
    this->make(batch_, b);
  }

  bool preconditioned_ = false;
  Vector pHat_, s_, w_, rHat_, sHat_, wHat_;

 private:
  /// out = A in, outHat = M^{-1} out, and the reduction of batch_, which may hold inner products with `out`.
  void multiply(LinearSystem<Types>& system, const MultiVector& in, MultiVector& out, const Vector& outHat) {
    if (!preconditioned_) return system.applyAndReduce(in, out, *batch_);
    system.act(Action::Operator, in, out);
    PendingReduction<Types> sums = system.start(*batch_);
    hatOf(system, out, outHat);
    sums.wait();
  }

  /// p^ = r^ + beta (p^ - omega s^).
  void turn(SweepList<Types>& sweep, Scalar beta, Scalar omega) {
    if (beta != Scalar(0)) sweep.axpy(-omega, hat(*s_, sHat_), *pHat_);  // line 6
    sweep.axpby(Scalar(1), hat(*this->r_, rHat_), beta, *pHat_);         // line 6
  }

  /// x += alpha p^ + omega q^, r = q - omega y, r^ = q^ - omega y^, and the next p^. One sweep.
  /// \param refreshes r^ = M^{-1} r instead: 1 M^{-1} and one more sweep
  void step(LinearSystem<Types>& system, Scalar alpha, Scalar omega, Scalar beta, bool refreshes, MultiVector& x) {
    MultiVector& r = *this->r_;
    SweepList<Types> sweep(r.getLocalLength()), direction(r.getLocalLength());
    sweep.axpy(alpha, *pHat_, x);                                           // line 5
    sweep.axpy(omega, hat(r, rHat_), x);                                    // line 5
    sweep.axpy(-omega, *w_, r);                                             // line 5
    if (preconditioned_ && !refreshes) sweep.axpy(-omega, *wHat_, *rHat_);  // line 5
    turn(refreshes ? direction : sweep, beta, omega);
    system.kernels().sweep(sweep);
    if (!refreshes) return;
    hatOf(system, r, rHat_);
    system.kernels().sweep(direction);
  }

  Vector between_;
  std::unique_ptr<ReductionBatch<Types>> batch_;
};

}  // namespace capstan
