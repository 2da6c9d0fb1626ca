/* An application over hypre's ParCSR interface that uses it wrongly, in ways that a seed chooses. To be run with every
 * solver redirected: hypre's own crash by some of these.
 *
 * usage: wrong_inputs SEED FIRST END [VERBOSE]
 *
 * A complaint is a line that begins with "case". Exit status 1 where there is one. */
#include <stdlib.h>

#include "wrong_preconditioners.h"

/* What is wrong, in words, and what is wanted. */
enum Wanted { Either, Errs, Converges };
/* clang-format off */
#define FAULTS(X) \
  X(None, "none", Converges) X(SolverNull, "solver NULL", Errs) X(MatrixNull, "matrix NULL", Errs) \
  X(RightNull, "b NULL", Errs) X(SolutionNull, "x NULL", Errs) X(RightSize, "size of b", Errs) \
  X(SolutionSize, "size of x", Errs) X(MatrixSize, "size of the matrix", Errs) X(Rectangular, "rectangular", Errs) \
  X(NotInitialized, "b not initialized", Errs) X(NanMatrix, "NaN in A", Errs) X(InfMatrix, "Inf in A", Errs) \
  X(NanRight, "NaN in b", Errs) X(InfRight, "Inf in b", Errs) X(HugeRight, "b overflows", Either) \
  X(NanGuess, "NaN in x", Errs) X(InfGuess, "Inf in x", Errs) X(ZeroRight, "b zero", Either) \
  X(AfterDestroy, "solve after destroy", Errs) X(NoSetup, "no setup", Errs) X(Twice, "solve twice", Converges) \
  X(SetupTwice, "setup twice", Converges) X(NoIterations, "no iterations", Either) \
  X(FewerIterations, "limit -1", Errs) X(NoTolerance, "tolerance 0", Either) \
  X(NegativeTolerance, "tolerance -1", Errs) X(NanTolerance, "tolerance NaN", Errs) \
  X(NoSpace, "Krylov space 0", Either) X(ErrorBefore, "an error before", Errs) \
  X(OneRank, "wrong on one rank", Errs) X(OneTolerance, "tolerance on one rank", Either) \
  X(NoOutput, "getters to NULL", Converges) X(OtherMatrix, "another matrix later", Either)
/* clang-format on */
enum Fault {
#define X(name, words, wanted) name,
  FAULTS(X)
#undef X
      Faults
};
static const struct {
  const char* words;
  enum Wanted wanted;
} faults[Faults] = {
#define X(name, words, wanted) {words, wanted},
    FAULTS(X)
#undef X
};

typedef struct {
  const Family* family;
  enum Fault fault;
  enum Kind kind;
  int energy, plain, number;
  double tolerance;
  System system, other;
  HYPRE_IJVector b, x, misfit;
  HYPRE_Solver solver, amg;
  double guess[most];
  HYPRE_Int status;
} Case;

static void describe(const Case* c, const char* what) {
  if (rank == 0)
    printf("case %d: %s, %s%s, %s: status %d: %s\n", c->number, c->family->name, kindNames[c->kind],
           c->energy ? ", energy" : "", faults[c->fault].words, (int)c->status, what);
  fflush(stdout);
}

static void chooseCase(Case* c, int number) {
  memset(c, 0, sizeof *c);
  c->number = number;
  c->fault = (enum Fault)(number % Faults);
  c->family = &families[pick(6)];
  c->kind = (enum Kind)(c->fault == NoTolerance ? pick(Identity) : pick(Kinds));
  c->energy = c->family == &families[0] && pick(2);
  c->plain = pick(2);
  c->tolerance = 1e-8;
  const int empty = pick(3) == 0 ? ranks - 1 : -1, rows = 20 + 2 * pick(5), symmetric = c->family == &families[0];
  System* const s = &c->system;
  s->rows = s->columns = shareOf(rows, empty);
  s->below = symmetric ? -1 : -1.2;
  s->above = symmetric ? -1 : -0.6;
  s->diagonal = 2.5;
  s->oddRow = -1;
  c->other = *s;
  c->other.rows.all = rows - 4;
  if (s->rows.first == rows) c->other.rows.first -= 4;   /* a rank without rows */
  if (s->rows.last == rows - 1) c->other.rows.last -= 4; /* the rows of other ranks stay */
  c->other.columns = c->other.rows;
  if (c->fault == Rectangular) {
    c->other = *s;
    c->other.columns = shareOf(rows + 6, -1);
  }
  makeMatrix(s);
  makeMatrix(&c->other);
}

