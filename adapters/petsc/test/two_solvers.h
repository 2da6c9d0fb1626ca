/* What programs share that solve by one KSP after another: PETSc's own, whose options begin with -own_, and the one
 * under test. */
#include <petscksp.h>

/* Solves A x = b. M is what `apply` does, nothing where that is NULL; x is a guess, or zero. */
static PetscErrorCode solveBy(const char* prefix, Mat a, PetscErrorCode (*apply)(PC, Vec, Vec), PetscBool guess, Vec b,
                              Vec x, PetscInt* iterations, const char** reason) {
  KSP ksp;
  PC pc;
  KSPConvergedReason why;
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, apply ? PCSHELL : PCNONE));
  if (apply) PetscCall(PCShellSetApply(pc, apply));
  PetscCall(KSPSetInitialGuessNonzero(ksp, guess));
  PetscCall(KSPSetFromOptions(ksp));
  if (!guess) PetscCall(VecSet(x, 0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPGetConvergedReason(ksp, &why));
  *reason = KSPConvergedReasons[why];
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}
