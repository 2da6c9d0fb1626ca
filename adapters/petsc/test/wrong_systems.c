/* Wrong uses of operators, vectors and preconditioners, for wrong_inputs.c. */
#include <math.h>
#include <petsc/private/vecimpl.h>
#include <sys/mman.h>

#include "wrong_uses.h"

static PetscErrorCode solve(Trial* t) { return KSPSolve(t->ksp, t->b, t->x); }

static Vec vectorOf(PetscInt local, PetscInt global) {
  Vec v;
  MUST(VecCreateMPI(PETSC_COMM_WORLD, local, global, &v));
  MUST(VecSet(v, 1));
  return v;
}

/* b or x, or both, do not belong to A: longer, shorter, or distributed in another way; on the first solve, or on one
 * after a good one. */
static PetscErrorCode wrongSizes(Trial* t) {
  const int which = t->variant % 3, how = t->variant / 3 % 3;
  const PetscInt least = t->n - 5, rest = t->n - 3;
  PetscErrorCode status;
  Vec other;
  if (t->variant / 9 % 2) MUST(solve(t));
  if (how == 2 && t->ranks > 1) {
    other = vectorOf(t->rank == 0 ? 3 : t->rank == 1 ? rest : 0, t->n);
  } else {
    other = vectorOf(PETSC_DECIDE, how == 0 ? t->n + 7 : least);
  }
  status = KSPSolve(t->ksp, which == 1 ? t->b : other, which == 0 ? t->x : other);
  MUST(VecDestroy(&other));
  return status;
}

static PetscErrorCode wrongShape(Trial* t) {
  Mat wide;
  PetscErrorCode status;
  MUST(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, t->n, t->n + 4, 1, NULL, 1, NULL, &wide));
  MUST(MatAssemblyBegin(wide, MAT_FINAL_ASSEMBLY));
  MUST(MatAssemblyEnd(wide, MAT_FINAL_ASSEMBLY));
  status = KSPSetOperators(t->ksp, wide, wide);
  if (!status) status = solve(t);
  MUST(MatDestroy(&wide));
  return status;
}

static PetscErrorCode noOperators(Trial* t) {
  KSPType type;
  KSP bare;
  PetscErrorCode status;
  MUST(KSPGetType(t->ksp, &type));
  MUST(KSPCreate(PETSC_COMM_WORLD, &bare));
  MUST(KSPSetType(bare, type));
  status = KSPSolve(bare, t->b, t->x);
  MUST(KSPDestroy(&bare));
  return status;
}

/* NaN or Inf in an entry of A, b or the guess. */
static PetscErrorCode notFinite(Trial* t) {
  static const PetscReal values[] = {NAN, INFINITY, -INFINITY};
  const PetscReal value = values[t->variant % 3];
  const int where = t->variant / 3 % 3;
  const PetscInt row = drawn(0, t->n - 1);
  const Vec into = where == 1 ? t->b : t->x;
  if (where == 0) {
    if (t->rank == 0) MUST(MatSetValue(t->a, row, row, value, INSERT_VALUES));
    MUST(MatAssemblyBegin(t->a, MAT_FINAL_ASSEMBLY));
    MUST(MatAssemblyEnd(t->a, MAT_FINAL_ASSEMBLY));
  } else {
    if (t->rank == 0) MUST(VecSetValue(into, row, value, INSERT_VALUES));
    MUST(VecAssemblyBegin(into));
    MUST(VecAssemblyEnd(into));
  }
  if (where == 2) MUST(KSPSetInitialGuessNonzero(t->ksp, PETSC_TRUE));
  return solve(t);
}

/* Stands for vectors of CUDA: says where its entries are, and nothing there can be read. */
static PetscErrorCode arrayOfDevice(Vec v, const PetscScalar** entries, PetscMemType* where) {
  static void* page = NULL;
  (void)v;
  if (!page) page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *entries = page;
  *where = PETSC_MEMTYPE_CUDA;
  return 0;
}

