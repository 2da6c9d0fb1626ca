#pragma once

/// \file
/// How the ranks of each value are spread over the hypercube: what the mapping heuristics count.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tpetra_ext/topology/hypercube/hypercube_mapping.hpp"

namespace capstan::topology {

/// A mapping problem: parts (ranks, or nodes) at positions of a hypercube, and the values that they share.
struct MappingProblem {
  int dimensions = 0;
  Positions positions;     ///< by part, a permutation; those from 2^dimensions on are folded, and fewer than these
  std::vector<int> group;  ///< by part: only parts of the same group are swapped
  std::vector<SharedValues> values;  ///< their ranks are parts
};

/// A swap of two parts on different corners.
struct Swap {
  int a = -1, b = -1;
  long long gain = 0;  ///< what it saves
};

/// For each value and dimension: the number of its parts whose corner has that bit. Not checked: anything.
class ValueCounts {
 public:
  explicit ValueCounts(const MappingProblem& problem);

  int parts() const { return static_cast<int>(corner_.size()); }
  int dimensions() const { return dimensions_; }
  std::uint32_t corner(int part) const { return corner_[static_cast<std::size_t>(part)]; }
  std::size_t values() const { return weight_.size(); }
  long long weight(std::size_t value) const { return weight_[value]; }
  Span<int> partsOf(std::size_t value) const {
    return {parts_.data() + partsBegin_[value], parts_.data() + partsBegin_[value + 1]};
  }
  Span<std::size_t> valuesOf(int part) const {
    const auto p = static_cast<std::size_t>(part);
    return {values_.data() + valuesBegin_[p], values_.data() + valuesBegin_[p + 1]};
  }

  /// Dimensions in which all parts of the value have the same bit: it does not travel there.
  std::uint32_t still(std::size_t value) const { return states_[value].none | states_[value].all; }

  /// Dimensions in which this part of the value is the only one with its bit.
  std::uint32_t alone(std::size_t value, int part) const {
    const State& state = states_[value];
    const std::uint32_t bits = corner(part);
    return (state.one & bits) | (state.allButOne & ~bits);
  }

  /// What equation (4) gives. O(V).
  long long cost() const;

  /// What swapping two parts saves. O(lists of both): the searches keep gains instead.
  long long gain(int a, int b) const;

  /// Swaps two parts of different corners. For each value that has one of the two, calls before(value, dimensions) with
  /// the counts as they were, and later after(value, dimensions) with the new ones, where there are dimensions in which
  /// still() or alone() of another part may differ.
  template <class Before, class After>
  void swap(int a, int b, const Before& before, const After& after) {
    findChanges(a, b);
    for (const Change& change : changes_) {
      if (change.dimensions != 0) before(change.value, change.dimensions);
    }
    apply(a, b);
    for (const Change& change : changes_) {
      if (change.dimensions != 0) after(change.value, change.dimensions);
    }
  }

 private:
  /// Dimensions in which no, one, all but one, all parts have the bit.
  struct State {
    std::uint32_t none = 0, one = 0, allButOne = 0, all = 0;
  };
  /// A value that one of two swapped parts has.
  struct Change {
    std::size_t value = 0;
    std::uint32_t dimensions = 0;
    int part = 0;  // which one
  };
  State stateOf(std::size_t value) const;
  void findChanges(int a, int b);
  void apply(int a, int b);

  int dimensions_;
  std::vector<std::uint32_t> corner_;     // by part
  std::vector<long long> weight_;         // by value
  std::vector<int> parts_;                // of value 0, of value 1, ...
  std::vector<std::size_t> partsBegin_;   // where a value's parts begin there, and the end
  std::vector<std::size_t> values_;       // of part 0, of part 1, ..., ascending
  std::vector<std::size_t> valuesBegin_;  // likewise
  std::vector<int> ones_;                 // by value, then by dimension
  std::vector<State> states_;             // by value: what ones_ says
  std::vector<Change> changes_;           // of the latest swap
};

}  // namespace capstan::topology
