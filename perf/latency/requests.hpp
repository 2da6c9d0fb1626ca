/// \file
/// The requests whose completion the layer holds back.
///
/// MPI may hand out one handle for several operations that are complete at once (Open MPI and MPICH both do), so a
/// handle of its own cannot tell which operation is meant. The user therefore gets a generalized request, a handle that
/// MPI keeps unique, and the real request stays here. Persistent requests have unique handles and keep them.
///
/// The real operation may complete at any time; its status stays with MPI until the layer completes the request for the
/// user.
#pragma once

#include "perf/latency/settings.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace capstan::latency {

/// One operation. Used by one thread at a time, as MPI demands of requests.
struct HeldRequest {
  MPI_Request real = MPI_REQUEST_NULL;
  bool persistent = false;
  bool active = true;    ///< false for a persistent request that is not started
  bool arrived = false;  ///< the real operation is complete
  Clock::time_point deadline;
};

/// Registers a started nonblocking operation and replaces `*request`, the real one, by the handle for the user.
void hold(MPI_Request* request, HeldRequest held);

/// Registers an inactive persistent request; the handle stays.
void holdPersistent(MPI_Request request, HeldRequest held);

/// False where no request of this process is held at all: the quick way out.
bool anyHeld();

/// The operation behind a handle, or nullptr where the layer has nothing to do with it.
HeldRequest* find(MPI_Request request);

/// The persistent operation behind a handle, active or not, or nullptr.
HeldRequest* findPersistent(MPI_Request request);

/// Takes note that a held persistent request starts now.
void restart(HeldRequest& held, Clock::time_point now);

/// True when the real operation is complete and the deadline has passed. Makes MPI progress; completes nothing.
bool ready(HeldRequest& held);

/// True when the real operation is complete and only the deadline keeps the request from completing.
bool heldBack(const HeldRequest& held);

/// Completes a ready request for the user: status filled, handle set to MPI_REQUEST_NULL (a persistent one becomes
/// inactive). Returns the real operation's error code.
int complete(HeldRequest& held, MPI_Request* request, MPI_Status* status);

/// MPI_Request_free of a held request: as the library answers for the real one.
int release(HeldRequest& held, MPI_Request* request);

}  // namespace capstan::latency
