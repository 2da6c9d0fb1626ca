// What is inside hypre's Krylov solvers, by its name up to hypre 2 and since hypre 3.
#if __has_include(<krylov.h>)
#include <krylov.h>
#else
#include <_hypre_krylov.h>
#endif

#include <Tpetra_CrsMatrix.hpp>
#include <cmath>
#include <map>
#include <sstream>
#include <stdexcept>

#include "adapters/preconditioners/hypre_objects.hpp"
#include "perf/solvers/peers.hpp"

namespace capstan::perf {

namespace own = capstan::preconditioning;

namespace {

/// hypre's view of a system, its preconditioners included, for all contestants of that system.
class HypreSystem {
 public:
  HypreSystem(const Teuchos::RCP<const deck::Matrix>& a, const Teuchos::RCP<const deck::MultiVector>& b)
      : a_(a), b_(b), matrix_(*a), rhs_(matrix_), x_(matrix_), r_(matrix_) {}
  ~HypreSystem() {
    if (!own::hypreCanFree()) return;
    for (const auto& [key, solver] : amg_) HYPRE_BoomerAMGDestroy(solver);
  }
  HypreSystem(const HypreSystem&) = delete;
  HypreSystem& operator=(const HypreSystem&) = delete;

  HYPRE_ParCSRMatrix matrix() const { return matrix_.get(); }
  HYPRE_ParVector rhs() const { return rhs_.get(); }
  HYPRE_ParVector x() const { return x_.get(); }
  MPI_Comm comm() const { return matrix_.comm(); }
  void require(const std::string& what) const { own::requireNoHypreError(what, *a_->getComm()); }

  /// Takes b over as it is now, and zero as the guess. Local.
  void begin() {
    const auto values = b_->getData(0);
    rhs_.set(values.getRawPtr());
    x_.setZero();
  }

  double relativeResidual() {
    double residual = 0, scale = 0;
    HYPRE_ParVectorCopy(rhs_.get(), r_.get());
    HYPRE_ParCSRMatrixMatvec(-1.0, matrix_.get(), x_.get(), 1.0, r_.get());
    HYPRE_ParVectorInnerProd(r_.get(), r_.get(), &residual);
    HYPRE_ParVectorInnerProd(rhs_.get(), rhs_.get(), &scale);
    return std::sqrt(residual / scale);
  }

  /// The hierarchy for these parameters, built where there is none yet. Collective.
  HYPRE_Solver boomerAmg(const Teuchos::ParameterList& parameters) {
    std::ostringstream key;
    parameters.print(key, 0, true, false);
    const auto known = amg_.find(key.str());
    if (known != amg_.end()) return known->second;
    const std::string refusal = own::whyNoBoomerAmg(*a_);
    if (!refusal.empty()) throw std::runtime_error(refusal);
    const auto settings = own::boomerAmgSettings(parameters, *a_);
    HYPRE_Solver solver = own::newBoomerAmg(settings);
    HYPRE_BoomerAMGSetup(solver, matrix_.get(), rhs_.get(), x_.get());
    own::mendCoarsestLevel(solver, settings);
    amg_[key.str()] = solver;
    require("hypre's BoomerAMG");
    return solver;
  }

