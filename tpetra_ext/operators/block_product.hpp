#pragma once

/// \file
/// Products of a Tpetra::CrsMatrix with blocks of columns, with the messages that it sends itself.

#include <Kokkos_Core.hpp>
#include <Teuchos_RCP.hpp>
#include <Tpetra_Import_fwd.hpp>
#include <memory>
#include <vector>

#include "tpetra_ext/types.hpp"

namespace capstan {

template <class Types>
class NodeAwareOperator;

/// Y = A X for blocks of columns: the messages are those that A itself sends, by its Tpetra::Import, and the local
/// product is ours (kernels/block_product.hpp), which reads the matrix once for up to 16 columns where Tpetra's reads
/// single entries of X. Measured: 3 to 4 times faster for 8 columns.
///
/// One column is multiplied by a NodeAwareOperator with these messages, which hides them behind the rows that need
/// none, and copies no vector.
///
/// Not for use by two threads at once.
template <class Types>
class BlockProduct {
 public:
  using Operator = typename Types::Operator;
  using MultiVector = typename Types::MultiVector;
  using CrsMatrix = typename Types::CrsMatrix;

  /// For the products of this operator, which may be null or of any kind.
  explicit BlockProduct(const Teuchos::RCP<const Operator>& a);
  ~BlockProduct();
  BlockProduct(const BlockProduct&) = delete;
  BlockProduct& operator=(const BlockProduct&) = delete;

  /// Computes Y = A X and returns true; does nothing and returns false where A has to do it: it is no
  /// Tpetra::CrsMatrix, or one whose rows are not those of its range map; columns do not lie beside one another;
  /// several columns share memory with Y; the communicator is not MPI's; or kernels run on a device, for which nothing
  /// has been measured. Collective where it is true; with several columns ranks may differ, since the messages are
  /// Tpetra's.
  bool apply(const MultiVector& X, MultiVector& Y);

  /// Makes what apply() needs for such vectors of one column, so that it allocates nothing later. On all ranks alike,
  /// in the same order as other exchanges.
  void prepare(const MultiVector& X, const MultiVector& Y);

 private:
  using Packed = Kokkos::View<typename Types::Scalar*, typename Types::DeviceType>;

  bool takes(const MultiVector& X, const MultiVector& Y) const;
  NodeAwareOperator<Types>& single();
  MultiVector& imported(const Teuchos::RCP<const typename Types::Map>& columns, std::size_t count);

  Teuchos::RCP<const CrsMatrix> a_;
  Teuchos::RCP<MultiVector> imported_;                ///< X on the column map, as many columns as ever were
  std::vector<Teuchos::RCP<MultiVector>> firstOfIt_;  ///< its first columns, by their number
  Packed packed_;                                     ///< the same, row by row
  std::unique_ptr<NodeAwareOperator<Types>> single_;  ///< for one column; null: not needed yet
  using Import = Tpetra::Import<typename Types::LocalOrdinal, typename Types::GlobalOrdinal, typename Types::Node>;
  Teuchos::RCP<const Import> import_;  ///< of its messages
  Teuchos::RCP<const typename Types::Map> columns_;
};

}  // namespace capstan
