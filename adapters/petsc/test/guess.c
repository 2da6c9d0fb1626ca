/* A tridiagonal matrix that is not symmetric, and a guess. Two KSPs solve: one takes the options that begin with -own_,
 * the other those without a prefix.
 *
 *   guess [-n 100] [-distance 1e-3] [-zero] [-own_ksp_type bcgs ...] [-ksp_type ...]
 *
 * The guess is as far from the solution; with -zero b is zero. Prints "own K (reason), other K (reason)": iterations
 * and why they ended. */
#include "two_solvers.h"

static PetscErrorCode makeMatrix(PetscInt n, Mat* a) {
  PetscInt first, last;
  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, NULL, 2, NULL, a));
  PetscCall(MatGetOwnershipRange(*a, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    PetscCall(MatSetValue(*a, row, row, 2.05, INSERT_VALUES));
    if (row > 0) PetscCall(MatSetValue(*a, row, row - 1, -1.3, INSERT_VALUES));
    if (row < n - 1) PetscCall(MatSetValue(*a, row, row + 1, -0.7, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt n = 100, own, other;
  PetscReal distance = 1e-3;
  PetscBool zero = PETSC_FALSE;
  const char *why, *otherWhy;
  PetscRandom random;
  Mat a;
  Vec x, b, guess;
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-distance", &distance, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-zero", &zero, NULL));
  PetscCall(makeMatrix(n, &a));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecDuplicate(x, &guess));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(x, random));
  if (zero) PetscCall(VecSet(x, 0));
  PetscCall(MatMult(a, x, b));
  PetscCall(VecSetRandom(guess, random));
  PetscCall(VecAYPX(guess, distance, x));
  PetscCall(VecCopy(guess, x));
  PetscCall(solveBy("own_", a, NULL, PETSC_TRUE, b, x, &own, &why));
  PetscCall(VecCopy(guess, x));
  PetscCall(solveBy("", a, NULL, PETSC_TRUE, b, x, &other, &otherWhy));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "own %d (%s), other %d (%s)\n", (int)own, why, (int)other, otherWhy));
  PetscCall(VecDestroy(&guess));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&a));
  PetscCall(PetscRandomDestroy(&random));
  return PetscFinalize();
}
