/* A program for a newer hypre (newer_hypre.c) on one rank: PCG with a preconditioner that is given as an object, then
 * with a matrix of its own. Prints how often a solve has called it,
 * and for that matrix. */
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <stdio.h>

enum { rows = 50 };

HYPRE_Int HYPRE_PCGSetPreconditioner(HYPRE_Solver solver, HYPRE_Solver own);
HYPRE_Int HYPRE_PCGSetPrecondMatrix(HYPRE_Solver solver, HYPRE_Matrix matrix);

/* As hypre's objects begin. */
typedef struct {
  HYPRE_PtrToSolverFcn setup, solve;
  HYPRE_Int (*destroy)(HYPRE_Solver);
  int calls, others;
} Own;

static HYPRE_Matrix other;

static HYPRE_Int setup(HYPRE_Solver own, HYPRE_Matrix a, HYPRE_Vector b, HYPRE_Vector x) {
  (void)own, (void)a, (void)b, (void)x;
  return 0;
}
static HYPRE_Int precondition(HYPRE_Solver own, HYPRE_Matrix a, HYPRE_Vector r, HYPRE_Vector z) {
  ++((Own*)own)->calls;
  if (a == other) ++((Own*)own)->others;
  return HYPRE_ParVectorCopy((HYPRE_ParVector)r, (HYPRE_ParVector)z);
}

static HYPRE_ParVector makeVector(HYPRE_IJVector* vector, double value) {
  HYPRE_ParVector parallel;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, 0, rows - 1, vector);
  HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(*vector);
  for (HYPRE_BigInt row = 0; row < rows; ++row) HYPRE_IJVectorSetValues(*vector, 1, &row, &value);
  HYPRE_IJVectorAssemble(*vector);
  HYPRE_IJVectorGetObject(*vector, (void**)&parallel);
  return parallel;
}

static HYPRE_ParCSRMatrix makeMatrix(HYPRE_IJMatrix* matrix) {
  HYPRE_ParCSRMatrix parallel;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, 0, rows - 1, 0, rows - 1, matrix);
  HYPRE_IJMatrixSetObjectType(*matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(*matrix);
  for (HYPRE_BigInt row = 0; row < rows; ++row) {
    HYPRE_BigInt columns[3] = {row, row > 0 ? row - 1 : row + 1, row + 1};
    double values[3] = {3, -1, -1};
    HYPRE_Int count = row > 0 && row < rows - 1 ? 3 : 2;
    HYPRE_IJMatrixSetValues(*matrix, 1, &count, &row, columns, values);
  }
  HYPRE_IJMatrixAssemble(*matrix);
  HYPRE_IJMatrixGetObject(*matrix, (void**)&parallel);
  return parallel;
}

int main(int argc, char** argv) {
  HYPRE_IJMatrix matrices[2];
  HYPRE_IJVector vectors[2];
  MPI_Init(&argc, &argv);
  HYPRE_ParCSRMatrix a = makeMatrix(&matrices[0]);
  other = (HYPRE_Matrix)makeMatrix(&matrices[1]);
  HYPRE_ParVector b = makeVector(&vectors[0], 1), x = makeVector(&vectors[1], 0);
  for (int withMatrix = 0; withMatrix < 2; ++withMatrix) {
    Own own = {setup, precondition, NULL, 0, 0};
    HYPRE_Solver solver;
    HYPRE_ParVectorSetConstantValues(x, 0);
    HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
    HYPRE_PCGSetTol(solver, 1e-8);
    HYPRE_PCGSetMaxIter(solver, 100);
    HYPRE_PCGSetTwoNorm(solver, 1);
    HYPRE_PCGSetPreconditioner(solver, (HYPRE_Solver)&own);
    if (withMatrix) HYPRE_PCGSetPrecondMatrix(solver, other);
    HYPRE_ParCSRPCGSetup(solver, a, b, x);
    own.calls = 0;
    const HYPRE_Int status = HYPRE_ParCSRPCGSolve(solver, a, b, x);
    printf("status %d, %d calls, %d for the other matrix\n", (int)status, own.calls, own.others);
    HYPRE_ParCSRPCGDestroy(solver);
  }
  HYPRE_IJVectorDestroy(vectors[0]);
  HYPRE_IJVectorDestroy(vectors[1]);
  for (int k = 0; k < 2; ++k) HYPRE_IJMatrixDestroy(matrices[k]);
  MPI_Finalize();
  return 0;
}
