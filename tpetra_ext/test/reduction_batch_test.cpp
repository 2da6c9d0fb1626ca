#include "tpetra_ext/reductions/reduction_batch.hpp"

#include <gtest/gtest.h>

#include <Teuchos_DefaultSerialComm.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/test/support/counted_allocations.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/vectors.hpp"
#include "tpetra_ext/test/support/watched_views.hpp"

namespace capstan::test {
namespace {

using Batch = ReductionBatch<Types>;
using GO = Types::GlobalOrdinal;

/// 1 where MPI has to be called, 0 on one rank.
long oneMessage() { return world()->getSize() > 1 ? 1 : 0; }

void expectBlock(const Batch& batch, const Batch::Slot& slot, const MultiVector& X, const MultiVector& Y,
                 std::size_t firstOfY = 0) {
  const auto C = batch.view(slot);
  ASSERT_EQ(C.extent(0), X.getNumVectors());
  ASSERT_EQ(C.extent(1), Y.getNumVectors() - firstOfY);
  for (std::size_t j = 0; j < C.extent(1); ++j) {
    for (std::size_t i = 0; i < C.extent(0); ++i) EXPECT_EQ(C(i, j), reference(X, i, Y, firstOfY + j)) << i << " " << j;
  }
}

class ReductionBatchTest : public testing::Test {
 protected:
  void SetUp() override { resetMpiCalls(); }

