// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the OpenFOAM side, libcapstanFoam.so, asks of the Trilinos side, libcapstanFoamTrilinos.so.
///
/// The two are not linked. OpenFOAM loads libcapstanFoam.so into every program of a case, and shows its symbols, and
/// those of all that it needs, to all that is loaded later: Trilinos' Scotch, METIS, HYPRE and MUMPS would stand in for
/// those of decomposePar. So the Trilinos side is opened at the first solve, and shows its symbols to nobody.
///
/// Objects that the OpenFOAM side gets from here have virtual functions, since it can call no others.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/driver/assembled_preconditioner.hpp"
#include "adapters/driver/krylov_solver.hpp"
#include "adapters/driver/row_map.hpp"
#include "adapters/driver/solve_cost.hpp"
#include "adapters/driver/system_files.hpp"

namespace capstan::foam {

using namespace driver;  // NOLINT(google-build-using-namespace): one vocabulary

/// Makes the objects of the Trilinos side. The functions throw std::exception as those do that they are named after.
class TrilinosSide {
 public:
  /// As capstan::mpiRuns() and capstan::atRunEnd() (adapters/run_end).
  virtual bool mpiRuns() const = 0;
  virtual void atRunEnd(std::function<void()> action) const = 0;
  /// Initialises Kokkos, and Tpetra where MPI runs, unless they are. Local.
  virtual void start() const = 0;

  /// The map of \p cells rows on this rank. Collective over \p comm, which is duplicated; MPI_COMM_NULL: of one process
  /// without MPI.
  virtual std::shared_ptr<const RowMap> rowMap(MPI_Comm comm, std::int64_t cells) const = 0;
  /// Whether it stands on MPI, as preconditioners of Trilinos want it. Local.
  virtual bool isOverMpi(const RowMap& map) const = 0;
  /// Rows on this rank. Local.
  virtual std::int64_t localRows(const RowMap& map) const = 0;

  /// The graph of \p pattern on the rows of \p cells. Collective. Throws where the pattern is inconsistent.
  virtual std::shared_ptr<const CsrGraph> graph(const CsrPattern& pattern, const RowMap& cells) const = 0;
  /// \param label names the matrix: the field's name. Collective.
  virtual std::unique_ptr<AssembledPreconditioner> assembledPreconditioner(std::shared_ptr<const CsrGraph> graph,
                                                                           const std::string& label) const = 0;
  /// \param label names the problem in reports and in the state cache: the field's name. Collective.
  virtual std::unique_ptr<KrylovSolver> krylovSolver(std::shared_ptr<const RowMap> cells, std::string label) const = 0;

  /// Writes PREFIX.mtx, PREFIX_b.mtx, PREFIX_x0.mtx, and PREFIX.yaml, in global rows: those of the first rank come
  /// first. Collective over the pattern's communicator. The first rank holds the text of the matrix, some 40 bytes an
  /// entry.  \return what went wrong, on every rank; empty: nothing
  virtual std::string writeSystem(const WholeSystem& system, const ReplayChoice& choice,
                                  const std::string& prefix) const = 0;

  /// As driver::recordSolve().
  virtual void recordSolve(const SolveCost& cost, bool print) const = 0;

  /// Names of all preconditioners on an assembled matrix, for messages. Local.
  virtual std::vector<std::string> preconditionerNames() const = 0;
  /// Whether the method is one of Capstan's, and whether it needs a symmetric matrix; of others the latter is not
  /// known. Local.
  virtual bool isOurs(const std::string& method) const = 0;
  virtual bool needsSymmetric(const std::string& method) const = 0;

 protected:
  TrilinosSide() = default;
  ~TrilinosSide() = default;
  TrilinosSide(const TrilinosSide&) = default;
  TrilinosSide& operator=(const TrilinosSide&) = default;
};

/// Tells two releases of what is passed between the sides apart. Raise the first number where a function changes and no
/// size does.
constexpr unsigned long sideStamp = [] {
  unsigned long stamp = 1;
  for (const unsigned long size :
       {sizeof(KrylovSystem), sizeof(SolveResult), sizeof(LadderStep), sizeof(SolverChoice), sizeof(Setting),
        sizeof(PreconditionerChoice), sizeof(AssembledPreconditioner::Updated), sizeof(CsrPattern), sizeof(WholeSystem),
        sizeof(ReplayChoice)}) {
    stamp = 1009 * stamp + size;
  }
  return stamp;
}();

/// The one function of libcapstanFoamTrilinos.so that is found by its name: gives the side, or null where the two
/// libraries are not of one release. Local.
using TrilinosSideFunction = const TrilinosSide* (*)(unsigned long stamp);
constexpr const char* trilinosSideFunction = "capstanFoamTrilinosSide";

}  // namespace capstan::foam
