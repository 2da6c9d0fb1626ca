/// \file
/// What a sketch adds to block Gram-Schmidt: a basis that is well conditioned whatever the panels are, and that is
/// sketched again as it grows. What it has in common with other schemes: panel_test.cpp, orthogonality_test.cpp.

#include <gtest/gtest.h>

#include "belos_ext/test/policies/basis_run.hpp"
#include "tpetra_ext/reductions/counters.hpp"

namespace capstan::testing {
namespace {

using Block = BlockOrthogonalization;

BasisResult basisOf(Block scheme, RCP<const Operator> a, int columns, int steps, Basis basis) {
  BasisPlan plan;
  plan.columns = columns;
  plan.steps = steps;
  plan.basis = basis;
  plan.scheme = scheme;
  return BasisRun(a, vectorFrom(a->getDomainMap(), wave), plan)();
}

/// The singular values of Q are as far apart as this.
double conditionOf(const MultiVector& q) { return std::sqrt(conditionNumber(inner(q, q))); }

TEST(Sketched, KeepsTheBasisWellConditionedWhereACholeskyFactorisationBreaksDown) {
  const auto a = grid2d(50, 50);
  const BasisResult sketched = basisOf(Block::Sketched, a, 60, 12, Basis::Monomial);
  EXPECT_EQ(sketched.columns, 60);
  EXPECT_FALSE(sketched.brokeDown);
  EXPECT_GT(sketched.panelKappa, 1e6);
  EXPECT_LT(conditionOf(*sketched.q), 4);
  EXPECT_LT(sketched.settled, 400 * std::numeric_limits<double>::epsilon() * sketched.panelKappa);
  for (const Block other : {Block::SingleReduceCgs2, Block::Cgs2, Block::TwoStage}) {
    const BasisResult result = basisOf(other, a, 60, 12, Basis::Monomial);
    EXPECT_TRUE(result.brokeDown) << static_cast<int>(other) << ' ' << result.panelKappa << ' ' << result.orthogonality;
  }
}

// The rows of the sketch are 256, and 512 from column 64 on: all columns before are orthonormalised again, and H
// follows.
TEST(Sketched, FollowsABasisThatGrows) {
  const BasisResult result = basisOf(Block::Sketched, grid2d(40, 40, 0.3), 120, 4, Basis::Monomial);
  EXPECT_EQ(result.columns, 120);
  EXPECT_LT(result.orthogonality, 1e-11);
  EXPECT_LT(conditionOf(*result.q), 4);
  EXPECT_LT(result.relation, 1e-11);
}

TEST(Sketched, TakesOneReductionAPanelOfItsNewVectors) {
  const auto map = evenMap(2000);
  SketchedGramSchmidt<Types> scheme(map->getComm());
  KrylovBasis<Types> basis;
  ArnoldiRelation<Scalar> relation;
  PlainSystem system(Teuchos::null);
  basis.resize(map, 101);
  relation.begin(100, 1, false);
  scheme.begin(100);
  Matrix r;
  for (int first = 0; first < 100; first += 10) {
    for (int j = first == 0 ? 0 : first + 1; j <= first + 10; ++j) basis[j].randomize();
    const auto before = counters();
    EXPECT_EQ(scheme.orthonormalize(basis, first, 10, system, relation, r).rank, 11);
    const auto done = counters() - before;
    EXPECT_EQ(done.blocking, 1);
    if (map->getComm()->getSize() > 1) {
      const int rows = tuning::sketch::rowsFor(first + 11),
                all = first == 0 || rows != tuning::sketch::rowsFor(first + 1) ? first + 11 : 20;
      EXPECT_EQ(done.bytes, static_cast<long>(sizeof(Scalar)) * rows * all) << first;
    }
  }
}

// c of k directions of the sketch are spent on the residual: what it tells is too small by about 1 - c / k.
TEST(Sketched, TellsTheNormOfTheResidualAndNotThatOfItsSketch) {
  const auto matrix = grid2d(40, 40);
  const int columns = 60;
  const BasisResult result = basisOf(Block::Sketched, matrix, columns, 1, Basis::Monomial);
  ArnoldiRelation<Scalar> relation;
  relation.begin(columns, 1, false);
  EXPECT_EQ(relation.residual(0), 1);
  relation.sketchedBy(256);
  EXPECT_NEAR(relation.residual(0), 1 + std::sqrt(0.5 / 256), 1e-14);
  // The least residual of b = Q_0: in the sketch, and of the same y in truth.
  HessenbergLeastSquares<Scalar> leastSquares;
  leastSquares.reset(columns, 1);
  for (int c = 0; c < columns; ++c) leastSquares.append(result.hessenberg[c], 1);
  const auto y = leastSquares.solve(columns);
  Matrix rest(columns + 1, 1);
  rest(0, 0) = 1;
  for (int c = 0; c < columns; ++c) {
    for (int i = 0; i <= c + 1; ++i) rest(i, 0) -= result.hessenberg(i, c) * y[static_cast<std::size_t>(c)];
  }
  const Matrix gram = inner(*result.q, *result.q);
  double square = 0;
  for (int i = 0; i <= columns; ++i) {
    for (int j = 0; j <= columns; ++j) square += rest(i, 0) * gram(i, j) * rest(j, 0);
  }
  const double seen = leastSquares.residual(columns), truth = std::sqrt(square);
  EXPECT_LT(seen, 0.9 * truth);
  EXPECT_NEAR(seen / (1 - columns / 256.0), truth, 0.3 * truth);
}

}  // namespace
}  // namespace capstan::testing
