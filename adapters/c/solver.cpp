#include "adapters/c/solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <BelosStatusTestCombo.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Teuchos_DefaultMpiComm.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Map.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "adapters/c/csr_rows.hpp"
#include "adapters/driver/host_operator.hpp"
#include "adapters/driver/host_vectors.hpp"
#include "adapters/driver/start_trilinos.hpp"
#include "belos_ext/manager/asked_solver.hpp"
#include "belos_ext/manager/system_numbers.hpp"
#include "belos_ext/problem/symmetry_check.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "belos_ext/support/shared_text.hpp"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan::c {
namespace {

using TestCombination = Belos::StatusTestCombo<double, MultiVector, Operator>;
constexpr const char* absoluteKey = "Absolute Tolerance";

MPI_Comm rawOf(const Communicator& comm) { return *dynamic_cast<const Teuchos::MpiComm<int>&>(comm).getRawMpiComm(); }

Teuchos::RCP<const Communicator> ownOf(MPI_Comm comm) {
  try {
    // Duplicates share a count of systems that is there before them: solvers that live together keep theirs apart.
    SystemNumbers::of(Teuchos::MpiComm<int>(comm));
    return driver::ownCommunicator(comm);
  } catch (const std::runtime_error& error) {
    throw Error(CAPSTAN_ERROR_MPI, error.what());
  }
}

deck::LinearSolver optionsFrom(const std::function<deck::SolverText(const Communicator&)>& read,
                               const Teuchos::RCP<const Communicator>& comm) {
  try {
    auto options = deck::loadLinearSolver(read(*comm), comm);
    if (findMethod(options.method) != nullptr) return options;
    std::vector<std::string> names{choosingMethod().canonical};
    for (const auto& method : methods()) names.push_back(method.canonical);
    throw Error(CAPSTAN_ERROR_INPUT,
                fmt::format("{}: method: found '{}', which is none of Capstan's; allowed: {}{}", options.place.text(),
                            options.method, fmt::join(names, ", "), didYouMean(options.method, names)));
  } catch (const deck::InputError& error) {
    throw Error(CAPSTAN_ERROR_INPUT, error.what());
  }
}

/// NaN where the function fails: the norm is that on all ranks.
double partOf(capstan_norm norm, void* context, const MultiVector& r) {
  double part = 0;
  const double* const entries = entriesOf(r);
  const bool failed = called([&] { return norm(context, entries, &part); }) != 0;
  return failed ? std::numeric_limits<double>::quiet_NaN() : part;
}

/// Columns of the application to those of Trilinos, and back. \{
void copyIn(const double* from, std::int64_t ld, MultiVector& to) {
  if (from == nullptr) return;  // no rows
  for (std::size_t j = 0; j < to.getNumVectors(); ++j) {
    driver::copyIn(from + static_cast<std::int64_t>(j) * ld, *to.getVectorNonConst(j));
  }
}
void copyOut(const MultiVector& from, double* to, std::int64_t ld) {
  if (to == nullptr) return;  // no rows
  for (std::size_t j = 0; j < from.getNumVectors(); ++j) {
    driver::copyOut(*from.getVector(j), to + static_cast<std::int64_t>(j) * ld);
  }
}
/// \}

std::optional<Error> errorOf(const std::function<void()>& local) {
  try {
    local();
  } catch (const Error& found) {
    return found;
  } catch (const std::bad_alloc&) {
    return Error(CAPSTAN_ERROR_MEMORY, "out of memory");
  } catch (const std::exception& failure) {  // Kokkos has one of its own for want of memory
    return Error(CAPSTAN_ERROR_INTERNAL, failure.what());
  }
  return std::nullopt;
}

void requireSwitch(const char* name, int value) {
  if (value == 0 || value == 1) return;
  throw Error(CAPSTAN_ERROR_ARGUMENT, fmt::format("{}: found {}; allowed: 0 or 1", name, value));
}

}  // namespace

