#ifndef CAPSTAN_H
#define CAPSTAN_H
/** \file
 * Capstan's methods for programs in C, C++ and Fortran (capstan.f90): systems A x = b of real numbers, distributed by
 * rows.
 *
 * Each rank owns consecutive rows: rank 0 the first ones, and so on; a rank may own none. Vectors are arrays of the
 * rows of this rank, in double precision, in the memory of the host. Of several columns, column j begins at j * leading
 * dimension.
 *
 * Functions are collective over the solver's communicator unless they are said to be local, and return CAPSTAN_SUCCESS
 * or an error. An error is the same on all ranks, also where one rank alone gave a wrong argument; CAPSTAN_ERROR_LONE
 * is the exception, and so is a solver that is NULL. Functions that set something are local, but are to be called on
 * all ranks: an error of theirs is this rank's alone. Where ranks differ in what they have set, the next solve ends in
 * an error on all of them, and what was set, but for limits, is as before. After an error the solver is as it was, and x
 * too, but for an error in the middle of a solve. No exception leaves a function, and none ends the program. A solve that does not
 * converge is no error: its outcome says why.
 *
 * Different solvers may be used by different threads where MPI allows that; one solver serves one thread at a time. The
 * systems of a communicator and its duplicates are counted in the order of their first solves, which is to be the same on
 * all ranks: threads whose solves may come in another order need communicators made apart, as MPI_Comm_split makes them.
 */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define CAPSTAN_API
#else
#define CAPSTAN_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a function returns. The numbers stay what they are. */
typedef enum capstan_status {
  CAPSTAN_SUCCESS = 0,
  CAPSTAN_ERROR_ARGUMENT = 1,       /**< a pointer that is NULL, a size, a leading dimension, entries of a matrix */
  CAPSTAN_ERROR_INPUT = 2,          /**< the text or file: where, what was found, what is allowed */
  CAPSTAN_ERROR_ORDER = 3,          /**< a call before what it needs, or within a solve of the same solver */
  CAPSTAN_ERROR_MPI = 4,            /**< MPI does not run, or there is no communicator */
  CAPSTAN_ERROR_CALLBACK = 5,       /**< a function of the application failed */
  CAPSTAN_ERROR_PRECONDITIONER = 6, /**< it cannot be built */
  CAPSTAN_ERROR_MEMORY = 7,
  CAPSTAN_ERROR_LONE = 8, /**< this rank failed, and the others wait for it: the program has to end */
  CAPSTAN_ERROR_INTERNAL = 9
} capstan_status;

/** Why a solve ended. The numbers stay what they are. */
typedef enum capstan_reason {
  CAPSTAN_NOT_STARTED = 0,
  CAPSTAN_CONVERGED = 1, /**< the residual, computed from b - A x, meets the tolerance */
  CAPSTAN_MAX_ITERATIONS = 2,
  CAPSTAN_MAX_RESTARTS = 3,
  CAPSTAN_STAGNATION = 4,          /**< the computed residual falls no more */
  CAPSTAN_ATTAINABLE_ACCURACY = 5, /**< nothing but rounding is left of it */
  CAPSTAN_INCONSISTENT = 6,        /**< b has a part that no A x has ("Null Space") */
  CAPSTAN_BREAKDOWN = 7,
  CAPSTAN_NON_FINITE = 8, /**< NaN or Inf in A, M or b, or a function of the application failed */
  CAPSTAN_USER_TEST = 9
} capstan_reason;

/** How a solve went: of all columns, or of one. \c size is set by the caller to sizeof(capstan_outcome); members that a
 * later version adds are written where the caller's structure has them. */
typedef struct capstan_outcome {
  size_t size;
  int converged;         /**< 1: all columns, else 0 */
  capstan_reason reason; /**< of the first column that did not converge */
  int iterations;        /**< the most that a column took */
  int restarts;
  double residual;          /**< of b - A x as it was computed at the end, over its scale; the largest */
  double residual_estimate; /**< the method's own; the largest */
  double scale;             /**< what the residual norm was divided by; of the first column */
  int64_t operator_applications, preconditioner_applications; /**< of this solve; columns together count once */
  int64_t reductions_blocking, reductions_nonblocking;        /**< all-reduces inside the method */
  int64_t preconditioner_builds;                              /**< since the solver was made */
  double solve_seconds, setup_seconds;                        /**< of this rank; setup: of the preconditioner */
} capstan_outcome;