 private:
  Teuchos::RCP<const deck::Matrix> a_;
  Teuchos::RCP<const deck::MultiVector> b_;
  own::HypreMatrix matrix_;
  own::HypreVector rhs_, x_, r_;
  std::map<std::string, HYPRE_Solver> amg_;
};

/// Of the solve that is under way.
Applications counted;

HYPRE_Int countedProduct(void* /*data*/, HYPRE_Complex alpha, void* a, void* x, HYPRE_Complex beta, void* y) {
  ++counted.matrix;
  return HYPRE_ParCSRMatrixMatvec(alpha, static_cast<HYPRE_ParCSRMatrix>(a), static_cast<HYPRE_ParVector>(x), beta,
                                  static_cast<HYPRE_ParVector>(y));
}

HYPRE_Int countedDiagonal(HYPRE_Solver solver, HYPRE_ParCSRMatrix a, HYPRE_ParVector r, HYPRE_ParVector z) {
  ++counted.preconditioner;
  return HYPRE_ParCSRDiagScale(solver, a, r, z);
}

HYPRE_Int countedCycle(HYPRE_Solver solver, HYPRE_ParCSRMatrix a, HYPRE_ParVector r, HYPRE_ParVector z) {
  ++counted.preconditioner;
  return HYPRE_BoomerAMGSolve(solver, a, r, z);
}

HYPRE_Int nothingToSetUp(HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector) { return 0; }

/// hypre's calls for one method; they differ in their names alone.
struct Calls {
  HYPRE_Int (*create)(MPI_Comm, HYPRE_Solver*);
  HYPRE_Int (*destroy)(HYPRE_Solver);
  HYPRE_Int (*setTolerance)(HYPRE_Solver, HYPRE_Real);
  HYPRE_Int (*setMaximum)(HYPRE_Solver, HYPRE_Int);
  HYPRE_Int (*setRestart)(HYPRE_Solver, HYPRE_Int);  // null: it has none
  HYPRE_Int (*setM)(HYPRE_Solver, HYPRE_PtrToParSolverFcn, HYPRE_PtrToParSolverFcn, HYPRE_Solver);
  HYPRE_Int (*setUp)(HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector);
  HYPRE_Int (*solve)(HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector);
  HYPRE_Int (*iterations)(HYPRE_Solver, HYPRE_Int*);
  HYPRE_Int (*residual)(HYPRE_Solver, HYPRE_Real*);
  void (*count)(HYPRE_Solver);  // has products counted
};

template <class Data>
void countProducts(HYPRE_Solver solver) {
  reinterpret_cast<Data*>(solver)->functions->Matvec = countedProduct;
}

#define CAPSTAN_HYPRE_CALLS(name, restart, data)                                                            \
  Calls {                                                                                                   \
    HYPRE_ParCSR##name##Create, HYPRE_ParCSR##name##Destroy, HYPRE_ParCSR##name##SetTol,                    \
        HYPRE_ParCSR##name##SetMaxIter, restart, HYPRE_ParCSR##name##SetPrecond, HYPRE_ParCSR##name##Setup, \
        HYPRE_ParCSR##name##Solve, HYPRE_ParCSR##name##GetNumIterations,                                    \
        HYPRE_ParCSR##name##GetFinalRelativeResidualNorm, countProducts<data>                               \
  }

Calls callsOf(const std::string& method) {
  if (method == "pcg") return CAPSTAN_HYPRE_CALLS(PCG, nullptr, hypre_PCGData);
  if (method == "gmres") return CAPSTAN_HYPRE_CALLS(GMRES, HYPRE_ParCSRGMRESSetKDim, hypre_GMRESData);
  if (method == "flexgmres") return CAPSTAN_HYPRE_CALLS(FlexGMRES, HYPRE_ParCSRFlexGMRESSetKDim, hypre_FlexGMRESData);
  if (method == "cogmres") return CAPSTAN_HYPRE_CALLS(COGMRES, HYPRE_ParCSRCOGMRESSetKDim, hypre_COGMRESData);
  if (method == "bicgstab") return CAPSTAN_HYPRE_CALLS(BiCGSTAB, nullptr, hypre_BiCGSTABData);
  throw std::invalid_argument("hypre: no method '" + method + "'");
}

#undef CAPSTAN_HYPRE_CALLS

/// Called "hypre <method>". The residual that is tested is || b - A x || over || b ||: preconditioners stand on the
/// right in hypre's GMRES and BiCGStab, and PCG is told to test the 2-norm. Its BoomerAMG has the parameters of the
/// deck's. Products with A and applications of M are counted as they are made. The first prepare() builds M.
class HypreContestant final : public Contestant {
 public:
  HypreContestant(const PeerLibrary::Method& method, const std::shared_ptr<HypreSystem>& system,
                  const PeerOptions& options)
      : system_(system), options_(options), calls_(callsOf(method.word)) {
    description_.name = "hypre " + method.word;
    description_.method = method.word;
    description_.library = "hypre";
    description_.group = method.group;
    description_.preconditioner = options.preconditioner;
    description_.tolerance = options.tolerance;
    description_.parameters = {{"tol", options.tolerance}, {"max_iter", options.maxIterations}};
    if (calls_.setRestart != nullptr) description_.parameters["k_dim"] = options.restart;
  }

