/* Wrong uses of a KSP of Capstan's, generated from a seed: each has to end in an error code of PETSc's or in a
 * KSPConvergedReason, the same on all ranks, and "converged" has to be true.
 *
 *   wrong_inputs -library libcapstanPetsc.so [-cases 200] [-seed 1] [-first 0] [-told]
 *
 * Prints how the cases ended, and a line for each that ended wrongly; exit status 1 where there is one. */
#include <math.h>
#include <string.h>

#include "wrong_uses.h"

static unsigned long state;

PetscInt drawn(PetscInt least, PetscInt most) {
  state = state * 6364136223846793005UL + 1442695040888963407UL;
  return least + (PetscInt)((state >> 33) % (unsigned long)(most - least + 1));
}

void makeSystem(Trial* t, PetscInt n, PetscBool uneven, PetscReal diagonal) {
  PetscInt local = PETSC_DECIDE, first, last;
  if (uneven) local = t->rank == t->ranks - 1 ? n : 0;
  t->n = n;
  MUST(MatCreateAIJ(PETSC_COMM_WORLD, local, local, n, n, 3, NULL, 2, NULL, &t->a));
  MUST(MatGetOwnershipRange(t->a, &first, &last));
  for (PetscInt i = first; i < last; ++i) {
    MUST(MatSetValue(t->a, i, i, diagonal, INSERT_VALUES));
    if (i > 0) MUST(MatSetValue(t->a, i, i - 1, -1, INSERT_VALUES));
    if (i < n - 1) MUST(MatSetValue(t->a, i, i + 1, -1, INSERT_VALUES));
  }
  MUST(MatAssemblyBegin(t->a, MAT_FINAL_ASSEMBLY));
  MUST(MatAssemblyEnd(t->a, MAT_FINAL_ASSEMBLY));
  MUST(MatCreateVecs(t->a, &t->x, &t->b));
  MUST(VecSet(t->b, 1));
}

void destroySystem(Trial* t) {
  MUST(MatDestroy(&t->a));
  MUST(VecDestroy(&t->b));
  MUST(VecDestroy(&t->x));
}

static const char* drawnMethod(void) {
  static const char* const names[] = {
      "capstan_auto",  "capstan_cg",          "capstan_pipelined_cg",      "capstan_cr",
      "capstan_gmres", "capstan_sstep_gmres", "capstan_pipelined_gmres",   "capstan_bicgstab",
      "capstan_idr",   "capstan_embedded_cg", "capstan_pipelined_bicgstab"};
  return names[drawn(0, (PetscInt)(sizeof names / sizeof *names) - 1)];
}

/* Whether b - A x is as small as the KSP's tolerances ask for, and rounding allows. */
static PetscBool meetsTolerance(Trial* t) {
  PetscReal rtol, atol, of_b, of_r;
  Vec r;
  MUST(KSPGetTolerances(t->ksp, &rtol, &atol, NULL, NULL));
  MUST(VecDuplicate(t->b, &r));
  MUST(MatMult(t->a, t->x, r));
  MUST(VecAYPX(r, -1, t->b));
  MUST(VecNorm(t->b, NORM_2, &of_b));
  MUST(VecNorm(r, NORM_2, &of_r));
  MUST(VecDestroy(&r));
  return of_r <= fmax(rtol * of_b, atol) * (1 + 1e-6) + 1e-14 * of_b ? PETSC_TRUE : PETSC_FALSE;
}

/* One of the above: how the solve ended; 0 where it is wrong, which *why says. */
static int endOf(Trial* t, PetscErrorCode status, const char** why) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  int mine, ends[2];
  if (!status && t->ksp) MUST(KSPGetConvergedReason(t->ksp, &reason));
  mine = status ? 1000 : (int)reason;
  ends[0] = mine;
  ends[1] = -mine;
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  *why = "the ranks ended in different ways";
  if (ends[0] != -ends[1]) return 0;
  if (status) return FAILS;
  if (reason < 0) return DIVERGES;
  if (reason == 0) return UNSOLVED;
  *why = "said to have converged";
  return t->judged && !meetsTolerance(t) ? 0 : CONVERGES;
}

