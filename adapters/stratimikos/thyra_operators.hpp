#pragma once

/// \file
/// What Thyra hands over, as the Tpetra objects inside of it. Capstan's solvers know Tpetra's default types alone.

#include <Teuchos_RCP.hpp>
#include <Thyra_LinearOpBase_decl.hpp>
#include <Thyra_MultiVectorBase_decl.hpp>
#include <Thyra_VectorSpaceBase_decl.hpp>
#include <string>

#include "tpetra_ext/types.hpp"

namespace capstan::stratimikos {

using Types = DefaultTypes;
using LinearOp = Thyra::LinearOpBase<double>;
using MultiVector = Thyra::MultiVectorBase<double>;
using VectorSpace = Thyra::VectorSpaceBase<double>;

/// The map of a space of Tpetra's vectors. `what` names the space in messages. Local.
/// Throws std::invalid_argument for another space (Epetra's, a product of spaces), and for one whose scalar product is
/// not the Euclidean one.
Teuchos::RCP<const Types::Map> tpetraMap(const Teuchos::RCP<const VectorSpace>& space, const std::string& what);

/// A Thyra operator for Tpetra's vectors: the Tpetra operator that it holds, so that methods see the matrix; where it
/// is scaled, transposed, a sum, a product or no Tpetra object at all, an operator that applies it. Local.
/// Throws std::invalid_argument as tpetraMap() does.
Teuchos::RCP<const Types::Operator> tpetraOperator(const Teuchos::RCP<const LinearOp>& op, const std::string& what);

/// The columns of a Thyra multivector or vector, as they lie there; those of another class on a space of Tpetra's
/// vectors are copied. Local, but a copy may be collective. Throws std::invalid_argument as tpetraMap() does.
Teuchos::RCP<const Types::MultiVector> tpetraColumns(const MultiVector& columns, const std::string& what);

/// The columns that a solve changes. Where they had to be copied, store() brings the copy back.
class ChangedColumns {
 public:
  /// As tpetraColumns().
  ChangedColumns(const Teuchos::Ptr<MultiVector>& columns, const std::string& what);
  const Teuchos::RCP<Types::MultiVector>& tpetra() const { return tpetra_; }
  void store() const;

 private:
  Teuchos::Ptr<MultiVector> columns_;
  Teuchos::RCP<MultiVector> copy_;  ///< null where there is none
  Teuchos::RCP<Types::MultiVector> tpetra_;
};

}  // namespace capstan::stratimikos