/* b, x or both are in the memory of a device, at the first solve or at the second. */
static PetscErrorCode deviceVectors(Trial* t) {
  if (t->variant / 3 % 2) MUST(solve(t));
  if (t->variant % 3 != 1) t->b->ops->getarrayreadandmemtype = arrayOfDevice;
  if (t->variant % 3 != 0) t->x->ops->getarrayreadandmemtype = arrayOfDevice;
  return solve(t);
}

/* What a PCSHELL does from some application on. */
typedef struct {
  enum { ERROR, NOT_A_NUMBER, INFINITE, REASON, SOLVES } how;
  PetscBool here; /* on this rank */
  int good;       /* applications that still work */
  KSP inner;
} Shell;

static PetscErrorCode applyShell(PC pc, Vec r, Vec z) {
  Shell* shell;
  PetscScalar* entries;
  PetscInt rows;
  MUST(PCShellGetContext(pc, &shell));
  if (shell->how == SOLVES) return KSPSolve(shell->inner, r, z);
  MUST(VecCopy(r, z));
  if (shell->good-- > 0 || !shell->here) return 0;
  if (shell->how == ERROR) return PETSC_ERR_USER;
  MUST(VecGetLocalSize(z, &rows));
  MUST(VecGetArray(z, &entries));
  for (PetscInt i = 0; i < rows; ++i) entries[i] = shell->how == NOT_A_NUMBER ? NAN : INFINITY;
  MUST(VecRestoreArray(z, &entries));
  if (shell->how == REASON) MUST(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  return 0;
}

static void useShell(Trial* t, Shell* shell) {
  PC pc;
  MUST(KSPGetPC(t->ksp, &pc));
  MUST(PCSetType(pc, PCSHELL));
  MUST(PCShellSetContext(pc, shell));
  MUST(PCShellSetApply(pc, applyShell));
}

/* A preconditioner that fails on one rank alone, or on all, at once or after an application that works. */
static PetscErrorCode brokenPreconditioner(Trial* t) {
  Shell shell = {ERROR, PETSC_TRUE, 0, NULL};
  PetscInt rows;
  KSPConvergedReason reason;
  PetscErrorCode status;
  shell.how = t->variant % 4;
  shell.good = t->variant / 4 % 2;
  MUST(VecGetLocalSize(t->b, &rows));
  if (t->variant / 8 % 2) shell.here = rows > 0 && t->rank == t->ranks - 1 ? PETSC_TRUE : PETSC_FALSE;
  useShell(t, &shell);
  t->want = shell.how == ERROR ? FAILS : DIVERGES;
  status = solve(t);
  if (status || shell.how != REASON) return status;
  MUST(KSPGetConvergedReason(t->ksp, &reason));
  if (reason != KSP_DIVERGED_PC_FAILED) t->want = UNSOLVED; /* it should have been said */
  return status;
}

/* After an error the preconditioner works again: so does the KSP. */
static PetscErrorCode mendedPreconditioner(Trial* t) {
  Shell shell = {ERROR, PETSC_TRUE, 0, NULL};
  const KSPType type = t->variant % 2 ? "capstan_gmres" : "capstan_cg";
  MUST(KSPSetType(t->ksp, type));
  useShell(t, &shell);
  if (!solve(t)) return 0; /* as if nothing had been solved: the error is missing */
  shell.good = 1 << 20;
  return solve(t);
}

/* A solver within the preconditioner: another one, or the same. */
static PetscErrorCode nestedSolve(Trial* t) {
  Shell shell = {SOLVES, PETSC_TRUE, 0, NULL};
  PC pc;
  PetscErrorCode status;
  MUST(KSPCreate(PETSC_COMM_WORLD, &shell.inner));
  MUST(KSPSetOperators(shell.inner, t->a, t->a));
  MUST(KSPSetType(shell.inner, t->variant % 3 == 1 ? "capstan_cg" : "capstan_sstep_gmres"));
  MUST(KSPSetTolerances(shell.inner, 1e-12, 1e-50, 1e5, 300));
  MUST(KSPGetPC(shell.inner, &pc));
  MUST(PCSetType(pc, PCJACOBI));
  useShell(t, &shell);
  if (t->variant % 3 == 0) {
    MUST(KSPDestroy(&shell.inner));
    shell.inner = t->ksp;
    t->want = FAILS;
    return solve(t);
  }
  status = solve(t);
  MUST(KSPDestroy(&shell.inner));
  return status;
}

static PetscErrorCode noProduct(Trial* t) {
  Mat shell;
  PetscInt rows;
  PC pc;
  PetscErrorCode status;
  MUST(VecGetLocalSize(t->b, &rows));
  MUST(MatCreateShell(PETSC_COMM_WORLD, rows, rows, t->n, t->n, NULL, &shell));
  MUST(KSPSetOperators(t->ksp, shell, shell));
  MUST(KSPGetPC(t->ksp, &pc));
  MUST(PCSetType(pc, PCNONE));
  status = solve(t);
  MUST(MatDestroy(&shell));
  return status;
}

/* Another system in the place of the first, of another size: with KSPReset() that is right. */
static PetscErrorCode replacedOperators(Trial* t) {
  int failed;
  PetscErrorCode status;
  MUST(solve(t));
  destroySystem(t);
  makeSystem(t, t->n + drawn(0, 2) - 1, t->variant % 3 == 0, 3);
  if (t->variant % 2) MUST(KSPReset(t->ksp));
  status = KSPSetOperators(t->ksp, t->a, t->a);
  failed = status != 0; /* PETSc says it on those ranks alone whose number of rows has changed */
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  return failed ? PETSC_ERR_ARG_SIZ : solve(t);
}

/* Two systems of one size, each solved twice, the second time from the solution. */
static PetscErrorCode solvedTwice(Trial* t) {
  MUST(solve(t));
  MUST(VecScale(t->b, -3));
  MUST(KSPSetInitialGuessNonzero(t->ksp, t->variant % 2 ? PETSC_TRUE : PETSC_FALSE));
  MUST(solve(t));
  MUST(MatShift(t->a, 1));
  return solve(t);
}

/* b is outside of the range of A, or the null space that is told is none of A's. */
static PetscErrorCode wrongNullSpace(Trial* t) {
  MatNullSpace space;
  PetscInt first, last;
  MUST(MatGetOwnershipRange(t->a, &first, &last));
  MUST(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space));
  if (t->variant % 2) {
    MUST(MatShift(t->a, -0.5));
    if (first == 0 && last > 0) MUST(MatSetValue(t->a, 0, 0, 1, INSERT_VALUES));
    if (last == t->n && first < last) MUST(MatSetValue(t->a, t->n - 1, t->n - 1, 1, INSERT_VALUES));
    MUST(MatAssemblyBegin(t->a, MAT_FINAL_ASSEMBLY));
    MUST(MatAssemblyEnd(t->a, MAT_FINAL_ASSEMBLY));
    t->want = DIVERGES;
  }
  if (t->variant / 2 % 2 || t->variant % 2 == 0) MUST(MatSetNullSpace(t->a, space));
  MUST(MatNullSpaceDestroy(&space));
  return solve(t);
}

static PetscErrorCode rightSystem(Trial* t) { return solve(t); }

const Kind kindsOfSystems[] = {{"sizes", FAILS, wrongSizes},
                               {"shape", FAILS, wrongShape},
                               {"device vectors", FAILS, deviceVectors},
                               {"no operators", FAILS, noOperators},
                               {"not finite", DIVERGES, notFinite},
                               {"broken preconditioner", DIVERGES, brokenPreconditioner},
                               {"mended preconditioner", CONVERGES, mendedPreconditioner},
                               {"nested", CONVERGES, nestedSolve},
                               {"no product", FAILS, noProduct},
                               {"replaced operators", FAILS | CONVERGES, replacedOperators},
                               {"solved twice", CONVERGES, solvedTwice},
                               {"null space", DIVERGES | CONVERGES, wrongNullSpace},
                               {"nothing wrong", CONVERGES, rightSystem},
                               {NULL, 0, NULL}};
