#include "perf/solvers/belos_contestants.hpp"

#include <fmt/format.h>

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <map>
#include <sstream>

#include "adapters/deck/systems.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/report/report_io.hpp"
#include "perf/solvers/counted_operator.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::perf {
namespace {

using deck::Matrix;
using deck::MultiVector;
using deck::Operator;
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

/// What all solvers of a system share.
struct Shared {
  Teuchos::RCP<Matrix> A;
  Teuchos::RCP<MultiVector> b;
  Teuchos::RCP<MultiVector> x;
  Teuchos::RCP<MultiVector> r;
};

double norm(const MultiVector& x) {
  double result = 0.0;
  x.norm2(Teuchos::ArrayView<double>(&result, 1));
  return result;
}

/// Whose solver takes part: the method's library, or, where Belos' factory makes MueLu's coarse solver, that one's.
std::string libraryOf(const deck::LinearSolver& solver) {
  std::string name = solver.method;
  const auto& parameters = solver.preconditioner.parameters;
  if (parameters.isType<std::string>("coarse: type")) {
    const auto& coarse = parameters.get<std::string>("coarse: type");
    if (Factory().isSupported(coarse)) name = coarse;
  }
  return findMethod(name) != nullptr ? "capstan" : "belos";
}

class BelosContestant final : public Contestant {
 public:
  BelosContestant(const deck::LinearSolver& solver, Shared shared,
                  const Teuchos::RCP<deck::Preconditioner>& preconditioner, const std::string& systemName)
      : shared_(std::move(shared)), preconditioner_(preconditioner), side_(solver.preconditioner.side) {
    description_.name = solver.name;
    description_.method = solver.method;
    description_.library = libraryOf(solver);
    description_.group = groupOf(solver.method);
    description_.preconditioner = solver.preconditioner.name;
    if (!solver.mueluFile.empty()) description_.preconditioner += " (" + solver.mueluFile + ")";
    description_.tolerance = solver.finalTolerance;
    parameters_ = Teuchos::rcp(new Teuchos::ParameterList(solver.parameters));
    parameters_->set("Convergence Tolerance", solver.finalTolerance);
    description_.parameters = toJson(*parameters_);
    label_ = systemName + ": " + solver.name;
    if (findMethod(solver.method) != nullptr) return;  // Capstan's own count in their report
    countedA_ = Teuchos::rcp(new CountedOperator(shared_.A));
    if (!preconditioner_->op().is_null()) countedM_ = Teuchos::rcp(new CountedOperator(preconditioner_->op()));
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
    if (const MethodTraits* method = findMethod(description_.method)) out["cost"] = cost(*method, own->report());
    return out;
  }

 private:
  /// The cost data of an iteration with this contestant's parameters, with the step size it ended
  /// with and no more columns than it made.
  nlohmann::json cost(const MethodTraits& method, const SolveReport& report) const {
    Parameters parameters(method);
    parameters.merge(*parameters_);
    SolverOptions options = parameters.options();
    if (report.finalStepSize > 0) options.stepSize = report.finalStepSize;
    // A cycle that ends early has shorter columns.
    options.numBlocks = std::max(1, std::min(options.numBlocks, report.iterations));
    const Cost each = method.cost(options, !preconditioner_->op().is_null());
    return {{"reductions", each.reductions},     {"hidden", method.pipelined},
            {"operators", each.operators},       {"preconditioners", each.preconditioners},
            {"vectors", each.vectors},           {"flops_of_a_row", each.flops},
            {"bytes_of_a_row", each.bytes},      {"pipeline_depth", options.pipelineDepth},
            {"step_size", report.finalStepSize}, {"restart", options.numBlocks}};
  }

  /// The solver, where it is one of Capstan's.
  const ReportingSolver* reporting() const { return dynamic_cast<const ReportingSolver*>(manager_.get()); }

  void makeProblem() {
    Teuchos::RCP<const Operator> A = shared_.A, M = preconditioner_->op();
    if (!countedA_.is_null()) A = countedA_;
    if (!countedM_.is_null()) M = countedM_;
    problem_ = Teuchos::rcp(new Problem(A, shared_.x, shared_.b));
    problem_->setLabel(label_);
    if (side_ == deck::Side::Left) {
      problem_->setLeftPrec(M);
    } else {
      problem_->setRightPrec(M);
    }
  }

