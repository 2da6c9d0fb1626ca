/* An application over hypre's ParCSR interface that knows nothing of Capstan: the Laplacian of a square, with each of
 * hypre's Krylov solvers, with BoomerAMG and without a preconditioner. Prints a line for each solve. */
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { side = 40 };

static int rank, ranks;
static HYPRE_BigInt first, last;
static HYPRE_ParCSRMatrix A;

static HYPRE_IJVector makeVector(void) {
  HYPRE_IJVector vector;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &vector);
  HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(vector);
  return vector;
}

static HYPRE_ParVector fill(HYPRE_IJVector vector, int zero) {
  HYPRE_ParVector parallel;
  for (HYPRE_BigInt row = first; row <= last; ++row) {
    double value = zero ? 0 : sin(1e3 * (double)(row + 1));
    HYPRE_IJVectorSetValues(vector, 1, &row, &value);
  }
  HYPRE_IJVectorAssemble(vector);
  HYPRE_IJVectorGetObject(vector, (void**)&parallel);
  return parallel;
}

static HYPRE_IJMatrix laplacian(void) {
  HYPRE_IJMatrix matrix;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(matrix);
  for (HYPRE_BigInt row = first; row <= last; ++row) {
    const HYPRE_BigInt near[4] = {row - 1, row + 1, row - side, row + side};
    const int there[4] = {row % side > 0, row % side < side - 1, row >= side, row < side * (side - 1)};
    HYPRE_BigInt columns[5] = {row};
    double values[5] = {4};
    HYPRE_Int count = 1;
    for (int k = 0; k < 4; ++k) {
      if (!there[k]) continue;
      columns[count] = near[k];
      values[count++] = -1;
    }
    HYPRE_IJMatrixSetValues(matrix, 1, &count, &row, columns, values);
  }
  HYPRE_IJMatrixAssemble(matrix);
  HYPRE_IJMatrixGetObject(matrix, (void**)&A);
  return matrix;
}

/* || b - A x || / || b ||, or the first of them where b is zero */
static double residual(HYPRE_ParVector b, HYPRE_ParVector x, HYPRE_ParVector r) {
  double rr, bb;
  HYPRE_ParVectorCopy(b, r);
  HYPRE_ParCSRMatrixMatvec(-1.0, A, x, 1.0, r);
  HYPRE_ParVectorInnerProd(r, r, &rr);
  HYPRE_ParVectorInnerProd(b, b, &bb);
  return sqrt(bb > 0 ? rr / bb : rr);
}

#define SOLVE(name, extra)                                                                                       \
  static void solve##name(HYPRE_Solver amg, HYPRE_ParVector b, HYPRE_ParVector x, HYPRE_ParVector r, int most) { \
    HYPRE_Solver solver;                                                                                         \
    HYPRE_Int iterations = -1;                                                                                   \
    double norm = -1;                                                                                            \
    HYPRE_ParCSR##name##Create(MPI_COMM_WORLD, &solver);                                                         \
    HYPRE_##name##SetTol(solver, 1e-8);                                                                          \
    HYPRE_##name##SetMaxIter(solver, most);                                                                      \
    extra;                                                                                                       \
    if (amg != NULL) {                                                                                           \
      HYPRE_ParCSR##name##SetPrecond(solver, HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGSetup, amg);                   \
    }                                                                                                            \
    HYPRE_ParCSR##name##Setup(solver, A, b, x);                                                                  \
    const HYPRE_Int status = HYPRE_ParCSR##name##Solve(solver, A, b, x);                                         \
    HYPRE_ClearAllErrors();                                                                                      \
    HYPRE_##name##GetNumIterations(solver, &iterations);                                                         \
    HYPRE_ParCSR##name##GetFinalRelativeResidualNorm(solver, &norm);                                             \
    const double found = residual(b, x, r);                                                                      \
    if (rank == 0) {                                                                                             \
      printf("%s, %s: status %d, %d iterations, residual %.3e, told %.3e\n", #name,                              \
             amg != NULL ? "BoomerAMG" : "none", (int)status, (int)iterations, found, norm);                     \
    }                                                                                                            \
    HYPRE_ParCSR##name##Destroy(solver);                                                                         \
  }

