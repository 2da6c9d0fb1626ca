/* A stand-in for what hypre has since 2.31 and 3.0, over an older one: functions that take a preconditioner by its
 * object, and its matrix. They reach hypre's object as hypre does, by what is not seen from outside. */
#include <HYPRE_krylov.h>

HYPRE_Int hypre_PCGSetPrecond(void* solver, HYPRE_PtrToSolverFcn solve, HYPRE_PtrToSolverFcn setup, void* own);

HYPRE_Int HYPRE_PCGSetPreconditioner(HYPRE_Solver solver, HYPRE_Solver own) {
  const HYPRE_PtrToSolverFcn* const base = (const HYPRE_PtrToSolverFcn*)own; /* setup, solve, destroy */
  return hypre_PCGSetPrecond(solver, base[1], base[0], own);
}

HYPRE_Int HYPRE_PCGSetPrecondMatrix(HYPRE_Solver solver, HYPRE_Matrix matrix) {
  (void)solver, (void)matrix;
  return 0;
}