  ~HypreContestant() override {
    if (solver_ != nullptr && own::hypreCanFree()) calls_.destroy(solver_);
  }
  HypreContestant(const HypreContestant&) = delete;
  HypreContestant& operator=(const HypreContestant&) = delete;

  const Description& description() const override { return description_; }

  void prepare() override {
    if (solver_ == nullptr) makeSolver();
    system_->begin();
    HYPRE_ClearAllErrors();  // those of others
    counted = {};
  }

  Outcome solve() override {
    calls_.solve(solver_, system_->matrix(), system_->rhs(), system_->x());
    const bool failed = HYPRE_GetError() != 0;  // "not converged" is an error there, too
    HYPRE_ClearAllErrors();
    HYPRE_Int iterations = 0;
    HYPRE_Real residual = 1;
    calls_.iterations(solver_, &iterations);
    calls_.residual(solver_, &residual);
    return {!failed && residual <= options_.tolerance, static_cast<int>(iterations)};
  }

  double relativeResidual() override { return system_->relativeResidual(); }

  std::optional<Applications> applications() override { return counted; }

 private:
  void makeSolver() {
    HYPRE_ClearAllErrors();
    calls_.create(system_->comm(), &solver_);
    calls_.setTolerance(solver_, options_.tolerance);
    calls_.setMaximum(solver_, options_.maxIterations);
    if (calls_.setRestart != nullptr) calls_.setRestart(solver_, options_.restart);
    if (description_.method == "pcg") HYPRE_PCGSetTwoNorm(solver_, 1);
    if (options_.preconditioner == "jacobi") {
      calls_.setM(solver_, countedDiagonal, nothingToSetUp, nullptr);
    } else if (options_.preconditioner == "boomeramg") {
      calls_.setM(solver_, countedCycle, nothingToSetUp, system_->boomerAmg(options_.preconditionerParameters));
    }
    calls_.count(solver_);
    calls_.setUp(solver_, system_->matrix(), system_->rhs(), system_->x());
    system_->require("hypre " + description_.method);
  }

  std::shared_ptr<HypreSystem> system_;
  PeerOptions options_;
  Calls calls_;
  Description description_;
  HYPRE_Solver solver_ = nullptr;
};

class HyprePeers final : public PeerLibrary {
 public:
  std::string name() const override { return "hypre"; }
  std::string version() const override { return HYPRE_RELEASE_VERSION; }
  std::vector<Method> methods() const override {
    return {{"pcg", "CG"}, {"gmres", "GMRES"}, {"flexgmres", "GMRES"}, {"cogmres", "GMRES"}, {"bicgstab", "BiCGStab"}};
  }
  std::vector<std::string> preconditioners() const override { return {"none", "jacobi", "boomeramg"}; }

  void join(std::size_t index, const PeerOptions& options, Field& field) override {
    if (matrix_ != field.A) system_ = std::make_shared<HypreSystem>(field.A, field.b);
    matrix_ = field.A;
    field.contestants.push_back(std::make_unique<HypreContestant>(methods()[index], system_, options));
  }

 private:
  Teuchos::RCP<const deck::Matrix> matrix_;
  std::shared_ptr<HypreSystem> system_;  // of the matrix
};

}  // namespace

std::unique_ptr<PeerLibrary> hypreLibrary() { return std::make_unique<HyprePeers>(); }

}  // namespace capstan::perf
