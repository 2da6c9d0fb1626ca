/* A program in C99 that solves with capstan.h, and calls it before MPI begins and after it has ended. */
#include <capstan.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* tridiagonal(-1, 2.01, -1), rows in equal shares. */
typedef struct {
  int64_t first, rows, global;
} Line;

static const double diagonal = 2.01;

static int multiply(void* context, const double* x, double* y) {
  const Line* line = context;
  double before = 0, after = 0;
  const int down = line->first > 0 ? (int)(line->first / line->rows) - 1 : MPI_PROC_NULL;
  const int up = line->first + line->rows < line->global ? (int)(line->first / line->rows) + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(x, 1, MPI_DOUBLE, down, 1, &after, 1, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(x + line->rows - 1, 1, MPI_DOUBLE, up, 2, &before, 1, MPI_DOUBLE, down, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int64_t i = 0; i < line->rows; ++i) {
    y[i] = diagonal * x[i] - (i > 0 ? x[i - 1] : before) - (i + 1 < line->rows ? x[i + 1] : after);
  }
  return 0;
}

static void expect(int status, int expected, const capstan_solver* solver, const char* what) {
  if (status == expected) return;
  fprintf(stderr, "%s: %d instead of %d: %s\n", what, status, expected, capstan_error_text(solver));
  exit(1);
}

static void fill(const Line* line, int32_t* starts, int32_t* columns, double* values) {
  int32_t entries = 0;
  starts[0] = 0;
  for (int64_t i = 0; i < line->rows; ++i) {
    const int64_t row = line->first + i;
    for (int64_t column = row - 1; column <= row + 1; ++column) {
      if (column < 0 || column >= line->global) continue;
      columns[entries] = (int32_t)column;
      values[entries++] = column == row ? diagonal : -1;
    }
    starts[i + 1] = entries;
  }
}

static void solve(capstan_solver* solver, const Line* line, const char* how, int rank) {
  double *b = malloc((size_t)line->rows * sizeof *b), *x = calloc((size_t)line->rows, sizeof *x);
  capstan_outcome outcome;
  memset(&outcome, 0, sizeof outcome);
  outcome.size = sizeof outcome;
  for (int64_t i = 0; i < line->rows; ++i) b[i] = sin(1e3 * (double)(line->first + i + 1));
  expect(capstan_solve(solver, b, x, &outcome), CAPSTAN_SUCCESS, solver, "capstan_solve");
  if (rank == 0) {
    printf("%s, %s: %s after %d iterations\n", capstan_method(solver), how, capstan_reason_text(outcome.reason),
           outcome.iterations);
  }
  free(b);
  free(x);
}

int main(int argc, char** argv) {
  capstan_solver *solver = NULL, *other = NULL;
  expect(capstan_create_f(0, NULL, &solver), CAPSTAN_ERROR_MPI, NULL, "before MPI");
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Line line = {60 * rank, 60, 60 * ranks};
  int32_t starts[61], columns[180];
  double values[180];
  fill(&line, starts, columns, values);
  const capstan_csr matrix = {sizeof matrix, line.rows, 32, starts, columns, values};
  const char* const texts[] = {
      "{method: capstan_cg, tolerance: 1e-8, max_iterations: 300}",
      "{method: capstan_sstep_gmres, tolerance: 1e-8, max_iterations: 300, preconditioner: jacobi}"};
  for (int k = 0; k < 2; ++k) {
    expect(capstan_create(MPI_COMM_WORLD, texts[k], &solver), CAPSTAN_SUCCESS, NULL, "capstan_create");
    expect(capstan_set_matrix(solver, &matrix), CAPSTAN_SUCCESS, solver, "capstan_set_matrix");
    solve(solver, &line, "entries", rank);
    capstan_destroy(&solver);
  }
  expect(capstan_create(MPI_COMM_WORLD, texts[0], &solver), CAPSTAN_SUCCESS, NULL, "capstan_create");
  expect(capstan_set_operator(solver, line.rows, multiply, &line), CAPSTAN_SUCCESS, solver, "capstan_set_operator");
  solve(solver, &line, "a function", rank);
  MPI_Finalize(); /* the solver lives on */
  double x[60] = {0};
  expect(capstan_solve(solver, x, x, NULL), CAPSTAN_ERROR_MPI, solver, "after MPI");
  expect(capstan_create_f(0, NULL, &other), CAPSTAN_ERROR_MPI, NULL, "after MPI");
  capstan_destroy(&solver);
  if (solver != NULL || capstan_version() != CAPSTAN_C_VERSION) return 1;
  return 0;
}
