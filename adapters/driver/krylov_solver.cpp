// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/krylov_solver.hpp"

#include <fmt/format.h>

#include <BelosTpetraAdapter.hpp>
#include <Teuchos_ParameterList.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "adapters/driver/belos_method.hpp"
#include "adapters/driver/host_operator.hpp"
#include "adapters/driver/host_vectors.hpp"
#include "belos_ext/manager/solver_manager.hpp"
#include "belos_ext/problem/symmetry_check.hpp"
#include "belos_ext/report/event_text.hpp"

namespace capstan::driver {
namespace {

using Problem = BelosMethod::Problem;

// The norm by which Capstan's methods judge: the application prints what they say of it.
const std::vector<std::string> ofTheNorm{"Residual Norm",
                                         "Residual Scaling",
                                         "Implicit Residual Scaling",
                                         "Explicit Residual Scaling",
                                         "User Defined Residual Scaling",
                                         "Absolute Tolerance"};

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

// What a method did about a breakdown that a user should know of; the others have no words to be counted by.
Remedy remedyOf(const ReportEvent& event) {
  if (event.what == EventKind::Fallback) return {event.detail, "by CAPSTAN GMRES after a breakdown", "CAPSTAN GMRES"};
  if (wentBack(event.what)) return {"the method went back " + event.detail, "ended with an earlier iterate", ""};
  return {};
}

KrylovOutcome told(const SolveReport& report, double attained, SolveCost& cost) {
  cost.applications += report.preconditionerApplications;
  cost.reductions += report.reductionsBlocking + report.reductionsNonblocking;
  cost.products += report.operatorApplications;
  cost.times += {report.seconds.operatorSeconds, report.seconds.preconditioner, report.seconds.reductionWait};
  KrylovOutcome outcome;
  outcome.seen = observationOf(report, 0);
  outcome.attained = attained;
  outcome.atRounding = report.reason == StopReason::AttainableAccuracy;
  if (const auto& guess = report.rightHandSides.front().guess; guess.vectors > 0 && guess.factor > 1) {
    outcome.guessDigits = std::log10(guess.factor);
  }
  for (const auto& event : report.events) {
    if (auto remedy = remedyOf(event); !remedy.counted.empty()) outcome.remedies.push_back(std::move(remedy));
  }
  return outcome;
}

/// A solver, kept as long as the rows stay.
struct KeptSolver {
  SolverChoice choice;
  BelosMethod method;
};

bool takesBothNegative(const MethodTraits* known) {
  return known != nullptr && (!known->needsSymmetric || known->is(Trait::EitherSign));
}

}  // namespace

struct KrylovSolver::Impl {
  std::string label;
  WhyReserved ofHost;
  Teuchos::RCP<HostOperator> product, preconditioner;
  Teuchos::RCP<MultiVector> r, d;
  Teuchos::RCP<Problem> problem;
  std::vector<KeptSolver> solvers;
  std::optional<bool> symmetric;  ///< as the product has been told to be

