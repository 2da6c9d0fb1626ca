// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What Belos::SolverFactory can create here, Capstan's own methods included, and one of these at work.

#include <BelosLinearProblem.hpp>
#include <BelosSolverManager.hpp>
#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <optional>
#include <string>
#include <vector>

#include "adapters/preconditioners/types.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/report/solve_report.hpp"

namespace capstan::driver {

/// The names Belos::SolverFactory answers to: canonical ones, Belos' short ones ("GMRES") and Capstan's. Local.
std::vector<std::string> methodNames();

/// Whether Belos::SolverFactory creates something for this name (case-insensitive). Local.
bool isMethod(const std::string& name);

/// One of Belos' solvers, kept from solve to solve.
class BelosMethod {
 public:
  using MultiVector = preconditioning::MultiVector;
  using Operator = preconditioning::Operator;
  using Problem = Belos::LinearProblem<double, MultiVector, Operator>;
  using Manager = Belos::SolverManager<double, MultiVector, Operator>;

  /// Local. \throws std::invalid_argument that names the nearest where Belos makes none of this name; what the method
  /// says of its parameters
  explicit BelosMethod(const std::string& name,
                       const Teuchos::RCP<Teuchos::ParameterList>& parameters = Teuchos::parameterList());

  /// Its row where it is one of Capstan's, else null; and what it reports.
  const MethodTraits* traits() const { return traits_; }
  ReportingSolver* reporting() const { return reporting_; }
  Manager& manager() const { return *manager_; }
  /// The parameters, with defaults, that it says it takes. Local.
  Teuchos::RCP<const Teuchos::ParameterList> parameters() const { return manager_->getValidParameters(); }
  /// Whether it is flexible as it is set, and so takes no left preconditioner. Local.
  bool isFlexible() const;

  /// For the next solves. \param maxIterations nothing: as it was made. Local.
  void setLimits(double tolerance, std::optional<int> maxIterations = {});

  struct Outcome {
    bool claimed = false;  ///< the solver says that it has converged
    int iterations = 0;
    double seconds = 0;                   ///< of this rank
    const SolveReport* report = nullptr;  ///< of Capstan's own, until the next solve
    std::string reason;                   ///< why it gave up, as far as it says; empty: it did not, or does not say
  };

  /// Solves a problem that is set. Collective; throws what the solver throws.
  Outcome solve(const Teuchos::RCP<Problem>& problem);

 private:
  std::string reasonOf(const Outcome& outcome) const;

  Teuchos::RCP<Manager> manager_;
  const MethodTraits* traits_;
  ReportingSolver* reporting_;
  std::optional<int> maxIterations_;
};

/// Creates the method with these parameters and drops it again. Empty when that works, else what it says. Local.
std::string whyNoMethod(const std::string& name, const Teuchos::ParameterList& parameters);

}  // namespace capstan::driver
