/* Wrong settings, tests and orders of calls, for wrong_inputs.c. */
#include <math.h>

#include "wrong_uses.h"

static PetscErrorCode solve(Trial* t) { return KSPSolve(t->ksp, t->b, t->x); }

typedef struct {
  const char *name, *value;
  int want;
} Option;

/* As the command line has it; a wrong value is refused as often as a solve is tried. */
static PetscErrorCode wrongOption(Trial* t) {
  static const Option options[] = {{"-ksp_capstan_step_size", "abc", FAILS},
                                   {"-ksp_capstan_step_size", "-1", FAILS},
                                   {"-ksp_capstan_step_size", "1e99", FAILS},
                                   {"-ksp_capstan_step_size", "0", FAILS},
                                   {"-ksp_capstan_step_size", "99999999999999999999", FAILS},
                                   {"-ksp_capstan_step_size", "{Step Size: 4}", FAILS},
                                   {"-ksp_capstan_step_size", "4}}, method: {", FAILS},
                                   {"-ksp_capstan_step_size", "\"", FAILS},
                                   {"-ksp_capstan_step_size", NULL, FAILS},
                                   {"-ksp_capstan_num_blocks", "-3", FAILS},
                                   {"-ksp_capstan_num_blocks", "nan", FAILS},
                                   {"-ksp_gmres_restart", "abc", FAILS},
                                   {"-ksp_gmres_restart", "-1", FAILS},
                                   {"-ksp_gmres_restart", "0", FAILS},
                                   {"-ksp_rtol", "abc", FAILS},
                                   {"-ksp_rtol", "-1", FAILS},
                                   {"-ksp_rtol", "nan", FAILS},
                                   {"-ksp_atol", "nan", FAILS},
                                   {"-ksp_atol", "-1e-3", FAILS},
                                   {"-ksp_max_it", "-1", FAILS},
                                   {"-ksp_norm_type", "preconditioned", FAILS},
                                   {"-ksp_type", "capstan_nothing", FAILS},
                                   {"-ksp_rtol", "2", CONVERGES},
                                   {"-ksp_atol", "1e300", CONVERGES},
                                   {"-ksp_converged_maxits", "", CONVERGES},
                                   {"-ksp_capstan_no_such_key", "3", CONVERGES},
                                   {"-ksp_max_it", "0", DIVERGES}};
  const Option* option = &options[t->variant % (int)(sizeof options / sizeof *options)];
  PetscErrorCode status;
  MUST(KSPSetType(t->ksp, "capstan_sstep_gmres"));
  MUST(PetscOptionsSetValue(NULL, option->name, option->value));
  status = KSPSetFromOptions(t->ksp);
  MUST(PetscOptionsClearValue(NULL, option->name));
  t->want = option->want;
  if (status) return status;
  if (option->want == FAILS) (void)solve(t);
  return solve(t);
}

/* Tolerances and limits as a program gives them. */
static PetscErrorCode wrongLimits(Trial* t) {
  static const PetscReal rtols[] = {0, 0, NAN, -1, 1, 1e-300, 1e-8};
  const int which = t->variant % 7;
  const PetscErrorCode status =
      KSPSetTolerances(t->ksp, rtols[which], which == 1 ? INFINITY : PETSC_DEFAULT, PETSC_DEFAULT,
                       which == 6   ? -3
                       : which == 0 ? 60
                                    : PETSC_DEFAULT);
  return status ? status : solve(t);
}

static PetscErrorCode wrongNorm(Trial* t) {
  static const KSPNormType norms[] = {KSP_NORM_PRECONDITIONED, KSP_NORM_NATURAL, KSP_NORM_NONE};
  static const PCSide sides[] = {PC_LEFT, PC_SYMMETRIC, PC_RIGHT};
  const int which = t->variant % 3;
  t->want = which == 2 ? CONVERGES : FAILS;
  t->judged = PETSC_FALSE;
  if (t->variant / 3 % 2) {
    MUST(KSPSetNormType(t->ksp, norms[which]));
    if (which == 2) MUST(KSPSetTolerances(t->ksp, 0, 0, 1e5, 1 + t->variant % 60));
  } else {
    MUST(KSPSetPCSide(t->ksp, sides[which]));
  }
  return solve(t);
}

