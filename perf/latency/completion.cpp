/// \file
/// MPI functions that complete requests, replaced. Each one splits its requests into held ones and the library's own
/// ("plain" ones, MPI_REQUEST_NULL and inactive ones among them), and leaves the latter to the library.

#include <optional>
#include <vector>

#include "perf/latency/layer.hpp"
#include "perf/latency/real_mpi.hpp"
#include "perf/latency/requests.hpp"
#include "perf/latency/split.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace {

using namespace capstan::latency;

MPI_Status* at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

/// Sets the error of a status where the call as a whole reports MPI_ERR_IN_STATUS.
void setError(MPI_Status* statuses, int i, int code) {
  if (statuses != MPI_STATUSES_IGNORE) statuses[i].MPI_ERROR = code;
}

/// Counts the time in a blocking call from the moment a request is kept by its deadline alone.
class Waiting {
 public:
  void see(bool back) {
    if (back && !since_) since_ = Clock::now();
  }
  ~Waiting() {
    if (since_) counters().waitedNanoseconds += std::chrono::nanoseconds(Clock::now() - *since_).count();
  }

 private:
  std::optional<Clock::time_point> since_;
};

void waitFor(HeldRequest& held) {
  Waiting waiting;
  while (!ready(held)) {
    waiting.see(heldBack(held));
    idle();
  }
}

/// What MPI_Waitall and MPI_Testall do once everything has come: completes the held ones and returns the plain ones.
/// `code` is what the library said of the plain ones.
int finishAll(Split& split, int code, MPI_Request* requests, MPI_Status* statuses) {
  bool failed = code != MPI_SUCCESS;
  std::vector<int> codes;
  for (const auto& one : split.held()) {
    codes.push_back(complete(*one.request, requests + one.i, at(statuses, one.i)));
    failed = failed || codes.back() != MPI_SUCCESS;
  }
  for (int k = 0; k < split.plainCount(); ++k) {
    split.giveBack(k);
    split.copyStatus(k, at(statuses, split.place(k)));
    if (failed && code == MPI_SUCCESS) setError(statuses, split.place(k), MPI_SUCCESS);
  }
  if (!failed) return MPI_SUCCESS;
  for (std::size_t h = 0; h < codes.size(); ++h) setError(statuses, split.held()[h].i, codes[h]);
  return code != MPI_SUCCESS ? code : MPI_ERR_IN_STATUS;
}

/// One look at all requests for MPI_Waitany and MPI_Testany. True when one is complete, or none is active.
bool lookForAny(Split& split, MPI_Request* requests, int* index, MPI_Status* status, int* code) {
  for (const auto& one : split.held()) {
    if (!ready(*one.request)) continue;
    *index = one.i;
    *code = complete(*one.request, requests + one.i, status);
    return true;
  }
  int k = MPI_UNDEFINED;
  int flag = 0;
  *code = real::Testany(split.plainCount(), split.plain(), &k, &flag, split.statuses());
  if (flag != 0 && k == MPI_UNDEFINED && !split.held().empty()) return false;  // nothing plain is active
  if (*code == MPI_SUCCESS && flag == 0) return false;
  *index = k == MPI_UNDEFINED ? MPI_UNDEFINED : split.place(k);
  if (k != MPI_UNDEFINED) split.giveBack(k);
  split.copyStatus(0, status);
  return true;
}

/// One look at all requests for MPI_Waitsome and MPI_Testsome: appends to the caller's lists what is complete.
int lookForSome(Split& split, MPI_Request* requests, int* done, int indices[], MPI_Status* statuses) {
  int count = 0;
  std::vector<int> which(static_cast<std::size_t>(split.plainCount()) + 1);
  int code = real::Testsome(split.plainCount(), split.plain(), &count, which.data(), split.statuses());
  const bool plainFailed = code != MPI_SUCCESS;
  *done = count == MPI_UNDEFINED ? 0 : count;
  for (int k = 0; k < *done; ++k) {
    const int plain = which[static_cast<std::size_t>(k)];
    indices[k] = split.place(plain);
    split.giveBack(plain);
    split.copyStatus(k, at(statuses, k));
  }
  std::vector<int> codes(static_cast<std::size_t>(*done), MPI_SUCCESS);
  const int first = *done;
  for (const auto& one : split.held()) {
    if (!ready(*one.request)) continue;
    codes.push_back(complete(*one.request, requests + one.i, at(statuses, *done)));
    indices[(*done)++] = one.i;
    if (codes.back() != MPI_SUCCESS) code = MPI_ERR_IN_STATUS;
  }
  if (code != MPI_SUCCESS) {
    for (int k = plainFailed ? first : 0; k < *done; ++k) setError(statuses, k, codes[static_cast<std::size_t>(k)]);
  }
  return code;
}

