// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A linear system as files that `capstan-solve` takes: Matrix Market, and a deck that names them.
///
/// No Trilinos type appears here, so that an application's own headers and Trilinos' never meet in one file.

#include <string>
#include <vector>

#include "adapters/driver/assembled_preconditioner.hpp"
#include "adapters/driver/krylov_solver.hpp"

namespace capstan::driver {

/// A system A x = b with the x that its solve began with, on this rank's rows.
struct WholeSystem {
  const CsrPattern& pattern;
  const std::vector<double>& values;  ///< in the order of the pattern's columns
  const double* b;
  const double* guess;
};

/// How a deck is to solve it.
struct ReplayChoice {
  std::string name;  ///< of the system
  SolverChoice solver;
  PreconditionerChoice preconditioner;
  double tolerance =
      0;  ///< of the residual over that of the guess: in the 1-norm for a method of Capstan, else in the 2-norm
  int maxIterations = 0;
  std::vector<std::string> remarks;  ///< the first lines of the deck, as comments
};

}  // namespace capstan::driver
