// libcapstanHypre.so: preloaded, it stands before the Krylov solvers of hypre's ParCSR interface,
//
//     CAPSTAN_OPTIONS='redirect: {hypre_pcg: capstan_cg}' LD_PRELOAD=libcapstanHypre.so ./application
//
// A solver that is redirected solves by Capstan's method, with the tolerance, limits, restart length and preconditioner
// that hypre's object has been told; its getters answer for it. All else is hypre's, as it was. It knows capstan.h and
// hypre alone.
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <HYPRE_parcsr_mv.h>
#include <_hypre_parcsr_mv.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "adapters/c/capstan.h"
#include "adapters/c/told_limits.hpp"

// Exported, but declared by newer headers alone.
extern "C" {
HYPRE_Int HYPRE_PCGGetAbsoluteTol(HYPRE_Solver solver, HYPRE_Real* tolerance);
HYPRE_Int HYPRE_GMRESGetAbsoluteTol(HYPRE_Solver solver, HYPRE_Real* tolerance);
HYPRE_Int HYPRE_FlexGMRESGetAbsoluteTol(HYPRE_Solver solver, HYPRE_Real* tolerance);
HYPRE_Int HYPRE_LGMRESGetAbsoluteTol(HYPRE_Solver solver, HYPRE_Real* tolerance);
HYPRE_Int HYPRE_COGMRESGetAbsoluteTol(HYPRE_Solver solver, HYPRE_Real* tolerance);
HYPRE_Int HYPRE_PCGGetStopCrit(HYPRE_Solver solver, HYPRE_Int* criterion);
HYPRE_Int HYPRE_GMRESGetStopCrit(HYPRE_Solver solver, HYPRE_Int* criterion);
HYPRE_Int HYPRE_GMRESGetRelChange(HYPRE_Solver solver, HYPRE_Int* change);
}

static_assert(sizeof(HYPRE_Int) == sizeof(int) && std::is_same_v<HYPRE_Complex, double>,
              "libcapstanHypre serves hypre with 32 bit integers, real numbers and double precision");

namespace {

/// What hypre has been told of a solver that it does not tell in turn, and how its last solve went, if by Capstan.
struct Record {
  std::string family;  ///< in hypre's spelling
  HYPRE_PtrToSolverFcn precondition = nullptr;
  HYPRE_Solver preconditioner = nullptr;
  double tolerance = 1e-6, absoluteTolerance = 0;  ///< of BiCGSTAB alone, as is the limit: others are asked
  int maxIterations = 1000;

  capstan_solver* solver = nullptr;
  std::string text;  ///< of that solver
  MPI_Comm comm = MPI_COMM_NULL;
  long long rows = -1;
  bool hasPreconditioner = false;
  capstan::c::ToldLimits limits;        ///< of that solver
  HYPRE_ParCSRMatrix matrix = nullptr;  ///< of the solve under way
  HYPRE_IJVector in = nullptr, out = nullptr;