static int twoNorm = 1;
static double factor = 0;
static int least = 0;
static HYPRE_PtrToModifyPCFcn change = NULL;
HYPRE_Int hypre_FlexGMRESModifyPCDefault(void*, HYPRE_Int, HYPRE_Real); /* hypre's own, which changes nothing */
static HYPRE_Int modify(HYPRE_Solver own, HYPRE_Int iteration, HYPRE_Real residual) {
  (void)own, (void)iteration, (void)residual;
  return 0;
}
SOLVE(PCG, HYPRE_PCGSetTwoNorm(solver, twoNorm); HYPRE_PCGSetConvergenceFactorTol(solver, factor))
SOLVE(GMRES, HYPRE_GMRESSetKDim(solver, 120))
SOLVE(FlexGMRES, HYPRE_FlexGMRESSetKDim(solver, 120);
      if (change != NULL) HYPRE_ParCSRFlexGMRESSetModifyPC(solver, change))
SOLVE(LGMRES, HYPRE_LGMRESSetKDim(solver, 120))
SOLVE(COGMRES, HYPRE_COGMRESSetKDim(solver, 120); if (change != NULL) HYPRE_COGMRESSetModifyPC(solver, change))
SOLVE(BiCGSTAB, if (factor > 0) HYPRE_BiCGSTABSetConvergenceFactorTol(solver, factor);
      if (least > 0) HYPRE_ParCSRBiCGSTABSetMinIter(solver, least))

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#if defined(HYPRE_RELEASE_NUMBER) && HYPRE_RELEASE_NUMBER >= 22900
  HYPRE_Initialize();
#endif
  const HYPRE_BigInt rows = side * side;
  first = rows * rank / ranks;
  last = rows * (rank + 1) / ranks - 1;
  twoNorm = argc > 1 && strcmp(argv[1], "energy") == 0 ? 0 : 1;
  factor = argc > 1 && strcmp(argv[1], "factor") == 0 ? 0.99 : 0;
  if (argc > 1 && strcmp(argv[1], "modify") == 0) change = modify;
  if (argc > 1 && strcmp(argv[1], "default") == 0) change = (HYPRE_PtrToModifyPCFcn)hypre_FlexGMRESModifyPCDefault;
  least = argc > 1 && strcmp(argv[1], "least") == 0 ? 2 : 0;
  const int most = argc > 1 && strcmp(argv[1], "few") == 0 ? 3 : 300;
  HYPRE_IJMatrix matrix = laplacian();
  HYPRE_IJVector vectors[3] = {makeVector(), makeVector(), makeVector()};
  const int zero = argc > 1 && strcmp(argv[1], "zero") == 0; /* b is, and x is not */
  HYPRE_ParVector b = fill(vectors[0], zero), r = fill(vectors[2], 1);
  for (int with = 0; with < 2; ++with) {
    void (*const solves[])(HYPRE_Solver, HYPRE_ParVector, HYPRE_ParVector, HYPRE_ParVector, int) = {
        solvePCG, solveGMRES, solveFlexGMRES, solveLGMRES, solveCOGMRES, solveBiCGSTAB};
    for (int k = 0; k < 6; ++k) {
      HYPRE_Solver amg = NULL;
      if (with) {
        HYPRE_BoomerAMGCreate(&amg);
        HYPRE_BoomerAMGSetTol(amg, 0);
        HYPRE_BoomerAMGSetMaxIter(amg, 1);
        HYPRE_BoomerAMGSetRelaxType(amg, 6);
      }
      HYPRE_ParVector x = fill(vectors[1], !zero);
      if (zero) HYPRE_ParVectorScale(1e-9, x);
      solves[k](amg, b, x, r, most);
      if (with) HYPRE_BoomerAMGDestroy(amg);
    }
  }
  for (int k = 0; k < 3; ++k) HYPRE_IJVectorDestroy(vectors[k]);
  HYPRE_IJMatrixDestroy(matrix);
  MPI_Finalize();
  return 0;
}
