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
    Scalar original = 0;
    for (int pass = 0; pass < 2; ++pass) {
      batch_->clear();
      const auto inner = innerProducts(basis, k);
      const auto square = batch_->norm2(basis[k]);
      system.reduce(*batch_);
      const Matrix h = fetched(*batch_, inner);
      if (pass == 0) original = norm(system, basis[k], square);
      if (!allFinite(h) || !std::isfinite(original)) return {false, false};
      for (int i = 0; i < k; ++i) coefficients(i, 1) += h(i, 0);
      subtract(system, basis, k, h);
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
  /// Of columns [0, k) with column k: entries 0 to k - 1 of the slot.
  typename ReductionBatch<Types>::Slot innerProducts(KrylovBasis<Types>& basis, int k) {
    const int singles = basis.rounded();
    if (singles == 0) return batch_->innerProducts(*basis.columns(0, k), basis[k]);
    return batch_->trailingGram(basis.singles(0, singles), *basis.columns(singles, k + 1), k - singles);
  }

  /// Column k -= columns [0, k) times what innerProducts() has found.
  static void subtract(LinearSystem<Types>& system, KrylovBasis<Types>& basis, int k, const Matrix& h) {
    auto& kernels = system.kernels();
    const int singles = basis.rounded();
    if (singles > 0) kernels.update(basis.singles(0, singles), block(h, 0, 0, singles, 1), basis[k]);
    if (singles < k) kernels.update(*basis.columns(singles, k), block(h, singles, 0, k - singles, 1), basis[k]);
  }

  Scalar norm(LinearSystem<Types>& system, const typename Types::MultiVector& v,
              typename ReductionBatch<Types>::Slot square) {
    return static_cast<Scalar>(system.norm(v, (*batch_)[square], *batch_));
  }

  Teuchos::RCP<const Teuchos::Comm<int>> comm_;  ///< of the batch; a solver may be used again on another one
  std::unique_ptr<ReductionBatch<Types>> batch_;
};

}  // namespace capstan