static void makeVectors(Case* c) {
  const Share share = c->system.rows;
  c->b = makeVector(share, 1);
  c->x = makeVector(share, 1);
  c->misfit = makeVector(c->other.rows, c->fault != NotInitialized);
  for (HYPRE_BigInt row = 0; row < share.all; ++row) {
    const double right = 0.1 * (pick(100) - 50), guess = 0.01 * pick(100);
    setEntry(c->b, share, row, c->fault == ZeroRight ? 0 : c->fault == HugeRight ? 1e200 * (right + 1) : right);
    setEntry(c->x, share, row, guess);
  }
}

static void makeSolver(Case* c) {
  const Family* const f = c->family;
  f->create(MPI_COMM_WORLD, &c->solver);
  f->setTol(c->solver, c->tolerance);
  f->setMaxIter(c->solver, 200);
  if (f->setKDim != NULL) f->setKDim(c->solver, 30);
  if (f == &families[0]) HYPRE_PCGSetTwoNorm(c->solver, !c->energy);
  if (c->kind == Diagonal) f->setPrecond(c->solver, HYPRE_ParCSRDiagScale, HYPRE_ParCSRDiagScaleSetup, NULL);
  if (c->kind == Amg) {
    HYPRE_BoomerAMGCreate(&c->amg);
    HYPRE_BoomerAMGSetTol(c->amg, 0);
    HYPRE_BoomerAMGSetMaxIter(c->amg, 1);
    HYPRE_BoomerAMGSetRelaxType(c->amg, 6);
    f->setPrecond(c->solver, HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGSetup, c->amg);
  }
  memset(&m, 0, sizeof m);
  m.kind = c->kind;
  m.family = f;
  m.outer = c->solver;
  if (c->kind == Nested) {
    HYPRE_ParCSRGMRESCreate(MPI_COMM_WORLD, &m.inner);
    HYPRE_GMRESSetMaxIter(m.inner, 3);
    HYPRE_ParCSRGMRESSetup(m.inner, c->system.parallel, parallelOf(c->b), parallelOf(c->x));
  }
  if (c->kind >= Identity && c->kind != NotSetUp) f->setPrecond(c->solver, applyM, setUpM, NULL);
  if (c->fault != NoSetup) f->setup(c->solver, c->system.parallel, parallelOf(c->b), parallelOf(c->x));
  if (c->kind == NotSetUp) f->setPrecond(c->solver, applyM, setUpM, NULL);
}

/* Faults that stand in the values or settings. */
static void spoil(Case* c) {
  const Family* const f = c->family;
  const Share share = c->system.rows;
  const HYPRE_BigInt row = pick((int)share.all);
  switch (c->fault) {
    case NanMatrix:
    case InfMatrix:
      c->system.oddRow = (int)row;
      c->system.odd = c->fault == NanMatrix ? NAN : INFINITY;
      HYPRE_IJMatrixInitialize(c->system.matrix);
      setRows(&c->system);
      break;
    case NanRight:
      setEntry(c->b, share, row, NAN);
      break;
    case InfRight:
      setEntry(c->b, share, row, INFINITY);
      break;
    case NanGuess:
      setEntry(c->x, share, row, NAN);
      break;
    case InfGuess:
      setEntry(c->x, share, row, -INFINITY);
      break;
    case NoIterations:
      f->setMaxIter(c->solver, 0);
      break;
    case FewerIterations:
      f->setMaxIter(c->solver, -1);
      break;
    case NoTolerance:
      f->setTol(c->solver, c->tolerance = 0);
      break;
    case NegativeTolerance:
      f->setTol(c->solver, -1);
      break;
    case NanTolerance:
      f->setTol(c->solver, NAN);
      break;
    case OneTolerance:
      f->setTol(c->solver, rank == 0 ? c->tolerance : 1e-2);
      break;
    case NoSpace:
      if (f->setKDim != NULL) f->setKDim(c->solver, 0);
      break;
    case ErrorBefore:
      HYPRE_BoomerAMGSetTol(NULL, 0);
      break;
    default:
      break;
  }
}

