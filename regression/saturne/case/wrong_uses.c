/* Wrong uses of redirected systems, within a run of code_saturne: each ends with an error of code_saturne's, or with a
 * state that is not "converged", or is solved rightly. It ends the program where one does not. */
#include <math.h>
#include <mpi.h>
#include <ple_coupling.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cs_defs.h"
#include "cs_headers.h"

/* What may come of a use; together: either. */
enum { FAILS = 1, UNSOLVED = 2, SOLVED = 4, LEFT = 8 /* code_saturne finds that there is nothing to solve */ };

typedef struct {
  int variant, want;
  int block;      /* unknowns of a cell */
  bool symmetric; /* what code_saturne is told */
  double precision, norm;
  cs_matrix_structure_t* structure;
  cs_matrix_t* a;
  cs_real_t *diagonal, *others, *b, *x;
  cs_sles_t* system;
} Use;

static jmp_buf refused;
static char said[400];

static void note(const char* file, int line, int code, const char* format, va_list values) {
  (void)file, (void)line, (void)code;
  vsnprintf(said, sizeof said, format, values);
  longjmp(refused, 1);
}

static int rank(void) { return cs_glob_rank_id < 0 ? 0 : cs_glob_rank_id; }

static void redirect(const char* text) {
  setenv("CAPSTAN_OPTIONS", text, 1);
  cs_user_linear_solvers();
}

static cs_sles_convergence_state_t solve(Use* use) {
  int iterations = 0;
  double residue = 0;
  return cs_sles_solve(use->system, use->a, CS_HALO_ROTATION_COPY, use->precision, use->norm, &iterations, &residue,
                       use->b, use->x, 0, NULL);
}

static void fill(Use* use) {
  const cs_mesh_t* mesh = cs_glob_mesh;
  const cs_lnum_2_t* cells = (const cs_lnum_2_t*)mesh->i_face_cells;
  const int n = use->block;
  const cs_lnum_t blocks[4] = {n, n, n, n * n};
  for (cs_lnum_t cell = 0; cell < mesh->n_cells_with_ghosts; ++cell) {
    for (int i = 0; i < n * n; ++i) use->diagonal[cell * n * n + i] = i % (n + 1) == 0 ? 0.1 : 0;
  }
  for (cs_lnum_t face = 0; face < mesh->n_i_faces; ++face) {
    for (int side = 0; side < (use->symmetric ? 1 : 2); ++side) {
      use->others[use->symmetric ? face : 2 * face + side] = side == 0 ? -1 : -0.5;
    }
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < n; ++i) use->diagonal[cells[face][side] * n * n + i * (n + 1)] += 1;
    }
  }
  for (cs_lnum_t i = 0; i < mesh->n_cells_with_ghosts * n; ++i) {
    use->b[i] = sin(1.0 + i + 7 * use->variant);
    use->x[i] = 0;
  }
  cs_matrix_set_coefficients(use->a, use->symmetric, n > 1 ? blocks : NULL, NULL, mesh->n_i_faces, cells, use->diagonal,
                             use->others);
}

/* || b - A x ||, with code_saturne's own product. */
static double residual(Use* use) {
  const size_t rows = (size_t)cs_glob_mesh->n_cells * use->block;
  const size_t all = (size_t)cs_glob_mesh->n_cells_with_ghosts * use->block;
  cs_real_t* in = calloc(all + 1, sizeof *in);
  cs_real_t* out = calloc(all + 1, sizeof *out);
  memcpy(in, use->x, rows * sizeof *in);
  cs_matrix_vector_multiply(CS_HALO_ROTATION_COPY, use->a, in, out);
  double sum = 0;
  for (size_t i = 0; i < rows; ++i) sum += (use->b[i] - out[i]) * (use->b[i] - out[i]);
  cs_parall_sum(1, CS_DOUBLE, &sum);
  free(in);
  free(out);
  return sqrt(sum);
}

