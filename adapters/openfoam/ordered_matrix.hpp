// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A face-addressed matrix as compressed rows in an order by levels, and its incomplete factors.

#include <memory>
#include <vector>

#include "adapters/openfoam/level_order.hpp"

namespace capstan::foam {

/// A = L + diag(A) + U of this rank's cells, without couplings, and M = (D + L) D^{-1} (D + U) whose diagonal equals
/// that of A: OpenFOAM's DIC (L = U^T) and DILU. Vectors are in the order of the levels. All functions are local.
///
/// Cost for c cells and f faces: product 2 f + c entries; solve with M 2 f entries in two sweeps; take() about as much
/// as both.
class OrderedMatrix {
 public:
  /// sign A. \param order suits the matrix   \param diag by cells   \param lower, upper by faces: the coefficients in
  /// the row of the upper cell, and of the lower cell
  void take(std::shared_ptr<const LevelOrder> order, const double* diag, const double* lower, const double* upper,
            double sign);

  const LevelOrder& order() const { return *order_; }

  /// y = A x.
  void multiply(const double* x, double* y) const;

  /// z = M^{-1} r: (D + L) y = r, then (D + U) z = D y.
  void solve(const double* r, double* z) const;

 private:
  void factorize(const double* upper, double sign, bool symmetric);

  std::shared_ptr<const LevelOrder> order_;
  std::vector<double> diagonal_, below_, above_, across_;
  std::vector<double> reciprocal_;  // 1 / D
};

}  // namespace capstan::foam
