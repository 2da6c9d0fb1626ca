// The functions of capstan.h: handles, errors in place of exceptions, and what becomes of handles when MPI ends.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "adapters/c/solver.hpp"
#include "adapters/deck/linear_solver_checks.hpp"
#include "adapters/deck/matrix_market.hpp"
#include "adapters/driver/start_trilinos.hpp"
#include "adapters/plugin/options_file.hpp"
#include "adapters/run_end/run_end.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/user_options_error.hpp"
#include "belos_ext/support/shared_text.hpp"

struct capstan_solver {
  std::unique_ptr<capstan::c::Solver> solver;  ///< null after MPI has ended
  std::string error;
  bool works = false;
};

namespace capstan::c {
namespace {

static_assert(static_cast<int>(StopReason::NotStarted) == CAPSTAN_NOT_STARTED &&
              static_cast<int>(StopReason::Converged) == CAPSTAN_CONVERGED &&
              static_cast<int>(StopReason::MaxIterations) == CAPSTAN_MAX_ITERATIONS &&
              static_cast<int>(StopReason::MaxRestarts) == CAPSTAN_MAX_RESTARTS &&
              static_cast<int>(StopReason::Stagnation) == CAPSTAN_STAGNATION &&
              static_cast<int>(StopReason::AttainableAccuracy) == CAPSTAN_ATTAINABLE_ACCURACY &&
              static_cast<int>(StopReason::Inconsistent) == CAPSTAN_INCONSISTENT &&
              static_cast<int>(StopReason::Breakdown) == CAPSTAN_BREAKDOWN &&
              static_cast<int>(StopReason::NonFinite) == CAPSTAN_NON_FINITE &&
              static_cast<int>(StopReason::UserTest) == CAPSTAN_USER_TEST);

thread_local std::string errorOfThread;  // NOLINT(cert-err58-cpp): an empty string

/// Those that hold objects of Trilinos, which have to go before MPI does.
struct Living {
  std::mutex mutex;
  std::vector<capstan_solver*> handles;  ///< in the order in which they were made, alike on the ranks of each
  bool watched = false;

