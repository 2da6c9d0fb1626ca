#pragma once

/// \file
/// Values shared by ranks on which mappings are tested.

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "tpetra_ext/topology/hypercube/hypercube_mapping.hpp"
#include "tpetra_ext/topology/test/patterns.hpp"

namespace capstan::topology::test {

/// `lists` random sets of 2 to `most` ranks, with 1 to 20 values each.
inline std::vector<SharedValues> randomValues(int ranks, int lists, int most, std::uint64_t seed) {
  Random random(seed);
  std::vector<SharedValues> values;
  for (int k = 0; k < lists && ranks > 1; ++k) {
    std::set<int> chosen;
    const auto size = static_cast<std::size_t>(std::min<long long>(ranks, 2 + random.below(most - 1)));
    while (chosen.size() < size) chosen.insert(static_cast<int>(random.below(ranks)));
    values.push_back({{chosen.begin(), chosen.end()}, 1 + random.below(20)});
  }
  return values;
}

/// Equations (3) and (4) word for word: for each dimension, are there both bits among the positions?
inline long long costByDefinition(const std::vector<SharedValues>& values, const Positions& positions) {
  const int dimensions = hypercubeDimensions(static_cast<int>(positions.size()));
  long long cost = 0;
  for (const SharedValues& value : values) {
    for (int d = 0; d < dimensions; ++d) {
      std::set<int> bits;
      for (const int rank : value.ranks) bits.insert(positions[static_cast<std::size_t>(rank)] >> d & 1);
      cost += value.count * (static_cast<long long>(bits.size()) - 1);
    }
  }
  return cost;
}

}  // namespace capstan::topology::test
