#include "tpetra_ext/reductions/pending_reduction.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/vectors.hpp"

namespace capstan::test {
namespace {

using Batch = ReductionBatch<Types>;

/// 1 where MPI has to be called, 0 on one rank.
long oneMessage() { return world()->getSize() > 1 ? 1 : 0; }

class PendingReductionTest : public testing::Test {
 protected:
  const CommPtr comm = world();
  const int rank = comm->getRank();
  const int size = comm->getSize();
  const MapPtr map = mapOfLocal(static_cast<std::size_t>(20 + 7 * rank));
  const MultiVector x = filled(map, 2, 1);
  const Scalar expected = reference(x, 1, x, 1);
  std::unique_ptr<Batch> batch = std::make_unique<Batch>(comm);
  Batch::Slot slot = batch->norm2(x);

  void SetUp() override { resetMpiCalls(); }
  void TearDown() override {
    setNonblockingMode(NonblockingMode::Native);
    mpiFaults() = MpiFaults();
    eventLog().enable(false);
    eventLog().clear();
  }
};

TEST_F(PendingReductionTest, NonblockingReductionIsOneMessage) {
  const ReductionCounters before = counters();
  auto pending = batch->start();
  EXPECT_EQ(mpiCalls().iallreduce, oneMessage());
  pending.wait();
  const ReductionCounters done = counters() - before;
  EXPECT_EQ(mpiCalls().iallreduce, oneMessage());
  EXPECT_EQ(mpiCalls().allreduce, 0);
  EXPECT_EQ(done.nonblocking, 1);
  EXPECT_EQ(done.blocking, 0);
  EXPECT_EQ(done.messages, oneMessage());
  EXPECT_EQ(done.bytes, mpiCalls().allreduceBytes);
  EXPECT_EQ(batch->view(slot)(1, 0), expected);
}

TEST_F(PendingReductionTest, TestCompletesIt) {
  auto pending = batch->start();
  while (!pending.test()) {
  }
  EXPECT_EQ(batch->view(slot)(1, 0), expected);
  pending.wait();
  EXPECT_EQ(mpiCalls().waits, 0);
}

TEST_F(PendingReductionTest, DestructorWaitsAndNeverCancels) {
  { const auto pending = batch->start(); }
  EXPECT_EQ(mpiCalls().waits, oneMessage());
  EXPECT_EQ(mpiCalls().cancels, 0);
  EXPECT_EQ(batch->view(slot)(1, 0), expected);
}

TEST_F(PendingReductionTest, OutlivesItsBatch) {
  auto pending = batch->start();
  batch.reset();
  pending.wait();
  EXPECT_EQ(mpiCalls().waits, oneMessage());
}

TEST_F(PendingReductionTest, BatchIsClosedWhileInFlight) {
  auto pending = batch->start();
  EXPECT_THROW(batch->view(slot), std::logic_error);
  EXPECT_THROW(batch->norm2(x), std::logic_error);
  EXPECT_THROW(batch->start(), std::logic_error);
  EXPECT_THROW(batch->clear(), std::logic_error);
  pending.wait();
  batch->clear();
}

TEST_F(PendingReductionTest, MovesAndOldHandlesLeaveNewReductionsAlone) {
  auto pending = batch->start();
  PendingReduction<Types> moved(std::move(pending));
  EXPECT_TRUE(pending.test());  // NOLINT: an emptied handle has nothing to wait for
  pending.wait();
  EXPECT_THROW(batch->clear(), std::logic_error) << "still in flight";
  moved.wait();
  batch->clear();
  slot = batch->norm2(x);
  auto next = batch->start();
  EXPECT_TRUE(moved.test());
  moved.wait();
  moved = PendingReduction<Types>();
  EXPECT_THROW(batch->view(slot), std::logic_error) << "the old handle waited for the new reduction";
  next.wait();
  EXPECT_EQ(batch->view(slot)(1, 0), expected);
}

TEST_F(PendingReductionTest, SeveralInFlightFinishInAnyOrder) {
  Batch other(comm);
  const auto otherSlot = other.value(static_cast<Scalar>(rank));
  auto first = batch->start(), second = other.start();
  second.wait();
  EXPECT_EQ(other[otherSlot], static_cast<Scalar>(size * (size - 1) / 2));
  first.wait();
  EXPECT_EQ(batch->view(slot)(1, 0), expected);
}

// As right-hand sides that advance together share their messages.
TEST_F(PendingReductionTest, SeveralStartedTogetherAreOneMessage) {
  Batch second(comm), third(comm);
  const auto ranks = second.value(1), empty = third.norm2(x);
  const ReductionCounters before = counters();
  auto pending = Batch::startTogether({batch.get(), &second, &third});
  ASSERT_EQ(pending.size(), 3U);
  EXPECT_EQ(mpiCalls().iallreduce, oneMessage());
  for (Batch* each : {batch.get(), &second, &third}) EXPECT_THROW(each->clear(), std::logic_error) << "in flight";
  EXPECT_THROW(second[ranks], std::logic_error);
  pending[1].wait();  // brings all of them
  EXPECT_EQ(batch->view(slot)(1, 0), expected);
  EXPECT_EQ(second[ranks], static_cast<Scalar>(size));
  EXPECT_EQ(third.view(empty)(1, 0), expected);
  EXPECT_TRUE(pending[0].test());

  // The one whose buffer carried them goes on before another one has looked.
  batch->clear();
  slot = batch->value(3);
  auto alone = batch->start();
  EXPECT_EQ(second[ranks], static_cast<Scalar>(size));
  pending[2].wait();
  alone.wait();
  EXPECT_EQ((*batch)[slot], static_cast<Scalar>(3 * size));
  const ReductionCounters done = counters() - before;
  EXPECT_EQ(done.nonblocking, 2);
  EXPECT_EQ(done.blocking, 0);
  EXPECT_EQ(done.fences, 1) << "the second message is a number alone";
  EXPECT_TRUE(Batch::startTogether({}).empty());
}

TEST_F(PendingReductionTest, SeveralStartedTogetherOutliveTheOneThatCarriesThem) {
  auto second = std::make_unique<Batch>(comm);
  const auto ranks = second->value(1);
  auto pending = Batch::startTogether({batch.get(), second.get()});
  batch.reset();
  pending.erase(pending.begin());  // waits
  EXPECT_EQ((*second)[ranks], static_cast<Scalar>(size));
  second->clear();
  second->value(2);
  pending = Batch::startTogether({second.get()});
  second.reset();
  pending.clear();
  EXPECT_EQ(mpiCalls().waits, 2 * oneMessage());
}

TEST_F(PendingReductionTest, AnErrorReachesAllThatWereStartedTogether) {
  if (size == 1) GTEST_SKIP() << "no message, no error";
  Batch second(comm);
  auto ranks = second.value(1);
  mpiFaults().iallreduce = MPI_ERR_COUNT;
  auto pending = Batch::startTogether({batch.get(), &second});
  EXPECT_THROW(pending[1].wait(), std::runtime_error);
  EXPECT_THROW(pending[0].wait(), std::runtime_error);
  EXPECT_THROW(second[ranks], std::logic_error) << "no results";
  EXPECT_THROW(batch->view(slot), std::logic_error) << "no results";

  batch->clear();
  second.clear();
  batch->value(5);
  ranks = second.value(1);
  pending = Batch::startTogether({batch.get(), &second});
  pending[0].wait();
  EXPECT_EQ(second[ranks], static_cast<Scalar>(size)) << "they recover";
}

TEST_F(PendingReductionTest, DeferredModeSendsAtTheWait) {
  setNonblockingMode(NonblockingMode::Deferred);
  EXPECT_EQ(nonblockingMode(), NonblockingMode::Deferred);
  auto pending = batch->start();
  EXPECT_EQ(mpiCalls().allreduce + mpiCalls().iallreduce, 0);
  EXPECT_EQ(pending.test(), size == 1);
  pending.wait();
  EXPECT_EQ(mpiCalls().allreduce, oneMessage());
  EXPECT_EQ(mpiCalls().iallreduce, 0);
  EXPECT_EQ(batch->view(slot)(1, 0), expected);

  batch->clear();
  slot = batch->norm2(x);
  { const auto dropped = batch->start(); }
  EXPECT_EQ(mpiCalls().allreduce, 2 * oneMessage()) << "ranks that wait would hang";
  EXPECT_EQ(batch->view(slot)(1, 0), expected);
}

TEST_F(PendingReductionTest, ErrorsOfMpiAreThrownByWaitAndNeverByDestructors) {
  if (size == 1) GTEST_SKIP() << "no message, no error";
  mpiFaults().iallreduce = MPI_ERR_COUNT;
  auto pending = batch->start();
  try {
    pending.wait();
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("MPI_Iallreduce failed: MPI_ERR_COUNT"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(pending.wait(), std::runtime_error) << "a second wait must not look like success";
  EXPECT_THROW(batch->view(slot), std::logic_error) << "no results";

  batch->clear();
  slot = batch->norm2(x);
  mpiFaults().wait = MPI_ERR_OTHER;
  EXPECT_NO_THROW({ const auto dropped = batch->start(); });
  EXPECT_THROW(batch->view(slot), std::logic_error);

  batch->clear();
  slot = batch->norm2(x);
  mpiFaults().allreduce = MPI_ERR_COMM;
  EXPECT_THROW(batch->reduce(), std::runtime_error);
  EXPECT_THROW(batch->view(slot), std::logic_error);

  batch->clear();
  slot = batch->norm2(x);
  batch->reduce();
  EXPECT_EQ(batch->view(slot)(1, 0), expected) << "the batch recovers";
}

TEST_F(PendingReductionTest, LogOrdersStartWorkAndWait) {
  eventLog().enable(true);
  auto pending = batch->start();
  eventLog().record(LoggedKind::User, 7);
  pending.wait();
  pending.wait();
  const EventLog& log = eventLog();
  ASSERT_EQ(log.events().size(), 3u);
  EXPECT_EQ(log.find(LoggedKind::ReductionStart, pending.ticket()), 0);
  EXPECT_EQ(log.find(LoggedKind::User, 7), 1);
  EXPECT_EQ(log.find(LoggedKind::ReductionWait, pending.ticket()), 2);
  EXPECT_EQ(log.find(LoggedKind::User, 8), -1);
}

TEST(AllReduceTest, FloatSumsExactly) {
  const CommPtr comm = world();
  AllReduce sum(comm);
  float data[2] = {1.5F, static_cast<float>(comm->getRank())};
  sum.run(data, 2);
  EXPECT_EQ(data[0], 1.5F * static_cast<float>(comm->getSize()));
  const long ticket = sum.start(data, 1);
  sum.wait(ticket);
  EXPECT_EQ(data[0], 1.5F * static_cast<float>(comm->getSize() * comm->getSize()));
}

/// Destroyed after main() has finalized MPI: the program's exit status shows whether that goes well.
std::unique_ptr<AllReduce> beyondFinalize;
double beyondFinalizeData = 1;

TEST(AllReduceTest, PendingBeyondMpiFinalizeIsLeftAlone) {
  setNonblockingMode(NonblockingMode::Deferred);
  beyondFinalize = std::make_unique<AllReduce>(world());
  beyondFinalize->start(&beyondFinalizeData, 1);
  setNonblockingMode(NonblockingMode::Native);
  EXPECT_TRUE(beyondFinalize->inFlight());
}

}  // namespace
}  // namespace capstan::test
