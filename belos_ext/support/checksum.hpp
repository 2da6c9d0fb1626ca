#pragma once

/// \file
/// A number that stands for a sequence of values, so that ranks can compare what they hold by one small message.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "tpetra_ext/kernels/base/mixed_bits.hpp"

namespace capstan {

/// A finite number to six digits or so: 22 bits of its mantissa, and its exponent. What ranks have computed from the
/// same numbers may differ by rounding where their processors do. Local.
inline std::pair<long long, int> sixDigits(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return {std::llround(mantissa * 0x1p22), exponent};
}

/// value = sixDigits() of it; NaN and Inf stay, and what would be rounded to Inf. Local.
inline double roundedForRanks(double value) {
  if (!std::isfinite(value)) return value;
  const auto [mantissa, exponent] = sixDigits(value);
  const bool overflows = exponent == std::numeric_limits<double>::max_exponent && std::abs(mantissa) == 1LL << 22;
  return overflows ? value : std::ldexp(static_cast<double>(mantissa), exponent - 22);
}

/// FNV-1a over what is added, in order, and kernels::finalMix(). Local; the same on any machine.
class Checksum {
 public:
  void add(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      hash_ = (hash_ ^ ((value >> (8 * byte)) & 0xffU)) * 0x100000001B3ULL;
    }
  }

  /// As rounded by roundedForRanks().
  void add(double value) {
    const auto [mantissa, exponent] =
        std::isfinite(value) ? sixDigits(value) : std::pair<long long, int>(0, 100000 + std::isinf(value));
    add(static_cast<std::uint64_t>(mantissa));
    add(static_cast<std::uint64_t>(exponent));
  }

  void add(const std::string& text) {
    for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    add(static_cast<std::uint64_t>(text.size()));
  }

  std::uint64_t value() const { return kernels::finalMix(hash_); }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
};

}  // namespace capstan