/* The system is another one from now on, set up by the same solver. */
static void exchange(Case* c) {
  const System old = c->system;
  c->system = c->other;
  c->other = old;
  HYPRE_IJVectorDestroy(c->b);
  HYPRE_IJVectorDestroy(c->x);
  HYPRE_IJVectorDestroy(c->misfit);
  makeVectors(c);
  c->family->setup(c->solver, c->system.parallel, parallelOf(c->b), parallelOf(c->x));
  HYPRE_ClearAllErrors();
}

static void solveCase(Case* c) {
  const Family* const f = c->family;
  const Work solve = c->plain ? f->plainSolve : f->solve;
  HYPRE_Solver solver = c->fault == SolverNull ? NULL : c->solver;
  HYPRE_ParCSRMatrix a = c->system.parallel;
  HYPRE_ParVector b = parallelOf(c->b), x = parallelOf(c->x), misfit = parallelOf(c->misfit);
  const int here = rank == c->number / Faults % ranks;
  if (c->fault == MatrixNull) a = NULL;
  if (c->fault == MatrixSize || c->fault == Rectangular) a = c->other.parallel;
  if (c->fault == RightSize || c->fault == NotInitialized) b = misfit;
  if (c->fault == SolutionSize) x = misfit;
  if (c->fault == RightNull || (c->fault == OneRank && here)) b = NULL;
  if (c->fault == SolutionNull) x = NULL;
  if (c->fault == AfterDestroy) f->destroy(c->solver);
  if (c->fault == SetupTwice) f->setup(c->solver, a, b, x);
  if (c->fault == Twice || c->fault == OtherMatrix || c->fault == HugeRight || c->fault == NegativeTolerance) {
    solve(solver, a, b, x);
    HYPRE_ClearAllErrors();
  }
  if (c->fault == OtherMatrix) {
    exchange(c);
    gather(c->x, c->system.rows, c->guess);
    a = c->system.parallel, b = parallelOf(c->b), x = parallelOf(c->x);
  }
  m.calls = 0;
  c->status = solve(solver, a, b, x);
}

/* Whether the application is told that x meets the tolerance. */
static int isClaimed(const Case* c) {
  HYPRE_Int yes = -1, count = -1;
  double told = -1;
  if (c->fault == AfterDestroy || c->fault == SolverNull) return 0;
  if (c->fault == NoOutput &&
      (c->family->iterations(c->solver, NULL) == 0 || c->family->residual(c->solver, NULL) == 0))
    return 2;
  HYPRE_ClearAllErrors();
  if (c->family->iterations(c->solver, &count) != 0 || count < 0 || count > 200) return 2;
  if (c->family->residual(c->solver, &told) != 0 || told < 0) return 2;
  if (c->family->converged != NULL && c->family->converged(c->solver, &yes) != 0) return 2;
  const int within = c->fault == NoTolerance ? told == 0 : told <= c->tolerance;
  return yes == 1 || within || (c->status == 0 && c->fault != NoTolerance);
}

