#pragma once
/// \file
/// How far rounding has taken A M^{-1} Q = Q H from the truth, when H comes out of panels, and how far it may.
///
/// E = A M^{-1} Q - Q H, and D is the rounding of a new panel. The columns of H that it adds (arnoldi_relation.hpp)
/// have the errors
///
///   E_{:,j:j+s} = (D - E_{:,0:j} R_top) R_mid^{-1}.
///
/// They grow from panel to panel where vectors bring little that is new, though each panel by itself is well
/// conditioned. Panels of one step have R_mid = 1 and inherit nothing. A few rows of E, with random signs, stand for
/// all (sampled_column.hpp).
/// The estimate holds as far as R_mid is known when the panel comes: not where its Gram matrix lost its digits, though
/// the next panel may repair that.
///
/// How far it may: GMRES bears errors in later products that grow as its residual falls, || E_k || <= tol / || r_{k-1}
/// || relative to the operator (inexact Krylov methods; [Bouras and Fraysse 2005], [Simoncini and Szyld 2003]).
///
/// Replicated on every rank; no communication.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "belos_ext/dense/sampled_column.hpp"
#include "belos_ext/dense/small_matrix.hpp"

namespace capstan::tuning::relation_error {
/// What a panel may lose of orthonormality before the next one normalises it again. Chosen.
inline constexpr double mostLost = 1e-3;
}  // namespace capstan::tuning::relation_error

namespace capstan {

template <class Scalar>
class RelationError {
 public:
  using Matrix = SmallMatrix<Scalar>;
  using Columns = std::vector<SampledColumn<Scalar>>;

  /// Starts a cycle: Q has one column, H none.
  void begin() {
    columns_.clear();
    norm_ = 0;
  }

  /// How many steps of a panel factored once by Cholesky have columns of R_mid that its Gram matrix tells; at least 1.
  /// Rounding leaves of w = R_mid^{-1} e_k, V w = q_k, a vector with || q_k ||^2 - 1 of up to
  /// eps (sum_i || v_i || |w_i|)^2; the pivots alone say less. The next panel repairs the vector, and changes R_mid:
  /// too late for estimates.
  static int knownSteps(int first, const Matrix& coefficients) {
    const Matrix mid = block(coefficients, first, 0, coefficients.numCols(), coefficients.numCols());
    Matrix inverse = identity<Scalar>(mid.numCols());
    solveRight(mid, inverse);
    std::vector<Scalar> lengths;
    for (int i = 0; i < mid.numCols(); ++i) lengths.push_back(length(coefficients, i));
    const auto mostLost = static_cast<Scalar>(tuning::relation_error::mostLost);
    for (int k = 2; k < mid.numCols(); ++k) {
      Scalar sum = 0;
      for (int i = 0; i <= k; ++i) sum += lengths[static_cast<std::size_t>(i)] * std::abs(inverse(i, k));
      if (!(std::numeric_limits<Scalar>::epsilon() * sum * sum <= mostLost)) return k - 1;
    }
    return mid.numCols() - 1;
  }

  /// Takes in as many steps of a panel as have errors within `limit`, relative to the estimated norm of A M^{-1} on the
  /// space; at least 1. Columns between the last panel and this one count as exact.
  /// \param first column of Q the panel starts with   \param changeOfBasis (s+1) x s
  /// \param coefficients (first+s+1) x (s+1)   \param limit dimensionless
  /// \return the number of steps taken in
  int add(int first, const Matrix& changeOfBasis, const Matrix& coefficients,
          Scalar limit = std::numeric_limits<Scalar>::max()) {
    norm_ = std::max(norm_, growth(product(coefficients, changeOfBasis), coefficients));
    const Columns errors = errorsOf(first, changeOfBasis.numCols(), coefficients);
    const int steps = stepsWithin(limit, errors, changeOfBasis.numCols());
    columns_.resize(static_cast<std::size_t>(first));
    columns_.insert(columns_.end(), errors.begin(), errors.begin() + steps);
    return steps;
  }

