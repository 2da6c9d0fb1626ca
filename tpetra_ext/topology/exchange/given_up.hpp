#pragma once

/// \file
/// What becomes of messages that are under way when an exchange is given up: MPI must not write into memory that is
/// somebody else's by then.

#include <mpi.h>

#include <chrono>
#include <new>
#include <utility>
#include <vector>

namespace capstan::topology {

/// Until when an exchange that is given up waits for MPI.
using Deadline = std::chrono::steady_clock::time_point;
/// Two seconds from now, as for reductions.
Deadline deadlineOfGivingUp();

/// Ends receives: those that are active are cancelled, which needs nothing of the sender. Persistent requests, or null
/// ones. Whether MPI uses the memory of none of them any more. Local.
bool endReceives(std::vector<MPI_Request>& requests, Deadline deadline) noexcept;

/// Waits for sends, or for a collective: neither can be cancelled. Otherwise the same.
bool endOthers(std::vector<MPI_Request>& requests, Deadline deadline) noexcept;

/// Keeps what MPI may still use until the process ends. Local.
template <class Memory>
void keepForMpi(Memory memory) noexcept {
  // Without memory for that there is none left to protect either.
  static_cast<void>(new (std::nothrow) Memory(std::move(memory)));
}

}  // namespace capstan::topology
