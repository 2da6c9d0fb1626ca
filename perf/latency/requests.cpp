#include "perf/latency/requests.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "perf/latency/layer.hpp"
#include "perf/latency/real_mpi.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace capstan::latency {
namespace {

std::mutex guard;
// References to elements survive insertion and removal of others.
std::unordered_map<MPI_Request, HeldRequest> table;
std::atomic<std::size_t> entries{0};

void insert(MPI_Request handle, HeldRequest held) {
  const std::lock_guard<std::mutex> lock(guard);
  table.insert_or_assign(handle, std::move(held));
  entries = table.size();
}

void erase(MPI_Request handle) {
  const std::lock_guard<std::mutex> lock(guard);
  table.erase(handle);
  entries = table.size();
}

// The handle completes only through the layer, which fills the status itself.
int query(void*, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
int nothingToFree(void*) { return MPI_SUCCESS; }
int nothingToCancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

void hold(MPI_Request* request, HeldRequest held) {
  held.real = *request;
  PMPI_Grequest_start(query, nothingToFree, nothingToCancel, nullptr, request);
  insert(*request, std::move(held));
}

void holdPersistent(MPI_Request request, HeldRequest held) {
  held.real = request;
  held.persistent = true;
  held.active = false;
  insert(request, std::move(held));
}

bool anyHeld() { return entries != 0; }

HeldRequest* find(MPI_Request request) {
  if (!anyHeld() || request == MPI_REQUEST_NULL) return nullptr;
  const std::lock_guard<std::mutex> lock(guard);
  const auto found = table.find(request);
  return found == table.end() || !found->second.active ? nullptr : &found->second;
}

HeldRequest* findPersistent(MPI_Request request) {
  if (!anyHeld()) return nullptr;
  const std::lock_guard<std::mutex> lock(guard);
  const auto found = table.find(request);
  return found == table.end() || !found->second.persistent ? nullptr : &found->second;
}

void restart(HeldRequest& held, Clock::time_point now) {
  held.active = true;
  held.arrived = false;
  held.deadline = now + settings().latency;
  ++counters().nonblocking;
}

bool ready(HeldRequest& held) {
  if (!held.arrived) {
    int flag = 0;
    // An operation that failed is complete, too; complete() returns its error.
    const int code = real::Request_get_status(held.real, &flag, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && flag == 0) return false;
    held.arrived = true;
  }
  return Clock::now() >= held.deadline;
}

bool heldBack(const HeldRequest& held) { return held.arrived && Clock::now() < held.deadline; }

int complete(HeldRequest& held, MPI_Request* request, MPI_Status* status) {
  if (held.persistent) {
    held.active = false;
    return real::Wait(request, status);
  }
  const int code = real::Wait(&held.real, status);
  const MPI_Request handle = *request;
  PMPI_Grequest_complete(handle);
  erase(handle);  // before MPI may give the handle to another thread
  real::Wait(request, MPI_STATUS_IGNORE);
  return code;
}

int release(HeldRequest& held, MPI_Request* request) {
  const MPI_Request handle = *request;
  if (held.persistent) {
    erase(handle);
    return real::Request_free(request);
  }
  const int code = real::Request_free(&held.real);
  if (code != MPI_SUCCESS) return code;
  PMPI_Grequest_complete(handle);
  erase(handle);
  return real::Request_free(request);
}

}  // namespace capstan::latency
