#pragma once
/// \file
/// Well-mixed bits from integers, the same on any machine: random entries and signs without a state, hashes.

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace capstan::kernels {

/// Makes every bit depend on all of z; one to one. Source: [Steele, Lea and Flood 2014], the finaliser of SplitMix64.
KOKKOS_INLINE_FUNCTION std::uint64_t finalMix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// SplitMix64's number for the state z: of consecutive integers, too, the results have nothing in common.
KOKKOS_INLINE_FUNCTION std::uint64_t mixed(std::uint64_t z) { return finalMix(z + 0x9E3779B97F4A7C15ULL); }

}  // namespace capstan::kernels
