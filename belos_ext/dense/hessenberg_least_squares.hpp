#pragma once
/// \file
/// min_y || rhs - H y ||_2 for an upper Hessenberg H that grows column by column, by Givens rotations.
///
/// Columns can be taken back (truncate), which s-step methods need when a later pass over the basis refines H.
/// Source: [Saad and Schultz 1986], section 3.2. Local, replicated; cost 11 k flops for column k.

#include <cmath>
#include <vector>

#include "belos_ext/dense/small_matrix.hpp"
#include "belos_ext/dense/triangular_condition.hpp"

namespace capstan {

template <class Scalar>
class HessenbergLeastSquares {
 public:
  /// Starts anew with rhs = beta e_1, for at most `capacity` columns.
  void reset(int capacity, Scalar beta) {
    capacity_ = capacity;
    makeRoom(1);
    restart(beta);
  }

  int columns() const { return columns_; }

  /// Keeps the first `columns` columns.
  void truncate(int columns) {
    columns_ = std::min(columns, columns_);
    condition_.truncate(columns_);
  }

  /// Changes beta (of rhs = beta e_1); forgets all columns.
  void restart(Scalar beta) {
    truncate(0);
    tail_[0] = beta;
  }

  /// Appends column k = columns() with its k + 2 leading entries h[0..k+1]; returns the new residual norm.
  /// \param unit of its component of y: columns are told from dependent ones as multiples of it. A power of 2
  Scalar append(const Scalar* h, Scalar unit = 1) {
    const int k = columns_;
    makeRoom(k + 2);
    units_[k] = unit;
    for (int i = 0; i <= k + 1; ++i) r_(i, k) = h[i] / unit;
    for (int i = 0; i < k; ++i) rotate(cosines_[i], sines_[i], r_(i, k), r_(i + 1, k));
    const Scalar length = std::hypot(r_(k, k), r_(k + 1, k));
    // A column without a component of its own leaves the residual as it is: rotate by 90 degrees.
    cosines_[k] = length == Scalar(0) ? Scalar(0) : r_(k, k) / length;
    sines_[k] = length == Scalar(0) ? Scalar(1) : r_(k + 1, k) / length;
    r_(k, k) = length;
    condition_.append(r_[k]);
    rhs_[k] = cosines_[k] * tail_[k];
    tail_[k + 1] = -sines_[k] * tail_[k];
    columns_ = k + 1;
    return residual(columns_);
  }

  /// || rhs - H y || after the first `columns` columns.
  Scalar residual(int columns) const { return std::abs(tail_[columns]); }
  Scalar residual() const { return residual(columns_); }

  /// The reciprocal condition number of H, estimated; 1 without columns.
  Scalar reciprocalCondition() const { return condition_.reciprocal(); }

  /// The minimiser over the first `columns` columns. Directions whose pivot vanishes (a singular H) get no component.
  std::vector<Scalar> solve(int columns) const {
    std::vector<Scalar> y(rhs_.begin(), rhs_.begin() + columns);
    Scalar largest = 0;
    for (int i = 0; i < columns; ++i) largest = std::max(largest, std::abs(r_(i, i)));
    for (int i = columns - 1; i >= 0; --i) {
      for (int j = i + 1; j < columns; ++j) y[i] -= r_(i, j) * y[j];
      const bool vanishes = std::abs(r_(i, i)) <= std::numeric_limits<Scalar>::epsilon() * largest;
      y[i] = vanishes ? Scalar(0) : y[i] / r_(i, i);
    }
    for (int i = 0; i < columns; ++i) y[i] /= units_[i];
    return y;
  }

 private:
  void makeRoom(int size) {
    growTo(r_, size, capacity_ + 1);
    const auto room = static_cast<std::size_t>(r_.numCols());
    for (auto* numbers : {&cosines_, &sines_, &rhs_, &tail_, &units_}) numbers->resize(room);
  }

  static void rotate(Scalar c, Scalar s, Scalar& a, Scalar& b) {
    const Scalar t = c * a + s * b;
    b = -s * a + c * b;
    a = t;
  }

  int capacity_ = 0, columns_ = 0;
  SmallMatrix<Scalar> r_;
  std::vector<Scalar> cosines_, sines_, rhs_, tail_, units_;
  TriangularCondition<Scalar> condition_;
};

}  // namespace capstan
