#include "adapters/deck/solve.hpp"

#include <fmt/format.h>

#include <BelosStatusTest.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Teuchos_TimeMonitor.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <iostream>

#include "adapters/deck/residual_check.hpp"
#include "adapters/deck/systems.hpp"
#include "adapters/driver/belos_method.hpp"
#include "adapters/driver/shared_failures.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan::deck {
namespace {

using driver::BelosMethod;
using driver::SharedFailures;

/// A status test that never stops a solver and writes down its residuals.
class Recorder : public Belos::StatusTest<double, MultiVector, Operator> {
 public:
  Belos::StatusType checkStatus(Belos::Iteration<double, MultiVector, Operator>* iteration) override {
    std::vector<double> norms(static_cast<std::size_t>(iteration->getProblem().getRHS()->getNumVectors()), 0.0);
    iteration->getNativeResiduals(&norms);
    if (points_.empty()) first_ = norms;
    const int number = iteration->getNumIters();
    if (!points_.empty() && points_.back().iteration == number) return Belos::Undefined;
    for (std::size_t column = 0; column < std::min(norms.size(), first_.size()); ++column) {
      const double scale = first_[column] > 0.0 ? first_[column] : 1.0;
      points_.push_back({number, static_cast<int>(column), norms[column] / scale});
    }
    return Belos::Undefined;
  }
  Belos::StatusType getStatus() const override { return Belos::Undefined; }
  void reset() override {}
  void print(std::ostream& out, int indent) const override { out << std::string(indent, ' ') << "residual recorder\n"; }
  const std::vector<HistoryPoint>& points() const { return points_; }

 private:
  std::vector<HistoryPoint> points_;
  std::vector<double> first_;
};

/// One system with one solver, over the steps of the system.
class Runner {
 public:
  Runner(const SystemOptions& system, const LinearSolver& solver, SystemSequence& sequence, const RunOptions& options,
         SharedFailures& failures)
      : system_(system),
        solver_(solver),
        sequence_(sequence),
        options_(options),
        failures_(failures),
        x_(Teuchos::rcp(new MultiVector(sequence.guess(), Teuchos::Copy))) {}

  /// \param first nothing has been solved so far: a preconditioner that cannot be built is thrown, else recorded
  SolveRecord solve(int k, bool first) {
    SolveRecord record = begin(k);
    if (options_.before) options_.before(record);
    sequence_.select(k, *x_);
    if (!system_.sequence.previousGuess || k == 0) Tpetra::deep_copy(*x_, sequence_.guess());
    const MultiVector initial = residual(*sequence_.A(), *x_, *sequence_.b());
    const double start = wallSeconds();
    record.failure = updatePreconditioner();
    if (first && !record.failure.empty()) throw PreconditionerError(record.failure);
    record.setupSeconds = wallSeconds() - start;
    const bool left = solver_.preconditioner.side == Side::Left && record.failure.empty();
    if (record.failure.empty()) {
      runSolver(record);
    } else {
      record.scaledBy = scalingOf(solver_.parameters, false);  // there is no preconditioned residual
    }
    judge(*sequence_.A(), *x_, *sequence_.b(), initial, left ? preconditioner_->op() : Teuchos::null, record);
    if (solver_.writeMatrixFiles) {
      writeSystem(*sequence_.A(), *sequence_.b(), *x_, fmt::format("{}_{}_{}", record.system, record.solver, k));
    }
    if (solver_.summarizeMueluTimer) Teuchos::TimeMonitor::summarize(std::cout, false, true, false, Teuchos::Union);
    if (options_.after) options_.after(record);
    return record;
  }

 private:
  SolveRecord begin(int k) const {
    SolveRecord record;
    record.system = system_.name;
    record.solver = solver_.name;
    record.method = solver_.method;
    record.preconditioner = solver_.preconditioner.name;
    record.step = k / system_.sequence.outerIterations;
    record.outer = k % system_.sequence.outerIterations;
    record.rows = static_cast<long long>(sequence_.A()->getGlobalNumRows());
    record.entries = static_cast<long long>(sequence_.A()->getGlobalNumEntries());
    record.columns = static_cast<int>(sequence_.b()->getNumVectors());
    const bool last = record.outer + 1 == system_.sequence.outerIterations;
    record.tolerance = last ? solver_.finalTolerance : solver_.tolerance;
    record.scaledBy = scalingOf(solver_.parameters, solver_.preconditioner.side == Side::Left);
    return record;
  }

