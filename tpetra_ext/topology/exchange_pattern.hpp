#pragma once

/// \file
/// Who needs which entries of a distributed vector of whom, for a product with a sparse matrix for instance.

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tpetra_ext/topology/lists.hpp"

namespace capstan::topology {

/// One rank's part of a pattern. Peers ascend, and so do the entries of each list; the rank itself is no peer.
struct RankPattern {
  LocalIndex owned = 0;  ///< entries of the vector on this rank
  PeerLists needs;       ///< by owner: which of its entries this rank needs, as the owner numbers them
  PeerLists sends;       ///< by rank: which of this rank's own entries it needs
};

/// Throws std::invalid_argument, naming the rank and the value found, unless `lists` has the form that RankPattern asks
/// for and ranks in 0..ranks-1. `what` names it. Local.
void requireWellFormed(const PeerLists& lists, int rank, int ranks, const char* what);

/// The patterns of all ranks of a job, real or imagined, as one process sees them. Plain data.
class ExchangePattern {
 public:
  /// owned[r]: entries on rank r; needs[r]: as RankPattern::needs. What each rank sends follows. Throws
  /// std::invalid_argument where the numbers of ranks differ, where there is none, or where needs are not well formed
  /// or ask for what the owner does not have.
  static ExchangePattern fromNeeds(std::vector<LocalIndex> owned, std::vector<PeerLists> needs);

  int ranks() const { return static_cast<int>(ranks_.size()); }
  const RankPattern& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<RankPattern> ranks_;
};

/// Who owns which row of a matrix, and with it the entry of the vectors that has the row's number. Plain data.
class RowPartition {
 public:
  /// Ranks own rows one after the other, of as equal number as can be: the first `rows mod ranks` have one more.
  /// Throws std::invalid_argument for rows < 0 or ranks < 1.
  static RowPartition contiguous(long long rows, int ranks);

  /// owners[i]: the rank that owns row i. A rank numbers its rows in ascending order. Throws std::invalid_argument for
  /// ranks < 1 or an owner that is none.
  static RowPartition fromOwners(std::vector<int> owners, int ranks);

  long long rows() const { return static_cast<long long>(owner_.size()); }
  int ranks() const { return static_cast<int>(begin_.size()) - 1; }
  int ownerOf(long long row) const { return owner_[static_cast<std::size_t>(row)]; }
  LocalIndex localOf(long long row) const { return local_[static_cast<std::size_t>(row)]; }
  Span<long long> rowsOf(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return {rowsByRank_.data() + begin_[r], rowsByRank_.data() + begin_[r + 1]};
  }
  LocalIndex owned(int rank) const { return static_cast<LocalIndex>(rowsOf(rank).size()); }

 private:
  std::vector<int> owner_;             // by row
  std::vector<LocalIndex> local_;      // by row
  std::vector<long long> rowsByRank_;  // of rank 0, of rank 1, ...
  std::vector<std::size_t> begin_;
};

/// The values sorted, each once, as one list per owner. Local.
PeerLists listsOf(std::vector<ValueId> values);

/// The pattern of a product with a square matrix whose rows, and vectors, are dealt out by `partition`. Local: this
/// process makes all ranks' part, one rank after the other, and so needs not hold the matrix.
///
/// columnsOf(row, take) calls take(column) for every entry of a row, in any order, as often as it likes. Throws
/// std::invalid_argument for a column that is not in 0..rows-1.
template <class ColumnsOf>
ExchangePattern patternOfMatrix(const RowPartition& partition, const ColumnsOf& columnsOf) {
  std::vector<LocalIndex> owned;
  std::vector<PeerLists> needs;
  std::vector<ValueId> values;
  for (int rank = 0; rank < partition.ranks(); ++rank) {
    values.clear();
    for (const long long row : partition.rowsOf(rank)) {
      columnsOf(row, [&](long long column) {
        if (column < 0 || column >= partition.rows()) {
          throw std::invalid_argument("capstan: communication pattern: row " + std::to_string(row) + " has column " +
                                      std::to_string(column) + "; allowed: 0 to " +
                                      std::to_string(partition.rows() - 1));
        }
        if (const int owner = partition.ownerOf(column); owner != rank) {
          values.push_back({owner, partition.localOf(column)});
        }
      });
    }
    owned.push_back(partition.owned(rank));
    needs.push_back(listsOf(values));
  }
  return ExchangePattern::fromNeeds(std::move(owned), std::move(needs));
}

}  // namespace capstan::topology
