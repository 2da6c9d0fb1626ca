// How a KSP of Capstan's solves: A is what KSP_MatMult does, M what KSP_PCApply does; both work on arrays of a rank's
// rows.
#include <algorithm>
#include <limits>
#include <utility>

#include "adapters/petsc/ksp_context.hpp"

namespace capstan::petsc {
namespace {

PetscErrorCode nullSpaceOf(KSP ksp, MatNullSpace* space) {
  PetscFunctionBegin;
  Mat a = nullptr;
  PetscCall(PCGetOperators(ksp->pc, &a, nullptr));
  PetscCall(MatGetNullSpace(a, space));
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode apply(KSP ksp, bool product, Vec in, Vec out) {
  PetscFunctionBegin;
  if (product) {
    Mat a = nullptr;
    PetscCall(PCGetOperators(ksp->pc, &a, nullptr));
    PetscCall(KSP_MatMult(ksp, a, in, out));
  } else {
    PetscCall(KSP_PCApply(ksp, in, out));
    // KSP_PCApply does so on the left alone. What M adds of the null space would be x's: it grows until rounding of
    // A x is all that is left.
    MatNullSpace space = nullptr;
    PetscCall(nullSpaceOf(ksp, &space));
    if (ksp->pc_side != PC_LEFT && space != nullptr) PetscCall(MatNullSpaceRemove(space, out));
  }
  PetscFunctionReturn(PetscErrorCode(0));
}

/// A and M on arrays, in vectors that take them as their entries.
PetscErrorCode applyInPlace(KSP ksp, bool product, const double* x, double* y) {
  PetscFunctionBegin;
  static double none = 0;  // arrays of no rows may be NULL
  const Vec in = contextOf(ksp).in, out = contextOf(ksp).out;
  PetscCall(VecPlaceArray(in, x == nullptr ? &none : x));
  PetscCall(VecPlaceArray(out, y == nullptr ? &none : y));
  const PetscErrorCode status = apply(ksp, product, in, out);
  PetscCall(VecResetArray(in));
  PetscCall(VecResetArray(out));
  PetscFunctionReturn(status);
}

/// The same, for vectors that take no array: they are copied to and from.
PetscErrorCode applyToCopies(KSP ksp, bool product, const double* x, double* y) {
  PetscFunctionBegin;
  const Vec in = contextOf(ksp).in, out = contextOf(ksp).out;
  PetscInt rows = 0;
  PetscScalar* entries = nullptr;
  const PetscScalar* found = nullptr;
  PetscCall(VecGetLocalSize(in, &rows));
  PetscCall(VecGetArray(in, &entries));
  PetscCall(PetscArraycpy(entries, x, rows));
  PetscCall(VecRestoreArray(in, &entries));
  PetscCall(apply(ksp, product, in, out));
  PetscCall(VecGetArrayRead(out, &found));
  PetscCall(PetscArraycpy(y, found, rows));
  PetscCall(VecRestoreArrayRead(out, &found));
  PetscFunctionReturn(PetscErrorCode(0));
}

/// Whether a vector can have an array of a rank's rows as its entries: none of parts, and none with room for ghosts
/// behind the rows, where the program's A and M write.
PetscErrorCode takesArrays(Vec v, bool* takes) {
  PetscFunctionBegin;
  PetscBool nested = PETSC_FALSE;
  Vec withGhosts = nullptr;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(v), VECNEST, &nested));
  PetscCall(VecGhostGetLocalForm(v, &withGhosts));
  *takes = !nested && (withGhosts == nullptr || withGhosts == v);
  PetscCall(VecGhostRestoreLocalForm(v, &withGhosts));
  PetscFunctionReturn(PetscErrorCode(0));
}

/// Vectors that A and M are applied to.
PetscErrorCode takeVectors(KSP ksp) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  if (context.in == nullptr) PetscCall(VecDuplicate(ksp->vec_rhs, &context.in));
  if (context.out == nullptr) PetscCall(VecDuplicate(ksp->vec_rhs, &context.out));
  PetscCall(takesArrays(context.in, &context.inPlace));
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode act(KSP ksp, bool product, const double* x, double* y) {
  PetscFunctionBegin;
  PetscCall(contextOf(ksp).inPlace ? applyInPlace(ksp, product, x, y) : applyToCopies(ksp, product, x, y));
  PetscFunctionReturn(PetscErrorCode(0));
}

int note(void* ksp, PetscErrorCode failure) {
  Context& context = contextOf(static_cast<KSP>(ksp));
  if (context.failure == 0) context.failure = failure;
  return failure != 0 ? 1 : 0;
}
int multiply(void* ksp, const double* x, double* y) { return note(ksp, act(static_cast<KSP>(ksp), true, x, y)); }
int precondition(void* ksp, const double* r, double* z) { return note(ksp, act(static_cast<KSP>(ksp), false, r, z)); }

int test(void* object, int iteration, const double* residuals, int /*columns*/) {
  const auto ksp = static_cast<KSP>(object);
  return note(object, watch(ksp, iteration, residuals[0])) != 0 || ksp->reason != KSP_CONVERGED_ITERATING ? 1 : 0;
}

/// Whether M does nothing: no preconditioner, and no null space to take out.
PetscErrorCode doesNothing(KSP ksp, bool* nothing) {
  PetscFunctionBegin;
  PetscBool none = PETSC_FALSE;
  MatNullSpace space = nullptr;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(ksp->pc), PCNONE, &none));
  PetscCall(nullSpaceOf(ksp, &space));
  *nothing = none && space == nullptr;
  PetscFunctionReturn(PetscErrorCode(0));
}