  const CommPtr comm = world();
  const int rank = comm->getRank();
  const int size = comm->getSize();
  const MapPtr map = mapOfLocal(static_cast<std::size_t>(20 + 7 * rank));
};

/// Of a map of as many rows on any number of ranks: what one rank finds of all rows.
TEST_F(ReductionBatchTest, SketchesAreTheSameOnAnyNumberOfRanks) {
  const int rows = 64;
  const std::size_t all = 500;
  const auto even = Teuchos::rcp(new Map(all, 1, comm));  // numbers from 1 on
  const auto entry = [](std::size_t row, std::size_t j) {
    return static_cast<Scalar>(static_cast<int>((7 * row + 3 * j) % 11) - 5);
  };
  MultiVector X(even, 3);
  const MapPtr own = Teuchos::rcp(new Map(all, 0, Teuchos::rcp(new Teuchos::SerialComm<int>())));
  MultiVector whole(own, 3);
  for (std::size_t j = 0; j < 3; ++j) {
    for (const GO g : compat::localElementList(*even))
      X.replaceGlobalValue(g, j, entry(static_cast<std::size_t>(g) - 1, j));
    for (std::size_t row = 0; row < all; ++row) whole.replaceGlobalValue(static_cast<GO>(row), j, entry(row, j));
  }
  Batch batch(comm), alone(own->getComm());
  const auto slot = batch.sketch(X, rows), expected = alone.sketch(whole, rows);
  const auto norm = batch.norm2(*X.getVector(1));
  EXPECT_EQ(slot.rows, rows);
  batch.reduce();
  alone.reduce();
  const auto S = batch.view(slot), T = alone.view(expected);
  double norm2 = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(S(i, j), T(i, j), 1e-12);
    norm2 += S(i, 1) * S(i, 1);
  }
  EXPECT_NEAR(norm2, batch[norm], 0.7 * batch[norm]);  // sqrt(2 / rows) is 0.18
}

/// Rows in any order: another Theta, which keeps lengths as well.
TEST_F(ReductionBatchTest, SketchesOfRowsInAnyOrderKeepLengths) {
  std::vector<GO> mine;
  for (GO g = 0; g < 900; ++g) {
    if ((g / 7) % size == rank) mine.insert(g % 2 == 0 ? mine.begin() : mine.end(), g);
  }
  const auto odd = Teuchos::rcp(new Map(900, Teuchos::ArrayView<const GO>(mine), 0, comm));
  const MultiVector X = filled(odd, 1, 1);
  Batch batch(comm);
  const auto slot = batch.sketch(X, 256), norm = batch.norm2(X);
  batch.reduce();
  const auto S = batch.view(slot);
  double norm2 = 0;
  for (std::size_t i = 0; i < 256; ++i) norm2 += S(i, 0) * S(i, 0);
  EXPECT_NEAR(norm2, batch[norm], 0.4 * batch[norm]);  // sqrt(2 / rows) is 0.09
}

TEST_F(ReductionBatchTest, SketchesOfOddHeightsAreRefused) {
  Batch batch(comm);
  const MultiVector X = filled(map, 2, 1);
  EXPECT_THROW(batch.sketch(X, 96), std::invalid_argument);
  EXPECT_THROW(batch.sketch(X, 0), std::invalid_argument);
}

TEST_F(ReductionBatchTest, MixOfEverythingIsOneMessage) {
  const MultiVector Q = filled(map, 4, 1), V = filled(map, 3, 2);
  const auto q0 = Q.getVector(0), v1 = V.getVector(1);
  Batch batch(comm);
  batch.trailingGram(Q, 0);
  batch.reduce();  // what the kernels keep for all batches is there
  batch.clear();
  const auto dot = batch.dot(*q0, *v1);
  const auto block = batch.innerProducts(Q, V);
  const auto norm = batch.norm2(*v1);
  const auto gram = batch.trailingGram(Q, 1);
  const auto value = batch.value(static_cast<Scalar>(rank + 1));

  const ReductionCounters before = counters();
  resetMpiCalls();
  batch.reduce();
  const ReductionCounters done = counters() - before;
  EXPECT_EQ(mpiCalls().allreduce, oneMessage());
  EXPECT_EQ(mpiCalls().iallreduce, 0);
  EXPECT_EQ(mpiCalls().otherCollectives, 0);
  EXPECT_EQ(done.messages, mpiCalls().allreduce);
  EXPECT_EQ(done.bytes, mpiCalls().allreduceBytes);
  EXPECT_EQ(mpiCalls().allreduceBytes, oneMessage() * static_cast<long>(sizeof(Scalar)) * (1 + 12 + 1 + 12 + 1));
  EXPECT_EQ(done.blocking, 1);
  EXPECT_EQ(done.nonblocking, 0);
  EXPECT_EQ(done.fences, 1);

  EXPECT_EQ(batch[dot], q0->dot(*v1));
  EXPECT_EQ(batch[norm], v1->dot(*v1));
  EXPECT_EQ(batch[value], static_cast<Scalar>(size * (size + 1) / 2));
  expectBlock(batch, block, Q, V);
  expectBlock(batch, gram, Q, Q, 1);
}

/// The entries are whole: what is stored in single precision is as good.
TEST_F(ReductionBatchTest, ColumnsInSinglePrecisionComeFirst) {
  for (const MapPtr& of : {map, mapOfLocal(rank == 0 ? 0 : 5), mapOfLocal(0)}) {
    const MultiVector Q = filled(of, 4, 1), W = filled(of, 3, 2);
    SingleColumns<Types> singles("singles", compat::localNumElements(*of), 4);
    const auto host = Kokkos::create_mirror_view(singles);
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t i = 0; i < host.extent(0); ++i)
        host(i, j) = static_cast<float>(Q.getData(j)[static_cast<int>(i)]);
    }
    Kokkos::deep_copy(singles, host);
    Batch batch(comm);
    const auto all = batch.trailingGram(singles, W, 0), last = batch.trailingGram(singles, W, 2);
    const auto none = batch.trailingGram(singles, W, 3);
    const auto plain = batch.trailingGram(Kokkos::subview(singles, Kokkos::ALL(), std::make_pair(0, 0)), W, 1);
    resetMpiCalls();
    batch.reduce();
    EXPECT_EQ(mpiCalls().allreduce, of->isDistributed() ? oneMessage() : 0);
    EXPECT_EQ(batch.view(none).extent(0), 7U);
    EXPECT_EQ(batch.view(none).extent(1), 0U);
    expectBlock(batch, plain, W, W, 1);
    const auto everything = batch.view(all), column = batch.view(last);
    ASSERT_EQ(everything.extent(0), 7U);
    ASSERT_EQ(column.extent(1), 1U);
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t i = 0; i < 7; ++i) {
        const Scalar expected = i < 4 ? reference(Q, i, W, j) : reference(W, i - 4, W, j);
        EXPECT_EQ(everything(i, j), expected) << i << ' ' << j;
        if (j < 2) continue;
        EXPECT_EQ(column(i, 0), expected) << i;
      }
    }
  }
  Batch batch(comm);
  const SingleColumns<Types> other("singles", compat::localNumElements(*map) + 1, 2);
  EXPECT_THROW(batch.trailingGram(other, filled(map, 2, 1), 0), std::invalid_argument);
}

