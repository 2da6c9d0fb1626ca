#pragma once
/// \file
/// Matrices and vectors of hypre's that hold what Tpetra's hold, and hypre's errors. Only in builds with hypre.

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <HYPRE_parcsr_mv.h>
#include <mpi.h>

#include <string>

#include "adapters/preconditioners/boomeramg.hpp"
#include "adapters/preconditioners/types.hpp"

namespace capstan::preconditioning {

/// Starts hypre, once; it ends when MPI does, after everything that was made of it or not at all. Local.
void startHypre();

/// False once MPI has ended: what hypre holds can no longer be freed then, and need not be. Local.
bool hypreCanFree();

/// hypre's pending error in words, which is cleared; empty where there is none. Local.
std::string takeHypreError();

/// \throws std::runtime_error on all ranks where one has a pending error. Collective.
/// \param what hypre was doing
void requireNoHypreError(const std::string& what, const Communicator& comm);

/// A's rows, numbered anew without gaps: by rank, and on a rank in the order of A's row map. A rank may have none.
class HypreMatrix {
 public:
  /// Collective. A's row, domain and range map must be the same; A may go away.
  /// \throws std::runtime_error, on all ranks, for more rows than this hypre can number, or an error of hypre's
  explicit HypreMatrix(const Matrix& A);
  ~HypreMatrix();
  HypreMatrix(const HypreMatrix&) = delete;
  HypreMatrix& operator=(const HypreMatrix&) = delete;

  HYPRE_ParCSRMatrix get() const { return parcsr_; }
  MPI_Comm comm() const { return comm_; }
  HYPRE_BigInt firstRow() const { return first_; }
  HYPRE_Int localRows() const { return rows_; }

 private:
  void number(const Matrix& A);
  void fill(const Matrix& A);

  MPI_Comm comm_ = MPI_COMM_NULL;
  HYPRE_BigInt first_ = 0;
  HYPRE_Int rows_ = 0;
  HYPRE_IJMatrix ij_ = nullptr;
  HYPRE_ParCSRMatrix parcsr_ = nullptr;
};

/// A vector over the rows of a HypreMatrix, zero at first.
class HypreVector {
 public:
  /// Collective.
  explicit HypreVector(const HypreMatrix& like);
  ~HypreVector();
  HypreVector(const HypreVector&) = delete;
  HypreVector& operator=(const HypreVector&) = delete;

  HYPRE_ParVector get() const { return par_; }
  /// Local. `values` has one for each local row.
  void set(const double* values);
  void get(double* values) const;
  void setZero();

 private:
  HYPRE_Int rows_;
  HYPRE_IJVector ij_ = nullptr;
  HYPRE_ParVector par_ = nullptr;
};

/// A BoomerAMG solver of one V-cycle with these parameters, its coarsest level decided. Local; the caller destroys it.
HYPRE_Solver newBoomerAmg(const BoomerAmgSettings& settings);

/// To be called after its set-up: hypre falls back on the smoother of the way down where the coarsest level is too
/// large for a direct solution, which need not be symmetric. Local.
void mendCoarsestLevel(HYPRE_Solver solver, const BoomerAmgSettings& settings);

}  // namespace capstan::preconditioning
