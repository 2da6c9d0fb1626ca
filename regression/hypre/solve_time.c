/* Linked into a driver of hypre's with --wrap of the functions below: says how long each solve takes. A barrier stands
 * before and after, which the emulated latency does not delay. */
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <mpi.h>
#include <stdio.h>

static double start(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}
static void say(double begun) {
  int rank = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begun;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("\nseconds of the solve: %.9f\n", seconds);
}

#define TIMED(name)                                                                              \
  HYPRE_Int __real_##name(HYPRE_Solver solver, HYPRE_Matrix a, HYPRE_Vector b, HYPRE_Vector x);  \
  HYPRE_Int __wrap_##name(HYPRE_Solver solver, HYPRE_Matrix a, HYPRE_Vector b, HYPRE_Vector x) { \
    const double begun = start();                                                                \
    const HYPRE_Int status = __real_##name(solver, a, b, x);                                     \
    say(begun);                                                                                  \
    return status;                                                                               \
  }
TIMED(HYPRE_PCGSolve)
TIMED(HYPRE_GMRESSolve)
TIMED(HYPRE_FlexGMRESSolve)
TIMED(HYPRE_LGMRESSolve)
TIMED(HYPRE_COGMRESSolve)
TIMED(HYPRE_BiCGSTABSolve)