static cs_sles_convergence_state_t wrongOptions(Use* use) {
  static const char* const texts[] = {
      "redirect: {saturne_pressure: capstan_gc}",
      "redirect: {saturne_pressure: gmres}",
      "redirect: {saturne_pressure: }",
      "redirect: {saturne_pressure: [capstan_cg]}",
      "redirect: {saturne_pressure: {capstan_cg: 1}}",
      "redirect: {saturne_pressure: 5}",
      "redirect: {saturne_pressure: ''}",
      "redirect: [saturne_pressure]",
      "redirect: 7",
      "redirect: {saturne_pressure: capstan_cg",
      "redirect: {saturne_pressure: capstan_cg}}",
      "rediret: {a: b}",
      "[1, 2]",
      "5",
      "step_size: many",
      "{redirect: {saturne_pressure: capstan_sstep_gmres}, step_size: 0}",
      "{redirect: {saturne_pressure: capstan_sstep_gmres}, step_size: -3}",
      "{redirect: {saturne_pressure: capstan_sstep_gmres}, step_size: 1e99}",
      "{redirect: {saturne_pressure: capstan_sstep_gmres}, step_size: [4]}",
      "{redirect: {saturne_pressure: capstan_cg}, step_size: 4}",
      "{redirect: {saturne_pressure: capstan_cg}, polynomial_degree: x}",
      "{redirect: {saturne_pressure: capstan_gmres}, num_blocks: -1}",
      "{redirect: {saturne_pressure: capstan_gmres}, num_blocks: nan}",
      "{redirect: {saturne_pressure: capstan_cg}, redirect: {saturne_pressure: capstan_cr}}",
      "{redirect: {saturne_pressure: capstan_cg, saturne_pressure: capstan_cr}}",
      "\tredirect: x",
      "redirect: {\"a: b}",
      "&a *b",
      "{redirect: {saturne_pressure: capstan_cg}, no_such_parameter: 3}",
      "{redirect: {saturne_pressure: capstan_cg}, labels: 3}"};
  redirect(texts[use->variant % (int)(sizeof texts / sizeof *texts)]);
  return solve(use);
}

/* Nothing of these is redirected: code_saturne solves. */
static cs_sles_convergence_state_t otherFields(Use* use) {
  static const char* const texts[] = {
      "redirect: {saturne_presure: capstan_cg}", "redirect: {pressure: capstan_cg}",           "", "{}",
      "redirect: {saturne_: capstan_cg}",        "redirect: {saturne_temperature: capstan_cg}"};
  redirect(texts[use->variant % 6]);
  return SOLVED == use->want ? solve(use) : CS_SLES_CONVERGED;
}

static cs_sles_convergence_state_t differentRanks(Use* use) {
  if (cs_glob_n_ranks < 2) use->want = SOLVED;
  const int last = rank() == cs_glob_n_ranks - 1 && cs_glob_n_ranks > 1;
  redirect(last ? use->variant % 2 ? "" : "redirect: {saturne_pressure: capstan_cr}"
                : "redirect: {saturne_pressure: capstan_cg}");
  return solve(use);
}

static cs_sles_convergence_state_t wrongTolerance(Use* use) {
  static const struct {
    double precision, norm;
    int want;
  } given[] = {{-1, 1, FAILS},
               {NAN, 1, FAILS},
               {INFINITY, 1, FAILS | LEFT},
               {1e-8, -1, FAILS | LEFT},
               {1e-8, NAN, FAILS},
               {1e-8, INFINITY, FAILS | LEFT},
               {1e300, 1e300, FAILS | LEFT},
               {-INFINITY, 1, FAILS},
               {0, 1, UNSOLVED | SOLVED},
               {1e-8, 0, UNSOLVED | SOLVED | LEFT},
               {1e-300, 1, UNSOLVED | SOLVED},
               {1e-200, 1e-200, UNSOLVED | SOLVED | LEFT},
               {1e-30, 1, UNSOLVED | SOLVED},
               {1e10, 1, SOLVED},
               {-0.0, 1, UNSOLVED | SOLVED}};
  const int which = use->variant % (int)(sizeof given / sizeof *given);
  use->precision = given[which].precision;
  use->norm = given[which].norm;
  use->want = given[which].want;
  return solve(use);
}

