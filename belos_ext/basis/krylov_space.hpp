#pragma once
/// \file
/// The Krylov space of a cycle of GMRES: Q, H with M_L^{-1} A M_R^{-1} Q = Q H, and what minimises the residual in it.
///
/// Source: [Saad and Schultz 1986], algorithm 4; flexible variant [Saad 1993].
///
/// | paper  | here           | shape     | meaning                                                                     |
/// |--------|----------------|-----------|-----------------------------------------------------------------------------|
/// | V, v_j | Q: basis()     | n x (m+1) | orthonormal basis of the Krylov space of M_L^{-1} A M_R^{-1} and M_L^{-1} r |
/// | Z, z_j | Z: directions_ | n x m     | M_j^{-1} v_j of the vectors v_j that products were taken of                 |
/// | H      | relation()     | (m+1) x m | projected operator, replicated                                              |
/// | V_m y  | u: scratch()   | n x 1     | Q y, or Z y; y minimises the norm of beta e_1 - H y                         |
///
/// Z is there with flexible preconditioning, where it cannot be had again, and where it is kept to save the application
/// of M that x = x_0 + M^{-1} Q y would take: Q y = V c, so that x = x_0 + Z c.
///
/// Storage: m + 2 vectors, m more with Z. Where final columns of Q are in single precision, (m + 1) / 2, a window of
/// few and 1.

#include <algorithm>

#include "belos_ext/basis/krylov_basis.hpp"
#include "belos_ext/dense/arnoldi_relation.hpp"
#include "belos_ext/problem/linear_system.hpp"
#include "belos_ext/problem/vector_like.hpp"

namespace capstan {

template <class Types>
class KrylovSpace {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Map = typename Types::Map;

  /// What Z is for.
  enum class Directions { None, Kept, Flexible };

  /// Makes room for cycles of m = `length` columns. Collective where it allocates.
  /// \param window columns of Q in double precision, where final ones are to be in single precision; 0: all
  void resize(const Teuchos::RCP<const Map>& map, int length, Directions kind, int window = 0) {
    length_ = length;
    kind_ = kind;
    basis_.resize(map, length + 1, std::min(window, length + 1));
    if (kind != Directions::None) directions_.resize(map, length);
    vectorLike(basis_[0], u_);
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
    basis_.begin();
    system.kernels().scale(Scalar(1) / beta, native, basis_[0]);
    relation_.begin(length_, beta, kind_ == Directions::Flexible);
  }

  /// Column j + 1 of the basis = M_L^{-1} A M_R^{-1} times its column j, and what `then` says of it; M_R^{-1} times
  /// column j goes to Z where that is there. 1 A, 1 M^{-1}. Collective.
  void apply(LinearSystem<Types>& system, int j, const VectorRecurrence<Types>& then = {}) {
    basis_.makeRoom(system.kernels(), j + 1, j + 2);
    if (kind_ != Directions::None) {
      system.act(Action::RightPreconditioner, basis_[j], directions_[j]);
      system.actThen(Action::Operator, directions_[j], basis_[j + 1], then);
    } else {
      system.actThen(Action::Preconditioned, basis_[j], basis_[j + 1], then);
    }
  }

  /// u = Q y (or Z y, with flexible preconditioning) from the first `columns` columns of H, of which a change of x is
  /// made. One pass over as many vectors. Local.
  MultiVector& combine(LinearSystem<Types>& system, int columns) {
    const bool flexible = kind_ == Directions::Flexible;
    sum(system, flexible ? directions_ : basis_, relation_.leastSquares().solve(columns), *u_);
    return *u_;
  }

  /// Whether change() takes Z c for M_R^{-1} Q y, which differ by rounding and where M is not linear.
  bool keeps() const { return kind_ == Directions::Kept; }

  /// The rest of the solve does without Z. Local.
  void keepNoMore() { kind_ = Directions::None; }

  /// out = M_R^{-1} Q y, the change of x of the first `columns` columns of H. 1 M_R^{-1}; none where Z is there.
  /// Collective.
  void change(LinearSystem<Types>& system, int columns, MultiVector& out) {
    if (keeps()) {
      sum(system, directions_, relation_.asGenerated(relation_.leastSquares().solve(columns)), out);
    } else if (kind_ == Directions::Flexible) {
      system.kernels().scale(Scalar(1), combine(system, columns), out);
    } else {
      system.toSolution(combine(system, columns), out);
    }
  }

 private:
  /// out = B c.
  static void sum(LinearSystem<Types>& system, KrylovBasis<Types>& vectors, const std::vector<Scalar>& c,
                  MultiVector& out) {
    const int columns = static_cast<int>(c.size()), singles = std::min(columns, vectors.rounded());
    SmallMatrix<Scalar> coefficients(columns, 1);
    for (int i = 0; i < columns; ++i) coefficients(i, 0) = c[static_cast<std::size_t>(i)];
    auto& kernels = system.kernels();
    kernels.fill(Scalar(0), out);
    if (singles > 0) kernels.accumulate(vectors.singles(0, singles), block(coefficients, 0, 0, singles, 1), out);
    if (singles == columns) return;
    kernels.accumulate(*vectors.columns(singles, columns), block(coefficients, singles, 0, columns - singles, 1), out);
  }

  int length_ = 0;
  Directions kind_ = Directions::None;
  KrylovBasis<Types> basis_, directions_;
  ArnoldiRelation<Scalar> relation_;
  Teuchos::RCP<MultiVector> u_;
};

}  // namespace capstan
