#include <gtest/gtest.h>

#include <Teuchos_DefaultMpiComm.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Operator.hpp>
#include <stdexcept>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/operators/block_kernels.hpp"
#include "tpetra_ext/operators/preconditioned_operator.hpp"
#include "tpetra_ext/operators/same_maps.hpp"
#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/test/support/counted_allocations.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/vectors.hpp"

namespace capstan::test {
namespace {

using Operator = Types::Operator;
using OperatorPtr = Teuchos::RCP<const Operator>;
using Composed = PreconditionedOperator<Types>;

/// y = D x with D(i) = first + i mod 5. Ignores alpha and beta, as many applications' operators do.
class Diagonal final : public Operator {
 public:
  Diagonal(MapPtr map, Scalar first) : map_(std::move(map)), first_(first) {}
  MapPtr getDomainMap() const override { return map_; }
  MapPtr getRangeMap() const override { return map_; }
  void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp, Scalar, Scalar) const override {
    const auto x = X.getLocalViewHost(Tpetra::Access::ReadOnly);
    const auto y = Y.getLocalViewHost(Tpetra::Access::OverwriteAll);
    for (std::size_t i = 0; i < x.extent(0); ++i) {
      const auto row = map_->getGlobalElement(static_cast<Map::local_ordinal_type>(i));
      for (std::size_t j = 0; j < x.extent(1); ++j) y(i, j) = (first_ + static_cast<Scalar>(row % 5)) * x(i, j);
    }
  }

 private:
  MapPtr map_;
  Scalar first_;
};

/// A(i, i-1) = -1, A(i, i) = 3, A(i, i+1) = -2: does not commute with a diagonal.
OperatorPtr tridiagonal(const MapPtr& map) {
  using Matrix = Types::CrsMatrix;
  const auto matrix = Teuchos::rcp(new Matrix(map, 3));
  const auto last = static_cast<Types::GlobalOrdinal>(map->getGlobalNumElements()) - 1;
  for (const auto row : compat::localElementList(*map)) {
    const auto insert = [&](Types::GlobalOrdinal column, Scalar value) {
      if (column >= 0 && column <= last) {
        matrix->insertGlobalValues(row, Teuchos::tuple(column)(), Teuchos::tuple(value)());
      }
    };
    insert(row - 1, -1);
    insert(row, 3);
    insert(row + 1, -2);
  }
  matrix->fillComplete();
  return matrix;
}

void expectSame(const MultiVector& got, const MultiVector& wanted) {
  MultiVector difference(wanted, Teuchos::Copy);
  difference.update(-1, got, 1);
  Teuchos::Array<Types::Magnitude> norms(wanted.getNumVectors());
  difference.normInf(norms());
  for (const auto norm : norms) EXPECT_EQ(norm, 0);
}

class PreconditionedOperatorTest : public testing::Test {
 protected:
  const MapPtr map = mapOfLocal(world()->getRank() == 1 ? 0 : 6);  // one empty rank
  const OperatorPtr A = tridiagonal(map);
  const OperatorPtr L = Teuchos::rcp(new Diagonal(map, 2));
  const OperatorPtr R = Teuchos::rcp(new Diagonal(map, 1));
};

TEST_F(PreconditionedOperatorTest, ComposesEverySideForAnyNumberOfColumns) {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      Composed op(A, left ? L : OperatorPtr(), right ? R : OperatorPtr());
      EXPECT_EQ(op.hasLeft(), left);
      EXPECT_EQ(op.hasRight(), right);
      for (const std::size_t columns : {1, 3, 1}) {
        const MultiVector v = filled(map, columns, 1);
        MultiVector u(map, columns), product(map, columns), wanted(map, columns), w(map, columns);
        if (right) {
          R->apply(v, u);
        } else {
          Tpetra::deep_copy(u, v);
        }
        A->apply(u, product);
        if (left) {
          L->apply(product, wanted);
        } else {
          Tpetra::deep_copy(wanted, product);
        }
        op.apply(v, w);
        expectSame(w, wanted);
        op.applyRight(v, w);
        expectSame(w, u);
        op.applyA(u, w);
        expectSame(w, product);
        op.applyLeft(product, w);
        expectSame(w, wanted);
      }
    }
  }
}

