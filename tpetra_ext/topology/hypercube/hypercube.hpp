#pragma once

/// \file
/// The virtual hypercube of an all-reduce by bidirectional exchange: who stands where, and what that means for ranks
/// that are not a power of two.
///
/// Source: [embedded-cg], section 4.

#include <cstdint>
#include <vector>

namespace capstan::topology {

/// position[r] of rank r in the hypercube: 0..ranks-1, each once.
///
/// Positions below 2^D, D = hypercubeDimensions(), are the corners; two corners are neighbours in dimension d where
/// they differ in bit d alone. A rank at a position from 2^D on is folded: it sends and receives through the rank at
/// position - 2^D.
using Positions = std::vector<int>;

/// The order of the steps of the all-reduce: position p talks to p XOR 2^0 first, or to p XOR 2^(D-1). Where the low
/// dimensions lie within a node, descending sends less over the network: a value crosses it before it is spread.
enum class StepOrder { Ascending, Descending };

/// The largest D with 2^D <= ranks. Throws std::invalid_argument for ranks < 1. Local.
int hypercubeDimensions(int ranks);

/// The corner through which a position sends: itself, or the one it is folded on. Local.
inline std::uint32_t cornerOf(int position, int dimensions) {
  return static_cast<std::uint32_t>(position) & ((1U << dimensions) - 1U);
}

/// Rank r at position r. Throws std::invalid_argument for ranks < 1. Local.
Positions orderedPositions(int ranks);

/// Throws std::invalid_argument, naming the rank and the value found, unless `positions` is a permutation. Local.
void requirePermutation(const Positions& positions);

}  // namespace capstan::topology
