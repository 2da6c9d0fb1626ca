/* A Laplacian as a shell, of vectors with ghosts: its product fetches all rows of the other ranks into the room behind
 * its own. Two KSPs solve: one takes the options that begin with -own_, the other those without a prefix.
 *
 *   ghosts [-n 60] [-own_ksp_type gmres ...] [-ksp_type ...]
 *
 * Prints "own K, other K, residual R": iterations, and of the second solution the norm of b - A x over that of b. */
#include "two_solvers.h"

static PetscInt n = 60, first, last;

/* Where an entry lies in the local form: ghosts are the rows of the others in their order. */
static PetscInt placeOf(PetscInt row) {
  if (row < first) return last - first + row;
  return row < last ? row - first : row;
}

static PetscErrorCode multiply(Mat a, Vec in, Vec out) {
  Vec local;
  const PetscScalar* x;
  PetscScalar* y;
  PetscFunctionBegin;
  (void)a;
  PetscCall(VecGhostUpdateBegin(in, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGhostUpdateEnd(in, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGhostGetLocalForm(in, &local));
  PetscCall(VecGetArrayRead(local, &x));
  PetscCall(VecGetArray(out, &y));
  for (PetscInt row = first; row < last; ++row) {
    y[row - first] = 2.01 * x[placeOf(row)];
    if (row > 0) y[row - first] -= x[placeOf(row - 1)];
    if (row < n - 1) y[row - first] -= x[placeOf(row + 1)];
  }
  PetscCall(VecRestoreArray(out, &y));
  PetscCall(VecRestoreArrayRead(local, &x));
  PetscCall(VecGhostRestoreLocalForm(in, &local));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  const char* why;
  PetscInt own, other, rows = PETSC_DECIDE, count = 0, *ghosts;
  PetscReal rest, norm;
  Mat a;
  Vec x, b, r;
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &rows, &n));
  PetscCallMPI(MPI_Scan(&rows, &last, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  first = last - rows;
  PetscCall(PetscMalloc1(n, &ghosts));
  for (PetscInt row = 0; row < n; ++row) {
    if (row < first || row >= last) ghosts[count++] = row;
  }
  PetscCall(VecCreateGhost(PETSC_COMM_WORLD, rows, n, count, ghosts, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, rows, rows, n, n, NULL, &a));
  PetscCall(MatShellSetOperation(a, MATOP_MULT, (void (*)(void))multiply));
  for (PetscInt row = first; row < last; ++row) PetscCall(VecSetValue(b, row, row % 7 - 2.5, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscCall(solveBy("own_", a, NULL, PETSC_FALSE, b, x, &own, &why));
  PetscCall(solveBy("", a, NULL, PETSC_FALSE, b, x, &other, &why));
  PetscCall(MatMult(a, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &rest));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "own %d, other %d, residual %g\n", (int)own, (int)other, (double)(rest / norm)));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&a));
  PetscCall(PetscFree(ghosts));
  return PetscFinalize();
}
