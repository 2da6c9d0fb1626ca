// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/krylov_solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory_Tpetra.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Teuchos_ParameterList.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "adapters/driver/host_vectors.hpp"
#include "adapters/driver/trilinos_types.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/user_options_error.hpp"
#include "belos_ext/report/solve_report.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "tpetra_ext/operators/split_preconditioner.hpp"
#include "tpetra_ext/types.hpp"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan::driver {
namespace {

using MultiVector = Tpetra::MultiVector<double>;
using Problem = Belos::LinearProblem<double, MultiVector, Operator>;
using Solver = Belos::SolverManager<double, MultiVector, Operator>;
using SolverFactory = Belos::SolverFactory<double, MultiVector, Operator>;

using Types = TpetraTypes<double, Map::local_ordinal_type, Map::global_ordinal_type, Map::node_type>;

/// The application's product or preconditioner as an operator of Trilinos: no matrix behind it, no copy of a vector.
class HostOperator final : public Operator, public SplitPreconditioner<Types> {
 public:
  enum class Kind { Product, Preconditioner };

  HostOperator(Teuchos::RCP<const Map> map, Kind kind) : map_(std::move(map)), kind_(kind) {}

  /// What acts from now on; null: nothing may.  \param timed what that takes is measured
  void set(HostActions* actions, bool timed = false) {
    actions_ = actions;
    timed_ = timed;
  }

  /// Applications so far, and what they took where it is measured.
  long applications() const { return applications_; }
  double seconds() const { return seconds_; }

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  std::string description() const override {
    return kind_ == Kind::Product ? "the application's product" : "the application's preconditioner";
  }

  void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp mode, double alpha, double beta) const override {
    if (actions_ == nullptr) throw std::logic_error(description() + " is there during a solve only");
    if (mode != Teuchos::NO_TRANS || alpha != 1.0 || beta != 0.0) {
      throw std::invalid_argument(description() + " is applied as it is: not transposed, not scaled, not added");
    }
    const double start = timed_ ? wallSeconds() : 0;
    forColumns(X, Y, [this](const double* x, double* y) {
      if (kind_ == Kind::Product) {
        actions_->apply(x, y);
      } else {
        actions_->precondition(x, y);
      }
      ++applications_;
    });
    if (timed_) seconds_ += wallSeconds() - start;
  }

  bool splits() const override {
    return kind_ == Kind::Preconditioner && actions_ != nullptr && actions_->split() != nullptr;
  }
  void applySplit(const MultiVector& v, MultiVector& w) const override {
    forColumns(v, w, [this](const double* x, double* y) { actions_->split()->applySplit(x, y); });
  }
  void applyLeftPart(const MultiVector& r, MultiVector& z) const override {
    forColumns(r, z, [this](const double* x, double* y) { actions_->split()->solveLeft(x, y); });
  }
  void applyRightPart(const MultiVector& u, MultiVector& d) const override {
    forColumns(u, d, [this](const double* x, double* y) { actions_->split()->solveRight(x, y); });
  }
  void multiplyRightPart(const MultiVector& d, MultiVector& u) const override {
    forColumns(d, u, [this](const double* x, double* y) { actions_->split()->multiplyRight(x, y); });
  }
  double absoluteSum(const MultiVector& z) const override {
    const auto values = compat::hostView(z, Tpetra::Access::ReadOnly);
    return values->extent(0) == 0 ? 0 : actions_->split()->absoluteSum(values->data());
  }

 private:
  /// act(x, y) for each column; null pointers on ranks without rows.
  template <class Act>
  static void forColumns(const MultiVector& X, MultiVector& Y, const Act& act) {
    const std::size_t columns = X.getNumVectors();
    if (X.isConstantStride() && Y.isConstantStride()) {
      forColumnsOf(X, Y, columns, act);
    } else {
      for (std::size_t j = 0; j < columns; ++j) forColumnsOf(*X.getVector(j), *Y.getVectorNonConst(j), 1, act);
    }
  }
  template <class Act>
  static void forColumnsOf(const MultiVector& X, MultiVector& Y, std::size_t columns, const Act& act) {
    const auto from = compat::hostView(X, Tpetra::Access::ReadOnly);  // at a tenth of what getData takes
    const auto to = compat::hostView(Y, Tpetra::Access::OverwriteAll);
    for (std::size_t j = 0; j < columns; ++j) {
      // Views of no rows do not always know their columns.
      const double* const x = from->extent(0) == 0 ? nullptr : from->data() + j * from->stride(1);
      double* const y = to->extent(0) == 0 ? nullptr : to->data() + j * to->stride(1);
      act(x, y);
    }
  }

  Teuchos::RCP<const Map> map_;
  Kind kind_;
  HostActions* actions_ = nullptr;
  bool timed_ = false;
  mutable long applications_ = 0;
  mutable double seconds_ = 0;
};

// The norm by which Capstan's methods judge: the application prints what they say of it.
const std::vector<std::string> ofTheNorm{"Residual Norm", "Residual Scaling", "Implicit Residual Scaling",
                                         "Explicit Residual Scaling", "User Defined Residual Scaling"};