  bool bySolve = false;  ///< the getters speak of a solve of Capstan's
  capstan_outcome outcome{};
};

std::map<HYPRE_Solver, Record>& records() {
  static auto* const all = new std::map<HYPRE_Solver, Record>;
  return *all;
}

Record* recordOf(HYPRE_Solver solver) {
  const auto found = records().find(solver);
  return found == records().end() ? nullptr : &found->second;
}

template <class Function>
Function* hypres(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::fprintf(stderr, "Capstan: this program has no function %s of hypre\n", name);
  return reinterpret_cast<Function*>(found);
}

HYPRE_ParVector vectorOf(HYPRE_IJVector vector) {
  void* object = nullptr;
  HYPRE_IJVectorGetObject(vector, &object);
  return static_cast<HYPRE_ParVector>(object);
}
double* dataOf(HYPRE_ParVector vector) { return hypre_VectorData(hypre_ParVectorLocalVector(vector)); }

/// A x or M^-1 x, in record.out. Returns 0, or hypre's error.
int act(Record& record, bool product, const double* x) {
  const HYPRE_ParVector in = vectorOf(record.in), out = vectorOf(record.out);
  std::copy_n(x, record.rows, dataOf(in));
  if (product) return static_cast<int>(HYPRE_ParCSRMatrixMatvec(1.0, record.matrix, in, 0.0, out));
  HYPRE_ParVectorSetConstantValues(out, 0.0);
  const HYPRE_Int failed = record.precondition(record.preconditioner, reinterpret_cast<HYPRE_Matrix>(record.matrix),
                                               reinterpret_cast<HYPRE_Vector>(in), reinterpret_cast<HYPRE_Vector>(out));
  // A preconditioner that stops at a limit of its own says so: that is what it is to do.
  HYPRE_ClearError(HYPRE_ERROR_CONV);
  return static_cast<int>(failed & ~HYPRE_ERROR_CONV);
}
int actInto(void* context, bool product, const double* x, double* y) {
  auto& record = *static_cast<Record*>(context);
  const int failed = act(record, product, x);
  std::copy_n(dataOf(vectorOf(record.out)), record.rows, y);
  return failed;
}
int multiply(void* record, const double* x, double* y) { return actInto(record, true, x, y); }
int precondition(void* record, const double* r, double* z) { return actInto(record, false, r, z); }

/// (r, M^-1 r), this rank's part.
int energyPart(void* context, const double* r, double* part) {
  auto& record = *static_cast<Record*>(context);
  const int failed = act(record, false, r);
  *part = std::inner_product(r, r + record.rows, dataOf(vectorOf(record.out)), 0.0);
  return failed;
}

void forget(Record& record) {
  capstan_destroy(&record.solver);
  for (auto* vector : {&record.in, &record.out}) {
    if (*vector != nullptr) HYPRE_IJVectorDestroy(*vector);
    *vector = nullptr;
  }
  record.text.clear();
  record.limits = {};
}

/// Says on one rank why hypre goes on by itself, once for each reason.
void tell(MPI_Comm comm, const std::string& text) {
  static auto* const told = new std::set<std::string>;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (told->insert(text).second && rank == 0) std::fprintf(stderr, "Capstan: %s\n", text.c_str());
}

/// What hypre's object says of itself.
struct Settings {
  double tolerance = 0, absoluteTolerance = 0;
  int maxIterations = 0, restart = 0;
  bool energy = false;  ///< the norm is that of M^-1, as PCG has it by default
  std::string unlike;   ///< what Capstan does not do as asked; empty: all is well
};

/// The limits that each family but BiCGSTAB tells.
#define CAPSTAN_READ(x)                                    \
  HYPRE_##x##GetTol(solver, &s.tolerance);                 \
  HYPRE_##x##GetAbsoluteTol(solver, &s.absoluteTolerance); \
  HYPRE_##x##GetMaxIter(solver, &s.maxIterations)
#define CAPSTAN_READ_GMRES(x)             \
  CAPSTAN_READ(x);                        \
  HYPRE_##x##GetKDim(solver, &s.restart); \
  HYPRE_##x##GetMinIter(solver, &least)

Settings settingsOf(HYPRE_Solver solver, const Record& record) {
  Settings s;
  HYPRE_Int least = 0, relativeChange = 0, criterion = 0, twoNorm = 1;
  if (record.family == "PCG") {
    CAPSTAN_READ(PCG);
    HYPRE_PCGGetTwoNorm(solver, &twoNorm);
    HYPRE_PCGGetRelChange(solver, &relativeChange);
    HYPRE_PCGGetStopCrit(solver, &criterion);
  } else if (record.family == "GMRES") {
    CAPSTAN_READ_GMRES(GMRES);
    HYPRE_GMRESGetRelChange(solver, &relativeChange);
    HYPRE_GMRESGetStopCrit(solver, &criterion);
  } else if (record.family == "FlexGMRES") {
    CAPSTAN_READ_GMRES(FlexGMRES);
  } else if (record.family == "LGMRES") {
    CAPSTAN_READ_GMRES(LGMRES);
  } else if (record.family == "COGMRES") {
    CAPSTAN_READ_GMRES(COGMRES);
  } else {
    s.tolerance = record.tolerance;
    s.absoluteTolerance = record.absoluteTolerance;
    s.maxIterations = record.maxIterations;
  }
  s.energy = twoNorm == 0 && record.precondition != nullptr;
  if (least > 0) s.unlike = "a least number of iterations is asked for";
  if (relativeChange != 0) s.unlike = "the relative change decides, too";
  if (criterion != 0) s.unlike = "the stop criterion is another one";
  return s;
}

/// Asked before each solve: what is found out is kept.
bool takes(const std::string& method, const std::string& parameter) {
  static auto* const known = new std::map<std::pair<std::string, std::string>, bool>;
  const auto [at, isNew] = known->emplace(std::pair(method, parameter), false);
  if (!isNew) return at->second;
  capstan_row row{};
  row.size = sizeof row;
  for (int i = 0; capstan_parameter_row(method.c_str(), i, &row) == CAPSTAN_SUCCESS; ++i) {
    if (parameter == row.name) at->second = true;
  }
  return at->second;
}

std::string textOf(const std::string& method, const Record& record, const Settings& settings) {
  std::string parameters =
      std::string("Residual Scaling: ") + (settings.energy ? "None" : "Norm of RHS") + ", Verbosity: 0";
  if (record.family == "FlexGMRES" && takes(method, "Flexible Gmres")) parameters += ", Flexible Gmres: yes";
  if (settings.restart > 0 && takes(method, "Num Blocks"))
    parameters += ", Num Blocks: " + std::to_string(settings.restart);
  return "{method: " + method + ", parameters: {" + parameters + "}}";
}

HYPRE_IJVector workVector(MPI_Comm comm, HYPRE_BigInt first, HYPRE_BigInt last) {
  HYPRE_IJVector vector = nullptr;
  HYPRE_IJVectorCreate(comm, first, last, &vector);
  HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(vector);
  HYPRE_IJVectorAssemble(vector);
  return vector;
}

/// Returns the status of the last call of Capstan's.
int takeSolver(Record& record, const std::string& text, bool energy, MPI_Comm comm, HYPRE_BigInt first,
               HYPRE_BigInt last) {
  const auto rows = static_cast<long long>(last) - first + 1;
  const bool has = record.precondition != nullptr;
  if (record.solver != nullptr && record.text == text && record.comm == comm && record.rows == rows &&
      record.hasPreconditioner == has) {
    return CAPSTAN_SUCCESS;
  }
  forget(record);
  int status = capstan_create(comm, text.c_str(), &record.solver);
  if (status == CAPSTAN_SUCCESS) status = capstan_set_operator(record.solver, rows, multiply, &record);
  if (status == CAPSTAN_SUCCESS && has) status = capstan_set_preconditioner(record.solver, precondition, &record);
  if (status == CAPSTAN_SUCCESS && energy) status = capstan_set_norm(record.solver, energyPart, 2, &record);
  if (status != CAPSTAN_SUCCESS) return status;
  record.in = workVector(comm, first, last);
  record.out = workVector(comm, first, last);
  record.text = text;
  record.comm = comm;
  record.rows = rows;
  record.hasPreconditioner = has;
  return CAPSTAN_SUCCESS;
}

/// sqrt((b, M^-1 b)), as hypre measures residuals over it; 0 where M is not positive.
double energyOf(Record& record, HYPRE_ParVector b) {
  double sum = 0;
  if (energyPart(&record, dataOf(b), &sum) != 0) sum = 0;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, record.comm);
  return sum > 0 ? std::sqrt(sum) : 0;
}

