// What a solve is refused for, alike on all ranks and without asking them.
#include "adapters/petsc/ksp_context.hpp"

namespace capstan::petsc {

PetscErrorCode hasLayout(Vec v, PetscLayout layout, bool* has) {
  PetscFunctionBegin;
  PetscLayout own = nullptr;
  PetscBool same = PETSC_FALSE;
  PetscCall(VecGetLayout(v, &own));
  PetscCall(PetscLayoutCompare(own, layout, &same));
  *has = same == PETSC_TRUE;
  PetscFunctionReturn(PetscErrorCode(0));
}

namespace {

/// b and x are distributed as the rows of A, and as its columns.
PetscErrorCode checkSizes(KSP ksp) {
  PetscFunctionBegin;
  Mat a = nullptr;
  PetscLayout rows = nullptr, columns = nullptr;
  PetscCall(PCGetOperators(ksp->pc, &a, nullptr));
  PetscCall(MatGetLayouts(a, &rows, &columns));
  for (const Vec v : {ksp->vec_rhs, ksp->vec_sol}) {
    bool asRows = false, asColumns = false;
    PetscCall(hasLayout(v, rows, &asRows));
    PetscCall(hasLayout(v, columns, &asColumns));
    PetscCheck(asRows && asColumns, commOf(ksp), PETSC_ERR_ARG_SIZ, "%s is not distributed as the %s of A",
               v == ksp->vec_rhs ? "b" : "x", asRows ? "columns" : "rows");
  }
  PetscFunctionReturn(PetscErrorCode(0));
}

/// Capstan works on arrays of the host. PETSc would copy vectors of a device there and back for each product, and say
/// nothing of it.
PetscErrorCode checkMemory(KSP ksp) {
  PetscFunctionBegin;
  for (const Vec v : {ksp->vec_rhs, ksp->vec_sol}) {
    const PetscScalar* entries = nullptr;
    PetscMemType where = PETSC_MEMTYPE_HOST;
    PetscCall(VecGetArrayReadAndMemType(v, &entries, &where));
    PetscCall(VecRestoreArrayReadAndMemType(v, &entries));
    PetscCheck(
        PetscMemTypeHost(where), commOf(ksp), PETSC_ERR_SUP,
        "%s is in the memory of a device, and Capstan solves in that of the host: -vec_type standard -mat_type aij",
        v == ksp->vec_rhs ? "b" : "x");
  }
  PetscFunctionReturn(PetscErrorCode(0));
}

}  // namespace

PetscErrorCode checkUse(KSP ksp) {
  PetscFunctionBegin;
  PetscCheck(!contextOf(ksp).solves, commOf(ksp), PETSC_ERR_ORDER,
             "the KSP solves already: this call comes from its A, M, test or monitor");
  PetscCheck(!ksp->transpose_solve, commOf(ksp), PETSC_ERR_SUP, "Capstan's methods solve no transposed systems");
  PetscCheck(ksp->converged != nullptr, commOf(ksp), PETSC_ERR_ARG_NULL, "there is no convergence test");
  if (testsByDefault(ksp)) {
    PetscCheck(ksp->cnvP != nullptr, commOf(ksp), PETSC_ERR_ARG_NULL,
               "KSPConvergedDefault() without a context of KSPConvergedDefaultCreate()");
    PetscCheck(!defaultTest(ksp).mininitialrtol, commOf(ksp), PETSC_ERR_SUP,
               "Capstan's methods measure residuals over b, or over the first residual, not over the smaller one");
    PetscCheck(!tests(ksp) || ksp->chknorm < 0, commOf(ksp), PETSC_ERR_SUP,
               "Capstan's methods test every norm: no first iteration for it can be set");
#if PETSC_VERSION_GE(3, 20, 0)
    PetscCheck(!tests(ksp) || ksp->min_it <= 0, commOf(ksp), PETSC_ERR_SUP,
               "Capstan's methods have no least number of iterations");
#endif
  }
  PetscCall(checkSizes(ksp));
  PetscCall(checkMemory(ksp));
  PetscFunctionReturn(PetscErrorCode(0));
}

}  // namespace capstan::petsc
