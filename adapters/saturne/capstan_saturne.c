/* libcapstanSaturne.so: preloaded before code_saturne's cs_solver, it solves the systems of the fields that the options
 * name,
 *
 *     CAPSTAN_OPTIONS='redirect: {saturne_pressure: capstan_cg, saturne_velocity: capstan_bicgstab}'
 *
 * by Capstan's methods. A is cs_matrix_vector_multiply, M one V-cycle of code_saturne's own multigrid for a symmetric
 * matrix of one unknown a cell, else the diagonal. The norm and the tolerance are code_saturne's: || b - A x || <=
 * precision r_norm. All other systems are code_saturne's, as they were. It knows capstan.h and code_saturne alone. */
#include <cs_defs.h>
/* Before the headers of code_saturne. */
#include <cs_headers.h>
#include <dlfcn.h>
#include <mpi.h>
#include <ple_coupling.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/c/capstan.h"

/* mpirun is preloaded, too, and has none of these. */
#pragma weak cs_glob_mpi_comm
#pragma weak cs_glob_mesh

enum { MOST = 10000 }; /* iterations, as code_saturne's own solvers */

/* Of one field. */
typedef struct {
  const char* method;
  capstan_solver* solver;
  cs_sles_pc_t* multigrid;
  const cs_matrix_t* given;  /* NULL: not set up */
  const cs_matrix_t* matrix; /* the same, or one of rows */
  cs_matrix_structure_t* structure;
  cs_matrix_t* ofRows; /* NULL: multigrid has the given matrix */
  void* faces;         /* what it was made of: cells of the faces, diagonal, others */
  size_t bytes;
  cs_halo_rotation_t rotation;
  int64_t rows;        /* of this rank: cells times unknowns of a cell */
  cs_real_t *in, *out; /* with room for ghosts, which a product fills */
  cs_real_t* inverse;  /* of the diagonal, where there is no multigrid */
  long setups, solves, iterations, unconverged;
} Field;

static void require(int status, const capstan_solver* solver, const char* name) {
  if (status == CAPSTAN_SUCCESS) return;
  bft_error(__FILE__, __LINE__, 0, "Capstan, field %s: %s", name, capstan_error_text(solver));
}

static int multiply(void* context, const double* x, double* y) {
  Field* field = context;
  if (field->rows > 0) memcpy(field->in, x, (size_t)field->rows * sizeof *x);
  cs_matrix_vector_multiply(field->rotation, field->matrix, field->in, field->out);
  if (field->rows > 0) memcpy(y, field->out, (size_t)field->rows * sizeof *y);
  return 0;
}

static int precondition(void* context, const double* r, double* z) {
  Field* field = context;
  if (field->multigrid == NULL) {
    for (int64_t i = 0; i < field->rows; ++i) z[i] = field->inverse[i] * r[i];
    return 0;
  }
  if (field->rows > 0) memcpy(field->in, r, (size_t)field->rows * sizeof *r);
  memset(field->out, 0, ((size_t)field->rows + 1) * sizeof *field->out); /* what a cycle begins with */
  const cs_sles_pc_state_t state = cs_sles_pc_apply(field->multigrid, field->rotation, field->in, field->out);
  if (field->rows > 0) memcpy(z, field->out, (size_t)field->rows * sizeof *z);
  return state == CS_SLES_PC_DIVERGED ? 1 : 0;
}

static void endMpi(void) {
  int ended = 0;
  MPI_Finalized(&ended); /* by code_saturne, as a rule */
  if (!ended) MPI_Finalize();
}

/* One rank has no communicator, and may have no MPI. */
static MPI_Comm communicator(void) {
  int runs = 0;
  MPI_Initialized(&runs);
  if (!runs) {
    MPI_Init(NULL, NULL);
    atexit(endMpi);
  }
  return cs_glob_mpi_comm == MPI_COMM_NULL ? MPI_COMM_SELF : cs_glob_mpi_comm;
}

static void* resized(void* memory, size_t numbers) {
  void* const now = realloc(memory, (numbers + 1) * sizeof(cs_real_t));
  if (now == NULL) bft_error(__FILE__, __LINE__, 0, "Capstan: out of memory");
  memset(now, 0, (numbers + 1) * sizeof(cs_real_t));
  return now;
}

static void takeRows(Field* field, const char* name, const cs_matrix_t* a) {
  const cs_lnum_t* block = cs_matrix_get_diag_block_size(a);
  field->rows = (int64_t)cs_matrix_get_n_rows(a) * block[0];
  const size_t columns = (size_t)cs_matrix_get_n_columns(a) * (size_t)block[1];
  field->in = resized(field->in, columns);
  field->out = resized(field->out, columns);
  field->inverse = resized(field->inverse, (size_t)field->rows);
  if (field->solver != NULL) return;
  char text[200];
  snprintf(text, sizeof text, "{method: %s, parameters: {Residual Scaling: None, Verbosity: 0}}", field->method);
  require(capstan_create(communicator(), text, &field->solver), NULL, name);
}