TEST_F(ReductionBatchTest, MakesRoomForNumbersThatAreZero) {
  Batch batch(comm);
  for (int i = 0; i < 8; ++i) batch.value(Scalar(1 + i));  // leaves something else in the buffer
  batch.reduce();
  batch.clear();
  const auto first = batch.value(Scalar(1));
  const auto none = batch.room(0), room = batch.room(6);
  const auto last = batch.value(Scalar(2));
  resetMpiCalls();
  batch.reduce();
  EXPECT_EQ(mpiCalls().allreduceBytes, oneMessage() * static_cast<long>(sizeof(Scalar)) * 8);
  EXPECT_EQ(batch[first], Scalar(size));
  EXPECT_EQ(batch.view(none).extent(0), 0U);
  ASSERT_EQ(batch.view(room).extent(0), 6U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(batch.view(room)(i, 0), Scalar(0)) << i;
  EXPECT_EQ(batch[last], Scalar(2 * size));
  batch.clear();
  EXPECT_THROW(batch.room(-1), std::invalid_argument);
}

/// Y = D X for a diagonal D: X^T Y is symmetric.
MultiVector scaledByRow(const MultiVector& X) {
  MultiVector Y(X, Teuchos::Copy);
  for (std::size_t i = 0; i < Y.getLocalLength(); ++i) {
    const auto row = static_cast<Map::local_ordinal_type>(i);
    for (std::size_t j = 0; j < Y.getNumVectors(); ++j) {
      Y.replaceLocalValue(row, j, static_cast<Scalar>(1 + i % 3) * X.getData(j)[row]);
    }
  }
  return Y;
}

TEST_F(ReductionBatchTest, SendsHalfOfASymmetricResult) {
  const std::size_t k = 5, more = 2;
  const MultiVector X = filled(map, k, 1), D = scaledByRow(X);
  MultiVector Y = filled(map, k + more, 3);
  Tpetra::deep_copy(*Y.subViewNonConst(Teuchos::Range1D(0, 4)), D);
  const auto none = filled(mapOfLocal(0), 2, 1);
  Batch batch(comm);
  const auto first = batch.norm2(*X.getVector(0));
  const auto slot = batch.symmetricProducts(X, Y), own = batch.symmetricProducts(X, X);
  const auto last = batch.innerProducts(X, X);
  const auto empty = batch.symmetricProducts(none, none);
  resetMpiCalls();
  batch.reduce();
  EXPECT_EQ(mpiCalls().allreduceBytes,
            oneMessage() * static_cast<long>(sizeof(Scalar)) * (1 + (15 + 10) + 15 + 25 + 3));
  const auto expectEntries = [&](const Batch::Slot& of, const MultiVector& with) {
    std::vector<Scalar> values(6 * with.getNumVectors(), 77);
    batch.read(of, values.data(), 6);
    for (std::size_t j = 0; j < with.getNumVectors(); ++j) {
      for (std::size_t i = 0; i < k; ++i) EXPECT_EQ(values[i + 6 * j], reference(X, i, with, j)) << i << ' ' << j;
      EXPECT_EQ(values[5 + 6 * j], 77);
    }
  };
  expectEntries(slot, Y);
  expectEntries(own, X);
  expectEntries(last, X);
  EXPECT_EQ(batch[first], reference(X, 0, X, 0));
  std::vector<Scalar> nothing(4, 77);
  batch.read(empty, nothing.data(), 2);
  EXPECT_EQ(nothing, std::vector<Scalar>(4, 0));
  EXPECT_THROW(batch.view(slot), std::invalid_argument);
  batch.clear();
  EXPECT_THROW(batch.symmetricProducts(Y, X), std::invalid_argument);
  EXPECT_THROW(batch.read(own, nothing.data(), 2), std::logic_error);
}

TEST_F(ReductionBatchTest, DotsOfSeveralColumnsArePairedColumnByColumn) {
  const MultiVector X = filled(map, 20, 1), Y = filled(map, 20, 3);  // more pairs than one pass of the kernel takes
  Batch batch(comm);
  const auto dots = batch.dot(X, Y);
  batch.reduce();
  ASSERT_EQ(dots.rows, 20);
  ASSERT_EQ(dots.cols, 1);
  for (int j = 0; j < 20; ++j) {
    const auto column = static_cast<std::size_t>(j);
    EXPECT_EQ(batch.view(dots)(column, 0), reference(X, column, Y, column)) << j;
  }
}

TEST_F(ReductionBatchTest, SeveralDotsAreThoseAskedForOneByOne) {
  const MultiVector X = filled(map, 3, 1), Y = filled(map, 3, 3), z = filled(map, 1, 5);
  const Teuchos::Array<std::size_t> which = Teuchos::tuple<std::size_t>(2, 0, 1);
  const auto scattered = Y.subView(which());
  Batch batch(comm), single(comm);
  const auto [xy, yx, zz, xs, ss] = batch.dots({{X, Y}, {Y, X}, {z, z}, {X, *scattered}, {*scattered, *scattered}});
  const Batch::Slot one[] = {single.dot(X, Y), single.dot(Y, X), single.norm2(z), single.dot(X, *scattered),
                             single.dot(*scattered, *scattered)};
  batch.reduce();
  single.reduce();
  const Batch::Slot all[] = {xy, yx, zz, xs, ss};
  for (std::size_t k = 0; k < 5; ++k) {
    ASSERT_EQ(all[k].rows, one[k].rows);
    for (int j = 0; j < all[k].rows; ++j) {
      const auto column = static_cast<std::size_t>(j);
      EXPECT_EQ(batch.view(all[k])(column, 0), single.view(one[k])(column, 0)) << k << " " << j;
    }
  }
}

/// sum_i w_i x_ij y_ij, by Tpetra.
Scalar weightedReference(const MultiVector& X, std::size_t j, const MultiVector& Y, const MultiVector& w) {
  MultiVector product(X.getMap(), 1);
  product.elementWiseMultiply(1, *w.getVector(0), *Y.getVector(j), 0);
  return X.getVector(j)->dot(*product.getVector(0));
}

TEST_F(ReductionBatchTest, DotsWithWeightsStandBesideOthers) {
  for (const std::size_t rows : {0, 1, 511, 512, 513, 1500}) {
    const MapPtr some = mapOfLocal(rank == 0 ? rows : rows / 2);
    const MultiVector x = filled(some, 1, 1), y = filled(some, 1, 2), w = filled(some, 1, 3), v = filled(some, 1, 5);
    Batch batch(comm);
    const auto [xy, xx, yx, yy, plain, other, yw] =
        batch.dots({{x, y, &w}, {x, x, &w}, {y, x, &w}, {y, y, &w}, {x, y}, {x, y, &v}, {y, w, &y}});
    batch.reduce();
    EXPECT_EQ(batch[xy], weightedReference(x, 0, y, w)) << rows;
    EXPECT_EQ(batch[yx], batch[xy]);
    EXPECT_EQ(batch[xx], weightedReference(x, 0, x, w));
    EXPECT_EQ(batch[yy], weightedReference(y, 0, y, w));
    EXPECT_EQ(batch[plain], reference(x, 0, y, 0));
    EXPECT_EQ(batch[other], weightedReference(x, 0, y, v));
    EXPECT_EQ(batch[yw], weightedReference(y, 0, w, y));
  }
}

/// More pairs, and more weighted vectors, than one pass of the kernel takes.
TEST_F(ReductionBatchTest, EveryColumnHasTheWeightsOfItsPair) {
  const MultiVector X = filled(map, 20, 1), Y = filled(map, 20, 3), w = filled(map, 1, 5);
  Batch batch(comm);
  const auto [dots] = batch.dots({{X, Y, &w}});
  batch.reduce();
  for (std::size_t j = 0; j < 20; ++j) EXPECT_EQ(batch.view(dots)(j, 0), weightedReference(X, j, Y, w)) << j;
}

/// Vectors that live for a moment may follow each other at the same address.
TEST_F(ReductionBatchTest, DotsOfVectorsThatAreGoneStayThoseOfTheirEntries) {
  const MultiVector X = filled(map, 2, 1), y = filled(map, 1, 3);
  Batch batch(comm);
  std::vector<Batch::Slot> dots;
  for (std::size_t column = 0; column < 2; ++column) {
    const auto x = X.getVector(column);
    dots.push_back(batch.dots({{*x, y}})[0]);
  }
  batch.reduce();
  for (std::size_t column = 0; column < 2; ++column) EXPECT_EQ(batch[dots[column]], reference(X, column, y, 0));
}

TEST_F(ReductionBatchTest, SumsTravelWithProducts) {
  const MultiVector x = filled(map, 1, 1), ones = [this] {
    MultiVector all(map, 1);
    all.putScalar(1);
    return all;
  }();
  Batch batch(comm);
  const auto square = batch.norm2(x), sum = batch.sum(x);
  batch.reduce();
  EXPECT_EQ(batch[sum], reference(x, 0, ones, 0));
  EXPECT_EQ(batch[square], reference(x, 0, x, 0));
  batch.clear();
  EXPECT_THROW(batch.sum(filled(map, 2, 1)), std::invalid_argument);
}

TEST_F(ReductionBatchTest, ColumnViewsAndScatteredColumnsWork) {
  const MultiVector all = filled(map, 6, 1);
  const auto middle = all.subView(Teuchos::Range1D(2, 4));
  const Teuchos::Array<std::size_t> which = Teuchos::tuple<std::size_t>(5, 0, 3);
  const auto scattered = all.subView(which());
  ASSERT_FALSE(scattered->isConstantStride());
  Batch batch(comm);
  const auto block = batch.innerProducts(*middle, *scattered);
  const auto gram = batch.trailingGram(*scattered, 2);
  const auto dots = batch.dot(*scattered, *middle);
  batch.reduce();
  expectBlock(batch, block, *middle, *scattered);
  expectBlock(batch, gram, *scattered, *scattered, 2);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(batch.view(dots)(j, 0), reference(*scattered, j, *middle, j));
}

/// Some methods enter products and then apply A or M, and another right-hand side may do so at any time: whoever is
/// given the vectors may look at them, or write into them, on the host.
TEST_F(ReductionBatchTest, OperandsAreOthersToUseUntilTheirProductsAreComputed) {
  MultiVector X = filled(map, 6, 1), Y = filled(map, 3, 2);
  const Teuchos::Array<std::size_t> which = Teuchos::tuple<std::size_t>(5, 0, 3);
  const auto middle = X.subView(Teuchos::Range1D(2, 4)), scattered = X.subView(which());
  const auto x = X.getVector(1);
  Batch batch(comm);
  const auto dots = batch.dots({{*middle, Y}, {*scattered, Y}});
  const auto each = batch.dotsWithEach(*scattered, *x), block = batch.innerProducts(Y, *middle);
  const auto other = batch.innerProducts(*scattered, Y), gram = batch.trailingGram(X, 1);
  const auto squares = batch.symmetricProducts(Y, Y), sum = batch.sum(*x);
  const CollectedComplaints complaints;
  compat::handOver<Types::ExecutionSpace>("a preconditioner");
  for (MultiVector* const of : {&X, &Y}) {
    const auto host = compat::hostView(*of, Tpetra::Access::ReadWrite);
    for (std::size_t j = 0; j < of->getNumVectors(); ++j) {
      for (std::size_t i = 0; i < of->getLocalLength(); ++i) (*host)(i, j) += static_cast<Scalar>(j + i % 2);
    }
  }
  batch.reduce();
  compat::handOver<Types::ExecutionSpace>("the application");
  EXPECT_EQ(complaints.list(), std::vector<std::string>());
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(batch.view(dots[0])(j, 0), reference(*middle, j, Y, j));
    EXPECT_EQ(batch.view(dots[1])(j, 0), reference(*scattered, j, Y, j)) << "values of the time when it was entered";
  }
  expectBlock(batch, each, *scattered, *x);
  expectBlock(batch, block, Y, *middle);
  expectBlock(batch, other, *scattered, Y);
  expectBlock(batch, gram, X, X, 1);
  Scalar square[9];
  batch.read(squares, square, 3);
  EXPECT_EQ(square[1], reference(Y, 0, Y, 1));
  MultiVector ones(map, 1);
  ones.putScalar(1);
  EXPECT_EQ(batch[sum], reference(*x, 0, ones, 0));
}