// The application's own norm and tolerances decide; a second one in the parameters would be ignored or contradict it.
void refuseReserved(const Settings& settings, const std::string& whyNot) {
  std::vector<std::string> reserved = ofTheNorm;
  reserved.insert(reserved.end(), {"Convergence Tolerance", "Maximum Iterations", "Initial Residual"});
  for (const auto& setting : settings) {
    for (const auto& name : reserved) {
      Teuchos::ParameterList names;
      names.set(name, 0);
      if (canonicalName(setting.name, &names) == name) {
        throw std::invalid_argument(fmt::format("'{}' cannot be set here: {}", setting.name, whyNot));
      }
    }
  }
}

void setIfKnown(const Teuchos::ParameterList& valid, const char* name, const std::string& value,
                Teuchos::ParameterList& list) {
  if (valid.isParameter(name)) {
    list.set(name, value);
  }
}

Teuchos::RCP<Solver> createSolver(const std::string& method) {
  SolverFactory factory;
  try {
    return factory.create(method, Teuchos::parameterList());
  } catch (const UserOptionsError&) {
    throw;
  } catch (const std::exception& error) {
    if (findMethod(method) != nullptr) throw;  // it is not the name that is wrong
    if (looksLikeOurs(method)) {
      throw std::invalid_argument(fmt::format("method: {}", error.what()));
    }
    const auto known = factory.supportedSolverNames();
    const std::set<std::string> names(known.begin(), known.end());
    throw std::invalid_argument(fmt::format("method: found '{}', which Belos cannot make; allowed: {}{}", method,
                                            fmt::join(names, ", "), didYouMean(method, {names.begin(), names.end()})));
  }
}

/// The actions of one solve, taken away again however it ends.
class Acting {
 public:
  Acting(HostOperator& product, HostOperator& preconditioner, const KrylovSystem& system)
      : product_(product), preconditioner_(preconditioner) {
    product_.set(&system.actions, system.timed);
    preconditioner_.set(&system.actions, system.timed);
  }
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;
  ~Acting() {
    product_.set(nullptr);
    preconditioner_.set(nullptr);
  }

 private:
  HostOperator& product_;
  HostOperator& preconditioner_;
};

// What a method's ladder did that a user should know of; the others have no words to be counted by.
LadderStep stepOf(const ReportEvent& event) {
  if (event.kind == "fallback") return {event.detail, "by CAPSTAN GMRES after a breakdown", "CAPSTAN GMRES"};
  if (event.kind == "went back") return {"the method went back " + event.detail, "ended with an earlier iterate", ""};
  if (event.kind == "overflow") return {event.detail, "stopped before an overflow", ""};
  return {};
}

void fill(const SolveReport& report, double attained, SolveResult& result) {
  result.counted = true;
  result.attained = attained;
  result.applications = report.preconditionerApplications;
  result.reductions = report.reductionsBlocking + report.reductionsNonblocking;
  result.atRounding = report.reason == StopReason::AttainableAccuracy;
  result.products = report.operatorApplications;
  if (const auto& guess = report.rightHandSides.front().guess; guess.vectors > 0 && guess.factor > 1) {
    result.guessDigits = std::log10(guess.factor);
  }
  result.times = {report.seconds.operatorSeconds, report.seconds.preconditioner, report.seconds.reductionWait};
  for (const auto& event : report.events) {
    if (auto step = stepOf(event); !step.counted.empty()) result.steps.push_back(std::move(step));
  }
}

bool isOurs(const SolverChoice& choice) { return findMethod(choice.method) != nullptr; }

/// A solver, kept as long as the rows stay.
struct KeptSolver {
  SolverChoice choice;
  Teuchos::RCP<Solver> solver;
  ReportingSolver* reporting = nullptr;  ///< where it is one of Capstan's
  bool oneNorm = false;                  ///< that it judges by
  bool negativeDefinite = false;         ///< it takes the same steps for -A and -M, or does not ask for symmetry
};

// Of methods that need symmetry the others take roots of (r, M^-1 r), or factors of Z^T A Z.
bool takesBothNegative(const std::string& method) {
  const MethodTraits* const known = findMethod(method);
  return known != nullptr && (!known->needsSymmetric || known->canonical == "CAPSTAN CG");
}

}  // namespace

struct KrylovSolver::Impl {
  std::shared_ptr<const RowMap> rows;
  std::string label;
  WhyReserved ofHost;
  Teuchos::RCP<HostOperator> product, preconditioner;
  Teuchos::RCP<MultiVector> r, d;
  Teuchos::RCP<Problem> problem;
  std::vector<KeptSolver> solvers;

  KeptSolver& solver(const SolverChoice& choice);
  Teuchos::RCP<Solver> make(const SolverChoice& choice);
};

