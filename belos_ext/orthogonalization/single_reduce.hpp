#pragma once
/// \file
/// Single-reduce block CGS2 and MGS with lagged normalisation of the panel before.
///
/// Source: [low-sync], Fig. 3; signs of the MGS correction derived here and tested against explicit block MGS.
///
/// | paper           | here      | shape                      | meaning                                           |
/// |-----------------|-----------|----------------------------|---------------------------------------------------|
/// | Q_{1:j-1}       | 0..first  | n x first                  | earlier vectors; those before lagStart_ are final |
/// | Q_{j-s:j-1}     | P         | n x p, p = first-lagStart_ | panel before, normalised again here               |
/// | V_{j:j+s}       | V         | n x (steps+1)              | this panel                                        |
/// | T               | t_        | first x first              | Q^T Q                                             |
/// | L               | lower(t_) | first x first              | strict lower part of T, as used by MGS            |
/// | R bar (saved)   | r0        | first x (steps+1)          | Q^T V before correction                           |
/// | R hat / R tilde | r         | first x (steps+1)          | corrected coefficients                            |
/// | R_{j:j+s,j:j+s} | mid       | (steps+1) x (steps+1)      | Cholesky factor of the panel                      |
///
/// Final vectors may be stored in single precision: P is rounded as it becomes final, in the pass that writes it. T is
/// that of P as it was, so that Q is orthonormal to single precision.
///
/// Cost of a panel: 1 reduction of (first+steps+1)(p+steps+1) numbers; about ((6 s + 4) j + 2 s^2) n flops, j = first,
/// in two passes over the basis: inner products, then P S^{-1}, V - Q R and V mid^{-1} together.

#include "belos_ext/orthogonalization/block_gram_schmidt.hpp"

namespace capstan {

enum class Correction { Cgs2, Mgs };

template <class Types>
class SingleReduceGramSchmidt final : public BlockGramSchmidt<Types> {
 public:
  using Base = BlockGramSchmidt<Types>;
  using typename Base::Basis;
  using typename Base::Matrix;
  using typename Base::Relation;
  using typename Base::Scalar;

  SingleReduceGramSchmidt(Correction correction, const Teuchos::RCP<const Teuchos::Comm<int>>& comm)
      : correction_(correction), batch_(comm) {}

  void begin(int capacity) override {
    lagStart_ = 0;
    capacity_ = capacity;
  }

  PanelOutcome orthonormalize(Basis& basis, int first, int steps, LinearSystem<Types>& system, Relation& relation,
                              Matrix& coefficients) override {
    const int count = steps + 1, lagged = first - lagStart_;
    growTo(t_, first + 1, capacity_ + 1);
    batch_.clear();
    const bool mixed = basis.compressed() && lagStart_ > 0;
    const auto slot =
        mixed ? batch_.trailingGram(basis.singles(0, lagStart_), *basis.columns(lagStart_, first + count), 0)
              : batch_.trailingGram(*basis.columns(0, first + count), lagStart_);
    system.reduce(batch_);
    Matrix inner = fetched(batch_, slot);  // [Q V]^T [P V]

    const Matrix s = normalizeLagged(first, inner, relation);
    coefficients = copyOf(block(inner, 0, lagged, first + count, count));
    Matrix r = block(coefficients, 0, 0, first, count);
    if (lagged > 0) {
      Matrix laggedRows = block(r, lagStart_, 0, lagged, count);
      solveLeftTransposed(s, laggedRows);
    }
    const Matrix r0 = copyOf(r);
    correct(first, r0, r);

    // Gram matrix of V - Q R without assuming T = I: G = V^T V + R^T T R - R0^T R - R^T R0.
    Matrix gram = block(coefficients, first, 0, count, count);
    std::vector<Scalar> scale(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) scale[static_cast<std::size_t>(i)] = gram(i, i);
    if (first > 0) {
      Matrix tr = product(block(t_, 0, 0, first, first), r);
      tr -= r0;
      multiply<Scalar>(1, Teuchos::TRANS, r, Teuchos::NO_TRANS, tr, 1, gram);
      multiply<Scalar>(-1, Teuchos::TRANS, r0, Teuchos::NO_TRANS, r, 1, gram);
    }
    Matrix mid(count, count);
    const CholeskyResult chol = cholesky(gram, mid, scale.data());
    gram.assign(mid);

    apply(basis, first, chol.rank, s, r, mid, system);
    lagStart_ = first;
    return {chol.rank, chol.finite, chol.condition};
  }

