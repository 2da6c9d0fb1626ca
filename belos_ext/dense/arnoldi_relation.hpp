#pragma once
/// \file
/// Keeps A M^{-1} Q_{1:m} = Q_{1:m+1} H true while panels of basis vectors are generated, orthonormalised, and
/// orthonormalised again.
///
/// | paper | here          | shape                       | meaning                                         |
/// |-------|---------------|-----------------------------|-------------------------------------------------|
/// | V     | (not kept)    | n x (s+1)                   | panel as generated: v_0 = q_j, A V(:,0:s) = V B |
/// | R     | coefficients  | (j+s+1) x (s+1)             | V = Q_{0:j+s+1} R                               |
/// | B     | changeOfBasis | (s+1) x s                   | recurrence of the polynomial basis              |
/// | H     | hessenberg()  | (m+1) x m, upper Hessenberg | projected operator                              |
/// | Z     | (flexible)    | n x m                       | preconditioned vectors; A Z = Q H with H = R B  |
///
/// From A V(:,0:s) = Q R B and V(:,0:s) = Q_{0:j} R_top + Q_{j:j+s} R_mid:
///   H_{:,j:j+s} = (R B - H_{:,0:j} R_top) R_mid^{-1}            (CA-GMRES, line 7 of Fig. 3 of [pipelined-and-s-step])
///
/// Every later change of the basis has the form Q_old(:,a:b) = Q_new(:,0:b) S (lagged normalisation, reorthogonalised
/// starting vector, second stage of two-stage Gram-Schmidt) and only changes rows of the kept R: see reexpress().
/// Replicated on every rank; no communication.

#include <algorithm>
#include <cmath>
#include <vector>

#include "belos_ext/dense/hessenberg_least_squares.hpp"
#include "belos_ext/dense/small_matrix.hpp"

namespace capstan {

template <class Scalar>
class ArnoldiRelation {
 public:
  /// Starts a cycle of at most `capacity` columns with q_0 = r / beta. Storage grows with the columns there are.
  void begin(int capacity, Scalar beta, bool flexible);

  /// Adds a panel whose first vector is column `first` of the basis.
  /// \param changeOfBasis (s+1) x s
  /// \param coefficients (first+s+1) x (s+1): V = Q coefficients. Its first column re-expresses the old q_first.
  void addPanel(int first, const SmallMatrix<Scalar>& changeOfBasis, const SmallMatrix<Scalar>& coefficients);

  /// Columns [first, first+t) of the basis were replaced: Q_old(:,first:first+t) = Q_new(:,0:first+t) s.
  /// \param s (first+t) x t
  void reexpress(int first, const SmallMatrix<Scalar>& s);

  /// Recomputes the columns of H that changed and brings the least-squares problem up to date.
  /// Returns the recursive residual norm || beta e_1 - H y ||.
  Scalar refresh();

  /// The coordinates c in the vectors V that products were taken of, of a vector Q y: Q y = V c. Not for flexible
  /// relations, whose y is c already. \param y one number for each of the leading columns of H
  std::vector<Scalar> asGenerated(std::vector<Scalar> y) const;

  /// The most columns, at most `columns`, at which a panel ends.
  int wholePanels(int columns) const;

  /// Takes columns back: those from `columns` on, or from the start of the panel that holds it.
  void truncate(int columns);

  /// Columns of Q are orthonormal as a sketch of so many rows sees them, until begin().
  void sketchedBy(int rows) { sketchRows_ = rows; }

  /// The norm of the residual beta q_0 - Q H y of the first `columns` columns; an estimate, hardly too small, where
  /// that of H is of a sketch (sketched.hpp).
  Scalar residual(int columns) const {
    const Scalar norm = leastSquares_.residual(columns);
    if (sketchRows_ == 0) return norm;
    const auto rows = static_cast<Scalar>(sketchRows_);
    return norm * (1 + std::sqrt(Scalar(0.5) / rows)) * rows / (rows - static_cast<Scalar>(columns));
  }
  Scalar residual() const { return residual(columns_); }

  int columns() const { return columns_; }
  /// q_0 beta is the residual at the start of the cycle, with q_0 as it is now.
  Scalar beta() const { return beta_; }
  const SmallMatrix<Scalar>& hessenberg() const { return h_; }
  const HessenbergLeastSquares<Scalar>& leastSquares() const { return leastSquares_; }

 private:
  struct Panel {
    int first, steps;
    SmallMatrix<Scalar> changeOfBasis, coefficients;
  };

  void recompute(const Panel& panel);
  Scalar unit(const Panel& panel, int c) const;

