#pragma once
/// \file
/// The last search direction of CG, kept over a restart so that conjugacy is not lost: pipelined_cg.hpp, "Restarts".

#include <cmath>

#include "belos_ext/problem/linear_system.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan {

template <class Types>
class KeptDirection {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Slot = typename ReductionBatch<Types>::Slot;

  void forget() { kept_ = false; }

  /// s = A p. Allocates s on first use. Collective.
  /// \param sign of A: 1 or -1
  void keep(LinearSystem<Types>& system, const MultiVector& p, Scalar sign) {
    system.act(Action::Operator, p, vectorLike(p, s_));
    kept_ = true;
    sign_ = sign;
  }

  /// Null where none is kept.
  const MultiVector* image() const { return kept_ ? s_.get() : nullptr; }

  /// x += t p, r -= t s with the best t: a residual that is computed anew, or that recurrences have spoilt, is not
  /// quite orthogonal to p, and nothing later would make it so. One blocking reduction.
  void minimizeAlong(LinearSystem<Types>& system, ReductionBatch<Types>& batch, const MultiVector& p, MultiVector& x,
                     MultiVector& r) {
    batch.clear();
    const auto ps = batch.dot(p, *s_), pr = batch.dot(p, r);
    system.reduce(batch);
    const Scalar step = ratioOr(batch[pr], batch[ps], Scalar(0));
    if (std::isfinite(step)) system.kernels().sweep(axpy(step, p, x), axpy(-step, *s_, r));
  }

  /// Enters (p, s) and (s, z) into a batch, where one is kept.
  void enter(ReductionBatch<Types>& batch, const MultiVector& p, const MultiVector& z) {
    if (!kept_) return;
    ps_ = batch.dot(p, *s_);
    sz_ = batch.dot(*s_, z);
  }
  /// Takes them from it; z has been divided by nu since. Forgets a direction whose (p, A p) has not the sign of A.
  void take(const ReductionBatch<Types>& batch, Scalar nu) {
    onto_ = 0;
    if (!kept_) return;
    curvature_ = batch[ps_];
    kept_ = sign_ * curvature_ > 0 && std::isfinite(batch[sz_] / curvature_);
    if (kept_) onto_ = ratioOr(batch[sz_], nu, Scalar(0)) / curvature_;
  }

  /// (s, z) / (p, s) of the vector entered; 0 where none is kept.
  Scalar onto() const { return onto_; }

  /// w -= s (s, z) / (p, s) with w = A z: conjugate to p again.
  void remove(LinearSystem<Types>& system, Scalar sz, MultiVector& w) {
    system.kernels().axpby(-sz / curvature_, *s_, Scalar(1), w);
  }
  void remove(LinearSystem<Types>& system, MultiVector& w) { remove(system, onto_ * curvature_, w); }

 private:
  bool kept_ = false;
  Scalar sign_ = 1, curvature_ = 1, onto_ = 0;
  Slot ps_, sz_;
  Teuchos::RCP<MultiVector> s_;
};

}  // namespace capstan
