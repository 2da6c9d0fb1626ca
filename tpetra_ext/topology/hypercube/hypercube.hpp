#pragma once

/// \file
/// The virtual hypercube of an all-reduce by bidirectional exchange: who stands where, and what that means for ranks
/// that are not a power of two.
///
/// Source: [embedded-allreduce], section 4.

#include <cstddef>
#include <vector>

namespace capstan::topology {

/// position[r] of rank r in the hypercube: 0..ranks-1, each once.
///
/// Positions below 2^D, D = hypercubeDimensions(), are the corners; two corners are neighbours in dimension d where
/// they differ in bit d alone. A rank at a position from 2^D on is folded: it sends and receives through the rank at
/// position - 2^D.
using Positions = std::vector<int>;

/// The largest D with 2^D <= ranks; 0 for one rank. Local.
inline int hypercubeDimensions(int ranks) {
  int dimensions = 0;
  while (ranks >> (dimensions + 1) > 0) ++dimensions;
  return dimensions;
}

/// The corner through which a position sends: itself, or the one it is folded on. Local.
inline int cornerOf(int position, int dimensions) {
  return position < (1 << dimensions) ? position : position - (1 << dimensions);
}

/// Rank r at position r. Local.
inline Positions naturalPositions(int ranks) {
  Positions positions(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) positions[static_cast<std::size_t>(r)] = r;
  return positions;
}

/// Throws std::invalid_argument unless every position is there once. Local.
void requirePermutation(const Positions& positions);

}  // namespace capstan::topology
