/// \file
/// The requests whose completion the layer holds back.
///
/// MPI may hand out one handle for several operations that are complete at once (Open MPI and MPICH both do), so a
/// handle of its own cannot tell which operation is meant. The user therefore gets a generalized request, a handle that
/// MPI keeps unique, and the real request stays here. The layer tells MPI that the generalized request is complete when
/// the user asks for it and it is due; from there on MPI completes it like any other.
#pragma once

#include "perf/latency/settings.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace capstan::latency {

/// One operation. Used by one thread at a time, as MPI demands of requests.
struct HeldRequest {
  MPI_Request real;  ///< MPI_REQUEST_NULL once the real operation is complete
  Clock::time_point deadline;
  MPI_Request handle = MPI_REQUEST_NULL;  ///< the user's
  int code = MPI_SUCCESS;                 ///< what the real operation ended with
  bool released = false;                  ///< MPI knows that the handle is complete
};

/// Replaces `*request`, of a started operation, by a handle for the user that does not complete before the deadline.
void hold(MPI_Request* request, Clock::time_point deadline);

/// The operation behind a handle, or nullptr where the layer has nothing to do with it.
HeldRequest* find(MPI_Request request);

/// Lets the handle complete if the real operation is complete and the deadline has passed. Makes MPI progress.
void releaseIfDue(HeldRequest& held);

/// Lets the handle complete as soon as that is so.
void releaseWhenDue(HeldRequest& held);

}  // namespace capstan::latency