TEST_F(PreconditionedOperatorTest, ResidualNeedsNoAlphaAndBetaOfTheOperator) {
  Composed op(L, OperatorPtr(), OperatorPtr());
  const MultiVector b = filled(map, 2, 1), x = filled(map, 2, 2);
  MultiVector r = filled(map, 2, 3), wanted(map, 2);
  L->apply(x, wanted);
  wanted.update(1, b, -1);
  op.residual(b, x, r);
  expectSame(r, wanted);
}

/// D, for one column and for as many as it first saw of several: as Ifpack2's Chebyshev.
/// A as (4 A) / 4, which is exact; counts its uses.
class Detour final : public Operator {
 public:
  explicit Detour(OperatorPtr a) : a_(std::move(a)) {}
  MapPtr getDomainMap() const override { return a_->getDomainMap(); }
  MapPtr getRangeMap() const override { return a_->getRangeMap(); }
  void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp, Scalar, Scalar) const override {
    ++uses;
    MultiVector four(X, Teuchos::Copy);
    four.scale(4);
    a_->apply(four, Y);
    Y.scale(Scalar(0.25));
  }

  mutable int uses = 0;

 private:
  OperatorPtr a_;
};

TEST_F(PreconditionedOperatorTest, ItsProductIsExchangeable) {
  const MultiVector v = filled(map, 2, 1), b = filled(map, 2, 2);
  Composed plain(A, L, R), other(A, L, R);
  const auto detour = Teuchos::rcp(new Detour(A));
  other.exchangeProduct(detour);
  const auto compare = [&] {
    MultiVector w(map, 2), expected(map, 2);
    for (auto each : {&Composed::apply, &Composed::applyA}) {
      (plain.*each)(v, expected, nullptr);
      (other.*each)(v, w, nullptr);
      expectSame(w, expected);
    }
    plain.residual(b, v, expected);
    other.residual(b, v, w);
    expectSame(w, expected);
  };
  compare();
  EXPECT_EQ(detour->uses, 3);
  EXPECT_EQ(other.cost().operatorApplications, 3);
  EXPECT_EQ(&other.A(), A.get()) << "the rows are still A's";
  EXPECT_THROW(other.exchangeProduct(tridiagonal(mapOfLocal(7))), std::invalid_argument);
  other.exchangeProduct(Teuchos::null);
  compare();
  EXPECT_EQ(detour->uses, 3);
}

/// Where launches are delayed, what has been launched is done before others look.
TEST_F(PreconditionedOperatorTest, HandsOverToTheProductThatStandsForTheOperator) {
  Composed op(A, OperatorPtr(), OperatorPtr());
  op.exchangeProduct(R);
  BlockKernels<Types> kernels;
  const MultiVector x = filled(map, 1, 1);
  MultiVector v(map, 1), w(map, 1), wanted(map, 1);
  op.applyA(v, w);  // makes what it needs
  R->apply(x, wanted);
  wanted.scale(2);
  kernels.scale(2, x, v);
  op.applyA(v, w);
  expectSame(w, wanted);
}

class FixedWidth final : public Operator {
 public:
  explicit FixedWidth(Teuchos::RCP<const Diagonal> diagonal) : diagonal_(std::move(diagonal)) {}
  MapPtr getDomainMap() const override { return diagonal_->getDomainMap(); }
  MapPtr getRangeMap() const override { return diagonal_->getRangeMap(); }
  void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp mode, Scalar alpha, Scalar beta) const override {
    if (width_ == 0 && X.getNumVectors() > 1) width_ = X.getNumVectors();
    if (X.getNumVectors() > 1 && X.getNumVectors() != width_) throw std::invalid_argument("another width");
    diagonal_->apply(X, Y, mode, alpha, beta);
    ++calls_;
  }
  long calls() const { return calls_; }

 private:
  Teuchos::RCP<const Diagonal> diagonal_;
  mutable std::size_t width_ = 0;
  mutable long calls_ = 0;
};

