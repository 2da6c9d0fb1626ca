// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/csr_solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory_Tpetra.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Teuchos_ParameterList.hpp>
#include <Teuchos_XMLParameterListHelpers.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "adapters/openfoam/csr_graph.hpp"
#include "adapters/preconditioners/preconditioner.hpp"
#include "adapters/preconditioners/presets.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/report/solve_report.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::foam {
namespace {

using MultiVector = Tpetra::MultiVector<double>;
using Operator = Tpetra::Operator<double>;
using Problem = Belos::LinearProblem<double, MultiVector, Operator>;
using Solver = Belos::SolverManager<double, MultiVector, Operator>;
using SolverFactory = Belos::SolverFactory<double, MultiVector, Operator>;

// A preset whose cycle needs no global reduction.
constexpr const char* defaultMueLuFile = "no_reductions";

std::string fingerprint(const PreconditionerChoice& choice) {
  return choice.name + "\n" + choice.file + "\n" + fingerprint(choice.settings);
}

void copyIn(const double* from, MultiVector& to) {
  const auto data = to.getDataNonConst(0);
  std::copy_n(from, data.size(), data.begin());
}

void copyOut(const MultiVector& from, double* to) {
  const auto data = from.getData(0);
  std::copy(data.begin(), data.end(), to);
}

// The application's own tolerances decide; a second one in the parameters would be ignored or contradict it.
void refuseReserved(const Settings& settings) {
  for (const auto& setting : settings) {
    for (const auto* reserved : {"Convergence Tolerance", "Maximum Iterations", "Implicit Residual Scaling",
                                 "Explicit Residual Scaling", "Residual Scaling"}) {
      Teuchos::ParameterList names;
      names.set(reserved, 0);
      if (canonicalName(setting.name, &names) == reserved) {
        throw std::invalid_argument(fmt::format(
            "'{}' follows from tolerance, relTol and maxIter of the application; it cannot be set here", setting.name));
      }
    }
  }
}

Teuchos::ParameterList readMueLuFile(const std::string& name) {
  const auto file = preconditioning::findMueLuFile(name, name);
  if (file.empty()) {
    const auto presets = preconditioning::mueLuPresets();
    throw std::invalid_argument(
        fmt::format("preconditioner muelu: no file '{}' here and no preset of that name; presets: {}{}", name,
                    fmt::join(presets, ", "), didYouMean(name, presets)));
  }
  return *Teuchos::getParametersFromXmlFile(file);
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
  } catch (const std::exception& error) {
    if (looksLikeOurs(method)) {
      throw std::invalid_argument(fmt::format("method: {}", error.what()));
    }
    const auto known = factory.supportedSolverNames();
    const std::set<std::string> names(known.begin(), known.end());
    throw std::invalid_argument(fmt::format("method: found '{}', which Belos cannot make; allowed: {}{}", method,
                                            fmt::join(names, ", "), didYouMean(method, {names.begin(), names.end()})));
  }
}

}  // namespace

struct CsrSolver::Impl {
  std::shared_ptr<const CsrGraph> graph;
  std::string label;
  Teuchos::RCP<Matrix> matrix;
  Teuchos::RCP<MultiVector> rhs;
  Teuchos::RCP<MultiVector> solution;
  Teuchos::RCP<Problem> problem;
  std::optional<preconditioning::Preconditioner> preconditioner;
  std::string preconditionerKey;
  std::map<std::string, Teuchos::RCP<Solver>> solvers;

  Solver& solver(const SolverChoice& choice);
};

Solver& CsrSolver::Impl::solver(const SolverChoice& choice) {
  auto& slot = solvers[choice.method + "\n" + fingerprint(choice.settings)];
  if (slot.is_null()) {
    refuseReserved(choice.settings);
    const auto created = createSolver(choice.method);
    const auto valid = created->getValidParameters();
    const auto list = Teuchos::parameterList();
    list->set("Verbosity", static_cast<int>(Belos::Errors) + static_cast<int>(Belos::Warnings));
    setIfKnown(*valid, "Implicit Residual Scaling", "Norm of Initial Residual", *list);
    setIfKnown(*valid, "Explicit Residual Scaling", "Norm of Initial Residual", *list);
    if (!valid->isParameter("Implicit Residual Scaling")) {
      setIfKnown(*valid, "Residual Scaling", "Norm of Initial Residual", *list);
    }
    setIfKnown(*valid, "Timer Label", label, *list);
    copySettings(choice.settings, valid.get(), *list);
    created->setProblem(problem);
    created->setParameters(list);
    slot = created;
  }
  return *slot;
}