/** This rank's rows of a square matrix in compressed form. \c size is sizeof(capstan_csr). */
typedef struct capstan_csr {
  size_t size;
  int64_t rows;          /**< of this rank */
  int index_bits;        /**< of row_start and columns: 32 or 64 */
  const void* row_start; /**< rows + 1 numbers from 0: row i has the entries row_start[i] ... row_start[i + 1] - 1 */
  const void* columns;   /**< global numbers from 0, each once in a row, in any order */
  const double* values;
} capstan_csr;

/** y = A x or z = M^-1 r for the rows of this rank. x and y are never the same array, and may be NULL where the rank
 * has no rows. Collective. Returns 0, or any other number for a failure, on any of the ranks: the solve ends. */
typedef int (*capstan_apply)(void* context, const double* x, double* y);

typedef struct capstan_solver capstan_solver;

/** The version of this interface: what capstan_version() returns where library and header agree. */
#define CAPSTAN_C_VERSION 1
CAPSTAN_API int capstan_version(void);

/** Makes a solver.
 * \param comm is duplicated; no communicator between groups
 * \param text YAML, as an entry of \c linear_solvers in a deck has it; the text of rank 0 counts:
 *     method: capstan_cg
 *     tolerance: 1e-8        # of || b - A x || over that of the guess; 1e-4 where nothing is said
 *     parameters: {Residual Scaling: Norm of RHS}
 *     max_iterations: 500    # 50 where nothing is said
 *     kspace: 30             # restart length; 50 where nothing is said
 *     preconditioner: muelu  # none where nothing is said; else A has to be given by its entries
 *   NULL or an empty text: method: capstan_cg
 * \param[out] solver NULL after an error, whose text capstan_error_text(NULL) has */
CAPSTAN_API int capstan_create(MPI_Comm comm, const char* text, capstan_solver** solver);
/** The same, from a file that rank 0 reads: an entry, or a deck, of which the solver \p name is taken (NULL: the only
 * one).
 */
CAPSTAN_API int capstan_create_from_file(MPI_Comm comm, const char* file, const char* name, capstan_solver** solver);
/** The same for a communicator of Fortran, or of mpi4py's py2f(). \{ */
CAPSTAN_API int capstan_create_f(MPI_Fint comm, const char* text, capstan_solver** solver);
CAPSTAN_API int capstan_create_from_file_f(MPI_Fint comm, const char* file, const char* name, capstan_solver** solver);
/** \} */
/** Sets *solver to NULL; does nothing within a function that this solver has called. It may come after MPI has ended, which has freed all but the handle itself. Collective. */
CAPSTAN_API void capstan_destroy(capstan_solver** solver);

/** A is what \p apply does. \param rows of this rank */
CAPSTAN_API int capstan_set_operator(capstan_solver* solver, int64_t rows, capstan_apply apply, void* context);
/** A by its entries. row_start and columns are copied; values are read now and in capstan_matrix_changed(). */
CAPSTAN_API int capstan_set_matrix(capstan_solver* solver, const capstan_csr* matrix);
/** The values have changed where they are: they are read again, and the preconditioner follows as
 * \c recompute_preconditioner and \c reuse_preconditioner say. */
CAPSTAN_API int capstan_matrix_changed(capstan_solver* solver);
/** Whether A is symmetric: 1: yes; 0: no; -1: not known, as before the first call. With 0, CAPSTAN, which chooses, takes
 * no method for symmetric matrices. A method that is named is used all the same. Setting A again makes it -1. Local. */
CAPSTAN_API int capstan_set_symmetric(capstan_solver *solver, int symmetric);
/** M is what \p apply does, in place of \c preconditioner; NULL: that again. On the side that \c preconditioner_side
 * says. Local. */
CAPSTAN_API int capstan_set_preconditioner(capstan_solver* solver, capstan_apply apply, void* context);
/** Whether M, as it is set, is a diagonal: 1: yes; 0: not known. Methods apply it less and store less then. Local. */
CAPSTAN_API int capstan_set_diagonal(capstan_solver* solver, int diagonal);

/** Tolerances and limit of the next solves, in place of those of the text: a column has converged where its residual
 * meets \p tolerance times its scale or \p absolute_tolerance. All are at least 0, which a residual of zero alone meets.
 * Local. */
CAPSTAN_API int capstan_set_limits(capstan_solver* solver, double tolerance, double absolute_tolerance,
                                   int max_iterations);
