#pragma once
/// \file
/// The condition of a triangular matrix that grows column by column, estimated.
///
/// Source: [Bischof 1990], incremental condition estimation. Where || x^T R || = sigma, || x || = 1, the matrix with a
/// further column (w; gamma) has among the vectors (s x; c), s^2 + c^2 = 1, one of least length: an eigenvector of a
/// 2 x 2 matrix. sigma bounds the smallest singular value from above, usually within a small factor; the pivots by
/// themselves may be wrong by orders of magnitude. Columns can be taken back. Local, replicated; 5 k flops for column
/// k.

#include <algorithm>
#include <cmath>
#include <vector>

namespace capstan {

template <class Scalar>
class TriangularCondition {
 public:
  /// Keeps the first `columns` columns.
  void truncate(int columns) { steps_.resize(std::min(steps_.size(), static_cast<std::size_t>(columns))); }

  /// Appends the next column, k, with its entries 0..k.
  void append(const Scalar* column) {
    const std::size_t k = steps_.size();
    Scalar alpha = 0, tail = 1, entry = std::abs(column[k]);  // alpha = x^T w, x_i = c_i s_{i+1} ... s_{k-1}
    for (std::size_t i = k; i-- > 0;) {
      alpha += tail * steps_[i].c * column[i];
      tail *= steps_[i].s;
      entry = std::max(entry, std::abs(column[i]));
    }
    const Scalar gamma = column[k];
    if (k == 0) {
      steps_.push_back({0, 1, entry, entry});
      return;
    }
    // || (s x; c)^T R ||^2 = (s, c) [sigma^2 + alpha^2, alpha gamma; alpha gamma, gamma^2] (s, c)^T
    const Scalar sigma = steps_.back().smallest;
    const Scalar scale = std::max({sigma, std::abs(alpha), std::abs(gamma)});
    const Scalar p = sigma / scale, q = alpha / scale, r = gamma / scale;
    const Scalar angle = scale > 0 ? std::atan2(2 * q * r, p * p + q * q - r * r) / 2 : Scalar(0);
    const Scalar s = -std::sin(angle), c = std::cos(angle);
    steps_.push_back({s, c, std::hypot(s * sigma, s * alpha + c * gamma), std::max(steps_.back().largest, entry)});
  }

  /// The smallest singular value over the largest entry; 1 without columns, 0 for a singular matrix.
  Scalar reciprocal() const {
    if (steps_.empty()) return 1;
    return steps_.back().largest > 0 ? steps_.back().smallest / steps_.back().largest : Scalar(0);
  }

 private:
  struct Step {
    Scalar s, c;               ///< x <- (s x; c)
    Scalar smallest, largest;  ///< singular value, entry
  };
  std::vector<Step> steps_;
};

}  // namespace capstan