Solver::Solver(MPI_Comm comm, const std::function<deck::SolverText(const Communicator&)>& read)
    : comm_(ownOf(comm)), options_(optionsFrom(read, comm_)) {
  failures_ = std::make_unique<driver::SharedFailures>(*comm_);
  if (options_.parameters.isType<int>("Maximum Iterations")) {
    maxIterations_ = options_.parameters.get<int>("Maximum Iterations");
  }
  makeMethod();
}

AskedSolver<driver::OperatorTypes>& Solver::asked() const {
  return dynamic_cast<AskedSolver<driver::OperatorTypes>&>(method_->manager());
}

void Solver::makeMethod() {
  const auto list = Teuchos::rcp(new Teuchos::ParameterList(options_.parameters));
  // A method keeps its history when it is to write it.
  if (set_.history && !list->isParameter("History File")) list->set("History File", "/dev/null");
  method_.emplace(options_.method, list);
  if (maxIterations_) method_->setLimits(options_.tolerance, maxIterations_);
  asked().setHostNorm(set_.norm);
  if (!set_.test.is_null()) method_->manager().setUserConvStatusTest(set_.test, TestCombination::OR);
}

void Solver::check(const std::function<void()>& local, const std::vector<Counted>& alike) const {
  const auto error = errorOf(local);
  const MPI_Comm comm = rawOf(*comm_);
  const int ranks = comm_->getSize();
  if (ranks == 1) {
    if (error) throw *error;
    return;
  }
  // The first rank with an error; 1 where all have one; the least and the negative of the largest numbers.
  std::vector<int> least{error ? comm_->getRank() : ranks, error ? 1 : 0};
  for (const auto& [what, number] : alike) least.insert(least.end(), {number, -number});
  MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT, MPI_MIN, comm);
  if (least[0] == ranks) {
    for (std::size_t i = 0; i < alike.size(); ++i) {
      const int from = least[2 + 2 * i], to = -least[3 + 2 * i];
      if (from == to) continue;
      throw Error(CAPSTAN_ERROR_ARGUMENT, fmt::format("{}: found {} to {} on the ranks", alike[i].what, from, to));
    }
    return;
  }
  int status = error ? error->status() : 0;
  MPI_Bcast(&status, 1, MPI_INT, least[0], comm);
  const std::string text = sharedText(error ? error->what() : "", least[0], *comm_);
  throw Error(static_cast<capstan_status>(status), least[1] == 1 ? text : fmt::format("rank {}: {}", least[0], text));
}

void Solver::share(capstan_status status, const std::function<void()>& work) {
  const auto error = errorOf(work);
  throwShared(status, error ? error->what() : "");
}

void Solver::throwShared(capstan_status status, const std::string& mine, const std::function<void()>& local) {
  std::string failure;
  try {
    failure = failures_->share(mine);
  } catch (const driver::LoneFailure& lone) {
    throw Error(CAPSTAN_ERROR_LONE, lone.what());
  }
  if (failure.empty()) return;
  if (local) check(local);
  throw Error(status, failure);
}

// What belongs to other rows goes.
void Solver::takeRows(std::int64_t rows) {
  map_ = driver::makeRowMap(comm_, rows);
  b_ = x_ = Teuchos::null;
  callback_ = Teuchos::null;
  matrix_ = Teuchos::null;
  graph_.reset();
  values_ = nullptr;
  preconditioner_.reset();
  set_.preconditioner = wanted_.preconditioner = Teuchos::null;
  set_.symmetric = wanted_.symmetric = -1;
}

void Solver::setOperator(std::int64_t rows, capstan_apply apply, void* context) {
  check([&] {
    if (apply == nullptr) throw Error(CAPSTAN_ERROR_ARGUMENT, "operator: found NULL; allowed: a function");
    checkRows(rows);
    if (options_.preconditioner.name != "none") {
      throw Error(CAPSTAN_ERROR_INPUT,
                  fmt::format("preconditioner: found '{}', which needs the entries of A; give them to "
                              "capstan_set_matrix(), or none here and a function to "
                              "capstan_set_preconditioner()",
                              options_.preconditioner.name));
    }
  });
  share(CAPSTAN_ERROR_INTERNAL, [&] {
    takeRows(rows);
    callback_ = Teuchos::rcp(new CallbackOperator(map_, apply, context));
  });
}

