#include "adapters/stratimikos/thyra_operators.hpp"

#include <Thyra_MultiVectorStdOps.hpp>
#include <Thyra_ScaledAdjointLinearOpBase.hpp>
#include <Thyra_TpetraThyraWrappers.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Operator.hpp>
#include <map>
#include <stdexcept>
#include <type_traits>

namespace capstan::stratimikos {

static_assert(std::is_same_v<Types::Scalar, double>, "Stratimikos solves in double precision");

namespace {

using TpetraSpace = Thyra::TpetraVectorSpace<double, Types::LocalOrdinal, Types::GlobalOrdinal, Types::Node>;
using TpetraColumns = Thyra::TpetraMultiVector<double, Types::LocalOrdinal, Types::GlobalOrdinal, Types::Node>;
using TpetraColumn = Thyra::TpetraVector<double, Types::LocalOrdinal, Types::GlobalOrdinal, Types::Node>;
using TpetraOp = Thyra::TpetraLinearOp<double, Types::LocalOrdinal, Types::GlobalOrdinal, Types::Node>;

Thyra::EOpTransp thyraMode(Teuchos::ETransp mode) {
  switch (mode) {
    case Teuchos::TRANS:
      return Thyra::TRANS;
    case Teuchos::CONJ_TRANS:
      return Thyra::CONJTRANS;
    default:
      return Thyra::NOTRANS;
  }
}

/// Applies a Thyra operator to Tpetra's vectors.
class AppliedThyraOperator final : public Types::Operator {
 public:
  AppliedThyraOperator(const Teuchos::RCP<const LinearOp>& op, const std::string& what)
      : op_(op),
        domain_(tpetraMap(op->domain(), "the domain of " + what)),
        range_(tpetraMap(op->range(), "the range of " + what)) {}

  Teuchos::RCP<const Types::Map> getDomainMap() const override { return domain_; }
  Teuchos::RCP<const Types::Map> getRangeMap() const override { return range_; }
  bool hasTransposeApply() const override { return Thyra::opSupported(*op_, Thyra::TRANS); }
  std::string description() const override { return op_->description(); }

  void apply(const Types::MultiVector& x, Types::MultiVector& y, Teuchos::ETransp mode, double alpha,
             double beta) const override {
    const bool forward = mode == Teuchos::NO_TRANS;
    const auto columns = spaceOfColumns(x.getNumVectors());
    const auto from = Thyra::createConstMultiVector<double, Types::LocalOrdinal, Types::GlobalOrdinal, Types::Node>(
        Teuchos::rcpFromRef(x), forward ? op_->domain() : op_->range(), columns);
    const auto to = Thyra::createMultiVector<double, Types::LocalOrdinal, Types::GlobalOrdinal, Types::Node>(
        Teuchos::rcpFromRef(y), forward ? op_->range() : op_->domain(), columns);
    Thyra::apply<double>(*op_, thyraMode(mode), *from, to.ptr(), alpha, beta);
  }

 private:
  /// Kept: Thyra makes a map for each otherwise.
  Teuchos::RCP<const VectorSpace> spaceOfColumns(std::size_t count) const {
    Teuchos::RCP<const VectorSpace>& space = columns_[count];
    if (space.is_null()) {
      space = Thyra::createVectorSpace<double, Types::LocalOrdinal, Types::GlobalOrdinal, Types::Node>(
          Tpetra::createLocalMapWithNode<Types::LocalOrdinal, Types::GlobalOrdinal, Types::Node>(count,
                                                                                                 domain_->getComm()));
    }
    return space;
  }

  Teuchos::RCP<const LinearOp> op_;
  Teuchos::RCP<const Types::Map> domain_, range_;
  mutable std::map<std::size_t, Teuchos::RCP<const VectorSpace>> columns_;
};

/// Null where the columns are no Tpetra object.
Teuchos::RCP<const Types::MultiVector> heldColumns(const Teuchos::RCP<const MultiVector>& columns) {
  if (const auto held = Teuchos::rcp_dynamic_cast<const TpetraColumns>(columns); !held.is_null()) {
    return held->getConstTpetraMultiVector();
  }
  const auto column = Teuchos::rcp_dynamic_cast<const TpetraColumn>(columns);
  return column.is_null() ? Teuchos::null : Teuchos::RCP<const Types::MultiVector>(column->getConstTpetraVector());
}

Teuchos::RCP<MultiVector> copyOf(const MultiVector& columns, const std::string& what) {
  tpetraMap(columns.range(), what);
  const Teuchos::RCP<MultiVector> copy = Thyra::createMembers(columns.range(), columns.domain());
  Thyra::assign(copy.ptr(), columns);
  return copy;
}

}  // namespace

Teuchos::RCP<const Types::Map> tpetraMap(const Teuchos::RCP<const VectorSpace>& space, const std::string& what) {
  const auto tpetra = Teuchos::rcp_dynamic_cast<const TpetraSpace>(space);
  if (tpetra.is_null()) {
    throw std::invalid_argument("Capstan: " + what + " is " + (space.is_null() ? "not there" : space->description()) +
                                "; Capstan solves on spaces of Tpetra's vectors, of Tpetra's default types. Epetra's "
                                "vectors, and products of spaces, are for other linear solver types");
  }
  if (!tpetra->isEuclidean()) {
    throw std::invalid_argument("Capstan: " + what +
                                " has a scalar product of its own; Capstan measures residuals in the Euclidean norm");
  }
  return tpetra->getTpetraMap();
}

Teuchos::RCP<const Types::Operator> tpetraOperator(const Teuchos::RCP<const LinearOp>& op, const std::string& what) {
  double scale = 1.0;
  Thyra::EOpTransp transposed = Thyra::NOTRANS;
  Teuchos::RCP<const LinearOp> core;
  Thyra::unwrap<double>(op, &scale, &transposed, &core);
  const auto held = Teuchos::rcp_dynamic_cast<const TpetraOp>(core);
  const auto applied = Teuchos::rcp(new AppliedThyraOperator(op, what));
  if (held.is_null() || scale != 1.0 || Thyra::real_trans(transposed) != Thyra::NOTRANS) return applied;
  return held->getConstTpetraOperator();
}

Teuchos::RCP<const Types::MultiVector> tpetraColumns(const MultiVector& columns, const std::string& what) {
  const auto held = heldColumns(Teuchos::rcpFromRef(columns));
  return held.is_null() ? heldColumns(copyOf(columns, what)) : held;
}

ChangedColumns::ChangedColumns(const Teuchos::Ptr<MultiVector>& columns, const std::string& what) : columns_(columns) {
  Teuchos::RCP<MultiVector> thyra = Teuchos::rcpFromPtr(columns);
  if (heldColumns(thyra).is_null()) thyra = copy_ = copyOf(*columns, what);
  if (const auto held = Teuchos::rcp_dynamic_cast<TpetraColumns>(thyra); !held.is_null()) {
    tpetra_ = held->getTpetraMultiVector();
  } else {
    tpetra_ = Teuchos::rcp_dynamic_cast<TpetraColumn>(thyra, true)->getTpetraVector();
  }
}

void ChangedColumns::store() const {
  if (!copy_.is_null()) Thyra::assign(columns_, *copy_);
}

}  // namespace capstan::stratimikos
