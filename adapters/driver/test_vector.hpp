// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A vector to compare two products with.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace capstan::driver {

/// A reproducible vector with entries in [-1, 1] that no symmetry of the mesh annihilates. Local.
/// \param first number of its first cell among those of all ranks
inline std::vector<double> testVector(std::int64_t first, std::size_t size) {
  std::vector<double> x(size);
  for (std::size_t i = 0; i < size; ++i) {
    x[i] = std::sin(0.7 + 1.3 * static_cast<double>((first + static_cast<std::int64_t>(i)) % 9973));
  }
  return x;
}

}  // namespace capstan::driver
