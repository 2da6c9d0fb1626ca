#include "tpetra_ext/reductions/idot.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/vectors.hpp"

namespace capstan::test {
namespace {

class IdotTest : public testing::Test {
 protected:
  void SetUp() override { resetMpiCalls(); }

  void expectOneMessage() const {
    EXPECT_EQ(mpiCalls().iallreduce, size > 1 ? 1 : 0);
    EXPECT_EQ(mpiCalls().allreduce + mpiCalls().otherCollectives, 0);
  }

  const int size = world()->getSize();
  const MapPtr map = mapOfLocal(static_cast<std::size_t>(11 + 3 * world()->getRank()));
  const MultiVector X = filled(map, 3, 1), Y = filled(map, 2, 2);
};

TEST_F(IdotTest, TwoVectors) {
  const auto x = X.getVector(0), y = Y.getVector(1);
  Scalar result = -1;
  resetMpiCalls();
  const auto request = capstan::idot(&result, *x, *y);
  request->wait();
  expectOneMessage();
  EXPECT_EQ(result, x->dot(*y));
}

TEST_F(IdotTest, OneVectorAgainstManyOnEitherSide) {
  const auto y = Y.getVector(1);
  std::vector<Scalar> left(3), right(3);
  resetMpiCalls();
  capstan::idot(left.data(), X, *y)->wait();
  expectOneMessage();
  capstan::idot(right.data(), *y, X)->wait();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(left[i], reference(X, i, Y, 1)) << i;
  EXPECT_EQ(right, left);
}

TEST_F(IdotTest, BlockAgainstBlockWithLeadingDimension) {
  std::vector<Scalar> result(5 * 2, -99);
  resetMpiCalls();
  capstan::idot(result.data(), 5, X, Y)->wait();
  expectOneMessage();
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(result[i + 5 * j], reference(X, i, Y, j)) << i << " " << j;
    EXPECT_EQ(result[3 + 5 * j], -99) << "the padding is the caller's";
    EXPECT_EQ(result[4 + 5 * j], -99);
  }
}

TEST_F(IdotTest, IntoViewsOfAnyRankLayoutAndSpace) {
  Kokkos::View<Scalar**, Kokkos::LayoutRight, Types::DeviceType> block("block", 3, 2);
  Kokkos::View<Scalar*, Types::DeviceType> row("row", 3), column("column", 3);
  Kokkos::View<Scalar, Kokkos::HostSpace> number("number");
  const auto y = Y.getVector(0);
  capstan::idot(block, X, Y)->wait();
  capstan::idot(row, *y, X)->wait();
  capstan::idot(column, X, *y)->wait();
  capstan::idot(number, *X.getVector(2), *y)->wait();
  const auto hostBlock = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), block);
  const auto hostRow = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), row);
  const auto hostColumn = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), column);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 2; ++j) EXPECT_EQ(hostBlock(i, j), reference(X, i, Y, j)) << i << " " << j;
    EXPECT_EQ(hostRow(i), hostBlock(i, 0));
    EXPECT_EQ(hostColumn(i), hostBlock(i, 0));
  }
  EXPECT_EQ(number(), hostBlock(2, 0));
  EXPECT_THROW(capstan::idot(row, X, Y), std::invalid_argument);
  EXPECT_THROW(capstan::idot(number, X, *y), std::invalid_argument);
  EXPECT_THROW(capstan::idot(block, Y, X), std::invalid_argument);
}

TEST_F(IdotTest, ServesAsTpetrasRequestAndOutlivesItsOperands) {
  Kokkos::View<Scalar*, Kokkos::HostSpace> result("result", 3);
  const auto watched = result;
  std::shared_ptr<Tpetra::Details::CommRequest> request;
  {
    MultiVector gone = filled(map, 3, 1);
    const MultiVector alsoGone = filled(map, 1, 2);
    request = capstan::idot(result, gone, alsoGone);
    gone.putScalar(0);
    result = {};
  }
  const auto copy = request;
  request.reset();
  copy->wait();
  copy->wait();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(watched(i), reference(X, i, Y, 0)) << i;
  EXPECT_EQ(watched.use_count(), 1) << "a finished request still holds the result";
}

TEST_F(IdotTest, CancelAndDroppingCompleteTheReductionWithoutWriting) {
  Scalar result = -5;
  capstan::idot(&result, *X.getVector(0), *Y.getVector(0));  // dropped at once
  const auto request = capstan::idot(&result, *X.getVector(0), *Y.getVector(0));
  request->cancel();
  request->cancel();
  request->wait();
  EXPECT_EQ(result, -5);
  EXPECT_EQ(mpiCalls().cancels, 0);
  EXPECT_EQ(mpiCalls().waits, size > 1 ? 2 : 0);
}

TEST_F(IdotTest, TestTellsWhenTheSumsAreThere) {
  Scalar result = 0;
  const auto request = capstan::idot(&result, *X.getVector(1), *Y.getVector(0));
  while (!request->test()) {
  }
  request->wait();
  EXPECT_EQ(result, reference(X, 1, Y, 0));
}

TEST_F(IdotTest, ScatteredColumnsReplicatedMapsAndEmptyRanks) {
  const MultiVector all = filled(map, 5, 3);
  const Teuchos::Array<std::size_t> which = Teuchos::tuple<std::size_t>(4, 1);
  const auto scattered = all.subView(which());
  std::vector<Scalar> result(4);
  capstan::idot(result.data(), *scattered, Y)->wait();
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(result[k], reference(*scattered, k % 2, Y, k / 2)) << k;

  const MultiVector local = filled(replicatedMap(6), 2, 1);
  resetMpiCalls();
  capstan::idot(result.data(), local, local)->wait();
  EXPECT_EQ(mpiCalls().iallreduce, 0);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(result[k], reference(local, k % 2, local, k / 2)) << k;

  const MultiVector onFirst = filled(mapOfLocal(world()->getRank() == 0 ? 5 : 0), 2, 1);
  capstan::idot(result.data(), onFirst, onFirst)->wait();
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(result[k], reference(onFirst, k % 2, onFirst, k / 2)) << k;
}

TEST_F(IdotTest, MisfitsAreRefusedBeforeAnythingIsSent) {
  const MultiVector longer = filled(mapOfLocal(40), 1, 1);
  std::vector<Scalar> result(6);
  resetMpiCalls();
  EXPECT_THROW(capstan::idot(result.data(), X, longer), std::invalid_argument);
  EXPECT_THROW(capstan::idot(result.data(), 2, X, Y), std::invalid_argument) << "leading dimension below 3";
  EXPECT_THROW(capstan::idot(static_cast<Scalar*>(nullptr), X, Y), std::invalid_argument);
  EXPECT_EQ(mpiCalls().iallreduce + mpiCalls().allreduce, 0);
}

}  // namespace
}  // namespace capstan::test
