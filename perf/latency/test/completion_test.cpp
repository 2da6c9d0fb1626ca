/// \file
/// Every way to complete several requests, with held ones, plain ones and empty ones mixed.

#include <algorithm>
#include <array>
#include <vector>

#include "perf/latency/requests.hpp"
#include "perf/latency/test/support.hpp"

namespace capstan::latency::test {
namespace {

/// Requests 0 and 3: MPI_REQUEST_NULL; 1: a delayed all-reduce; 2: a message to oneself, not delayed here.
class Mixture {
 public:
  static constexpr int count = 4;

  Mixture() {
    MPI_Iallreduce(&mine_, &sum_, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&received_, 1, MPI_INT, rank(), 17, MPI_COMM_WORLD, &requests[2]);
    MPI_Send(&sent_, 1, MPI_INT, rank(), 17, MPI_COMM_WORLD);
  }

  /// Request i has just been reported complete.
  void check(int i, const MPI_Status* status) const {
    EXPECT_EQ(requests[static_cast<std::size_t>(i)], MPI_REQUEST_NULL);
    if (i == 1) {
      EXPECT_GE(time.seconds(), leastLatency());
      EXPECT_EQ(sum_, expectedSum(1));
    } else {
      ASSERT_EQ(i, 2);
      EXPECT_EQ(received_, 42);
      if (status == nullptr) return;
      int bytes = 0;
      MPI_Get_count(status, MPI_INT, &bytes);
      EXPECT_EQ(bytes, 1);
      EXPECT_EQ(status->MPI_SOURCE, rank());
      EXPECT_EQ(status->MPI_TAG, 17);
    }
  }

  Stopwatch time;
  std::array<MPI_Request, count> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};

 private:
  double mine_ = rank() + 1, sum_ = 0;
  int sent_ = 42, received_ = 0;
};

TEST(Completion, Waitall) {
  for (const bool withStatuses : {true, false}) {
    Mixture mix;
    std::array<MPI_Status, Mixture::count> statuses;
    MPI_Waitall(Mixture::count, mix.requests.data(), withStatuses ? statuses.data() : MPI_STATUSES_IGNORE);
    for (const int i : {1, 2}) mix.check(i, withStatuses ? &statuses[static_cast<std::size_t>(i)] : nullptr);
  }
}

TEST(Completion, TestallIsAllOrNothing) {
  for (const bool withStatuses : {true, false}) {
    Mixture mix;
    std::array<MPI_Status, Mixture::count> statuses;
    int flag = 0;
    while (flag == 0) {
      MPI_Testall(Mixture::count, mix.requests.data(), &flag, withStatuses ? statuses.data() : MPI_STATUSES_IGNORE);
      if (flag == 0) {
        EXPECT_NE(mix.requests[1], MPI_REQUEST_NULL);
        EXPECT_NE(mix.requests[2], MPI_REQUEST_NULL);
      }
    }
    for (const int i : {1, 2}) mix.check(i, withStatuses ? &statuses[static_cast<std::size_t>(i)] : nullptr);
  }
}

TEST(Completion, WaitanyTakesWhatIsFinished) {
  for (const bool withStatus : {true, false}) {
    Mixture mix;
    std::vector<int> order;
    while (true) {
      MPI_Status status;
      int i = -1;
      MPI_Waitany(Mixture::count, mix.requests.data(), &i, withStatus ? &status : MPI_STATUS_IGNORE);
      if (i == MPI_UNDEFINED) break;
      const double seconds = mix.time.seconds();
      if (order.empty() && seconds < leastLatency()) {
        EXPECT_EQ(i, 2) << "the all-reduce is not due yet";
      }
      mix.check(i, withStatus ? &status : nullptr);
      order.push_back(i);
    }
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
  }
}

TEST(Completion, Testany) {
  Mixture mix;
  std::vector<int> order;
  while (true) {
    MPI_Status status;
    int i = -1;
    int flag = 0;
    MPI_Testany(Mixture::count, mix.requests.data(), &i, &flag, &status);
    if (flag == 0) {
      EXPECT_EQ(i, MPI_UNDEFINED);
      continue;
    }
    if (i == MPI_UNDEFINED) break;
    mix.check(i, &status);
    order.push_back(i);
  }
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

void expectSome(bool block, bool withStatuses) {
  Mixture mix;
  std::vector<int> order;
  while (true) {
    std::array<MPI_Status, Mixture::count> statuses;
    std::array<int, Mixture::count> which{};
    MPI_Status* into = withStatuses ? statuses.data() : MPI_STATUSES_IGNORE;
    int done = 0;
    if (block) {
      MPI_Waitsome(Mixture::count, mix.requests.data(), &done, which.data(), into);
      EXPECT_NE(done, 0);
    } else {
      MPI_Testsome(Mixture::count, mix.requests.data(), &done, which.data(), into);
    }
    if (done == MPI_UNDEFINED) break;
    for (std::size_t k = 0; k < static_cast<std::size_t>(done); ++k) {
      mix.check(which[k], withStatuses ? &statuses[k] : nullptr);
      order.push_back(which[k]);
    }
  }
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Completion, Waitsome) {
  expectSome(true, true);
  expectSome(true, false);
}

TEST(Completion, Testsome) {
  expectSome(false, true);
  expectSome(false, false);
}

TEST(Completion, EmptyListsAndNullRequests) {
  const Mixture pending;  // so that the layer looks at every list
  MPI_Request none = MPI_REQUEST_NULL;
  int flag = 0;
  int i = 0;
  MPI_Wait(&none, MPI_STATUS_IGNORE);
  MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
  EXPECT_NE(flag, 0);
  MPI_Waitall(1, &none, MPI_STATUSES_IGNORE);
  MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE);
  MPI_Waitany(1, &none, &i, MPI_STATUS_IGNORE);
  EXPECT_EQ(i, MPI_UNDEFINED);
  auto rest = pending.requests;
  MPI_Waitall(Mixture::count, rest.data(), MPI_STATUSES_IGNORE);
}

TEST(Completion, HandlesThatMpiSharesAreToldApart) {
  // A send to MPI_PROC_NULL is complete at once; both MPIs answer with a handle they also use for other operations.
  double value = 1;
  double sum = 0;
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Comm alone = ranks() == 1 ? MPI_COMM_SELF : MPI_COMM_WORLD;
  const Counted before;
  const long waits = counters().waits;
  const Stopwatch time;
  MPI_Iallreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, alone, &requests[0]);
  MPI_Isend(&value, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]);
  EXPECT_NE(requests[0], requests[1]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  EXPECT_EQ(counters().waits, waits);
  const MPI_Request handle = requests[0];
  EXPECT_NE(find(handle), nullptr);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  EXPECT_GE(time.seconds(), leastLatency());
  EXPECT_EQ(before.since().nonblocking, 1);
  EXPECT_EQ(find(handle), nullptr) << "forgotten, before MPI gives the handle to another operation";
}

