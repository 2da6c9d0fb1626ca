// What is made of the norms that Capstan tells while it solves.
#include "adapters/petsc/ksp_context.hpp"

namespace capstan::petsc {
namespace {

/// Whether divtol ends the solve.
PetscErrorCode diverges(KSP ksp, PetscReal norm, bool* diverges) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  const auto isBeyond = [&] { return ksp->divtol > 0 && context.norm0 > 0 && norm >= ksp->divtol * context.norm0; };
  *diverges = isBeyond();
  if (!*diverges || !context.toldLate) PetscFunctionReturn(PetscErrorCode(0));
  context.toldLate = false;
  PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &context.norm0));  // that of a guess of zero
  *diverges = isBeyond();
  PetscFunctionReturn(PetscErrorCode(0));
}

}  // namespace

PetscErrorCode measureRhs(KSP ksp) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  context.norm0 = -1;
  context.zeroRhs = false;
  if (ksp->guess_zero || !tests(ksp) || defaultTest(ksp).initialrtol) PetscFunctionReturn(PetscErrorCode(0));
  PetscReal norm = 0;
  PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &norm));
  if (norm > 0) context.norm0 = norm;
  context.zeroRhs = norm == 0;
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode watch(KSP ksp, PetscInt iteration, PetscReal norm) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  if (iteration <= context.told) PetscFunctionReturn(PetscErrorCode(0));
  if (context.norm0 < 0) {
    context.norm0 = norm;
    context.toldLate = iteration > 0;
  }
  context.told = iteration;
  ksp->its = iteration;
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, iteration, norm));
  if (ksp->normtype == KSP_NORM_NONE) PetscFunctionReturn(PetscErrorCode(0));
  if (!testsByDefault(ksp)) {
    PetscCall((*ksp->converged)(ksp, iteration, norm, &ksp->reason, ksp->cnvP));
    PetscFunctionReturn(PetscErrorCode(0));
  }
  bool ends = false;
  PetscCall(diverges(ksp, norm, &ends));
  if (ends) ksp->reason = KSP_DIVERGED_DTOL;
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode watchGuess(KSP ksp) {
  PetscFunctionBegin;
  const bool isScale = tests(ksp) && !ksp->guess_zero && contextOf(ksp).norm0 < 0;
  const bool looks = ksp->numbermonitors > 0 || ksp->res_hist != nullptr || !testsByDefault(ksp) || isScale;
  if (!looks || ksp->normtype == KSP_NORM_NONE) PetscFunctionReturn(PetscErrorCode(0));
  const Vec r = contextOf(ksp).out;
  PetscReal norm = 0;
  if (ksp->guess_zero) {
    PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &norm));
  } else {
    Mat a = nullptr;
    PetscCall(PCGetOperators(ksp->pc, &a, nullptr));
    PetscCall(KSP_MatMult(ksp, a, ksp->vec_sol, r));
    PetscCall(VecAYPX(r, -1, ksp->vec_rhs));
    PetscCall(VecNorm(r, NORM_2, &norm));
  }
  PetscCall(watch(ksp, 0, norm));
  PetscFunctionReturn(PetscErrorCode(0));
}

}  // namespace capstan::petsc
