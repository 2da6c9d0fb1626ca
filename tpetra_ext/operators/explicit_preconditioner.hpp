#pragma once

/// \file
/// Preconditioners that are sparse products and no more: approximate inverses and polynomials.

#include <Teuchos_RCP.hpp>
#include <Tpetra_Operator.hpp>
#include <string>
#include <vector>

#include "tpetra_ext/types.hpp"

namespace capstan {

/// One product: v <- alpha F v + beta v + gamma u, with u = D r.
template <class Types>
struct ExplicitStage {
  Teuchos::RCP<const typename Types::CrsMatrix> matrix;  ///< F: fill-complete, its rows, range and domain on A's map
  typename Types::Scalar alpha = 1, beta = 0, gamma = 0;
};

/// M^{-1} r in explicit stages: u = D r, v = start u, then the stages one after the other; M^{-1} r is the last v.
///
/// Examples: an approximate inverse G is one stage (G); a factored one G^T G two; a polynomial of degree d in D A, by
/// its roots theta_k, has D = diag(A)^{-1}, start 1 / theta_1, and d stages (D A, -1 / theta_k, 1, 1 / theta_k).
/// What an application needs of other ranks is known beforehand, so it can come along with other messages (GhostZone).
///
/// Source: [embedded-cg], section 7, names such preconditioners; [Saad 1985] for polynomials.
template <class Types>
class ExplicitPreconditioner final : public Types::Operator {
 public:
  using Scalar = typename Types::Scalar;
  using Map = typename Types::Map;
  using Vector = typename Types::Vector;
  using MultiVector = typename Types::MultiVector;
  using Stage = ExplicitStage<Types>;

  /// \param name in description()   \param scaling D, n x 1 on `map`; null: the identity
  /// Throws std::invalid_argument without a stage, and for one whose matrix is missing, not fill-complete, or on other
  /// maps by their sizes, here or in all. Local; the same on every rank but for sizes here.
  ExplicitPreconditioner(std::string name, Teuchos::RCP<const Map> map, Teuchos::RCP<const Vector> scaling,
                         Scalar start, std::vector<Stage> stages);

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }

  /// Y = beta Y + alpha M^{-1} X, n x t, any t. One halo exchange a stage. Throws std::invalid_argument for a mode
  /// other than NO_TRANS. Collective. Not for use by two threads at once.
  void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             Scalar alpha = Teuchos::ScalarTraits<Scalar>::one(),
             Scalar beta = Teuchos::ScalarTraits<Scalar>::zero()) const override;

  const Teuchos::RCP<const Vector>& scaling() const { return scaling_; }
  Scalar start() const { return start_; }
  const std::vector<Stage>& stages() const { return stages_; }
  std::string description() const override { return name_; }

 private:
  std::string name_;
  Teuchos::RCP<const Map> map_;
  Teuchos::RCP<const Vector> scaling_;
  Scalar start_;
  std::vector<Stage> stages_;
  mutable Teuchos::RCP<MultiVector> u_, v_, w_;  // of the number of columns seen last
};

}  // namespace capstan