static PetscErrorCode ownTest(KSP ksp, PetscInt iteration, PetscReal norm, KSPConvergedReason* reason, void* context) {
  const int how = *(int*)context;
  (void)ksp;
  (void)norm;
  *reason = KSP_CONVERGED_ITERATING;
  if (iteration < how / 3 % 3) return 0;
  if (how % 3 == 0) return PETSC_ERR_USER;
  *reason = how % 3 == 1 ? KSP_DIVERGED_DTOL : KSP_CONVERGED_ITS;
  return 0;
}

/* A test of the program's that fails or ends the solve; PETSc's, without what it needs; none. */
static PetscErrorCode wrongTest(Trial* t) {
  static const int wants[] = {FAILS, DIVERGES, CONVERGES};
  t->want = wants[t->variant % 3];
  t->judged = PETSC_FALSE;
  if (t->variant % 5 == 0) {
    t->want = FAILS;
    MUST(KSPSetConvergenceTest(t->ksp, t->variant % 2 ? KSPConvergedDefault : NULL, NULL, NULL));
  } else {
    MUST(KSPSetConvergenceTest(t->ksp, ownTest, &t->variant, NULL));
  }
  return solve(t);
}

static PetscErrorCode failingMonitor(KSP ksp, PetscInt iteration, PetscReal norm, void* context) {
  (void)ksp;
  (void)norm;
  return iteration >= *(int*)context % 3 ? PETSC_ERR_USER : 0;
}
static PetscErrorCode iterateMonitor(KSP ksp, PetscInt iteration, PetscReal norm, void* context) {
  Vec x = NULL;
  (void)iteration;
  (void)norm;
  (void)context;
  return KSPBuildSolution(ksp, NULL, &x);
}

/* A monitor that fails, or asks for the iterate, which nobody has. */
static PetscErrorCode wrongMonitor(Trial* t) {
  MUST(KSPMonitorSet(t->ksp, t->variant / 3 % 2 ? failingMonitor : iterateMonitor, &t->variant, NULL));
  return solve(t);
}

/* What is asked for after a solve is the truth: the solution, and b - A x. */
static PetscErrorCode askedAfterwards(Trial* t) {
  Vec x, other, r;
  PetscReal distance, told, own;
  MUST(solve(t));
  MUST(VecDuplicate(t->x, &other));
  MUST(KSPBuildSolution(t->ksp, other, &x));
  MUST(VecAXPY(x, -1, t->x));
  MUST(VecNorm(x, NORM_2, &distance));
  MUST(KSPBuildResidual(t->ksp, NULL, NULL, &r));
  MUST(MatMult(t->a, t->x, other));
  MUST(VecAYPX(other, -1, t->b));
  MUST(VecNorm(other, NORM_2, &own));
  MUST(VecNorm(r, NORM_2, &told));
  MUST(VecDestroy(&r));
  MUST(VecDestroy(&other));
  if (distance > 0 || fabs(told - own) > 1e-6 * own) t->want = UNSOLVED; /* wrong */
  return 0;
}

/* Not solved at all. */
static PetscErrorCode destroyedEarly(Trial* t) {
  if (t->variant % 3 > 0) MUST(KSPSetFromOptions(t->ksp));
  if (t->variant % 3 > 1) MUST(KSPSetUp(t->ksp));
  MUST(KSPReset(t->ksp));
  return KSPDestroy(&t->ksp);
}

static PetscErrorCode changedType(Trial* t) {
  static const char* const types[] = {"gmres", "capstan_gmres", "cg", "capstan_cg", "capstan_sstep_gmres", "bcgs"};
  for (int i = 0; i < 4; ++i) {
    MUST(KSPSetType(t->ksp, types[(t->variant + i * 5) % 6]));
    MUST(KSPSetNormType(t->ksp, KSP_NORM_DEFAULT));
    MUST(solve(t));
  }
  MUST(KSPSetType(t->ksp, "capstan_bicgstab"));
  return solve(t);
}

static PetscErrorCode transposed(Trial* t) {
  if (t->variant % 2) MUST(solve(t));
  return KSPSolveTranspose(t->ksp, t->b, t->x);
}

const Kind kindsOfSettings[] = {{"option", FAILS, wrongOption},
                                {"an option again", FAILS, wrongOption},
                                {"limits", FAILS | DIVERGES | CONVERGES, wrongLimits},
                                {"norm", FAILS, wrongNorm},
                                {"test", FAILS, wrongTest},
                                {"monitor", FAILS, wrongMonitor},
                                {"asked afterwards", CONVERGES, askedAfterwards},
                                {"destroyed early", UNSOLVED, destroyedEarly},
                                {"changed type", CONVERGES, changedType},
                                {"transposed", FAILS, transposed},
                                {NULL, 0, NULL}};
