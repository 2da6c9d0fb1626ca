#include "tpetra_ext/topology/exchange/given_up.hpp"

#include <thread>

namespace capstan::topology {
namespace {

/// Whether a request is over, or not under way at all. Where MPI has no answer, it may be.
bool isOver(MPI_Request& request) {
  int done = 0;
  return request == MPI_REQUEST_NULL || (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0);
}

bool allOver(std::vector<MPI_Request>& requests, Deadline deadline) {
  for (MPI_Request& request : requests) {
    while (!isOver(request)) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
  }
  return true;
}

}  // namespace

Deadline deadlineOfGivingUp() { return std::chrono::steady_clock::now() + std::chrono::seconds(2); }

bool endReceives(std::vector<MPI_Request>& requests, Deadline deadline) noexcept {
  for (MPI_Request& request : requests) {
    if (!isOver(request)) MPI_Cancel(&request);
  }
  return allOver(requests, deadline);
}

bool endOthers(std::vector<MPI_Request>& requests, Deadline deadline) noexcept { return allOver(requests, deadline); }

}  // namespace capstan::topology
