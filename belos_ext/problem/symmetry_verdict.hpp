#pragma once
/// \file
/// What symmetry_check.hpp finds out about a matrix.

namespace capstan {

/// What a comparison of rows and columns has found, on all ranks together.
struct SymmetryVerdict {
  long rowsCompared = 0;
  long rowsThatDiffer = 0;  ///< rows i with an entry a_ij that is not a_ji
};

}  // namespace capstan
