#ifndef WRONG_USES_H
#define WRONG_USES_H
/* Trials for wrong_inputs.c: a system, its KSP, and what may become of the solve. */
#include <petscksp.h>

/* What may come out of a trial; together: either. A solve of which the trial says nothing more is UNSOLVED. */
enum { FAILS = 1, DIVERGES = 2, CONVERGES = 4, UNSOLVED = 8 };

typedef struct {
  PetscInt n; /* rows of all ranks */
  PetscMPIInt rank, ranks;
  Mat a;
  Vec b, x;
  KSP ksp;
  int variant;      /* of the wrong use */
  int want;         /* of the above; the trial may say it more exactly */
  PetscBool judged; /* whether "converged" is judged by b - A x */
} Trial;

/* The call of a trial that may fail; others have to work. */
typedef PetscErrorCode (*Use)(Trial* trial);
typedef struct {
  const char* name;
  int want;
  Use use;
} Kind;

/* Ends the program: the trial itself could not be made. */
#define MUST(call)                                                                     \
  do {                                                                                 \
    PetscErrorCode must_ = (call);                                                     \
    if (must_) {                                                                       \
      fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, (int)must_); \
      MPI_Abort(PETSC_COMM_WORLD, 3);                                                  \
    }                                                                                  \
  } while (0)

/* The same numbers on all ranks. */
PetscInt drawn(PetscInt least, PetscInt most);
/* A tridiagonal matrix and vectors of n rows, of which this rank owns as many as its share says. */
void makeSystem(Trial* trial, PetscInt n, PetscBool uneven, PetscReal diagonal);
void destroySystem(Trial* trial);

extern const Kind kindsOfSystems[], kindsOfSettings[]; /* the last one has no name */

#endif