  /// Why there is no preconditioner, alike on all ranks; empty: there is one.
  std::string updatePreconditioner() {
    std::string failure;
    try {
      if (!preconditioner_) preconditioner_.emplace(solver_.preconditioner);
      preconditioner_->update(sequence_.A());
    } catch (const PreconditionerError& error) {
      failure = error.what();
    }
    failure = failures_.share(failure);
    return failure.empty() ? "" : fmt::format("{}.preconditioner: {}", solver_.place.text(), failure);
  }

  Teuchos::RCP<BelosMethod::Problem> makeProblem() {
    auto problem = Teuchos::rcp(new BelosMethod::Problem(sequence_.A(), x_, sequence_.b()));
    problem->setLabel(system_.name);
    if (solver_.preconditioner.side == Side::Left) {
      problem->setLeftPrec(preconditioner_->op());
    } else {
      problem->setRightPrec(preconditioner_->op());
    }
    problem->setProblem();
    return problem;
  }

  void makeMethod() {
    const auto& given = solver_.parameters;
    method_.emplace(solver_.method, Teuchos::parameterList(given));
    const bool written = std::any_of(given.begin(), given.end(), [](const auto& item) {
      return normalizedName(item.first) == normalizedName("History File");
    });
    if (!options_.history || method_->reporting() == nullptr || written) return;
    // Capstan's solvers, by whatever name they were asked for, keep a history when told to write it.
    const auto history = Teuchos::parameterList();
    history->set("History File", "/dev/null");
    method_->manager().setParameters(history);
  }

  /// As Nalu-wind does it: the solver is made anew with a new multigrid hierarchy, else kept; the tolerance comes in a
  /// list of its own before every solve.
  void runSolver(SolveRecord& record) {
    const auto recorder = Teuchos::rcp(new Recorder);
    try {
      const auto problem = makeProblem();
      if (!method_ || (record.preconditioner == "muelu" && preconditioner_->builds() != buildsSeen_)) {
        makeMethod();
        buildsSeen_ = preconditioner_->builds();
      }
      method_->setLimits(record.tolerance);
      if (options_.history && method_->reporting() == nullptr) {
        method_->manager().setProblem(problem);
        watch(recorder);
      }
      const long reductions = options_.reductions ? options_.reductions() : 0;
      const auto outcome = method_->solve(problem);
      if (options_.reductions) record.reductions = options_.reductions() - reductions;
      record.claimed = outcome.claimed;
      record.iterations = outcome.iterations;
      record.solveSeconds = outcome.seconds;
      record.reason = outcome.reason;
      if (outcome.report != nullptr) record.report = *outcome.report;
    } catch (const std::exception& error) {
      record.failure = error.what();
    }
    record.failure = failures_.share(record.failure);
    if (!record.failure.empty()) {
      record.claimed = false;
      record.reason.clear();
      record.reductions.reset();
      record.report.reset();
      method_.reset();
    }
    record.history = record.report ? record.report->history : recorder->points();
  }

  void watch(const Teuchos::RCP<Recorder>& recorder) {
    try {
      method_->manager().setDebugStatusTest(recorder);
    } catch (const std::logic_error&) {
      // Some of Belos' solvers take no debug test; their history stays empty.
    }
  }

  const SystemOptions& system_;
  const LinearSolver& solver_;
  SystemSequence& sequence_;
  const RunOptions& options_;
  SharedFailures& failures_;
  std::optional<Preconditioner> preconditioner_;  ///< made with the first solve
  Teuchos::RCP<MultiVector> x_;
  std::optional<BelosMethod> method_;
  int buildsSeen_ = 0;
};

}  // namespace

std::vector<SolveRecord> runDeck(const Deck& deck, const Teuchos::RCP<const Communicator>& comm,
                                 const RunOptions& options) {
  std::vector<SolveRecord> records;
  SharedFailures failures(*comm);
  for (const auto& system : deck.systems) {
    SystemSequence sequence(system, comm);
    for (const auto index : system.solvers) {
      Runner runner(system, deck.linearSolvers[index], sequence, options, failures);
      for (int k = 0; k < sequence.size(); ++k) records.push_back(runner.solve(k, records.empty()));
    }
  }
  return records;
}

}  // namespace capstan::deck
