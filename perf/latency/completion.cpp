/// \file
/// MPI functions that complete requests, replaced. Each first lets those held requests complete that are due, and
/// leaves the rest, with the requests that are not held, to the library. Some of them no library here calls (Testany,
/// Testsome); they stand here because a held request never completes in a function that is not replaced.

#include "perf/latency/layer.hpp"
#include "perf/latency/real_mpi.hpp"
#include "perf/latency/requests.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace {

using namespace capstan::latency;

bool anyHeld(int n, const MPI_Request requests[]) {
  for (int i = 0; i < n; ++i) {
    if (find(requests[i]) != nullptr) return true;
  }
  return false;
}

/// Waits until all held requests are due.
void waitForHeld(int n, const MPI_Request requests[]) {
  for (int i = 0; i < n; ++i) {
    if (HeldRequest* held = find(requests[i]); held != nullptr) releaseWhenDue(*held);
  }
}

/// One look at the requests by `call`, the library's own function. It costs what that costs: programs look in order to
/// let MPI advance while they compute.
template <class Call>
int look(int n, const MPI_Request requests[], Call call) {
  for (int i = 0; i < n; ++i) {
    if (HeldRequest* held = find(requests[i]); held != nullptr) releaseIfDue(*held);
  }
  return call();
}

/// Looks until something is complete. `call` writes 0 to `outcome` where nothing is.
template <class Call>
int lookAgain(int n, const MPI_Request requests[], const int* outcome, Call call) {
  int code = look(n, requests, call);
  while (code == MPI_SUCCESS && *outcome == 0) {
    idle();
    code = look(n, requests, call);
  }
  return code;
}

}  // namespace

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  waitForHeld(1, request);
  return real::Wait(request, status);
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
  waitForHeld(n, requests);
  return real::Waitall(n, requests, statuses);
}

int MPI_Waitany(int n, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!anyHeld(n, requests)) return real::Waitany(n, requests, index, status);
  int flag = 0;
  return lookAgain(n, requests, &flag, [&] { return real::Testany(n, requests, index, &flag, status); });
}

int MPI_Waitsome(int n, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  if (!anyHeld(n, requests)) return real::Waitsome(n, requests, done, indices, statuses);
  return lookAgain(n, requests, done, [=] { return real::Testsome(n, requests, done, indices, statuses); });
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return look(1, request, [=] { return real::Test(request, flag, status); });
}

int MPI_Testall(int n, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  return look(n, requests, [=] { return real::Testall(n, requests, flag, statuses); });
}

int MPI_Testany(int n, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  return look(n, requests, [=] { return real::Testany(n, requests, index, flag, status); });
}

int MPI_Testsome(int n, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  return look(n, requests, [=] { return real::Testsome(n, requests, done, indices, statuses); });
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return look(1, &request, [=] { return real::Request_get_status(request, flag, status); });
}

int MPI_Request_free(MPI_Request* request) {
  if (find(*request) == nullptr) return real::Request_free(request);
  return refused(MPI_COMM_WORLD, "MPI_Request_free of an all-reduce (an error in MPI)", MPI_ERR_REQUEST);
}

}  // extern "C"

CAPSTAN_LATENCY_ALSO_PMPI(Wait)
CAPSTAN_LATENCY_ALSO_PMPI(Test)
CAPSTAN_LATENCY_ALSO_PMPI(Waitall)
CAPSTAN_LATENCY_ALSO_PMPI(Testall)
CAPSTAN_LATENCY_ALSO_PMPI(Waitany)
CAPSTAN_LATENCY_ALSO_PMPI(Testany)
CAPSTAN_LATENCY_ALSO_PMPI(Waitsome)
CAPSTAN_LATENCY_ALSO_PMPI(Testsome)
CAPSTAN_LATENCY_ALSO_PMPI(Request_get_status)
CAPSTAN_LATENCY_ALSO_PMPI(Request_free)
