#pragma once

/// \file
/// Products of a Tpetra::CrsMatrix with blocks of several columns, with Tpetra's own exchange.

#include <Kokkos_Core.hpp>
#include <Teuchos_RCP.hpp>
#include <vector>

#include "tpetra_ext/types.hpp"

namespace capstan {

/// Y = A X for blocks of columns: the messages are those that A itself sends, by its Tpetra::Import, and the local
/// product is ours (kernels/block_product.hpp), which reads the matrix once for up to 16 columns where Tpetra's reads
/// single entries of X. Measured: 3 to 4 times faster for 8 columns.
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

  /// Computes Y = A X and returns true; does nothing and returns false where A has to do it: it is no
  /// Tpetra::CrsMatrix, or one whose rows are not those of its range map; there is one column; columns do not lie
  /// beside one another; X and Y share memory; or kernels run on a device, for which nothing has been measured.
  /// Collective where it is true; ranks may differ, since the messages are the same.
  bool apply(const MultiVector& X, MultiVector& Y);

 private:
  using Packed = Kokkos::View<typename Types::Scalar*, typename Types::DeviceType>;

  bool takes(const MultiVector& X, const MultiVector& Y) const;
  MultiVector& imported(const Teuchos::RCP<const typename Types::Map>& columns, std::size_t count);

  Teuchos::RCP<const CrsMatrix> a_;
  Teuchos::RCP<MultiVector> imported_;                ///< X on the column map, as many columns as ever were
  std::vector<Teuchos::RCP<MultiVector>> firstOfIt_;  ///< its first columns, by their number
  Packed packed_;                                     ///< the same, row by row
};

}  // namespace capstan