/// MPI_Testsome and, with `block`, MPI_Waitsome.
int some(bool block, Split& split, MPI_Request* requests, int* done, int indices[], MPI_Status* statuses) {
  Waiting waiting;
  while (true) {
    const int code = lookForSome(split, requests, done, indices, statuses);
    if (code != MPI_SUCCESS || *done > 0 || !block) return code;
    for (const auto& one : split.held()) waiting.see(heldBack(*one.request));
    idle();
  }
}

}  // namespace

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  HeldRequest* held = find(*request);
  if (held == nullptr) return real::Wait(request, status);
  waitFor(*held);
  return complete(*held, request, status);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  HeldRequest* held = find(*request);
  if (held == nullptr) return real::Test(request, flag, status);
  *flag = ready(*held) ? 1 : 0;
  if (*flag != 0) return complete(*held, request, status);
  idle();
  return MPI_SUCCESS;
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
  if (!anyHeld()) return real::Waitall(n, requests, statuses);
  Split split(n, requests);
  if (split.held().empty()) return real::Waitall(n, requests, statuses);
  const int code = real::Waitall(split.plainCount(), split.plain(), split.statuses());
  for (const auto& one : split.held()) waitFor(*one.request);
  return finishAll(split, code, requests, statuses);
}

int MPI_Testall(int n, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!anyHeld()) return real::Testall(n, requests, flag, statuses);
  Split split(n, requests);
  if (split.held().empty()) return real::Testall(n, requests, flag, statuses);
  bool all = true;
  for (const auto& one : split.held()) all = ready(*one.request) && all;
  *flag = 0;
  // MPI_Testall completes all or nothing: the plain ones are asked only when the held ones are ready.
  const int code = all ? real::Testall(split.plainCount(), split.plain(), flag, split.statuses()) : MPI_SUCCESS;
  if (*flag != 0 || code != MPI_SUCCESS) return finishAll(split, code, requests, statuses);
  idle();
  return MPI_SUCCESS;
}

int MPI_Waitany(int n, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!anyHeld()) return real::Waitany(n, requests, index, status);
  Split split(n, requests);
  if (split.held().empty()) return real::Waitany(n, requests, index, status);
  Waiting waiting;
  int code = MPI_SUCCESS;
  while (!lookForAny(split, requests, index, status, &code)) {
    for (const auto& one : split.held()) waiting.see(heldBack(*one.request));
    idle();
  }
  return code;
}

int MPI_Testany(int n, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!anyHeld()) return real::Testany(n, requests, index, flag, status);
  Split split(n, requests);
  if (split.held().empty()) return real::Testany(n, requests, index, flag, status);
  int code = MPI_SUCCESS;
  *index = MPI_UNDEFINED;
  *flag = lookForAny(split, requests, index, status, &code) ? 1 : 0;
  if (*flag == 0) idle();
  return code;
}

int MPI_Waitsome(int n, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  if (!anyHeld()) return real::Waitsome(n, requests, done, indices, statuses);
  Split split(n, requests);
  if (split.held().empty()) return real::Waitsome(n, requests, done, indices, statuses);
  return some(true, split, requests, done, indices, statuses);
}

int MPI_Testsome(int n, MPI_Request requests[], int* done, int indices[], MPI_Status statuses[]) {
  if (!anyHeld()) return real::Testsome(n, requests, done, indices, statuses);
  Split split(n, requests);
  if (split.held().empty()) return real::Testsome(n, requests, done, indices, statuses);
  const int code = some(false, split, requests, done, indices, statuses);
  if (*done == 0) idle();
  return code;
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  HeldRequest* held = find(request);
  if (held == nullptr) return real::Request_get_status(request, flag, status);
  *flag = 0;
  if (ready(*held)) return real::Request_get_status(held->real, flag, status);
  idle();
  return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request* request) {
  HeldRequest* held = find(*request);
  return held == nullptr ? real::Cancel(request) : real::Cancel(&held->real);
}

int MPI_Request_free(MPI_Request* request) {
  HeldRequest* held = find(*request);
  if (held == nullptr) held = findPersistent(*request);
  return held == nullptr ? real::Request_free(request) : release(*held, request);
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
CAPSTAN_LATENCY_ALSO_PMPI(Cancel)
CAPSTAN_LATENCY_ALSO_PMPI(Request_free)
