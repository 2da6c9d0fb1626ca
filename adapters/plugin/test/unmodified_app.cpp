// An ordinary Belos application, as its author would write it without having heard of Capstan: 2D Laplace, a solver and
// a preconditioner by name from the command line. `--plugin` loads a shared library, as applications with plugins do.

#include <dlfcn.h>

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Ifpack2_Factory.hpp>
#include <MueLu_CreateTpetraPreconditioner.hpp>
#include <Teuchos_CommandLineProcessor.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <iostream>

using Matrix = Tpetra::CrsMatrix<>;
using MV = Tpetra::MultiVector<>;
using OP = Tpetra::Operator<>;

static Teuchos::RCP<Matrix> laplace(int n, const Teuchos::RCP<const Teuchos::Comm<int>>& comm) {
  auto map = Teuchos::rcp(new Tpetra::Map<>(static_cast<Tpetra::global_size_t>(n) * n, 0, comm));
  auto A = Teuchos::rcp(new Matrix(map, 5));
  for (auto row = map->getMinGlobalIndex(); row <= map->getMaxGlobalIndex(); ++row) {
    Teuchos::Array<Tpetra::Map<>::global_ordinal_type> columns(1, row);
    if (row % n > 0) columns.push_back(row - 1);
    if (row % n < n - 1) columns.push_back(row + 1);
    if (row >= n) columns.push_back(row - n);
    if (row < n * (n - 1)) columns.push_back(row + n);
    Teuchos::Array<double> values(columns.size(), -1.0);
    values[0] = 4.0;
    A->insertGlobalValues(row, columns(), values());
  }
  A->fillComplete();
  return A;
}

static Teuchos::RCP<OP> preconditioner(const std::string& type, const Teuchos::RCP<Matrix>& A) {
  if (type == "none") return Teuchos::null;
  Teuchos::ParameterList list;
  if (type == "MueLu") {
    list.set("verbosity", "none");
    // The default, a direct solver, is wrong on more than one rank in some builds of Trilinos.
    list.set("coarse: type", "CHEBYSHEV");
    list.set("coarse: max size", 100);
    return MueLu::CreateTpetraPreconditioner(Teuchos::RCP<OP>(A), list);
  }
  auto M = Ifpack2::Factory::create<Tpetra::RowMatrix<>>(type, A);
  M->setParameters(list);
  M->initialize();
  M->compute();
  return M;
}

static bool solve(const std::string& solverName, const std::string& prec, bool left, int n, int iterations) {
  const auto comm = Tpetra::getDefaultComm();
  const auto A = laplace(n, comm);
  auto x = Teuchos::rcp(new MV(A->getDomainMap(), 1)), b = Teuchos::rcp(new MV(A->getRangeMap(), 1));
  b->putScalar(1.0);
  auto problem = Teuchos::rcp(new Belos::LinearProblem<double, MV, OP>(A, x, b));
  const auto M = preconditioner(prec, A);
  if (!M.is_null() && left) problem->setLeftPrec(M);
  if (!M.is_null() && !left) problem->setRightPrec(M);
  problem->setProblem();
  auto parameters = Teuchos::parameterList();
  parameters->set("Convergence Tolerance", 1e-8);
  parameters->set("Maximum Iterations", iterations);
  Belos::SolverFactory<double, MV, OP> factory;
  auto solver = factory.create(solverName, parameters);
  solver->setProblem(problem);
  const bool converged = solver->solve() == Belos::Converged;
  MV r(A->getRangeMap(), 1);
  A->apply(*x, r);
  r.update(1.0, *b, -1.0);
  Teuchos::Array<double> rNorm(1), bNorm(1);
  r.norm2(rNorm());
  b->norm2(bNorm());
  const double relative = rNorm[0] / bNorm[0];
  if (comm->getRank() == 0) {
    std::cout << solver->description() << "\n"
              << (converged ? "converged" : "NOT CONVERGED") << " after " << solver->getNumIters()
              << " iterations, relative residual " << relative << std::endl;
  }
  // A left preconditioner measures another residual.
  return converged && relative < (left ? 1e-5 : 1.0001e-8);
}

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  std::string solverName = "BLOCK GMRES", prec = "none", plugin;
  bool left = false;
  int n = 40, iterations = 500;
  Teuchos::CommandLineProcessor line(false);
  line.setOption("solver", &solverName, "name for Belos::SolverFactory");
  line.setOption("prec", &prec, "none, MueLu, or a name for Ifpack2::Factory");
  line.setOption("left", "right", &left, "side of the preconditioner");
  line.setOption("n", &n, "points in each direction");
  line.setOption("iterations", &iterations, "limit");
  line.setOption("plugin", &plugin, "shared library to load first");
  if (line.parse(argc, argv) != Teuchos::CommandLineProcessor::PARSE_SUCCESSFUL) return 2;
  try {
    if (!plugin.empty() && dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      throw std::runtime_error(dlerror());
    }
    return solve(solverName, prec, left, n, iterations) ? 0 : 1;
  } catch (const std::exception& error) {
    if (Tpetra::getDefaultComm()->getRank() == 0) std::cout << "error: " << error.what() << std::endl;
    return 3;
  }
}