/** What the application says after an iteration: 0, or any other number to end the solve (CAPSTAN_USER_TEST), the same
 * on all ranks. \param residuals norms that the method has, of each column, not scaled: of b - A x, or under GMRES with
 * a preconditioner on the left of M^-1 (b - A x). They may be off by rounding: what ends a solve is computed anew */
typedef int (*capstan_test)(void* context, int iteration, const double* residuals, int columns);
/** This rank's part of a norm of the application's own: the norm is (the sum over the ranks)^(1 / power). Collective.
 * Returns 0, or another number for a failure. \param r b - A x of one column, or a vector like it */
typedef int (*capstan_norm)(void *context, const double *r, double *part);
/** The norm of b - A x that tolerances are meant in; NULL: the 2-norm again. It is asked for wherever b - A x is computed,
 * and where the method's own estimate is near. For "Residual Scaling": None, User Provided, or Norm of Initial Residual,
 * which is the initial setting then. Local. \param power 1 or 2 */
CAPSTAN_API int capstan_set_norm(capstan_solver *solver, capstan_norm norm, int power, void *context);
/** Whether the guess of later solves is zero: 0 or 1. 1: what x holds on entry is not read, and where A is a function a
 * product of it is spared. Local. */
CAPSTAN_API int capstan_set_zero_guess(capstan_solver *solver, int zero);
/** Has \p test asked after the first residual and after each iteration, or s of them, of later solves; NULL: no longer.
 * Local. */
CAPSTAN_API int capstan_set_test(capstan_solver* solver, capstan_test test, void* context);
/** Whether later solves keep their history: 0 or 1. Local. */
CAPSTAN_API int capstan_keep_history(capstan_solver* solver, int keep);

/** Solves A x = b. \param[in,out] x the guess, and the solution: never worse than the guess
 * \param[out] outcome NULL: not asked for */
CAPSTAN_API int capstan_solve(capstan_solver* solver, const double* b, double* x, capstan_outcome* outcome);
/** The same for one or several right-hand sides; all ranks call the same one of the two functions.
 * \param ldb, ldx at least the rows of this rank, and 1 */
CAPSTAN_API int capstan_solve_columns(capstan_solver* solver, int columns, const double* b, int64_t ldb, double* x,
                                      int64_t ldx, capstan_outcome* outcome);

/** How the last solve went for one column, from 0: reason, iterations, restarts and residuals are the column's. Local.
 */
CAPSTAN_API int capstan_column_outcome(const capstan_solver* solver, int column, capstan_outcome* outcome);
/** The history of the last solve: the method's own residual, over its scale, after so many iterations of a column.
 * \param[in,out] length of the arrays, and how many points there are; \param iterations, residuals NULL: not asked for
 * Local. */
CAPSTAN_API int capstan_history(const capstan_solver* solver, int column, int* iterations, double* residuals,
                                int64_t* length);

/** A method, or a parameter of one. \c size is sizeof(capstan_row); texts live as long as the library. */
typedef struct capstan_row {
  size_t size;
  const char* name;    /**< the canonical one */
  const char* alias;   /**< of a method, without blanks; of a parameter NULL */
  const char* type;    /**< of a parameter, such as "int or string"; of a method NULL, as what follows */
  const char* allowed; /**< for people */
  const char* summary; /**< a sentence or two; of a method what it is */
} capstan_row;
/** The method number \p index, from 0; CAPSTAN_ERROR_ARGUMENT behind the last one. Local. */
CAPSTAN_API int capstan_method_row(int index, capstan_row* row);
/** The parameter number \p index of those that a method takes. Local. */
CAPSTAN_API int capstan_parameter_row(const char* method, int index, capstan_row* row);

/** The alias of the method that the user's options (CAPSTAN_OPTIONS, redirect) put in the place of a host's own name; NULL:
 * of none. Local; the same on all ranks, as the variable is. */
CAPSTAN_API int capstan_redirected(const char *name, const char **alias);

/** The canonical name of the method. Local. */
CAPSTAN_API const char* capstan_method(const capstan_solver* solver);
/** The text of the last error of this solver. NULL: of the last call in this thread that failed and had no solver:
 * capstan_create(), or one that was given NULL. Valid until the next call. Local. */
CAPSTAN_API const char* capstan_error_text(const capstan_solver* solver);
/** A few words. Local. */
CAPSTAN_API const char* capstan_reason_text(capstan_reason reason);

#ifdef __cplusplus
}
#endif

#endif /* CAPSTAN_H */
