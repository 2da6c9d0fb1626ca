#pragma once

// What applications that solve as Nalu-wind does have in common, as their author would write it without having heard of
// Capstan: a method passed on as it is typed and set as "Solver Name", a solver made anew for every solve, the
// tolerance set before each, no names for matrices, keys that not every method has, the outcome ignored.

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <string>

using Matrix = Tpetra::CrsMatrix<>;
using MV = Tpetra::MultiVector<>;
using OP = Tpetra::Operator<>;
using GO = Tpetra::Map<>::global_ordinal_type;

struct LinearSystem {
  Teuchos::RCP<Matrix> A;
  Teuchos::RCP<OP> M;  // on the right; null: none
  Teuchos::RCP<MV> x, b;
};

/// Diffusion, convection from the west, and a time derivative, on n x n points.
inline LinearSystem makeSystem(GO n, double wind, double time, std::size_t columns) {
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

/// What Nalu-wind makes of a deck's linear solver.
inline Teuchos::RCP<Teuchos::ParameterList> parametersFor(const std::string& method) {
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

/// x of A x = b, from x as it is.
inline void solveAsNaluDoes(const std::string& method, LinearSystem& system) {
  auto problem = Teuchos::rcp(new Belos::LinearProblem<double, MV, OP>(system.A, system.x, system.b));
  if (!system.M.is_null()) problem->setRightPrec(system.M);
  Belos::SolverFactory<double, MV, OP> factory;
  auto solver = factory.create(method == "sstep_gmres" ? "TPETRA GMRES S-STEP" : method, parametersFor(method));
  auto tolerance = Teuchos::parameterList();
  tolerance->set("Convergence Tolerance", 1e-5);
  solver->setParameters(tolerance);
  problem->setProblem();
  solver->setProblem(problem);
  solver->solve();
}
