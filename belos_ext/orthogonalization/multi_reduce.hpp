#pragma once
/// \file
/// Block CGS, CGS2 and MGS with separate reductions: the twins the single-reduce schemes are compared with.
///
/// Source: [low-sync], section 2.1, equation (2.1), and Fig. 1(a) for the factorisation of the panel.

#include "belos_ext/dense/cholesky.hpp"
#include "belos_ext/orthogonalization/block_gram_schmidt.hpp"
#include "belos_ext/orthogonalization/intra_qr.hpp"

namespace capstan {

/// Judges a factored panel by what its vectors were before the projection, which the factorisation does not see.
///
/// A vector of which nothing but rounding is left depends on the earlier ones: the rank ends before it. One of which
/// less than sqrt(eps) is left may stand at the end of a panel, but no further: H divides by the diagonal of R, except
/// the last entry, and A Q = Q H would lose half its digits.
/// \param top first x count: what the projection took away   \param u count x count, as factored
template <class Scalar>
PanelOutcome judged(PanelOutcome outcome, const SmallMatrix<Scalar>& top, const SmallMatrix<Scalar>& u) {
  const Scalar rounding = tuning::orthogonalization::rounding * std::numeric_limits<Scalar>::epsilon();
  const int factored = outcome.rank;
  for (int k = 0; k < factored; ++k) {
    Scalar before = 0;
    for (int i = 0; i < top.numRows(); ++i) before = std::hypot(before, top(i, k));
    for (int i = 0; i <= k; ++i) before = std::hypot(before, u(i, k));
    const Scalar left = u(k, k) / before;
    if (left > std::sqrt(rounding)) {
      outcome.condition = std::max(outcome.condition, static_cast<double>(1 / left));
      continue;
    }
    const bool usable = k > 0 && left > rounding;
    if (usable && k + 1 == u.numCols()) return outcome;  // the last vector
    outcome.rank = usable ? k + 1 : k;
    outcome.condition = std::numeric_limits<double>::infinity();
    return outcome;
  }
  return outcome;
}

/// passes = 1: block CGS; passes = 2: block CGS2 (projection and factorisation, twice).
template <class Types>
class ClassicalGramSchmidt final : public BlockGramSchmidt<Types> {
 public:
  using Base = BlockGramSchmidt<Types>;
  using typename Base::Basis;
  using typename Base::Matrix;
  using typename Base::Relation;
  using typename Base::Scalar;

  ClassicalGramSchmidt(int passes, IntraOrthogonalization intra, const Teuchos::RCP<const Teuchos::Comm<int>>& comm)
      : passes_(passes), batch_(comm), intra_(intra, comm) {}

  PanelOutcome orthonormalize(Basis& basis, int first, int steps, LinearSystem<Types>& system, Relation&,
                              Matrix& coefficients) override {
    const int count = steps + 1;
    coefficients.shape(first + count, count);
    PanelOutcome outcome{count, true, 1};
    Matrix mid = identity<Scalar>(count);  // V = Q top + (what is left) mid, so far
    for (int pass = 0; pass < passes_ && outcome.rank > 0; ++pass) {
      const int rank = outcome.rank;
      Matrix before = copyOf(block(mid, 0, 0, rank, rank)), h;
      if (first > 0) {
        h = project(basis, first, rank, system);
        Matrix top = block(coefficients, 0, 0, first, rank);
        multiply<Scalar>(1, Teuchos::NO_TRANS, h, Teuchos::NO_TRANS, before, 1, top);
      }
      Matrix u;
      PanelOutcome factored = intra_.factor(basis, first, rank, system, u);
      if (pass == 0) factored = judged(factored, h, u);
      mid.putScalar(0);
      Matrix leading = block(mid, 0, 0, rank, rank);
      leading.assign(product(u, before));
      outcome.rank = factored.rank;
      outcome.finite = outcome.finite && factored.finite;
      if (pass == 0) outcome.condition = factored.condition;
    }
    Matrix bottom = block(coefficients, first, 0, count, count);
    bottom.assign(mid);
    return outcome;
  }

 private:
  /// V <- V - Q (Q^T V); returns Q^T V.
  Matrix project(Basis& basis, int first, int count, LinearSystem<Types>& system) {
    const auto q = basis.columns(0, first);
    const auto v = basis.columns(first, first + count);
    batch_.clear();
    const auto slot = batch_.innerProducts(*q, *v);
    system.reduce(batch_);
    Matrix h = fetched(batch_, slot);
    system.kernels().update(*q, h, *v);
    return h;
  }

  int passes_;
  ReductionBatch<Types> batch_;
  IntraQr<Types> intra_;
};

/// Block MGS: against one earlier vector at a time.
template <class Types>
class ModifiedGramSchmidt final : public BlockGramSchmidt<Types> {
 public:
  using Base = BlockGramSchmidt<Types>;
  using typename Base::Basis;
  using typename Base::Matrix;
  using typename Base::Relation;
  using typename Base::Scalar;

  ModifiedGramSchmidt(IntraOrthogonalization intra, const Teuchos::RCP<const Teuchos::Comm<int>>& comm)
      : batch_(comm), intra_(intra, comm) {}

  PanelOutcome orthonormalize(Basis& basis, int first, int steps, LinearSystem<Types>& system, Relation&,
                              Matrix& coefficients) override {
    const int count = steps + 1;
    coefficients.shape(first + count, count);
    const auto v = basis.columns(first, first + count);
    for (int k = 0; k < first; ++k) {
      batch_.clear();
      const auto slot = batch_.innerProducts(basis[k], *v);
      system.reduce(batch_);
      const Matrix row = fetched(batch_, slot);
      system.kernels().update(basis[k], row, *v);
      for (int c = 0; c < count; ++c) coefficients(k, c) = row(0, c);
    }
    Matrix u;
    const PanelOutcome outcome = intra_.factor(basis, first, count, system, u);
    Matrix bottom = block(coefficients, first, 0, count, count);
    bottom.assign(u);
    return judged(outcome, copyOf(block(coefficients, 0, 0, first, count)), u);
  }

 private:
  ReductionBatch<Types> batch_;
  IntraQr<Types> intra_;
};

}  // namespace capstan
