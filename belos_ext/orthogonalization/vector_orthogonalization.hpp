#pragma once
/// \file
/// Classical Gram-Schmidt of one vector, twice, with explicitly computed norms. It tells a nearly dependent vector from
/// a dependent one, and is the first fallback after a breakdown.
///
/// Source: [Giraud, Langou, Rozloznik and van den Eshof 2005] (twice is enough). Cost: 3 reductions; as many
/// more as squares underflow.

#include "belos_ext/dense/cholesky.hpp"
#include "belos_ext/orthogonalization/block_gram_schmidt.hpp"

namespace capstan {

/// Equal on all ranks.
struct VectorOutcome {
  bool independent = false;  ///< false: nothing but rounding is left; the vector is not usable
  bool finite = true;
};

template <class Types>
class VectorOrthogonalization {
 public:
  using Scalar = typename Types::Scalar;
  using Matrix = SmallMatrix<Scalar>;

  void prepare(const Teuchos::RCP<const Teuchos::Comm<int>>& comm) {
    if (batch_ && comm.get() == comm_.get()) return;
    comm_ = comm;
    batch_ = std::make_unique<ReductionBatch<Types>>(comm);
  }

  /// Orthonormalises column k against columns [0, k).
  /// \param coefficients (k+1) x 2 on return, as for a panel [q_{k-1}, v]: the first column is e_{k-1}; with the second
  ///   v = Q coefficients, and its last entry is 0 if v is dependent
  VectorOutcome orthonormalize(KrylovBasis<Types>& basis, int k, LinearSystem<Types>& system, Matrix& coefficients) {
    coefficients.shape(k + 1, 2);
    coefficients(k - 1, 0) = 1;
    const auto q = basis.columns(0, k);
    Scalar original = 0;
    for (int pass = 0; pass < 2; ++pass) {
      batch_->clear();
      const auto inner = batch_->innerProducts(*q, basis[k]);
      const auto square = batch_->norm2(basis[k]);
      system.reduce(*batch_);
      const Matrix h = fetched(*batch_, inner);
      if (pass == 0) original = norm(system, basis[k], square);
      if (!allFinite(h) || !std::isfinite(original)) return {false, false};
      for (int i = 0; i < k; ++i) coefficients(i, 1) += h(i, 0);
      system.kernels().update(*q, h, basis[k]);
    }
    batch_->clear();
    const auto square = batch_->norm2(basis[k]);
    system.reduce(*batch_);
    const Scalar left = norm(system, basis[k], square);
    if (!std::isfinite(left)) return {false, false};
    const Scalar rounding = tuning::orthogonalization::rounding * std::numeric_limits<Scalar>::epsilon();
    if (!(left > rounding * original)) return {false, true};
    coefficients(k, 1) = left;
    system.kernels().scale(1 / left, basis[k], basis[k]);
    return {true, true};
  }

 private:
  Scalar norm(LinearSystem<Types>& system, const typename Types::MultiVector& v,
              typename ReductionBatch<Types>::Slot square) {
    return static_cast<Scalar>(system.norm(v, (*batch_)[square], *batch_));
  }

  Teuchos::RCP<const Teuchos::Comm<int>> comm_;  ///< of the batch; a solver may be used again on another one
  std::unique_ptr<ReductionBatch<Types>> batch_;
};

}  // namespace capstan