void Solver::setMatrix(const capstan_csr* matrix) {
  driver::CsrPattern pattern;
  check([&] { pattern = patternOf(matrix); });
  MPI_Comm comm = rawOf(*comm_);
  const std::int64_t rows = matrix->rows;
  std::int64_t last = 0;
  MPI_Scan(&rows, &last, 1, MPI_INT64_T, MPI_SUM, comm);
  MPI_Allreduce(&rows, &pattern.globalRows, 1, MPI_INT64_T, MPI_SUM, comm);
  pattern.comm = comm;
  pattern.firstRow = last - rows;
  check([&] { checkEntries(pattern); });
  share(CAPSTAN_ERROR_INTERNAL, [&] {
    takeRows(rows);
    graph_ = driver::makeGraph(pattern, map_);
    matrix_ = Teuchos::rcp(new deck::Matrix(graph_->graph));
    matrix_->fillComplete(graph_->graph->getDomainMap(), graph_->graph->getRangeMap());
  });
  values_ = matrix->values;
  readValues();
  share(CAPSTAN_ERROR_PRECONDITIONER, [&] { preconditioner_.emplace(options_.preconditioner); });
}

void Solver::readValues() {
  driver::setValues(*matrix_, values_, graph_->position);
  preconditionerIsDue_ = true;
}

void Solver::changeMatrix() {
  check([&] {
    if (matrix_.is_null()) throw Error(CAPSTAN_ERROR_ORDER, "there is no matrix yet; call capstan_set_matrix() first");
  });
  readValues();
}

void Solver::requireRows() const {
  if (!map_.is_null()) return;
  throw Error(CAPSTAN_ERROR_ORDER, "A comes first: call capstan_set_operator() or capstan_set_matrix()");
}

// The ranks compare what they want in the next solve: it may be refused on some of them.
Solver::Settings& Solver::want(const std::function<void()>& check) {
  isToCompare_ = true;
  ++calls_;
  check();
  return wanted_;
}

void Solver::setSymmetric(int symmetric) {
  const auto isKnown = [&] {
    if (symmetric < -1 || symmetric > 1) {
      throw Error(CAPSTAN_ERROR_ARGUMENT, fmt::format("symmetric: found {}; allowed: 1, 0, or -1", symmetric));
    }
    requireRows();
  };
  want(isKnown).symmetric = symmetric;
}

void Solver::setPreconditioner(capstan_apply apply, void* context) {
  auto& wanted = want([&] { requireRows(); });
  wanted.preconditioner = apply == nullptr ? Teuchos::null : Teuchos::rcp(new CallbackOperator(map_, apply, context));
}

void Solver::setDiagonal(int diagonal) {
  const auto isKnown = [&] {
    requireSwitch("diagonal", diagonal);
    if (!wanted_.preconditioner.is_null()) return;
    throw Error(CAPSTAN_ERROR_ORDER, "M comes first: call capstan_set_preconditioner()");
  };
  auto& wanted = want(isKnown).preconditioner;
  wanted = Teuchos::rcp(new CallbackOperator(*wanted));  // a method knows what it has read of the other one
  wanted->isDiagonal(diagonal == 1);
}

// These travel with the method's parameters, which the method compares itself.
void Solver::setLimits(double tolerance, double absoluteTolerance, int maxIterations) {
  for (const auto& [name, value] :
       {std::pair{"tolerance", tolerance}, std::pair{"absolute_tolerance", absoluteTolerance}}) {
    if (value >= 0 && std::isfinite(value)) continue;
    throw Error(CAPSTAN_ERROR_ARGUMENT, fmt::format("{}: found {}; allowed: a number, at least 0", name, value));
  }
  if (maxIterations < 0) {
    throw Error(CAPSTAN_ERROR_ARGUMENT, fmt::format("max_iterations: found {}; allowed: at least 0", maxIterations));
  }
  const bool told = absolute_ == absoluteTolerance;
  if (told && options_.tolerance == tolerance && maxIterations_ == maxIterations) return;
  options_.tolerance = tolerance;
  maxIterations_ = maxIterations;
  method_->setLimits(tolerance, maxIterations);
  if (told) return;
  absolute_ = absoluteTolerance;
  options_.parameters.set(absoluteKey, absoluteTolerance);
  const auto list = Teuchos::parameterList();
  list->set(absoluteKey, absoluteTolerance);
  method_->manager().setParameters(list);
}

