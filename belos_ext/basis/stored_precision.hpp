#pragma once
/// \file
/// "Basis Precision": whether the final columns of the Krylov basis of a cycle are stored in single precision.
///
/// Source: [Aliaga, Anzt, Gruetzmacher, Quintana-Orti and Tomas 2022]; how exact H has to be: inexact Krylov methods
/// ([Simoncini and Szyld 2003]).
///
/// A column that is rounded leaves A M^{-1} Q = Q H with an error of eps_s || A M^{-1} ||, eps_s = 2^{-24}, so that x,
/// made of Q y, has a residual other than the recursive one by about eps_s || A M^{-1} || || y ||. auto asks H and y of
/// the cycle before whether that would have mattered there: short solves, whose first cycle gains much, stay in double
/// precision, and so do systems that need it.

#include <algorithm>
#include <cmath>
#include <limits>

#include "belos_ext/dense/arnoldi_relation.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/problem/solver_state.hpp"

namespace capstan::tuning::stored_precision {
/// Part of what a cycle leaves of its residual, and of what it takes off it, that the error of single precision may be.
/// Chosen: what a slow cycle gains is soon undone. Cycles of m columns on a Laplacian have errors of about eps_s m^2.
inline constexpr double bearable = 1e-3;
/// Part of its residual that a cycle in single precision leaves, at least: beyond, its H says nothing. Chosen: ten
/// times eps_s, and some.
inline constexpr double leastLeft = 1e-6;
}  // namespace capstan::tuning::stored_precision

namespace capstan {

/// For the cycles of one right-hand side. Local.
class StoredPrecision {
 public:
  void configure(BasisPrecision wanted) {
    wanted_ = wanted;
    bears_ = false;
  }
  void recall(const SolverState& state) { bears_ = wanted_ == BasisPrecision::Auto && state.singleBasis; }
  void remember(SolverState& state) const {
    if (wanted_ == BasisPrecision::Auto && judged_) state.singleBasis = allBear_ && !refuted_;
  }

  /// A solve begins.
  void begin() {
    refuted_ = judged_ = told_ = false;
    allBear_ = true;
  }

  /// Whether the next cycle is in single precision.
  bool single() const {
    return !refuted_ && (wanted_ == BasisPrecision::Single || (wanted_ == BasisPrecision::Auto && bears_));
  }
  /// Whether automatic cycles are, for the first time in this solve: true once.
  bool changes() {
    if (told_ || wanted_ != BasisPrecision::Auto || !single()) return false;
    return told_ = true;
  }

  /// Bytes of a column, of those in double precision. auto keeps room for both.
  double part() const {
    switch (wanted_) {
      case BasisPrecision::Single:
        return 0.5;
      case BasisPrecision::Auto:
        return 1.5;
      case BasisPrecision::Double:
        break;
    }
    return 1;
  }

  /// Whether a cycle in single precision that began with `begun` is to end with this recursive residual.
  static bool isSpent(double recursive, double begun) {
    return recursive <= tuning::stored_precision::leastLeft * begun;
  }

  /// A cycle is over.
  /// \param begun its residual when it began   \param left what its recursion says is left of that
  template <class Scalar>
  void judge(const ArnoldiRelation<Scalar>& relation, int columns, double begun, double left) {
    if (wanted_ != BasisPrecision::Auto) return;
    bears_ = error(relation, columns) <= tuning::stored_precision::bearable * std::min(left, begun - left);
    allBear_ = allBear_ && bears_;
    judged_ = true;
  }

  /// One in single precision has led to an x whose residual is not the recursive one: the rest of the solve is in
  /// double precision.
  void refute() { refuted_ = true; }

 private:
  /// eps_s || H || || y ||, the norm of H by its largest column. NaN where there is one.
  template <class Scalar>
  static double error(const ArnoldiRelation<Scalar>& relation, int columns) {
    double largest = 0, size = 0;
    for (int j = 0; j < columns; ++j) {
      double length = 0;
      for (int i = 0; i <= j + 1; ++i) length = std::hypot(length, static_cast<double>(relation.hessenberg()(i, j)));
      largest = length > largest ? length : largest;
    }
    for (const Scalar entry : relation.leastSquares().solve(columns))
      size = std::hypot(size, static_cast<double>(entry));
    return 0.5 * std::numeric_limits<float>::epsilon() * largest * size;
  }

  BasisPrecision wanted_ = BasisPrecision::Double;
  bool bears_ = false;    ///< the last cycle would have borne, or has borne, single precision
  bool allBear_ = true;   ///< so have all of this solve
  bool judged_ = false;   ///< there has been one
  bool refuted_ = false;  ///< in this solve
  bool told_ = false;
};

}  // namespace capstan
