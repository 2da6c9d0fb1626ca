#pragma once
/// \file
/// How exact H has to be, and how much of a Krylov space that rounding has damaged a cycle can keep, and go on from.
///
/// Source: inexact Krylov methods; GMRES bears errors that grow as its residual falls, the less the worse H is
/// conditioned ([Simoncini and Szyld 2003]).

#include <algorithm>
#include <cmath>
#include <limits>

#include "belos_ext/basis/krylov_space.hpp"
#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan::tuning::gmres {
/// Part of the error that H may have by [Simoncini and Szyld 2003] that is let in before a cycle is cut. Derived: many
/// panels add up, H gets worse conditioned as columns come, and products of strong preconditioners are rounded far more
/// than by eps. Measured: RealMatrices.SStepGmresKeepsUpWithGmres.
inline constexpr double safety = 1e-5;
/// Errors of H, in eps, that are borne in any case. Chosen: below, rounding of the products themselves decides.
inline constexpr int leastError = 100;
}  // namespace capstan::tuning::gmres

namespace capstan::tuning::exact_columns {
/// Part of what an error of H may be for the residual to meet the target. Chosen.
inline constexpr double exactEnough = 0.01;
/// An H whose errors stay below gmres::safety is worth one column in so many. Chosen.
inline constexpr int fewOf = 20;
/// Errors that were let in by their estimates are at most so many times larger. Measured: 1 to 2.3 times on nos7 with
/// Jacobi and on a dense random matrix of 100 rows. A column that is taken back has cost an iteration.
inline constexpr double underestimated = 3;
/// || Q^T Q - I ||_F^2 below which vectors can be orthonormalised again. Derived: a norm below 1/2 leaves || Q^T Q ||
/// and its inverse below 2.
inline constexpr double independent = 0.25;
}  // namespace capstan::tuning::exact_columns

namespace capstan {

/// The largest number in (least, most], to within `step`, that `holds` holds of, where it holds of all smaller ones,
/// too; 0: of none.
template <class Holds>
int mostThat(int least, int most, int step, const Holds& holds) {
  int good = least, bad = most + 1;
  for (int k = most, less = step; k > good && bad - good > 1;) {
    if (holds(k)) {
      good = k;
    } else {
      bad = k;
    }
    if (bad - good <= step && good > least) break;
    k = good > least ? (good + bad) / 2 : std::max(bad - less, least + 1);
    less *= 2;
  }
  return good > least ? good : 0;
}

/// For a cycle in which A M^{-1} Q = Q H has lost digits, towards its end more than at its beginning. Made for one
/// look.
template <class Types>
class ExactColumns {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Matrix = SmallMatrix<Scalar>;

  /// \param space Q and H; its scratch vector is overwritten   \param batch is cleared
  ExactColumns(LinearSystem<Types>& system, const StopTest& stop, KrylovSpace<Types>& space,
               ReductionBatch<Types>& batch)
      : system_(system),
        stop_(stop),
        basis_(space.basis()),
        relation_(space.relation()),
        work_(space.scratch()),
        batch_(batch) {}

  /// The error of the next column of H, relative to the operator, that a solve to this target still bears. Local.
  static Scalar bearable(const ArnoldiRelation<Scalar>& relation, double target) {
    const auto& leastSquares = relation.leastSquares();
    return ratioOr(
        static_cast<Scalar>(tuning::gmres::safety) * leastSquares.reciprocalCondition() * static_cast<Scalar>(target),
        leastSquares.residual(), Scalar(1));
  }
  /// As much is borne in any case: rounding of the products themselves decides. Local.
  static constexpr Scalar least() { return tuning::gmres::leastError * std::numeric_limits<Scalar>::epsilon(); }

  /// The most columns from which a cycle can go on to the target: their vectors are independent, and their H is exact
  /// enough; 0: none, or less than half of `columns`. Found by bisection, to within `step`. An H that is more exact
  /// than that is worth `step` columns, or a few percent. Cost: 1 reduction, n columns^2 operations, and for each of a
  /// few trials 1 A, 1 M^{-1}, 1 reduction. Collective.
  int most(int columns, int step) {
    const int last = std::min(columns, independent(columns)), least = columns / 2;
    const int nearly = std::max(0, last - std::max(step, columns / tuning::exact_columns::fewOf));
    const double letIn = tuning::exact_columns::underestimated * tuning::gmres::safety;
    const int good = search(nearly, last, 1, static_cast<Scalar>(letIn));
    return good > nearly ? good : search(least, last, step, static_cast<Scalar>(tuning::exact_columns::exactEnough));
  }

  /// || A M^{-1} q_j - Q h_{:,j} || / || H ||, computed. 1 A, 1 M^{-1}, 1 reduction. Collective.
  Scalar error(int j) {
    const auto& h = relation_.hessenberg();
    Matrix column(j + 2, 1);
    for (int i = 0; i < j + 2; ++i) column(i, 0) = -h(i, j);
    Scalar size = 0;
    for (int c = 0; c <= j; ++c) {
      Scalar length = 0;
      for (int i = 0; i < c + 2; ++i) length = std::hypot(length, h(i, c));
      size = std::max(size, length);
    }
    system_.apply(basis_[j], work_);
    system_.kernels().accumulate(*basis_.columns(0, j + 2), column, work_);
    batch_.clear();
    const auto square = batch_.norm2(work_);
    system_.reduce(batch_);
    const Scalar relative = std::sqrt(batch_[square]) / size;
    return std::isfinite(relative) ? relative : std::numeric_limits<Scalar>::infinity();
  }

 private:
  /// How many columns have vectors, and one after them, that can be orthonormalised again: || Q^T Q - I ||_F < 1/2.
  int independent(int columns) {
    batch_.clear();
    const auto slot = batch_.trailingGram(*basis_.columns(0, columns + 1), 0);
    system_.reduce(batch_);
    const Matrix gram = fetched(batch_, slot);
    Scalar square = 0;
    for (int j = 0; j <= columns; ++j) {
      for (int i = 0; i < j; ++i) square += 2 * gram(i, j) * gram(i, j);
      square += (gram(j, j) - 1) * (gram(j, j) - 1);
      if (!(square < static_cast<Scalar>(tuning::exact_columns::independent))) return j - 1;
    }
    return columns;
  }

  int search(int least, int most, int step, Scalar part) {
    return mostThat(least, most, step, [&](int columns) { return isExact(columns, part); });
  }

  /// Whether the last of `columns` columns of H, the one with the largest error, is exact enough.
  /// \param part of the error it bears
  bool isExact(int columns, Scalar part) {
    const auto& leastSquares = relation_.leastSquares();
    const Scalar needed = ratioOr(leastSquares.reciprocalCondition() * static_cast<Scalar>(stop_.target()),
                                  leastSquares.residual(columns - 1), Scalar(1));
    return error(columns - 1) <= std::max(part * needed, least());
  }

  LinearSystem<Types>& system_;
  const StopTest& stop_;
  KrylovBasis<Types>& basis_;
  const ArnoldiRelation<Scalar>& relation_;
  MultiVector& work_;
  ReductionBatch<Types>& batch_;
};

}  // namespace capstan
