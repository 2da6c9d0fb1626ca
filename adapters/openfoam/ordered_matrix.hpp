// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A face-addressed matrix as compressed rows in an order by levels, and its incomplete factors.

#include <cstddef>
#include <memory>
#include <vector>

#include "adapters/openfoam/level_order.hpp"

namespace capstan::foam {

/// A = L + diag(A) + U of this rank's cells, without couplings, and M = (D + L) D^{-1} (D + U) whose diagonal equals
/// that of A: OpenFOAM's DIC (L = U^T) and DILU. Vectors are in the order of the levels; inputs and outputs are
/// different ones unless said otherwise. All functions are local.
///
/// Stored scaled, so that D = 1: a A c with a c = 1 / D, and a = c where A is symmetric. M is split into
/// M_L = a^{-1} (I + a L c) and M_R = (I + a U c) c^{-1}. Then, with u = (I + a U c)^{-1} v [Eisenstat 1981],
///
///   M_L^{-1} A M_R^{-1} v = u + (I + a L c)^{-1} (v + (a diag(A) c - 2) u).
///
/// Where an entry of D vanishes, or has not the sign of A for a symmetric A, this rank's M is the diagonal of A.
///
/// Cost for c cells and f faces, in entries read: split product 2 f, product and solve with M likewise, half of M f;
/// take() as much as three products, or c + f and a copy of them where the values have come again.
class OrderedMatrix {
 public:
  /// sign A. \param order usable, of this matrix   \param diag by cells   \param lower, upper by faces: the
  /// coefficients in the row of the upper cell, and of the lower cell; the same array where A is symmetric
  /// \param comesAgain the next matrix is likely to be the same: it is copied, to be compared with that one
  /// Returns whether it is another one than the last.
  bool take(std::shared_ptr<const LevelOrder> order, const double* diag, const double* lower, const double* upper,
            double sign, bool comesAgain = false);

  const LevelOrder& order() const { return *order_; }

  /// y = A x.
  void multiply(const double* x, double* y) const;
  /// z = M^{-1} r.
  void solve(const double* r, double* z) const;

  /// z = M_L^{-1} r.
  void solveLeft(const double* r, double* z) const;
  /// d = M_R^{-1} u; may be the same vector.
  void solveRight(const double* u, double* d) const;
  /// u = M_R d.
  void multiplyRight(const double* d, double* u) const;
  /// The sum of |(M_L z)_i|.
  double absoluteSum(const double* z) const;

  /// w = M_L^{-1} A M_R^{-1} v in three steps. The first one returns u, of which M_R^{-1} v is c u, in the rows of the
  /// runs from `run` on: of those couplings compute what they add to A's product in the same rows. Meanwhile the second
  /// step does what it can without: u of the other runs, and their w.
  /// \param run the same in all steps; the first run with a row that couplings reach, or how many runs there are
  const double* beginSplit(const double* v, std::size_t run) const;
  void goOnSplit(const double* v, double* w, std::size_t run) const;
  /// \param added a times what couplings add; null: nothing
  void endSplit(const double* v, const double* added, double* w, std::size_t run) const;
  /// a and c, by rows.
  const double* left() const { return left_.data(); }
  const double* right() const { return (symmetric_ ? left_ : right_).data(); }

 private:
  /// What was taken last, by cells and faces.
  struct Copy {
    bool known = false, symmetric = true;
    double sign = 1;
    std::vector<double> diag, lower, upper;
  };

  bool hasTaken(const double* diag, const double* lower, const double* upper, double sign) const;
  void copy(const double* diag, const double* lower, const double* upper, double sign);
  void factorize(const double* upper, double sign);
  bool scaleByFactors();
  void scaleByDiagonal(const double* diag, double sign);

  std::shared_ptr<const LevelOrder> order_;
  bool symmetric_ = true;
  bool factored_ = true;  // M is not the diagonal
  Copy last_;
  std::vector<double> diagonal_, below_, above_;
  std::vector<double> left_, right_, inverseLeft_;  // a, c where it is not a, 1 / a
  std::vector<double> across_;                      // of U, in the places of below_, where A is not symmetric
  mutable std::vector<double> scratch_;             // u
};

}  // namespace capstan::foam
