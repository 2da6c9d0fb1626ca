#pragma once
/// \file
/// How a symmetric method treats rows that hold a diagonal alone: solved first, then zero in every vector.
///
/// Such a row, a_ii x_i = b_i, makes a matrix nonsymmetric where its column is kept, as CFD codes do with a pinned
/// pressure. On the vectors that vanish there the matrix is symmetric (see DiagonalRows). LinearSystem::precondition()
/// keeps them at zero in M^{-1} r; A keeps them there by itself.

#include <cmath>
#include <limits>

#include "belos_ext/core/linear_system.hpp"

namespace capstan {

template <class Types>
class RowsFirst {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  /// Takes these rows out of a residual just computed. Local.
  void takeOut(LinearSystem<Types>& system, MultiVector& r) {
    squares_ = 0;
    const auto* rows = system.diagonalRows();
    if (rows == nullptr) return;
    squares_ = rows->squares(r);
    rows->clear(r);
  }

  /// Enters what they held into the first reduction.
  void enter(ReductionBatch<Types>& batch) { slot_ = batch.value(squares_); }

  /// What all ranks' rows held, after the reduction: a sum of squares.
  Scalar left(const ReductionBatch<Types>& batch) const { return batch[slot_]; }

  /// Whether that is more than rounding of b and of the rest of r leaves.
  static bool matters(Scalar left, Scalar rhs, Scalar rest) {
    constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
    return left > epsilon * epsilon * (rhs + rest);
  }

  /// Solves the rows: x_i += r_i / a_ii, and r = b - A x without them. 2 A. Collective.
  void solve(LinearSystem<Types>& system, int iteration, const MultiVector& b, MultiVector& x, MultiVector& r) {
    system.tell(iteration, "diagonal rows", "solved first");
    system.residual(b, x, r);
    if (const auto* rows = system.diagonalRows(); rows != nullptr) rows->solve(r, x);
    system.residual(b, x, r);
    takeOut(system, r);
  }

 private:
  Scalar squares_ = 0;
  typename ReductionBatch<Types>::Slot slot_;
};

}  // namespace capstan
