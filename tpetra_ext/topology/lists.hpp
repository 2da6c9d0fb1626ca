#pragma once

/// \file
/// Compact lists: what communication patterns and plans are made of.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace capstan::topology {

/// Number of an entry of a vector on the rank that owns it, from 0.
using LocalIndex = std::int32_t;

/// A stretch of an array that somebody else owns.
template <class T>
struct Span {
  const T* first = nullptr;
  const T* last = nullptr;

  const T* begin() const { return first; }
  const T* end() const { return last; }
  std::size_t size() const { return static_cast<std::size_t>(last - first); }
  bool empty() const { return first == last; }
  const T& operator[](std::size_t k) const { return first[k]; }
};

/// One list of numbers for each of some ranks, the peers, one list behind the other in one array.
struct PeerLists {
  std::vector<int> peers;
  std::vector<std::size_t> begin{0};  ///< where the list of a peer begins in `entries`, and the end
  std::vector<LocalIndex> entries;

  std::size_t size() const { return peers.size(); }
  bool empty() const { return peers.empty(); }
  Span<LocalIndex> list(std::size_t k) const { return {entries.data() + begin[k], entries.data() + begin[k + 1]}; }

  /// Begins the list of another peer, or adds to the last one if it is that peer's.
  void append(int peer, LocalIndex entry) {
    if (peers.empty() || peers.back() != peer) {
      peers.push_back(peer);
      begin.push_back(entries.size());
    }
    entries.push_back(entry);
    begin.back() = entries.size();
  }

  /// The place of a peer where peers ascend; size() if it is none of them.
  std::size_t find(int peer) const {
    const auto at = std::lower_bound(peers.begin(), peers.end(), peer);
    return at == peers.end() || *at != peer ? peers.size() : static_cast<std::size_t>(at - peers.begin());
  }
};

/// An entry of a distributed vector: its owner, and its number there.
struct ValueId {
  int owner = 0;
  LocalIndex index = 0;

  friend bool operator==(const ValueId& a, const ValueId& b) { return a.owner == b.owner && a.index == b.index; }
  friend bool operator!=(const ValueId& a, const ValueId& b) { return !(a == b); }
  friend bool operator<(const ValueId& a, const ValueId& b) {
    return a.owner != b.owner ? a.owner < b.owner : a.index < b.index;
  }
};

}  // namespace capstan::topology
