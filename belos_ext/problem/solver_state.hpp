#pragma once

/// \file
/// What a method has learnt from a solve, and what the next one may use.

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "belos_ext/parameters/solver_options.hpp"

namespace capstan {

/// What a solve leaves for the next one. Replicated: every rank of the solve stores the same.
struct SolverState {
  std::vector<std::complex<double>> shifts;  ///< in the order of use
  std::optional<EigenvalueBounds> eigenvalueBounds;
  double shownOfBounds = 1;  ///< largest Ritz value of a solve over the upper bound
  int stepSize = 0;          ///< tuned; 0: none
  long solves = 0;           ///< how many solves have contributed
};

/// Of what a solve would use; another one where there is nothing. The same on all ranks that may use it together.
/// Local.
std::uint64_t checksumOf(const std::optional<SolverState>& state);

/// The state with its numbers rounded, so that ranks whose checksums are equal hold equal numbers, to the last bit.
/// Local.
SolverState rounded(SolverState state);

}  // namespace capstan
