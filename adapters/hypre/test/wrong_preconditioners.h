/* hypre's families of solvers, and preconditioners that do what they should not, for wrong_inputs.c. */
#ifndef WRONG_PRECONDITIONERS_H
#define WRONG_PRECONDITIONERS_H
#include "wrong_system.h"

typedef HYPRE_Int (*Set)(HYPRE_Solver, double);
typedef HYPRE_Int (*SetCount)(HYPRE_Solver, HYPRE_Int);
typedef HYPRE_Int (*Work)(HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector);

typedef struct {
  const char* name;
  HYPRE_Int (*create)(MPI_Comm, HYPRE_Solver*);
  HYPRE_Int (*destroy)(HYPRE_Solver);
  Set setTol;
  SetCount setMaxIter, setKDim;
  HYPRE_Int (*setPrecond)(HYPRE_Solver, HYPRE_PtrToParSolverFcn, HYPRE_PtrToParSolverFcn, HYPRE_Solver);
  Work setup, solve, plainSolve;
  HYPRE_Int (*iterations)(HYPRE_Solver, HYPRE_Int*);
  HYPRE_Int (*residual)(HYPRE_Solver, double*);
  HYPRE_Int (*converged)(HYPRE_Solver, HYPRE_Int*);
  HYPRE_Int (*vector)(HYPRE_Solver, HYPRE_ParVector*);
} Family;

#define FAMILY(x, kdim, converged)                                                                           \
  {                                                                                                          \
#x, HYPRE_ParCSR##x##Create, HYPRE_ParCSR##x##Destroy, HYPRE_##x##SetTol, HYPRE_##x##SetMaxIter, kdim,   \
        HYPRE_ParCSR##x##SetPrecond, HYPRE_ParCSR##x##Setup, HYPRE_ParCSR##x##Solve, (Work)HYPRE_##x##Solve, \
        HYPRE_##x##GetNumIterations, HYPRE_ParCSR##x##GetFinalRelativeResidualNorm, converged,               \
        HYPRE_ParCSR##x##GetResidual                                                                         \
  }
static const Family families[6] = {FAMILY(PCG, NULL, HYPRE_PCGGetConverged),
                                   FAMILY(GMRES, HYPRE_GMRESSetKDim, HYPRE_GMRESGetConverged),
                                   FAMILY(FlexGMRES, HYPRE_FlexGMRESSetKDim, HYPRE_FlexGMRESGetConverged),
                                   FAMILY(LGMRES, HYPRE_LGMRESSetKDim, HYPRE_LGMRESGetConverged),
                                   FAMILY(COGMRES, HYPRE_COGMRESSetKDim, HYPRE_COGMRESGetConverged),
                                   FAMILY(BiCGSTAB, NULL, NULL)};

/* clang-format off */
#define KINDS(X) \
  X(Plain, "no M") X(Diagonal, "diagonal") X(Amg, "AMG") X(Identity, "identity") X(Fails, "M fails") \
  X(FailsLater, "M fails later") X(FailsOnOne, "M fails on a rank") X(Nan, "M is NaN") \
  X(NanOnOne, "M is NaN on a rank") X(Inf, "M is Inf") X(Raises, "M raises an error") X(Nested, "M solves") \
  X(Itself, "M solves by its solver") X(Destroys, "M destroys its solver") \
  X(Exchanges, "M puts another one in its place") X(NotSetUp, "M not set up")
/* clang-format on */
enum Kind {
#define X(name, words) name,
  KINDS(X)
#undef X
      Kinds
};
static const char* const kindNames[Kinds] = {
#define X(name, words) words,
    KINDS(X)
#undef X
};

static unsigned state;
static int pick(int count) {
  state = state * 1664525u + 1013904223u;
  return (int)((state >> 16) % (unsigned)count);
}

/* What a preconditioner of ours knows. */
static struct {
  enum Kind kind;
  int calls, isSetUp;
  const Family* family;
  HYPRE_Solver outer, inner;
} m;

static HYPRE_Int setUpM(HYPRE_Solver own, HYPRE_ParCSRMatrix a, HYPRE_ParVector b, HYPRE_ParVector x) {
  (void)own, (void)a, (void)b, (void)x;
  m.isSetUp = 1;
  return 0;
}

static HYPRE_Int applyM(HYPRE_Solver own, HYPRE_ParCSRMatrix a, HYPRE_ParVector r, HYPRE_ParVector z) {
  (void)own;
  const int isLast = rank == ranks - 1, call = ++m.calls;
  HYPRE_ParVectorCopy(r, z);
  switch (m.kind) {
    case Fails:
      return 7;
    case FailsLater:
      return call > 3 ? 7 : 0;
    case FailsOnOne:
      return isLast ? 7 : 0;
    case Nan:
      HYPRE_ParVectorSetConstantValues(z, NAN);
      return 0;
    case NanOnOne:
      if (isLast && call > 2) HYPRE_ParVectorSetConstantValues(z, NAN);
      return 0;
    case Inf:
      HYPRE_ParVectorSetConstantValues(z, INFINITY);
      return 0;
    case Raises:
      return HYPRE_BoomerAMGSetTol(NULL, 0);
    case Nested:
      HYPRE_ParVectorSetConstantValues(z, 0);
      return HYPRE_ParCSRGMRESSolve(m.inner, a, r, z);
    case Itself:
      return m.family->solve(m.outer, a, r, z);
    case Destroys:
      return m.family->destroy(m.outer);
    case Exchanges:
      return m.family->setPrecond(m.outer, HYPRE_ParCSRDiagScale, HYPRE_ParCSRDiagScaleSetup, NULL);
    case NotSetUp:
      return m.isSetUp ? 0 : 7;
    default:
      return 0;
  }
}
#endif
