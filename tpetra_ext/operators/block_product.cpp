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
  // Rows that several ranks have are summed by Tpetra.
  if (a_->getRangeMap()->getComm()->getSize() > 1 && !Y.isDistributed()) return false;
  // Messages of our own: all ranks take it or none, and whether memory is shared may differ.
  if (X.getNumVectors() == 1) return exchanges(*a_->getDomainMap()->getComm());
  return !overlap(X.getLocalViewDevice(Tpetra::Access::ReadOnly), Y.getLocalViewDevice(Tpetra::Access::ReadOnly));
}

template <class Types>
auto BlockProduct<Types>::imported(const Teuchos::RCP<const typename Types::Map>& columns, std::size_t count)
    -> MultiVector& {
  if (imported_.is_null() || imported_->getMap() != columns || imported_->getNumVectors() < count) {
    firstOfIt_.clear();
    imported_ = Teuchos::rcp(new MultiVector(columns, count, false));
  }
  if (firstOfIt_.size() <= count) firstOfIt_.resize(count + 1);
  if (firstOfIt_[count].is_null()) {
    firstOfIt_[count] = imported_->subViewNonConst(Teuchos::Range1D(0, static_cast<int>(count) - 1));
  }
  return *firstOfIt_[count];
}

/// Made anew where the matrix has other maps by now.
template <class Types>
auto BlockProduct<Types>::single() -> NodeAwareOperator<Types>& {
  const auto graph = a_->getGraph();
  if (single_ == nullptr || graph->getImporter() != import_ || a_->getColMap() != columns_) {
    single_ = std::make_unique<NodeAwareOperator<Types>>(a_);
    import_ = graph->getImporter();
    columns_ = a_->getColMap();
  }
  return *single_;
}

template <class Types>
void BlockProduct<Types>::prepare(const MultiVector& X, const MultiVector& Y) {
  if (X.getNumVectors() == 1 && takes(X, Y)) single();
}

template <class Types>
bool BlockProduct<Types>::apply(const MultiVector& X, MultiVector& Y) {
  using Scalar = typename Types::Scalar;
  if (!takes(X, Y)) return false;
  if (X.getNumVectors() == 1) {
    single().apply(X, Y);
    return true;
  }
  const auto importer = a_->getGraph()->getImporter();
  const MultiVector* all = &X;
  if (!importer.is_null()) {
    MultiVector& columns = imported(a_->getColMap(), X.getNumVectors());
    columns.doImport(X, *importer, Tpetra::INSERT);
    all = &columns;
  }
  const typename Types::ExecutionSpace device;
  const auto x = all->getLocalViewDevice(Tpetra::Access::ReadOnly);
  const std::size_t size = x.extent(0) * x.extent(1);
  if (packed_.extent(0) < size) {
    packed_ = Packed();
    packed_ = Packed(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string("capstan packed rows")), size);
  }
  kernels::packRows(device, x, packed_);
  const auto matrix = a_->getLocalMatrixDevice();
  using Offset = std::decay_t<decltype(matrix.graph.row_map(0))>;
  using Column = std::decay_t<decltype(matrix.graph.entries(0))>;
  kernels::SparseRows<Scalar, Offset, Column> rows;
  rows.begin = matrix.graph.row_map.data();
  rows.columns = matrix.graph.entries.data();
  rows.values = matrix.values.data();
  kernels::multiplyRows(device, rows, 0, static_cast<std::ptrdiff_t>(compat::localNumRows(*a_)), Scalar(1), packed_,
                        Packed(), Scalar(0), Y.getLocalViewDevice(Tpetra::Access::OverwriteAll));
  return true;
}

#define CAPSTAN_BLOCK_PRODUCT(S, LO, GO, NO) template class BlockProduct<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_BLOCK_PRODUCT)

}  // namespace capstan
