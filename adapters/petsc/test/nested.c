/* A saddle point [L B'; B 0] as a MATNEST, or behind a MATSHELL, solved by two KSPs: one takes the options that begin
 * with -own_, the other those without a prefix. L is a Laplacian on n x n points, B sums differences of neighbours.
 *
 *   nested [-n 12] [-shell] [-vectors] [-own_ksp_type fgmres ...] [-ksp_type ...]
 *
 * -vectors: they are nested, too.
 *
 * Prints "own K, other K, apart E, residual R": iterations, the norm of the difference of the solutions over the norm
 * of the first one, and the norm of b - A x of the second one over that of b. */
#include <petscksp.h>

static PetscErrorCode setLaplacian(Mat l, PetscInt n) {
  PetscInt first, last;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(l, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt i = row % n, j = row / n;
    PetscCall(MatSetValue(l, row, row, 4, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(l, row, row - 1, -1, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(l, row, row + 1, -1, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(l, row, row - n, -1, INSERT_VALUES));
    if (j < n - 1) PetscCall(MatSetValue(l, row, row + n, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(l, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(l, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode setConstraint(Mat b) {
  PetscInt first, last;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(b, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    PetscCall(MatSetValue(b, row, 2 * row, 1, INSERT_VALUES));
    PetscCall(MatSetValue(b, row, 2 * row + 1, -0.5, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(b, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(b, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The saddle point, and the matrix that the preconditioner is made from: the identity in the place of 0. */
static PetscErrorCode makeMatrices(PetscInt n, Mat* a, Mat* p) {
  const PetscInt points = n * n, constraints = points / 2;
  Mat l, b, bt, mass, parts[4];
  PetscInt local;
  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, points, points, 5, NULL, 4, NULL, &l));
  PetscCall(setLaplacian(l, n));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, constraints, points, 2, NULL, 2, NULL, &b));
  PetscCall(setConstraint(b));
  PetscCall(MatTranspose(b, MAT_INITIAL_MATRIX, &bt));
  PetscCall(MatGetLocalSize(b, &local, NULL));
  PetscCall(MatCreateConstantDiagonal(PETSC_COMM_WORLD, local, local, constraints, constraints, 1, &mass));
  parts[0] = l;
  parts[1] = bt;
  parts[2] = b;
  parts[3] = NULL;
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, parts, a));
  parts[3] = mass;
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, parts, p));
  PetscCall(MatDestroy(&mass));
  for (int i = 0; i < 3; ++i) PetscCall(MatDestroy(&parts[i]));
  PetscFunctionReturn(0);
}

static PetscErrorCode multiplyShell(Mat shell, Vec x, Vec y) {
  Mat a;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(shell, &a));
  PetscCall(MatMult(a, x, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode wrap(Mat* a) {
  Mat shell;
  PetscInt rows, columns;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(*a, &rows, &columns));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE, *a, &shell));
  PetscCall(MatShellSetOperation(shell, MATOP_MULT, (void (*)(void))multiplyShell));
  *a = shell;
  PetscFunctionReturn(0);
}

static PetscErrorCode solve(const char* prefix, Mat a, Mat p, IS* rows, Vec b, Vec x, PetscInt* iterations) {
  KSP ksp;
  PC pc;
  PetscBool splits;
  KSPConvergedReason reason;
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  PetscCall(KSPSetOperators(ksp, a, p));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCFIELDSPLIT, &splits));
  if (splits) {
    PetscCall(PCFieldSplitSetIS(pc, "0", rows[0]));
    PetscCall(PCFieldSplitSetIS(pc, "1", rows[1]));
  }
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "%s: %s", prefix, KSPConvergedReasons[reason]);
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode compare(PetscInt n, PetscBool shell, PetscBool vectors) {
  Mat nest, a, p;
  Vec b, x, y, r;
  IS rows[2];
  PetscInt own, other;
  PetscReal of_x, of_b, apart, residual;
  PetscFunctionBegin;
  PetscCall(makeMatrices(n, &nest, &p));
  if (vectors) PetscCall(MatNestSetVecType(nest, VECNEST));
  if (vectors) PetscCall(MatNestSetVecType(p, VECNEST));
  a = nest;
  if (shell) PetscCall(wrap(&a));
  PetscCall(MatNestGetISs(p, rows, NULL));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSet(y, 1));
  PetscCall(MatMult(a, y, b));
  PetscCall(solve("own_", a, p, rows, b, x, &own));
  PetscCall(VecSet(y, 0));
  PetscCall(solve("", a, p, rows, b, y, &other));
  PetscCall(MatMult(a, y, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(b, NORM_2, &of_b));
  PetscCall(VecNorm(x, NORM_2, &of_x));
  PetscCall(VecAXPY(y, -1, x));
  PetscCall(VecNorm(y, NORM_2, &apart));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "own %d, other %d, apart %.3e, residual %.3e\n", (int)own, (int)other,
                        apart / of_x, residual / of_b));
  if (shell) PetscCall(MatDestroy(&a));
  PetscCall(MatDestroy(&nest));
  PetscCall(MatDestroy(&p));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt n = 12;
  PetscBool shell = PETSC_FALSE, vectors = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-shell", &shell, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-vectors", &vectors, NULL));
  PetscCall(compare(n, shell, vectors));
  PetscCall(PetscFinalize());
  return 0;
}
