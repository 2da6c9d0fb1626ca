#pragma once
/// \file
/// Intervals of definite spectra, positive or negative: what holds for A with b holds for -A with -b.

#include "belos_ext/parameters/solver_options.hpp"

namespace capstan {

/// Of -A, where `bounds` are of A.
inline EigenvalueBounds mirrored(const EigenvalueBounds& bounds) { return {0 - bounds.max, 0 - bounds.min}; }

/// The sign of the end that is farther from zero, 1 or -1.
inline int signOf(const EigenvalueBounds& bounds) { return bounds.min + bounds.max < 0 ? -1 : 1; }

/// With that end above.
inline EigenvalueBounds upright(const EigenvalueBounds& bounds) {
  return signOf(bounds) < 0 ? mirrored(bounds) : bounds;
}

}  // namespace capstan
