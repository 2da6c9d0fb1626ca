// Products by Capstan, with a copy of the entries of a matrix of PETSc's type AIJ.
#include "adapters/petsc/ksp_context.hpp"

namespace capstan::petsc {
namespace {

/// A solve of fewer products may not pay for the copy, which takes as long as some. Chosen.
constexpr long fewestProducts = 20;

PetscErrorCode stateOf(Mat a, EntriesState* state) {
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(a), &state->matrix));
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(a), &state->values));
  PetscCall(MatGetNonzeroState(a, &state->pattern));
  PetscFunctionReturn(PetscErrorCode(0));
}

/// This rank's rows. \param all columns, too
PetscErrorCode read(Mat a, bool all, Entries& entries) {
  PetscFunctionBegin;
  PetscInt first = 0, last = 0;
  PetscCall(MatGetOwnershipRange(a, &first, &last));
  if (all) entries.begin.assign(1, 0);
  if (all) entries.columns.clear();
  entries.values.clear();
  for (PetscInt row = first; row < last; ++row) {
    PetscInt count = 0;
    const PetscInt* columns = nullptr;
    const PetscScalar* values = nullptr;
    PetscCall(MatGetRow(a, row, &count, &columns, &values));
    if (all) entries.columns.insert(entries.columns.end(), columns, columns + count);
    entries.values.insert(entries.values.end(), values, values + count);
    if (all) entries.begin.push_back(static_cast<std::int64_t>(entries.columns.size()));
    PetscCall(MatRestoreRow(a, row, &count, &columns, &values));
  }
  PetscFunctionReturn(PetscErrorCode(0));
}

}  // namespace

PetscErrorCode wantsEntries(KSP ksp, Mat a, bool* wants) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  PetscBool aij = PETSC_FALSE, assembled = PETSC_FALSE;
  EntriesState now;
  // No type that is made of it: what its entries are, and where, is its own matter.
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(a), &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(MatAssembled(a, &assembled));
  PetscCall(stateOf(a, &now));
  if (context.hasEntries && !now.isOfMatrix(context.given)) PetscCall(forget(ksp));
  const bool pays = context.products >= fewestProducts && now.isOfMatrix(context.solved);
  *wants = context.copies && aij && assembled && (context.hasEntries || pays);
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode noteSolved(KSP ksp, Mat a, long products) {
  PetscFunctionBegin;
  PetscCall(stateOf(a, &contextOf(ksp).solved));
  contextOf(ksp).products = products;
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode giveEntries(KSP ksp, Mat a) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  PetscInt rows = 0;
  PetscCall(MatGetLocalSize(a, &rows, nullptr));
  PetscCall(read(a, true, context.entries));
  PetscCall(stateOf(a, &context.given));
  capstan_csr matrix{};
  matrix.size = sizeof matrix;
  matrix.rows = rows;
  matrix.index_bits = 64;
  matrix.row_start = context.entries.begin.data();
  matrix.columns = context.entries.columns.data();
  matrix.values = context.entries.values.data();
  PetscCall(check(ksp, capstan_set_matrix(context.solver, &matrix), context.solver));
  context.entries.columns = {};  // Capstan has its own
  context.entries.begin = {};
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode renewEntries(KSP ksp, Mat a) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  EntriesState now;
  PetscCall(stateOf(a, &now));
  if (now.values == context.given.values) PetscFunctionReturn(PetscErrorCode(0));
  PetscCall(read(a, false, context.entries));
  context.given = now;
  PetscCall(check(ksp, capstan_matrix_changed(context.solver), context.solver));
  PetscFunctionReturn(PetscErrorCode(0));
}

}  // namespace capstan::petsc