 private:
  /// S = chol(P^T P); T and the inner products are brought to P S^{-1}. The identity when P has lost its rank.
  Matrix normalizeLagged(int first, const Matrix& inner, Relation& relation) {
    const int lagged = first - lagStart_;
    Matrix s(lagged, lagged);
    if (lagged == 0) return s;
    Matrix columns = block(t_, 0, lagStart_, first, lagged);
    columns.assign(block(inner, 0, 0, first, lagged));
    Matrix square = block(t_, lagStart_, lagStart_, lagged, lagged);
    if (cholesky(square, s).rank < lagged) {
      s = identity<Scalar>(lagged);
    } else {
      solveRight(s, columns);
      solveLeftTransposed(s, square);
      Matrix change(first, lagged);
      Matrix lower = block(change, lagStart_, 0, lagged, lagged);
      lower.assign(s);
      relation.reexpress(lagStart_, change);
    }
    for (int j = lagStart_; j < first; ++j) {
      for (int i = 0; i < lagStart_; ++i) t_(j, i) = t_(i, j);
    }
    return s;
  }

  /// CGS2: R = (2 I - T) R0. MGS: R = (I + strictly lower part of T)^{-1} R0.
  void correct(int first, const Matrix& r0, Matrix& r) const {
    if (first == 0) return;
    if (correction_ == Correction::Cgs2) {
      r.assign(r0);
      r *= Scalar(2);
      multiply<Scalar>(-1, Teuchos::NO_TRANS, block(t_, 0, 0, first, first), Teuchos::NO_TRANS, r0, 1, r);
    } else {
      Teuchos::BLAS<int, Scalar>().TRSM(Teuchos::LEFT_SIDE, Teuchos::LOWER_TRI, Teuchos::NO_TRANS, Teuchos::UNIT_DIAG,
                                        first, r.numCols(), Scalar(1), t_.values(), t_.stride(), r.values(),
                                        r.stride());
    }
  }

  void apply(Basis& basis, int first, int rank, const Matrix& s, const Matrix& r, const Matrix& mid,
             LinearSystem<Types>& system) {
    if (basis.compressed()) return applyAndRound(basis, first, rank, s, r, mid, system);
    const auto q = lagStart_ > 0 ? basis.columns(0, lagStart_) : Teuchos::null;
    const auto p = first > lagStart_ ? basis.columns(lagStart_, first) : Teuchos::null;
    if (rank == 0) {
      if (!p.is_null()) system.kernels().triangularSolve(*p, s);
      return;
    }
    const auto v = basis.columns(first, first + rank);
    system.kernels().orthonormalize(q.get(), p.get(), s, *v, block(r, 0, 0, first, rank), block(mid, 0, 0, rank, rank));
  }

  /// The same, where P goes to single precision.
  void applyAndRound(Basis& basis, int first, int rank, const Matrix& s, const Matrix& r, const Matrix& mid,
                     LinearSystem<Types>& system) {
    auto& kernels = system.kernels();
    const auto p = first > lagStart_ ? basis.columns(lagStart_, first) : Teuchos::null;
    const auto single = basis.toRound(first);
    if (rank > 0) {
      const auto v = basis.columns(first, first + rank);
      kernels.orthonormalize(basis.singles(0, lagStart_), p.get(), s, single, *v, block(r, 0, 0, first, rank),
                             block(mid, 0, 0, rank, rank));
    } else if (!p.is_null()) {
      kernels.triangularSolve(*p, s);
      kernels.round(*p, single);
    }
    basis.round(first);
  }

  Correction correction_;
  int capacity_ = 0;
  int lagStart_ = 0;  ///< columns before it have been normalised twice
  Matrix t_;
  ReductionBatch<Types> batch_;
};

}  // namespace capstan
