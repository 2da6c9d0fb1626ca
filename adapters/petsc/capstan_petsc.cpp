// libcapstanPetsc.so: Capstan's methods as types of PETSc's KSP, for programs that load the library by an option,
//
//     -dll_append libcapstanPetsc.so -ksp_type capstan_sstep_gmres
//
// It knows capstan.h and PETSc alone. A is what KSP_MatMult does, M what KSP_PCApply does; both work on arrays of a
// rank's rows.
#include <petsc/private/kspimpl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "adapters/c/capstan.h"
#include "adapters/c/told_limits.hpp"

static_assert(std::is_same_v<PetscScalar, double>, "Capstan solves systems of real numbers in double precision");

#if PETSC_VERSION_LT(3, 23, 0)
using OptionItems = PetscOptionItems*;
#else
using OptionItems = PetscOptionItems;
#endif

namespace {

/// A key of Capstan's, and its value as YAML has it; empty: not given.
struct Setting {
  std::string key, option, summary, value;
};

/// The data of a KSP.
struct Context {
  std::string method;
  std::vector<Setting> settings;
  bool relativeToGuess = false;  ///< residuals are measured over the first one, not over b
  capstan_solver* solver = nullptr;
  std::string text;               ///< of that solver
  capstan::c::ToldLimits limits;  ///< of that solver
  int symmetric = -1;             ///< as it has been told
  PetscInt rows = -1;
  bool hasPreconditioner = false;
  PetscErrorCode failure{};
  PetscInt told = -1;  ///< the iteration that monitors have seen
  PetscReal norm0 = 0;
};

Context& contextOf(KSP ksp) { return *static_cast<Context*>(ksp->data); }

/// PETSc says these itself: tolerances, limits, norms; and what is printed.
bool isPetscs(const std::string& key) {
  static const std::array<const char*, 9> names{"Convergence Tolerance",
                                                "Absolute Tolerance",
                                                "Maximum Iterations",
                                                "Residual Scaling",
                                                "Implicit Residual Scaling",
                                                "Explicit Residual Scaling",
                                                "User Defined Residual Scaling",
                                                "Residual Norm",
                                                "Initial Residual"};
  return std::find(names.begin(), names.end(), key) != names.end();
}

std::string optionOf(const std::string& key) {
  std::string option = "-ksp_capstan_";
  for (const char letter : key) {
    const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    option += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? lower : '_';
  }
  return option;
}

/// A value of an option, in a line of YAML: what would mean something there is quoted.
std::string scalarOf(const std::string& value) {
  if (value.find_first_of("{}[],:#\"'\\\n&*!|>%@`") == std::string::npos) return value;
  std::string quoted = "\"";
  for (const char letter : value) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + '"';
}

std::string textOf(const Context& context) {
  std::string parameters =
      std::string("Residual Scaling: ") + (context.relativeToGuess ? "Norm of Initial Residual" : "Norm of RHS");
  bool says = false;
  for (const auto& setting : context.settings) {
    if (setting.value.empty()) continue;
    says = says || setting.key == "Verbosity";
    parameters += ", " + setting.key + ": " + scalarOf(setting.value);
  }
  if (!says) parameters += ", Verbosity: 0";  // PETSc has monitors and -ksp_converged_reason
  return "{method: " + context.method + ", parameters: {" + parameters + "}}";
}

/// An error of Capstan's as one of PETSc's, with its text.
PetscErrorCode check(KSP ksp, int status, const capstan_solver* solver) {
  PetscFunctionBegin;
  if (status == CAPSTAN_SUCCESS) PetscFunctionReturn(PetscErrorCode(0));
  const bool input = status == CAPSTAN_ERROR_INPUT || status == CAPSTAN_ERROR_ARGUMENT;
  SETERRQ(PetscObjectComm(reinterpret_cast<PetscObject>(ksp)), input ? PETSC_ERR_USER_INPUT : PETSC_ERR_LIB,
          "Capstan: %s", capstan_error_text(solver));
}

PetscErrorCode act(KSP ksp, bool product, const double* x, double* y) {
  PetscFunctionBegin;
  static double none = 0;  // arrays of no rows may be NULL
  const Vec in = ksp->work[0], out = ksp->work[1];
  PetscCall(VecPlaceArray(in, x == nullptr ? &none : x));
  PetscCall(VecPlaceArray(out, y == nullptr ? &none : y));
  if (product) {
    Mat a = nullptr;
    PetscCall(PCGetOperators(ksp->pc, &a, nullptr));
    PetscCall(KSP_MatMult(ksp, a, in, out));
  } else {
    PetscCall(KSP_PCApply(ksp, in, out));
  }
  PetscCall(VecResetArray(in));
  PetscCall(VecResetArray(out));
  PetscFunctionReturn(PetscErrorCode(0));
}

int note(void* ksp, PetscErrorCode failure) {
  if (failure != 0) contextOf(static_cast<KSP>(ksp)).failure = failure;
  return failure != 0 ? 1 : 0;
}
int multiply(void* ksp, const double* x, double* y) { return note(ksp, act(static_cast<KSP>(ksp), true, x, y)); }
int precondition(void* ksp, const double* r, double* z) { return note(ksp, act(static_cast<KSP>(ksp), false, r, z)); }

bool testsByDefault(KSP ksp) { return ksp->converged == KSPConvergedDefault; }

/// Monitors, the residual history, and what ends a solve that Capstan knows nothing of: divtol, and a test of the
/// application's own.
PetscErrorCode watch(KSP ksp, PetscInt iteration, PetscReal norm) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  if (iteration == context.told) PetscFunctionReturn(PetscErrorCode(0));
  if (context.told < 0) context.norm0 = norm;
  context.told = iteration;
  ksp->its = iteration;
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, iteration, norm));
  if (ksp->normtype == KSP_NORM_NONE) PetscFunctionReturn(PetscErrorCode(0));
  if (!testsByDefault(ksp)) {
    PetscCall((*ksp->converged)(ksp, iteration, norm, &ksp->reason, ksp->cnvP));
  } else if (ksp->divtol > 0 && norm >= ksp->divtol * context.norm0 && context.norm0 > 0) {
    ksp->reason = KSP_DIVERGED_DTOL;
  }
  PetscFunctionReturn(PetscErrorCode(0));
}
int test(void* object, int iteration, const double* residuals, int /*columns*/) {
  const auto ksp = static_cast<KSP>(object);
  return note(object, watch(ksp, iteration, residuals[0])) != 0 || ksp->reason != KSP_CONVERGED_ITERATING ? 1 : 0;
}

