#pragma once
/// \file
/// Columns of a matrix of rounding errors, of which a few rows with random signs stand for all.
///
/// If the columns of F are vectors of rounding errors with nothing in common, || F w ||^2 is about sum_k || f_k ||^2
/// w_k^2, and that is the mean of (sum_k +- || f_k || w_k)^2 over random signs. One row alone may miss it by orders of
/// magnitude, and then does so for all columns that follow from one another.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tpetra_ext/kernels/base/mixed_bits.hpp"

namespace capstan::tuning::sampled_column {
/// Rows. Derived: the mean of r squares falls below a hundredth of what is expected, and so the estimate below a tenth,
/// with probability 8e-2 for r = 1, 1e-2 for 2, 2e-4 for 4. Measured, nos7 with Jacobi, pipelined in blocks of 5: with
/// one row 5e-12 counted as 2e-14.
inline constexpr std::size_t rows = 4;
}  // namespace capstan::tuning::sampled_column

namespace capstan {

/// Local.
template <class Scalar>
class SampledColumn {
 public:
  /// Column `index` of F, of that norm.
  static SampledColumn rounding(int index, Scalar norm) {
    SampledColumn column;
    const std::uint64_t bits = kernels::mixed(static_cast<std::uint64_t>(index));
    for (std::size_t i = 0; i < column.entries_.size(); ++i) column.entries_[i] = (bits >> i & 1U) != 0 ? -norm : norm;
    return column;
  }

  void subtract(Scalar factor, const SampledColumn& other) {
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i] -= factor * other.entries_[i];
  }
  void divide(Scalar divisor) {
    for (Scalar& entry : entries_) entry /= divisor;
  }

  /// The norm of the column, estimated.
  Scalar size() const {
    Scalar norm = 0;
    for (const Scalar entry : entries_) norm = std::hypot(norm, entry);
    return norm / std::sqrt(static_cast<Scalar>(entries_.size()));
  }

 private:
  std::array<Scalar, tuning::sampled_column::rows> entries_{};
};

}  // namespace capstan
