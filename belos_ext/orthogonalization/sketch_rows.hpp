#pragma once
/// \file
/// How many rows the sketch of a basis has (sketched.hpp).

#include "tpetra_ext/kernels/sketch.hpp"

namespace capstan::tuning::sketch {
/// Rows of Theta for each vector that it is to see, at least. Chosen: the residual at the end of a cycle is then at
/// most 1.15 times the least one.
inline constexpr int rowsForEach = 4;
/// Rows of Theta, at least. Chosen: fewer make ||Theta x|| differ by more than a tenth from ||x||.
inline constexpr int fewestRows = 256;
/// Rows of Theta for so many vectors. Derived.
constexpr int rowsFor(int vectors) {
  int rows = fewestRows;
  while (rows < rowsForEach * vectors) rows *= 2;
  return rows;
}
}  // namespace capstan::tuning::sketch
