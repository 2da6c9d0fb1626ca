#pragma once
/// \file
/// The Krylov space of a cycle of GMRES: Q, H with M_L^{-1} A M_R^{-1} Q = Q H, and what minimises the residual in it.
///
/// Source: [Saad and Schultz 1986], algorithm 4; flexible variant [Saad 1993].
///
/// | paper  | here           | shape     | meaning                                                                     |
/// |--------|----------------|-----------|-----------------------------------------------------------------------------|
/// | V, v_j | Q: basis()     | n x (m+1) | orthonormal basis of the Krylov space of M_L^{-1} A M_R^{-1} and M_L^{-1} r |
/// | Z, z_j | Z: directions_ | n x m     | M_j^{-1} q_j, with flexible preconditioning only                            |
/// | H      | relation()     | (m+1) x m | projected operator, replicated                                              |
/// | V_m y  | u: scratch()   | n x 1     | Q y, or Z y; y minimises the norm of beta e_1 - H y                         |
///
/// Storage: m + 2 vectors, m more with flexible preconditioning.

#include "belos_ext/basis/krylov_basis.hpp"
#include "belos_ext/dense/arnoldi_relation.hpp"
#include "belos_ext/problem/linear_system.hpp"

namespace capstan {

template <class Types>
class KrylovSpace {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Map = typename Types::Map;

  /// Makes room for cycles of m = `length` columns. Collective where it allocates.
  void resize(const Teuchos::RCP<const Map>& map, int length, bool flexible) {
    length_ = length;
    flexible_ = flexible;
    basis_.resize(map, length + 1);
    if (flexible) directions_.resize(map, length);
    if (u_.is_null() || u_->getMap().get() != map.get()) u_ = Teuchos::rcp(new MultiVector(map, 1, false));
  }

  /// m.
  int length() const { return length_; }
  KrylovBasis<Types>& basis() { return basis_; }
  ArnoldiRelation<Scalar>& relation() { return relation_; }
  const ArnoldiRelation<Scalar>& relation() const { return relation_; }
  MultiVector& scratch() { return *u_; }

  /// Starts a cycle: q_0 = native / beta, H without columns. Local.
  /// \param native M_L^{-1} r, n x 1   \param beta its length
  void begin(LinearSystem<Types>& system, const MultiVector& native, Scalar beta) {
    system.kernels().scale(Scalar(1) / beta, native, basis_[0]);
    relation_.begin(length_, beta, flexible_);
  }

  /// Column j + 1 of the basis = M_L^{-1} A M_R^{-1} times its column j; with flexible preconditioning M_R^{-1} times
  /// column j is kept in Z. 1 A, 1 M^{-1}. Collective.
  void apply(LinearSystem<Types>& system, int j) {
    if (flexible_) {
      system.act(Action::RightPreconditioner, basis_[j], directions_[j]);
      system.act(Action::Operator, directions_[j], basis_[j + 1]);
    } else {
      system.apply(basis_[j], basis_[j + 1]);
    }
  }

  /// u = Q y (or Z y) from the first `columns` columns of H, of which a change of x is made. One pass over as many
  /// vectors. Local.
  MultiVector& combine(LinearSystem<Types>& system, int columns) {
    const std::vector<Scalar> y = relation_.leastSquares().solve(columns);
    SmallMatrix<Scalar> coefficients(columns, 1);
    for (int i = 0; i < columns; ++i) coefficients(i, 0) = y[static_cast<std::size_t>(i)];
    u_->putScalar(0);
    system.kernels().accumulate(*(flexible_ ? directions_ : basis_).columns(0, columns), coefficients, *u_);
    return *u_;
  }

  /// out = M_R^{-1} u; Z y needs no preconditioner. Collective.
  void toSolution(LinearSystem<Types>& system, MultiVector& out) {
    if (flexible_) {
      system.kernels().scale(Scalar(1), *u_, out);
    } else {
      system.toSolution(*u_, out);
    }
  }

 private:
  int length_ = 0;
  bool flexible_ = false;
  KrylovBasis<Types> basis_, directions_;
  ArnoldiRelation<Scalar> relation_;
  Teuchos::RCP<MultiVector> u_;
};

}  // namespace capstan