Teuchos::RCP<Solver> KrylovSolver::Impl::make(const SolverChoice& choice) {
  refuseReserved(choice.settings, ofHost.settings);
  const auto created = createSolver(choice.method);
  const auto valid = created->getValidParameters();
  const auto list = Teuchos::parameterList();
  list->set("Verbosity", static_cast<int>(Belos::Errors) + static_cast<int>(Belos::Warnings));
  setIfKnown(*valid, "Implicit Residual Scaling", "Norm of Initial Residual", *list);
  setIfKnown(*valid, "Explicit Residual Scaling", "Norm of Initial Residual", *list);
  if (!valid->isParameter("Implicit Residual Scaling")) {
    setIfKnown(*valid, "Residual Scaling", "Norm of Initial Residual", *list);
  }
  if (isOurs(choice)) list->set("Residual Norm", "OneNorm");
  setIfKnown(*valid, "Initial Residual", "zero guess", *list);
  // Ours has no timers of Teuchos: nobody prints them here, and without MPI they ask the kernel for the time.
  setIfKnown(*valid, "Timer Label", isOurs(choice) ? "" : label, *list);
  copySettings(choice.settings, valid.get(), *list);
  created->setProblem(problem);
  created->setParameters(list);
  if (auto* const reporting = dynamic_cast<ReportingSolver*>(created.get())) {
    reporting->reserve(ofTheNorm, ofHost.options);
  }
  return created;
}

KeptSolver& KrylovSolver::Impl::solver(const SolverChoice& choice) {
  const auto known =
      std::find_if(solvers.begin(), solvers.end(), [&](const KeptSolver& kept) { return kept.choice == choice; });
  if (known != solvers.end()) return *known;
  const auto solver = make(choice);
  solvers.push_back(
      {choice, solver, dynamic_cast<ReportingSolver*>(solver.get()), isOurs(choice), takesBothNegative(choice.method)});
  return solvers.back();
}

KrylovSolver::KrylovSolver(std::shared_ptr<const RowMap> rows, std::string label, WhyReserved why)
    : impl_(std::make_unique<Impl>()) {
  const auto& map = rows->map;
  impl_->label = std::move(label);
  impl_->ofHost = std::move(why);
  impl_->product = Teuchos::rcp(new HostOperator(map, HostOperator::Kind::Product));
  impl_->product->setObjectLabel(impl_->label);  // what Capstan's solvers take the problem's name from
  impl_->preconditioner = Teuchos::rcp(new HostOperator(map, HostOperator::Kind::Preconditioner));
  for (auto* vector : {&impl_->r, &impl_->d}) *vector = Teuchos::rcp(new MultiVector(map, 1));
  impl_->problem = Teuchos::rcp(new Problem(impl_->product, impl_->d, impl_->r));
  impl_->problem->setLabel(impl_->label);
  impl_->problem->setInitResVec(impl_->r);  // Belos need not compute it
  impl_->problem->setProblem();
  impl_->rows = std::move(rows);
}

KrylovSolver::~KrylovSolver() = default;

bool KrylovSolver::judgesByOneNorm(const SolverChoice& choice) { return impl_->solver(choice).oneNorm; }

bool KrylovSolver::takesNegativeDefinite(const SolverChoice& choice) { return impl_->solver(choice).negativeDefinite; }

SolveResult KrylovSolver::solve(const SolverChoice& choice, double tolerance, int maxIterations,
                                const KrylovSystem& system) {
  auto& own = *impl_;
  const KeptSolver& kept = own.solver(choice);
  Solver& solver = *kept.solver;
  copyIn(system.r, *own.r, system.actions.places());
  setZero(*own.d);
  Teuchos::RCP<const Operator> preconditioner;
  if (system.ownPreconditioner) {
    own.preconditioner->setObjectLabel(system.actions.preconditionerName());
    preconditioner = own.preconditioner;
  } else if (system.assembled != nullptr) {
    preconditioner = operatorOf(*system.assembled);
  }
  const Acting acting(*own.product, *own.preconditioner, system);
  own.problem->setHermitian(system.symmetric);
  own.problem->setRightPrec(preconditioner);
  own.problem->setInitResVec(own.r);
  if (!own.problem->setProblem(own.d, own.r)) {
    throw std::runtime_error("Belos refuses the linear problem");
  }
  if (kept.reporting != nullptr) {
    kept.reporting->setLimits(tolerance, maxIterations);
    kept.reporting->setMinimumIterations(system.minIterations);
    kept.reporting->setSeries(system.series);
  } else {
    const auto limits = Teuchos::parameterList();  // a new one: solvers of Belos keep what they are given
    limits->set("Convergence Tolerance", tolerance);
    limits->set("Maximum Iterations", maxIterations);
    solver.setParameters(limits);
  }
  solver.setProblem(own.problem);
  SolveResult result;
  const long products = own.product->applications();
  const double seconds = own.product->seconds();
  result.converged = solver.solve() == Belos::Converged;
  result.iterations = solver.getNumIters();
  result.products = own.product->applications() - products;
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  result.times = {own.product->seconds() - seconds, unknown, unknown};
  if (kept.reporting != nullptr) fill(kept.reporting->report(), solver.achievedTol(), result);
  copyOut(*own.d, system.d, system.actions.places());
  return result;
}

}  // namespace capstan::driver