  bool flexible_ = false;
  int capacity_ = 0, columns_ = 0, sketchRows_ = 0;
  Scalar beta_ = 0;
  std::size_t firstStale_ = 0;
  std::vector<Panel> panels_;
  SmallMatrix<Scalar> h_;
  HessenbergLeastSquares<Scalar> leastSquares_;
};

template <class Scalar>
void ArnoldiRelation<Scalar>::begin(int capacity, Scalar beta, bool flexible) {
  capacity_ = capacity;
  h_.putScalar(0);
  panels_.clear();
  flexible_ = flexible;
  columns_ = sketchRows_ = 0;
  beta_ = beta;
  firstStale_ = 0;
  leastSquares_.reset(capacity, beta);
}

template <class Scalar>
void ArnoldiRelation<Scalar>::addPanel(int first, const SmallMatrix<Scalar>& changeOfBasis,
                                       const SmallMatrix<Scalar>& coefficients) {
  reexpress(first, block(coefficients, 0, 0, first + 1, 1));
  const int steps = changeOfBasis.numCols();
  panels_.push_back({first, steps, copyOf(changeOfBasis), copyOf(coefficients)});
  firstStale_ = std::min(firstStale_, panels_.size() - 1);
  columns_ = first + steps;
  growTo(h_, columns_ + 1, capacity_ + 1);
}

template <class Scalar>
void ArnoldiRelation<Scalar>::reexpress(int first, const SmallMatrix<Scalar>& s) {
  const int width = s.numCols();
  if (first == 0) beta_ *= s(0, 0);
  for (std::size_t p = 0; p < panels_.size(); ++p) {
    Panel& panel = panels_[p];
    const int rows = panel.coefficients.numRows();
    if (rows <= first) continue;
    const int touched = std::min(width, rows - first);
    for (int c = 0; c < panel.coefficients.numCols(); ++c) {
      Scalar* column = panel.coefficients[c];
      for (int i = 0; i < first; ++i) {
        for (int k = 0; k < touched; ++k) column[i] += s(i, k) * column[first + k];
      }
      // s is upper triangular in its last rows: each entry needs only itself and those below, still old.
      for (int i = 0; i < touched; ++i) {
        Scalar sum = 0;
        for (int k = i; k < touched; ++k) sum += s(first + i, k) * column[first + k];
        column[first + i] = sum;
      }
    }
    firstStale_ = std::min(firstStale_, p);
  }
}

template <class Scalar>
std::vector<Scalar> ArnoldiRelation<Scalar>::asGenerated(std::vector<Scalar> y) const {
  // V = Q R, R upper triangular: back substitution, panel by panel.
  for (auto panel = panels_.rbegin(); panel != panels_.rend(); ++panel) {
    for (int k = panel->steps - 1; k >= 0; --k) {
      const int row = panel->first + k;
      if (row >= static_cast<int>(y.size())) continue;
      const Scalar* r = panel->coefficients[k];
      const Scalar c = y[static_cast<std::size_t>(row)] /= r[row];
      for (int i = 0; i < row; ++i) y[static_cast<std::size_t>(i)] -= c * r[i];
    }
  }
  return y;
}

template <class Scalar>
int ArnoldiRelation<Scalar>::wholePanels(int columns) const {
  int whole = 0;
  for (const Panel& panel : panels_) {
    if (panel.first + panel.steps <= columns) whole = panel.first + panel.steps;
  }
  return whole;
}

template <class Scalar>
void ArnoldiRelation<Scalar>::truncate(int columns) {
  while (!panels_.empty() && panels_.back().first + panels_.back().steps > columns) {
    columns_ = panels_.back().first;
    panels_.pop_back();
  }
  leastSquares_.truncate(columns_);
  firstStale_ = std::min(firstStale_, panels_.size());
}

template <class Scalar>
void ArnoldiRelation<Scalar>::recompute(const Panel& panel) {
  const int j = panel.first, s = panel.steps;
  SmallMatrix<Scalar> columns = block(h_, 0, j, j + s + 1, s);
  multiply<Scalar>(1, Teuchos::NO_TRANS, panel.coefficients, Teuchos::NO_TRANS, panel.changeOfBasis, 0, columns);
  if (flexible_) return;
  if (j > 0) {
    SmallMatrix<Scalar> top = block(columns, 0, 0, j + 1, s);
    multiply<Scalar>(-1, Teuchos::NO_TRANS, block(h_, 0, 0, j + 1, j), Teuchos::NO_TRANS,
                     block(panel.coefficients, 0, 0, j, s), 1, top);
  }
  solveRight(block(panel.coefficients, j, 0, s, s), columns);
  // Exact zeros below the subdiagonal; the division leaves rounding there.
  for (int c = 0; c < s; ++c) {
    for (int i = j + c + 2; i < j + s + 1; ++i) columns(i, c) = 0;
  }
}

/// The length of v_c, about: as large are the column of H and z_c, which nothing has normalised. 1 where H is that of
/// the q_j.
template <class Scalar>
Scalar ArnoldiRelation<Scalar>::unit(const Panel& panel, int c) const {
  if (!flexible_) return 1;
  const Scalar* v = panel.coefficients[c];
  Scalar largest = 0;
  for (int i = 0; i <= panel.first + c; ++i) largest = std::max(largest, std::abs(v[i]));
  return largest > Scalar(0) ? std::ldexp(Scalar(1), std::ilogb(largest)) : Scalar(1);
}

template <class Scalar>
Scalar ArnoldiRelation<Scalar>::refresh() {
  if (firstStale_ < panels_.size()) {
    const int firstColumn = panels_[firstStale_].first;
    for (std::size_t p = firstStale_; p < panels_.size(); ++p) recompute(panels_[p]);
    if (firstStale_ == 0) {
      leastSquares_.restart(beta_);
    } else {
      leastSquares_.truncate(firstColumn);
    }
    for (std::size_t p = firstStale_; p < panels_.size(); ++p) {
      for (int c = 0; c < panels_[p].steps; ++c) leastSquares_.append(h_[panels_[p].first + c], unit(panels_[p], c));
    }
    firstStale_ = panels_.size();
  }
  return leastSquares_.residual();
}

}  // namespace capstan