/* On one rank alone. */
static cs_sles_convergence_state_t notFinite(Use* use) {
  static const double values[] = {NAN, INFINITY, -INFINITY};
  const double value = values[use->variant % 3];
  cs_real_t* const places[] = {use->diagonal, use->others, use->b, use->x};
  if (rank() == use->variant % cs_glob_n_ranks) {
    cs_real_t* const place = places[use->variant / 3 % 4] + 2 * (use->variant % 5);
    place[0] = place[1] = value; /* both sides of a face: one may be of another rank */
  }
  return solve(use);
}

static cs_sles_convergence_state_t singular(Use* use) {
  const size_t numbers = (size_t)cs_glob_mesh->n_cells_with_ghosts;
  switch (use->variant % 4) {
    case 0:
      memset(use->diagonal, 0, numbers * sizeof *use->diagonal);
      break;
    case 1:
      memset(use->others, 0, (size_t)cs_glob_mesh->n_i_faces * sizeof *use->others);
      break;
    case 2:
      for (size_t i = 0; i < numbers; ++i) use->diagonal[i] *= -1;
      break;
    default:
      for (size_t i = 0; i < numbers; ++i) use->diagonal[i] *= 1e-300;
      break;
  }
  return solve(use);
}

static cs_sles_convergence_state_t orders(Use* use) {
  const int way = use->variant % 6;
  if (way == 0) cs_sles_free(use->system);
  if (way == 1) cs_sles_setup(use->system, use->a), cs_sles_free(use->system), cs_sles_free(use->system);
  if (way == 2) cs_sles_setup(use->system, use->a), cs_sles_setup(use->system, use->a);
  if (way == 3) (void)solve(use), cs_sles_free(use->system);
  if (way == 4) (void)solve(use), redirect("redirect: {saturne_pressure: capstan_gmres}");
  if (way == 5) {
    (void)solve(use);
    use->diagonal[0] += 1; /* without a new setup: b - A x shows it, if the old matrix was solved with */
    cs_sles_free(use->system);
    memset(use->x, 0, (size_t)cs_glob_mesh->n_cells * sizeof *use->x);
  }
  return solve(use);
}

static cs_sles_convergence_state_t rotation(Use* use) {
  const int had = cs_glob_mesh->have_rotation_perio;
  cs_glob_mesh->have_rotation_perio = 1;
  cs_sles_convergence_state_t state = CS_SLES_CONVERGED;
  if (setjmp(refused) == 0)
    state = solve(use);
  else
    use->want = FAILS | SOLVED;
  cs_glob_mesh->have_rotation_perio = had;
  return state;
}

/* A method for symmetric matrices, and one that is not; and several unknowns of a cell. */
static cs_sles_convergence_state_t notSymmetric(Use* use) {
  redirect(use->variant % 2 ? "redirect: {saturne_pressure: capstan_pipelined_cg}"
                            : "redirect: {saturne_pressure: capstan_cg}");
  return solve(use);
}

typedef struct {
  const char* name;
  cs_sles_convergence_state_t (*use)(Use* use);
  int want, block;
  bool symmetric;
} Kind;

static const Kind kinds[] = {{"options", wrongOptions, FAILS, 1, true},
                             {"options, several unknowns", wrongOptions, FAILS, 3, false},
                             {"another field", otherFields, SOLVED, 1, true},
                             {"ranks that differ", differentRanks, FAILS, 1, true},
                             {"tolerance", wrongTolerance, FAILS, 1, true},
                             {"tolerance, not symmetric", wrongTolerance, FAILS, 1, false},
                             {"not finite", notFinite, FAILS, 1, true},
                             {"not finite, not symmetric", notFinite, FAILS, 1, false},
                             {"singular", singular, FAILS | UNSOLVED | SOLVED, 1, true},
                             {"orders", orders, SOLVED, 1, true},
                             {"orders, several unknowns", orders, SOLVED, 3, false},
                             {"rotation", rotation, FAILS, 1, true},
                             {"not symmetric", notSymmetric, SOLVED, 1, false}};

