/// \file
/// Received messages under a virtual torus of 2 x 2 x 1 places: 5 ms + 5 ms a hop + bytes / (1 MB/s).

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "perf/latency/test/support.hpp"

namespace capstan::latency::test {
namespace {

int left() { return (rank() + ranks() - 1) % ranks(); }
int right() { return (rank() + 1) % ranks(); }

/// The latency of `bytes` bytes from another rank; none from oneself.
double leastFrom(int source, double bytes) {
  if (source == rank()) return 0;
  const int apart = (source % 2 != rank() % 2 ? 1 : 0) + (source / 2 != rank() / 2 ? 1 : 0);
  return 5e-3 + apart * 5e-3 + bytes * 1e-6;
}

TEST(Messages, IrecvIsNeverEarly) {
  const Counted before;
  std::array<int, 2> got = {-1, -1};
  const std::array<int, 2> mine = {rank(), 7};
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<MPI_Status, 2> statuses;
  const Stopwatch time;
  MPI_Irecv(got.data(), 2, MPI_INT, left(), 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(mine.data(), 2, MPI_INT, right(), 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests.data(), statuses.data());
  EXPECT_GE(time.seconds(), leastFrom(left(), 8));
  EXPECT_EQ(got[0], left());
  EXPECT_EQ(statuses[0].MPI_SOURCE, left());
  EXPECT_EQ(statuses[0].MPI_TAG, 3);
  int count = 0;
  MPI_Get_count(&statuses[0], MPI_INT, &count);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(before.since().messages, 1);
}

TEST(Messages, BlockingReceives) {
  int got = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  const int mine = rank();
  MPI_Isend(&mine, 1, MPI_INT, right(), 4, MPI_COMM_WORLD, &request);
  MPI_Status status;
  const Stopwatch time;
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
  EXPECT_GE(time.seconds(), leastFrom(left(), 4));
  EXPECT_EQ(got, left());
  EXPECT_EQ(status.MPI_SOURCE, left());
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const Stopwatch again;
  MPI_Sendrecv(&mine, 1, MPI_INT, right(), 5, &got, 1, MPI_INT, left(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_GE(again.seconds(), leastFrom(left(), 4));
}

TEST(Messages, DistanceOfTheRealSourceCountsWithAWildcard) {
  std::vector<MPI_Request> sends(static_cast<std::size_t>(ranks()), MPI_REQUEST_NULL);
  const int mine = rank();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int to = 0; to < ranks(); ++to) {
    MPI_Isend(&mine, 1, MPI_INT, to, 6, MPI_COMM_WORLD, &sends[static_cast<std::size_t>(to)]);
  }
  for (int i = 0; i < ranks(); ++i) {
    int got = -1;
    int flag = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    const Stopwatch time;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &request);
    while (flag == 0) MPI_Test(&request, &flag, &status);
    EXPECT_EQ(got, status.MPI_SOURCE);
    EXPECT_GE(time.seconds(), leastFrom(status.MPI_SOURCE, 4));
  }
  MPI_Waitall(ranks(), sends.data(), MPI_STATUSES_IGNORE);
}

TEST(Messages, PersistentReceives) {
  const Counted before;
  int got = -1;
  int mine = 0;
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Recv_init(&got, 1, MPI_INT, left(), 8, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(&mine, 1, MPI_INT, right(), 8, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);  // inactive: returns
  for (int i = 0; i < 3; ++i) {
    mine = 10 * i + rank();
    const Stopwatch time;
    MPI_Startall(2, requests.data());
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    EXPECT_GE(time.seconds(), leastFrom(left(), 4));
    EXPECT_EQ(got, 10 * i + left());
    EXPECT_NE(requests[0], MPI_REQUEST_NULL);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  EXPECT_EQ(requests[0], MPI_REQUEST_NULL);
  EXPECT_EQ(before.since().messages, 3);
}

TEST(Messages, CancelAndFree) {
  int never = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&never, 1, MPI_INT, left(), 9, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Status status;
  MPI_Wait(&request, &status);
  int cancelled = 0;
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT_NE(cancelled, 0);
  EXPECT_EQ(request, MPI_REQUEST_NULL);

  // A freed receive still takes its message; a second message after it, in order, shows when.
  int first = -1;
  int second = -1;
  const std::array<int, 2> mine = {1, 2};
  MPI_Irecv(&first, 1, MPI_INT, left(), 10, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  std::array<MPI_Request, 2> sends = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Isend(&mine[0], 1, MPI_INT, right(), 10, MPI_COMM_WORLD, &sends[0]);
  MPI_Isend(&mine[1], 1, MPI_INT, right(), 10, MPI_COMM_WORLD, &sends[1]);
  MPI_Recv(&second, 1, MPI_INT, left(), 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_EQ(second, 2);
  MPI_Waitall(2, sends.data(), MPI_STATUSES_IGNORE);
}

TEST(Messages, NoDelayFromNobody) {
  const Counted before;
  int got = 5;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&got, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT_EQ(got, 5);
  EXPECT_EQ(before.since().messages, 0);
}

TEST(Messages, AllReducesAreNotDelayedByThem) {
  const Counted before;
  double value = rank() + 1;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(value, expectedSum(1));
  EXPECT_EQ(before.since().blocking, 0);
}

}  // namespace
}  // namespace capstan::latency::test
