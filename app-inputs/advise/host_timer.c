/* Preloaded before a program over hypre, PETSc or code_saturne: says in the file CAPSTAN_HOST_TIMES what the solves of
 * the name CAPSTAN_HOST_NAME took, such as hypre_pcg, petsc or saturne_pressure, whoever solves. It needs none of these
 * hosts to be compiled: all that it calls has plain arguments. A solve within a solve counts with the outer one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long solves, iterations, unconverged, reductions;
static double seconds;
static int depth, rank;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void* function(const char* name, void* where) {
  void* const found = dlsym(where, name);
  if (found == NULL) {
    fprintf(stderr, "capstan advise: this program has no function %s\n", name);
    _Exit(3);
  }
  return found;
}

static int isAsked(const char* host, const char* name) {
  const char* asked = getenv("CAPSTAN_HOST_NAME");
  const size_t length = strlen(host);
  return asked != NULL && strncmp(asked, host, length) == 0 && strcmp(asked + length, name) == 0;
}

static void add(double begun, long count, int converged) {
  int runs = 0;
  seconds += now() - begun;
  ++solves;
  iterations += count;
  unconverged += !converged;
  MPI_Initialized(&runs);
  if (runs) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

__attribute__((destructor)) static void tell(void) {
  const char* path = getenv("CAPSTAN_HOST_TIMES");
  if (path == NULL || rank != 0 || solves == 0) return;
  FILE* file = fopen(path, "w");
  if (file == NULL) return;
  fprintf(file,
          "{\"solves\": %ld, \"iterations\": %ld, \"unconverged\": %ld, \"all_reduces\": %ld, \"seconds\": %.9f}\n",
          solves, iterations, unconverged, reductions, seconds);
  fclose(file);
}

/* The next ones may be those that emulate a latency. */
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  static int (*next)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
  if (next == NULL) *(void**)&next = function("MPI_Allreduce", RTLD_NEXT);
  reductions += depth > 0;
  return next(from, to, count, type, op, comm);
}
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  static int (*next)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
  if (next == NULL) *(void**)&next = function("MPI_Iallreduce", RTLD_NEXT);
  reductions += depth > 0;
  return next(from, to, count, type, op, comm, request);
}

/* HYPRE_ERROR_CONV is 256. The ParCSR functions call the plain ones. */
static int solveByHypre(const char* name, const char* family, const char* word, void* solver, void* a, void* b,
                        void* x) {
  int (*solve)(void*, void*, void*, void*);
  int (*count)(void*, int*);
  char getter[80];
  int found = 0;
  *(void**)&solve = function(name, RTLD_NEXT);
  if (depth > 0 || !isAsked("hypre_", word)) return solve(solver, a, b, x);
  snprintf(getter, sizeof getter, "HYPRE_%sGetNumIterations", family);
  *(void**)&count = function(getter, RTLD_DEFAULT);
  ++depth;
  const double begun = now();
  const int status = solve(solver, a, b, x);
  --depth;
  if (status == 0 || status == 256) count(solver, &found);
  add(begun, found, status == 0);
  return status;
}
#define FAMILY(name, word)                                                               \
  int HYPRE_##name##Solve(void* s, void* a, void* b, void* x);                           \
  int HYPRE_##name##Solve(void* s, void* a, void* b, void* x) {                          \
    return solveByHypre("HYPRE_" #name "Solve", #name, word, s, a, b, x);                \
  }                                                                                      \
  int HYPRE_ParCSR##name##Solve(void* s, void* a, void* b, void* x);                     \
  int HYPRE_ParCSR##name##Solve(void* s, void* a, void* b, void* x) {                    \
    return solveByHypre("HYPRE_ParCSR" #name "Solve", "ParCSR" #name, word, s, a, b, x); \
  }
FAMILY(PCG, "pcg")
FAMILY(GMRES, "gmres")
FAMILY(FlexGMRES, "flexgmres")
FAMILY(LGMRES, "lgmres")
FAMILY(COGMRES, "cogmres")
FAMILY(BiCGSTAB, "bicgstab")

int KSPSolve(void* ksp, void* b, void* x);
int KSPSolve(void* ksp, void* b, void* x) {
  int (*solve)(void*, void*, void*);
  int (*ask)(void*, int*);
  int count = 0, reason = -1;
  *(void**)&solve = function("KSPSolve", RTLD_NEXT);
  if (depth > 0 || !isAsked("petsc", "")) return solve(ksp, b, x);
  ++depth;
  const double begun = now();
  const int status = solve(ksp, b, x);
  --depth;
  *(void**)&ask = function("KSPGetIterationNumber", RTLD_DEFAULT);
  if (status == 0) ask(ksp, &count);
  *(void**)&ask = function("KSPGetConvergedReason", RTLD_DEFAULT);
  if (status == 0) ask(ksp, &reason);
  add(begun, count, reason > 0);
  return status;
}

int cs_sles_solve(void* system, const void* a, int rotation, double precision, double norm, int* count, double* residue,
                  const double* rhs, double* x, size_t size, void* memory);
int cs_sles_solve(void* system, const void* a, int rotation, double precision, double norm, int* count, double* residue,
                  const double* rhs, double* x, size_t size, void* memory) {
  int (*solve)(void*, const void*, int, double, double, int*, double*, const double*, double*, size_t, void*);
  int (*idOf)(const void*);
  const char* const* (*fieldOf)(int); /* its name comes first */
  *(void**)&solve = function("cs_sles_solve", RTLD_NEXT);
  *(void**)&idOf = function("cs_sles_get_f_id", RTLD_DEFAULT);
  *(void**)&fieldOf = function("cs_field_by_id", RTLD_DEFAULT);
  const int field = idOf(system);
  if (depth > 0 || field < 0 || !isAsked("saturne_", *fieldOf(field)))
    return solve(system, a, rotation, precision, norm, count, residue, rhs, x, size, memory);
  ++depth;
  const double begun = now();
  const int state = solve(system, a, rotation, precision, norm, count, residue, rhs, x, size, memory);
  --depth;
  add(begun, *count, state == 1); /* CS_SLES_CONVERGED */
  return state;
}
