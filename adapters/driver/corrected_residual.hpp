// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The residual r = b - A x of the application, and what becomes of it and of x with a correction d.
///
/// A d = r is solved for d, so that the rounding of x itself, which no method can undo, is no part of what is judged.

#include <vector>

#include "adapters/driver/host.hpp"
#include "adapters/driver/solve_cost.hpp"

namespace capstan::driver {

/// x and r change only where the residual gets smaller, in the 2-norm where iterations are used up. Functions are
/// collective over the application's communicator unless said otherwise. Refers to objects of the caller.
class CorrectedResidual {
 public:
  /// \param r, d memory that is kept from solve to solve   \param cost counts products and messages
  CorrectedResidual(HostSystem& host, double* x, std::vector<double>& r, std::vector<double>& d, SolveCost& cost);

  /// r = b - A x: one product, one message.
  void compute();
  /// r - A d for the last correction d, where that is not in r yet: one product, one message.
  void refresh();

  /// Of r, or of what a method has computed of it.
  const Norms& norms() const { return norms_; }
  const double* r() const { return r_.data(); }
  double* x() { return x_; }
  /// For a new correction.
  double* d() {
    hasImage_ = false;
    return d_.data();
  }
  /// r = -r, without its norms. Local.
  void negate();

  /// x += d, of a method that has found || r - A d ||_1 = \p attained || r ||_1; r is that of before. Local.
  void take(double attained);
  /// x += d where || r - A d ||_1 is not larger. Returns whether it is so: one product, one message.
  bool takeWhereSmaller();
  /// x += t d, where t > 0 makes || r - t A d ||_2 least. Returns whether there is such a t: two messages, and a
  /// product where takeWhereSmaller() has not made it.
  bool takePart();

 private:
  void makeImage();

  HostSystem& host_;
  double* x_;
  std::vector<double>& r_;
  std::vector<double>& d_;
  SolveCost& cost_;
  Norms norms_;
  std::vector<double> image_;  // A d
  bool hasImage_ = false;      // of the last d; not asked of image_, which is empty on ranks without rows
  bool stale_ = false;         // d is in x, and not in r
};

}  // namespace capstan::driver
