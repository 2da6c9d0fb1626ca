#pragma once

/// \file
/// The swaps of the heuristic KLR: of parts that talk to each other in a step of the all-reduce.

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "tpetra_ext/topology/hypercube/value_counts.hpp"

namespace capstan::topology {

/// The largest of some numbers that change one by one. Ties: the first. Not checked: sizes.
class LargestOf {
 public:
  /// O(n).
  explicit LargestOf(const std::vector<long long>& numbers);
  /// Where the largest number stands. There must be one.
  std::size_t place() const { return winners_[1]; }
  /// numbers[place] is another. O(lg n).
  void update(const std::vector<long long>& numbers, std::size_t place);

 private:
  std::size_t better(const std::vector<long long>& numbers, std::size_t left, std::size_t right) const;
  std::size_t leaves_ = 1;
  std::vector<std::size_t> winners_;  // a binary tree: of 2 k and 2 k + 1 at k, leaves from leaves_ on
};

/// One pass of KLR: all swaps along the edges of the hypercube and what each saves. A swap along dimension d changes
/// one bit of two parts, so that only swaps in dimension d gain or lose by it, and each by a constant number of
/// operations for each value that it shares with the two. Source: [embedded-cg], section 5.
class NeighbourSwaps {
 public:
  explicit NeighbourSwaps(const MappingProblem& problem);

  /// The swap that saves most, of those whose parts have not been swapped in this pass; nothing where none is left.
  std::optional<Swap> best() const;
  /// Does a swap that is left, updates what the others save, and locks both parts.
  void apply(const Swap& swap);
  /// All that are left.
  std::vector<Swap> left() const;
  const ValueCounts& counts() const { return counts_; }

 private:
  using Pair = std::array<int, 2>;  // -1: none
  void findMoves(const MappingProblem& problem);
  void add(std::size_t value, std::uint32_t dimensions, int sign);
  Pair& movesOf(int part, int dimension) {
    return movesOf_[static_cast<std::size_t>(part) * static_cast<std::size_t>(counts_.dimensions()) +
                    static_cast<std::size_t>(dimension)];
  }
  void addMove(int a, int b, int dimension);
  void lock(int part);

  ValueCounts counts_;
  std::vector<Pair> moves_;        // their parts
  std::vector<long long> gains_;   // by move; least() where a part is locked
  std::vector<Pair> movesOf_;      // by part, then by dimension: at most two, where a corner has two parts
  std::vector<char> locked_;       // by part
  std::vector<std::size_t> seen_;  // by part: the latest value that was added and has it
  std::vector<char> isTouched_;    // by move
  std::vector<std::size_t> touched_;
  std::optional<LargestOf> largest_;  // none without moves
};

}  // namespace capstan::topology