HYPRE_Int solveByCapstan(Record& record, Settings settings, HYPRE_ParVector b, HYPRE_ParVector x) {
  record.outcome = capstan_outcome{};
  record.outcome.size = sizeof record.outcome;
  const double scale = settings.energy ? energyOf(record, b) : 1;
  if (settings.energy) {
    settings.tolerance = std::max(settings.tolerance * scale, settings.absoluteTolerance);
    settings.absoluteTolerance = 0;
  }
  int status =
      record.limits.tell(record.solver, settings.tolerance, settings.absoluteTolerance, settings.maxIterations);
  if (status == CAPSTAN_SUCCESS) status = capstan_solve(record.solver, dataOf(b), dataOf(x), &record.outcome);
  record.bySolve = true;
  if (scale > 0) record.outcome.residual /= scale;
  if (status != CAPSTAN_SUCCESS) {
    tell(record.comm, capstan_error_text(record.solver));
    hypre_error(HYPRE_ERROR_GENERIC);
  } else if (record.outcome.converged == 0) {
    hypre_error(HYPRE_ERROR_CONV);
  }
  return HYPRE_GetError();
}

std::string nameOf(const Record& record) {
  std::string name = "hypre_" + record.family;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

/// Makes ready what Capstan is to solve by, and returns its settings; nothing where hypre is to go on by itself, which
/// is told unless nobody has asked for anything else. Collective: options and settings are the same on all ranks.
std::optional<Settings> takeOver(HYPRE_Solver solver, Record& record, HYPRE_ParCSRMatrix a) {
  const std::string name = nameOf(record);
  MPI_Comm comm = MPI_COMM_NULL;
  HYPRE_ParCSRMatrixGetComm(a, &comm);
  const char* method = nullptr;
  if (capstan_redirected(name.c_str(), &method) != CAPSTAN_SUCCESS) {
    tell(comm, name + " is left to hypre: " + capstan_error_text(nullptr));
    return std::nullopt;
  }
  if (method == nullptr) return std::nullopt;
  const Settings settings = settingsOf(solver, record);
  if (!settings.unlike.empty()) {
    tell(comm, name + " is left to hypre: " + settings.unlike);
    return std::nullopt;
  }
  HYPRE_BigInt first = 0, last = 0, firstColumn = 0, lastColumn = 0;
  HYPRE_ParCSRMatrixGetLocalRange(a, &first, &last, &firstColumn, &lastColumn);
  record.matrix = a;
  if (takeSolver(record, textOf(method, record, settings), settings.energy, comm, first, last) == CAPSTAN_SUCCESS)
    return settings;
  tell(comm, name + " is left to hypre: " + capstan_error_text(record.solver));
  return std::nullopt;
}

/// Solves by Capstan where the options say so; else by hypre.
template <class Own>
HYPRE_Int solve(HYPRE_Solver solver, HYPRE_ParCSRMatrix a, HYPRE_ParVector b, HYPRE_ParVector x, const Own& own) {
  Record* const record = recordOf(solver);
  if (record == nullptr) return own();  // of another interface of hypre
  record->bySolve = false;
  const auto settings = takeOver(solver, *record, a);
  return settings ? solveByCapstan(*record, *settings, b, x) : own();
}

void remember(HYPRE_Solver solver, HYPRE_PtrToSolverFcn function, HYPRE_Solver preconditioner) {
  Record* const record = recordOf(solver);
  if (record == nullptr) return;
  record->precondition = function;
  record->preconditioner = preconditioner;
}

/// Answers a getter for a solve of Capstan's; false: hypre has solved.
template <class Value, class Found>
bool answers(HYPRE_Solver solver, Value* value, const Found& found) {
  const Record* const record = recordOf(solver);
  if (record == nullptr || !record->bySolve) return false;
  *value = static_cast<Value>(found(record->outcome));
  return true;
}
template <class Value>
bool iterations(HYPRE_Solver solver, Value* value) {
  return answers(solver, value, [](const capstan_outcome& of) { return of.iterations; });
}
bool residual(HYPRE_Solver solver, HYPRE_Real* value) {
  return answers(solver, value, [](const capstan_outcome& of) { return of.residual; });
}
template <class Value>
bool converged(HYPRE_Solver solver, Value* value) {
  return answers(solver, value, [](const capstan_outcome& of) { return of.converged; });
}

}  // namespace