  BelosMethod& solver(const SolverChoice& choice);
  BelosMethod make(const SolverChoice& choice);
};

BelosMethod KrylovSolver::Impl::make(const SolverChoice& choice) {
  refuseReserved(choice.settings, ofHost.settings);
  BelosMethod made(choice.method);
  const auto valid = made.parameters();
  const bool ours = made.traits() != nullptr;
  const auto list = Teuchos::parameterList();
  list->set("Verbosity", static_cast<int>(Belos::Errors) + static_cast<int>(Belos::Warnings));
  setIfKnown(*valid, "Implicit Residual Scaling", "Norm of Initial Residual", *list);
  setIfKnown(*valid, "Explicit Residual Scaling", "Norm of Initial Residual", *list);
  if (!valid->isParameter("Implicit Residual Scaling")) {
    setIfKnown(*valid, "Residual Scaling", "Norm of Initial Residual", *list);
  }
  if (ours) list->set("Residual Norm", "OneNorm");
  setIfKnown(*valid, "Initial Residual", "zero guess", *list);
  // Ours has no timers of Teuchos: nobody prints them here, and without MPI they ask the kernel for the time.
  setIfKnown(*valid, "Timer Label", ours ? "" : label, *list);
  copySettings(choice.settings, valid.get(), *list);
  made.manager().setProblem(problem);
  made.manager().setParameters(list);
  if (made.reporting() != nullptr) made.reporting()->reserve(ofTheNorm, ofHost.options);
  return made;
}

BelosMethod& KrylovSolver::Impl::solver(const SolverChoice& choice) {
  constexpr std::size_t most = 4;  // the best one, trials, and what goes on: others give their vectors back
  auto known =
      std::find_if(solvers.begin(), solvers.end(), [&](const KeptSolver& kept) { return kept.choice == choice; });
  if (known == solvers.end()) {
    if (solvers.size() == most) solvers.pop_back();
    known = solvers.insert(solvers.begin(), {choice, make(choice)});
  }
  std::rotate(solvers.begin(), known, std::next(known));
  return solvers.front().method;
}

KrylovSolver::KrylovSolver(const Teuchos::RCP<const Map>& map, std::string label, WhyReserved why)
    : impl_(std::make_unique<Impl>()) {
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
}

KrylovSolver::~KrylovSolver() = default;

bool KrylovSolver::judgesByOneNorm(const SolverChoice& choice) { return impl_->solver(choice).traits() != nullptr; }

bool KrylovSolver::takesNegativeDefinite(const SolverChoice& choice) {
  return takesBothNegative(impl_->solver(choice).traits());
}

KrylovOutcome KrylovSolver::solve(const SolverChoice& choice, double tolerance, int maxIterations,
                                  const KrylovSystem& system, SolveCost& cost) {
  auto& own = *impl_;
  BelosMethod& method = own.solver(choice);
  copyIn(system.r, *own.r, system.actions.places());
  setZero(*own.d);
  Teuchos::RCP<const Operator> preconditioner;
  if (system.ownPreconditioner) {
    own.preconditioner->setObjectLabel(system.actions.preconditionerName());
    preconditioner = own.preconditioner;
  } else if (system.assembled != nullptr) {
    preconditioner = system.assembled->op();
  }
  const Acting acting(*own.product, *own.preconditioner, system.actions, system.timed);
  own.problem->setHermitian(system.symmetric);
  // Nobody can read the rows behind a product of the application's own.
  if (own.symmetric != system.symmetric) {
    SymmetryCheck<OperatorTypes>::remember(own.product, {1, system.symmetric ? 0 : 1});
    own.symmetric = system.symmetric;
  }
  own.problem->setRightPrec(preconditioner);
  own.problem->setInitResVec(own.r);
  if (!own.problem->setProblem(own.d, own.r)) {
    throw std::runtime_error("Belos refuses the linear problem");
  }
  method.setLimits(tolerance, maxIterations);
  if (auto* const reporting = method.reporting()) {
    reporting->setMinimumIterations(system.minIterations);
    reporting->setKeepsLast(true);  // DrivenSolve::endAtLimit() looks at it
    reporting->setSeries(system.series);
  }
  if (auto* const ours = dynamic_cast<SolverManager<OperatorTypes>*>(&method.manager())) {
    ours->setChoice(system.choice, "");
  }
  const long products = own.product->applications();
  const double seconds = own.product->seconds();
  const auto ended = method.solve(own.problem);
  copyOut(*own.d, system.d, system.actions.places());
  cost.iterations += ended.iterations;
  cost.hasReductions = ended.report != nullptr && (cost.passes == 0 || cost.hasReductions);
  ++cost.passes;
  KrylovOutcome outcome;
  if (ended.report != nullptr) {
    outcome = told(*ended.report, method.manager().achievedTol(), cost);
  } else {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    cost.products += own.product->applications() - products;
    cost.times += {own.product->seconds() - seconds, unknown, unknown};
  }
  outcome.converged = ended.claimed;
  return outcome;
}

}  // namespace capstan::driver