TEST_F(PreconditionedOperatorTest, LetsAPreconditionerKeepTheWidthItFirstSaw) {
  const auto diagonal = Teuchos::rcp(new const Diagonal(map, 3));
  const auto left = Teuchos::rcp(new const FixedWidth(diagonal)), right = Teuchos::rcp(new const FixedWidth(diagonal));
  Composed op(A, left, right);
  Composed plain(A, diagonal, diagonal);
  for (const std::size_t columns : {1, 4, 3, 2, 1, 4, 7, 3}) {
    SCOPED_TRACE(columns);
    const MultiVector v = filled(map, columns, 1);
    MultiVector w(map, columns), wanted(map, columns);
    const OperatorCost before = op.cost();
    op.apply(v, w);
    plain.apply(v, wanted);
    expectSame(w, wanted);
    EXPECT_EQ(op.cost().preconditionerApplications, left->calls() + right->calls());
    EXPECT_EQ(op.cost().preconditionerColumns, before.preconditionerColumns + 2 * static_cast<long>(columns));
  }
}

// Applications make solvers anew and keep their preconditioners.
TEST_F(PreconditionedOperatorTest, KnowsTheWidthThatAnotherOneHasShownAPreconditioner) {
  const OperatorPtr left = Teuchos::rcp(new const FixedWidth(Teuchos::rcp(new const Diagonal(map, 3))));
  for (const std::size_t columns : {2, 4, 1, 3}) {
    Composed op(A, left, Teuchos::null);
    const MultiVector v = filled(map, columns, 1);
    MultiVector z(map, columns), wanted(map, columns);
    EXPECT_NO_THROW(op.applyLeft(v, z)) << columns;
    Diagonal(map, 3).apply(v, wanted, Teuchos::NO_TRANS, 1, 0);
    wanted.update(-1, z, 1);
    std::vector<Scalar> rest(columns);
    wanted.normInf(Teuchos::arrayViewFromVector(rest));
    for (const Scalar one : rest) EXPECT_EQ(one, 0);
  }
}

TEST_F(PreconditionedOperatorTest, CountsAndLogsWhatItDoes) {
  Composed op(A, L, R);
  const MultiVector v = filled(map, 3, 1);
  MultiVector w(map, 3);
  eventLog().clear();
  eventLog().enable(true);
  op.apply(v, w);
  eventLog().enable(false);
  const auto& events = eventLog().events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].kind, LoggedKind::PreconditionerApply);
  EXPECT_EQ(events[1].kind, LoggedKind::OperatorApply);
  EXPECT_EQ(events[2].kind, LoggedKind::PreconditionerApply);
  EXPECT_EQ(events[1].id, 3);
  op.residual(v, v, w);
  EXPECT_EQ(op.cost().operatorApplications, 2);
  EXPECT_EQ(op.cost().preconditionerApplications, 2);
  EXPECT_EQ(op.cost().operatorColumns, 6);
  EXPECT_EQ(op.cost().preconditionerColumns, 6);
  EXPECT_GT(op.cost().operatorSeconds, 0);
  EXPECT_GT(op.cost().preconditionerSeconds, 0);
  op.resetCost();
  EXPECT_EQ(op.cost().operatorApplications, 0);
  EXPECT_EQ(op.cost().operatorSeconds, 0);
}