/// A solver for the settings, matrix and preconditioner as they are now.
PetscErrorCode takeSolver(KSP ksp, Mat a) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  bool nothing = false, entries = false;
  PetscBool same = PETSC_FALSE;
  PetscLayout layout = nullptr;
  PetscCall(doesNothing(ksp, &nothing));
  PetscCall(wantsEntries(ksp, a, &entries));
  context.relativeToGuess =
      testsByDefault(ksp) && ksp->cnvP != nullptr && (defaultTest(ksp).initialrtol || context.zeroRhs);
  const std::string text = textOf(context);
  PetscCall(MatGetLayouts(a, &layout, nullptr));
  if (context.rows != nullptr) PetscCall(PetscLayoutCompare(context.rows, layout, &same));
  const bool kept = same && text == context.text && context.hasPreconditioner == !nothing;
  if (kept && entries == context.hasEntries) {
    if (entries) PetscCall(renewEntries(ksp, a));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  PetscCall(forget(ksp));
  PetscInt rows = 0;
  PetscCall(MatGetLocalSize(a, &rows, nullptr));
  PetscCall(check(ksp, capstan_create(commOf(ksp), text.c_str(), &context.solver), nullptr));
  if (entries) {
    PetscCall(giveEntries(ksp, a));
  } else {
    PetscCall(check(ksp, capstan_set_operator(context.solver, rows, multiply, ksp), context.solver));
  }
  context.hasEntries = entries;
  if (!nothing) PetscCall(check(ksp, capstan_set_preconditioner(context.solver, precondition, ksp), context.solver));
  PetscCall(check(ksp, capstan_set_test(context.solver, test, ksp), context.solver));
  PetscCall(PetscLayoutReference(layout, &context.rows));
  context.text = text;
  context.hasPreconditioner = !nothing;
  PetscFunctionReturn(PetscErrorCode(0));
}

