/* A matrix of type AIJ that is solved again and again, with values and a pattern that change: who multiplies, by PETSc's count of
 * products, and whether b - A x, by PETSc's product, is what the solve says it is.
 *
 *   entries -ksp_type ... [-pc_type ...] */
#include <petscksp.h>

static PetscErrorCode makeMatrix(PetscInt n, PetscInt wide, Mat* a) {
  PetscInt first, last;
  PetscFunctionBegin;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 7, NULL, 6, NULL, a));
  PetscCall(MatGetOwnershipRange(*a, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    PetscCall(MatSetValue(*a, row, row, 2.02 + 0.001 * (PetscReal)(row % 7), INSERT_VALUES));
    for (PetscInt k = 1; k <= wide; ++k) {
      const PetscReal value = k == 1 ? -1 : 0.001;
      if (row >= k) PetscCall(MatSetValue(*a, row, row - k, value, INSERT_VALUES));
      if (row + k < n) PetscCall(MatSetValue(*a, row, row + k, value, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode products(int* count) {
  PetscLogEvent event;
  PetscEventPerfInfo info;
  PetscFunctionBegin;
  PetscCall(PetscLogEventGetId("MatMult", &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *count = info.count;
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Mat a, wide;
  Vec x, b, r;
  KSP ksp;
  PetscRandom random;
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(makeMatrix(300, 1, &a));
  PetscCall(makeMatrix(300, 3, &wide));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetFromOptions(ksp));
  for (int step = 0; step < 8; ++step) {
    int before, after;
    PetscInt iterations;
    PetscReal found, told, scale;
    KSPConvergedReason reason;
    if (step == 2) PetscCall(MatScale(a, 3));
    if (step == 3) PetscCall(MatShift(a, 0.1));
    if (step == 5) PetscCall(KSPSetOperators(ksp, wide, wide));
    PetscCall(VecSetRandom(b, random));
    PetscCall(products(&before));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(products(&after));
    PetscCall(MatMult(step < 5 ? a : wide, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &found));
    PetscCall(VecNorm(b, NORM_2, &scale));
    PetscCall(KSPGetResidualNorm(ksp, &told));
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve %d: reason %d, iterations %d, products %d, residual %g, told %g\n", step, (int)reason,
                          (int)iterations, after - before, (double)(found / scale), (double)(told / scale)));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&a));
  PetscCall(MatDestroy(&wide));
  return PetscFinalize();
}