  static Living& all() {
    static auto* const living = new Living;  // handles may outlive static objects
    return *living;
  }
  void add(capstan_solver* handle) {
    const std::lock_guard<std::mutex> lock(mutex);
    handles.push_back(handle);
    if (watched) return;
    watched = true;
    atMpiFinalize([this] {
      const std::lock_guard<std::mutex> atEnd(mutex);
      while (!handles.empty()) {
        handles.back()->solver.reset();
        handles.pop_back();
      }
    });
  }
  void remove(capstan_solver* handle) {
    const std::lock_guard<std::mutex> lock(mutex);
    handles.erase(std::remove(handles.begin(), handles.end(), handle), handles.end());
  }
};

/// Runs work; its exceptions become a status and a text.
template <class Work>
int guarded(std::string& text, const Work& work) noexcept {
  try {
    try {
      work();
      return CAPSTAN_SUCCESS;
    } catch (const Error& error) {
      text = error.what();
      return error.status();
    } catch (const std::bad_alloc&) {
      text = "out of memory";
      return CAPSTAN_ERROR_MEMORY;
    } catch (const UserOptionsError& error) {
      text = error.what();
      return CAPSTAN_ERROR_INPUT;
    } catch (const std::exception& error) {
      text = error.what();
      return CAPSTAN_ERROR_INTERNAL;
    } catch (...) {
      text = "an exception of unknown type";
      return CAPSTAN_ERROR_INTERNAL;
    }
  } catch (...) {  // no memory for the text
    return CAPSTAN_ERROR_MEMORY;
  }
}

/// Runs work(solver) on what stands behind a handle.
template <class Work>
int withSolver(capstan_solver* handle, const Work& work) noexcept {
  if (handle == nullptr) {
    return guarded(errorOfThread, [] { throw Error(CAPSTAN_ERROR_ARGUMENT, "solver: found NULL"); });
  }
  return guarded(handle->error, [&] {
    if (handle->solver == nullptr || !mpiRuns()) throw Error(CAPSTAN_ERROR_MPI, "MPI has ended");
    if (handle->works) {
      throw Error(CAPSTAN_ERROR_ORDER, "the solver is at work: this call came from a function that it has called");
    }
    struct Works {
      explicit Works(bool& flag) : flag_(flag) { flag_ = true; }
      ~Works() { flag_ = false; }
      bool& flag_;
    } const works(handle->works);
    work(*handle->solver);
  });
}

template <class Read>
int create(MPI_Comm comm, capstan_solver** made, const Read& read) noexcept {
  if (made != nullptr) *made = nullptr;
  return guarded(errorOfThread, [&] {
    if (made == nullptr) throw Error(CAPSTAN_ERROR_ARGUMENT, "solver: found NULL; allowed: where the handle goes");
    if (!mpiRuns()) throw Error(CAPSTAN_ERROR_MPI, "MPI does not run");
    if (comm == MPI_COMM_NULL) throw Error(CAPSTAN_ERROR_MPI, "comm: found MPI_COMM_NULL");
    int inter = 0;
    MPI_Comm_test_inter(comm, &inter);
    if (inter != 0) throw Error(CAPSTAN_ERROR_MPI, "comm: found one between groups; allowed: one of a group");
    driver::ensureTrilinos();
    auto handle = std::make_unique<capstan_solver>();
    handle->solver = std::make_unique<Solver>(comm, read);
    Living::all().add(handle.get());
    *made = handle.release();
  });
}

int createFromText(MPI_Comm comm, const char* text, capstan_solver** solver) noexcept {
  return create(comm, solver, [&](const Communicator& ranks) {
    const std::string mine = text == nullptr || *text == '\0' ? "method: capstan_cg" : text;
    return deck::SolverText{sharedText(mine, 0, ranks), "the text", "", ""};
  });
}

std::string nameOnRankZero(const char* name, const Communicator& ranks) {
  return sharedText(name == nullptr ? "" : name, 0, ranks);
}

/// Writes what the caller's structure has room for.
void write(const capstan_outcome& found, capstan_outcome* outcome) {
  if (outcome == nullptr) return;
  const std::size_t size = std::min(outcome->size, sizeof(found));
  const std::size_t kept = outcome->size;
  std::memcpy(outcome, &found, size);
  outcome->size = kept;
}

void requireSize(const capstan_outcome* outcome) {
  constexpr std::size_t first = offsetof(capstan_outcome, setup_seconds) + sizeof(double);  // of version 1
  if (outcome != nullptr && outcome->size < first) {
    throw Error(CAPSTAN_ERROR_ARGUMENT,
                fmt::format("outcome: found size = {}; allowed: sizeof(capstan_outcome)", outcome->size));
  }
}

/// How a solve ended, for all columns or for one.
template <class Report>
void takeEnd(const Report& report, capstan_outcome& outcome) {
  outcome.converged = report.converged ? 1 : 0;
  outcome.reason = static_cast<capstan_reason>(report.reason);
  outcome.iterations = report.iterations;
  outcome.restarts = report.restarts;
  outcome.residual = report.trueResidual;
  outcome.residual_estimate = report.recursiveResidual;
}

capstan_outcome outcomeOf(const Solver& solver) {
  const SolveReport& report = solver.report();
  capstan_outcome outcome{};
  takeEnd(report, outcome);
  outcome.scale = report.rightHandSides.empty() ? 1 : report.rightHandSides.front().scale;
  outcome.operator_applications = report.operatorApplications;
  outcome.preconditioner_applications = report.preconditionerApplications;
  outcome.reductions_blocking = report.reductionsBlocking;
  outcome.reductions_nonblocking = report.reductionsNonblocking;
  outcome.preconditioner_builds = solver.preconditionerBuilds();
  outcome.solve_seconds = solver.solveSeconds();
  outcome.setup_seconds = solver.setupSeconds();
  return outcome;
}

const RightHandSideReport& columnOf(const Solver& solver, int column) {
  const auto& columns = solver.report().rightHandSides;
  if (columns.empty()) throw Error(CAPSTAN_ERROR_ORDER, "there was no solve yet");
  if (column < 0 || column >= static_cast<int>(columns.size())) {
    throw Error(CAPSTAN_ERROR_ARGUMENT, fmt::format("column: found {}; allowed: 0 to {}", column, columns.size() - 1));
  }
  return columns[static_cast<std::size_t>(column)];
}

void requireRow(const capstan_row* row) {
  if (row == nullptr) throw Error(CAPSTAN_ERROR_ARGUMENT, "row: found NULL");
  if (row->size == sizeof(capstan_row)) return;
  throw Error(CAPSTAN_ERROR_ARGUMENT, fmt::format("row: found size = {}; allowed: sizeof(capstan_row)", row->size));
}

template <class Items>
const auto& itemOf(const Items& items, int index, const char* what) {
  if (index >= 0 && index < static_cast<int>(items.size())) return items[static_cast<std::size_t>(index)];
  throw Error(CAPSTAN_ERROR_ARGUMENT, fmt::format("index: found {}, behind the last of the {}", index, what));
}

void readHistory(const Solver& solver, int column, int* iterations, double* residuals, std::int64_t& length) {
  columnOf(solver, column);
  const std::int64_t room = length;
  std::int64_t count = 0;
  for (const auto& point : solver.report().history) {
    if (point.rightHandSide != column) continue;
    if (count < room && iterations != nullptr) iterations[count] = point.iteration;
    if (count < room && residuals != nullptr) residuals[count] = point.residual;
    ++count;
  }
  length = count;
}

int solveColumns(capstan_solver* solver, const Columns& columns, capstan_outcome* outcome) {
  return withSolver(solver, [&](Solver& own) {
    try {
      own.solve(columns, [&] { requireSize(outcome); });
    } catch (const Error& error) {
      if (error.status() == CAPSTAN_ERROR_CALLBACK) write(outcomeOf(own), outcome);
      throw;
    }
    write(outcomeOf(own), outcome);
  });
}

}  // namespace
}  // namespace capstan::c

