/// \file
/// A Belos application that solves with every solver of Capstan's that Belos' factory knows. It includes nothing of
/// ours and calls nothing: linked with Capstan, or with Capstan preloaded, it finds the names.
///
/// For each name and each of two systems, 2D Laplace and convection-diffusion with 30^2 unknowns, it prints a line with
/// the outcome and the iterations, which do not depend on how the program came to Capstan. Exit status 0 when there are
/// names, every one solves the symmetric system, and no "converged" is wrong.

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
using Factory = Belos::SolverFactory<Scalar, MultiVector, Operator>;

/// The five-point stencil on n^2 points; wind: what the west neighbour's entry is larger by than the east's.
static Teuchos::RCP<Matrix> stencil(Global n, Scalar wind) {
  const auto map =
      Teuchos::rcp(new Tpetra::Map<>(static_cast<Tpetra::global_size_t>(n * n), 0, Tpetra::getDefaultComm()));
  auto A = Teuchos::rcp(new Matrix(map, 5));
  for (Global row = map->getMinGlobalIndex(); row <= map->getMaxGlobalIndex(); ++row) {
    A->insertGlobalValues(row, Teuchos::tuple<Global>(row), Teuchos::tuple<Scalar>(4 + wind));
    if (row % n > 0) A->insertGlobalValues(row, Teuchos::tuple<Global>(row - 1), Teuchos::tuple<Scalar>(-1 - wind));
    if (row % n < n - 1) A->insertGlobalValues(row, Teuchos::tuple<Global>(row + 1), Teuchos::tuple<Scalar>(-1));
    if (row >= n) A->insertGlobalValues(row, Teuchos::tuple<Global>(row - n), Teuchos::tuple<Scalar>(-1));
    if (row < n * (n - 1)) A->insertGlobalValues(row, Teuchos::tuple<Global>(row + n), Teuchos::tuple<Scalar>(-1));
  }
  A->fillComplete();
  return A;
}

/// Solves A x = 1 from zero, prints the line, and tells whether the solver converged; `wrong` becomes true if it says
/// so and the residual does not.
static bool solve(const std::string& name, const std::string& system, const Teuchos::RCP<Matrix>& A, bool& wrong) {
  auto x = Teuchos::rcp(new MultiVector(A->getDomainMap(), 1));
  auto b = Teuchos::rcp(new MultiVector(A->getRangeMap(), 1));
  b->putScalar(1);
  auto problem = Teuchos::rcp(new Belos::LinearProblem<Scalar, MultiVector, Operator>(A, x, b));
  problem->setProblem();
  auto parameters = Teuchos::parameterList();
  parameters->set("Convergence Tolerance", 1e-8);
  parameters->set("Maximum Iterations", 500);
  auto solver = Factory().create(name, parameters);
  solver->setProblem(problem);
  const bool converged = solver->solve() == Belos::Converged;
  MultiVector r(*b, Teuchos::Copy);
  A->apply(*x, r, Teuchos::NO_TRANS, -1, 1);
  const double relative = r.getVector(0)->norm2() / b->getVector(0)->norm2();
  wrong = wrong || (converged && !(relative <= 1.0001e-8));
  if (A->getComm()->getRank() == 0) {
    std::cout << name << ", " << system << ": " << (converged ? "converged" : "not converged") << " after "
              << solver->getNumIters() << " iterations" << std::endl;
  }
  return converged;
}

int main(int argc, char** argv) {
  Tpetra::ScopeGuard guard(&argc, &argv);
  const auto laplace = stencil(30, 0), convection = stencil(30, 2);
  int names = 0;
  bool solved = true, wrong = false;
  for (const std::string& name : Factory().supportedSolverNames()) {
    if (name.rfind("CAPSTAN", 0) != 0 && name.rfind("capstan", 0) != 0) continue;
    ++names;
    solved = solve(name, "symmetric", laplace, wrong) && solved;
    solve(name, "nonsymmetric", convection, wrong);
  }
  if (laplace->getComm()->getRank() == 0) std::cout << names << " names" << std::endl;
  return names > 0 && solved && !wrong ? 0 : 1;
}
