#pragma once
/// \file
/// The vectors that both forms of CG have, and M^{-1} applied to one of them.

#include <utility>

#include "belos_ext/problem/constant_null_space.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/supervision/progress.hpp"

namespace capstan {

/// Each n x 1, distributed. The form that is not at work may do with z and t what it likes. Where M^{-1} is a diagonal
/// D that is kept as a vector, nothing needs z and t: they are made where they are asked for.
template <class Types>
struct CgVectors {
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Vector = Teuchos::RCP<MultiVector>;

  /// Makes what is missing for vectors like b. Collective where it allocates.
  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>& judged) {
    preconditioned = system.preconditioned();
    scales_ = false;
    for (Vector* v : {&r_, &p_, &s_}) vectorLike(b, *v);
    if (system.hasLeft() && system.hasRight()) vectorLike(b, between_);
    batch = &judged.batch();
    constants = &judged.constants();
  }

  MultiVector& r() { return *r_; }
  MultiVector& p() { return *p_; }
  MultiVector& s() { return *s_; }
  /// r and s without M, and where D stands for it.
  MultiVector& z() { return isStored() ? vectorLike(*r_, z_) : *r_; }
  MultiVector& t() { return isStored() ? vectorLike(*r_, t_) : *s_; }
  bool isStored() const { return preconditioned && !scales_; }
  /// A vector that is not s.
  MultiVector& w() { return vectorLike(*r_, t_); }
  Vector& ownResidual() { return r_; }
  /// For products with a left and a right preconditioner.
  MultiVector* between() { return between_.get(); }

  /// z = M^{-1} r; without its constant, in a reduction, where constants are projected out. Collective.
  void preconditionResidual(LinearSystem<Types>& system) {
    if (!isStored()) return;
    system.precondition(*r_, between_.get(), z());
    if (constants->active()) constants->takeOut(system, z(), *batch);
  }

  /// M^{-1} is a diagonal: D = M^{-1} (1, ..., 1) stands for it in this solve. Overwrites p. 1 M^{-1}. Collective.
  void takeDiagonal(LinearSystem<Types>& system) {
    system.kernels().fill(Scalar(1), *p_);
    system.precondition(*p_, between_.get(), vectorLike(*r_, d_));
    scales_ = true;
  }
  /// Whether D stands for M^{-1}: z = D r and t = D s are not stored.
  bool scales() const { return scales_; }
  const MultiVector& d() const { return *d_; }
  /// From here on z and t are stored. Local.
  void storeScaled(LinearSystem<Types>& system) {
    if (!std::exchange(scales_, false)) return;
    system.kernels().sweep(scaledAxpby(*d_, *r_, Scalar(0), z()), scaledAxpby(*d_, *s_, Scalar(0), t()));
  }

  /// Whether p is all but constant. \param pp (p, p)
  bool isConstant(Scalar pp) const { return constants->dominates(constants->sums().p, pp); }
  /// p once more without its constant, and z; from here on constants are projected out. One reduction.
  void projectDirection(Progress<Types>& progress) {
    storeScaled(progress.system());
    constants->remove(progress.system(), constants->meanOf(constants->sums().p), *p_);
    constants->project(progress.system(), progress.stop().iterations());
    constants->takeOut(progress.system(), z(), *batch);
  }

  Scalar made = 0;  ///< the beta that p was made with; 0: it is z
  bool preconditioned = false;
  ReductionBatch<Types>* batch = nullptr;         ///< of the solve
  ConstantNullSpace<Types>* constants = nullptr;  ///< of the solve

 private:
  bool scales_ = false;
  Vector r_, z_, p_, s_, t_, between_, d_;
};

}  // namespace capstan
