#include "perf/solvers/petsc_contestants.hpp"

#include <petscksp.h>

#include <sstream>
#include <stdexcept>
#include <utility>

#include "perf/solvers/petsc_check.hpp"
#include "perf/solvers/petsc_counted.hpp"

namespace capstan::perf {
namespace {

PetscInt asPetscInt(long long value) {
  if (value > static_cast<long long>(PETSC_MAX_INT)) throw std::runtime_error("PETSc: its integers are too short");
  return static_cast<PetscInt>(value);
}

std::vector<PetscInt> asPetscInts(const std::vector<long long>& values) {
  std::vector<PetscInt> out;
  out.reserve(values.size());
  for (const long long value : values) out.push_back(asPetscInt(value));
  return out;
}

std::string asText(double value) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  return text.str();
}

class PetscContestant final : public Contestant {
 public:
  PetscContestant(const PetscMethod& method, const LocalSystem& system, const PetscOptions& options, MPI_Comm comm)
      : system_(system), options_(options), comm_(comm), method_(method) {
    description_.name = "PETSc " + method.name;
    if (method.pipelineDepth > 0) description_.name += " l=" + std::to_string(method.pipelineDepth);
    if (method.chebyshevSteps > 0) description_.name += " + chebyshev " + std::to_string(method.chebyshevSteps);
    description_.method = method.name;
    description_.library = "petsc";
    description_.group = method.group;
    description_.preconditioner = method.chebyshevSteps > 0 ? "chebyshev" : options.preconditioner;
    description_.tolerance = options.tolerance;
    description_.parameters = {{"rtol", options.tolerance}, {"max_it", options.maxIterations}};
    if (method.group == "GMRES") description_.parameters["restart"] = options.restart;
  }

  ~PetscContestant() override {
    KSPDestroy(&solver_);
    PCDestroy(&pc_);
    VecDestroy(&x_);
    VecDestroy(&b_);
    VecDestroy(&r_);
    MatDestroy(&A_);
  }
  PetscContestant(const PetscContestant&) = delete;
  PetscContestant& operator=(const PetscContestant&) = delete;

  const Description& description() const override { return description_; }

  void prepare() override {
    if (A_ == nullptr) {
      buildSystem();
      if (method_.pipelineDepth > 0) setPipeline();
    }
    // pipelcg takes the vectors that its last solve left for zero, and then needs up to half as many iterations more.
    if (method_.pipelineDepth > 0) check(KSPDestroy(&solver_), "KSPDestroy");
    if (solver_ == nullptr) {
      solver_ = newSolver(method_.name.c_str());
      check(KSPSetUp(solver_), "KSPSetUp");
    }
    setRightHandSide();
    check(VecSet(x_, 0.0), "VecSet");
  }

  Outcome solve() override {
    check(KSPSolve(solver_, b_, x_), "KSPSolve");
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    PetscInt iterations = 0;
    check(KSPGetConvergedReason(solver_, &reason), "KSPGetConvergedReason");
    check(KSPGetIterationNumber(solver_, &iterations), "KSPGetIterationNumber");
    return {reason > 0, static_cast<int>(iterations)};
  }

  double relativeResidual() override {
    PetscReal residual = 0.0;
    PetscReal scale = 0.0;
    check(MatMult(A_, x_, r_), "MatMult");
    check(VecAYPX(r_, -1.0, b_), "VecAYPX");
    check(VecNorm(r_, NORM_2, &residual), "VecNorm");
    check(VecNorm(b_, NORM_2, &scale), "VecNorm");
    return residual / scale;
  }

  /// PETSc tells no counts: the same solve again, through shells that cost time.
  std::optional<Applications> applications() override {
    PetscCounted counted(A_, pc_, comm_);
    KSP solver = newSolver(method_.name.c_str(), &counted);
    check(VecSet(x_, 0.0), "VecSet");
    const PetscErrorCode code = KSPSolve(solver, b_, x_);
    check(KSPDestroy(&solver), "KSPDestroy");
    check(code, "KSPSolve");
    return counted.applications();
  }