TEST_F(ReductionBatchTest, AVectorTimesEachOfOthersGoesWithTheDots) {
  const MultiVector X = filled(map, 6, 1), small = filled(mapOfLocal(rank == 0 ? 0 : 5), 3, 2), none(map, 0);
  const MultiVector alone = filled(replicatedMap(5), 3, 3);
  const Teuchos::Array<std::size_t> which = Teuchos::tuple<std::size_t>(5, 0, 3);
  const auto scattered = X.subView(which());
  const auto y = X.getVector(2), ofSmall = small.getVector(1), ofAlone = alone.getVector(0);
  Batch batch(comm);
  const auto all = batch.dotsWithEach(X, *y), some = batch.dotsWithEach(*scattered, *y);
  const auto others = batch.dotsWithEach(small, *ofSmall), known = batch.dotsWithEach(alone, *ofAlone);
  const auto nothing = batch.dotsWithEach(none, *y);
  const auto square = batch.norm2(*y);
  EXPECT_THROW(batch.dotsWithEach(X, X), std::invalid_argument);
  EXPECT_THROW(batch.dotsWithEach(small, *y), std::invalid_argument);
  const long before = counters().fences;
  resetMpiCalls();
  batch.reduce();
  EXPECT_EQ(counters().fences - before, 1);
  EXPECT_EQ(mpiCalls().allreduce, oneMessage());
  expectBlock(batch, all, X, *y);
  expectBlock(batch, some, *scattered, *y);
  expectBlock(batch, others, small, *ofSmall);
  expectBlock(batch, known, alone, *ofAlone);
  EXPECT_EQ(batch.view(nothing).extent(0), 0U);
  EXPECT_EQ(batch[square], batch.view(all)(2, 0));
}