  Description description_;
  Shared shared_;
  Teuchos::RCP<deck::Preconditioner> preconditioner_;
  deck::Side side_;
  Teuchos::RCP<Teuchos::ParameterList> parameters_;
  std::string label_;
  Teuchos::RCP<CountedOperator> countedA_, countedM_;  // null: nothing to count, or the report does
  Teuchos::RCP<Problem> problem_;
  Teuchos::RCP<Manager> manager_;
};

LocalSystem localSystem(const Matrix& A, const MultiVector& b) {
  LocalSystem local;
  const auto& rowMap = *A.getRowMap();
  const auto& columnMap = *A.getColMap();
  const auto rows = static_cast<int>(compat::localNumRows(A));
  Matrix::nonconst_local_inds_host_view_type columns("columns", compat::localMaxNumRowEntries(A));
  Matrix::nonconst_values_host_view_type values("values", compat::localMaxNumRowEntries(A));
  const auto rhs = b.getData(0);
  local.globalRows = static_cast<long long>(A.getGlobalNumRows());
  local.rowStarts.push_back(0);
  for (int i = 0; i < rows; ++i) {
    std::size_t count = 0;
    A.getLocalRowCopy(i, columns, values, count);
    std::map<long long, double> sorted;  // PETSc wants ascending columns
    for (std::size_t e = 0; e < count; ++e) {
      sorted[columnMap.getGlobalElement(columns(e)) - rowMap.getIndexBase()] += values(e);
    }
    for (const auto& [column, value] : sorted) {
      local.columns.push_back(column);
      local.values.push_back(value);
    }
    local.rowStarts.push_back(static_cast<long long>(local.columns.size()));
    local.rhs.push_back(rhs[i]);
  }
  return local;
}

void requirePlain(const deck::SystemOptions& system, const Matrix& A, const MultiVector& b) {
  const auto refuse = [&](const std::string& what) {
    throw deck::InputError(
        fmt::format("{}: {}; a benchmark times one right-hand side from a zero guess", system.place.text(), what));
  };
  if (b.getNumVectors() != 1) refuse(fmt::format("found {} right-hand sides; allowed: 1", b.getNumVectors()));
  if (system.guess != deck::GuessKind::Zero) refuse("found a guess; allowed: zero");
  if (system.sequence.steps * system.sequence.outerIterations != 1) refuse("found a sequence; allowed: one system");
  if (norm(b) == 0.0) refuse("the right-hand side is zero; allowed: any other");
  if (!A.getRowMap()->isContiguous()) refuse("its rows are not distributed in contiguous blocks");
}

/// Preconditioners already built, by everything that makes them what they are.
class PreconditionerStore {
 public:
  Teuchos::RCP<deck::Preconditioner> get(const deck::PreconditionerOptions& wanted, const Teuchos::RCP<Matrix>& A) {
    for (const auto& known : known_) {
      const auto& options = known->options();
      if (options.name == wanted.name && options.origin == wanted.origin && options.parameters == wanted.parameters) {
        return known;
      }
    }
    known_.push_back(Teuchos::rcp(new deck::Preconditioner(wanted)));
    known_.back()->update(A);
    return known_.back();
  }

 private:
  std::vector<Teuchos::RCP<deck::Preconditioner>> known_;
};

}  // namespace

Field buildField(const deck::Deck& deck, const deck::SystemOptions& system,
                 const Teuchos::RCP<const deck::Communicator>& comm, bool withLocal, unsigned seed) {
  const auto built = deck::buildSystem(system, comm);
  requirePlain(system, *built.A, *built.b);
  const auto map = built.A->getDomainMap();
  const Shared shared{built.A, built.b, Teuchos::rcp(new MultiVector(map, 1)), Teuchos::rcp(new MultiVector(map, 1))};
  Field field;
  field.name = system.name;
  field.A = built.A;
  field.b = built.b;
  field.rows = static_cast<long long>(built.A->getGlobalNumRows());
  field.entries = static_cast<long long>(built.A->getGlobalNumEntries());
  PreconditionerStore store;
  for (const auto index : system.solvers) {
    const auto& solver = deck.linearSolvers[index];
    try {
      field.contestants.push_back(
          std::make_unique<BelosContestant>(solver, shared, store.get(solver.preconditioner, built.A), system.name));
    } catch (const deck::PreconditionerError& error) {
      throw deck::PreconditionerError(fmt::format("{}.preconditioner: {}", solver.place.text(), error.what()));
    }
  }
  if (withLocal) field.local = localSystem(*built.A, *built.b);
  if (deck.campaign.changingRightHandSide) field.rightHandSides = std::make_shared<RightHandSides>(built.b, seed);
  return field;
}

}  // namespace capstan::perf