/// What PETSc knows of the matrix, as the program has set it: nothing is computed; and of the guess.
PetscErrorCode tellWhatIsKnown(KSP ksp, Mat a) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  const bool zero = ksp->guess_zero;
  if (zero != context.zeroGuess)
    PetscCall(check(ksp, capstan_set_zero_guess(context.solver, zero ? 1 : 0), context.solver));
  context.zeroGuess = zero;
  PetscBool known = PETSC_FALSE, symmetric = PETSC_FALSE;
  PetscCall(MatIsSymmetricKnown(a, &known, &symmetric));
  const int now = known ? (symmetric ? 1 : 0) : -1;
  if (now != context.symmetric) PetscCall(check(ksp, capstan_set_symmetric(context.solver, now), context.solver));
  context.symmetric = now;
  PetscBool jacobi = PETSC_FALSE;
  MatNullSpace space = nullptr;  // it is taken out of what M makes
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(ksp->pc), PCJACOBI, &jacobi));
  PetscCall(nullSpaceOf(ksp, &space));
  const int diagonal = jacobi && space == nullptr ? 1 : 0;
  if (diagonal != context.diagonal)
    PetscCall(check(ksp, capstan_set_diagonal(context.solver, diagonal), context.solver));
  context.diagonal = diagonal;
  PetscFunctionReturn(PetscErrorCode(0));
}

/// A test of the application's own, or none, has the last word: the tolerance is one that nothing meets.
PetscErrorCode takeLimits(KSP ksp) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  const PetscReal relative = tests(ksp) ? ksp->rtol : 0, absolute = tests(ksp) ? ksp->abstol : 0;
  const auto limit = static_cast<int>(std::min<PetscInt>(ksp->max_it, std::numeric_limits<int>::max() / 2));
  PetscCall(check(ksp, capstan_set_limits(context.solver, relative, absolute, limit), context.solver));
  PetscFunctionReturn(PetscErrorCode(0));
}

/// What solvers and preconditioners around this one make of it counts: they go on after KSP_DIVERGED_ITS, with x as it
/// is, and give up after the other negative ones.
KSPConvergedReason reasonOf(KSP ksp, const capstan_outcome& outcome) {
  const bool untested = ksp->normtype == KSP_NORM_NONE;
  switch (outcome.reason) {
    case CAPSTAN_CONVERGED:
      return ksp->rnorm <= ksp->abstol ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
    case CAPSTAN_MAX_ITERATIONS:
    case CAPSTAN_MAX_RESTARTS:
      return untested || (testsByDefault(ksp) && defaultTest(ksp).convmaxits) ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS;
    case CAPSTAN_ATTAINABLE_ACCURACY:
    case CAPSTAN_STAGNATION:
    case CAPSTAN_INCONSISTENT:  // x is as good as more iterations would have it
      return untested ? KSP_CONVERGED_HAPPY_BREAKDOWN : KSP_DIVERGED_ITS;
    case CAPSTAN_NON_FINITE:
      return KSP_DIVERGED_NANORINF;
    default:
      return KSP_DIVERGED_BREAKDOWN;
  }
}

/// Whether the preconditioner has said on a rank that it failed; all ranks know it then, as after PETSc's own methods.
PetscErrorCode preconditionerFailed(KSP ksp, bool* failed) {
  PetscFunctionBegin;
  PCFailedReason reason = PC_NOERROR;
  PetscCall(PCGetFailedReason(ksp->pc, &reason));
  int worst = reason;
#if PETSC_VERSION_LT(3, 19, 0)
  PetscCall(PCGetFailedReasonRank(ksp->pc, &reason));
  if (worst == PC_NOERROR) worst = reason;
#endif
  if (worst < 0) worst = PC_SUBPC_ERROR;  // PC_SETUP_ERROR
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, commOf(ksp)));
  *failed = worst != PC_NOERROR;
  if (*failed) PetscCall(PCSetFailedReason(ksp->pc, static_cast<PCFailedReason>(worst)));
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode takeOutcome(KSP ksp, const capstan_outcome& outcome) {
  PetscFunctionBegin;
  ksp->its = outcome.iterations;
  ksp->rnorm = outcome.residual * outcome.scale;
  if (ksp->reason != KSP_CONVERGED_ITERATING) PetscFunctionReturn(PetscErrorCode(0));  // a test has said it
  PetscCall(PetscInfo(ksp, "Capstan: %s\n", capstan_reason_text(outcome.reason)));
  bool failed = false;
  if (outcome.reason == CAPSTAN_NON_FINITE || outcome.reason == CAPSTAN_BREAKDOWN) {
    PetscCall(preconditionerFailed(ksp, &failed));
  }
  ksp->reason = failed ? KSP_DIVERGED_PC_FAILED : reasonOf(ksp, outcome);
  PetscFunctionReturn(PetscErrorCode(0));
}

}  // namespace