/* How it ended, of the above; 0: wrongly. */
static int tryOne(const Kind* kind, const char** why) {
  Trial t = {0};
  PC pc;
  const char* method = drawnMethod();
  int end;
  MPI_Comm_rank(PETSC_COMM_WORLD, &t.rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &t.ranks);
  t.variant = (int)drawn(0, 1000);
  t.want = kind->want;
  t.judged = PETSC_TRUE;
  makeSystem(&t, drawn(20, 60), drawn(0, 3) == 0, 2.5);
  MUST(KSPCreate(PETSC_COMM_WORLD, &t.ksp));
  MUST(KSPSetOperators(t.ksp, t.a, t.a));
  MUST(KSPSetType(t.ksp, method));
  MUST(KSPSetTolerances(t.ksp, 1e-8, 1e-50, 1e5, 300));
  MUST(KSPGetPC(t.ksp, &pc));
  MUST(PCSetType(pc, drawn(0, 1) ? PCNONE : PCJACOBI));
  end = endOf(&t, kind->use(&t), why);
  if (end != 0 && (end & t.want) == 0) {
    *why = end == FAILS ? "an error" : end == DIVERGES ? "diverged" : end == CONVERGES ? "converged" : "was not solved";
    end = 0;
  }
  if (end == 0) {
    MUST(PetscPrintf(PETSC_COMM_WORLD, "%s, variant %d, %s, %d rows: %s\n", kind->name, t.variant, method, (int)t.n,
                     *why));
  }
  MUST(KSPDestroy(&t.ksp));
  destroySystem(&t);
  return end;
}

static int number(const char* option, int otherwise) {
  PetscInt value = otherwise;
  MUST(PetscOptionsGetInt(NULL, NULL, option, &value, NULL));
  return (int)value;
}

int main(int argc, char** argv) {
  char library[PETSC_MAX_PATH_LEN] = "";
  int ends[UNSOLVED + 1] = {0}, kinds = 0, cases, seed, first;
  PetscBool told = PETSC_FALSE;
  Kind all[64];
  if (PetscInitialize(&argc, &argv, NULL, NULL)) return 2;
  MUST(PetscOptionsGetString(NULL, NULL, "-library", library, sizeof library, NULL));
  MUST(PetscOptionsGetBool(NULL, NULL, "-told", &told, NULL));
  cases = number("-cases", 200);
  seed = number("-seed", 1);
  first = number("-first", 0);
  MUST(PetscDLLibraryAppend(PETSC_COMM_WORLD, &PetscDLLibrariesLoaded, library));
  for (const Kind* kind = kindsOfSystems; kind->name; ++kind) all[kinds++] = *kind;
  for (const Kind* kind = kindsOfSettings; kind->name; ++kind) all[kinds++] = *kind;
  MUST(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  for (int i = first; i < first + cases; ++i) {
    const char* why = "";
    state = (unsigned long)seed * 1000003UL + (unsigned long)i;
    for (int k = 0; k < 8; ++k) (void)drawn(0, 1);
    if (told) MUST(PetscPrintf(PETSC_COMM_WORLD, "case %d: %s\n", i, all[i % kinds].name));
    ++ends[tryOne(&all[i % kinds], &why)];
  }
  MUST(PetscPrintf(PETSC_COMM_WORLD,
                   "%d cases of %d kinds: %d errors, %d diverged, %d converged, %d not solved; %d wrong\n", cases,
                   kinds, ends[FAILS], ends[DIVERGES], ends[CONVERGES], ends[UNSOLVED], ends[0]));
  MUST(PetscPopErrorHandler());
  if (PetscFinalize()) return 2;
  return ends[0] == 0 ? 0 : 1;
}
