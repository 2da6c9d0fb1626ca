#pragma once
/// \file
/// The norm of a residual that is about to be made, from products that have been reduced already.

#include <algorithm>
#include <cmath>
#include <limits>

#include "belos_ext/parameters/tuning.hpp"

namespace capstan {

struct PredictedNorm {
  double norm;
  bool cancelled;  ///< nothing but rounding is left of it
};

/// || r - a s || from rr = (r, r), rs = (r, s), ss = (s, s). Local.
template <class Scalar>
PredictedNorm predictNorm(Scalar rr, Scalar rs, Scalar ss, Scalar a) {
  const Scalar terms = rr + a * a * ss, square = terms - 2 * a * rs;
  const Scalar rounding = tuning::predicted_norm::cancelled * std::numeric_limits<Scalar>::epsilon();
  return {std::sqrt(static_cast<double>(std::max(square, Scalar(0)))), !(square > rounding * terms)};
}

}  // namespace capstan
