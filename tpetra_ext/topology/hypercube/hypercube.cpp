#include "tpetra_ext/topology/hypercube/hypercube.hpp"

#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace capstan::topology {
namespace {

void requireRanks(int ranks) {
  if (ranks >= 1) return;
  throw std::invalid_argument("capstan: hypercube: ranks: " + std::to_string(ranks) + "; allowed: 1 or more");
}

}  // namespace

int hypercubeDimensions(int ranks) {
  requireRanks(ranks);
  int dimensions = 0;
  while (ranks >> (dimensions + 1) != 0) ++dimensions;
  return dimensions;
}

Positions orderedPositions(int ranks) {
  requireRanks(ranks);
  Positions positions(static_cast<std::size_t>(ranks));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

void requirePermutation(const Positions& positions) {
  const int ranks = static_cast<int>(positions.size());
  requireRanks(ranks);
  std::vector<char> isTaken(positions.size(), 0);
  for (int rank = 0; rank < ranks; ++rank) {
    const int position = positions[static_cast<std::size_t>(rank)];
    if (position < 0 || position >= ranks || std::exchange(isTaken[static_cast<std::size_t>(position)], 1) != 0) {
      throw std::invalid_argument("capstan: hypercube: rank " + std::to_string(rank) + " has position " +
                                  std::to_string(position) + "; allowed: each of 0 to " + std::to_string(ranks - 1) +
                                  " once");
    }
  }
}

}  // namespace capstan::topology
