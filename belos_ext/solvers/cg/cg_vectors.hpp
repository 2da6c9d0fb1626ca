#pragma once
/// \file
/// The vectors that both forms of CG have, and M^{-1} applied to one of them.

#include "belos_ext/problem/constant_null_space.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/supervision/progress.hpp"

namespace capstan {

/// Each n x 1, distributed. The form that is not at work may do with z and t what it likes.
template <class Types>
struct CgVectors {
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Vector = Teuchos::RCP<MultiVector>;

  /// Makes what is missing for vectors like b. Collective where it allocates.
  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>& judged) {
    preconditioned = system.preconditioned();
    for (Vector* v : {&r_, &p_, &s_}) vectorLike(b, *v);
    for (Vector* v : {&z_, &t_}) {
      if (preconditioned) vectorLike(b, *v);
    }
    if (system.hasLeft() && system.hasRight()) vectorLike(b, between_);
    batch = &judged.batch();
    constants = &judged.constants();
  }

  MultiVector& r() { return *r_; }
  MultiVector& p() { return *p_; }
  MultiVector& s() { return *s_; }
  MultiVector& z() { return preconditioned ? *z_ : *r_; }
  MultiVector& t() { return preconditioned ? *t_ : *s_; }
  /// A vector that is not s.
  MultiVector& w() { return vectorLike(*r_, t_); }
  Vector& ownResidual() { return r_; }
  /// For products with a left and a right preconditioner.
  MultiVector* between() { return between_.get(); }

  /// z = M^{-1} r; without its constant, in a reduction, where constants are projected out. Collective.
  void preconditionResidual(LinearSystem<Types>& system) {
    if (!preconditioned) return;
    system.precondition(*r_, between_.get(), *z_);
    if (constants->active()) constants->takeOut(system, *z_, *batch);
  }

  /// Whether p is all but constant. \param pp (p, p)
  bool isConstant(Scalar pp) const { return constants->dominates(constants->sums().p, pp); }
  /// p once more without its constant, and z; from here on constants are projected out. One reduction.
  void projectDirection(Progress<Types>& progress) {
    constants->remove(progress.system(), constants->meanOf(constants->sums().p), *p_);
    constants->project(progress.system(), progress.stop().iterations());
    constants->takeOut(progress.system(), *z_, *batch);
  }

  Scalar made = 0;  ///< the beta that p was made with; 0: it is z
  bool preconditioned = false;
  ReductionBatch<Types>* batch = nullptr;         ///< of the solve
  ConstantNullSpace<Types>* constants = nullptr;  ///< of the solve

 private:
  Vector r_, z_, p_, s_, t_, between_;
};

}  // namespace capstan