  /// How many steps of a panel add() would have taken that ended with the first `columns` columns of H: what one of
  /// this length is likely to be worth here, known before its products are made. It follows from H alone: V_0 = e_j,
  /// V_{k+1} = (H V_k - sum_l B_{lk} V_l) / B_{k+1,k}. s columns^2 operations.
  /// \param hessenberg (columns+1) x columns at least, columns > s   \param changeOfBasis (s+1) x s
  /// \param limit as in add()   \param byCholesky whether knownSteps() limits them, too
  int foreseen(const Matrix& hessenberg, int columns, const Matrix& changeOfBasis, Scalar limit,
               bool byCholesky) const {
    const int s = changeOfBasis.numCols(), first = columns - s;
    Matrix v(columns + 1, s + 1);
    v(first, 0) = 1;
    for (int k = 0; k < s; ++k) {
      for (int c = 0; c <= first + k; ++c) {
        for (int i = 0; i <= c + 1; ++i) v(i, k + 1) += hessenberg(i, c) * v(c, k);
      }
      for (int i = 0; i <= first + k + 1; ++i) {
        for (int l = 0; l <= k; ++l) v(i, k + 1) -= changeOfBasis(l, k) * v(i, l);
        v(i, k + 1) /= changeOfBasis(k + 1, k);
      }
    }
    return stepsWithin(limit, errorsOf(first, s, v), byCholesky ? knownSteps(first, v) : s);
  }

  /// Products have been found to be rounded so many times more than by eps: all estimates follow, those there are and
  /// those to come, also of later cycles. 1: by eps.
  void roughen(Scalar times) {
    for (auto& column : columns_) column.divide(times_ / times);
    times_ = times;
  }
  Scalar roughness() const { return times_; }

  /// The column with the largest estimate among the first `columns`; -1 where there is none.
  int worst(int columns) const {
    int most = -1;
    for (int c = 0; c < std::min(columns, static_cast<int>(columns_.size())); ++c) {
      if (most < 0 || estimate(c) > estimate(most)) most = c;
    }
    return most;
  }
  /// What the error of a column that worst() has named is estimated to be, relative to the norm of A M^{-1}.
  Scalar estimate(int column) const { return columns_[static_cast<std::size_t>(column)].size() / norm_; }
  /// How many leading columns have estimates within `limit`.
  int within(Scalar limit) const {
    int count = 0;
    while (count < static_cast<int>(columns_.size()) && estimate(count) <= limit) ++count;
    return count;
  }

  /// The largest error so far, relative to the norm of A M^{-1}.
  Scalar estimate() const {
    Scalar most = 0;
    for (const auto& column : columns_) most = std::max(most, column.size());
    return norm_ > 0 ? most / norm_ : Scalar(0);
  }

 private:
  /// The steps before the first whose error is beyond the limit, at most `known`; at least 1.
  int stepsWithin(Scalar limit, const Columns& errors, int known) const {
    int steps = 1;
    while (steps < known && errors[static_cast<std::size_t>(steps)].size() <= limit * norm_) ++steps;
    return steps;
  }

  static Scalar length(const Matrix& a, int column) {
    Scalar norm = 0;
    for (int i = 0; i < a.numRows(); ++i) norm = std::hypot(norm, a(i, column));
    return norm;
  }

  /// max_k || A M^{-1} v_k || / || v_k ||
  static Scalar growth(const Matrix& image, const Matrix& coefficients) {
    Scalar most = 0;
    for (int k = 0; k < image.numCols(); ++k) most = std::max(most, length(image, k) / length(coefficients, k));
    return most;
  }

  /// (D - E R_top) R_mid^{-1}. D: products and coefficients are rounded relative to || A M^{-1} || || v_k ||, also
  /// where A M^{-1} v_k is small.
  Columns errorsOf(int first, int steps, const Matrix& coefficients) const {
    const int known = std::min(first, static_cast<int>(columns_.size()));  // classical steps add exact columns
    Columns errors;
    for (int k = 0; k < steps; ++k) {
      errors.push_back(SampledColumn<Scalar>::rounding(
          first + k, times_ * std::numeric_limits<Scalar>::epsilon() * norm_ * length(coefficients, k)));
      for (int i = 0; i < known; ++i) errors.back().subtract(coefficients(i, k), columns_[static_cast<std::size_t>(i)]);
      for (int i = 0; i < k; ++i)
        errors.back().subtract(coefficients(first + i, k), errors[static_cast<std::size_t>(i)]);
      errors.back().divide(coefficients(first + k, k));
    }
    return errors;
  }

  Columns columns_;   ///< of E, estimated
  Scalar norm_ = 0;   ///< of A M^{-1} on the space, estimated
  Scalar times_ = 1;  ///< products are rounded by so many eps
};

}  // namespace capstan
