#include "perf/solvers/factory_contestant.hpp"

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <sstream>
#include <utility>

#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/report/report_io.hpp"
#include "perf/solvers/counted_operator.hpp"

namespace capstan::perf {

using preconditioning::MultiVector;
using preconditioning::Operator;

double norm(const MultiVector& x) {
  double result = 0.0;
  x.getVector(0)->norm2(Teuchos::ArrayView<double>(&result, 1));
  return result;
}

namespace {

using Factory = Belos::SolverFactory<double, MultiVector, Operator>;
using Manager = Belos::SolverManager<double, MultiVector, Operator>;
using Problem = Belos::LinearProblem<double, MultiVector, Operator>;

nlohmann::json toJson(const Teuchos::ParameterList& list) {
  auto out = nlohmann::json::object();
  for (const auto& item : list) {
    if (item.second.isList()) {
      out[item.first] = toJson(Teuchos::getValue<Teuchos::ParameterList>(item.second));
      continue;
    }
    std::ostringstream text;
    item.second.leftshift(text, false);
    out[item.first] = text.str();
  }
  return out;
}

class FactoryContestant final : public Contestant {
 public:
  FactoryContestant(Description description, const Teuchos::ParameterList& parameters, const std::string& label,
                    const SharedSystem& system, const Teuchos::RCP<const Operator>& M, bool left, bool anew)
      : description_(std::move(description)),
        shared_(system),
        M_(M),
        left_(left),
        anew_(anew),
        parameters_(Teuchos::rcp(new Teuchos::ParameterList(parameters))),
        label_(label) {
    description_.parameters = toJson(*parameters_);
    if (findMethod(description_.method) != nullptr) return;  // Capstan's own count in their report
    countedA_ = Teuchos::rcp(new CountedOperator(shared_.A));
    if (!M_.is_null()) countedM_ = Teuchos::rcp(new CountedOperator(M_));
  }

  const Description& description() const override { return description_; }

  void prepare() override {
    shared_.x->putScalar(0.0);
    // Capstan tells problems apart by the operator's label: what it learns in one contestant's solves stays there.
    shared_.A->setObjectLabel(label_);
    if (manager_.is_null()) {
      makeProblem();
      manager_ = Factory().create(description_.method, parameters_);
    }
    problem_->setProblem();
    manager_->setProblem(problem_);
    if (!countedA_.is_null()) countedA_->restart();
    if (!countedM_.is_null()) countedM_->restart();
  }

  Outcome solve() override {
    if (anew_) {
      manager_ = Factory().create(description_.method, parameters_);
      manager_->setProblem(problem_);
    }
    const bool converged = manager_->solve() == Belos::Converged;
    return {converged, manager_->getNumIters()};
  }

  double relativeResidual() override {
    Tpetra::deep_copy(*shared_.r, *shared_.b);
    shared_.A->apply(*shared_.x, *shared_.r, Teuchos::NO_TRANS, -1.0, 1.0);
    return norm(*shared_.r) / norm(*shared_.b);
  }

  std::optional<Applications> applications() override {
    if (!countedA_.is_null()) return Applications{countedA_->count(), countedM_.is_null() ? 0 : countedM_->count()};
    const auto* own = reporting();
    if (own == nullptr) return std::nullopt;
    return Applications{own->report().operatorApplications, own->report().preconditionerApplications};
  }

  nlohmann::json details() const override {
    const auto* own = reporting();
    if (own == nullptr) return nullptr;
    nlohmann::json out = capstan::toJson(own->report());
    if (findMethod(description_.method) != nullptr) out["cost"] = cost(methodOf(own->report().solver), own->report());
    return out;
  }

 private:
  /// The cost data of an iteration with this contestant's parameters, with the step size it ended
  /// with and no more columns than it made.
  nlohmann::json cost(const MethodTraits& method, const SolveReport& report) const {
    Parameters parameters(methodOf(description_.method));  // CAPSTAN takes those of all methods
    parameters.merge(*parameters_);
    SolverOptions options = parameters.options();
    if (report.finalStepSize > 0) options.stepSize = report.finalStepSize;
    // A cycle that ends early has shorter columns.
    options.numBlocks = std::max(1, std::min(options.numBlocks, report.iterations));
    const Cost each = method.cost(options, !M_.is_null());
    return {{"reductions", each.reductions},     {"hidden", method.pipelined},
            {"operators", each.operators},       {"preconditioners", each.preconditioners},
            {"vectors", each.vectors},           {"flops_of_a_row", each.flops},
            {"bytes_of_a_row", each.bytes},      {"pipeline_depth", options.pipelineDepth},
            {"step_size", report.finalStepSize}, {"restart", options.numBlocks}};
  }

  /// The solver, where it is one of Capstan's.
  const ReportingSolver* reporting() const { return dynamic_cast<const ReportingSolver*>(manager_.get()); }

  void makeProblem() {
    Teuchos::RCP<const Operator> A = shared_.A, M = M_;
    if (!countedA_.is_null()) A = countedA_;
    if (!countedM_.is_null()) M = countedM_;
    problem_ = Teuchos::rcp(new Problem(A, shared_.x, shared_.b));
    problem_->setLabel(label_);
    if (left_) {
      problem_->setLeftPrec(M);
    } else {
      problem_->setRightPrec(M);
    }
  }

  Description description_;
  SharedSystem shared_;
  Teuchos::RCP<const Operator> M_;
  bool left_, anew_;
  Teuchos::RCP<Teuchos::ParameterList> parameters_;
  std::string label_;
  Teuchos::RCP<CountedOperator> countedA_, countedM_;  // null: nothing to count, or the report does
  Teuchos::RCP<Problem> problem_;
  Teuchos::RCP<Manager> manager_;
};

}  // namespace

std::unique_ptr<Contestant> makeFactoryContestant(Description description, const Teuchos::ParameterList& parameters,
                                                  const std::string& label, const SharedSystem& system,
                                                  const Teuchos::RCP<const Operator>& M, bool left, bool anew) {
  return std::make_unique<FactoryContestant>(std::move(description), parameters, label, system, M, left, anew);
}

}  // namespace capstan::perf
