#pragma once
/// \file
/// QR factorisation of one tall panel V (n x c): cholqr, cholqr2, tsqr.
///
/// | scheme  | all-reduces | loss of orthogonality | source                                              |
/// |---------|-------------|-----------------------|-----------------------------------------------------|
/// | cholqr  | 1           | O(eps kappa^2)        | [Stathopoulos and Wu 2002]                          |
/// | cholqr2 | 2           | O(eps)                | [Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015] |
/// | tsqr    | 0           | O(eps)                | [Demmel, Grigori, Hoemmen and Langou 2012]          |
///
/// tsqr is Trilinos' own (Tpetra::TsqrAdaptor): its reduction tree sends point-to-point messages. It wants at least c
/// rows on every rank; with fewer, cholqr2 stands in on all ranks.

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_TsqrAdaptor.hpp>

#include "belos_ext/dense/cholesky.hpp"
#include "belos_ext/orthogonalization/block_gram_schmidt.hpp"

namespace capstan {

template <class Types>
class IntraQr {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Matrix = SmallMatrix<Scalar>;

  IntraQr(IntraOrthogonalization scheme, const Teuchos::RCP<const Teuchos::Comm<int>>& comm)
      : scheme_(scheme), batch_(comm) {}

  /// Factors the leading vectors of columns [first, first + count): V = Q u, u upper triangular count x count.
  PanelOutcome factor(KrylovBasis<Types>& basis, int first, int count, LinearSystem<Types>& system, Matrix& u) {
    if (scheme_ == IntraOrthogonalization::Tsqr && enoughRows(basis[first], count)) return tsqr(basis, first, count, u);
    PanelOutcome outcome = cholQr(basis, first, count, system, u);
    if (scheme_ != IntraOrthogonalization::CholQr && outcome.rank > 0) {
      Matrix second;
      const PanelOutcome repeated = cholQr(basis, first, outcome.rank, system, second);
      Matrix leading = block(u, 0, 0, outcome.rank, outcome.rank);
      leading.assign(product(second, copyOf(leading)));
      outcome.rank = repeated.rank;
      outcome.finite = outcome.finite && repeated.finite;
    }
    return outcome;
  }

 private:
  PanelOutcome cholQr(KrylovBasis<Types>& basis, int first, int count, LinearSystem<Types>& system, Matrix& u) {
    batch_.clear();
    const auto slot = batch_.trailingGram(*basis.columns(first, first + count), 0);
    system.reduce(batch_);
    u.shape(count, count);
    const CholeskyResult chol = cholesky(fetched(batch_, slot), u);
    if (chol.rank > 0) {
      system.kernels().triangularSolve(*basis.columns(first, first + chol.rank), block(u, 0, 0, chol.rank, chol.rank));
    }
    return {chol.rank, chol.finite, chol.condition};
  }

  PanelOutcome tsqr(KrylovBasis<Types>& basis, int first, int count, Matrix& u) {
    const auto v = basis.columns(first, first + count);
    if (original_.is_null() || original_->getMap().get() != v->getMap().get() ||
        static_cast<int>(original_->getNumVectors()) != count) {
      for (auto* scratch : {&original_, &factored_}) {
        *scratch = Teuchos::rcp(new MultiVector(v->getMap(), static_cast<size_t>(count), false));
      }
    }
    u.shape(count, count);
    Tpetra::deep_copy(*original_, *v);
    Tpetra::deep_copy(*factored_, *v);
    adaptor_.factorExplicit(*factored_, *v, u, true);
    PanelOutcome outcome;
    const double infinite = std::numeric_limits<double>::infinity();
    const Scalar rounding = tuning::orthogonalization::rounding * std::numeric_limits<Scalar>::epsilon();
    Scalar smallest = 1;
    for (int k = 0; k < count; ++k) {
      Scalar norm = 0;
      for (int i = 0; i <= k; ++i) norm = std::hypot(norm, u(i, k));
      outcome.finite = outcome.finite && std::isfinite(norm);
      if (!outcome.finite || !(u(k, k) > rounding * norm)) break;
      smallest = std::min(smallest, u(k, k) / norm);
      outcome.rank = k + 1;
    }
    outcome.condition = outcome.rank == count ? static_cast<double>(1 / smallest) : infinite;
    if (!outcome.finite) {
      // A reflector that is not finite spoils every column of the explicit Q: again without that column.
      Tpetra::deep_copy(*v, *original_);
      if (outcome.rank > 0) {
        Matrix leading;
        const PanelOutcome good = tsqr(basis, first, outcome.rank, leading);
        u.putScalar(0);
        Matrix corner = block(u, 0, 0, leading.numRows(), leading.numCols());
        corner.assign(leading);
        return {good.rank, false, infinite};
      }
    }
    return outcome;
  }

  /// Whether every rank has at least `count` rows. One all-reduce for each new map, then remembered.
  bool enoughRows(const MultiVector& v, int count) {
    const auto map = v.getMap();
    if (map.get() != map_.get()) {
      map_ = map;
      const int mine = static_cast<int>(v.getLocalLength());
      Teuchos::reduceAll(*map->getComm(), Teuchos::REDUCE_MIN, mine, Teuchos::outArg(fewestRows_));
    }
    return fewestRows_ >= count;
  }

  IntraOrthogonalization scheme_;
  ReductionBatch<Types> batch_;
  Tpetra::TsqrAdaptor<MultiVector> adaptor_;
  Teuchos::RCP<MultiVector> original_, factored_;
  Teuchos::RCP<const typename Types::Map> map_;
  int fewestRows_ = 0;
};

}  // namespace capstan
