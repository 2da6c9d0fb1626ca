#pragma once
/// \file
/// Block Gram-Schmidt with a Pythagorean inner product: single-reduce cgs, pip2 and two-stage.
///
/// One pass ([low-sync], Fig. 2), a single reduction:
///   [R_top; G_0] = [Q V]^T V;   G = G_0 - R_top^T R_top  (Pythagoras);   R_mid = chol(G)
///   V <- (V - Q R_top) R_mid^{-1}
/// pip2 runs it twice. two-stage runs it once a panel and once more over all vectors of the cycle (finish).

#include "belos_ext/orthogonalization/block_gram_schmidt.hpp"

namespace capstan::tuning::orthogonalization {
/// A basis of this condition needs no second pass of the second stage. Chosen: a pass
/// leaves errors of kappa^2 eps.
inline constexpr double wellConditioned = 10;
}  // namespace capstan::tuning::orthogonalization

namespace capstan {

template <class Types>
class PythagoreanGramSchmidt final : public BlockGramSchmidt<Types> {
 public:
  using Base = BlockGramSchmidt<Types>;
  using typename Base::Basis;
  using typename Base::Matrix;
  using typename Base::Relation;
  using typename Base::Scalar;

  /// \param passes 1 (single-reduce cgs, two-stage) or 2 (pip2)
  /// \param secondStage whether finish() orthonormalises the whole cycle again (two-stage)
  PythagoreanGramSchmidt(int passes, bool secondStage, const Teuchos::RCP<const Teuchos::Comm<int>>& comm)
      : passes_(passes), secondStage_(secondStage), batch_(comm) {}

  PanelOutcome orthonormalize(Basis& basis, int first, int steps, LinearSystem<Types>& system, Relation&,
                              Matrix& coefficients) override {
    PanelOutcome outcome = pass(basis, first, steps + 1, system, coefficients);
    for (int again = 1; again < passes_ && outcome.rank > 1; ++again) {
      Matrix second;
      const PanelOutcome repeated = pass(basis, first, outcome.rank, system, second);
      compose(first, second, coefficients);
      outcome.rank = repeated.rank;
      outcome.finite = outcome.finite && repeated.finite;
    }
    return outcome;
  }

  int finish(Basis& basis, int columns, LinearSystem<Types>& system, Relation& relation) override {
    if (!secondStage_) return columns;
    // One pass is enough while the first stage has kept the vectors well conditioned, and two where it has not.
    int usable = columns;
    bool wellConditioned = false;
    for (int again = 0; again < 2 && usable > 0 && !wellConditioned; ++again) {
      Matrix r;
      const PanelOutcome outcome = pass(basis, 0, usable, system, r);
      usable = outcome.rank;
      wellConditioned = outcome.condition < tuning::orthogonalization::wellConditioned;
      if (usable > 0) relation.reexpress(0, block(r, 0, 0, usable, usable));
    }
    return usable;
  }

 private:
  PanelOutcome pass(Basis& basis, int first, int count, LinearSystem<Types>& system, Matrix& coefficients) {
    batch_.clear();
    const auto slot = batch_.trailingGram(*basis.columns(0, first + count), first);
    system.reduce(batch_);
    coefficients = fetched(batch_, slot);

    const Matrix top = block(coefficients, 0, 0, first, count);
    Matrix gram = block(coefficients, first, 0, count, count);
    std::vector<Scalar> scale(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) scale[static_cast<std::size_t>(i)] = gram(i, i);
    multiply<Scalar>(-1, Teuchos::TRANS, top, Teuchos::NO_TRANS, top, 1, gram);

    Matrix mid(count, count);
    const CholeskyResult chol = cholesky(gram, mid, scale.data());
    gram.assign(mid);
    if (chol.rank > 0) {
      const auto q = first > 0 ? basis.columns(0, first) : Teuchos::null;
      const auto v = basis.columns(first, first + chol.rank);
      system.kernels().orthonormalize(q.get(), nullptr, Matrix(), *v, block(coefficients, 0, 0, first, chol.rank),
                                      block(mid, 0, 0, chol.rank, chol.rank));
    }
    return {chol.rank, chol.finite, chol.condition};
  }

  /// V = Q C_1 after one pass and V_1 = Q C_2 after the next: V = Q (C_2 applied to the panel's rows of C_1).
  static void compose(int first, const Matrix& second, Matrix& coefficients) {
    const int count = second.numCols();
    const Matrix mid = copyOf(block(coefficients, first, 0, count, count));
    Matrix top = block(coefficients, 0, 0, first, count);
    Matrix bottom = block(coefficients, first, 0, count, count);
    multiply<Scalar>(1, Teuchos::NO_TRANS, block(second, 0, 0, first, count), Teuchos::NO_TRANS, mid, 1, top);
    multiply<Scalar>(1, Teuchos::NO_TRANS, block(second, first, 0, count, count), Teuchos::NO_TRANS, mid, 0, bottom);
  }

  int passes_;
  bool secondStage_;
  ReductionBatch<Types> batch_;
};

}  // namespace capstan
