#pragma once
/// \file
/// BiCGStab with merged reductions.
///
/// Source: [van der Vorst 1992], preconditioned from the right; (r*, r) and (r, r) of the next residual come from the
/// products of s and t, which are reduced together.
///
/// Cost of an iteration: 2 reductions of 2 and 5 numbers, 2 A, 2 M^{-1}, 2 sweeps (s; then x, r and p: 5 vectors
/// read, 7 with a preconditioner, 3 written). Storage: 5 vectors (7 with a preconditioner, 8 with a left and a right
/// one), one more where the guess is not zero or after a restart. Overlap: none.
///
/// | paper      | here                | shape               | meaning                                           |
/// |------------|---------------------|---------------------|---------------------------------------------------|
/// | r, s       | r_                  | n x 1, distributed  | residual; after half an iteration s = r - alpha v |
/// | r~_0       | shadow_             | n x 1, distributed  | shadow residual r*, fixed in a cycle              |
/// | p, v       | p_, v_              | n x 1, distributed  | search direction, A M^{-1} p                      |
/// | y, z       | y(), z()            | n x 1, distributed  | M^{-1} p and M^{-1} s; p and s without M          |
/// | t          | t_                  | n x 1, distributed  | A M^{-1} s                                        |
/// | rho, alpha | rho, alpha          | scalars, replicated | (r*, r); rho / (r*, v)                            |
/// | omega      | omega               | scalar, replicated  | (t, s) / (t, t)                                   |

#include "belos_ext/solvers/bicgstab/bicgstab_cycles.hpp"

namespace capstan {

template <class Types>
class BiCgStab final : public BiCgStabCycles<Types> {
 public:
  using Base = BiCgStabCycles<Types>;
  using typename Base::MultiVector;
  using typename Base::Scalar;
  using typename Base::Vector;

  static Cost cost(const SolverOptions&, bool preconditioned) {
    const double read = preconditioned ? 7 : 5;  // by the second sweep
    return {2, 2, 2, preconditioned ? 7.0 : 5.0, 26, 8 * (2 + 3 + 3 + read + 3)};
  }

 private:
  using typename Base::Ending;

  Ending cycle(LinearSystem<Types>& system, const MultiVector&, MultiVector& x, StopTest& stop) override {
    auto& kernels = system.kernels();
    auto& batch = *batch_;
    MultiVector &r = *this->r_, &shadow = *this->shadow_, &p = *p_, &v = *v_, &t = *t_;
    kernels.sweep(axpby(Scalar(1), r, Scalar(0), shadow), axpby(Scalar(1), r, Scalar(0), p));  // r* = r, p = r
    const Scalar length = std::sqrt(this->square_);
    for (Scalar rho = this->square_;;) {
      precondition(system, p, y());
      batch.clear();
      const auto sigma = batch.dot(shadow, v), vv = batch.norm2(v);
      system.applyAndReduce(y(), v, batch);  // v = A M^{-1} p
      if (!std::isfinite(batch[sigma])) return Ending::NotFinite;
      if (this->isRounding(batch[sigma], length * std::sqrt(batch[vv]))) return Ending::Breakdown;
      const Scalar alpha = rho / batch[sigma];
      kernels.axpby(-alpha, v, Scalar(1), r);  // s = r - alpha v

      precondition(system, r, z());
      batch.clear();
      const auto ts = batch.dot(t, r), tt = batch.norm2(t), ss = batch.norm2(r);
      const auto shadowS = batch.dot(shadow, r), shadowT = batch.dot(shadow, t);
      system.applyAndReduce(z(), t, batch);  // t = A M^{-1} s
      const Scalar omega = batch[tt] > 0 ? batch[ts] / batch[tt] : Scalar(0);
      if (!std::isfinite(omega) || !std::isfinite(alpha)) return Ending::NotFinite;
      const Scalar next = batch[shadowS] - omega * batch[shadowT];  // (r*, r), not reduced
      const Scalar beta = (next / rho) * (alpha / omega);
      const bool last = this->isRounding(batch[ts], std::sqrt(batch[tt] * batch[ss])) || !std::isfinite(beta);
      kernels.sweep(axpy(alpha, y(), x), axpy(omega, z(), x), axpy(-omega, t, r), axpy(-omega, v, p),
                    axpby(Scalar(1), r, last ? Scalar(0) : beta, p));

      const double norm = residualNorm(system, batch[ss], batch[ts], batch[tt], omega);
      if (const auto ending = this->follow(system, stop, norm)) return *ending;
      if (last || this->isRounding(next, length * static_cast<Scalar>(norm))) return Ending::Breakdown;
      rho = next;
    }
  }

  /// || r ||, from the products of s and t; where those cancel, in one more reduction.
  double residualNorm(LinearSystem<Types>& system, Scalar ss, Scalar ts, Scalar tt, Scalar omega) {
    if (const auto predicted = predictNorm(ss, ts, tt, omega); !predicted.cancelled) return predicted.norm;
    batch_->clear();
    const auto rr = batch_->norm2(*this->r_);
    system.reduce(*batch_);
    const Scalar square = (*batch_)[rr];
    return system.norm(*this->r_, square, *batch_);
  }

  void precondition(LinearSystem<Types>& system, const MultiVector& in, MultiVector& out) {
    if (system.preconditioned()) system.precondition(in, between_.get(), out);
  }

  void prepare(LinearSystem<Types>& system, const MultiVector& b) override {
    for (Vector* v : {&p_, &v_, &t_}) vectorLike(b, *v);
    preconditioned_ = system.preconditioned();
    if (preconditioned_) vectorLike(b, y_);
    if (preconditioned_) vectorLike(b, z_);
    if (system.hasLeft() && system.hasRight()) vectorLike(b, between_);
    this->make(batch_, b);
  }

  MultiVector& y() { return preconditioned_ ? *y_ : *p_; }
  MultiVector& z() { return preconditioned_ ? *z_ : *this->r_; }

  bool preconditioned_ = false;
  Vector p_, v_, t_, y_, z_, between_;
  std::unique_ptr<ReductionBatch<Types>> batch_;
};

}  // namespace capstan
