#include "tpetra_ext/operators/block_product.hpp"

#include <Teuchos_Comm.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Import.hpp>
#include <Tpetra_MultiVector.hpp>
#include <string>
#include <type_traits>
#include <typeinfo>
#ifdef HAVE_TEUCHOS_MPI
#include <Teuchos_DefaultMpiComm.hpp>
#endif

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/block_product.hpp"
#include "tpetra_ext/operators/matrix_exchange.hpp"
#include "tpetra_ext/operators/node_aware_operator.hpp"
#include "tpetra_ext/operators/overlap.hpp"

namespace capstan {
namespace {

/// Whether exchanges of ours work on a communicator.
bool exchanges(const Teuchos::Comm<int>& comm) {
#ifdef HAVE_TEUCHOS_MPI
  if (dynamic_cast<const Teuchos::MpiComm<int>*>(&comm) != nullptr) return true;
#endif
  return comm.getSize() == 1;
}

}  // namespace

template <class Types>
BlockProduct<Types>::BlockProduct(const Teuchos::RCP<const Operator>& a) {
  const Operator* const object = a.get();
  // A class derived from it may compute its products in another way.
  if (object != nullptr && typeid(*object) == typeid(CrsMatrix)) a_ = Teuchos::rcp_dynamic_cast<const CrsMatrix>(a);
}

template <class Types>
BlockProduct<Types>::~BlockProduct() = default;

template <class Types>
bool BlockProduct<Types>::takes(const MultiVector& X, const MultiVector& Y) const {
  if (!kernels::runsOnHost<typename Types::ExecutionSpace> || a_.is_null() || X.getNumVectors() == 0) return false;
  if (X.getNumVectors() != Y.getNumVectors() || !X.isConstantStride() || !Y.isConstantStride()) return false;
  if (!canExchange<Types>(*a_) || X.getLocalLength() != compat::localNumElements(*a_->getDomainMap()) ||
      Y.getLocalLength() != compat::localNumRows(*a_)) {
    return false;
  }
  return exchanges(*a_->getDomainMap()->getComm());
}

/// Made anew where the matrix has other maps by now.
template <class Types>
auto BlockProduct<Types>::product() -> NodeAwareOperator<Types>& {
  const auto graph = a_->getGraph();
  if (product_ == nullptr || graph->getImporter() != import_ || a_->getColMap() != columns_) {
    product_ = std::make_unique<NodeAwareOperator<Types>>(a_);
    import_ = graph->getImporter();
    columns_ = a_->getColMap();
  }
  return *product_;
}

template <class Types>
void BlockProduct<Types>::prepare(const MultiVector& X, const MultiVector& Y) {
  if (takes(X, Y)) product();
}

template <class Types>
bool BlockProduct<Types>::apply(const MultiVector& X, MultiVector& Y, const VectorRecurrence<Types>* then) {
  if (!takes(X, Y)) return false;
  if (then != nullptr) {
    product().apply(X, Y, *then);
  } else {
    product().apply(X, Y);
  }
  return true;
}

#define CAPSTAN_BLOCK_PRODUCT(S, LO, GO, NO) template class BlockProduct<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_BLOCK_PRODUCT)

}  // namespace capstan
