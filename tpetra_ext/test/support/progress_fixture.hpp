#pragma once

/// \file
/// What tests of progress share: a reduction that stays in flight while something is done, and who looked at it.

#include <gtest/gtest.h>
#include <mpi.h>

#include "tpetra_ext/operators/block_kernels.hpp"
#include "tpetra_ext/reductions/progress.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/vectors.hpp"

namespace capstan::test {

using Batch = ReductionBatch<Types>;
using Pending = PendingReduction<Types>;

inline bool severalThreads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

class ProgressTest : public testing::Test {
 protected:
  const CommPtr comm = world();
  const int rank = comm->getRank();
  const int size = comm->getSize();
  /// 1 where a reduction takes part in this test, 0 on one rank, where none is sent.
  const long one = size > 1 ? 1 : 0;
  const MapPtr map = mapOfLocal(100);
  const MultiVector x = filled(map, 1, 1);
  MultiVector y{map, 1};
  BlockKernels<Types> kernels;

  void SetUp() override {
    resetMpiCalls();
    mpiLooks().here = mpiLooks().elsewhere = 0;
  }
  void TearDown() override {
    EXPECT_EQ(progressPending(), 0);
    setNonblockingMode(NonblockingMode::Native);
    mpiFaults() = MpiFaults();
  }

  /// Looks of this thread while rank 0 does `work` with a reduction in flight: the other ranks join it afterwards, so
  /// it cannot complete before. 0 on the others.
  template <class Work>
  long looksDuring(const Work& work) {
    Batch batch(comm);
    const auto slot = batch.value(1);
    if (rank != 0) MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Pending pending = batch.start();
    const long before = mpiLooks().here;
    if (rank == 0) work();
    const long looks = mpiLooks().here - before;
    for (int to = 1; rank == 0 && to < size; ++to) MPI_Send(nullptr, 0, MPI_INT, to, 0, MPI_COMM_WORLD);
    pending.wait();
    EXPECT_EQ(batch[slot], size);
    return looks;
  }
  /// The count expected of looksDuring().
  long onRankZero(long looks) const { return rank == 0 ? looks * one : 0; }
};

}  // namespace capstan::test