/// Lets errors of MPI_COMM_WORLD be returned while it lives.
class ErrorsReturned {
 public:
  ErrorsReturned() { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); }
  ~ErrorsReturned() { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL); }
};

TEST(Completion, AllReducesCanNeitherBeFreedNorCancelled) {
  const ErrorsReturned errors;
  double value = rank() + 1;
  MPI_Request request = MPI_REQUEST_NULL;
  const Stopwatch time;
  MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  EXPECT_NE(MPI_Request_free(&request), MPI_SUCCESS);
  EXPECT_NE(MPI_Cancel(&request), MPI_SUCCESS);
  ASSERT_NE(request, MPI_REQUEST_NULL);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_GE(time.seconds(), leastLatency());
  EXPECT_EQ(value, expectedSum(1));
}

/// A request whose operation has ended with MPI_ERR_TRUNCATE. (Open MPI 4 says nothing of a message that is too long.)
MPI_Request failed() {
  const auto query = [](void*, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_ERROR = MPI_ERR_TRUNCATE;
    return int(MPI_ERR_TRUNCATE);
  };
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Grequest_start(
      query, [](void*) { return int(MPI_SUCCESS); }, [](void*, int) { return int(MPI_SUCCESS); }, nullptr, &request);
  MPI_Grequest_complete(request);
  return request;
}

TEST(Completion, ErrorsOfTheRealOperationAreReported) {
  const ErrorsReturned errors;
  MPI_Request request = failed();
  hold(&request, Clock::now());
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  request = failed();
  hold(&request, Clock::now());
  MPI_Status status;
  EXPECT_EQ(MPI_Waitall(1, &request, &status), MPI_ERR_IN_STATUS);
  EXPECT_NE(status.MPI_ERROR, MPI_SUCCESS);
}

}  // namespace
}  // namespace capstan::latency::test
