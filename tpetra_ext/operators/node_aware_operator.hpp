#pragma once

/// \file
/// A Tpetra::CrsMatrix whose products send their messages as a communication plan says.

#include <Kokkos_Core.hpp>
#include <Teuchos_RCP.hpp>
#include <Tpetra_Operator.hpp>
#include <memory>

#include "tpetra_ext/operators/matrix_exchange.hpp"
#include "tpetra_ext/operators/vector_recurrence.hpp"
#include "tpetra_ext/topology/exchange/block_exchange.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {

/// Y = beta Y + alpha A X for a matrix A and any number of columns.
///
/// Rows that need nothing of other ranks are multiplied while the messages between nodes are under way, the others
/// afterwards; the matrix is used where it is, and read once for up to 16 columns, of which a copy is made row by row
/// (kernels/block_product.hpp). A row's products are summed in the order in which the matrix stores them, so that
/// results have the same bits for all plans.
///
/// Source: [enlarged-cg], section 2.2 and equation (4.1).
template <class Types>
class NodeAwareOperator final : public Types::Operator {
 public:
  using Scalar = typename Types::Scalar;
  using Map = typename Types::Map;
  using MultiVector = typename Types::MultiVector;
  using CrsMatrix = typename Types::CrsMatrix;

  /// For callers who know that fits() is true on all ranks.
  struct FitsOnAllRanks {};

  /// exchange: of this matrix, or of one on the same maps. Between products the values of A may change, and its graph
  /// on the same maps. Throws std::invalid_argument, on all ranks, where one is null or the exchange is for other maps.
  /// Collective: one reduction.
  NodeAwareOperator(Teuchos::RCP<const CrsMatrix> a, std::shared_ptr<const MatrixExchange> exchange);
  /// The same without asking the others: no reduction, but the communicator's channel where it has none yet. Throws
  /// where fits() is false here. On all ranks, in the same order as other exchanges.
  NodeAwareOperator(Teuchos::RCP<const CrsMatrix> a, std::shared_ptr<const MatrixExchange> exchange, FitsOnAllRanks);
  /// With the messages of the matrix' own Tpetra::Import, see exchangeOfItsImport(). Throws std::invalid_argument for a
  /// matrix that canExchange() refuses. As the constructor before it.
  explicit NodeAwareOperator(Teuchos::RCP<const CrsMatrix> a);
  ~NodeAwareOperator() override;

  /// Whether this rank can multiply by the matrix with this exchange; either may be null. Local: a pass over the maps.
  static bool fits(const CrsMatrix* a, const MatrixExchange* exchange);

  /// Multiplies by this matrix from now on. Throws std::invalid_argument where fits() is false here. Local; call it
  /// alike on all ranks.
  void exchangeMatrix(Teuchos::RCP<const CrsMatrix> a);

  Teuchos::RCP<const Map> getDomainMap() const override;
  Teuchos::RCP<const Map> getRangeMap() const override;
  bool hasTransposeApply() const override { return true; }

  /// As Tpetra::CrsMatrix::apply(), which is what computes products with the transpose. Collective. Not for use by two
  /// threads at once.
  void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             Scalar alpha = Teuchos::ScalarTraits<Scalar>::one(),
             Scalar beta = Teuchos::ScalarTraits<Scalar>::zero()) const override;

  /// Y = A X, and what `then` says of it, in the pass of the product. One column; Y and what `then` reads share no
  /// memory. As apply() otherwise.
  void apply(const MultiVector& X, MultiVector& Y, const VectorRecurrence<Types>& then) const;

  /// What others own of X: row k is value k of the rank's needs, the columns side by side.
  using Received = typename topology::BlockExchange<Types>::Received;
  /// Y = A X, where what others own of X is there already. X and Y are evenly spaced, and share no memory. Throws
  /// std::invalid_argument where the sizes differ from the matrix' and the plan's. Local.
  void applyReceived(const MultiVector& X, const Received& received, MultiVector& Y) const;

  const MatrixExchange& exchange() const { return *exchange_; }
  const CrsMatrix& matrix() const { return *a_; }
  /// What this rank has sent for products so far. Local.
  const topology::ExchangeCounters& counters() const { return messages_->counters(); }
  /// Where their messages are while they are MPI's, and why, for people. Local.
  std::string messageMemory() const { return messages_->memory(); }
  /// Rows of this rank that need nothing of others. Local.
  std::size_t interiorRows() const;

 private:
  struct Rows;
  /// Returns `a`. Throws as the constructor that calls it. Collective.
  static const Teuchos::RCP<const CrsMatrix>& requireOnAllRanks(const Teuchos::RCP<const CrsMatrix>& a,
                                                                const MatrixExchange* exchange);
  using Packed = Kokkos::View<Scalar*, typename Types::DeviceType>;
  using Numbers = Kokkos::View<const Scalar*, typename Types::DeviceType, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  void begin();
  void multiply(const MultiVector& X, MultiVector& Y, Scalar alpha, Scalar beta,
                const VectorRecurrence<Types>& then = {}) const;
  template <class View>
  Numbers rowsOf(const View& x) const;

  Teuchos::RCP<const CrsMatrix> a_;
  std::shared_ptr<const MatrixExchange> exchange_;
  mutable std::unique_ptr<Rows> rows_;  // of the graph at the last product
  mutable Packed packed_;               // the block that is multiplied, row by row
  // Destroyed first: where its views end, kernels that have been launched are waited for. They may still read RowRuns
  // in rows_, which is plain memory.
  std::unique_ptr<topology::BlockExchange<Types>> messages_;
};

}  // namespace capstan