using namespace capstan::c;  // NOLINT(google-build-using-namespace): the functions below are outside of it

int capstan_version(void) { return CAPSTAN_C_VERSION; }

int capstan_create(MPI_Comm comm, const char* text, capstan_solver** solver) {
  return createFromText(comm, text, solver);
}

int capstan_create_f(MPI_Fint comm, const char* text, capstan_solver** solver) {
  return createFromText(capstan::mpiRuns() ? MPI_Comm_f2c(comm) : MPI_COMM_NULL, text, solver);
}

int capstan_create_from_file_f(MPI_Fint comm, const char* file, const char* name, capstan_solver** solver) {
  return capstan_create_from_file(capstan::mpiRuns() ? MPI_Comm_f2c(comm) : MPI_COMM_NULL, file, name, solver);
}

int capstan_create_from_file(MPI_Comm comm, const char* file, const char* name, capstan_solver** solver) {
  return create(comm, solver, [&](const Communicator& ranks) {
    const std::string path = nameOnRankZero(file, ranks);
    if (path.empty()) throw Error(CAPSTAN_ERROR_ARGUMENT, "file: found none; allowed: a file in YAML");
    try {
      const std::string text = capstan::deck::readOnRankZero(ranks, [&] { return capstan::deck::readText(path); });
      return capstan::deck::SolverText{text, path, std::filesystem::path(path).parent_path().string(),
                                       nameOnRankZero(name, ranks)};
    } catch (const capstan::deck::FileError& error) {
      throw Error(CAPSTAN_ERROR_INPUT, error.what());
    }
  });
}

void capstan_destroy(capstan_solver** solver) {
  if (solver == nullptr || *solver == nullptr) return;
  if ((*solver)->works) return;  // from a function that it has called
  Living::all().remove(*solver);
  delete *solver;
  *solver = nullptr;
}

int capstan_set_operator(capstan_solver* solver, int64_t rows, capstan_apply apply, void* context) {
  return withSolver(solver, [&](Solver& own) { own.setOperator(rows, apply, context); });
}

int capstan_set_matrix(capstan_solver* solver, const capstan_csr* matrix) {
  return withSolver(solver, [&](Solver& own) { own.setMatrix(matrix); });
}

int capstan_matrix_changed(capstan_solver* solver) {
  return withSolver(solver, [&](Solver& own) { own.changeMatrix(); });
}

int capstan_set_symmetric(capstan_solver* solver, int symmetric) {
  return withSolver(solver, [&](Solver& own) { own.setSymmetric(symmetric); });
}

int capstan_set_preconditioner(capstan_solver* solver, capstan_apply apply, void* context) {
  return withSolver(solver, [&](Solver& own) { own.setPreconditioner(apply, context); });
}

int capstan_set_diagonal(capstan_solver* solver, int diagonal) {
  return withSolver(solver, [&](Solver& own) { own.setDiagonal(diagonal); });
}

int capstan_set_limits(capstan_solver* solver, double tolerance, double absolute_tolerance, int max_iterations) {
  return withSolver(solver, [&](Solver& own) { own.setLimits(tolerance, absolute_tolerance, max_iterations); });
}

