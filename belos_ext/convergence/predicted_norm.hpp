#pragma once
/// \file
/// The norm of a residual that is about to be made, from inner products that are reduced already, and whether rounding
/// has left anything of it.

#include <algorithm>
#include <cmath>
#include <limits>

namespace capstan::tuning::predicted_norm {
/// A norm, or (r, M^{-1} r), predicted from products, in eps of the sum of their sizes, below which they have
/// cancelled. Chosen: two digits of the square are left then.
inline constexpr int cancelled = 500;
}  // namespace capstan::tuning::predicted_norm

namespace capstan {

struct PredictedNorm {
  double norm;
  bool cancelled;  ///< nothing but rounding is left of it
};

/// Whether nothing but rounding is left of a number that terms of these sizes, together, have made. Local.
template <class Scalar>
bool hasCancelled(Scalar number, Scalar sizes) {
  return !(std::abs(number) > tuning::predicted_norm::cancelled * std::numeric_limits<Scalar>::epsilon() * sizes);
}

/// Whether a product of two vectors of these lengths, together, is nothing but rounding. True for NaN. Local.
template <class Scalar>
bool isRounding(Scalar product, Scalar lengths) {
  return !(std::abs(product) > std::numeric_limits<Scalar>::epsilon() * lengths);
}

/// || r - a s || from rr = (r, r), rs = (r, s), ss = (s, s). Local.
template <class Scalar>
PredictedNorm predictNorm(Scalar rr, Scalar rs, Scalar ss, Scalar a) {
  const Scalar terms = rr + a * a * ss, square = terms - 2 * a * rs;
  return {std::sqrt(static_cast<double>(std::max(square, Scalar(0)))), square < 0 || hasCancelled(square, terms)};
}

}  // namespace capstan
