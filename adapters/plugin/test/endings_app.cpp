// An application that ends in one of the orders that there are, with a solver that outlives what it has used, or not.
// Nothing of Capstan is compiled in.
// usage: endings_app --end=WORD [--solver=NAME] [--n=ROWS] [--plugin=LIBRARY]
//
// | WORD     | what ends last                                                                                        |
// |----------|-------------------------------------------------------------------------------------------------------|
// | main     | Tpetra, at the end of main                                                                            |
// | static   | Tpetra, in the destructor of a static object; solver and factory are static, too                      |
// | exit     | the same after exit() in a function that has a solver                                                 |
// | own-mpi  | MPI, which is the application's own                                                                   |
// | no-mpi   | a static solver with its system after MPI, then Kokkos                                                |

#include <dlfcn.h>
#include <mpi.h>

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Kokkos_Core.hpp>
#include <Teuchos_CommandLineProcessor.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <cstdlib>
#include <iostream>
#include <memory>

using Matrix = Tpetra::CrsMatrix<>;
using MV = Tpetra::MultiVector<>;
using OP = Tpetra::Operator<>;
using Solver = Belos::SolverManager<double, MV, OP>;

namespace {

struct Kept {
  std::unique_ptr<Belos::SolverFactory<double, MV, OP>> factory;
  Teuchos::RCP<Solver> solver;
};

// Destroyed from the last to the first.
std::unique_ptr<Kokkos::ScopeGuard> kokkos;
std::unique_ptr<Tpetra::ScopeGuard> guard;
Kept kept;

Teuchos::RCP<Matrix> laplace(int n) {
  auto map = Teuchos::rcp(new Tpetra::Map<>(static_cast<Tpetra::global_size_t>(n), 0, Tpetra::getDefaultComm()));
  auto A = Teuchos::rcp(new Matrix(map, 3));
  for (auto row = map->getMinGlobalIndex(); row <= map->getMaxGlobalIndex(); ++row) {
    Teuchos::Array<Tpetra::Map<>::global_ordinal_type> columns(1, row);
    if (row > 0) columns.push_back(row - 1);
    if (row < n - 1) columns.push_back(row + 1);
    Teuchos::Array<double> values(columns.size(), -1.0);
    values[0] = 2.5;
    A->insertGlobalValues(row, columns(), values());
  }
  A->fillComplete();
  return A;
}

bool solve(Kept& with, const std::string& name, int n) {
  const auto A = laplace(n);
  auto x = Teuchos::rcp(new MV(A->getDomainMap(), 1)), b = Teuchos::rcp(new MV(A->getRangeMap(), 1));
  b->putScalar(1.0);
  auto problem = Teuchos::rcp(new Belos::LinearProblem<double, MV, OP>(A, x, b));
  problem->setProblem();
  auto parameters = Teuchos::parameterList();
  parameters->set("Convergence Tolerance", 1e-8);
  if (!with.factory) with.factory = std::make_unique<Belos::SolverFactory<double, MV, OP>>();
  with.solver = with.factory->create(name, parameters);
  with.solver->setProblem(problem);
  return with.solver->solve() == Belos::Converged;
}

int solveAndSay(Kept& with, const std::string& name, int n) {
  const bool solved = solve(with, name, n);
  if (Tpetra::getDefaultComm()->getRank() == 0) std::cout << (solved ? "solved" : "not solved") << std::endl;
  return solved ? 0 : 1;
}

int run(const std::string& end, const std::string& solver, int n, int& argc, char**& argv) {
  Kept local;
  if (end == "main") {
    Tpetra::ScopeGuard scope(&argc, &argv);
    const int status = solveAndSay(local, solver, n);
    local = {};
    return status;
  }
  if (end == "own-mpi" || end == "no-mpi") {
    MPI_Init(&argc, &argv);
    kokkos = std::make_unique<Kokkos::ScopeGuard>(argc, argv);
    const int status = solveAndSay(end == "own-mpi" ? local : kept, solver, n);
    if (end == "own-mpi") {
      local = {};
      kokkos.reset();
    }
    MPI_Finalize();
    return status;
  }
  guard = std::make_unique<Tpetra::ScopeGuard>(&argc, &argv);
  const int status = solveAndSay(end == "exit" ? local : kept, solver, n);
  if (end == "exit") std::exit(status + solveAndSay(kept, solver, n));
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  std::string end = "main", solver = "BLOCK GMRES", plugin;
  int n = 100;
  Teuchos::CommandLineProcessor line(false);
  line.setOption("end", &end, "main, static, exit, own-mpi or no-mpi");
  line.setOption("solver", &solver, "name for Belos::SolverFactory");
  line.setOption("n", &n, "rows");
  line.setOption("plugin", &plugin, "shared library to load first");
  if (line.parse(argc, argv) != Teuchos::CommandLineProcessor::PARSE_SUCCESSFUL) return 2;
  if (!plugin.empty() && dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::cout << "error: " << dlerror() << std::endl;
    return 3;
  }
  return run(end, solver, n, argc, argv);
}
