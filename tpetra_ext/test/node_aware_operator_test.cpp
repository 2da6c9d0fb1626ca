#include "tpetra_ext/operators/node_aware_operator.hpp"

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/instruction_set.hpp"
#include "tpetra_ext/kernels/host/task_scope.hpp"
#include "tpetra_ext/node_queue.hpp"
#include "tpetra_ext/operators/exchange_traffic.hpp"
#include "tpetra_ext/test/support/case_matrix.hpp"
#include "tpetra_ext/test/support/counted_allocations.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/vectors.hpp"
#include "tpetra_ext/test/support/watched_views.hpp"
#include "tpetra_ext/topology/test/distributed_case.hpp"
#include "tpetra_ext/topology/test/expect_refused.hpp"

namespace capstan::test {
namespace {

using topology::PlanOptions;
using topology::RowPartition;
using topology::Strategy;
using topology::test::allOptions;
using topology::test::Case;
using topology::test::casesFor;
using topology::test::expectRefused;
using Product = NodeAwareOperator<Types>;

Product productOf(const MatrixPtr& matrix, const PlanOptions& options, int ranksPerNode) {
  return Product(matrix, MatrixPattern<Types>(*matrix, ranksPerNode).exchange(options));
}

/// Largest difference of two blocks, infinite where one of them is no number and the other is.
Scalar difference(const MultiVector& got, const MultiVector& wanted) {
  compat::handOver<Types::ExecutionSpace>("the test");
  const auto a = got.getLocalViewHost(Tpetra::Access::ReadOnly);
  const auto b = wanted.getLocalViewHost(Tpetra::Access::ReadOnly);
  Scalar largest = 0;
  for (std::size_t i = 0; i < b.extent(0); ++i) {
    for (std::size_t j = 0; j < b.extent(1); ++j) {
      const bool same = std::isnan(a(i, j)) && std::isnan(b(i, j));
      const Scalar apart = std::abs(a(i, j) - b(i, j));
      if (!same) largest = std::max(largest, std::isnan(apart) ? std::numeric_limits<Scalar>::infinity() : apart);
    }
  }
  return largest;
}

bool sameBits(const MultiVector& got, const MultiVector& wanted) {
  compat::handOver<Types::ExecutionSpace>("the test");
  const auto a = got.getLocalViewHost(Tpetra::Access::ReadOnly);
  const auto b = wanted.getLocalViewHost(Tpetra::Access::ReadOnly);
  for (std::size_t i = 0; i < b.extent(0); ++i) {
    for (std::size_t j = 0; j < b.extent(1); ++j) {
      if (std::memcmp(&a(i, j), &b(i, j), sizeof(Scalar)) != 0) return false;
    }
  }
  return true;
}

/// X for some number of columns, and what Tpetra makes of it.
struct Expected {
  MultiVector x, exact, inexact, product;
};

TEST(NodeAwareOperator, EqualsTpetrasProductEntryByEntry) {
  const int ranks = world()->getSize();
  for (const Case& given : casesFor(ranks)) {
    const MatrixPtr exact = matrixOf(given, true), matrix = matrixOf(given, false);
    std::vector<Expected> all;
    for (const std::size_t columns : {1, 3, 4, 33}) {
      const MapPtr map = matrix->getDomainMap();
      all.push_back({filled(map, columns, 1), MultiVector(map, columns), MultiVector(map, columns), {}});
      exact->apply(all.back().x, all.back().exact);
      matrix->apply(all.back().x, all.back().inexact);
    }
    for (int ranksPerNode = 1; ranksPerNode <= 4; ++ranksPerNode) {
      const MatrixPattern<Types> pattern(*matrix, ranksPerNode);
      for (const PlanOptions& options : allOptions()) {
        SCOPED_TRACE(given.name + ", " + std::to_string(ranksPerNode) + " a node, " + nameOf(options.strategy));
        const auto exchange = pattern.exchange(options);
        const Product exactProduct(exact, exchange), product(matrix, exchange);
        for (Expected& expected : all) {
          MultiVector y(matrix->getRangeMap(), expected.x.getNumVectors());
          exactProduct.apply(expected.x, y);
          ASSERT_TRUE(sameBits(y, expected.exact)) << y.getNumVectors() << " columns";
          product.apply(expected.x, y);
          // Rows have up to n + 3 entries of magnitude up to 1.
          ASSERT_LE(difference(y, expected.inexact), 1e-12) << y.getNumVectors() << " columns";
          if (expected.product.getNumVectors() == 0) expected.product = MultiVector(y, Teuchos::Copy);
          ASSERT_TRUE(sameBits(y, expected.product)) << y.getNumVectors() << " columns";
        }
      }
    }
  }
}

/// The exchange of a plan, its messages in one call of MPI for all neighbours.
std::shared_ptr<const MatrixExchange> inOneCall(const std::shared_ptr<const MatrixExchange>& exchange) {
  const auto collective = std::make_shared<MatrixExchange>(*exchange);
  collective->neighbourhood = true;
  return collective;
}

TEST(NodeAwareOperator, BringsTheSameInOneCallForAllNeighbours) {
  for (const Case& given : casesFor(world()->getSize())) {
    for (const int ranksPerNode : {1, 2, 4}) {
      SCOPED_TRACE(given.name + ", " + std::to_string(ranksPerNode) + " a node");
      const MatrixPtr matrix = matrixOf(given, false);
      const auto exchange = MatrixPattern<Types>(*matrix, ranksPerNode).exchange(PlanOptions());
      const Product one(matrix, exchange), all(matrix, inOneCall(exchange));
      for (const std::size_t columns : {1, 4, 3, 33}) {
        const MultiVector x = filled(matrix->getDomainMap(), columns, 1);
        MultiVector y(matrix->getRangeMap(), columns), wanted(matrix->getRangeMap(), columns);
        one.apply(x, wanted);
        for (int times = 0; times < 2; ++times) all.apply(x, y);
        ASSERT_TRUE(sameBits(y, wanted)) << columns << " columns";
      }
      EXPECT_EQ(all.counters().messages, 2 * one.counters().messages);
      EXPECT_EQ(all.counters().networkBytes, 2 * one.counters().networkBytes);
    }
  }
}

TEST(NodeAwareOperator, RefusesOneCallForMessagesThatWaitForOthers) {
  if (world()->getSize() < 4) return;
  const MatrixPtr matrix = matrixOf(casesFor(world()->getSize())[1], true);
  PlanOptions options;
  options.strategy = Strategy::ThreeStep;
  const auto exchange = inOneCall(MatrixPattern<Types>(*matrix, 2).exchange(options));
  expectRefused([&] { Product(matrix, exchange); }, "needs the standard communication plan");
}

class OneMatrix : public testing::Test {
 protected:
  const Case given = casesFor(world()->getSize())[1];
  const MatrixPtr matrix = matrixOf(given, true);
  const MapPtr map = Teuchos::rcp_const_cast<const Map>(matrix->getDomainMap());
  const Product product = productOf(matrix, options(Strategy::ThreeStep), 2);

