#pragma once

/// \file
/// The swaps of the heuristic KLF: of any two parts.

#include <cstddef>
#include <optional>
#include <vector>

#include "tpetra_ext/topology/hypercube/value_counts.hpp"

namespace capstan::topology {

/// One pass of KLF: for each part the best swap. What flipping one bit of one part saves is kept; a swap saves the sum
/// of these over the bits in which the two corners differ, less what both count for the values that they share.
/// Source of the heuristic: [embedded-cg], section 5.
class AllSwaps {
 public:
  explicit AllSwaps(const MappingProblem& problem);

  /// As in NeighbourSwaps.
  std::optional<Swap> best() const;
  void apply(const Swap& swap);
  std::vector<Swap> left() const;
  const ValueCounts& counts() const { return counts_; }

 private:
  struct Best {
    int part = -1;  // -1: none
    long long gain = 0;
  };
  bool mayBeSwapped(int a, int b) const { return !isLocked(b) && a != b && counts_.corner(a) != counts_.corner(b); }
  bool isLocked(int part) const { return locked_[static_cast<std::size_t>(part)] != 0; }
  const std::vector<int>& partners(int part) const {
    return members_[static_cast<std::size_t>(group_[static_cast<std::size_t>(part)])];
  }
  void countFlips(int part);
  template <class Take>
  void forGains(int part, const Take& take) const;
  void findBest(int part);
  void findChanged(const Swap& swap);

  ValueCounts counts_;
  std::vector<int> group_;                 // by part
  std::vector<std::vector<int>> members_;  // by group
  std::vector<long long> flips_;           // by part, then by dimension: what flipping the bit saves
  std::vector<Best> best_;                 // by part
  std::vector<char> locked_;               // by part
  std::vector<char> isChanged_;            // by part: 1 its flips, 2 only its best swap
  std::vector<int> changed_;               // those, none twice
  mutable std::vector<long long> shared_;  // by part; 0 between calls
};

}  // namespace capstan::topology
