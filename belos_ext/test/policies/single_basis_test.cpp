/// \file
/// A Krylov basis whose final columns are in single precision: where its columns are, how orthonormal they are, and how
/// exact H.

#include <gtest/gtest.h>

#include <stdexcept>

#include "belos_ext/basis/krylov_space.hpp"
#include "belos_ext/orthogonalization/single_reduce.hpp"
#include "belos_ext/orthogonalization/vector_orthogonalization.hpp"
#include "belos_ext/test/policies/basis_run.hpp"

namespace capstan::testing {
namespace {

/// Columns [0, columns) in double precision, wherever they are.
RCP<MultiVector> gathered(KrylovBasis<Types>& basis, int columns) {
  compat::handOver<Types::ExecutionSpace>("the test");
  auto all = rcp(new MultiVector(basis.map(), static_cast<size_t>(columns)));
  const int singles = std::min(columns, basis.rounded());
  if (singles > 0) {
    const auto from = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), basis.singles(0, singles));
    for (size_t j = 0; j < from.extent(1); ++j) {
      for (size_t i = 0; i < from.extent(0); ++i) all->replaceLocalValue(static_cast<int>(i), j, from(i, j));
    }
  }
  for (int j = singles; j < columns; ++j) Tpetra::deep_copy(*all->getVectorNonConst(static_cast<size_t>(j)), basis[j]);
  return all;
}

struct Arnoldi {
  double orthogonality, relation;
  Matrix h;
};

/// So many columns in panels of `steps`, the last one by classical Gram-Schmidt.
Arnoldi arnoldi(const RCP<CrsMatrix>& a, int columns, int steps, int window, Correction correction) {
  PlainSystem system(a);
  const auto start = vectorFrom(a->getDomainMap(), wave);
  KrylovSpace<Types> space;
  space.resize(a->getDomainMap(), columns, KrylovSpace<Types>::Directions::None, window);
  const double beta = std::sqrt(inner(*start, *start)(0, 0));
  space.begin(system, *start, beta);
  auto& basis = space.basis();
  SingleReduceGramSchmidt<Types> scheme(correction, a->getComm());
  scheme.begin(columns);
  Matrix r;
  int first = 0;
  for (; first + steps < columns; first += steps) {
    basis.makeRoom(system.kernels(), first + 1, first + steps + 1);
    for (int k = 0; k < steps; ++k) space.apply(system, first + k);
    EXPECT_EQ(scheme.orthonormalize(basis, first, steps, system, space.relation(), r).rank, steps + 1);
    Matrix plain(steps + 1, steps);
    for (int k = 0; k < steps; ++k) plain(k + 1, k) = 1;
    space.relation().addPanel(first, plain, r);
    EXPECT_EQ(basis.rounded(), window > 0 ? first : 0);
  }
  VectorOrthogonalization<Types> explicitly;
  explicitly.prepare(a->getComm());
  space.apply(system, first);
  EXPECT_TRUE(explicitly.orthonormalize(basis, first + 1, system, r).independent);
  Matrix plain(2, 1);
  plain(1, 0) = 1;
  space.relation().addPanel(first, plain, r);
  space.relation().refresh();
  const auto q = gathered(basis, first + 2);
  const auto leading = q->subView(Teuchos::Range1D(0, first));
  MultiVector image(a->getDomainMap(), static_cast<size_t>(first + 1));
  a->apply(*leading, image);
  Arnoldi result{orthogonalityLoss(*q), 0, copyOf(block(space.relation().hessenberg(), 0, 0, first + 2, first + 1))};
  result.relation = mismatch(image, *q, result.h);
  // What x is made of comes out of both parts.
  MultiVector sum(a->getDomainMap(), 1);
  space.change(system, first + 1, sum);
  Matrix y(first + 1, 1);
  const auto solution = space.relation().leastSquares().solve(first + 1);
  for (int i = 0; i <= first; ++i) y(i, 0) = solution[static_cast<std::size_t>(i)];
  EXPECT_LT(mismatch(sum, *leading, y), 1e-14);
  return result;
}

TEST(SingleBasis, IsOrthonormalToSinglePrecisionAndSoIsItsRelation) {
  for (const auto& a : {grid2d(30, 30), grid2d(20, 20, 0.5)}) {
    for (const Correction correction : {Correction::Cgs2, Correction::Mgs}) {
      for (const int steps : {1, 3}) {
        const Arnoldi expected = arnoldi(a, 28, steps, 0, correction);
        EXPECT_LT(expected.orthogonality, 1e-10);
        for (const int window : {8, 16, 29}) {
          SCOPED_TRACE(std::to_string(steps) + " steps, window " + std::to_string(window));
          const Arnoldi found = arnoldi(a, 28, steps, window, correction);
          EXPECT_LT(found.orthogonality, 3e-6);
          EXPECT_GT(found.orthogonality, 1e-8) << "nothing has been rounded";
          EXPECT_LT(found.relation, 1e-6);
          Matrix difference = copyOf(found.h);
          difference -= expected.h;
          // H itself is that of a nearby Krylov space: the last columns of both need not agree.
          EXPECT_LT(frobenius(copyOf(block(difference, 0, 0, 6, 5))), 1e-5 * frobenius(expected.h));
        }
      }
    }
  }
}

/// A window that is too short for a panel grows.
TEST(SingleBasis, GrowsItsWindow) {
  const auto a = grid2d(30, 30);
  const Arnoldi narrow = arnoldi(a, 28, 3, 2, Correction::Cgs2), wide = arnoldi(a, 28, 3, 29, Correction::Cgs2);
  EXPECT_EQ(frobenius(narrow.h), frobenius(wide.h));
  EXPECT_EQ(narrow.orthogonality, wide.orthogonality);
}

TEST(SingleBasis, HasEachColumnInOnePrecision) {
  PlainSystem system(grid2d(5, 5));
  KrylovBasis<Types> basis;
  const auto map = evenMap(25);
  basis.resize(map, 12, 4);
  EXPECT_TRUE(basis.compressed());
  EXPECT_EQ(basis.capacity(), 12);
  for (int j = 0; j < 4; ++j) basis[j].putScalar(j + 1);
  EXPECT_THROW(basis[4], std::logic_error);
  EXPECT_THROW(basis.columns(2, 5), std::logic_error);
  EXPECT_THROW(basis.singles(0, 1), std::logic_error);
  system.kernels().round(*basis.columns(0, 3), basis.toRound(3));
  basis.round(3);
  EXPECT_EQ(basis.rounded(), 3);
  EXPECT_EQ(basis.singles(0, 3).extent(1), 3U);
  EXPECT_THROW(basis.singles(2, 4), std::logic_error);
  EXPECT_THROW(basis[2], std::logic_error);
  EXPECT_THROW(basis.columns(2, 4), std::logic_error);
  basis.makeRoom(system.kernels(), 4, 6);
  EXPECT_EQ(inner(basis[3], basis[3])(0, 0), 25 * 16);
  EXPECT_NO_THROW(basis[6]);
  EXPECT_THROW(basis[7], std::logic_error);
  basis.resize(map, 12);
  EXPECT_FALSE(basis.compressed());
  EXPECT_NO_THROW(basis[11]);
  basis.resize(map, 12, 4);
  EXPECT_NO_THROW(basis.columns(0, 12)) << "storage that is there serves as the window";
}

}  // namespace
}  // namespace capstan::testing