CsrSolver::CsrSolver(std::shared_ptr<const CsrGraph> graph, std::string label) : impl_(std::make_unique<Impl>()) {
  impl_->graph = std::move(graph);
  impl_->label = std::move(label);
  impl_->matrix = Teuchos::rcp(new Matrix(impl_->graph->graph));
  impl_->matrix->fillComplete(impl_->graph->graph->getDomainMap(), impl_->graph->graph->getRangeMap());
  impl_->matrix->setObjectLabel(impl_->label);  // what Capstan's solvers take the problem's name from
  impl_->rhs = Teuchos::rcp(new MultiVector(impl_->graph->graph->getRangeMap(), 1));
  impl_->solution = Teuchos::rcp(new MultiVector(impl_->graph->graph->getDomainMap(), 1));
  impl_->problem = Teuchos::rcp(new Problem(impl_->matrix, impl_->solution, impl_->rhs));
  impl_->problem->setLabel(impl_->label);
}

CsrSolver::~CsrSolver() = default;

void CsrSolver::setMatrix(const std::vector<double>& values) {
  const auto& position = impl_->graph->position;
  if (values.size() != position.size()) {
    throw std::invalid_argument(
        fmt::format("{} coefficients for a matrix of {} entries on this rank", values.size(), position.size()));
  }
  const auto target = impl_->matrix->getLocalMatrixHost().values;
  for (std::size_t k = 0; k < values.size(); ++k) {
    target(position[k]) = values[k];
  }
}

void CsrSolver::apply(const double* x, double* y) const {
  MultiVector in(impl_->matrix->getDomainMap(), 1);
  MultiVector out(impl_->matrix->getRangeMap(), 1);
  copyIn(x, in);
  impl_->matrix->apply(in, out);
  copyOut(out, y);
}

bool CsrSolver::hasPreconditioner(const PreconditionerChoice& choice) const {
  return impl_->preconditioner && impl_->preconditionerKey == fingerprint(choice);
}

std::string CsrSolver::updatePreconditioner(const PreconditionerChoice& choice) {
  if (!hasPreconditioner(choice)) {
    preconditioning::PreconditionerOptions options;
    options.name = choice.name;
    if (choice.name == "muelu") {
      options.origin = choice.file.empty() ? defaultMueLuFile : choice.file;
      options.parameters = readMueLuFile(options.origin);
    }
    copySettings(choice.settings, nullptr, options.parameters);
    // A hierarchy is kept only where the user asked MueLu to; a factorisation always keeps its sparsity.
    const bool keepStructure = choice.name != "muelu" || options.parameters.isParameter("reuse: type");
    options.recompute = !keepStructure;
    options.reuse = keepStructure;
    impl_->preconditioner.emplace(options);
    impl_->preconditionerKey = fingerprint(choice);
  }
  try {
    impl_->preconditioner->update(impl_->matrix);
  } catch (...) {
    impl_->preconditioner.reset();
    throw;
  }
  return impl_->preconditioner->warning();
}

CsrSolveResult CsrSolver::solve(const SolverChoice& choice, double tolerance, int maxIterations, const double* b,
                                double* x) {
  copyIn(b, *impl_->rhs);
  impl_->solution->putScalar(0.0);
  impl_->problem->setRightPrec(impl_->preconditioner ? impl_->preconditioner->op() : Teuchos::null);
  if (!impl_->problem->setProblem(impl_->solution, impl_->rhs)) {
    throw std::runtime_error("Belos refuses the linear problem");
  }
  auto& solver = impl_->solver(choice);
  const auto limits = Teuchos::parameterList();
  limits->set("Convergence Tolerance", tolerance);
  limits->set("Maximum Iterations", maxIterations);
  solver.setParameters(limits);
  solver.setProblem(impl_->problem);
  CsrSolveResult result;
  result.converged = solver.solve() == Belos::Converged;
  result.iterations = solver.getNumIters();
  if (const auto* reporting = dynamic_cast<const ReportingSolver*>(&solver)) {
    result.hasReductions = true;
    result.applications = reporting->report().preconditionerApplications;
    result.reductions = reporting->report().reductionsBlocking + reporting->report().reductionsNonblocking;
  }
  copyOut(*impl_->solution, x);
  return result;
}

std::vector<std::string> preconditionerNames() {
  std::vector<std::string> names;
  for (const auto& row : preconditioning::preconditionerNames()) {
    names.push_back(row.name);
  }
  return names;
}

}  // namespace capstan::foam