/* Whether the residual vector that hypre hands out is b - A x, r here. */
static int isVector(const Case* c, const double* r) {
  HYPRE_ParVector vector = NULL;
  double square = -1;
  c->family->vector(c->solver, &vector);
  HYPRE_ParVectorInnerProd(vector, vector, &square);
  return fabs(sqrt(square) - norm(r, (int)c->system.rows.all)) <= 1e-12;
}

/* NULL, or what is wrong. */
static const char* judge(Case* c) {
  const int rows = (int)c->system.rows.all, kept = c->fault != NanGuess && c->fault != InfGuess;
  const int benign = c->kind <= Identity, flag = HYPRE_GetError(), claimed = isClaimed(c);
  double b[most], x[most], r[most];
  HYPRE_Int ends[2] = {c->status, -c->status};
  gather(c->b, c->system.rows, b);
  gather(c->x, c->system.rows, x);
  residualOf(&c->system, b, x, r);
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (ends[0] != -ends[1] && c->fault != OneRank) return "the ranks are told different things";
  if (c->status != flag) return "the status is not hypre's flag";
  if (claimed == 2) return "the getters are wrong";
  if (kept && !isFinite(x, rows)) return "x is not finite";
  if (faults[c->fault].wanted == Errs && c->status == 0) return "no error";
  if (c->fault == OneTolerance && ranks > 1 && c->status == 0) return "no error";
  if (c->fault == NoSpace && c->family->setKDim != NULL && c->status == 0) return "no error";
  if (c->fault == NoTolerance && c->status != 0) return "an error, though no tolerance was asked for";
  if (benign && faults[c->fault].wanted == Converges && (c->status != 0 || !claimed)) return "not converged";
  if (benign && c->fault == ErrorBefore && !claimed) return "not converged after an error of before";
  const double slack = c->energy && c->kind != Plain ? 100 : 1 + 1e-6, scale = norm(b, rows) > 0 ? norm(b, rows) : 1;
  if (claimed && !(norm(r, rows) <= slack * c->tolerance * scale + (c->fault == NoTolerance ? 1e-14 * scale : 0)))
    return "said to have converged, and has not";
  if (claimed && !isVector(c, r)) return "the residual vector is another one";
  return NULL;
}

static int runCase(int number, int verbose) {
  Case c;
  chooseCase(&c, number);
  makeVectors(&c);
  makeSolver(&c);
  HYPRE_ClearAllErrors();
  spoil(&c);
  gather(c.x, c.system.rows, c.guess);
  if (verbose) describe(&c, "begins");
  solveCase(&c);
  const char* const wrong = judge(&c);
  if (wrong != NULL) describe(&c, wrong);
  if (wrong == NULL && verbose) describe(&c, "well");
  if (c.fault != AfterDestroy) c.family->destroy(c.solver);
  if (c.amg != NULL) HYPRE_BoomerAMGDestroy(c.amg);
  if (m.inner != NULL) HYPRE_ParCSRGMRESDestroy(m.inner);
  HYPRE_IJVectorDestroy(c.b);
  HYPRE_IJVectorDestroy(c.x);
  HYPRE_IJVectorDestroy(c.misfit);
  HYPRE_IJMatrixDestroy(c.system.matrix);
  HYPRE_IJMatrixDestroy(c.other.matrix);
  HYPRE_ClearAllErrors();
  return wrong != NULL;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#if defined(HYPRE_RELEASE_NUMBER) && HYPRE_RELEASE_NUMBER >= 22900
  HYPRE_Initialize();
#endif
  const int first = argc > 3 ? atoi(argv[2]) : 0, end = argc > 3 ? atoi(argv[3]) : 0;
  int wrong = 0;
  for (int number = first; number < end; ++number) {
    state = (unsigned)atoi(argv[1]) * 1000003u + (unsigned)number * 7919u;
    wrong += runCase(number, argc > 4);
  }
  if (rank == 0) printf("%d cases, %d wrong\n", end - first, wrong);
  MPI_Finalize();
  return wrong > 0;
}
