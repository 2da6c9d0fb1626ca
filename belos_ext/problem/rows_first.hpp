#pragma once
/// \file
/// How a symmetric method treats rows that hold a diagonal alone: solved first, then zero in every vector.
///
/// Such a row, a_ii x_i = b_i, makes a matrix nonsymmetric where its column is kept, as CFD codes do with a pinned
/// pressure. On the vectors that vanish there the matrix is symmetric (see DiagonalRows). LinearSystem::precondition()
/// keeps them at zero in M^{-1} r; A keeps them there by itself.

#include <cmath>
#include <limits>

#include "belos_ext/problem/linear_system.hpp"

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
    squares_ = rows->takeOut(r, held_);
  }

  /// Enters what they held into the first reduction.
  void enter(ReductionBatch<Types>& batch) { slot_ = batch.value(squares_); }

  /// What all ranks' rows held, after the reduction: a sum of squares.
  Scalar left(const ReductionBatch<Types>& batch) const { return batch[slot_]; }

  /// || b - A x || of the residual that takeOut() has taken apart.
  /// \param rest the square of the norm of r without the rows   \param batch is cleared where squares may have
  /// underflowed, for one more reduction. Collective
  double norm(LinearSystem<Types>& system, MultiVector& r, Scalar left, Scalar rest, ReductionBatch<Types>& batch) {
    if (!vanishes(r, left + rest)) return std::sqrt(static_cast<double>(left + rest));
    putBack(system, r);
    const double whole = system.norm(r, left + rest, batch);
    clear(system, r);
    return whole;
  }

  /// || M_L^{-1} (b - A x) || with the rows that r is without. Only some ranks may ask for it, so it comes after the
  /// first reduction, in which they compare their parameters. 1 M_L^{-1} and 1 reduction. Collective.
  /// \param z gets what M_L^{-1} makes   \param batch is cleared
  double nativeNorm(LinearSystem<Types>& system, MultiVector& r, MultiVector& z, ReductionBatch<Types>& batch) {
    putBack(system, r);
    const double whole = system.nativeNorm(r, z, batch);
    clear(system, r);
    return whole;
  }

  /// Whether that is more than rounding of b and of the rest of r leaves, or too small to tell.
  static bool matters(const MultiVector& r, Scalar left, Scalar rhs, Scalar rest) {
    constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
    return left > epsilon * epsilon * (rhs + rest) || vanishes(r, left + rest);
  }

  /// Solves the rows: x_i = b_i / a_ii, to which the guess contributes no rounding, and r = b - A x without them. 1 A.
  /// Collective.
  void solve(LinearSystem<Types>& system, int iteration, const MultiVector& b, MultiVector& x, MultiVector& r) {
    system.tell(iteration, EventKind::DiagonalRows);
    if (const auto* rows = system.diagonalRows(); rows != nullptr) rows->solve(b, x);
    system.residual(b, x, r);
    takeOut(system, r);
  }

 private:
  /// Whether squares may have underflowed in this sum of them. False for NaN.
  static bool vanishes(const MultiVector& r, Scalar square) {
    return square < static_cast<Scalar>(r.getGlobalLength()) * std::numeric_limits<Scalar>::min();
  }

  /// Not b - A x once more: where b is the residual of a zero guess by definition, A 0 may be something else.
  void putBack(LinearSystem<Types>& system, MultiVector& r) const {
    if (const auto* rows = system.diagonalRows(); rows != nullptr) rows->putBack(held_, r);
  }
  void clear(LinearSystem<Types>& system, MultiVector& r) const {
    if (const auto* rows = system.diagonalRows(); rows != nullptr) rows->clear(r);
  }

  Scalar squares_ = 0;
  typename DiagonalRows<Types>::Held held_;
  typename ReductionBatch<Types>::Slot slot_;
};

}  // namespace capstan
