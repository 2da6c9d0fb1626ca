// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A distributed sparse system in plain C++: compressed rows in, a Belos solve by name, a solution out.
///
/// No Trilinos type appears here, so that an application's own headers and Trilinos' never meet in one file.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "adapters/openfoam/settings.hpp"

namespace capstan::foam {

/// Rows of a square matrix owned by this rank, in compressed form.
///
/// Rows are numbered contiguously by rank. Columns are global; each (row, column) occurs once, in any order.
struct CsrPattern {
  MPI_Comm comm = MPI_COMM_SELF;
  std::int64_t firstRow = 0;
  std::int64_t globalRows = 0;
  std::vector<std::int64_t> rowStart;  ///< local rows + 1 offsets into columns
  std::vector<std::int64_t> columns;
};

/// Trilinos' view of a pattern: maps, graph, communication plan. Shared by all matrices on one mesh.
class CsrGraph;

/// Builds the graph of \p pattern. Collective over its communicator, which is duplicated.
/// \throws std::exception if the pattern is inconsistent.
std::shared_ptr<const CsrGraph> makeGraph(const CsrPattern& pattern);

/// How a system is to be preconditioned: a name the deck also knows (adapters/preconditioners/preconditioner.hpp).
struct PreconditionerChoice {
  std::string name = "none";
  std::string file;   ///< MueLu only: a preset or an XML file
  Settings settings;  ///< on top of the file or preset
};

/// How a system is to be solved.
struct SolverChoice {
  std::string method;  ///< any name Belos::SolverFactory knows, Capstan's included
  Settings settings;   ///< the solver's own parameters
};

/// Outcome of one solve. Identical on all ranks, the seconds excepted.
struct CsrSolveResult {
  bool converged = false;
  int iterations = 0;
  bool hasReductions = false;  ///< only Capstan's own solvers count their reductions
  long reductions = 0;         ///< all-reduces of the solve, blocking and nonblocking
  long applications = 0;       ///< of the preconditioner, counted likewise
};

/// One matrix on a graph, with its preconditioner and the solvers used on it, kept from solve to solve.
///
/// Member functions are collective over the graph's communicator unless said otherwise. They throw std::exception for
/// misuse (unknown names, wrong types, a preconditioner that cannot be built); a failed solve is a result.
class CsrSolver {
 public:
  /// \param label names the problem in reports and in the state cache: the field's name.
  CsrSolver(std::shared_ptr<const CsrGraph> graph, std::string label);
  ~CsrSolver();
  CsrSolver(const CsrSolver&) = delete;
  CsrSolver& operator=(const CsrSolver&) = delete;

  /// Replaces all coefficients. Local. \param values in the order of CsrPattern::columns.
  void setMatrix(const std::vector<double>& values);

  /// y = A x, by the matrix the solver uses. \param x, y local rows.
  void apply(const double* x, double* y) const;

  /// True if the preconditioner in use was built for an equal choice. Local.
  bool hasPreconditioner(const PreconditionerChoice& choice) const;

  /// Builds the preconditioner for the present coefficients, or renews the one in use if the choice is equal.
  /// \return a warning for the user; empty when there is nothing to say.
  std::string updatePreconditioner(const PreconditionerChoice& choice);

  /// Solves A x = b from x = 0 until ||b - A x||_2 <= tolerance ||b||_2, with the preconditioner in use on the right.
  /// \param b, x local rows.
  CsrSolveResult solve(const SolverChoice& choice, double tolerance, int maxIterations, const double* b, double* x);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Names of all preconditioners, for messages. Local.
std::vector<std::string> preconditionerNames();

}  // namespace capstan::foam
