/// \file
/// An application that uses Capstan's C++ API: nonblocking inner products, and the report of a solve.
///
/// Exit status 0 when both tell what they must.

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <cmath>
#include <iostream>

#include "adapters/plugin/register.hpp"
#include "belos_ext/report/solve_report.hpp"
#include "tpetra_ext/reductions/idot.hpp"

using MultiVector = Tpetra::MultiVector<>;
using Operator = Tpetra::Operator<>;
using Scalar = MultiVector::scalar_type;
using Map = Tpetra::Map<>;

/// One vector of ones against 1, 2, 3 times ones: the sums are n, 2 n, 3 n.
static bool innerProductsAreRight(const Teuchos::RCP<const Map>& map) {
  MultiVector x(map, 1), Y(map, 3);
  x.putScalar(1);
  for (int j = 0; j < 3; ++j) Y.getVectorNonConst(static_cast<std::size_t>(j))->putScalar(j + 1);
  Scalar sums[3];
  const auto request = capstan::idot(sums, x, Y);
  // Work that does not need the sums stands here.
  request->wait();
  const auto n = static_cast<double>(map->getGlobalNumElements());
  bool right = true;
  for (int j = 0; j < 3; ++j) right = right && std::abs(sums[j] - (j + 1) * n) < 1e-12 * n;
  return right;
}

/// Solves 2 x = b, and compares what the report says with what is known.
static bool reportIsRight(const Teuchos::RCP<const Map>& map) {
  auto A = Teuchos::rcp(new Tpetra::CrsMatrix<>(map, 1));
  for (auto row = map->getMinGlobalIndex(); row <= map->getMaxGlobalIndex(); ++row) {
    A->insertGlobalValues(row, Teuchos::tuple(row), Teuchos::tuple<Scalar>(2));
  }
  A->fillComplete();
  auto x = Teuchos::rcp(new MultiVector(map, 1));
  auto b = Teuchos::rcp(new MultiVector(map, 1));
  b->putScalar(1);
  auto problem = Teuchos::rcp(new Belos::LinearProblem<Scalar, MultiVector, Operator>(A, x, b));
  problem->setProblem();
  auto solver = Belos::SolverFactory<Scalar, MultiVector, Operator>().create("CAPSTAN CG", Teuchos::parameterList());
  solver->setProblem(problem);
  solver->solve();
  const auto* reporting = dynamic_cast<const capstan::ReportingSolver*>(solver.get());
  if (reporting == nullptr) return false;
  const capstan::SolveReport& report = reporting->report();
  return report.converged && report.reason == capstan::StopReason::Converged &&
         toString(report.reason) == "converged" && report.rows == static_cast<long long>(map->getGlobalNumElements());
}

int main(int argc, char** argv) {
  Tpetra::ScopeGuard guard(&argc, &argv);
  capstan::registerSolvers();  // the library has done so; a second call changes nothing
  const auto map = Teuchos::rcp(new const Map(1000, 0, Tpetra::getDefaultComm()));
  const bool sums = innerProductsAreRight(map);
  const bool report = reportIsRight(map);
  if (map->getComm()->getRank() == 0) std::cout << "inner products: " << sums << ", report: " << report << std::endl;
  return sums && report ? 0 : 1;
}