// hypre's functions, which these stand before. HYPRE_ParCSRxSolve calls HYPRE_xSolve in hypre: both are met.
#define CAPSTAN_EXPORT extern "C" __attribute__((visibility("default")))
#define CAPSTAN_HYPRES(name) hypres<decltype(name)>(#name)

// NOLINTBEGIN(bugprone-macro-parentheses)
#define CAPSTAN_GETTERS(x)                                                                             \
  CAPSTAN_EXPORT HYPRE_Int x##GetNumIterations(HYPRE_Solver solver, HYPRE_Int* n) {                    \
    return iterations(solver, n) ? 0 : CAPSTAN_HYPRES(x##GetNumIterations)(solver, n);                 \
  }                                                                                                    \
  CAPSTAN_EXPORT HYPRE_Int x##GetFinalRelativeResidualNorm(HYPRE_Solver solver, HYPRE_Real* norm) {    \
    return residual(solver, norm) ? 0 : CAPSTAN_HYPRES(x##GetFinalRelativeResidualNorm)(solver, norm); \
  }
#define CAPSTAN_FAMILY(x)                                                                                          \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_ParCSR##x##Create(MPI_Comm comm, HYPRE_Solver* solver) {                          \
    const HYPRE_Int status = CAPSTAN_HYPRES(HYPRE_ParCSR##x##Create)(comm, solver);                                \
    if (solver != nullptr && *solver != nullptr) records()[*solver].family = #x;                                   \
    return status;                                                                                                 \
  }                                                                                                                \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_ParCSR##x##Destroy(HYPRE_Solver solver) {                                         \
    if (Record* const record = recordOf(solver)) forget(*record);                                                  \
    records().erase(solver);                                                                                       \
    return CAPSTAN_HYPRES(HYPRE_ParCSR##x##Destroy)(solver);                                                       \
  }                                                                                                                \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_##x##SetPrecond(HYPRE_Solver solver, HYPRE_PtrToSolverFcn function,               \
                                                 HYPRE_PtrToSolverFcn setup, HYPRE_Solver own) {                   \
    remember(solver, function, own);                                                                               \
    return CAPSTAN_HYPRES(HYPRE_##x##SetPrecond)(solver, function, setup, own);                                    \
  }                                                                                                                \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_ParCSR##x##SetPrecond(HYPRE_Solver solver, HYPRE_PtrToParSolverFcn function,      \
                                                       HYPRE_PtrToParSolverFcn setup, HYPRE_Solver own) {          \
    remember(solver, reinterpret_cast<HYPRE_PtrToSolverFcn>(function), own);                                       \
    return CAPSTAN_HYPRES(HYPRE_ParCSR##x##SetPrecond)(solver, function, setup, own);                              \
  }                                                                                                                \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_##x##Solve(HYPRE_Solver solver, HYPRE_Matrix a, HYPRE_Vector b, HYPRE_Vector s) { \
    return solve(solver, reinterpret_cast<HYPRE_ParCSRMatrix>(a), reinterpret_cast<HYPRE_ParVector>(b),            \
                 reinterpret_cast<HYPRE_ParVector>(s),                                                             \
                 [&] { return CAPSTAN_HYPRES(HYPRE_##x##Solve)(solver, a, b, s); });                               \
  }                                                                                                                \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_ParCSR##x##Solve(HYPRE_Solver solver, HYPRE_ParCSRMatrix a, HYPRE_ParVector b,    \
                                                  HYPRE_ParVector s) {                                             \
    return solve(solver, a, b, s, [&] { return CAPSTAN_HYPRES(HYPRE_ParCSR##x##Solve)(solver, a, b, s); });        \
  }                                                                                                                \
  CAPSTAN_GETTERS(HYPRE_##x)                                                                                       \
  CAPSTAN_GETTERS(HYPRE_ParCSR##x)
#define CAPSTAN_CONVERGED(x)                                                                  \
  CAPSTAN_EXPORT HYPRE_Int HYPRE_##x##GetConverged(HYPRE_Solver solver, HYPRE_Int* yes) {     \
    return converged(solver, yes) ? 0 : CAPSTAN_HYPRES(HYPRE_##x##GetConverged)(solver, yes); \
  }
// BiCGSTAB tells nobody what it has been told.
#define CAPSTAN_SETTER(x, Value, member)                                 \
  CAPSTAN_EXPORT HYPRE_Int x(HYPRE_Solver solver, Value value) {         \
    if (Record* const record = recordOf(solver)) record->member = value; \
    return CAPSTAN_HYPRES(x)(solver, value);                             \
  }

CAPSTAN_FAMILY(PCG)
CAPSTAN_FAMILY(GMRES)
CAPSTAN_FAMILY(FlexGMRES)
CAPSTAN_FAMILY(LGMRES)
CAPSTAN_FAMILY(COGMRES)
CAPSTAN_FAMILY(BiCGSTAB)
CAPSTAN_CONVERGED(PCG)
CAPSTAN_CONVERGED(GMRES)
CAPSTAN_CONVERGED(FlexGMRES)
CAPSTAN_CONVERGED(LGMRES)
CAPSTAN_CONVERGED(COGMRES)
CAPSTAN_SETTER(HYPRE_BiCGSTABSetTol, HYPRE_Real, tolerance)
CAPSTAN_SETTER(HYPRE_BiCGSTABSetAbsoluteTol, HYPRE_Real, absoluteTolerance)
CAPSTAN_SETTER(HYPRE_BiCGSTABSetMaxIter, HYPRE_Int, maxIterations)
CAPSTAN_SETTER(HYPRE_ParCSRBiCGSTABSetTol, HYPRE_Real, tolerance)
CAPSTAN_SETTER(HYPRE_ParCSRBiCGSTABSetAbsoluteTol, HYPRE_Real, absoluteTolerance)
CAPSTAN_SETTER(HYPRE_ParCSRBiCGSTABSetMaxIter, HYPRE_Int, maxIterations)
// NOLINTEND(bugprone-macro-parentheses)
