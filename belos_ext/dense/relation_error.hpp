#pragma once
/// \file
/// How far rounding has taken A M^{-1} Q = Q H from the truth, when H comes out of panels, and how far it may.
///
/// With E = A M^{-1} Q - Q H and D the rounding of a new panel, the columns of H it adds (see arnoldi_relation.hpp)
/// have the errors
///   E_{:,j:j+s} = (D - E_{:,0:j} R_top) R_mid^{-1}:
/// they grow from panel to panel where vectors bring little that is new, though each panel by itself is well
/// conditioned. Panels of one step have R_mid = 1 and inherit nothing. One row of E, with random signs, stands for all.
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

#include "belos_ext/dense/small_matrix.hpp"
#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/support/mixed_bits.hpp"

namespace capstan {

template <class Scalar>
class RelationError {
 public:
  using Matrix = SmallMatrix<Scalar>;

  /// Starts a cycle: Q has one column, H none.
  void begin() {
    row_.clear();
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
    const Matrix errors = errorsOf(first, changeOfBasis.numCols(), coefficients);
    int steps = 1;
    while (steps < errors.numCols() && std::abs(errors(0, steps)) <= limit * norm_) ++steps;
    row_.resize(static_cast<std::size_t>(first));
    row_.insert(row_.end(), errors.values(), errors.values() + steps);
    return steps;
  }

  /// The column with the largest estimate among the first `columns`; -1 where there is none.
  int worst(int columns) const {
    int most = -1;
    for (int c = 0; c < std::min(columns, static_cast<int>(row_.size())); ++c) {
      if (most < 0 || std::abs(row_[static_cast<std::size_t>(c)]) > std::abs(row_[static_cast<std::size_t>(most)])) {
        most = c;
      }
    }
    return most;
  }
  /// What the error of a column that worst() has named is estimated to be, relative to the norm of A M^{-1}.
  Scalar estimate(int column) const { return std::abs(row_[static_cast<std::size_t>(column)]) / norm_; }
  /// How many leading columns have estimates within `limit`.
  int within(Scalar limit) const {
    int count = 0;
    while (count < static_cast<int>(row_.size()) && estimate(count) <= limit) ++count;
    return count;
  }

  /// The largest error so far, relative to the norm of A M^{-1}.
  Scalar estimate() const {
    Scalar most = 0;
    for (const Scalar e : row_) most = std::max(most, std::abs(e));
    return norm_ > 0 ? most / norm_ : Scalar(0);
  }

 private:
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

  /// (D - E R_top) R_mid^{-1}, 1 x steps. D: products and coefficients are rounded relative to || A M^{-1} || || v_k
  /// ||, also where A M^{-1} v_k is small.
  Matrix errorsOf(int first, int steps, const Matrix& coefficients) const {
    const int known = std::min(first, static_cast<int>(row_.size()));  // classical steps add exact columns
    Matrix errors(1, steps);
    for (int k = 0; k < steps; ++k) {
      errors(0, k) =
          randomSign<Scalar>(first + k) * std::numeric_limits<Scalar>::epsilon() * norm_ * length(coefficients, k);
      for (int i = 0; i < known; ++i) errors(0, k) -= row_[static_cast<std::size_t>(i)] * coefficients(i, k);
    }
    solveRight(block(coefficients, first, 0, steps, steps), errors);
    return errors;
  }

  std::vector<Scalar> row_;  ///< one row of E, estimated
  Scalar norm_ = 0;          ///< of A M^{-1} on the space, estimated
};

}  // namespace capstan