void Solver::setTest(capstan_test test, void* context) {
  methodIsDue_ = true;
  want([] {}).test = test == nullptr ? Teuchos::null : Teuchos::rcp(new HostTest(test, context));
}

void Solver::setNorm(capstan_norm norm, int power, void* context) {
  methodIsDue_ = true;
  const auto isKnown = [&] {
    if (power == 1 || power == 2) return;
    throw Error(CAPSTAN_ERROR_ARGUMENT, fmt::format("power: found {}; allowed: 1 or 2", power));
  };
  auto& wanted = want(isKnown);
  wanted.normFrom = calls_;
  wanted.norm = {};
  wanted.norm.power = norm == nullptr ? 1 : power;
  if (norm == nullptr) return;
  wanted.norm.part = [=](const void* r) { return partOf(norm, context, *static_cast<const MultiVector*>(r)); };
}

void Solver::setZeroGuess(int zero) {
  want([&] { requireSwitch("zero", zero); }).zeroGuess = zero == 1;
}

void Solver::keepHistory(int keep) {
  want([&] { requireSwitch("keep", keep); }).history = keep == 1;
}

// The same on all ranks now.
void Solver::takeSettings() {
  const bool givesSymmetry = wanted_.symmetric != set_.symmetric;
  methodIsDue_ = methodIsDue_ || wanted_.history != set_.history;
  set_ = wanted_;
  isToCompare_ = false;
  if (std::exchange(methodIsDue_, false)) makeMethod();
  if (!givesSymmetry) return;
  const auto tell = [this](const auto& a) {
    if (a.is_null()) return;
    using Check = SymmetryCheck<driver::OperatorTypes>;
    set_.symmetric < 0 ? Check::forget(a) : Check::remember(a, {1, set_.symmetric == 1 ? 0 : 1});
  };
  tell(callback_);
  tell(matrix_);
}

void Solver::checkColumns(const Columns& columns) const {
  const auto wrong = [](const std::string& text) { throw Error(CAPSTAN_ERROR_ARGUMENT, text); };
  if (callback_.is_null() && matrix_.is_null()) {
    throw Error(CAPSTAN_ERROR_ORDER, "there is no A yet; call capstan_set_operator() or capstan_set_matrix() first");
  }
  if (columns.count < 1) wrong(fmt::format("columns: found {}; allowed: at least 1", columns.count));
  const auto rows = driver::localRows(*map_);
  if (rows > 0 && columns.b == nullptr) wrong("b: found NULL");
  if (rows > 0 && columns.x == nullptr) wrong("x: found NULL");
  if (columns.count == 1) return;
  const auto least = std::max<std::int64_t>(rows, 1);
  for (const auto& [name, ld] : {std::pair{"ldb", columns.ldb}, std::pair{"ldx", columns.ldx}}) {
    if (ld < least) wrong(fmt::format("{}: found {}; allowed: at least {}, the rows of this rank", name, ld, least));
  }
}

void Solver::makeColumns(int count) {
  if (hasColumns(count)) return;
  b_ = x_ = Teuchos::null;
  const auto b = Teuchos::rcp(new MultiVector(map_, static_cast<std::size_t>(count)));
  x_ = Teuchos::rcp(new MultiVector(map_, static_cast<std::size_t>(count)));
  b_ = b;
}

void Solver::updatePreconditioner() {
  if (!preconditioner_ || !set_.preconditioner.is_null() || !preconditionerIsDue_) return;
  const double start = wallSeconds();
  share(CAPSTAN_ERROR_PRECONDITIONER, [&] { preconditioner_->update(matrix_); });
  preconditionerIsDue_ = false;
  builds_ = preconditioner_->builds() + preconditioner_->renewals();
  setupSeconds_ = wallSeconds() - start;
}