TEST_F(ReductionBatchTest, VectorsOfDifferentMapsShareAMessage) {
  const MultiVector x = filled(map, 1, 1), small = filled(mapOfLocal(3), 1, 2);
  Batch batch(comm);
  const auto first = batch.norm2(x), second = batch.norm2(small), third = batch.norm2(x);
  resetMpiCalls();
  batch.reduce();
  EXPECT_EQ(mpiCalls().allreduce, oneMessage());
  EXPECT_EQ(batch[first], reference(x, 0, x, 0));
  EXPECT_EQ(batch[second], reference(small, 0, small, 0));
  EXPECT_EQ(batch[third], batch[first]);
}

TEST_F(ReductionBatchTest, EmptyRanksEmptyBlocksAndEmptyMaps) {
  const MapPtr lastOnly = mapOfLocal(rank == size - 1 ? 9 : 0), nothing = mapOfLocal(0);
  const MultiVector X = filled(lastOnly, 3, 1), Y = filled(lastOnly, 2, 2), none(nothing, 2), noColumns(lastOnly, 0);
  Batch batch(comm);
  const auto block = batch.innerProducts(X, Y);
  const auto gram = batch.trailingGram(X, 0), noTrail = batch.trailingGram(X, 3);
  const auto dots = batch.dot(Y, Y), zeros = batch.innerProducts(none, none);
  const auto noDots = batch.dot(none, none), empty = batch.innerProducts(noColumns, Y);
  batch.reduce();
  expectBlock(batch, block, X, Y);
  expectBlock(batch, gram, X, X);
  EXPECT_EQ(batch.view(dots)(1, 0), reference(Y, 1, Y, 1));
  EXPECT_EQ(batch.view(zeros)(1, 1), 0);
  EXPECT_EQ(batch.view(noDots)(1, 0), 0);
  EXPECT_EQ(batch.view(empty).extent(0), 0u);
  EXPECT_EQ(batch.view(empty).extent(1), 2u);
  EXPECT_EQ(batch.view(noTrail).extent(1), 0u);
}

