#include "perf/solvers/belos_contestants.hpp"

#include <fmt/format.h>

#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <map>
#include <utility>

#include "adapters/deck/systems.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "perf/solvers/factory_contestant.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::perf {
namespace {

using deck::Matrix;
using deck::MultiVector;
using deck::Operator;
using Factory = Belos::SolverFactory<double, MultiVector, Operator>;

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

/// \param preconditioner outlives the contestant
std::unique_ptr<Contestant> makeContestant(const deck::LinearSolver& solver, const SharedSystem& shared,
                                           const deck::Preconditioner& preconditioner, const std::string& systemName,
                                           bool anew) {
  Description description;
  description.name = solver.name;
  description.method = solver.method;
  description.library = libraryOf(solver);
  description.group = groupOf(solver.method);
  description.preconditioner = solver.preconditioner.name;
  if (!solver.mueluFile.empty()) description.preconditioner += " (" + solver.mueluFile + ")";
  description.tolerance = solver.finalTolerance;
  Teuchos::ParameterList parameters = solver.parameters;
  parameters.set("Convergence Tolerance", solver.finalTolerance);
  return makeFactoryContestant(std::move(description), parameters, systemName + ": " + solver.name, shared,
                               preconditioner.op(), solver.preconditioner.side == deck::Side::Left, anew);
}

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

/// One of those already built, told by everything that makes them what they are, or a new one more.
const deck::Preconditioner& preconditionerFor(const deck::PreconditionerOptions& wanted, const Teuchos::RCP<Matrix>& A,
                                              std::vector<Teuchos::RCP<deck::Preconditioner>>& known) {
  for (const auto& each : known) {
    const auto& options = each->options();
    if (options.name == wanted.name && options.origin == wanted.origin && options.parameters == wanted.parameters) {
      return *each;
    }
  }
  known.push_back(Teuchos::rcp(new deck::Preconditioner(wanted)));
  known.back()->update(A);
  return *known.back();
}

}  // namespace

Field buildField(const deck::Deck& deck, const deck::SystemOptions& system,
                 const Teuchos::RCP<const deck::Communicator>& comm, bool withLocal, unsigned seed, bool anew) {
  const auto built = deck::buildSystem(system, comm);
  requirePlain(system, *built.A, *built.b);
  const auto map = built.A->getDomainMap();
  const SharedSystem shared{built.A, built.b, Teuchos::rcp(new MultiVector(map, 1)),
                            Teuchos::rcp(new MultiVector(map, 1))};
  Field field;
  field.name = system.name;
  field.A = built.A;
  field.b = built.b;
  field.rows = static_cast<long long>(built.A->getGlobalNumRows());
  field.entries = static_cast<long long>(built.A->getGlobalNumEntries());
  for (const auto index : system.solvers) {
    const auto& solver = deck.linearSolvers[index];
    try {
      field.contestants.push_back(makeContestant(
          solver, shared, preconditionerFor(solver.preconditioner, built.A, field.preconditioners), system.name, anew));
    } catch (const deck::PreconditionerError& error) {
      throw deck::PreconditionerError(fmt::format("{}.preconditioner: {}", solver.place.text(), error.what()));
    }
  }
  if (withLocal) field.local = localSystem(*built.A, *built.b);
  if (deck.campaign.changingRightHandSide)
    field.rightHandSides = std::make_shared<RightHandSides>(*built.A, built.b, seed);
  return field;
}

}  // namespace capstan::perf
