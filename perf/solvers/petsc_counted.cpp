#include "perf/solvers/petsc_counted.hpp"

#include "perf/solvers/petsc_check.hpp"

namespace capstan::perf {

PetscCounted::PetscCounted(Mat A, PC preconditioner, MPI_Comm comm) : A_(A) {
  PetscInt rows = 0, columns = 0, allRows = 0, allColumns = 0;
  check(MatGetLocalSize(A, &rows, &columns), "MatGetLocalSize");
  check(MatGetSize(A, &allRows, &allColumns), "MatGetSize");
  check(MatCreateShell(comm, rows, columns, allRows, allColumns, this, &shell_), "MatCreateShell");
  check(MatShellSetOperation(shell_, MATOP_MULT, reinterpret_cast<void (*)()>(&PetscCounted::multiply)),
        "MatShellSetOperation");
  check(MatShellSetOperation(shell_, MATOP_NORM, reinterpret_cast<void (*)()>(&PetscCounted::norm)),
        "MatShellSetOperation");
  PetscBool none = PETSC_FALSE;
  check(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(preconditioner), PCNONE, &none), "PetscObjectTypeCompare");
  if (none == PETSC_FALSE) inner_ = preconditioner;
}

PetscCounted::~PetscCounted() { MatDestroy(&shell_); }

void PetscCounted::attach(KSP solver) {
  check(KSPSetOperators(solver, shell_, shell_), "KSPSetOperators");
  PC outer = nullptr;
  check(KSPGetPC(solver, &outer), "KSPGetPC");
  if (inner_ == nullptr) {
    check(PCSetType(outer, PCNONE), "PCSetType");
    return;
  }
  check(PCSetType(outer, PCSHELL), "PCSetType");
  check(PCShellSetContext(outer, this), "PCShellSetContext");
  check(PCShellSetApply(outer, &PetscCounted::precondition), "PCShellSetApply");
}

PetscErrorCode PetscCounted::multiply(Mat shell, Vec x, Vec y) {
  void* context = nullptr;
  const PetscErrorCode found = MatShellGetContext(shell, &context);
  if (found != 0) return found;
  auto& self = *static_cast<PetscCounted*>(context);
  ++self.applications_.matrix;
  return MatMult(self.A_, x, y);
}

PetscErrorCode PetscCounted::norm(Mat shell, NormType type, PetscReal* result) {
  void* context = nullptr;
  const PetscErrorCode found = MatShellGetContext(shell, &context);
  if (found != 0) return found;
  return MatNorm(static_cast<PetscCounted*>(context)->A_, type, result);
}

PetscErrorCode PetscCounted::precondition(PC shell, Vec x, Vec y) {
  void* context = nullptr;
  const PetscErrorCode found = PCShellGetContext(shell, &context);
  if (found != 0) return found;
  auto& self = *static_cast<PetscCounted*>(context);
  ++self.applications_.preconditioner;
  return PCApply(self.inner_, x, y);
}

}  // namespace capstan::perf
