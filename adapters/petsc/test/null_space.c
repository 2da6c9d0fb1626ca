/* A Laplacian that annihilates constants, and says so; M is its diagonal, and adds a constant that is none of anybody's
 * business. Two KSPs solve: one takes the options that begin with -own_, the other those without a prefix.
 *
 *   null_space [-n 200] [-own_ksp_type cg ...] [-ksp_type ...]
 *
 * Prints "own K, other K, residual R, mean C": iterations, and of the second solution the norm of b - A x over that of
 * b, and its mean over its largest entry. */
#include "two_solvers.h"

static PetscErrorCode precondition(PC pc, Vec r, Vec z) {
  PetscReal norm;
  PetscFunctionBegin;
  (void)pc;
  PetscCall(VecCopy(r, z));
  PetscCall(VecScale(z, 0.5));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecShift(z, 1e6 * norm));
  PetscFunctionReturn(0);
}

static PetscErrorCode makeMatrix(PetscInt n, Mat* a) {
  PetscInt first, last;
  MatNullSpace constants;
  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, NULL, 2, NULL, a));
  PetscCall(MatGetOwnershipRange(*a, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt neighbours = (row > 0) + (row < n - 1);
    PetscCall(MatSetValue(*a, row, row, neighbours, INSERT_VALUES));
    if (row > 0) PetscCall(MatSetValue(*a, row, row - 1, -1, INSERT_VALUES));
    if (row < n - 1) PetscCall(MatSetValue(*a, row, row + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(*a, constants));
  PetscCall(MatSetTransposeNullSpace(*a, constants));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  const char* why;
  PetscInt n = 200, own, other;
  PetscReal rest, norm, largest;
  PetscScalar sum;
  PetscRandom random;
  Mat a;
  Vec x, b, r;
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(makeMatrix(n, &a));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(x, random));
  PetscCall(MatMult(a, x, b));
  PetscCall(solveBy("own_", a, precondition, PETSC_FALSE, b, x, &own, &why));
  PetscCall(solveBy("", a, precondition, PETSC_FALSE, b, x, &other, &why));
  PetscCall(MatMult(a, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &rest));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(VecSum(x, &sum));
  PetscCall(VecNorm(x, NORM_INFINITY, &largest));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "own %d, other %d, residual %g, mean %g\n", (int)own, (int)other,
                        (double)(rest / norm), (double)(PetscAbsScalar(sum) / n / largest)));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&a));
  PetscCall(PetscRandomDestroy(&random));
  return PetscFinalize();
}
