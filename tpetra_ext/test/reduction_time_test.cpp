#include "tpetra_ext/reductions/reduction_time.hpp"

#include <gtest/gtest.h>

#include <Teuchos_CommHelpers.hpp>
#include <cmath>

#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/vectors.hpp"

namespace capstan::test {
namespace {

class ReductionTimeTest : public testing::Test {
 protected:
  /// Measures; what is known is as many all-reduces as expected, on more than one rank.
  OverlapSeconds measure(const ReductionCounters& spent, long nonblocking) const {
    resetMpiCalls();
    const OverlapSeconds means = measureOverlap(*comm, spent);
    EXPECT_EQ(mpiCalls().iallreduce, ranks > 1 ? nonblocking : 0);
    EXPECT_EQ(mpiCalls().allreduce, ranks > 1 ? 2 : 0);
    return means;
  }

  const CommPtr comm = world()->duplicate();  // no time is known of it
  const int rank = comm->getRank(), ranks = comm->getSize();
};

// Where a preconditioner solves on some of the ranks alone, these count sizes that the others do not. Measuring is
// collective; each rank measured what it had counted itself, so that messages of other lengths met, or none.
TEST_F(ReductionTimeTest, RanksMayHaveCountedOtherSizes) {
  ReductionCounters spent;
  spent.nonblockingWaitSeconds = rank + 1;
  spent.nonblockingBySize[rank == 0 ? 4 : 9] = 1;
  const OverlapSeconds first = measure(spent, 2 * 7);
  const OverlapSeconds again = measure(spent, 0);
  EXPECT_EQ(first.wait, (ranks + 1) / 2.0);
  EXPECT_DOUBLE_EQ(again.alone, first.alone);
  EXPECT_EQ(first.alone > 0, ranks > 1);
  double least = 0;
  Teuchos::reduceAll(*comm, Teuchos::REDUCE_MIN, first.alone, Teuchos::outArg(least));
  EXPECT_EQ(first.alone, least) << "the same on all ranks";

  for (long& count : spent.nonblockingBySize) count *= 2;
  EXPECT_DOUBLE_EQ(measure(spent, 0).alone, 2 * first.alone);
  if (rank == ranks - 1) spent.nonblockingBySize[6] = 1;
  EXPECT_EQ(measure(spent, 7).alone > 2 * first.alone, ranks > 1);
}

TEST_F(ReductionTimeTest, NothingIsKnownAfterAnErrorOfMpi) {
  if (ranks == 1) GTEST_SKIP() << "no message, no error";
  ReductionCounters spent;
  spent.nonblockingWaitSeconds = rank + 1;
  spent.nonblockingBySize[4] = 1;
  mpiFaults().allreduce = MPI_ERR_OTHER;
  const OverlapSeconds own = measureOverlap(*comm, spent);
  EXPECT_EQ(own.wait, rank + 1);
  EXPECT_TRUE(std::isnan(own.alone));
}

}  // namespace
}  // namespace capstan::test