TEST_F(PreconditionedOperatorTest, ScratchIsKeptForEveryNumberOfColumns) {
  Composed op(L, R, R);
  const MultiVector one = filled(map, 1, 1), three = filled(map, 3, 1);
  MultiVector w1(map, 1), w3(map, 3);
  const auto both = [&] {
    const long before = allocations();
    op.apply(one, w1);
    op.apply(three, w3);
    return allocations() - before;
  };
  EXPECT_GT(both(), 0);
  EXPECT_EQ(both(), 0);
}

TEST_F(PreconditionedOperatorTest, NoReductionIsHiddenInIt) {
  resetMpiCalls();
  Composed op(A, L, R);
  const MultiVector v = filled(map, 1, 1);
  MultiVector w(map, 1);
  op.apply(v, w);
  op.residual(v, v, w);
  EXPECT_EQ(mpiCalls().allreduce + mpiCalls().iallreduce + mpiCalls().otherCollectives, 0);
}

/// A subdomain solver on this rank's rows only, as Ifpack2's RILUK is when it is used bare.
TEST_F(PreconditionedOperatorTest, TakesAPreconditionerOfLocalMaps) {
  const auto rows = compat::localNumElements(*map);
  const auto self = Teuchos::rcp(new Teuchos::MpiComm<int>(MPI_COMM_SELF));
  const auto local = Teuchos::rcp(new Map(static_cast<Tpetra::global_size_t>(rows), rows, 0, self));
  Composed op(A, Teuchos::null, Teuchos::rcp(new Diagonal(local, 1)));
  const MultiVector v = filled(map, 1, 3);
  MultiVector w(map, 1);
  op.applyRight(v, w);
  const auto in = v.getLocalViewHost(Tpetra::Access::ReadOnly);
  const auto out = w.getLocalViewHost(Tpetra::Access::ReadOnly);
  for (std::size_t i = 0; i < rows; ++i) EXPECT_EQ(out(i, 0), (1 + static_cast<Scalar>(i % 5)) * in(i, 0));
}

TEST_F(PreconditionedOperatorTest, OtherMapsAreFoundByAllRanks) {
  using Compared = std::vector<ComparedMap<Map>>;
  const bool odd = world()->getRank() == 0;
  const auto rows = compat::localNumElements(*map);
  const auto self = Teuchos::rcp(new Teuchos::MpiComm<int>(MPI_COMM_SELF));
  // One rank alone has a subdomain of another size, or its rows in another order.
  const auto mine = rows + (odd ? 1 : 0);
  const MapPtr local = Teuchos::rcp(new Map(static_cast<Tpetra::global_size_t>(rows), rows, 0, self));
  const MapPtr wrong = Teuchos::rcp(new Map(static_cast<Tpetra::global_size_t>(mine), mine, 0, self));
  std::vector<Types::GlobalOrdinal> numbers;
  for (std::size_t i = 0; i < rows; ++i) numbers.push_back(map->getGlobalElement(static_cast<int>(i)));
  const MapPtr same = Teuchos::rcp(new Map(map->getGlobalNumElements(), numbers, 0, world()));
  if (odd) std::swap(numbers.front(), numbers.back());
  const MapPtr swapped = Teuchos::rcp(new Map(map->getGlobalNumElements(), numbers, 0, world()));

  EXPECT_EQ(firstOtherMap(Compared{{map}, {same}, {map, true}}, *map), 3U);
  EXPECT_EQ(firstOtherMap(Compared{{map}, {swapped}, {same}}, *map), 1U);
  EXPECT_EQ(firstOtherMap(Compared{{same}, {same}, {swapped, true}}, *map), 2U);
  EXPECT_EQ(firstOtherMap(Compared{{mapOfLocal(9)}, {map}}, *map), 0U);
  if (world()->getSize() > 1) {
    EXPECT_EQ(firstOtherMap(Compared{{map}, {local, true}}, *map), 2U);
    EXPECT_EQ(firstOtherMap(Compared{{map}, {wrong, true}}, *map), 1U);
    EXPECT_EQ(firstOtherMap(Compared{{map}, {local}}, *map), 1U) << "a vector must be on all ranks";
  }
  resetMpiCalls();
  EXPECT_EQ(firstOtherMap(Compared{{map}, {map}}, *map), 2U);
  EXPECT_EQ(mpiCalls().allreduce, 0);
}

