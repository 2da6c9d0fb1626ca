/* A five-point Laplacian of n x n points that is solved again and again, as the time steps of a flow do: another right-hand side each
 * time, and a guess of zero. The first solve is made before the log begins: what it costs is told by the tutorials.
 *
 *   steps [-n 200] [-solves 20] [-ksp_type ...]  */
#include <petscksp.h>

static PetscErrorCode makeMatrix(PetscInt n, Mat* a) {
  PetscInt first, last;
  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 5, NULL, a));
  PetscCall(MatGetOwnershipRange(*a, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt i = row / n, j = row % n;
    PetscCall(MatSetValue(*a, row, row, 4, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(*a, row, row - n, -1, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*a, row, row + n, -1, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(*a, row, row - 1, -1, INSERT_VALUES));
    if (j < n - 1) PetscCall(MatSetValue(*a, row, row + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*a, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscInt n = 200, solves = 20;
  PetscRandom random;
  PetscLogStage stage;
  Mat a;
  Vec x, b;
  KSP ksp;
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &solves, NULL));
  PetscCall(makeMatrix(n, &a));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscLogStageRegister("Steps", &stage));
  for (PetscInt step = 0; step <= solves; ++step) {
    if (step == 1) PetscCall(PetscLogStagePush(stage));
    PetscCall(VecSetRandom(b, random));
    PetscCall(KSPSolve(ksp, b, x));
  }
  PetscCall(PetscLogStagePop());
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&a));
  return PetscFinalize();
}
