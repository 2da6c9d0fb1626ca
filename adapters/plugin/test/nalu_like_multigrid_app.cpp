// An application that solves as Nalu-wind does, with its preconditioners: segregated momentum of three right-hand sides
// with symmetric Gauss-Seidel, pressure with MueLu, both by the same method and for increments from zero, a solver made
// anew for every solve, the tolerance set before each, no names for matrices. As its author would write it without
// having heard of Capstan.

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Ifpack2_Factory.hpp>
#include <MueLu_CreateTpetraPreconditioner.hpp>
#include <Teuchos_CommandLineProcessor.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <cmath>
#include <iostream>

using Matrix = Tpetra::CrsMatrix<>;
using MV = Tpetra::MultiVector<>;
using OP = Tpetra::Operator<>;
using GO = Tpetra::Map<>::global_ordinal_type;

static constexpr GO n = 40;

struct LinearSystem {
  Teuchos::RCP<Matrix> A;
  Teuchos::RCP<OP> M;
  Teuchos::RCP<MV> x, b;
};

/// Diffusion, convection from the west, and a time derivative, on n x n points.
static LinearSystem makeSystem(double wind, double time, std::size_t columns) {
  LinearSystem system;
  auto map = Teuchos::rcp(new Tpetra::Map<>(n * n, 0, Tpetra::getDefaultComm()));
  system.A = Teuchos::rcp(new Matrix(map, 5));
  for (GO row = map->getMinGlobalIndex(); row <= map->getMaxGlobalIndex(); ++row) {
    const auto insert = [&](GO column, double value) {
      system.A->insertGlobalValues(row, Teuchos::arrayView(&column, 1), Teuchos::arrayView(&value, 1));
    };
    insert(row, 4 + wind + time);
    if (row % n > 0) insert(row - 1, -1 - wind);
    if (row % n < n - 1) insert(row + 1, -1);
    if (row >= n) insert(row - n, -1);
    if (row < n * (n - 1)) insert(row + n, -1);
  }
  system.A->fillComplete();
  system.x = Teuchos::rcp(new MV(map, columns));
  system.b = Teuchos::rcp(new MV(map, columns));
  return system;
}

static Teuchos::RCP<OP> gaussSeidel(const Teuchos::RCP<Matrix>& A) {
  Teuchos::ParameterList list;
  list.set("relaxation: type", "Symmetric Gauss-Seidel");
  auto M = Ifpack2::Factory::create<Tpetra::RowMatrix<>>("RELAXATION", A);
  M->setParameters(list);
  M->initialize();
  M->compute();
  return M;
}

static void solve(const std::string& method, LinearSystem& system, int step) {
  for (std::size_t c = 0; c < system.b->getNumVectors(); ++c) {
    auto values = system.b->getDataNonConst(c);
    for (Teuchos::Ordinal i = 0; i < values.size(); ++i) {
      const auto row = static_cast<double>(system.b->getMap()->getGlobalElement(static_cast<int>(i)));
      values[i] = 1 + c + std::cos(0.7 * (step + 1) * row + static_cast<double>(c));
    }
  }
  system.x->putScalar(0);
  auto problem = Teuchos::rcp(new Belos::LinearProblem<double, MV, OP>(system.A, system.x, system.b));
  problem->setRightPrec(system.M);
  auto list = Teuchos::parameterList();
  list->set("Maximum Iterations", 200);
  list->set("Verbosity", Belos::Errors + Belos::Warnings);
  list->set("Num Blocks", 50);
  list->set("Maximum Restarts", 4);
  list->set("Orthogonalization", "ICGS");
  list->set("Implicit Residual Scaling", "Norm of Preconditioned Initial Residual");
  list->set("Solver Name", method);
  Belos::SolverFactory<double, MV, OP> factory;
  auto solver = factory.create(method, list);
  auto tolerance = Teuchos::parameterList();
  tolerance->set("Convergence Tolerance", 1e-5);
  solver->setParameters(tolerance);
  problem->setProblem();
  solver->setProblem(problem);
  solver->solve();
}

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  std::string method = "gmres", multigrid, only;
  double wind = 1.5;
  int steps = 6;
  Teuchos::CommandLineProcessor line(false);
  line.setOption("method", &method, "as in the deck");
  line.setOption("multigrid", &multigrid, "parameters of MueLu, an XML file");
  line.setOption("wind", &wind, "of momentum; 0: symmetric");
  line.setOption("steps", &steps, "time steps");
  line.setOption("only", &only, "momentum or pressure: without the other");
  if (line.parse(argc, argv) != Teuchos::CommandLineProcessor::PARSE_SUCCESSFUL) return 2;
  try {
    LinearSystem momentum = makeSystem(wind, 0.5, 3), pressure = makeSystem(0.0, 0.0, 1);
    momentum.M = gaussSeidel(momentum.A);
    pressure.M = MueLu::CreateTpetraPreconditioner(Teuchos::RCP<OP>(pressure.A), multigrid);
    for (int step = 0; step < steps; ++step) {
      if (only != "pressure") solve(method, momentum, step);
      if (only != "momentum") solve(method, pressure, step);
    }
  } catch (const std::exception& error) {
    if (Tpetra::getDefaultComm()->getRank() == 0) std::cout << "error: " << error.what() << std::endl;
    return 3;
  }
  return 0;
}
