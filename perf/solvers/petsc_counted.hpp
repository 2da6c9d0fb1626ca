#pragma once
/// \file
/// A matrix and a preconditioner of PETSc that count how often they are applied.

#include <petscksp.h>

#include "perf/solvers/contestant.hpp"

namespace capstan::perf {

/// Shells around a matrix and its preconditioner, for a solve that is not timed. Must not be moved: PETSc keeps its
/// address.
class PetscCounted {
 public:
  /// \param preconditioner made of A, and set up; both must outlive this. Collective. \throws std::runtime_error
  PetscCounted(Mat A, PC preconditioner, MPI_Comm comm);
  ~PetscCounted();
  PetscCounted(const PetscCounted&) = delete;
  PetscCounted& operator=(const PetscCounted&) = delete;

  /// Gives the solver both in place of its own. Collective. \throws std::runtime_error
  void attach(KSP solver);
  /// Since the construction. Local.
  const Applications& applications() const { return applications_; }

 private:
  static PetscErrorCode multiply(Mat shell, Vec x, Vec y);
  static PetscErrorCode norm(Mat shell, NormType type, PetscReal* result);
  static PetscErrorCode precondition(PC shell, Vec x, Vec y);

  Mat A_;
  Mat shell_ = nullptr;
  PC inner_ = nullptr;  ///< null: no preconditioner
  Applications applications_;
};

}  // namespace capstan::perf
