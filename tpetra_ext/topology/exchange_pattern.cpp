#include "tpetra_ext/topology/exchange_pattern.hpp"

#include <limits>

namespace capstan::topology {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw std::invalid_argument("capstan: communication pattern: " + text);
}

void requireRanks(int ranks) {
  if (ranks < 1) refuse("ranks: " + std::to_string(ranks) + "; allowed: 1 or more");
}

}  // namespace

void requireWellFormed(const PeerLists& lists, int rank, int ranks, const char* what) {
  const auto bad = [&](const std::string& text) {
    refuse(std::string(what) + " of rank " + std::to_string(rank) + ": " + text);
  };
  if (lists.begin.size() != lists.peers.size() + 1 || lists.begin.front() != 0 ||
      lists.begin.back() != lists.entries.size()) {
    bad("the lists do not fill their array");
  }
  for (std::size_t k = 0; k < lists.size(); ++k) {
    const int peer = lists.peers[k];
    if (peer < 0 || peer >= ranks) {
      bad("peer " + std::to_string(peer) + "; allowed: 0 to " + std::to_string(ranks - 1));
    }
    if (peer == rank) bad("the rank itself among its peers");
    if (k > 0 && lists.peers[k - 1] >= peer) bad("peer " + std::to_string(peer) + " is not in ascending order");
    if (lists.begin[k] >= lists.begin[k + 1]) bad("an empty list for peer " + std::to_string(peer));
    const auto list = lists.list(k);
    if (list[0] < 0) bad("entry " + std::to_string(list[0]) + " of peer " + std::to_string(peer) + " is negative");
    for (std::size_t i = 1; i < list.size(); ++i) {
      if (list[i - 1] >= list[i]) {
        bad("entry " + std::to_string(list[i]) + " of peer " + std::to_string(peer) + " is not in ascending order");
      }
    }
  }
}

ExchangePattern ExchangePattern::fromNeeds(std::vector<LocalIndex> owned, std::vector<PeerLists> needs) {
  const auto ranks = static_cast<int>(owned.size());
  requireRanks(ranks);
  if (needs.size() != owned.size()) {
    refuse("needs of " + std::to_string(needs.size()) + " ranks, entries of " + std::to_string(ranks));
  }
  ExchangePattern pattern;
  pattern.ranks_.resize(owned.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (owned[r] < 0) refuse("rank " + std::to_string(rank) + " has " + std::to_string(owned[r]) + " entries");
    requireWellFormed(needs[r], rank, ranks, "needs");
    pattern.ranks_[r].owned = owned[r];
    for (std::size_t k = 0; k < needs[r].size(); ++k) {
      const int owner = needs[r].peers[k];
      const auto list = needs[r].list(k);
      const LocalIndex there = owned[static_cast<std::size_t>(owner)];
      if (list[list.size() - 1] >= there) {
        refuse("rank " + std::to_string(rank) + " needs entry " + std::to_string(list[list.size() - 1]) + " of rank " +
               std::to_string(owner) + ", which has " + std::to_string(there));
      }
      // Ranks are visited in ascending order, and so the peers of `sends` ascend too.
      for (const LocalIndex index : list) pattern.ranks_[static_cast<std::size_t>(owner)].sends.append(rank, index);
    }
    pattern.ranks_[r].needs = std::move(needs[r]);
  }
  return pattern;
}

RowPartition RowPartition::contiguous(long long rows, int ranks) {
  requireRanks(ranks);
  if (rows < 0) refuse("rows: " + std::to_string(rows) + "; allowed: 0 or more");
  std::vector<int> owners;
  owners.reserve(static_cast<std::size_t>(rows));
  for (int rank = 0; rank < ranks; ++rank) {
    const long long mine = rows / ranks + (rank < rows % ranks ? 1 : 0);
    owners.insert(owners.end(), static_cast<std::size_t>(mine), rank);
  }
  return fromOwners(std::move(owners), ranks);
}

RowPartition RowPartition::fromOwners(std::vector<int> owners, int ranks) {
  requireRanks(ranks);
  RowPartition partition;
  partition.begin_.assign(static_cast<std::size_t>(ranks) + 1, 0);
  for (std::size_t row = 0; row < owners.size(); ++row) {
    if (owners[row] < 0 || owners[row] >= ranks) {
      refuse("row " + std::to_string(row) + " has owner " + std::to_string(owners[row]) + "; allowed: 0 to " +
             std::to_string(ranks - 1));
    }
    ++partition.begin_[static_cast<std::size_t>(owners[row]) + 1];
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (partition.begin_[r + 1] > static_cast<std::size_t>(std::numeric_limits<LocalIndex>::max())) {
      refuse("rank " + std::to_string(rank) + " owns " + std::to_string(partition.begin_[r + 1]) + " rows; at most " +
             std::to_string(std::numeric_limits<LocalIndex>::max()) + " are allowed");
    }
    partition.begin_[r + 1] += partition.begin_[r];
  }
  partition.owner_ = std::move(owners);
  partition.local_.resize(partition.owner_.size());
  partition.rowsByRank_.resize(partition.owner_.size());
  std::vector<std::size_t> next(partition.begin_.begin(), partition.begin_.end() - 1);
  for (std::size_t row = 0; row < partition.owner_.size(); ++row) {
    const auto r = static_cast<std::size_t>(partition.owner_[row]);
    partition.local_[row] = static_cast<LocalIndex>(next[r] - partition.begin_[r]);
    partition.rowsByRank_[next[r]++] = static_cast<long long>(row);
  }
  return partition;
}

PeerLists listsOf(std::vector<ValueId> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  PeerLists lists;
  for (const ValueId& value : values) lists.append(value.owner, value.index);
  return lists;
}

}  // namespace capstan::topology