PetscErrorCode check(KSP ksp, int status, const capstan_solver* solver) {
  PetscFunctionBegin;
  if (status == CAPSTAN_SUCCESS) PetscFunctionReturn(PetscErrorCode(0));
  const bool input = status == CAPSTAN_ERROR_INPUT || status == CAPSTAN_ERROR_ARGUMENT;
  SETERRQ(commOf(ksp), input ? PETSC_ERR_USER_INPUT : PETSC_ERR_LIB, "Capstan: %s", capstan_error_text(solver));
}

PetscErrorCode forget(KSP ksp) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  PetscCheck(!context.solves, commOf(ksp), PETSC_ERR_ORDER, "the KSP cannot be reset or destroyed while it solves");
  capstan_destroy(&context.solver);
  context.symmetric = -1;
  context.diagonal = 0;
  context.zeroGuess = context.hasEntries = false;
  context.entries = {};
  PetscCall(PetscLayoutDestroy(&context.rows));
  PetscCall(VecDestroy(&context.in));
  PetscCall(VecDestroy(&context.out));
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode setUp(KSP ksp) {
  PetscFunctionBegin;
  PetscBool given = PETSC_FALSE;
  PetscCall(KSPGetOperatorsSet(ksp, &given, nullptr));
  if (!given) PetscFunctionReturn(PetscErrorCode(0));  // PETSc says what is wrong
  Mat a = nullptr;
  PetscCall(PCGetOperators(ksp->pc, &a, nullptr));
  PetscCall(takeSolver(ksp, a));
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode solve(KSP ksp) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  Mat a = nullptr;
  PetscCall(checkUse(ksp));
  PetscCall(PCGetOperators(ksp->pc, &a, nullptr));
  PetscCall(measureRhs(ksp));
  PetscCall(takeSolver(ksp, a));
  PetscCall(takeVectors(ksp));
  PetscCall(takeLimits(ksp));
  PetscCall(tellWhatIsKnown(ksp, a));
  ksp->reason = KSP_CONVERGED_ITERATING;
  ksp->its = 0;
  context.failure = PetscErrorCode(0);
  context.told = -1;
  PetscCall(watchGuess(ksp));
  if (ksp->reason != KSP_CONVERGED_ITERATING) PetscFunctionReturn(PetscErrorCode(0));
  const Vec rhs = ksp->vec_rhs, solution = ksp->vec_sol;
  const PetscScalar* b = nullptr;
  PetscScalar* x = nullptr;
  PetscCall(VecGetArrayRead(rhs, &b));
  PetscCall(VecGetArray(solution, &x));
  capstan_outcome outcome{};
  outcome.size = sizeof outcome;
  context.solves = true;
  const int status = capstan_solve(context.solver, b, x, &outcome);
  context.solves = false;
  PetscCall(VecRestoreArray(solution, &x));
  PetscCall(VecRestoreArrayRead(rhs, &b));
  if (context.failure != 0) PetscCall(context.failure);
  PetscCall(check(ksp, status, context.solver));
  PetscCall(noteSolved(ksp, a, static_cast<long>(outcome.operator_applications)));
  PetscCall(takeOutcome(ksp, outcome));
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode buildSolution(KSP ksp, Vec v, Vec* x) {
  PetscFunctionBegin;
  PetscCheck(!contextOf(ksp).solves, commOf(ksp), PETSC_ERR_SUP,
             "Capstan gives no iterate away before the solve has ended; -ksp_monitor has the norms of b - A x");
  if (v != nullptr) PetscCall(VecCopy(ksp->vec_sol, v));
  *x = v != nullptr ? v : ksp->vec_sol;
  PetscFunctionReturn(PetscErrorCode(0));
}

}  // namespace capstan::petsc
