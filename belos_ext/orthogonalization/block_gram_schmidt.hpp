#pragma once
/// \file
/// Block Gram-Schmidt: orthonormalise the panel V = columns [first, first + steps] of a basis against the columns
/// before it and among itself. Every scheme is one class below; a solver sees this interface only.
///
/// The first vector of the panel is the last one of the panel before: it is orthonormalised once more here.
///
/// | scheme             | reductions a panel | loss of orthogonality            | source                                    |
/// |--------------------|--------------------|----------------------------------|-------------------------------------------|
/// | cgs                | 1 + c              | O(eps kappa^2)                   | [low-sync], section 2.1                   |
/// | cgs2               | 2 (1 + c)          | O(eps)                           | [low-sync], section 2.1                   |
/// | mgs                | first + c          | O(eps kappa)                     | [low-sync], section 2.1                   |
/// | single-reduce cgs  | 1                  | O(eps kappa^2)                   | [low-sync], Fig. 2                        |
/// | single-reduce cgs2 | 1                  | O(eps kappa_p), last panel below | [low-sync], Fig. 3                        |
/// | single-reduce mgs  | 1                  | O(eps kappa), last panel below   | [low-sync], Fig. 3                        |
/// | pip2               | 2                  | O(eps)                           | [Carson, Lund, Rozloznik and Thomas 2022] |
/// | two-stage          | 1, and 1 a cycle   | O(eps) after finish()            | [Yamazaki, Higgins, Boman and Szyld 2024] |
/// | sketched           | 1                  | O(1), well conditioned           | [Balabanov and Grigori 2022]              |
///
/// cgs, cgs2 and mgs stand in multi_reduce.hpp; single-reduce cgs, pip2 and two-stage in pythagorean.hpp;
/// single-reduce cgs2 and mgs in single_reduce.hpp; sketched in sketched.hpp.
///
/// c: reductions of the intra-panel factorisation (cholqr 1, cholqr2 2, tsqr 0 all-reduces: its tree sends messages);
/// nothing is projected in the first panel. kappa: condition number of all vectors as generated; kappa_p: of one panel,
/// the largest ||v|| / ||what projection leaves of v||. A panel factored once by Cholesky adds O(eps kappa_p^2) in
/// itself (cgs and mgs with cholqr); the single-reduce schemes repair that when the next panel comes, so it stays in
/// the last one. two-stage spends a second reduction where the first stage has lost orthogonality.

#include <memory>

#include "belos_ext/basis/krylov_basis.hpp"
#include "belos_ext/dense/arnoldi_relation.hpp"
#include "belos_ext/dense/cholesky.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/problem/linear_system.hpp"

namespace capstan {

/// How a panel came out. Equal on all ranks.
struct PanelOutcome {
  int rank = 0;          ///< leading vectors of the panel that are orthonormal now; the others are not usable
  bool finite = true;    ///< false: NaN or Inf among the inner products; then rank vectors are still good
  double condition = 1;  ///< estimated condition of the panel as generated
  /// The vector behind those is nothing but rounding: explicit norms say no more of it.
  bool dependent = false;
};

template <class Types>
class BlockGramSchmidt {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Basis = KrylovBasis<Types>;
  using Relation = ArnoldiRelation<Scalar>;
  using Matrix = SmallMatrix<Scalar>;

  virtual ~BlockGramSchmidt() = default;

  /// Starts a cycle of at most `capacity` + 1 vectors.
  virtual void begin(int capacity) { static_cast<void>(capacity); }

  /// Orthonormalises columns [first, first + steps].
  /// \param relation re-expressed where the scheme changes earlier columns; the panel itself is not added to it
  /// \param coefficients (first + steps + 1) x (steps + 1) on return: V = Q coefficients in its leading rank columns
  virtual PanelOutcome orthonormalize(Basis& basis, int first, int steps, LinearSystem<Types>& system,
                                      Relation& relation, Matrix& coefficients) = 0;

  /// Completes the orthogonalisation of the first `columns` vectors before the solution is updated; returns how many of
  /// them are usable (all, unless a second stage broke down).
  virtual int finish(Basis& basis, int columns, LinearSystem<Types>& system, Relation& relation) {
    static_cast<void>(basis), static_cast<void>(system), static_cast<void>(relation);
    return columns;
  }
};

/// A reduced block out of a batch as a small matrix.
template <class Types>
SmallMatrix<typename Types::Scalar> fetched(const ReductionBatch<Types>& batch,
                                            typename ReductionBatch<Types>::Slot slot) {
  const auto view = batch.view(slot);
  SmallMatrix<typename Types::Scalar> m(static_cast<int>(view.extent(0)), static_cast<int>(view.extent(1)), false);
  for (int j = 0; j < m.numCols(); ++j) {
    for (int i = 0; i < m.numRows(); ++i) m(i, j) = view(i, j);
  }
  return m;
}

/// The scheme for these options. Conflicting pairs have been refused by checkConflicts().
template <class Types>
std::unique_ptr<BlockGramSchmidt<Types>> makeBlockGramSchmidt(BlockOrthogonalization block,
                                                              IntraOrthogonalization intra,
                                                              const Teuchos::RCP<const Teuchos::Comm<int>>& comm);

}  // namespace capstan
