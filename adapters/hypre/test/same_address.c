/* A solver of the ParCSR interface is destroyed and used again; then one of the struct interface is made in its place.
 */
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <HYPRE_struct_ls.h>
#include <stdio.h>

enum { side = 8, many = 100 };

static HYPRE_StructGrid grid;
static HYPRE_StructMatrix matrix;
static HYPRE_StructVector b, x;

static void makeSystem(void) {
  HYPRE_Int low[1] = {0}, high[1] = {side - 1}, offsets[3][1] = {{0}, {-1}, {1}}, entries[3] = {0, 1, 2};
  double values[3 * side], right[side];
  HYPRE_StructStencil stencil;
  HYPRE_StructGridCreate(MPI_COMM_WORLD, 1, &grid);
  HYPRE_StructGridSetExtents(grid, low, high);
  HYPRE_StructGridAssemble(grid);
  HYPRE_StructStencilCreate(1, 3, &stencil);
  for (int k = 0; k < 3; ++k) HYPRE_StructStencilSetElement(stencil, k, offsets[k]);
  HYPRE_StructMatrixCreate(MPI_COMM_WORLD, grid, stencil, &matrix);
  HYPRE_StructMatrixInitialize(matrix);
  for (int i = 0; i < side; ++i) {
    values[3 * i] = 3;
    values[3 * i + 1] = i > 0 ? -1 : 0;
    values[3 * i + 2] = i < side - 1 ? -1 : 0;
    right[i] = i;
  }
  HYPRE_StructMatrixSetBoxValues(matrix, low, high, 3, entries, values);
  HYPRE_StructMatrixAssemble(matrix);
  HYPRE_StructStencilDestroy(stencil);
  HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &b);
  HYPRE_StructVectorInitialize(b);
  HYPRE_StructVectorSetBoxValues(b, low, high, right);
  HYPRE_StructVectorAssemble(b);
  HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &x);
  HYPRE_StructVectorInitialize(x);
  HYPRE_StructVectorAssemble(x);
}

static int isOneOf(const void* solver, HYPRE_Solver* solvers) {
  for (int k = 0; k < many; ++k) {
    if ((const void*)solvers[k] == solver) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  static HYPRE_StructSolver made[many];
  static HYPRE_Solver solvers[many];
  int count = 0;
  MPI_Init(&argc, &argv);
#if defined(HYPRE_RELEASE_NUMBER) && HYPRE_RELEASE_NUMBER >= 22900
  HYPRE_Initialize();
#endif
  makeSystem();
  for (int k = 0; k < many; ++k) HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solvers[k]);
  for (int k = 0; k < many; ++k) HYPRE_ParCSRPCGDestroy(solvers[k]);
  const int plain = HYPRE_PCGSolve(solvers[0], NULL, NULL, NULL);
  HYPRE_ClearAllErrors();
  const int parallel = HYPRE_ParCSRPCGSolve(solvers[0], NULL, NULL, NULL);
  HYPRE_ClearAllErrors();
  const int again = HYPRE_ParCSRPCGDestroy(solvers[0]);
  HYPRE_ClearAllErrors();
  printf("destroyed: solve %d, ParCSR solve %d, destroy %d\n", plain, parallel, again);
  do {
    HYPRE_StructPCGCreate(MPI_COMM_WORLD, &made[count++]);
  } while (count < many && !isOneOf(made[count - 1], solvers));
  HYPRE_Solver solver = (HYPRE_Solver)made[count - 1];
  if (isOneOf(made[count - 1], solvers)) {
    HYPRE_Int converged = -1;
    HYPRE_PCGSetTol(solver, 1e-8);
    HYPRE_PCGSetup(solver, (HYPRE_Matrix)matrix, (HYPRE_Vector)b, (HYPRE_Vector)x);
    const int status = HYPRE_PCGSolve(solver, (HYPRE_Matrix)matrix, (HYPRE_Vector)b, (HYPRE_Vector)x);
    HYPRE_PCGGetConverged(solver, &converged);
    printf("of struct in its place: solve %d, converged %d\n", status, (int)converged);
  } else {
    printf("no solver of struct came to be in its place\n");
  }
  while (count > 0) HYPRE_StructPCGDestroy(made[--count]);
  HYPRE_StructVectorDestroy(b);
  HYPRE_StructVectorDestroy(x);
  HYPRE_StructMatrixDestroy(matrix);
  HYPRE_StructGridDestroy(grid);
  MPI_Finalize();
  return 0;
}
