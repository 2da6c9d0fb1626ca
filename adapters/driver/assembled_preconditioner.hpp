// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Trilinos' preconditioners for a system of the application: its matrix assembled in compressed rows.
///
/// No Trilinos type appears here, so that an application's own headers and Trilinos' never meet in one file.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "adapters/driver/row_map.hpp"
#include "adapters/driver/settings.hpp"

namespace capstan::driver {

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

/// Trilinos' view of a pattern: graph, communication plan. Shared by all matrices on one mesh. TrilinosSide makes it.
class CsrGraph;

/// How a system is to be preconditioned: a name the deck also knows (adapters/preconditioners/preconditioner.hpp).
struct PreconditionerChoice {
  std::string name = "none";
  std::string file;                  ///< MueLu only: a preset or an XML file
  std::vector<std::string> folders;  ///< where the file is looked for first
  Settings settings;                 ///< on top of the file or preset
};

/// What muelu takes where no file is named: a preset whose cycle needs no global reduction.
constexpr const char* defaultMueLuFile = "no_reductions";

/// A preconditioner on the matrix it was built for, kept from solve to solve.
///
/// The matrix changes only together with the preconditioner: one that is kept would else mix new coefficients with
/// what it made of the old ones. Member functions are collective over the graph's communicator unless said otherwise.
/// TrilinosSide makes it.
class AssembledPreconditioner {
 public:
  /// \param label names the matrix: the field's name.
  AssembledPreconditioner(std::shared_ptr<const CsrGraph> graph, const std::string& label);
  virtual ~AssembledPreconditioner();
  AssembledPreconditioner(const AssembledPreconditioner&) = delete;
  AssembledPreconditioner& operator=(const AssembledPreconditioner&) = delete;

  /// y = A x, by the assembled matrix. \param x, y local rows.
  virtual void apply(const double* x, double* y) const;

  /// Whether there is one that was built for an equal choice. Local.
  virtual bool has(const PreconditionerChoice& choice) const;

  /// What update() found, alike on all ranks.
  struct Updated {
    std::string unusable;  ///< why no solve should be tried with it; empty: nothing against it
    std::string remark;    ///< for the user; empty when there is nothing to say
  };

  /// Builds it for these coefficients, or renews the one there is if the choice is equal. The 1st, 2nd, 4th, 8th, ...
  /// time, and as long as it was unusable the last time, random vectors tell whether it is of use: that takes less than
  /// two iterations' time, or five of multigrid.
  /// \param values in the order of CsrPattern::columns.   \param symmetricMethod it is for conjugate gradients
  /// \throws std::exception for unknown names, wrong types, or where it cannot be built; there is none then.
  virtual Updated update(const PreconditionerChoice& choice, const std::vector<double>& values, bool symmetricMethod);

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace capstan::driver
