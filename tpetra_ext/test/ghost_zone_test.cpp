#include "tpetra_ext/operators/ghost_zone.hpp"

#include <gtest/gtest.h>

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Vector.hpp>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/operators/embedded_operator.hpp"
#include "tpetra_ext/operators/preconditioned_operator.hpp"
#include "tpetra_ext/test/support/case_matrix.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/vectors.hpp"
#include "tpetra_ext/topology/test/distributed_case.hpp"

namespace capstan::test {
namespace {

using topology::test::Case;
using topology::test::casesFor;
using Explicit = ExplicitPreconditioner<Types>;
using Zone = GhostZone<Types>;

/// Small integers: sums of theirs are exact, in whatever order.
MultiVector integers(const MapPtr& map, int seed) {
  MultiVector v(map, 1);
  const auto values = v.getLocalViewHost(Tpetra::Access::OverwriteAll);
  for (std::size_t i = 0; i < values.extent(0); ++i) {
    const auto element = static_cast<long long>(map->getGlobalElement(static_cast<int>(i)));
    values(i, 0) = static_cast<Scalar>((element * 7 + seed) % 5 - 2);
  }
  return v;
}

Teuchos::RCP<const Explicit> preconditionerOf(const MatrixPtr& f, std::size_t stages, bool scaled) {
  Teuchos::RCP<Types::Vector> scaling;
  if (scaled) {
    scaling = Teuchos::rcp(new Types::Vector(f->getRowMap()));
    scaling->update(1, *integers(f->getRowMap(), 3).getVector(0), 0);
  }
  const std::vector<Explicit::Stage> all = {{f, 1, 0, 0}, {f, 2, -1, 3}, {f, -1, 1, 1}};
  return Teuchos::rcp(new Explicit("test", f->getRowMap(), scaling, 2, {all.begin(), all.begin() + stages}));
}

std::vector<Scalar> entries(const MultiVector& v) {
  compat::handOver<Types::ExecutionSpace>("the test");
  const auto values = v.getLocalViewHost(Tpetra::Access::ReadOnly);
  return {values.data(), values.data() + values.extent(0)};
}

/// p's entries of others in the zone, by one embedded exchange of its frame.
std::unique_ptr<EmbeddedOperator<Types>> exchangeOf(Zone& zone) {
  const auto embedding = embeddingOf<Types>(*zone.frame(), {});
  auto exchange = std::make_unique<EmbeddedOperator<Types>>(zone.frame(), embedding.exchange);
  zone.receiveBy(exchange->exchange());
  return exchange;
}

/// The zone's products are those of a and m, and send nothing.
void expectBothProducts(const CrsMatrix& a, const Explicit& m) {
  Zone zone(a, m);
  const auto exchange = exchangeOf(zone);
  MultiVector ghosts(exchange->ghostMap(), 1), s(a.getRowMap(), 1), t(a.getRowMap(), 1);
  MultiVector expectedS(a.getRowMap(), 1), expectedT(a.getRowMap(), 1);
  ReductionBatch<Types> nothing(a.getRowMap()->getComm());
  for (const int seed : {1, 2}) {
    const MultiVector p = integers(a.getDomainMap(), seed);
    nothing.clear();
    exchange->reduce({&nothing}, {{&p, &ghosts}});
    resetMpiCalls();
    sentMessages() = {true, {}};
    zone.multiply(p, ghosts, s);
    zone.precondition(t);
    sentMessages().wanted = false;
    EXPECT_TRUE(sentMessages().list.empty());
    EXPECT_EQ(mpiCalls().allreduce + mpiCalls().iallreduce + mpiCalls().otherCollectives, 0);
    a.apply(p, expectedS);
    m.apply(expectedS, expectedT);
    EXPECT_EQ(entries(s), entries(expectedS));
    EXPECT_EQ(entries(t), entries(expectedT));
  }
}

TEST(GhostZone, EqualsBothProductsWithTheirOwnMessages) {
  for (const Case& given : casesFor(world()->getSize())) {
    const MatrixPtr a = matrixOf(given, true);
    for (const std::size_t stages : {1, 2, 3}) {
      SCOPED_TRACE(given.name + ", " + std::to_string(stages) + " stages");
      const auto m = preconditionerOf(a, stages, stages != 1);
      ASSERT_TRUE(Zone::fits(*a, *m));
      expectBothProducts(*a, *m);
    }
  }
}

bool onAll(bool here) {
  int all = 0;
  Teuchos::reduceAll(*world(), Teuchos::REDUCE_MIN, here ? 1 : 0, Teuchos::outArg(all));
  return all != 0;
}

MatrixPtr tridiagonal(const MapPtr& rows, const MapPtr& domain) {
  const auto matrix = Teuchos::rcp(new CrsMatrix(rows, 3));
  const auto last = static_cast<GlobalOrdinal>(rows->getGlobalNumElements()) - 1;
  for (const auto row : compat::localElementList(*rows)) {
    for (auto column = row > 0 ? row - 1 : row; column <= row + 1 && column <= last; ++column) {
      matrix->insertGlobalValues(row, Teuchos::tuple<GlobalOrdinal>(column)(),
                                 Teuchos::tuple<Scalar>(value(row, column, true))());
    }
  }
  matrix->fillComplete(domain, rows);
  return matrix;
}

/// The last rank has no row. Its bounds depend on how a map was made, and mean nothing; for them all ranks did without
/// a zone.
TEST(GhostZone, FitsWhereARankHasNoRows) {
  const int ranks = world()->getSize();
  if (ranks == 1) return;
  const MapPtr even = Teuchos::rcp(new Map(static_cast<Tpetra::global_size_t>(ranks - 1), 0, world()));
  const MapPtr counted = mapOfLocal(compat::localNumElements(*even));
  const MatrixPtr a = tridiagonal(even, even);
  const auto m = preconditionerOf(tridiagonal(counted, counted), 2, true);
  ASSERT_TRUE(onAll(Zone::fits(*a, *m)));
  expectBothProducts(*a, *m);

  const PreconditionedOperator<Types> withInverse(a, tridiagonal(even, counted), Teuchos::null);
  const auto inverse = withInverse.explicitPreconditioner();
  ASSERT_TRUE(onAll(!inverse.is_null()));
  ASSERT_TRUE(onAll(Zone::fits(*a, *inverse)));
  expectBothProducts(*a, *inverse);
}

TEST(GhostZone, NumbersEntriesByNumbersThatHaveThemAll) {
  const auto fits = [](auto scalar, auto ordinal, std::uint64_t entries) {
    return numbersEntries<decltype(scalar), decltype(ordinal)>(entries);
  };
  using Long = long long;
  EXPECT_TRUE(fits(double(), Long(), 2700000000U));
  EXPECT_FALSE(fits(double(), int(), 2700000000U));
  EXPECT_TRUE(fits(double(), int(), 2147483647U));
  EXPECT_FALSE(fits(float(), Long(), (1U << 24) + 1));
  EXPECT_TRUE(fits(float(), Long(), 1U << 24));
  EXPECT_FALSE(fits(double(), Long(), (1ULL << 53) + 1));
}

TEST(GhostZone, TakesNewValuesWithoutACollectiveCall) {
  const Case given = casesFor(world()->getSize()).front();
  const MatrixPtr a = matrixOf(given, true);
  const auto m = preconditionerOf(a, 2, true);
  Zone zone(*a, *m);
  const std::uint64_t graphs = Zone::checksumOfGraphs(*a, *m);
  a->resumeFill();
  a->scale(2);
  a->fillComplete(a->getDomainMap(), a->getRangeMap());
  EXPECT_EQ(Zone::checksumOfGraphs(*a, *m), graphs) << "of graphs, not of values";
  EXPECT_NE(Zone::checksumOfGraphs(*a, *preconditionerOf(a, 2, false)), graphs);
  resetMpiCalls();
  zone.refresh(*a, *m);
  EXPECT_EQ(mpiCalls().allreduce + mpiCalls().iallreduce + mpiCalls().otherCollectives, 0);
  const auto exchange = exchangeOf(zone);
  MultiVector ghosts(exchange->ghostMap(), 1), s(a->getRowMap(), 1), expected(a->getRowMap(), 1);
  ReductionBatch<Types> nothing(a->getRowMap()->getComm());
  const MultiVector p = integers(a->getDomainMap(), 1);
  exchange->reduce({&nothing}, {{&p, &ghosts}});
  zone.multiply(p, ghosts, s);
  a->apply(p, expected);
  EXPECT_EQ(entries(s), entries(expected));
  MultiVector t(a->getRowMap(), 1), expectedT(a->getRowMap(), 1);
  zone.precondition(t);
  m->apply(expected, expectedT);
  EXPECT_EQ(entries(t), entries(expectedT));
}

TEST(ExplicitPreconditioner, ComputesWhatItsStagesSay) {
  const Case given = casesFor(world()->getSize()).front();
  const MatrixPtr f = matrixOf(given, true);
  const auto m = preconditionerOf(f, 2, true);
  const MultiVector r = integers(f->getRowMap(), 4), d = integers(f->getRowMap(), 3);
  MultiVector u(f->getRowMap(), 1), v(f->getRowMap(), 1), w(f->getRowMap(), 1), z = integers(f->getRowMap(), 9);
  u.elementWiseMultiply(1, *d.getVector(0), r, 0);
  v.update(2, u, 0);
  f->apply(v, w);
  f->apply(w, v);
  v.scale(2);
  v.update(-1, w, 3, u, 1);
  MultiVector expected(z, Teuchos::Copy);
  expected.update(3, v, -2);
  m->apply(r, z, Teuchos::NO_TRANS, 3, -2);
  EXPECT_EQ(entries(z), entries(expected));
  EXPECT_THROW(m->apply(r, z, Teuchos::TRANS), std::invalid_argument);
}

TEST(ExplicitPreconditioner, RefusesWhatIsNoPreconditioner) {
  const MatrixPtr f = matrixOf(casesFor(world()->getSize()).front(), true);
  const auto map = f->getRowMap();
  EXPECT_THROW(Explicit("none", map, Teuchos::null, 1, {}), std::invalid_argument);
  EXPECT_THROW(Explicit("no matrix", map, Teuchos::null, 1, {{Teuchos::null}}), std::invalid_argument);
  EXPECT_THROW(Explicit("no map", Teuchos::null, Teuchos::null, 1, {{f}}), std::invalid_argument);
  const auto other = Teuchos::rcp(new Map(map->getGlobalNumElements() + 1, 0, world()));
  EXPECT_THROW(Explicit("other map", other, Teuchos::null, 1, {{f}}), std::invalid_argument);
}

}  // namespace
}  // namespace capstan::test