static void invertDiagonal(Field* field, const cs_matrix_t* a) {
  const cs_lnum_t* block = cs_matrix_get_diag_block_size(a);
  const cs_real_t* diagonal = cs_matrix_get_diagonal(a);
  for (int64_t i = 0; i < field->rows; ++i) {
    const int64_t cell = i / block[0], unknown = i % block[0];
    const cs_real_t value = diagonal[cell * block[3] + unknown * (block[2] + 1)];
    field->inverse[i] = value != 0 ? 1 / value : 1;
  }
}

/* And the matrix that it is made of. */
static void freeMultigrid(Field* field) {
  if (field->multigrid != NULL) cs_sles_pc_destroy(&field->multigrid);
  if (field->ofRows != NULL) cs_matrix_destroy(&field->ofRows);
  if (field->structure != NULL) cs_matrix_structure_destroy(&field->structure);
  free(field->faces);
  field->faces = NULL;
}

/* Has the matrix as rows, which Gauss-Seidel needs to smooth in a V-cycle. The matrix of the pressure has faces alone
 * as a rule; multigrid would take Jacobi then, and would be no preconditioner of use. Returns whether the matrix is
 * that of the last setup: then its multigrid serves again. */
static int takeFaces(Field* field, const cs_matrix_t* a) {
  bool symmetric = true;
  cs_lnum_t count = 0;
  const cs_lnum_2_t* cells = NULL;
  const cs_real_t *diagonal = NULL, *others = NULL;
  cs_matrix_get_native_arrays(a, &symmetric, &count, &cells, &diagonal, &others);
  const size_t faces = (size_t)count, rows = (size_t)field->rows;
  const size_t bytes = faces * sizeof *cells + (rows + faces) * sizeof *others;
  cs_lnum_2_t* const copy = resized(NULL, bytes / sizeof *others);
  cs_real_t* const values = (cs_real_t*)(copy + faces);
  if (faces > 0) memcpy(copy, cells, faces * sizeof *cells);
  if (rows > 0) memcpy(values, diagonal, rows * sizeof *values);
  if (faces > 0) memcpy(values + rows, others, faces * sizeof *values);
  int same = field->ofRows != NULL && field->bytes == bytes && memcmp(field->faces, copy, bytes) == 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, communicator());
  if (same) free(copy);
  if (same) return 1;
  freeMultigrid(field);
  field->faces = copy;
  field->bytes = bytes;
  field->structure = cs_matrix_structure_create(CS_MATRIX_MSR, true, cs_matrix_get_n_rows(a),
                                                cs_matrix_get_n_columns(a), count, copy, cs_matrix_get_halo(a), NULL);
  field->ofRows = cs_matrix_create(field->structure);
  cs_matrix_set_coefficients(field->ofRows, symmetric, NULL, NULL, count, copy, values, values + rows);
  return 0;
}

static void setUpMultigrid(Field* field, const char* name, const cs_matrix_t* a, int verbosity) {
  const int native = cs_matrix_get_type(a) == CS_MATRIX_NATIVE;
  const int same = native && takeFaces(field, a);
  if (!native) freeMultigrid(field);
  field->matrix = native ? field->ofRows : a;
  if (same) return;
  field->multigrid = cs_multigrid_pc_create(CS_MULTIGRID_V_CYCLE);
  /* Sweeps on the coarsest level, too, in place of conjugate gradients: M is the same in each application, as most
   * methods want it, and reduces nothing over the ranks (without a tolerance no sweep asks for its residual). */
  const cs_sles_it_type_t sweep = CS_SLES_P_SYM_GAUSS_SEIDEL;
  cs_multigrid_set_solver_options(cs_sles_pc_get_context(field->multigrid), sweep, sweep, sweep, 1, 1, 1, 4, 0, 0, 0,
                                  -1, -1, -1);
  cs_sles_pc_setup(field->multigrid, name, field->matrix, verbosity);
}

/* Comes after each step: what refers to this matrix goes. */
static void release(void* context) {
  Field* field = context;
  if (field->ofRows == NULL) freeMultigrid(field);
  field->given = field->matrix = NULL;
}

static void setUp(void* context, const char* name, const cs_matrix_t* a, int verbosity) {
  Field* field = context;
  release(field);
  if (cs_glob_mesh->have_rotation_perio) {
    bft_error(__FILE__, __LINE__, 0, "Capstan, field %s: meshes with rotational periodicity are not supported", name);
  }
  const int64_t before = field->rows;
  takeRows(field, name, a);
  field->given = field->matrix = a;
  if (field->setups++ == 0 || before != field->rows) {
    require(capstan_set_operator(field->solver, field->rows, multiply, field), field->solver, name);
    require(capstan_set_preconditioner(field->solver, precondition, field), field->solver, name);
    require(capstan_set_symmetric(field->solver, cs_matrix_is_symmetric(a) ? 1 : 0), field->solver, name);
  }
  if (cs_matrix_is_symmetric(a) && cs_matrix_get_diag_block_size(a)[0] == 1) {
    setUpMultigrid(field, name, a, verbosity);
  } else {
    freeMultigrid(field);
    invertDiagonal(field, a);
  }
}

