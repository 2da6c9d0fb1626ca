#pragma once

/// \file
/// A number that stands for a sequence of values, so that ranks can compare what they hold by one small message.

#include <cmath>
#include <cstdint>
#include <string>

namespace capstan {

/// To six digits or so: 22 bits of the mantissa. What ranks have computed from the same numbers may differ by rounding
/// where their processors do. Local.
inline double roundedForRanks(double value) {
  if (!std::isfinite(value)) return value;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(static_cast<double>(std::llround(mantissa * 0x1p22)), exponent - 22);
}

/// FNV-1a over what is added, in order, and a final mix that makes every bit depend on all of it ([Steele, Lea and
/// Flood 2014]). Local; the same on any machine.
class Checksum {
 public:
  void add(std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) {
      hash_ = (hash_ ^ ((value >> (8 * byte)) & 0xffU)) * 0x100000001B3ULL;
    }
  }

  /// As rounded by roundedForRanks().
  void add(double value) {
    int exponent = 0;
    const double mantissa = std::isfinite(value) ? std::frexp(value, &exponent) : 0;
    add(static_cast<std::uint64_t>(std::llround(mantissa * 0x1p22)));
    add(static_cast<std::uint64_t>(std::isfinite(value) ? exponent : 100000 + std::isinf(value)));
  }

  void add(const std::string& text) {
    for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    add(static_cast<std::uint64_t>(text.size()));
  }

  std::uint64_t value() const {
    std::uint64_t z = hash_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325ULL;
};

}  // namespace capstan
