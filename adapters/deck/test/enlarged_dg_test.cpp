// Enlarged CG on the discontinuous Galerkin Laplacian of [enlarged-cg], Example 2.1, scaled down: iterations fall with
// the directions, as in its Fig. 3.2.
#include <gtest/gtest.h>

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <vector>

#include "adapters/deck/systems.hpp"

namespace capstan::deck {
namespace {

int iterationsOf(const Teuchos::RCP<Matrix>& a, const Teuchos::RCP<MultiVector>& b, int factor) {
  const auto x = Teuchos::rcp(new MultiVector(a->getDomainMap(), 1));
  const auto problem = Teuchos::rcp(new Belos::LinearProblem<double, MultiVector, Operator>(a, x, b));
  problem->setProblem();
  const auto parameters = Teuchos::rcp(new Teuchos::ParameterList);
  parameters->set("Enlarging Factor", factor);
  parameters->set("Convergence Tolerance", 1e-8);
  parameters->set("Maximum Iterations", 3000);
  const auto solver = Belos::SolverFactory<double, MultiVector, Operator>().create("CAPSTAN CG ENLARGED", parameters);
  solver->setProblem(problem);
  EXPECT_EQ(solver->solve(), Belos::Converged) << factor;
  return solver->getNumIters();
}

TEST(EnlargedCg, NeedsFewerIterationsOnDiscontinuousGalerkinWithMoreDirections) {
  GeneratorOptions options;
  options.problem = "dg_laplace2d";
  options.cells = {12, 12};
  const auto a = buildMatrix(options, Tpetra::getDefaultComm());
  const auto b = Teuchos::rcp(new MultiVector(a->getRangeMap(), 1));
  fillRandom(*b, 1);
  std::vector<int> iterations;
  for (const int factor : {1, 2, 4, 8, 16}) iterations.push_back(iterationsOf(a, b, factor));
  for (std::size_t k = 1; k < iterations.size(); ++k) EXPECT_LT(iterations[k], iterations[k - 1]) << k;
  EXPECT_LT(iterations[2], 0.8 * iterations[0]);
  EXPECT_LT(iterations[4], 0.5 * iterations[0]);
}

}  // namespace
}  // namespace capstan::deck
