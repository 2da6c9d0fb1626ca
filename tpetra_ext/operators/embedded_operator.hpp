#pragma once

/// \file
/// A Tpetra::CrsMatrix whose products send nothing: what they need of other ranks travels inside reductions.

#include <Teuchos_RCP.hpp>
#include <memory>
#include <vector>

#include "tpetra_ext/operators/node_aware_operator.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"
#include "tpetra_ext/topology/exchange/embedded_exchange.hpp"
#include "tpetra_ext/topology/hypercube/hypercube_mapping.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {

/// A vector whose entries travel inside a reduction, and room for those that this rank needs of others.
template <class Types>
struct CarriedVector {
  const typename Types::MultiVector* own = nullptr;
  typename Types::MultiVector* ghosts = nullptr;
};

/// What an embedded exchange sends, and what a halo exchange of its own would; of all ranks, the same on each.
struct EmbeddingFacts {
  int dimensions = 0;  ///< of the hypercube
  int messages = 0;    ///< in a reduction, of the rank that sends most
  int neighbours = 0;  ///< ranks that a rank sends to in a halo exchange; the most
  double meanNeighbours = 0;
  double halo = 0;    ///< values a rank needs; the mean
  double values = 0;  ///< values a rank sends in a reduction with one vector, its own and those it passes on; the mean
};

/// The communication of products that travel inside reductions. Plain data.
struct Embedding {
  std::shared_ptr<const MatrixExchange> exchange;  ///< null: none
  EmbeddingFacts facts;
  double setupSeconds = 0;  ///< on the rank where it took longest
};

/// Of a matrix that canExchange() takes. Throws std::invalid_argument for options out of range. Collective.
/// \param options where ranksPerNode is 0, it is that of ranks that share memory
template <class Types>
Embedding embeddingOf(const typename Types::CrsMatrix& a, topology::MappingOptions options);

/// Products with a matrix in two halves: a reduction that carries entries, and a local product with what it has
/// brought. Between the two, vectors that are combined of others can be combined on the entries of others as well, so
/// that one vector of a recurrence has to travel, and no message is left but those of the reduction.
///
/// Source: [embedded-cg], Algorithm 4.
template <class Types>
class EmbeddedOperator {
 public:
  using MultiVector = typename Types::MultiVector;
  using CrsMatrix = typename Types::CrsMatrix;

  /// exchange: with an embedded plan, and fit for the matrix on all ranks (NodeAwareOperator::fits()). Throws
  /// std::invalid_argument otherwise. No reduction, but the communicator's channel where it has none yet. On all ranks,
  /// in the same order as other exchanges.
  EmbeddedOperator(Teuchos::RCP<const CrsMatrix> a, std::shared_ptr<const MatrixExchange> exchange);
  ~EmbeddedOperator();

  /// As NodeAwareOperator::exchangeMatrix().
  void exchangeMatrix(Teuchos::RCP<const CrsMatrix> a) { product_.exchangeMatrix(std::move(a)); }
  const CrsMatrix& matrix() const { return product_.matrix(); }

  /// Of what this rank needs of others: an entry for each value of its needs, in their order. A map of this rank alone.
  Teuchos::RCP<const typename Types::Map> ghostMap() const { return ghostMap_; }

  /// y = A x, with what others own of x on ghostMap(); all of one column. Local.
  void multiply(const MultiVector& x, const MultiVector& ghosts, MultiVector& y) const;

  /// Reduces the batches together, and brings what the vectors need, in lg K messages a rank. Collective. Throws as
  /// ReductionBatch::reduceTogether() and topology::EmbeddedExchange::run().
  void reduce(const std::vector<ReductionBatch<Types>*>& batches, const std::vector<CarriedVector<Types>>& carried);

  const topology::EmbeddedPlan& plan() const { return *product_.exchange().embedded; }
  const MatrixExchange& exchange() const { return product_.exchange(); }
  /// What this rank has sent in reductions so far. Local.
  const topology::ExchangeCounters& counters() const { return exchange_.counters(); }

 private:
  struct Load;

  NodeAwareOperator<Types> product_;
  Teuchos::RCP<const typename Types::Map> ghostMap_;
  topology::EmbeddedExchange<Types> exchange_;
  std::unique_ptr<Load> load_;  // of the reduction at hand
};

}  // namespace capstan