 private:
  void buildSystem() {
    const auto starts = asPetscInts(system_.rowStarts);
    const auto columns = asPetscInts(system_.columns);
    const PetscInt rows = static_cast<PetscInt>(starts.size()) - 1;
    const PetscInt all = asPetscInt(system_.globalRows);
    check(MatCreate(comm_, &A_), "MatCreate");
    check(MatSetSizes(A_, rows, rows, all, all), "MatSetSizes");
    check(MatSetType(A_, MATAIJ), "MatSetType");
    // The one that does not fit the matrix does nothing.
    check(MatSeqAIJSetPreallocationCSR(A_, starts.data(), columns.data(), system_.values.data()), "MatSeqAIJ");
    check(MatMPIAIJSetPreallocationCSR(A_, starts.data(), columns.data(), system_.values.data()), "MatMPIAIJ");
    check(MatCreateVecs(A_, &x_, &b_), "MatCreateVecs");
    check(VecDuplicate(b_, &r_), "VecDuplicate");
    setRightHandSide();
    // One for all solves of this contestant: multigrid takes longer to build than to solve with.
    check(PCCreate(comm_, &pc_), "PCCreate");
    check(PCSetOperators(pc_, A_, A_), "PCSetOperators");
    choosePreconditioner(pc_);
    check(PCSetUp(pc_), "PCSetUp");
  }

  void setRightHandSide() {
    PetscScalar* values = nullptr;
    check(VecGetArray(b_, &values), "VecGetArray");
    for (std::size_t i = 0; i < system_.rhs.size(); ++i) values[i] = system_.rhs[i];
    check(VecRestoreArray(b_, &values), "VecRestoreArray");
  }

  void choosePreconditioner(PC own) {
    if (options_.preconditioner == "boomeramg") {
      // Only its options reach hypre's parameters.
      const std::string prefix = "capstan_" + method_.group + "_";
      for (const auto& [name, value] : options_.boomerAmg) {
        const std::string key = "-" + prefix + "pc_hypre_boomeramg_" + name;
        check(PetscOptionsSetValue(nullptr, key.c_str(), value.c_str()), "PetscOptionsSetValue");
      }
      check(PCSetOptionsPrefix(own, prefix.c_str()), "PCSetOptionsPrefix");
      check(PCSetType(own, PCHYPRE), "PCSetType");
      check(PCHYPRESetType(own, "boomeramg"), "PCHYPRESetType");
      check(PCSetFromOptions(own), "PCSetFromOptions");
      return;
    }
    check(PCSetType(own, options_.preconditioner == "jacobi" ? PCJACOBI : PCNONE), "PCSetType");
    if (method_.chebyshevSteps == 0) return;
    check(PCSetUp(own), "PCSetUp");
    const double largest = spectrum().second;
    const double lower = options_.chebyshevLower * largest, upper = options_.chebyshevUpper * largest;
    check(PCSetType(own, PCKSP), "PCSetType");
    check(PCSetOperators(own, A_, A_), "PCSetOperators");
    check(PCSetUp(own), "PCSetUp");
    KSP inner = nullptr;
    PC innermost = nullptr;
    check(PCKSPGetKSP(own, &inner), "PCKSPGetKSP");
    check(KSPSetType(inner, KSPCHEBYSHEV), "KSPSetType");
    check(KSPChebyshevSetEigenvalues(inner, upper, lower), "KSPChebyshevSetEigenvalues");
    check(KSPSetNormType(inner, KSP_NORM_NONE), "KSPSetNormType");
    check(KSPSetTolerances(inner, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, method_.chebyshevSteps),
          "KSPSetTolerances");
    check(KSPGetPC(inner, &innermost), "KSPGetPC");
    check(PCSetType(innermost, options_.preconditioner == "jacobi" ? PCJACOBI : PCNONE), "PCSetType");
    description_.parameters["steps"] = method_.chebyshevSteps;
    description_.parameters["lmin"] = lower;
    description_.parameters["lmax"] = upper;
  }

  /// \param counted takes the place of matrix and preconditioner; null: they themselves
  KSP newSolver(const char* type, PetscCounted* counted = nullptr) {
    KSP solver = nullptr;
    check(KSPCreate(comm_, &solver), "KSPCreate");
    check(KSPSetType(solver, type), "KSPSetType");
    if (method_.group != "CG") check(KSPSetPCSide(solver, PC_RIGHT), "KSPSetPCSide");
    if (method_.group == "GMRES") check(KSPGMRESSetRestart(solver, options_.restart), "KSPGMRESSetRestart");
    const bool pipeline = std::string(type) == KSPPIPELCG;
    check(KSPSetNormType(solver, normOf(type)), "KSPSetNormType");
    check(KSPSetTolerances(solver, options_.tolerance, 0.0, 1e100, options_.maxIterations), "KSPSetTolerances");
    if (pipeline) {
      check(KSPSetOptionsPrefix(solver, optionsPrefix().c_str()), "KSPSetOptionsPrefix");
      check(KSPSetFromOptions(solver), "KSPSetFromOptions");
    }
    // Last: the options above are no business of the preconditioner's.
    if (counted != nullptr) {
      counted->attach(solver);
    } else {
      check(KSPSetPC(solver, pc_), "KSPSetPC");
      check(KSPSetOperators(solver, A_, A_), "KSPSetOperators");
    }
    return solver;
  }