TEST_F(ReductionBatchTest, AnEmptyBatchSendsNothing) {
  Batch batch(comm);
  batch.reduce();
  batch.clear();
  batch.start().wait();
  EXPECT_EQ(mpiCalls().allreduce + mpiCalls().iallreduce, 0);
}

TEST_F(ReductionBatchTest, ReplicatedVectorsAreNotSummedOverRanks) {
  const MapPtr local = replicatedMap(5);
  const MultiVector X = filled(local, 2, 1), distributed = filled(map, 2, 1);
  Batch batch(comm);
  const auto alone = batch.innerProducts(X, X);
  batch.reduce();
  EXPECT_EQ(mpiCalls().allreduce, 0) << "every rank has the result already";
  expectBlock(batch, alone, X, X);

  batch.clear();
  const auto mixed = batch.innerProducts(X, X), dots = batch.dot(X, X);
  const auto summed = batch.innerProducts(distributed, distributed);
  batch.reduce();
  expectBlock(batch, mixed, X, X);
  expectBlock(batch, summed, distributed, distributed);
  EXPECT_EQ(batch.view(dots)(1, 0), reference(X, 1, X, 1));
}

TEST_F(ReductionBatchTest, SerialCommunicatorCallsNoMpi) {
  const CommPtr serial = Teuchos::rcp(new Teuchos::SerialComm<int>());
  const MapPtr local = Teuchos::rcp(new Map(8, 0, serial));
  const MultiVector X = filled(local, 2, 1);
  const ReductionCounters before = counters();
  resetMpiCalls();
  Batch batch(serial);
  auto slot = batch.innerProducts(X, X);
  batch.reduce();
  expectBlock(batch, slot, X, X);
  batch.clear();
  slot = batch.innerProducts(X, X);
  batch.start().wait();
  expectBlock(batch, slot, X, X);
  const ReductionCounters done = counters() - before;
  EXPECT_EQ(mpiCalls().allreduce + mpiCalls().iallreduce + mpiCalls().waits + mpiCalls().otherCollectives, 0);
  EXPECT_EQ(done.blocking, 1) << "a reduction of the algorithm, though nobody had to be asked";
  EXPECT_EQ(done.nonblocking, 1);
  EXPECT_EQ(done.messages, 0);
}

