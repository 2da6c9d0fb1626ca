/* Preloaded before cs_solver: says at its end what the solves of each field took, whoever solves. A barrier stands
 * before and after, which the emulated latency does not delay. Times hold what is set up for a solve. */
#include <cs_defs.h>
/* Before the headers of code_saturne. */
#include <cs_headers.h>
#include <dlfcn.h>
#include <mpi.h>
#include <ple_coupling.h>
#include <stdio.h>
#include <time.h>

/* What mpirun and its daemons, which have none of these, are started with, too. */
#pragma weak cs_glob_mpi_comm
#pragma weak cs_glob_rank_id

enum { MOST = 64 };
static struct {
  long solves, iterations, unconverged;
  double seconds;
} fields[MOST];

static double now(void) {
  if (cs_glob_mpi_comm != MPI_COMM_NULL) MPI_Barrier(cs_glob_mpi_comm);
  struct timespec time; /* MPI_Wtime() wants MPI, which one rank may have not */
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

cs_sles_convergence_state_t cs_sles_solve(cs_sles_t* sles, const cs_matrix_t* a, cs_halo_rotation_t rotation,
                                          double precision, double norm, int* iterations, double* residue,
                                          const cs_real_t* rhs, cs_real_t* x, size_t size, void* memory) {
  cs_sles_convergence_state_t (*real)(cs_sles_t*, const cs_matrix_t*, cs_halo_rotation_t, double, double, int*, double*,
                                      const cs_real_t*, cs_real_t*, size_t, void*) = NULL;
  *(void**)&real = dlsym(RTLD_NEXT, "cs_sles_solve");
  const int field = cs_sles_get_f_id(sles);
  const double begun = now();
  const cs_sles_convergence_state_t state =
      real(sles, a, rotation, precision, norm, iterations, residue, rhs, x, size, memory);
  if (field >= 0 && field < MOST) {
    ++fields[field].solves;
    fields[field].iterations += *iterations;
    fields[field].unconverged += state != CS_SLES_CONVERGED;
    fields[field].seconds += now() - begun;
  }
  return state;
}

/* Comes at the end of a run, on all ranks. */
void cs_sles_finalize(void) {
  void (*real)(void) = NULL;
  *(void**)&real = dlsym(RTLD_NEXT, "cs_sles_finalize");
  for (int field = 0; field < MOST && cs_glob_rank_id < 1; ++field) {
    if (fields[field].solves == 0) continue;
    printf("\nsolves of %s: %ld, %ld iterations, %ld not converged, %.9f seconds\n", cs_field_by_id(field)->name,
           fields[field].solves, fields[field].iterations, fields[field].unconverged, fields[field].seconds);
  }
  fflush(stdout);
  real();
}