/// A solver for the settings, rows and preconditioner as they are now.
PetscErrorCode takeSolver(KSP ksp) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  PetscInt rows = 0;
  PetscCall(VecGetLocalSize(ksp->vec_rhs, &rows));
  PetscBool none = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(ksp->pc), PCNONE, &none));
  context.relativeToGuess = testsByDefault(ksp) && static_cast<KSPConvergedDefaultCtx*>(ksp->cnvP)->initialrtol;
  const std::string text = textOf(context);
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  if (context.solver != nullptr && text == context.text && rows == context.rows && context.hasPreconditioner == !none) {
    PetscFunctionReturn(PetscErrorCode(0));
  }
  capstan_destroy(&context.solver);
  PetscCall(check(ksp, capstan_create(comm, text.c_str(), &context.solver), nullptr));
  PetscCall(check(ksp, capstan_set_operator(context.solver, rows, multiply, ksp), context.solver));
  if (!none) PetscCall(check(ksp, capstan_set_preconditioner(context.solver, precondition, ksp), context.solver));
  PetscCall(check(ksp, capstan_set_test(context.solver, test, ksp), context.solver));
  context.text = text;
  context.rows = rows;
  context.hasPreconditioner = !none;
  context.limits = {};
  context.symmetric = -1;
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode setUp(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(KSPSetWorkVecs(ksp, 2));
  PetscFunctionReturn(PetscErrorCode(0));
}

/// What PETSc knows of the matrix, as the program has set it: nothing is computed.
PetscErrorCode tellSymmetry(KSP ksp) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  Mat a = nullptr;
  PetscBool known = PETSC_FALSE, symmetric = PETSC_FALSE;
  PetscCall(PCGetOperators(ksp->pc, &a, nullptr));
  PetscCall(MatIsSymmetricKnown(a, &known, &symmetric));
  const int now = known ? (symmetric ? 1 : 0) : -1;
  if (now == context.symmetric) PetscFunctionReturn(PetscErrorCode(0));
  PetscCall(check(ksp, capstan_set_symmetric(context.solver, now), context.solver));
  context.symmetric = now;
  PetscFunctionReturn(PetscErrorCode(0));
}

/// A test of the application's own, or none, has the last word: the tolerance is one that nothing meets.
PetscErrorCode takeLimits(KSP ksp) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  const bool tolerances = testsByDefault(ksp) && ksp->normtype != KSP_NORM_NONE;
  const PetscReal relative = tolerances ? ksp->rtol : 0, absolute = tolerances ? ksp->abstol : 0;
  const auto limit = static_cast<int>(std::min<PetscInt>(ksp->max_it, PETSC_MAX_INT / 2));
  PetscCall(check(ksp, context.limits.tell(context.solver, relative, absolute, limit), context.solver));
  PetscFunctionReturn(PetscErrorCode(0));
}

KSPConvergedReason reasonOf(KSP ksp, const capstan_outcome& outcome) {
  switch (outcome.reason) {
    case CAPSTAN_CONVERGED:
      return ksp->rnorm <= ksp->abstol ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
    case CAPSTAN_MAX_ITERATIONS:
    case CAPSTAN_MAX_RESTARTS:
      return ksp->normtype == KSP_NORM_NONE ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS;
    case CAPSTAN_NON_FINITE:
      return KSP_DIVERGED_NANORINF;
    default:
      return KSP_DIVERGED_BREAKDOWN;
  }
}

