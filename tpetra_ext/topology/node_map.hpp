#pragma once

/// \file
/// Which ranks share a node.

#include <cstddef>
#include <vector>

#include "tpetra_ext/topology/lists.hpp"

namespace capstan::topology {

/// Ranks 0..ranks()-1, dealt out to nodes 0..nodes()-1; every node has a rank. Plain data: everything is local.
class NodeMap {
 public:
  /// Ranks 0..p-1 on the first node, p..2p-1 on the second, and so on, for p = ranksPerNode; where p does not divide
  /// the number of ranks, the last node has fewer. Throws std::invalid_argument unless both are at least 1.
  static NodeMap uniform(int ranks, int ranksPerNode);

  /// Ranks with equal labels share a node: labels[r] is that of rank r. Nodes are numbered in the order in which their
  /// labels come first. Throws std::invalid_argument without a rank.
  static NodeMap fromLabels(const std::vector<long long>& labels);

  int ranks() const { return static_cast<int>(nodeOf_.size()); }
  int nodes() const { return static_cast<int>(begin_.size()) - 1; }

  /// The node of a rank, and the rank's place among the ranks there, from 0. Not checked: rank in 0..ranks()-1.
  int nodeOf(int rank) const { return nodeOf_[static_cast<std::size_t>(rank)]; }
  int placeOf(int rank) const { return placeOf_[static_cast<std::size_t>(rank)]; }
  bool sameNode(int rank, int other) const { return nodeOf(rank) == nodeOf(other); }

  /// The ranks of a node, ascending.
  Span<int> ranksOf(int node) const {
    const auto k = static_cast<std::size_t>(node);
    return {ranksByNode_.data() + begin_[k], ranksByNode_.data() + begin_[k + 1]};
  }
  int sizeOf(int node) const { return static_cast<int>(ranksOf(node).size()); }
  /// Ranks on the node that has most: "ppn" of [enlarged-cg], Table 1.
  int largestNode() const;

  /// The rank of `node` at the place that `rank` has on its own node, as [enlarged-cg], Fig. 2.6 and 4.8, pairs them.
  /// Where the node has fewer ranks, places are counted round it.
  int pairedRank(int rank, int node) const {
    const auto there = ranksOf(node);
    return there[static_cast<std::size_t>(placeOf(rank)) % there.size()];
  }

 private:
  explicit NodeMap(std::vector<int> nodeOf, int nodes);

  std::vector<int> nodeOf_, placeOf_;  // by rank
  std::vector<int> ranksByNode_;       // of node 0, of node 1, ...
  std::vector<std::size_t> begin_;     // where a node's ranks begin there, and the end
};

}  // namespace capstan::topology