  /// The one whose residual is the true one, where the method knows it.
  static KSPNormType normOf(const std::string& type) {
    if (type == KSPPIPELCG) return KSP_NORM_NATURAL;
    return type == KSPPIPECR ? KSP_NORM_PRECONDITIONED : KSP_NORM_UNPRECONDITIONED;
  }

  std::string optionsPrefix() const {
    return "capstan_" + std::to_string(method_.pipelineDepth) + "_" + std::to_string(method_.chebyshevSteps) + "_";
  }

  /// Least and greatest Ritz value of a CG solve to the tolerance asked for. Uses x.
  std::pair<double, double> spectrum() {
    KSP cg = newSolver(KSPCG);
    check(KSPSetComputeEigenvalues(cg, PETSC_TRUE), "KSPSetComputeEigenvalues");
    check(VecSet(x_, 0.0), "VecSet");
    check(KSPSolve(cg, b_, x_), "KSPSolve");
    PetscReal largest = 0.0;
    PetscReal least = 0.0;
    check(KSPComputeExtremeSingularValues(cg, &largest, &least), "KSPComputeExtremeSingularValues");
    check(KSPDestroy(&cg), "KSPDestroy");
    return {least, largest};
  }

  /// Depth and bounds of pipelcg as PETSc's options: it takes them from there only.
  void setPipeline() {
    const auto [least, largest] = spectrum();
    const auto set = [this](const std::string& name, const std::string& value) {
      const std::string key = "-" + optionsPrefix() + "ksp_pipelcg_" + name;
      check(PetscOptionsSetValue(nullptr, key.c_str(), value.c_str()), "PetscOptionsSetValue");
    };
    set("pipel", std::to_string(method_.pipelineDepth));
    set("lmin", asText(least));
    set("lmax", asText(largest));
    description_.parameters["pipel"] = method_.pipelineDepth;
    description_.parameters["lmin"] = least;
    description_.parameters["lmax"] = largest;
  }

  const LocalSystem& system_;
  PetscOptions options_;
  MPI_Comm comm_;
  PetscMethod method_;
  Description description_;
  Mat A_ = nullptr;
  PC pc_ = nullptr;
  Vec x_ = nullptr;
  Vec b_ = nullptr;
  Vec r_ = nullptr;
  KSP solver_ = nullptr;
};

}  // namespace

const std::vector<PetscMethod>& petscMethods() {
  static const std::vector<PetscMethod> methods = {
      {"gmres", "GMRES"},   {"pgmres", "GMRES"},     {"fgmres", "GMRES"},     {"cg", "CG"},
      {"cg", "CG", 0, 8},   {"pipecg", "CG"},        {"pipecg", "CG", 0, 8},  {"groppcg", "CG"},
      {"pipecgrr", "CG"},   {"pipeprcg", "CG"},      {"pipecr", "CG"},        {"pipelcg", "CG", 1},
      {"pipelcg", "CG", 2}, {"pipelcg", "CG", 3},    {"pipelcg", "CG", 2, 8}, {"pipelcg", "CG", 3, 8},
      {"bcgs", "BiCGStab"}, {"pipebcgs", "BiCGStab"}};
  return methods;
}

PetscLibrary::PetscLibrary() {
  // Its signal handler would hide where a crash of the other libraries happened.
  check(PetscOptionsSetValue(nullptr, "-no_signal_handler", "true"), "PetscOptionsSetValue");
  check(PetscInitializeNoArguments(), "PetscInitialize");
  check(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr), "PetscPushErrorHandler");
}

PetscLibrary::~PetscLibrary() { PetscFinalize(); }

bool PetscLibrary::hasHypre() {
#ifdef PETSC_HAVE_HYPRE
  return true;
#else
  return false;
#endif
}

std::string PetscLibrary::version() {
  return std::to_string(PETSC_VERSION_MAJOR) + "." + std::to_string(PETSC_VERSION_MINOR) + "." +
         std::to_string(PETSC_VERSION_SUBMINOR);
}

std::unique_ptr<Contestant> makePetscContestant(const PetscMethod& method, const LocalSystem& system,
                                                const PetscOptions& options, MPI_Comm comm) {
  return std::make_unique<PetscContestant>(method, system, options, comm);
}

}  // namespace capstan::perf
