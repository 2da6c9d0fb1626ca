// An application that solves as Nalu-wind does, as its author would write it without having heard of Capstan:
// segregated momentum and pressure with the same method, the method passed on as it is typed and set as "Solver Name",
// a solver made anew for every solve, the tolerance set before each, no names for matrices, keys that not every method
// has, the outcome ignored.

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Teuchos_CommandLineProcessor.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <iostream>

using Matrix = Tpetra::CrsMatrix<>;
using MV = Tpetra::MultiVector<>;
using OP = Tpetra::Operator<>;
using GO = Tpetra::Map<>::global_ordinal_type;

static constexpr GO n = 24;

/// Diffusion, and convection from the west, on n x n points.
static Teuchos::RCP<Matrix> assemble(double wind) {
  auto map = Teuchos::rcp(new Tpetra::Map<>(n * n, 0, Tpetra::getDefaultComm()));
  auto A = Teuchos::rcp(new Matrix(map, 5));
  for (GO row = map->getMinGlobalIndex(); row <= map->getMaxGlobalIndex(); ++row) {
    const auto insert = [&](GO column, double value) {
      A->insertGlobalValues(row, Teuchos::arrayView(&column, 1), Teuchos::arrayView(&value, 1));
    };
    insert(row, 4.1 + wind);
    if (row % n > 0) insert(row - 1, -1 - wind);
    if (row % n < n - 1) insert(row + 1, -1);
    if (row >= n) insert(row - n, -1);
    if (row < n * (n - 1)) insert(row + n, -1);
  }
  A->fillComplete();
  return A;
}

struct LinearSystem {
  Teuchos::RCP<Matrix> A;
  Teuchos::RCP<MV> x, b;
};

static LinearSystem makeSystem(double wind, std::size_t columns) {
  LinearSystem system;
  system.A = assemble(wind);
  system.x = Teuchos::rcp(new MV(system.A->getDomainMap(), columns));
  system.b = Teuchos::rcp(new MV(system.A->getRangeMap(), columns));
  return system;
}

/// What Nalu-wind makes of a deck's linear solver.
static Teuchos::RCP<Teuchos::ParameterList> parametersFor(const std::string& method) {
  auto list = Teuchos::parameterList();
  list->set("Maximum Iterations", 200);
  list->set("Verbosity", Belos::Errors + Belos::Warnings);
  list->set("Num Blocks", 50);
  list->set("Maximum Restarts", 4);
  list->set("Orthogonalization", "ICGS");
  list->set("Implicit Residual Scaling", "Norm of Preconditioned Initial Residual");
  list->set("Solver Name", method);
  if (method == "sstep_gmres") {
    list->set("Step Size", 21925);  // not initialised there
    list->set("Compute Ritz Values on Fly", true);
    list->set("CholeskyQR2", true);
  }
  return list;
}

static void solve(const std::string& method, LinearSystem& system, int step) {
  for (std::size_t c = 0; c < system.b->getNumVectors(); ++c) system.b->getVectorNonConst(c)->putScalar(1.0 + step + c);
  auto problem = Teuchos::rcp(new Belos::LinearProblem<double, MV, OP>(system.A, system.x, system.b));
  Belos::SolverFactory<double, MV, OP> factory;
  auto solver = factory.create(method == "sstep_gmres" ? "TPETRA GMRES S-STEP" : method, parametersFor(method));
  auto tolerance = Teuchos::parameterList();
  tolerance->set("Convergence Tolerance", 1e-5);
  solver->setParameters(tolerance);
  problem->setProblem();
  solver->setProblem(problem);
  solver->solve();
}

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  std::string method = "gmres";
  int steps = 3;
  Teuchos::CommandLineProcessor line(false);
  line.setOption("method", &method, "as in the deck");
  line.setOption("steps", &steps, "time steps");
  if (line.parse(argc, argv) != Teuchos::CommandLineProcessor::PARSE_SUCCESSFUL) return 2;
  try {
    LinearSystem momentum = makeSystem(1.5, 2), pressure = makeSystem(0.0, 1);
    for (int step = 0; step < steps; ++step) {
      solve(method, momentum, step);
      solve(method, pressure, step);
    }
  } catch (const std::exception& error) {
    if (Tpetra::getDefaultComm()->getRank() == 0) std::cout << "error: " << error.what() << std::endl;
    return 3;
  }
  return 0;
}