TEST_F(ReductionBatchTest, SplitCommunicatorSumsItsOwnRanksOnly) {
  const CommPtr half = comm->split(rank % 2, rank);
  const MapPtr own = mapOfLocal(static_cast<std::size_t>(4 + rank), half);
  const MultiVector X = filled(own, 2, 1);
  Batch batch(half);
  const auto slot = batch.innerProducts(X, X), ranks = batch.value(1);
  batch.reduce();
  expectBlock(batch, slot, X, X);
  EXPECT_EQ(batch[ranks], static_cast<Scalar>(half->getSize()));
}

TEST_F(ReductionBatchTest, NanAndInfReachEveryRank) {
  MultiVector X = filled(map, 2, 1), Y = filled(map, 1, 2);
  Y.putScalar(1);
  if (rank == size - 1) X.replaceLocalValue(3, 0, std::numeric_limits<Scalar>::quiet_NaN());
  if (rank == 0) X.replaceLocalValue(2, 1, std::numeric_limits<Scalar>::infinity());
  Batch batch(comm);
  const auto block = batch.innerProducts(X, Y), dots = batch.dot(*X.getVector(1), Y);
  batch.reduce();
  EXPECT_TRUE(std::isnan(batch.view(block)(0, 0)));
  EXPECT_TRUE(std::isinf(batch.view(block)(1, 0)));
  EXPECT_TRUE(std::isinf(batch[dots]));
}

TEST_F(ReductionBatchTest, ProductsAreTakenAtTheReductionAndLetTheVectorsGo) {
  MultiVector x = filled(map, 1, 1);
  Batch batch(comm);
  const auto norm = batch.norm2(x);
  x.putScalar(2);
  auto pending = batch.start();
  x.putScalar(5);
  pending.wait();
  EXPECT_EQ(batch[norm], static_cast<Scalar>(4 * map->getGlobalNumElements()));
}

TEST_F(ReductionBatchTest, SecondUseAllocatesNothing) {
  const MultiVector Q = filled(map, 4, 1), V = filled(map, 3, 2);
  Batch batch(comm);
  const auto use = [&] {
    batch.dot(V, V);
    batch.dots({{Q, Q}, {V, V}});
    const auto block = batch.innerProducts(Q, V);
    batch.trailingGram(Q, 1);
    batch.value(1);
    batch.start().wait();
    const Scalar* where = batch.view(block).data();
    batch.clear();
    return where;
  };
  const Scalar* first = use();
  const long before = allocations();
  EXPECT_EQ(use(), first);
  EXPECT_EQ(allocations(), before);
}

// Right-hand sides converge in any order: whoever is left carries the message, and may see a long one first.
TEST_F(ReductionBatchTest, NothingIsAllocatedWhicheverBatchComesFirst) {
  const MultiVector Q = filled(map, 12, 1), V = filled(map, 5, 2);
  std::vector<Batch> batches;
  for (int k = 0; k < 3; ++k) batches.emplace_back(comm);
  const auto use = [&](const std::vector<int>& order, int longest, bool blocking) {
    std::vector<Batch*> together;
    together.reserve(order.size());
    for (const int k : order) {
      Batch& batch = batches[static_cast<std::size_t>(k)];
      batch.dots({{V, V}, {Q, Q}});
      if (k == longest) batch.symmetricProducts(Q, Q);
      if (k == longest) batch.innerProducts(Q, V);
      together.push_back(&batch);
    }
    if (blocking) {
      Batch::reduceTogether(together);
    } else {
      for (auto& pending : Batch::startTogether(together)) pending.wait();
    }
    for (Batch* batch : together) batch->clear();
  };
  const auto lent = [&] {  // heap memory of lists is each batch's own
    static long pieces = 0;
    pieces = 0;
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos::Profiling::SpaceHandle, const char*, const void*, std::uint64_t) { ++pieces; });
    for (const bool blocking : {true, false}) {
      use({1, 2}, 1, blocking);
      use({2}, 2, blocking);
      use({2, 0, 1}, 1, blocking);
      use({0}, 0, blocking);
    }
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    return pieces;
  };
  use({0, 1, 2}, 0, true);
  EXPECT_EQ(lent(), 0);
}

