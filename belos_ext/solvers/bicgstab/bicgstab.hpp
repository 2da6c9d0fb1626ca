#pragma once
/// \file
/// BiCGStab with merged reductions.
///
/// Source: [van der Vorst 1992], preconditioned from the right, in the letters of [Cools and Vanroose 2017], which the
/// pipelined form needs; (r*, r) and (r, r) of the next residual come from the inner products of q and y, reduced
/// together.
/// `line k` beside a statement: docs/methods/bicgstab.md.
///
/// Cost of an iteration: 2 reductions of 3 and 5 numbers, 2 A, 2 M^{-1}, 2 sweeps (q; then x, r and p: 5 vectors
/// read, 7 with a preconditioner, 3 written). Storage: 5 vectors (7 with a preconditioner, 8 with a left and a right
/// one), one more where a claim is examined, after a restart or for a guess that is not zero. Overlap: none.
///
/// The left column has the letters of [van der Vorst 1992].
///
/// | paper      | here           | shape               | meaning                                           |
/// |------------|----------------|---------------------|---------------------------------------------------|
/// | r, s       | r_             | n x 1, distributed  | residual; after half an iteration q = r - alpha s |
/// | r~_0       | shadow_        | n x 1, distributed  | shadow residual r*, fixed in a cycle              |
/// | p, v       | p_, s_         | n x 1, distributed  | search direction, s = A p^                        |
/// | y, z       | pHat(), qHat() | n x 1, distributed  | p^ = M^{-1} p and q^ = M^{-1} q; p, q without M   |
/// | t          | y_             | n x 1, distributed  | y = A q^                                          |
/// | rho, alpha | rho, alpha     | scalars, replicated | (r*, r); rho / (r*, s)                            |
/// | omega      | omega          | scalar, replicated  | (q, y) / (y, y)                                   |

#include "belos_ext/solvers/bicgstab/bicgstab_cycles.hpp"

namespace capstan {

template <class Types>
class BiCgStab final : public BiCgStabCycles<Types> {
 public:
  using Base = BiCgStabCycles<Types>;
  using typename Base::MultiVector;
  using typename Base::Scalar;
  using typename Base::Vector;

  using Options = MethodOptions<FallbackOptions>;
  static Cost cost(const SolverOptions&, bool preconditioned) {
    const double read = preconditioned ? 7 : 5;  // by the second sweep
    return {2, 2, 2, preconditioned ? 7.0 : 5.0, 28, 8 * (3 + 3 + 3 + read + 3)};
  }

 private:
  Ending iterate(Progress<Types>& progress) override {
    auto& system = progress.system();
    auto& kernels = system.kernels();
    auto& batch = *batch_;
    MultiVector &r = *this->r_, &shadow = *this->shadow_, &p = *p_, &s = *s_, &y = *y_;
    kernels.sweep(axpby(Scalar(1), r, Scalar(0), shadow), axpby(Scalar(1), r, Scalar(0), p));  // line 1: r* = r, p = r
    const Scalar length = std::sqrt(this->square_);
    Scalar rr = this->square_;          // line 1
    for (Scalar rho = rr;;) {           // lines 1, 2
      precondition(system, p, pHat());  // line 3
      batch.clear();
      const auto sigma = batch.dot(shadow, s), ss = batch.norm2(s), rs = batch.dot(r, s);  // line 4
      progress.takeMeasure();
      system.applyAndReduce(pHat(), s, batch);  // lines 3, 4: s = A p^
      progress.tookMeasure(std::sqrt(static_cast<double>(rr)));
      if (!std::isfinite(batch[sigma])) return Ending::NotFinite;
      if (isRounding(batch[sigma], length * std::sqrt(batch[ss]))) return Ending::Breakdown;
      const Scalar alpha = rho / batch[sigma];  // line 5
      const auto ofQ = predictNorm(rr, batch[rs], batch[ss], alpha);
      if (const auto ending = this->followHalf(progress, alpha, pHat(), ofQ)) return *ending;
      kernels.axpby(-alpha, s, Scalar(1), r);  // line 5: q = r - alpha s

      precondition(system, r, qHat());  // line 6
      batch.clear();
      const auto qy = batch.dot(y, r), yy = batch.norm2(y), qq = batch.norm2(r);  // line 7
      const auto shadowQ = batch.dot(shadow, r), shadowY = batch.dot(shadow, y);  // line 7
      system.applyAndReduce(qHat(), y, batch);                                    // lines 6, 7: y = A q^
      const Scalar omega = batch[yy] > 0 ? batch[qy] / batch[yy] : Scalar(0);     // line 8
      if (!std::isfinite(omega) || !std::isfinite(alpha)) return Ending::NotFinite;
      const Scalar next = batch[shadowQ] - omega * batch[shadowY];  // line 11: (r*, r), not reduced
      const bool vanishes = isRounding(batch[qy], std::sqrt(batch[yy]) * std::sqrt(batch[qq]));
      const Scalar beta = vanishes ? Scalar(0) : (next / rho) * (alpha / omega);  // line 11
      const bool last = vanishes || !std::isfinite(beta);
      kernels.sweep(axpy(this->stepOfP(alpha), pHat(), progress.x()), axpy(omega, qHat(), progress.x()),
                    axpy(-omega, y, r), axpy(-omega, s, p),
                    axpby(Scalar(1), r, last ? Scalar(0) : beta, p));  // lines 9, 12

      const auto predicted = predictNorm(batch[qq], batch[qy], batch[yy], omega);  // line 10
      if (const auto ending = progress.follow(predicted)) return *ending;          // line 10
      const double norm = progress.recursive();
      if (last || isRounding(next, length * static_cast<Scalar>(norm))) return Ending::Breakdown;
      rho = next;
      rr = static_cast<Scalar>(norm) * static_cast<Scalar>(norm);
    }
  }

  void precondition(LinearSystem<Types>& system, const MultiVector& in, MultiVector& out) {
    if (system.preconditioned()) system.precondition(in, between_.get(), out);
  }

  void allocate(LinearSystem<Types>& system, const MultiVector& b) override {
    for (Vector* vector : {&p_, &s_, &y_}) vectorLike(b, *vector);
    preconditioned_ = system.preconditioned();
    if (preconditioned_) vectorLike(b, pHat_);
    if (preconditioned_) vectorLike(b, qHat_);
    if (system.hasLeft() && system.hasRight()) vectorLike(b, between_);
    this->make(batch_, b);
  }

  MultiVector& pHat() { return preconditioned_ ? *pHat_ : *p_; }
  MultiVector& qHat() { return preconditioned_ ? *qHat_ : *this->r_; }

  bool preconditioned_ = false;
  Vector p_, s_, y_, pHat_, qHat_, between_;
  std::unique_ptr<ReductionBatch<Types>> batch_;
};

}  // namespace capstan
