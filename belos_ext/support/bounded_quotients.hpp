#pragma once
/// \file
/// Quotients and logarithms of numbers that may vanish, as residuals, steps and inner products do in exact solves.
/// Nothing here raises a floating point exception, so that an application with traps on does not end in a solve.
/// Local.

#include <cmath>
#include <limits>

namespace capstan {

/// a / b, or `fallback` where b = 0 and where the quotient overflows. A NaN stays one.
template <class Scalar>
Scalar ratioOr(Scalar a, Scalar b, Scalar fallback) {
  const Scalar size = std::abs(b);
  const bool overflows = size < Scalar(1) && std::abs(a) > size * std::numeric_limits<Scalar>::max();
  return size == Scalar(0) || overflows ? fallback : a / b;
}

/// A number that is not negative, as one with a logarithm: the least normal one stands for zero. A NaN stays one.
inline double positive(double value) { return value == 0 ? std::numeric_limits<double>::min() : value; }

/// a / b of norms as a number with a logarithm: zeros count as the least normal number, 0 / 0 is 1, and what overflows
/// is the largest number.
inline double boundedRatio(double a, double b) {
  return a == b ? 1 : positive(ratioOr(a, positive(b), std::numeric_limits<double>::max()));
}

}  // namespace capstan
