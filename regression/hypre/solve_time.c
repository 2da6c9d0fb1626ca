/* Preloaded before a driver of hypre's ParCSR interface: each solve is done twice, from the same guess, and the second
 * one is timed. A run of a real code solves many times: what the first solve of a process starts (MPI's connections,
 * Capstan's libraries) is not counted. A barrier stands before and after, which the emulated latency does not delay. */
#define _GNU_SOURCE
#include <HYPRE.h>
#include <HYPRE_parcsr_mv.h>
#include <_hypre_parcsr_mv.h>
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

typedef HYPRE_Int (*Solve)(void*, void*, void*, void*);

static int inside = 0; /* hypre's own functions call one another */

static HYPRE_Int timed(const char* name, void* solver, void* a, void* b, void* x) {
  const Solve next = (Solve)dlsym(RTLD_NEXT, name);
  if (inside) return next(solver, a, b, x);
  inside = 1;
  hypre_ParVector* const guess =
      hypre_ParVectorCreate(hypre_ParVectorComm((hypre_ParVector*)x), hypre_ParVectorGlobalSize((hypre_ParVector*)x),
                            hypre_ParVectorPartitioning((hypre_ParVector*)x));
  hypre_ParVectorInitialize(guess);
  hypre_ParVectorCopy((hypre_ParVector*)x, guess);
  next(solver, a, b, x);
  HYPRE_ClearAllErrors();
  hypre_ParVectorCopy(guess, (hypre_ParVector*)x);
  hypre_ParVectorDestroy(guess);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  const HYPRE_Int status = next(solver, a, b, x);
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begun;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("\nseconds of the solve: %.9f\n", seconds);
  inside = 0;
  return status;
}

#define TIMED(name) \
  HYPRE_Int name(void* solver, void* a, void* b, void* x) { return timed(#name, solver, a, b, x); }
#define BOTH(family)           \
  TIMED(HYPRE_##family##Solve) \
  TIMED(HYPRE_ParCSR##family##Solve)
BOTH(PCG)
BOTH(GMRES)
BOTH(FlexGMRES)
BOTH(LGMRES)
BOTH(COGMRES)
BOTH(BiCGSTAB)
