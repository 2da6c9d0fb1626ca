// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A linear system as files that `capstan-solve` takes: Matrix Market, and a deck that names them.

#include <string>
#include <vector>

#include "adapters/driver/trilinos_types.hpp"

namespace capstan::driver {

/// A vector, and its file.
struct VectorFile {
  const MultiVector& values;
  std::string file;
};

/// Writes a matrix and vectors in Matrix Market form, in global rows: those of the first rank come first. Collective.
/// The first rank holds the text of the matrix, some 40 bytes an entry.
/// \return what went wrong, on every rank; empty: nothing
std::string writeMatrixMarket(const Matrix& A, const std::string& file, const std::vector<VectorFile>& vectors);

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

/// Writes PREFIX.mtx, PREFIX_b.mtx, PREFIX_x0.mtx, and PREFIX.yaml, likewise.
std::string writeSystem(const WholeSystem& system, const ReplayChoice& choice, const std::string& prefix);

}  // namespace capstan::driver
