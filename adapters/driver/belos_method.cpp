// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/belos_method.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <BelosSolverFactory_Tpetra.hpp>
#include <BelosTpetraAdapter.hpp>
#include <algorithm>
#include <stdexcept>

#include "belos_ext/parameters/user_options_error.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan::driver {
namespace {

using Factory = Belos::SolverFactory<double, BelosMethod::MultiVector, BelosMethod::Operator>;
constexpr const char* limitKey = "Maximum Iterations";

Teuchos::RCP<BelosMethod::Manager> create(const std::string& name,
                                          const Teuchos::RCP<Teuchos::ParameterList>& parameters) {
  try {
    return Factory().create(name, parameters);
  } catch (const UserOptionsError&) {
    throw;
  } catch (const std::exception& error) {
    if (findMethod(name) != nullptr) throw;  // it is not the name that is wrong
    if (looksLikeOurs(name)) throw std::invalid_argument(fmt::format("method: {}", error.what()));
    if (isMethod(name)) throw;
    const auto names = methodNames();
    throw std::invalid_argument(fmt::format("method: found '{}', which Belos cannot make; allowed: {}{}", name,
                                            fmt::join(names, ", "), didYouMean(name, names)));
  }
}

}  // namespace

std::vector<std::string> methodNames() {
  std::vector<std::string> names;
  for (const auto& name : Factory().supportedSolverNames()) {
    if (isMethod(name)) names.push_back(name);
  }
  // Registered, but missing from the factory's own list.
  for (const char* name : {"TPETRA CG", "TPETRA CG PIPELINE", "TPETRA CG SINGLE REDUCE", "TPETRA GMRES",
                           "TPETRA GMRES PIPELINE", "TPETRA GMRES S-STEP", "TPETRA GMRES SINGLE REDUCE"}) {
    if (isMethod(name)) names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool isMethod(const std::string& name) {
  // Of our own names none is asked for that does not exist: the plugin would tell the user, who did not ask either.
  if (looksLikeOurs(name) && findMethod(name) == nullptr) return false;
  // The factory lists more names than it can create, and creates names that it does not list.
  try {
    return !Factory().create(name, Teuchos::parameterList()).is_null();
  } catch (const std::exception&) {
    return false;
  }
}

std::string whyNoMethod(const std::string& name, const Teuchos::ParameterList& parameters) {
  try {
    Factory().create(name, Teuchos::parameterList(parameters));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

BelosMethod::BelosMethod(const std::string& name, const Teuchos::RCP<Teuchos::ParameterList>& parameters)
    : manager_(create(name, parameters)),
      traits_(findMethod(name)),
      reporting_(dynamic_cast<ReportingSolver*>(manager_.get())) {
  if (parameters->isType<int>(limitKey)) maxIterations_ = parameters->get<int>(limitKey);
}

bool BelosMethod::isFlexible() const {
  const char* const key = "Flexible Gmres";
  const auto list = manager_->getCurrentParameters();
  return !list.is_null() && list->isType<bool>(key) && list->get<bool>(key);
}

void BelosMethod::setLimits(double tolerance, std::optional<int> maxIterations) {
  if (maxIterations) maxIterations_ = maxIterations;
  if (reporting_ != nullptr && maxIterations) return reporting_->setLimits(tolerance, *maxIterations);
  const auto limits = Teuchos::parameterList();  // a new one: solvers of Belos keep what they are given
  limits->set("Convergence Tolerance", tolerance);
  if (maxIterations) limits->set(limitKey, *maxIterations);
  manager_->setParameters(limits);
}

BelosMethod::Outcome BelosMethod::solve(const Teuchos::RCP<Problem>& problem) {
  manager_->setProblem(problem);
  Outcome outcome;
  const double start = wallSeconds();
  outcome.claimed = manager_->solve() == Belos::Converged;
  outcome.seconds = wallSeconds() - start;
  outcome.iterations = manager_->getNumIters();
  if (reporting_ != nullptr) outcome.report = &reporting_->report();
  if (!outcome.claimed) outcome.reason = reasonOf(outcome);
  return outcome;
}

std::string BelosMethod::reasonOf(const Outcome& outcome) const {
  if (outcome.report != nullptr) return toString(outcome.report->reason);
  if (manager_->isLOADetected()) return "loss of accuracy";
  return maxIterations_ && outcome.iterations >= *maxIterations_ ? "max iterations" : "";
}

}  // namespace capstan::driver