TEST_F(ReductionBatchTest, SeveralBatchesTogetherAreOneMessage) {
  const MultiVector X = filled(map, 3, 1), Y = filled(map, 2, 2), local = filled(replicatedMap(4), 2, 3);
  Batch first(comm), second(comm), third(comm), fourth(comm);
  const auto a = first.innerProducts(X, Y), b = second.norm2(Y), c = third.innerProducts(local, local);
  const ReductionCounters before = counters();
  Batch::reduceTogether({&first, &second, &third, &fourth});
  const ReductionCounters done = counters() - before;
  EXPECT_EQ(mpiCalls().allreduce, oneMessage());
  EXPECT_EQ(done.blocking, 1);
  EXPECT_EQ(done.fences, 1);
  expectBlock(first, a, X, Y);
  expectBlock(third, c, local, local);
  for (std::size_t j = 0; j < 2; ++j) EXPECT_EQ(second.view(b)(j, 0), reference(Y, j, Y, j));

  Batch other(Teuchos::rcp(new Teuchos::SerialComm<int>()));
  first.clear();
  if (size > 1) {
    EXPECT_THROW(Batch::reduceTogether({&first, &other}), std::invalid_argument);
  }
  Batch::reduceTogether({});
}

TEST_F(ReductionBatchTest, MisuseIsRefusedBeforeAnythingIsSent) {
  const MultiVector x = filled(map, 1, 1), longer = filled(mapOfLocal(30), 1, 1), block = filled(map, 2, 1);
  EXPECT_THROW(Batch{CommPtr()}, std::invalid_argument);
  Batch batch(comm);
  EXPECT_THROW(batch.dot(x, longer), std::invalid_argument);
  EXPECT_THROW(batch.innerProducts(x, longer), std::invalid_argument);
  EXPECT_THROW(batch.dot(x, block), std::invalid_argument);
  EXPECT_THROW(batch.dots({{x, x, &block}}), std::invalid_argument);
  EXPECT_THROW(batch.dots({{x, x, &longer}}), std::invalid_argument);
  EXPECT_THROW(batch.trailingGram(block, 3), std::invalid_argument);
  EXPECT_THROW(batch.trailingGram(block, -1), std::invalid_argument);
  const auto slot = batch.innerProducts(x, block);
  EXPECT_THROW(batch.view(slot), std::logic_error) << "not reduced yet";
  resetMpiCalls();
  batch.reduce();
  EXPECT_EQ(mpiCalls().allreduceBytes, oneMessage() * 2 * static_cast<long>(sizeof(Scalar)))
      << "refused ones left a slot";
  EXPECT_THROW(batch[slot], std::invalid_argument) << "two numbers";
  EXPECT_THROW(batch.norm2(x), std::logic_error) << "clear() first";
  EXPECT_THROW(batch.reduce(), std::logic_error);
  EXPECT_THROW(batch.view({5, 1, 1}), std::invalid_argument);
  if (size > 1) {
    const MapPtr own = Teuchos::rcp(new Map(5, 0, Teuchos::rcp(new Teuchos::SerialComm<int>())));
    batch.clear();
    EXPECT_THROW(batch.norm2(filled(own, 1, 1)), std::invalid_argument) << "another communicator";
  }
}

TEST(CountedMpi, TheLayerSeesTrilinosToo) {
  resetMpiCalls();
  const MultiVector x = filled(mapOfLocal(3), 1, 1);
  resetMpiCalls();
  reference(x, 0, x, 0);
  EXPECT_EQ(mpiCalls().allreduce, oneMessage());
}

}  // namespace
}  // namespace capstan::test
