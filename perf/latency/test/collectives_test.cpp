/// \file
/// All-reduces under the layer: never early, values unchanged, counted.

#include <thread>
#include <vector>

#include "perf/latency/test/support.hpp"

namespace capstan::latency::test {
namespace {

TEST(Collectives, BlockingIsNeverEarlyAndRight) {
  const Counted before;
  for (int n : {1, 3, 100}) {
    std::vector<double> mine(static_cast<std::size_t>(n), rank() + 1.0);
    std::vector<double> sum(mine.size());
    const Stopwatch time;
    MPI_Allreduce(mine.data(), sum.data(), n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_GE(time.seconds(), leastLatency());
    for (const double value : sum) EXPECT_EQ(value, expectedSum(1));
  }
  EXPECT_EQ(before.since().blocking, 3);
}

TEST(Collectives, InPlace) {
  double value = rank() + 1;
  const Stopwatch time;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_GE(time.seconds(), leastLatency());
  EXPECT_EQ(value, expectedSum(1));
  MPI_Request request = MPI_REQUEST_NULL;
  value = 2.0 * (rank() + 1);
  MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_GE(time.seconds(), 2 * leastLatency());
  EXPECT_EQ(value, expectedSum(2));
}

#if MPI_VERSION >= 4
TEST(Collectives, LargeCountFormsAreDelayedOnce) {
  const Counted before;
  const double mine = rank() + 1;
  double sum = 0;
  const Stopwatch time;
  MPI_Allreduce_c(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_GE(time.seconds(), leastLatency());
  EXPECT_EQ(sum, expectedSum(1));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce_c(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_GE(time.seconds(), 2 * leastLatency());
  EXPECT_EQ(before.since().blocking, 1);
  EXPECT_EQ(before.since().nonblocking, 1);
}
#endif

TEST(Collectives, WrappersThatCallTheProfilingNamesAreDelayedOnce) {
  const Counted before;
  const double mine = 1;
  double sum = 0;
  const Stopwatch time;
  PMPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_GE(time.seconds(), leastLatency());
  EXPECT_EQ(sum, ranks());
  EXPECT_EQ(before.since().blocking, 1);
}

TEST(Collectives, TestIsFalseBeforeTheDeadline) {
  const Counted before;
  const double mine = rank() + 1;
  double sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  const Stopwatch time;
  MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  int flag = 0;
  while (flag == 0) {
    int seen = 0;
    MPI_Request_get_status(request, &seen, MPI_STATUS_IGNORE);
    if (seen != 0) {
      EXPECT_GE(time.seconds(), leastLatency());
    }
    EXPECT_NE(request, MPI_REQUEST_NULL);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    if (seen != 0) {
      EXPECT_NE(flag, 0);
    }
  }
  EXPECT_GE(time.seconds(), leastLatency());
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  EXPECT_EQ(sum, expectedSum(1));
  EXPECT_EQ(before.since().nonblocking, 1);
}

TEST(Collectives, StatusIsSeenAfterTheDeadlineAndCompletesNothing) {
  double value = rank() + 1;
  MPI_Request request = MPI_REQUEST_NULL;
  const Stopwatch time;
  MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  for (int seen = 0; seen == 0;) MPI_Request_get_status(request, &seen, MPI_STATUS_IGNORE);
  EXPECT_GE(time.seconds(), leastLatency());
  EXPECT_EQ(value, expectedSum(1));
  ASSERT_NE(request, MPI_REQUEST_NULL);
  int flag = 0;
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  EXPECT_NE(flag, 0);
}

TEST(Collectives, WaitsForADeadlineAreCounted) {
  if (ranks() > 1) GTEST_SKIP() << "another rank may be what a call waits for";
  const long before = counters().waits;
  double value = 1;
  // One call may be interrupted until its deadline has passed.
  for (int i = 0; i < 100 && counters().waits == before; ++i) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  EXPECT_GT(counters().waits, before);
}

TEST(Collectives, ALateRankIsWaitedForBeyondTheDeadline) {
  for (const bool wait : {true, false}) {
    if (rank() == 0) std::this_thread::sleep_for(2 * settings().latency);
    double value = rank() + 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (wait) MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int flag = 0; flag == 0;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    EXPECT_EQ(value, expectedSum(1));
  }
}

TEST(Collectives, ManyInFlight) {
  const Counted before;
  const int count = 500;
  std::vector<double> mine(count);
  std::vector<double> sums(count);
  std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
  const Stopwatch first;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    mine[i] = double(i) * (rank() + 1);
    MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  }
  const Stopwatch last;
  // All of them hide behind each other: no more than one latency is certain, and no more is claimed.
  MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  EXPECT_GE(first.seconds(), leastLatency());
  EXPECT_GE(first.seconds(), last.seconds());
  EXPECT_EQ(before.since().nonblocking, count);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i], expectedSum(double(i)));
    EXPECT_EQ(requests[i], MPI_REQUEST_NULL);
  }
}

TEST(Collectives, DeadlinesOfRequestsInFlightRunTogether) {
  // Waiting for the last first: the others' deadlines are then behind them, so that the test calls must find them done.
  const int count = 5;
  std::vector<double> mine(count, 1.0);
  std::vector<double> sums(count);
  std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Wait(&requests.back(), MPI_STATUS_IGNORE);
  const long waits = counters().waits;
  MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  // The real operations may still be under way, but there is no emulated waiting left.
  EXPECT_EQ(counters().waits, waits);
  for (const double sum : sums) EXPECT_EQ(sum, ranks());
}

TEST(Collectives, CommunicatorOfOneProcessIsNotDelayedUnlessAlone) {
  const Counted before;
  double value = 3;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(before.since().blocking, ranks() == 1 ? 1 : 0);
  EXPECT_EQ(before.since().nonblocking, ranks() == 1 ? 1 : 0);
}

TEST(Collectives, CommunicatorsComeAndGo) {
  for (int i = 0; i < 3; ++i) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    const double mine = 1;
    double sum = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    const Stopwatch time;
    MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
    EXPECT_GE(time.seconds(), leastLatency());
    EXPECT_EQ(sum, ranks());
  }
}

