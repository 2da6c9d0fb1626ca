#include "perf/latency/requests.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "perf/latency/layer.hpp"
#include "perf/latency/real_mpi.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace capstan::latency {
namespace {

std::mutex guard;
std::unordered_map<MPI_Request, std::unique_ptr<HeldRequest>> table;
std::atomic<std::size_t> entries{0};

/// What MPI asks when the user completes the handle: an all-reduce has no status but its error.
int query(void* held, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  const int code = static_cast<HeldRequest*>(held)->code;
  if (code != MPI_SUCCESS) status->MPI_ERROR = code;
  return code;
}

/// MPI is done with the handle, and has not yet given it to anybody else.
int forget(void* held) {
  const std::lock_guard<std::mutex> lock(guard);
  table.erase(static_cast<HeldRequest*>(held)->handle);
  entries = table.size();
  return MPI_SUCCESS;
}

/// As MPI answers for a nonblocking collective.
int refuseToCancel(void*, int) { return MPI_ERR_REQUEST; }

bool arrived(HeldRequest& held) {
  if (held.real == MPI_REQUEST_NULL) return true;
  int flag = 0;
  held.code = real::Test(&held.real, &flag, MPI_STATUS_IGNORE);
  if (held.code != MPI_SUCCESS) held.real = MPI_REQUEST_NULL;  // an operation that failed is complete, too
  return held.real == MPI_REQUEST_NULL;
}

void release(HeldRequest& held) {
  held.released = true;
  PMPI_Grequest_complete(held.handle);
}

}  // namespace

void hold(MPI_Request* request, Clock::time_point deadline) {
  auto held = std::make_unique<HeldRequest>(HeldRequest{*request, deadline});
  PMPI_Grequest_start(query, forget, refuseToCancel, held.get(), request);
  held->handle = *request;
  const std::lock_guard<std::mutex> lock(guard);
  table.insert_or_assign(*request, std::move(held));
  entries = table.size();
}

HeldRequest* find(MPI_Request request) {
  if (entries == 0) return nullptr;  // the quick way out
  const std::lock_guard<std::mutex> lock(guard);
  const auto found = table.find(request);
  return found == table.end() ? nullptr : found->second.get();
}

void releaseIfDue(HeldRequest& held) {
  if (!held.released && arrived(held) && Clock::now() >= held.deadline) release(held);
}

void releaseWhenDue(HeldRequest& held) {
  if (held.released) return;
  while (!arrived(held)) idle();
  holdUntil(held.deadline);
  release(held);
}

}  // namespace capstan::latency