PetscErrorCode solve(KSP ksp) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  PetscCheck(!ksp->transpose_solve, PetscObjectComm(reinterpret_cast<PetscObject>(ksp)), PETSC_ERR_SUP,
             "Capstan's methods solve no transposed systems");
  PetscCall(takeSolver(ksp));
  PetscCall(takeLimits(ksp));
  PetscCall(tellSymmetry(ksp));
  const PetscScalar* b = nullptr;
  PetscScalar* x = nullptr;
  PetscCall(VecGetArrayRead(ksp->vec_rhs, &b));
  PetscCall(VecGetArray(ksp->vec_sol, &x));
  ksp->reason = KSP_CONVERGED_ITERATING;
  ksp->its = 0;
  context.failure = PetscErrorCode(0);
  context.told = -1;
  capstan_outcome outcome{};
  outcome.size = sizeof outcome;
  const int status = capstan_solve(context.solver, b, x, &outcome);
  PetscCall(VecRestoreArray(ksp->vec_sol, &x));
  PetscCall(VecRestoreArrayRead(ksp->vec_rhs, &b));
  if (context.failure != 0) PetscCall(context.failure);
  PetscCall(check(ksp, status, context.solver));
  ksp->its = outcome.iterations;
  ksp->rnorm = outcome.residual * outcome.scale;
  if (ksp->reason == KSP_CONVERGED_ITERATING) {
    PCFailedReason failed = PC_NOERROR;
    PetscCall(PCGetFailedReason(ksp->pc, &failed));
    ksp->reason = outcome.converged == 0 && failed != PC_NOERROR ? KSP_DIVERGED_PC_FAILED : reasonOf(ksp, outcome);
  }
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode setFromOptions(KSP ksp, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  PetscOptionsHeadBegin(PetscOptionsObject, "Capstan");
  std::array<char, 256> value{};
  for (auto& setting : context.settings) {
    PetscBool given = PETSC_FALSE;
    PetscCall(PetscOptionsString(setting.option.c_str(), setting.summary.c_str(), "Capstan's docs/parameters.md",
                                 setting.value.c_str(), value.data(), value.size(), &given));
    if (given) setting.value = value.data();
    if (setting.key != "Num Blocks") continue;
    PetscInt restart = 30;
    PetscCall(PetscOptionsInt("-ksp_gmres_restart", "the same, as PETSc's GMRES has it", "KSPGMRESSetRestart", restart,
                              &restart, &given));
    if (given) setting.value = std::to_string(restart);
  }
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode view(KSP ksp, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscBool ascii = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PetscErrorCode(0));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  Capstan: %s\n", textOf(contextOf(ksp)).c_str()));
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode reset(KSP ksp) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  capstan_destroy(&context.solver);
  context.text.clear();
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode destroy(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(reset(ksp));
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(ksp), "KSPGMRESSetRestart_C", nullptr));
  delete static_cast<Context*>(ksp->data);
  ksp->data = nullptr;
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode setRestart(KSP ksp, PetscInt restart) {
  PetscFunctionBegin;
  for (auto& setting : contextOf(ksp).settings) {
    if (setting.key == "Num Blocks") setting.value = std::to_string(restart);
  }
  PetscFunctionReturn(PetscErrorCode(0));
}

PetscErrorCode create(KSP ksp, int method) {
  PetscFunctionBegin;
  capstan_row row{};
  row.size = sizeof row;
  PetscCall(check(ksp, capstan_method_row(method, &row), nullptr));
  auto* const context = new Context;
  ksp->data = context;
  context->method = row.alias;
  for (int i = 0; capstan_parameter_row(context->method.c_str(), i, &row) == CAPSTAN_SUCCESS; ++i) {
    if (isPetscs(row.name)) continue;
    context->settings.push_back(
        {row.name, optionOf(row.name), std::string(row.summary) + " (" + row.allowed + ")", ""});
  }
  // b - A x is tested, as with a preconditioner on the right.
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 1));
  ksp->ops->setup = setUp;
  ksp->ops->solve = solve;
  ksp->ops->reset = reset;
  ksp->ops->destroy = destroy;
  ksp->ops->view = view;
  ksp->ops->setfromoptions = setFromOptions;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(ksp), "KSPGMRESSetRestart_C", setRestart));
  PetscFunctionReturn(PetscErrorCode(0));
}

// PETSc gives create functions no name: one for each method.
template <int method>
PetscErrorCode createMethod(KSP ksp) {
  return create(ksp, method);
}
template <int... methods>
constexpr auto createFunctions(std::integer_sequence<int, methods...> /*numbers*/) {
  return std::array{&createMethod<methods>...};
}
constexpr auto createEach = createFunctions(std::make_integer_sequence<int, 32>());

}  // namespace

/// What PETSc calls where it has loaded the library by -dll_append.
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_capstanPetsc(void) {
  PetscFunctionBegin;
  PetscCall(KSPInitializePackage());
  capstan_row row{};
  row.size = sizeof row;
  int methods = 0;
  for (; capstan_method_row(methods, &row) == CAPSTAN_SUCCESS; ++methods) {
    PetscCheck(methods < static_cast<int>(createEach.size()), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "more methods than expected");
    PetscCall(KSPRegister(row.alias, createEach[static_cast<std::size_t>(methods)]));
  }
  PetscFunctionReturn(PetscErrorCode(0));
}
