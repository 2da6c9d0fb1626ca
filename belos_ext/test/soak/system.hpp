#pragma once
/// \file
/// A linear system of the soak: replicated for the judge, distributed for the solver.

#include <Tpetra_CrsMatrix.hpp>
#include <memory>
#include <optional>

#include "belos_ext/test/soak/matrices.hpp"
#include "belos_ext/test/soak/recipe.hpp"
#include "belos_ext/test/support/problems.hpp"

namespace capstan::soak {

using testing::CrsMatrix;
using testing::GO;
using testing::Map;
using testing::MultiVector;
using testing::Operator;
using testing::RCP;
using testing::Scalar;
using testing::Types;
using Comm = Teuchos::Comm<int>;

/// An operator that counts its applications and may misbehave on purpose. Collective, as its matrix is.
class SoakOperator final : public Operator {
 public:
  /// Called with the number of the application, from 0, after out = matrix in.
  using Afterwards = std::function<void(int application, const MultiVector& in, MultiVector& out)>;

  explicit SoakOperator(RCP<const CrsMatrix> matrix, Afterwards afterwards = {})
      : matrix_(std::move(matrix)), afterwards_(std::move(afterwards)) {}
  RCP<const Map> getDomainMap() const override { return matrix_->getDomainMap(); }
  RCP<const Map> getRangeMap() const override { return matrix_->getRangeMap(); }
  /// Throws std::logic_error for a transpose, alpha != 1 or beta != 0: the solvers ask for neither; and after far more
  /// applications than "Maximum Iterations" allow: a solve that does not end.
  void apply(const MultiVector& in, MultiVector& out, Teuchos::ETransp mode, Scalar alpha, Scalar beta) const override;

  /// What it applies, where that is a matrix and no more; null elsewhere.
  RCP<const CrsMatrix> matrix() const { return afterwards_ ? Teuchos::null : matrix_; }
  int applications() const { return applications_; }
  void restart() const { applications_ = 0; }

 private:
  RCP<const CrsMatrix> matrix_;
  Afterwards afterwards_;
  mutable int applications_ = 0;
};

struct System {
  HostMatrix a;
  std::optional<HostMatrix> left;  ///< where the left preconditioner is linear and known
  HostBlock b;
  RCP<CrsMatrix> matrix;
  RCP<const Operator> op;                               ///< what the solver gets for A
  RCP<const SoakOperator> counted;                      ///< the same, where it counts
  RCP<const SoakOperator> leftOperator, rightOperator;  ///< null without
  bool bare = false;                                    ///< these are given as their matrices, and count nothing
  RCP<MultiVector> x, rhs;

  /// What the solver gets for a preconditioner.
  RCP<const Operator> given(const RCP<const SoakOperator>& side) const {
    return bare ? RCP<const Operator>(side->matrix()) : RCP<const Operator>(side);
  }
  bool hasLeft() const { return !leftOperator.is_null(); }
  bool hasRight() const { return !rightOperator.is_null(); }
};

/// Collective on comm. \param leftIsRight the solver takes no left preconditioner: put it on the right
System makeSystem(const SystemRecipe& recipe, const RCP<const Comm>& comm, bool leftIsRight);

/// All entries on every rank. Collective.
HostBlock gathered(const MultiVector& v);

/// Copies the entries of this rank's rows. Local.
RCP<MultiVector> distributed(const HostBlock& block, const RCP<const Map>& map);

/// The matrix with this rank's rows. Collective.
RCP<CrsMatrix> distributed(const HostMatrix& matrix, const RCP<const Map>& map);

}  // namespace capstan::soak