TEST_F(PreconditionedOperatorTest, MisfitsAreRefused) {
  const MapPtr other = mapOfLocal(9);
  const OperatorPtr misfit = Teuchos::rcp(new Diagonal(other, 1));
  EXPECT_THROW(Composed(OperatorPtr(), L, R), std::invalid_argument);
  EXPECT_THROW(Composed(A, misfit, R), std::invalid_argument);
  EXPECT_THROW(Composed(A, L, misfit), std::invalid_argument);
  const auto rectangular = Teuchos::rcp(new Types::CrsMatrix(map, 1));
  rectangular->fillComplete(other, map);
  EXPECT_THROW(Composed(rectangular, OperatorPtr(), OperatorPtr()), std::invalid_argument);
  Composed op(A, OperatorPtr(), OperatorPtr());
  MultiVector v = filled(map, 1, 1);
  EXPECT_THROW(op.apply(v, v), std::invalid_argument);
  EXPECT_THROW(op.applyLeft(v, v), std::invalid_argument);
  EXPECT_THROW(op.residual(v, v, v), std::invalid_argument);
}

// The instantiation macro on a list that Debian's Trilinos does not have: complex scalars and long double fall out.
#define CAPSTAN_TEST_LIST(MACRO)          \
  MACRO(double, int, longlong, A)         \
  MACRO(std_complex0double0, int, int, A) \
  MACRO(float, int, int, B)               \
  MACRO(longdouble, int, int, B)          \
  MACRO(float, int, longlong, A)
#define CAPSTAN_TEST_ONE(S, LO, GO, NO) +1
#define CAPSTAN_TEST_FLOAT(S, LO, GO, NO) +(std::is_same<S, float>::value ? 1 : 0)

TEST(Instantiate, KeepsEveryRealScalarAndDropsTheOthers) {
  EXPECT_EQ(0 CAPSTAN_INSTANTIATE_FROM(CAPSTAN_TEST_LIST, CAPSTAN_TEST_ONE), 3);
  EXPECT_EQ(0 CAPSTAN_INSTANTIATE_FROM(CAPSTAN_TEST_LIST, CAPSTAN_TEST_FLOAT), 2);
  EXPECT_GE(0 CAPSTAN_INSTANTIATE(CAPSTAN_TEST_ONE), 1);
}

}  // namespace

/// A map as newer Trilinos has it, with the old name deprecated: the new one must be taken. Nobody calls the old one,
/// which nvcc would complain of in a namespace of this file alone.
struct NewerMap {
  std::size_t getLocalNumElements() const { return 4; }
  [[deprecated]] std::size_t getNodeNumElements() const { return 0; }
};

namespace {

TEST(Compat, FindsTheNamesOfThisTrilinosAndPrefersNewOnes) {
  const MapPtr map = mapOfLocal(6);
  EXPECT_EQ(compat::localNumElements(*map), 6u);
  EXPECT_EQ(compat::localElementList(*map).size(), 6);
  EXPECT_EQ(compat::localNumElements(NewerMap()), 4u);
  const auto matrix = Teuchos::rcp_dynamic_cast<const Types::CrsMatrix>(tridiagonal(map));
  EXPECT_EQ(compat::localNumRows(*matrix), 6u);
  EXPECT_EQ(compat::localMaxNumRowEntries(*matrix), 3u);
  const bool first = world()->getRank() == 0, last = world()->getRank() == world()->getSize() - 1;
  EXPECT_EQ(compat::localNumEntries(*matrix), 18u - (first ? 1 : 0) - (last ? 1 : 0));
}

}  // namespace
}  // namespace capstan::test