static void make(Use* use, const Kind* kind) {
  const cs_mesh_t* mesh = cs_glob_mesh;
  const size_t cells = (size_t)mesh->n_cells_with_ghosts, faces = (size_t)mesh->n_i_faces;
  use->block = kind->block;
  use->symmetric = kind->symmetric;
  use->want = kind->want;
  use->precision = 1e-8;
  use->norm = 1;
  use->structure =
      cs_matrix_structure_create(CS_MATRIX_NATIVE, true, mesh->n_cells, mesh->n_cells_with_ghosts, mesh->n_i_faces,
                                 (const cs_lnum_2_t*)mesh->i_face_cells, mesh->halo, NULL);
  use->a = cs_matrix_create(use->structure);
  use->diagonal = calloc(cells * use->block * use->block + 1, sizeof(cs_real_t));
  use->others = calloc(2 * faces + 1, sizeof(cs_real_t));
  use->b = calloc(cells * use->block + 1, sizeof(cs_real_t));
  use->x = calloc(cells * use->block + 1, sizeof(cs_real_t));
  fill(use);
  redirect("redirect: {saturne_pressure: capstan_gmres}");
  use->system = cs_sles_find(CS_F_(p)->id, NULL);
}

static void destroy(Use* use) {
  redirect("redirect: {saturne_pressure: capstan_cg}");
  cs_matrix_destroy(&use->a);
  cs_matrix_structure_destroy(&use->structure);
  free(use->diagonal);
  free(use->others);
  free(use->b);
  free(use->x);
}

static bool isZero(const Use* use) {
  cs_gnum_t others = 0;
  for (cs_lnum_t i = 0; i < cs_glob_mesh->n_cells * use->block; ++i) others += use->x[i] != 0;
  cs_parall_counter(&others, 1);
  return others == 0;
}

/* What came of a use; 0: something wrong. */
static int outcome(const Kind* kind, int variant) {
  static Use use;
  memset(&use, 0, sizeof use);
  use.variant = variant;
  make(&use, kind);
  int found = FAILS;
  said[0] = 0;
  if (setjmp(refused) == 0) {
    const cs_sles_convergence_state_t state = kind->use(&use);
    found = use.want == (FAILS | SOLVED) ? FAILS : state == CS_SLES_CONVERGED ? SOLVED : UNSOLVED;
    if (found == SOLVED && (use.want & LEFT) && isZero(&use)) found = LEFT;
    if (found == SOLVED && !(residual(&use) <= 1.000001 * use.precision * use.norm)) found = 0;
  } else if (strstr(said, "Capstan") == NULL) {
    found = 0;
  }
  if (rank() == 0 && !(found & use.want)) {
    fprintf(stderr, "%s, variant %d: found %d, wanted %d; %s\n", kind->name, variant, found, use.want, said);
  }
  const int right = found & use.want ? found : 0;
  destroy(&use);
  return right;
}

void wrongUses(int count) {
  const int all = (int)(sizeof kinds / sizeof *kinds);
  int counts[LEFT + 1] = {0};
  char kept[1000];
  snprintf(kept, sizeof kept, "%s", getenv("CAPSTAN_OPTIONS") != NULL ? getenv("CAPSTAN_OPTIONS") : "");
  bft_error_handler_t* const before = bft_error_handler_get();
  bft_error_handler_set(note);
  for (int i = 0; i < count; ++i) ++counts[outcome(&kinds[i % all], i / all)];
  bft_error_handler_set(before);
  setenv("CAPSTAN_OPTIONS", kept, 1);
  if (rank() == 0) {
    printf("\n%d wrong uses of %d kinds: %d refused, %d not solved, %d solved, %d left, %d wrong\n", count, all,
           counts[FAILS], counts[UNSOLVED], counts[SOLVED], counts[LEFT], counts[0]);
    fflush(stdout);
  }
}