int capstan_set_norm(capstan_solver* solver, capstan_norm norm, int power, void* context) {
  return withSolver(solver, [&](Solver& own) { own.setNorm(norm, power, context); });
}

int capstan_set_test(capstan_solver* solver, capstan_test test, void* context) {
  return withSolver(solver, [&](Solver& own) { own.setTest(test, context); });
}

int capstan_set_zero_guess(capstan_solver* solver, int zero) {
  return withSolver(solver, [&](Solver& own) { own.setZeroGuess(zero); });
}

int capstan_keep_history(capstan_solver* solver, int keep) {
  return withSolver(solver, [&](Solver& own) { own.keepHistory(keep); });
}

int capstan_solve(capstan_solver* solver, const double* b, double* x, capstan_outcome* outcome) {
  return solveColumns(solver, {true, 1, b, 0, x, 0}, outcome);
}

int capstan_solve_columns(capstan_solver* solver, int columns, const double* b, int64_t ldb, double* x, int64_t ldx,
                          capstan_outcome* outcome) {
  return solveColumns(solver, {false, columns, b, ldb, x, ldx}, outcome);
}

int capstan_column_outcome(const capstan_solver* solver, int column, capstan_outcome* outcome) {
  return withSolver(const_cast<capstan_solver*>(solver), [&](const Solver& own) {
    requireSize(outcome);
    const auto& of = columnOf(own, column);
    capstan_outcome found = outcomeOf(own);
    takeEnd(of, found);
    found.scale = of.scale;
    write(found, outcome);
  });
}

int capstan_history(const capstan_solver* solver, int column, int* iterations, double* residuals, int64_t* length) {
  return withSolver(const_cast<capstan_solver*>(solver), [&](const Solver& own) {
    if (length == nullptr) throw Error(CAPSTAN_ERROR_ARGUMENT, "length: found NULL");
    readHistory(own, column, iterations, residuals, *length);
  });
}

int capstan_method_row(int index, capstan_row* row) {
  return guarded(errorOfThread, [&] {
    requireRow(row);
    // The one that chooses among the others comes first.
    const auto& method = index == 0 ? capstan::choosingMethod() : itemOf(capstan::methods(), index - 1, "methods");
    *row = {row->size, method.canonical.c_str(), method.alias.c_str(), nullptr, nullptr, method.summary.c_str()};
  });
}

int capstan_parameter_row(const char* method, int index, capstan_row* row) {
  return guarded(errorOfThread, [&] {
    requireRow(row);
    const auto* known = capstan::findMethod(method == nullptr ? "" : method);
    if (known == nullptr)
      throw Error(CAPSTAN_ERROR_INPUT,
                  fmt::format("method: found '{}', which is none of Capstan's", method == nullptr ? "" : method));
    std::vector<const capstan::ParameterRow*> taken;
    for (const auto& each : capstan::parameterRows()) {
      if (each.appliesTo(*known)) taken.push_back(&each);
    }
    const auto& found = *itemOf(taken, index, "parameters");
    *row = {row->size, found.name.c_str(), nullptr, found.type.c_str(), found.allowed.c_str(), found.doc.c_str()};
  });
}

int capstan_redirected(const char* name, const char** alias) {
  if (alias != nullptr) *alias = nullptr;
  return guarded(errorOfThread, [&] {
    if (name == nullptr || alias == nullptr) throw Error(CAPSTAN_ERROR_ARGUMENT, "name or alias: found NULL");
    const auto options = capstan::environmentOptions();
    const auto* const method = options.redirected(name);
    if (method == nullptr) return;
    options.noteRedirected(name);
    *alias = method->alias.c_str();
  });
}

const char* capstan_method(const capstan_solver* solver) {
  return solver == nullptr || solver->solver == nullptr ? "" : solver->solver->method().c_str();
}

const char* capstan_error_text(const capstan_solver* solver) {
  return solver == nullptr ? errorOfThread.c_str() : solver->error.c_str();
}

const char* capstan_reason_text(capstan_reason reason) {
  static const auto* const texts = [] {
    auto* const made = new std::vector<std::string>;
    for (const auto each : capstan::allStopReasons()) made->push_back(toString(each));
    return made;
  }();
  const auto index = static_cast<std::size_t>(reason);
  return index < texts->size() ? (*texts)[index].c_str() : "unknown";
}
