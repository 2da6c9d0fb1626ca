// What holds however pending reductions make progress. Run with MPI for one thread and for several.

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "tpetra_ext/test/support/progress_fixture.hpp"

namespace capstan::test {
namespace {

class EveryMode : public ProgressTest, public testing::WithParamInterface<ProgressMode> {
 protected:
  const ProgressScope scope{GetParam()};
};

TEST_P(EveryMode, ManyReductionsOverSeveralCommunicatorsInAnyOrder) {
  std::vector<CommPtr> comms;
  for (int k = 0; k < 4; ++k) comms.push_back(comm->duplicate());
  std::vector<Batch> batches;
  std::vector<Batch::Slot> slots;
  std::vector<Pending> pending;
  for (int k = 0; k < 200; ++k) {
    batches.emplace_back(comms[static_cast<std::size_t>(k % 4)]);
    slots.push_back(batches.back().value(k * (rank + 1)));
    pending.push_back(batches.back().start());
    if (k % 10 == 0) kernels.scale(2, x, y);
  }
  for (std::size_t k = 0; k < pending.size(); ++k) {
    const std::size_t at = (k * 77) % pending.size();
    if (k % 3 == 0) {
      while (!pending[at].test()) {
      }
    }
    pending[at].wait();
    EXPECT_EQ(batches[at][slots[at]], static_cast<double>(at) * size * (size + 1) / 2);
  }
}

TEST_P(EveryMode, UnwindingLeavesNothingBehind) {
  for (int round = 0; round < 20; ++round) {
    const auto fail = [this] {
      Batch first(comm), second(comm);
      first.value(1);
      second.value(2);
      const Pending a = first.start(), b = second.start();
      kernels.scale(2, x, y);
      throw std::runtime_error("the application's operator failed");
    };
    EXPECT_THROW(fail(), std::runtime_error);
    EXPECT_EQ(progressPending(), 0);
  }
  EXPECT_EQ(mpiCalls().waits, 40 * one);
}

TEST_P(EveryMode, ErrorsOfMpiAreThrownByWaitAndLaterReductionsWork) {
  if (size == 1) GTEST_SKIP() << "no message, no error";
  Batch batch(comm), other(comm);
  for (int* fault : {&mpiFaults().iallreduce, &mpiFaults().wait}) {
    batch.clear();
    other.clear();
    batch.value(1);
    const auto slot = other.value(1);
    *fault = MPI_ERR_OTHER;
    Pending failing = batch.start();
    Pending next = other.start();
    kernels.scale(2, x, y);
    EXPECT_THROW(failing.wait(), std::runtime_error);
    next.wait();
    EXPECT_EQ(other[slot], size);
    EXPECT_EQ(mpiFaults().iallreduce + mpiFaults().wait, 2 * MPI_SUCCESS);
  }
}

TEST_P(EveryMode, AfterAnErrorDestructorsDoNotWaitForEver) {
  if (size == 1) GTEST_SKIP() << "no message, no error";
  Batch first(comm), next(comm);
  first.value(1);
  next.value(1);
  if (rank == 0) mpiFaults().wait = MPI_ERR_OTHER;
  Pending failing = first.start();
  if (rank == 0) {
    EXPECT_THROW(failing.wait(), std::runtime_error);
    { const Pending dropped = next.start(); }  // the others have not begun, and do not until this is over
    next.clear();
    next.value(1);
    EXPECT_THROW(next.start(), std::runtime_error) << "MPI still owns its buffer";
    EXPECT_EQ(progressPending(), 0);
    for (int to = 1; to < size; ++to) MPI_Send(nullptr, 0, MPI_INT, to, 0, MPI_COMM_WORLD);
  } else {
    failing.wait();
    MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Pending late = next.start();
    late.wait();
  }
  Batch after(comm);
  const auto slot = after.value(1);
  after.reduce();
  EXPECT_EQ(after[slot], size);
}

TEST_P(EveryMode, SameSumsToTheLastBit) {
  const MapPtr longMap = mapOfLocal(static_cast<std::size_t>(50000 + 1000 * rank));
  MultiVector v(longMap, 3), sum(longMap, 1);
  const auto run = [&](ProgressMode mode) {
    const ProgressScope chosen(mode);
    std::vector<Scalar> results;
    for (std::size_t i = 0; i < v.getLocalLength(); ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        v.replaceLocalValue(static_cast<int>(i), j, std::sin(static_cast<double>(1 + i * (j + 1)) + rank));
      }
    }
    Batch pendingBatch(comm), batch(comm);
    pendingBatch.value(1);
    Pending pending = pendingBatch.start();
    kernels.axpby(0.1, *v.getVector(0), 0.3, *v.getVectorNonConst(1));
    const auto gram = batch.innerProducts(v, v);
    const auto dot = batch.dot(*v.getVector(0), *v.getVector(2));
    batch.reduce();
    pending.wait();
    for (std::size_t i = 0; i < 3; ++i) results.push_back(batch.view(gram)(i, 1));
    results.push_back(batch[dot]);
    return results;
  };
  EXPECT_EQ(run(ProgressMode::None), run(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Modes, EveryMode,
                         testing::Values(ProgressMode::None, ProgressMode::Poll, ProgressMode::Thread),
                         [](const auto& mode) { return toString(mode.param); });

}  // namespace
}  // namespace capstan::test