Teuchos::RCP<driver::BelosMethod::Problem> Solver::makeProblem() const {
  Teuchos::RCP<const Operator> a = matrix_;
  if (a.is_null()) a = callback_;
  auto problem = Teuchos::rcp(new driver::BelosMethod::Problem(a, x_, b_));
  Teuchos::RCP<const Operator> m = set_.preconditioner;
  if (m.is_null() && preconditioner_) m = preconditioner_->op();
  if (!m.is_null()) {
    options_.preconditioner.side == deck::Side::Left ? problem->setLeftPrec(m) : problem->setRightPrec(m);
  }
  if (set_.symmetric == 1) problem->setHermitian(true);
  if (!options_.name.empty()) problem->setLabel(options_.name);
  if (!callback_.is_null()) callback_->multipliesZero(set_.zeroGuess);
  problem->setProblem();  // b - A x
  if (!callback_.is_null()) callback_->multipliesZero(false);
  return problem;
}

void Solver::compare(const std::function<void()>& prepare, int columns) {
  try {
    check(prepare, {{"columns", columns},
                    {"symmetric", wanted_.symmetric},
                    {"zero", wanted_.zeroGuess ? 1 : 0},
                    {"keep", wanted_.history ? 1 : 0},
                    {"diagonal", !wanted_.preconditioner.is_null() && wanted_.preconditioner->isDiagonal() ? 1 : 0},
                    {"preconditioner: functions of a rank", wanted_.preconditioner.is_null() ? 0 : 1},
                    {"test: functions of a rank", wanted_.test.is_null() ? 0 : 1},
                    {"norm: power of a rank, 0 without a function", wanted_.norm.part ? wanted_.norm.power : 0},
                    {"norm: number of the call that has set it", wanted_.normFrom}});
  } catch (const Error&) {
    b_ = x_ = Teuchos::null;  // a rank may have none
    wanted_ = set_;
    throw;
  }
  takeSettings();
}

void Solver::solve(const Columns& columns, const std::function<void()>& local) {
  const auto prepare = [&] {
    checkColumns(columns);
    local();
    makeColumns(columns.count);
  };
  // Where the ranks have set nothing, a wrong argument travels in the method's first reduction.
  const bool rides = columns.alone && !isToCompare_ && hasColumns(1);
  std::optional<Error> wrong;
  if (rides) {
    wrong = errorOf(prepare);
  } else {
    compare(prepare, columns.count);
  }
  asked().refuse(wrong ? wrong->what() : "");
  setupSeconds_ = 0;
  copyIn(columns.b, columns.ldb, *b_);
  set_.zeroGuess ? x_->putScalar(0) : copyIn(columns.x, columns.ldx, *x_);
  updatePreconditioner();
  for (const auto& callback : {callback_, set_.preconditioner}) {
    if (!callback.is_null()) callback->takeFailure();
  }
  const SolveReport before = std::exchange(report_, SolveReport());
  std::string failure;
  try {
    const auto outcome = method_->solve(makeProblem());
    solveSeconds_ = outcome.seconds;
    report_ = *outcome.report;
  } catch (const std::exception& error) {
    failure = error.what();
  }
  // The others have failed alike, or wait within the method for this rank.
  if (!failure.empty()) {
    report_ = before;
    throwShared(CAPSTAN_ERROR_INPUT, failure, [&] {
      if (wrong) throw *wrong;
    });
  }
  copyOut(*x_, columns.x, columns.ldx);
  tellFailedCallbacks();
}

// A method that converged has done without what failed.
void Solver::tellFailedCallbacks() {
  if (report_.converged || (callback_.is_null() && set_.preconditioner.is_null())) return;
  check([&] {
    const auto failed = [](auto& callback) { return !callback.is_null() && callback->takeFailure(); };
    if (failed(callback_)) throw Error(CAPSTAN_ERROR_CALLBACK, "the function that is A has failed");
    if (failed(set_.preconditioner)) throw Error(CAPSTAN_ERROR_CALLBACK, "the function that is M has failed");
  });
}

}  // namespace capstan::c
