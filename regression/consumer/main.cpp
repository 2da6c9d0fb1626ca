/// \file
/// A Belos application that gets Capstan by linking it: it names the solver and includes nothing of ours.
///
/// Solves the 1D Laplace problem with 1,000 unknowns and checks the residual itself. Exit status 0 when it is small.

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <iostream>

using MultiVector = Tpetra::MultiVector<>;
using Operator = Tpetra::Operator<>;
using Matrix = Tpetra::CrsMatrix<>;
using Scalar = MultiVector::scalar_type;
using Global = MultiVector::global_ordinal_type;

int main(int argc, char** argv) {
  Tpetra::ScopeGuard guard(&argc, &argv);
  const Global n = 1000;
  auto map = Teuchos::rcp(new Tpetra::Map<>(n, 0, Tpetra::getDefaultComm()));
  auto A = Teuchos::rcp(new Matrix(map, 3));
  for (Global row = map->getMinGlobalIndex(); row <= map->getMaxGlobalIndex(); ++row) {
    if (row > 0) A->insertGlobalValues(row, Teuchos::tuple<Global>(row - 1), Teuchos::tuple<Scalar>(-1));
    A->insertGlobalValues(row, Teuchos::tuple<Global>(row), Teuchos::tuple<Scalar>(2.1));
    if (row < n - 1) A->insertGlobalValues(row, Teuchos::tuple<Global>(row + 1), Teuchos::tuple<Scalar>(-1));
  }
  A->fillComplete();
  auto x = Teuchos::rcp(new MultiVector(map, 1));
  auto b = Teuchos::rcp(new MultiVector(map, 1));
  b->putScalar(1);

  auto problem = Teuchos::rcp(new Belos::LinearProblem<Scalar, MultiVector, Operator>(A, x, b));
  problem->setProblem();
  auto parameters = Teuchos::parameterList();
  parameters->set("Convergence Tolerance", 1e-8);
  auto solver = Belos::SolverFactory<Scalar, MultiVector, Operator>().create("CAPSTAN GMRES S-STEP", parameters);
  solver->setProblem(problem);
  const bool converged = solver->solve() == Belos::Converged;

  MultiVector r(*b, Teuchos::Copy);
  A->apply(*x, r, Teuchos::NO_TRANS, -1, 1);
  const double relative = r.getVector(0)->norm2() / b->getVector(0)->norm2();
  if (map->getComm()->getRank() == 0) {
    std::cout << "converged: " << converged << ", " << solver->getNumIters() << " iterations, residual " << relative
              << std::endl;
  }
  return converged && relative <= 1e-8 ? 0 : 1;
}
