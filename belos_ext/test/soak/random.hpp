#pragma once
/// \file
/// Random numbers that depend on the seed alone, not on the platform, the number of ranks or the order of evaluation.

#include <cstdint>
#include <vector>

#include "tpetra_ext/kernels/base/mixed_bits.hpp"

namespace capstan::soak {

/// A number in [0, 1) from the upper 53 bits.
inline double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

/// Entry (i, j) of a random field in [-1, 1): the same on every rank.
inline double noise(std::uint64_t seed, std::uint64_t i, std::uint64_t j = 0) {
  return 2 * unit(kernels::mixed(kernels::mixed(kernels::mixed(seed) ^ i) + j)) - 1;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(kernels::mixed(seed)) {}

  std::uint64_t next() { return kernels::mixed(state_++); }
  double uniform() { return unit(next()); }
  bool chance(double probability) { return uniform() < probability; }
  /// low <= result <= high
  int between(int low, int high) {
    return low + static_cast<int>(next() % (static_cast<std::uint64_t>(high - low) + 1));
  }
  template <class T>
  T oneOf(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(next() % values.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace capstan::soak