  static PlanOptions options(Strategy strategy) {
    PlanOptions made;
    made.strategy = strategy;
    return made;
  }
};

TEST_F(OneMatrix, ScalesAndAddsAsTpetraDoes) {
  for (const Scalar alpha : {0.0, 1.0, -2.0}) {
    for (const Scalar beta : {0.0, 1.0, 3.0}) {
      const MultiVector x = filled(map, 3, 1);
      MultiVector y = filled(map, 3, 2), wanted = filled(map, 3, 2);
      if (beta == 0) y.putScalar(std::numeric_limits<Scalar>::quiet_NaN());  // counts for nothing
      matrix->apply(x, wanted, Teuchos::NO_TRANS, alpha, beta);
      product.apply(x, y, Teuchos::NO_TRANS, alpha, beta);
      EXPECT_EQ(difference(y, wanted), 0) << alpha << ", " << beta;
    }
  }
}

TEST_F(OneMatrix, LetsNaNThroughToTheRowsThatNeedIt) {
  MultiVector x = filled(map, 2, 1), y(map, 2), wanted(map, 2);
  if (x.getLocalLength() > 0) x.replaceLocalValue(0, 1, std::numeric_limits<Scalar>::quiet_NaN());
  matrix->apply(x, wanted);
  product.apply(x, y);
  EXPECT_EQ(difference(y, wanted), 0);
}

TEST_F(OneMatrix, MultipliesByTheTranspose) {
  const MultiVector x = filled(map, 2, 1);
  MultiVector y(map, 2), wanted(map, 2);
  matrix->apply(x, wanted, Teuchos::TRANS);
  product.apply(x, y, Teuchos::TRANS);
  EXPECT_EQ(difference(y, wanted), 0);
}

TEST_F(OneMatrix, TakesPartsOfVectorsAndVectorsThatAreTheSame) {
  const MultiVector all = filled(map, 5, 1);
  MultiVector wanted(map, 2);
  const Teuchos::Array<std::size_t> apart = Teuchos::tuple<std::size_t>(3, 0);
  const auto x = all.subView(apart());
  matrix->apply(*x, wanted);
  MultiVector y(map, 2);
  product.apply(*x, y);
  EXPECT_EQ(difference(y, wanted), 0);
  // Into two columns that do not lie beside one another, the others untouched.
  MultiVector wide = filled(map, 5, 2);
  product.apply(*x, *wide.subViewNonConst(apart()));
  for (std::size_t j = 0; j < 2; ++j) EXPECT_EQ(difference(*wide.getVector(apart[j]), *wanted.getVector(j)), 0);
  EXPECT_EQ(difference(*wide.getVector(1), *filled(map, 5, 2).getVector(1)), 0);
  // X and Y in one place.
  MultiVector same(*x, Teuchos::Copy);
  product.apply(same, same);
  EXPECT_EQ(difference(same, wanted), 0);
}

TEST_F(OneMatrix, FollowsTheValuesOfTheMatrix) {
  matrix->resumeFill();
  matrix->scale(2);
  matrix->fillComplete();
  const MultiVector x = filled(map, 2, 1);
  MultiVector y(map, 2), wanted(map, 2);
  matrix->apply(x, wanted);
  product.apply(x, y);
  EXPECT_EQ(difference(y, wanted), 0);
}

/// On the maps of another matrix: its diagonal, and every other one of the entries beside it.
MatrixPtr thinned(const CrsMatrix& a) {
  const auto some = Teuchos::rcp(new CrsMatrix(a.getRowMap(), a.getColMap(), a.getGlobalMaxNumRowEntries()));
  const auto graph = a.getLocalMatrixHost().graph;
  for (int row = 0; row < static_cast<int>(compat::localNumRows(a)); ++row) {
    for (auto k = graph.row_map(row); k < graph.row_map(row + 1); k += 2) {
      some->insertLocalValues(row, Teuchos::tuple<int>(graph.entries(k))(), Teuchos::tuple<Scalar>(row % 5 - 2)());
    }
  }
  some->fillComplete(a.getDomainMap(), a.getRangeMap());
  return some;
}

TEST_F(OneMatrix, GoesOnWithAnotherGraphOnItsMaps) {
  Product own = productOf(matrix, options(Strategy::TwoStep), 2);
  const MultiVector x = filled(map, 2, 1);
  MultiVector y(map, 2), wanted(map, 2);
  const MatrixPtr thin = thinned(*matrix);
  for (const MatrixPtr& next : {thin, matrix, thin}) {
    own.exchangeMatrix(next);
    EXPECT_EQ(&own.matrix(), next.get());
    next->apply(x, wanted);
    own.apply(x, y);
    EXPECT_EQ(difference(y, wanted), 0);
  }
  EXPECT_THROW(own.exchangeMatrix(Teuchos::null), std::invalid_argument);
  EXPECT_FALSE(Product::fits(nullptr, &own.exchange()));
  EXPECT_FALSE(Product::fits(matrix.get(), nullptr));
  EXPECT_EQ(&own.matrix(), thin.get()) << "nothing has changed";
}

TEST_F(OneMatrix, CountsWhatItSends) {
  for (const Strategy strategy : topology::allStrategies) {
    const Product own = productOf(matrix, options(strategy), 2);
    const Traffic one = trafficOfAProduct(own);
    const topology::ExchangeCounters before = own.counters();
    const MultiVector x = filled(map, 3, 1);
    MultiVector y(map, 3);
    sentMessages() = {true, {}};
    for (int products = 0; products < 2; ++products) own.apply(x, y);
    long long mine[2] = {0, 0}, all[2] = {0, 0};
    for (const SentMessage& message : sentMessages().list) {
      ++mine[0];
      mine[1] += message.bytes;
    }
    sentMessages() = {};
    EXPECT_EQ(own.counters().exchanges - before.exchanges, 2);
    EXPECT_EQ(own.counters().columns - before.columns, 6);
    EXPECT_EQ(own.counters().messages - before.messages, mine[0]);
    MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    const Traffic two = one.times(2, 6);
    EXPECT_EQ(two.networkMessages.total + two.nodeMessages.total, all[0]);
    EXPECT_EQ(two.networkBytes.total + two.nodeBytes.total, all[1]);
    EXPECT_LE(two.networkMessages.mostOfARank, two.networkMessages.total);
    EXPECT_GE(two.networkMessages.mostOfARank * world()->getSize(), two.networkMessages.total);
    EXPECT_EQ(two.networkMessages.total > 0, world()->getSize() > 2) << "nodes have two ranks";
  }
}

TEST_F(OneMatrix, AllocatesNoVectorFromTheSecondTimeOn) {
  const MultiVector x = filled(map, 4, 1);
  MultiVector y(map, 4);
  product.apply(x, y);
  matrix->apply(x, y);
  const CountedKernels kernels;
  const long before = allocations();
  product.apply(x, y);
  const long ours = allocations() - before, ranges = kernels.count() * allocationsOfARange();
  const long after = allocations();
  matrix->apply(x, y);
  EXPECT_LE(ours - ranges, allocations() - after);  // Tpetra makes a few records for its views
}

TEST_F(OneMatrix, RefusesAnotherMapOnAllRanks) {
  const auto exchange = MatrixPattern<Types>(*matrix, 2).exchange(options(Strategy::Standard));
  Case other = given;
  // Of the same size on every rank, but with the first two rows' numbers exchanged between their owners.
  std::vector<int> owners;
  for (long long row = 0; row < other.partition.rows(); ++row) owners.push_back(other.partition.ownerOf(row));
  const auto second = std::find_if(owners.begin(), owners.end(), [&](int owner) { return owner != owners[0]; });
  if (second != owners.end()) {
    std::swap(owners[0], *second);
    other.partition = RowPartition::fromOwners(owners, world()->getSize());
    expectRefused([&] { Product(matrixOf(other, true), exchange); }, "for a matrix on other maps");
  }
  expectRefused([&] { Product(matrixOf(casesFor(world()->getSize())[8], true), exchange); }, "on other maps");
  expectRefused([&] { Product(matrix, world()->getRank() == 0 ? nullptr : exchange); }, "missing on a rank");
  expectRefused([&] { Product(Teuchos::null, exchange); }, "needs a fill-complete matrix");
}

TEST_F(OneMatrix, PartsThatBelongTogetherHaveTheSameChecksum) {
  const auto exchange = MatrixPattern<Types>(*matrix, 2).exchange(options(Strategy::TwoStep));
  std::uint64_t first = exchange->mapsOfAll;
  MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  EXPECT_EQ(exchange->mapsOfAll, first);
  const auto other = MatrixPattern<Types>(*matrixOf(casesFor(world()->getSize())[8], true)).exchange(PlanOptions());
  EXPECT_NE(other->mapsOfAll, first);
  EXPECT_GE(exchange->bytes(), exchange->columnSource.size() * sizeof(topology::LocalIndex));
}

TEST_F(OneMatrix, RefusesWhatItCannotExchange) {
  const MatrixPtr open = Teuchos::rcp(new CrsMatrix(map, 3));
  expectRefused([&] { MatrixPattern<Types>{*open}; }, "not fill-complete");
  expectRefused([&] { MatrixPattern<Types>(*matrix, -1); }, "ranks per node: -1; allowed: 1 or more, or 0");
  MultiVector shorter(mapOfLocal(compat::localNumElements(*map) + 1), 1);
  expectRefused([&] { product.apply(filled(map, 1, 1), shorter); }, "Y has ");
  if (world()->getSize() == 1) return;
  // Rows that are added up over ranks.
  const MapPtr rows = replicatedMap(4), vectors = Teuchos::rcp(new Map(4, 0, world()));
  const MatrixPtr shared =
      Teuchos::rcp(new CrsMatrix(Teuchos::rcp(new Map(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(),
                                                      compat::localElementList(*rows), 0, world())),
                                 4));
  for (GlobalOrdinal row = 0; row < 4; ++row) {
    shared->insertGlobalValues(row, Teuchos::tuple(row)(), Teuchos::tuple<Scalar>(1)());
  }
  shared->fillComplete(vectors, vectors);
  expectRefused([&] { MatrixPattern<Types>{*shared}; }, "not those of its range map");
  // A matrix of which each rank has all rows: Tpetra adds up their products.
  const MatrixPtr replicated = Teuchos::rcp(new CrsMatrix(rows, 1));
  for (GlobalOrdinal row = 0; row < 4; ++row) {
    replicated->insertGlobalValues(row, Teuchos::tuple(row)(), Teuchos::tuple<Scalar>(world()->getRank() + 1)());
  }
  replicated->fillComplete();
  expectRefused([&] { MatrixPattern<Types>{*replicated}; }, "each rank has all of them");
  expectRefused([&] { Product{replicated}; }, "needs a fill-complete matrix");
}

TEST(NodeAwareRectangle, MultipliesMatricesThatAreNotSquare) {
  const MapPtr rows = mapOfLocal(world()->getRank() == 1 ? 0 : 7), columns = mapOfLocal(3);
  const MatrixPtr matrix = Teuchos::rcp(new CrsMatrix(rows, 3));
  const auto n = static_cast<GlobalOrdinal>(columns->getGlobalNumElements());
  for (const auto row : compat::localElementList(*rows)) {
    matrix->insertGlobalValues(row, Teuchos::tuple<GlobalOrdinal>(row % n, (3 * row + 1) % n)(),
                               Teuchos::tuple<Scalar>(1, -2)());
  }
  matrix->fillComplete(columns, rows);
  for (const PlanOptions& options : allOptions()) {
    const MultiVector x = filled(columns, 5, 1);
    MultiVector y(rows, 5), wanted(rows, 5);
    matrix->apply(x, wanted);
    productOf(matrix, options, 2).apply(x, y);
    EXPECT_EQ(difference(y, wanted), 0);
  }
}

TEST(NodeAwareOverlap, InteriorRowsAreThoseThatNeedNothing) {
  const int ranks = world()->getSize(), rank = world()->getRank();
  const Case given{"", topology::test::stencil(12), RowPartition::contiguous(144, ranks)};
  const MatrixPtr matrix = matrixOf(given, true);
  const auto rows = static_cast<long long>(given.partition.owned(rank));
  const long long neighbours = (rank > 0 ? 1 : 0) + (rank < ranks - 1 ? 1 : 0);
  const Product product = productOf(matrix, PlanOptions(), 2);
  EXPECT_EQ(static_cast<long long>(product.interiorRows()), rows - std::min(rows, 12 * neighbours));
}

/// What MPI had been asked for when a multiplication of rows began, by the order of these.
struct Moment {
  std::size_t sent;
  long waits;
};
std::vector<Moment>& multiplications() {
  static std::vector<Moment> all;
  return all;
}
/// A kernel of the portable code, or a region of that for CPUs.
void noteRegion(const char* name) {
  if (std::string(name) != "capstan multiply" && std::string(name) != "capstan rows") return;
  multiplications().push_back({sentMessages().list.size(), mpiCalls().waitsForAll});
}

TEST(NodeAwareOverlap, InteriorRowsAreMultipliedWhileTheNetworkIsBusy) {
  if (kernels::launchesDelayed()) GTEST_SKIP() << "what runs when is not seen where kernels are delayed";
  const int ranks = world()->getSize();
  const Case given{"", topology::test::stencil(24), RowPartition::contiguous(576, ranks)};
  const MatrixPtr matrix = matrixOf(given, true);
  for (const PlanOptions& options : allOptions()) {
    SCOPED_TRACE(nameOf(options.strategy));
    const Product product = productOf(matrix, options, 2);
    const auto& plan = product.exchange().plan;
    const MultiVector x = filled(matrix->getDomainMap(), 2, 1);
    MultiVector y(matrix->getRangeMap(), 2);
    product.apply(x, y);  // requests are made
    resetMpiCalls();
    multiplications().clear();
    sentMessages() = {true, {}};
    capstan::test::seeKernels(noteRegion, noteRegion);
    product.apply(x, y);
    capstan::test::seeKernels(nullptr);
    sentMessages().wanted = false;
    const bool boundary = product.interiorRows() < compat::localNumRows(*matrix);
    ASSERT_GT(product.interiorRows(), 0U);
    ASSERT_EQ(multiplications().size(), boundary ? 2U : 1U);
    // First all is sent that does not wait for the network, and only what is gathered has been waited for.
    std::size_t sends = 0;
    for (const auto step : {topology::Step::Local, topology::Step::Gather, topology::Step::Network}) {
      sends += plan.at(step).sends.size();
    }
    EXPECT_EQ(multiplications()[0].sent, sends);
    EXPECT_EQ(multiplications()[0].waits, plan.at(topology::Step::Gather).sources.empty() ? 0 : 1);
    if (boundary) {
      EXPECT_GT(multiplications()[1].waits, multiplications()[0].waits);
    }
  }
}

/// So many rows that a product looks at its messages between them.
MatrixPtr manyRows() {
  return matrixOf({"", topology::test::stencil(140), RowPartition::contiguous(19600, world()->getSize())}, true);
}

/// Whether one thread computes a product, and its launch returns when it is there.
bool computesAlone() {
  using Execution = Types::ExecutionSpace;
  return kernels::runsOnHost<Execution> && !kernels::genericPathForced() && Execution().concurrency() == 1;
}

TEST(NodeAwareOverlap, TakesFewLaunches) {
  const MatrixPtr matrix = manyRows();
  const Product product = productOf(matrix, PlanOptions(), 1);
  const MultiVector x = filled(matrix->getDomainMap(), 1, 1);
  MultiVector y(matrix->getRangeMap(), 1);
  const long before = nodeQueue<Types>().launches();
  product.apply(x, y);
  // Of what is packed on the node and for the network, inner rows, what is unpacked, and the other rows.
  EXPECT_LE(nodeQueue<Types>().launches() - before, 6);
}

TEST(NodeAwareOverlap, ThreadsShareTheRows) {
  using Scope = kernels::TaskScope<Types::ExecutionSpace>;
  if (!Scope::possible()) GTEST_SKIP() << "kernels here are Kokkos'";
  const MatrixPtr matrix = manyRows();
  const Product product = productOf(matrix, PlanOptions(), 1);
  const MultiVector x = filled(matrix->getDomainMap(), 1, 1);
  MultiVector y(matrix->getRangeMap(), 1), wanted(matrix->getRangeMap(), 1);
  product.apply(x, wanted);
  const Scope scope({2, false});
  const auto& tasks = kernels::detail::TaskQueue::instance();
  const std::uint64_t before = tasks.tilesOfWorkers();
  const bool twoTiles = product.interiorRows() >= 4096;
  int shared = 0;  // on all ranks: the other thread may be late for a product
  for (int times = 0; times < 1000 && shared == 0; ++times) {
    product.apply(x, y);
    const int here = !twoTiles || tasks.tilesOfWorkers() > before ? 1 : 0;
    MPI_Allreduce(&here, &shared, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  EXPECT_EQ(shared, 1);
  EXPECT_TRUE(sameBits(y, wanted));
}

TEST(NodeAwareOverlap, WaitsOnceForWhatItPacks) {
  if (world()->getSize() == 1) GTEST_SKIP() << "one rank sends nothing";
  const MatrixPtr matrix = manyRows();
  const Product product = productOf(matrix, PlanOptions(), 2);
  const MultiVector x = filled(matrix->getDomainMap(), 1, 1);
  MultiVector y(matrix->getRangeMap(), 1);
  for (int times = 0; times < 3; ++times) {
    const long before = nodeQueue<Types>().fences();
    product.apply(x, y);
    EXPECT_EQ(nodeQueue<Types>().fences() - before, kernels::runsLater<Types::ExecutionSpace>() ? 1 : 0);
  }
}

TEST(NodeAwareOverlap, LooksAtTheMessagesBetweenManyRows) {
  const MatrixPtr matrix = manyRows();
  const MultiVector x = filled(matrix->getDomainMap(), 2, 1);
  MultiVector y(matrix->getRangeMap(), 2), wanted(matrix->getRangeMap(), 2);
  matrix->apply(x, wanted);
  for (const PlanOptions& options : allOptions()) {
    SCOPED_TRACE(nameOf(options.strategy));
    const Product product = productOf(matrix, options, 2);
    resetMpiCalls();
    product.apply(x, y);
    EXPECT_EQ(difference(y, wanted), 0);
    const auto& network = product.exchange().plan.at(topology::Step::Network);
    const bool used = !network.sources.empty() || !network.sends.empty();
    const long most = used && computesAlone() ? static_cast<long>((product.interiorRows() - 1) / 2048) : 0;
    EXPECT_LE(mpiCalls().testsOfAll, most);
    // There is no look after the one that finds everything there.
    EXPECT_GE(mpiCalls().testsOfAll, std::min(most, 1L));
  }
}

}  // namespace
}  // namespace capstan::test