static cs_sles_convergence_state_t stateOf(const capstan_outcome* outcome) {
  if (outcome->converged) return CS_SLES_CONVERGED;
  if (outcome->reason == CAPSTAN_NON_FINITE) return CS_SLES_DIVERGED;
  return outcome->reason == CAPSTAN_BREAKDOWN ? CS_SLES_BREAKDOWN : CS_SLES_MAX_ITERATION;
}

/* As code_saturne does for its own solvers: x that is not to be used ends the run. */
static bool refuse(cs_sles_t* system, cs_sles_convergence_state_t state, const cs_matrix_t* a,
                   cs_halo_rotation_t rotation, const cs_real_t* rhs, cs_real_t* x) {
  (void)a, (void)rotation, (void)rhs, (void)x;
  const char* why = state == CS_SLES_DIVERGED ? "NaN or Inf in the matrix, M, b or the guess" : "breakdown";
  if (state < CS_SLES_MAX_ITERATION) bft_error(__FILE__, __LINE__, 0, "Capstan, %s: %s", cs_sles_get_name(system), why);
  return false;
}

static cs_sles_convergence_state_t solve(void* context, const char* name, const cs_matrix_t* a, int verbosity,
                                         cs_halo_rotation_t rotation, double precision, double norm, int* iterations,
                                         double* residue, const cs_real_t* rhs, cs_real_t* x, size_t auxSize,
                                         void* aux) {
  (void)auxSize, (void)aux;
  Field* field = context;
  if (field->given != a) setUp(context, name, a, verbosity);
  field->rotation = rotation;
  capstan_outcome outcome = {.size = sizeof outcome};
  require(capstan_set_limits(field->solver, precision * norm, 0, MOST), field->solver, name);
  require(capstan_solve(field->solver, rhs, x, &outcome), field->solver, name);
  *iterations = outcome.iterations;
  *residue = outcome.residual;
  ++field->solves;
  field->iterations += outcome.iterations;
  field->unconverged += outcome.converged ? 0 : 1;
  if (!outcome.converged) {
    bft_printf("Capstan, field %s: not converged: %s after %d iterations, residual %g\n", name,
               capstan_reason_text(outcome.reason), outcome.iterations, outcome.residual);
  }
  return stateOf(&outcome);
}

static void tell(const void* context, cs_log_t kind) {
  const Field* field = context;
  cs_log_printf(kind, "  Capstan, %s: %ld solves, %ld iterations, %ld not converged\n", field->method, field->solves,
                field->iterations, field->unconverged);
}

static void* copy(const void* context) {
  Field* made = resized(NULL, sizeof *made / sizeof(cs_real_t));
  made->method = ((const Field*)context)->method;
  return made;
}

static void destroy(void** context) {
  Field* field = *context;
  freeMultigrid(field);
  capstan_destroy(&field->solver);
  free(field->in);
  free(field->out);
  free(field->inverse);
  free(field);
  *context = NULL;
}

static const char* methodOf(const cs_field_t* field) {
  char name[200];
  snprintf(name, sizeof name, "saturne_%s", field->name);
  const char* method = NULL;
  require(capstan_redirected(name, &method), NULL, field->name);
  return method;
}

/* Ranks that were told different things would wait for one another without end. */
static void requireAgreement(void) {
  uint64_t sums[2] = {14695981039346656037u, 0}, least[2]; /* FNV-1a */
  for (int f = 0; f < cs_field_n_fields(); ++f) {
    const char* text = methodOf(cs_field_by_id(f));
    for (text = text == NULL ? "-" : text; *text != 0; ++text)
      sums[0] = (sums[0] ^ (unsigned char)*text) * 1099511628211u;
  }
  sums[1] = ~sums[0];
  MPI_Allreduce(sums, least, 2, MPI_UINT64_T, MPI_MIN, communicator());
  if (least[0] != ~least[1]) bft_error(__FILE__, __LINE__, 0, "Capstan: CAPSTAN_OPTIONS differs between the ranks");
}

/* What code_saturne calls before it solves; one of the user's own comes first. */
__attribute__((visibility("default"))) void cs_user_linear_solvers(void);
void cs_user_linear_solvers(void) {
  void (*own)(void) = NULL;
  *(void**)&own = dlsym(RTLD_NEXT, "cs_user_linear_solvers");
  if (own != NULL) own();
  requireAgreement();
  for (int f = 0; f < cs_field_n_fields(); ++f) {
    const cs_field_t* field = cs_field_by_id(f);
    const char* const method = methodOf(field);
    if (method == NULL) continue;
    const Field made = {.method = method};
    cs_sles_define(field->id, NULL, copy(&made), "capstan", setUp, solve, release, tell, copy, destroy);
    cs_sles_set_error_handler(cs_sles_find(field->id, NULL), refuse);
    bft_printf("Capstan: the systems of the field %s are solved by %s\n", field->name, method);
  }
}
