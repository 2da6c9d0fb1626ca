#include "adapters/stratimikos/solve_operator.hpp"

#include <fmt/format.h>

#include <BelosLinearProblem.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Thyra_LinearOpBase.hpp>
#include <Thyra_MultiVectorStdOps.hpp>
#include <cmath>
#include <stdexcept>

#include "adapters/plugin/solver_factory.hpp"
#include "adapters/stratimikos/solve_criteria.hpp"
#include "belos_ext/report/solve_report.hpp"

namespace capstan::stratimikos {

void SolveOperator::initialize(const SolveParts& parts) {
  const auto matrix = tpetraOperator(parts.forward->getOp(), "the operator");
  Teuchos::RCP<const Types::Operator> left, right;
  if (!parts.preconditioner.is_null()) {
    const auto take = [](const Teuchos::RCP<const LinearOp>& op, Teuchos::RCP<const Types::Operator>& side) {
      if (!op.is_null()) side = tpetraOperator(op, "the preconditioner");
    };
    take(parts.preconditioner->getLeftPrecOp(), left);
    take(parts.preconditioner->getRightPrecOp(), right);
    take(parts.preconditioner->getUnspecifiedPrecOp(), parts.choice.leftIfUnspecified ? left : right);
    if (left.is_null() && right.is_null()) {
      throw std::invalid_argument("Capstan: the preconditioner " + parts.preconditioner->description() +
                                  " holds no operator: it has not been initialised");
    }
  }
  const auto manager = SolverFactory<Types>().getSolver(parts.choice.solver, parts.choice.parameters);
  parts_ = parts;
  matrix_ = matrix;
  left_ = left;
  right_ = right;
  changedByLeft_ = !left.is_null() && methodFor(parts.choice.solver)->family == Family::Gmres;
  manager_ = manager;
  managersList_ = *parts.choice.parameters;
}

SolveParts SolveOperator::uninitialize() {
  SolveParts given = parts_;
  parts_ = SolveParts();
  parts_.ownPreconditioner = given.ownPreconditioner;
  if (!given.ownPreconditioner.is_null()) given.preconditioner = Teuchos::null;
  matrix_ = left_ = right_ = Teuchos::null;
  manager_ = Teuchos::null;
  return given;
}

Teuchos::RCP<const VectorSpace> SolveOperator::range() const {
  return parts_.forward.is_null() ? Teuchos::null : parts_.forward->getOp()->range();
}

Teuchos::RCP<const VectorSpace> SolveOperator::domain() const {
  return parts_.forward.is_null() ? Teuchos::null : parts_.forward->getOp()->domain();
}

std::string SolveOperator::description() const {
  if (parts_.forward.is_null()) return "capstan::stratimikos::SolveOperator (not initialised)";
  return "capstan::stratimikos::SolveOperator (" + manager_->description() + ") of " +
         parts_.forward->getOp()->description();
}

bool SolveOperator::opSupportedImpl(Thyra::EOpTransp transposed) const {
  return !parts_.forward.is_null() && Thyra::opSupported(*parts_.forward->getOp(), transposed);
}

void SolveOperator::applyImpl(Thyra::EOpTransp transposed, const MultiVector& x, const Teuchos::Ptr<MultiVector>& y,
                              double alpha, double beta) const {
  Thyra::apply<double>(*parts_.forward->getOp(), transposed, x, y, alpha, beta);
}

bool SolveOperator::solveSupportsImpl(Thyra::EOpTransp transposed) const {
  return whyRefused(transposed, nullptr).empty();
}

bool SolveOperator::solveSupportsNewImpl(Thyra::EOpTransp transposed,
                                         const Teuchos::Ptr<const Thyra::SolveCriteria<double>> criteria) const {
  return whyRefused(transposed, criteria.get()).empty();
}

bool SolveOperator::solveSupportsSolveMeasureTypeImpl(Thyra::EOpTransp transposed,
                                                      const Thyra::SolveMeasureType& type) const {
  const Thyra::SolveCriteria<double> criteria(type, Thyra::SolveCriteria<double>::unspecifiedTolerance());
  return whyRefused(transposed, &criteria).empty();
}

void SolveOperator::prepareManager(const Thyra::SolveCriteria<double>* criteria) const {
  Teuchos::ParameterList list(*parts_.choice.parameters);
  const Teuchos::ParameterList asked = parametersOf(criteria, changedByLeft_);
  // Of two spellings of a key, the criteria's stays.
  std::vector<std::string> replaced;
  for (const auto& item : list) {
    for (const auto& ours : asked) {
      const ParameterRow* const row = findParameter(item.first);
      if (row != nullptr && row == findParameter(ours.first)) replaced.push_back(item.first);
    }
  }
  for (const std::string& key : replaced) list.remove(key);
  list.setParameters(asked);
  // As with Stratimikos' Belos, the solver prints where the factory's VerboseObject does, and not where that is silent.
  if (static_cast<int>(this->getVerbLevel()) < static_cast<int>(Teuchos::VERB_LOW)) {
    list.set("Verbosity", 0);
  } else if (!this->getOStream().is_null()) {
    list.set("Output Stream", Teuchos::RCP<std::ostream>(this->getOStream()));
  }
  if (list != managersList_) {
    manager_ = SolverFactory<Types>().getSolver(parts_.choice.solver, Teuchos::parameterList(list));
    managersList_ = list;
  }
  if (criteria == nullptr || criteria->solveMeasureType.useDefault()) return;
  std::vector<std::string> fixed = {"Residual Scaling", "Explicit Residual Scaling", "Implicit Residual Scaling",
                                    "Residual Norm", "Absolute Tolerance"};
  if (list.isParameter("Convergence Tolerance")) fixed.emplace_back("Convergence Tolerance");
  dynamic_cast<ReportingSolver&>(*manager_).reserve(fixed, "the application's solve criteria say it");
}

Thyra::SolveStatus<double> SolveOperator::solveImpl(
    Thyra::EOpTransp transposed, const MultiVector& b, const Teuchos::Ptr<MultiVector>& x,
    const Teuchos::Ptr<const Thyra::SolveCriteria<double>> criteria) const {
  if (manager_.is_null()) throw std::invalid_argument("Capstan: an operator with solves that is not initialised");
  if (const std::string why = whyRefused(transposed, criteria.get()); !why.empty()) throw std::invalid_argument(why);
  prepareManager(criteria.get());
  const auto rightHandSides = tpetraColumns(b, "the space of the right-hand sides");
  const ChangedColumns solution(x, "the space of the solution");
  const auto problem = Teuchos::rcp(new Belos::LinearProblem<double, Types::MultiVector, Types::Operator>);
  problem->setOperator(matrix_);
  if (!left_.is_null()) problem->setLeftPrec(left_);
  if (!right_.is_null()) problem->setRightPrec(right_);
  problem->setProblem(solution.tpetra(), rightHandSides);
  manager_->setProblem(problem);
  const bool converged = manager_->solve() == Belos::Converged;
  solution.store();
  return statusOf(converged);
}

Thyra::SolveStatus<double> SolveOperator::statusOf(bool converged) const {
  const SolveReport& report = dynamic_cast<const ReportingSolver&>(*manager_).report();
  Thyra::SolveStatus<double> status;
  status.solveStatus = converged ? Thyra::SOLVE_STATUS_CONVERGED : Thyra::SOLVE_STATUS_UNCONVERGED;
  if (std::isfinite(report.trueResidual)) status.achievedTol = report.trueResidual;
  status.message = fmt::format("{}: {} after {} iterations; computed residual {:.3g}, tolerance {:.3g} ({}; {})",
                               report.solver, toString(report.reason), report.iterations, report.trueResidual,
                               report.tolerance, report.norm, report.scaling);
  status.extraParameters = Teuchos::parameterList();
  // Under the names that applications look for with Stratimikos' Belos.
  status.extraParameters->set("Iteration Count", report.iterations);
  status.extraParameters->set("Belos/Iteration Count", report.iterations);
  status.extraParameters->set("Belos/Achieved Tolerance", status.achievedTol);
  status.extraParameters->set("Capstan/Reason", toString(report.reason));
  if (static_cast<int>(this->getVerbLevel()) > static_cast<int>(Teuchos::VERB_LOW) && !this->getOStream().is_null()) {
    *this->getOStream() << "\n" << status.message << "\n";
  }
  return status;
}

}  // namespace capstan::stratimikos
