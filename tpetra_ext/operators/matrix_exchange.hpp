#pragma once

/// \file
/// The communication that a product with a Tpetra::CrsMatrix needs.

#include <Teuchos_RCP.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tpetra_ext/topology/exchange/distributed_pattern.hpp"
#include "tpetra_ext/topology/exchange_plan.hpp"
#include "tpetra_ext/topology/hypercube/embedded_plan.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {

/// One rank's plan for the products with a matrix, and with every other one on the same maps. Plain data: it may be
/// kept while MPI and Kokkos come and go.
struct MatrixExchange {
  topology::RankPlan plan;
  /// Its messages travel in one call of MPI for all neighbours.
  bool neighbourhood = false;
  /// Whether MPI is given addresses of a device.
  topology::DeviceAwareMpi deviceAware = topology::DeviceAwareMpi::Auto;
  /// Where the entry of X for a local column comes from: s < plan.owned: own entry s; else value s - plan.owned of what
  /// the rank needs.
  std::vector<topology::LocalIndex> columnSource;
  /// Of the matrix' domain and column map on this rank.
  std::uint64_t maps = 0;
  /// Of all ranks' maps: the same on all, so that parts which belong together can be told.
  std::uint64_t mapsOfAll = 0;
  /// The plan of a reduction that brings the same values; null: none is made.
  std::shared_ptr<const topology::EmbeddedPlan> embedded;

  /// Of memory. Local.
  std::size_t bytes() const;
};

/// Whether products with this matrix can be computed with a plan of ours: its rows are those of its range map, and are
/// distributed. Where each rank has all rows, Tpetra adds up what the ranks compute. The same on all ranks. Local.
template <class Types>
bool canExchange(const typename Types::CrsMatrix& a);

/// The plan whose messages are those of the matrix' own Tpetra::Import, for a matrix that canExchange(). Its checksums
/// of maps are zero: it is for this matrix alone. Local.
template <class Types>
std::shared_ptr<const MatrixExchange> exchangeOfItsImport(const typename Types::CrsMatrix& a);

/// Which entries of X the ranks need for a product with a matrix.
template <class Types>
class MatrixPattern {
 public:
  using CrsMatrix = typename Types::CrsMatrix;

  /// ranksPerNode: ranks 0..p-1 are taken for a node, p..2p-1 for the next, and so on, the last may have fewer; 0:
  /// those that share memory. Throws std::invalid_argument, on all ranks, for a matrix that is not fill-complete or
  /// that canExchange() refuses, and for a negative ranksPerNode. Collective.
  explicit MatrixPattern(const CrsMatrix& a, int ranksPerNode = 0);

  /// The plan with these options, which are the same on all ranks. Collective; throws as
  /// topology::DistributedPattern::plan().
  std::shared_ptr<const MatrixExchange> exchange(const topology::PlanOptions& options) const;

  /// A plan of a reduction that carries the values, and no other one. The positions are the same on all ranks. Throws
  /// std::invalid_argument where they are no permutation of the ranks. Collective.
  std::shared_ptr<const MatrixExchange> embedding(const topology::Positions& positions,
                                                  topology::StepOrder order = topology::StepOrder::Ascending) const;

  const topology::NodeMap& nodes() const { return pattern_->map(); }
  const topology::DistributedPattern& pattern() const { return *pattern_; }

 private:
  std::shared_ptr<MatrixExchange> made(topology::RankPlan plan) const;

  std::vector<topology::LocalIndex> columnSource_;
  std::uint64_t maps_ = 0, mapsOfAll_ = 0;
  std::unique_ptr<topology::DistributedPattern> pattern_;
};

/// MatrixExchange::maps of a matrix. Local.
template <class Types>
std::uint64_t checksumOfMaps(const typename Types::CrsMatrix& a);

}  // namespace capstan
