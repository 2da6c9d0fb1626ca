// libcapstanPetsc.so: Capstan's methods as types of PETSc's KSP, for programs that load the library by an option,
//
//     -dll_append libcapstanPetsc.so -ksp_type capstan_sstep_gmres
//
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "adapters/petsc/ksp_context.hpp"

static_assert(std::is_same_v<PetscScalar, double>, "Capstan solves systems of real numbers in double precision");

#if PETSC_VERSION_LT(3, 23, 0)
using OptionItems = PetscOptionItems*;
#else
using OptionItems = PetscOptionItems;
#endif

namespace capstan::petsc {
namespace {

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

PetscErrorCode setFromOptions(KSP ksp, OptionItems PetscOptionsObject) {
  PetscFunctionBegin;
  Context& context = contextOf(ksp);
  PetscOptionsHeadBegin(PetscOptionsObject, "Capstan");
  std::array<char, PETSC_MAX_PATH_LEN> value{};
  for (auto& setting : context.settings) {
    PetscBool given = PETSC_FALSE;
    PetscCall(PetscOptionsString(setting.option.c_str(), setting.summary.c_str(), "Capstan's docs/parameters.md",
                                 setting.value.c_str(), value.data(), value.size(), &given));
    if (given) {
      PetscCheck(std::strlen(value.data()) + 1 < value.size(), commOf(ksp), PETSC_ERR_USER_INPUT,
                 "%s: the value is too long", setting.option.c_str());
      setting.value = value[0] == '\0' ? "true" : value.data();  // an option alone is a switch, as PETSc's are
    }
    if (setting.key != "Num Blocks") continue;
    PetscInt restart = 30;
    PetscCall(PetscOptionsInt("-ksp_gmres_restart", "the same, as PETSc's GMRES has it", "KSPGMRESSetRestart", restart,
                              &restart, &given));
    if (given) setting.value = std::to_string(restart);
  }
  PetscBool copies = context.copies ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscOptionsBool("-ksp_capstan_copy_entries",
                             "products by Capstan, with a copy of an AIJ matrix, after the first solve",
                             "Capstan's docs/petsc.md", copies, &copies, nullptr));
  context.copies = copies == PETSC_TRUE;
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

PetscErrorCode destroy(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(forget(ksp));
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
  ksp->ops->reset = forget;
  ksp->ops->destroy = destroy;
  ksp->ops->view = view;
  ksp->ops->setfromoptions = setFromOptions;
  ksp->ops->buildsolution = buildSolution;
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

}  // namespace capstan::petsc

/// What PETSc calls where it has loaded the library by -dll_append.
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_capstanPetsc(void) {
  PetscFunctionBegin;
  PetscCall(KSPInitializePackage());
  capstan_row row{};
  row.size = sizeof row;
  int methods = 0;
  for (; capstan_method_row(methods, &row) == CAPSTAN_SUCCESS; ++methods) {
    PetscCheck(methods < static_cast<int>(capstan::petsc::createEach.size()), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "more methods than expected");
    PetscCall(KSPRegister(row.alias, capstan::petsc::createEach[static_cast<std::size_t>(methods)]));
  }
  PetscFunctionReturn(PetscErrorCode(0));
}