TEST(Collectives, ThreadsAtOnce) {
  int provided = 0;
  MPI_Query_thread(&provided);
  ASSERT_EQ(provided, MPI_THREAD_MULTIPLE);
  const std::size_t count = 4;
  std::vector<MPI_Comm> comms(count, MPI_COMM_NULL);
  for (auto& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  std::vector<double> sums(count);
  std::vector<double> shortest(count, 1e9);
  for (std::size_t t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3; ++i) {
        const double mine = double(t) * (rank() + 1);
        MPI_Request request = MPI_REQUEST_NULL;
        const Stopwatch time;
        MPI_Iallreduce(&mine, &sums[t], 1, MPI_DOUBLE, MPI_SUM, comms[t], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        shortest[t] = std::min(shortest[t], time.seconds());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t t = 0; t < count; ++t) {
    EXPECT_GE(shortest[t], leastLatency());
    EXPECT_EQ(sums[t], expectedSum(double(t)));
    MPI_Comm_free(&comms[t]);
  }
}

TEST(Collectives, BetweenTwoGroups) {
  if (ranks() == 1) GTEST_SKIP() << "needs two groups";
  const int half = rank() % 2;
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, half, 0, &mine);
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1 - half, 3, &both);
  const int one = 1;
  int others = 0;
  const Stopwatch time;
  MPI_Allreduce(&one, &others, 1, MPI_INT, MPI_SUM, both);
  EXPECT_GE(time.seconds(), leastLatency());
  EXPECT_EQ(others, (ranks() + half) / 2);
  MPI_Comm_free(&both);
  MPI_Comm_free(&mine);
}

#if MPI_VERSION >= 4
TEST(Collectives, PersistentOnesAreRefused) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  double value = 1;
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Allreduce_init(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, copy, MPI_INFO_NULL, &request),
            MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_EQ(MPI_Allreduce_init_c(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, copy, MPI_INFO_NULL, &request),
            MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  MPI_Comm_free(&copy);
}
#endif

}  // namespace
}  // namespace capstan::latency::test
