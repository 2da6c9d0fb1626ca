#pragma once

/// \file
/// What an AllReduce knows of its reduction, and its way through MPI. Used by all_reduce.cpp only.

#include <Teuchos_Comm.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "tpetra_ext/kernels/base/task_queue.hpp"
#include "tpetra_ext/reductions/all_reduce.hpp"
#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/reductions/progress.hpp"
#include "tpetra_ext/trace.hpp"
// The tests also build all_reduce.cpp with CAPSTAN_WITHOUT_MPI and CAPSTAN_WITHOUT_IALLREDUCE, as older installations
// would.
#if defined(HAVE_TEUCHOS_MPI) && !defined(CAPSTAN_WITHOUT_MPI)
#define CAPSTAN_HAVE_MPI
#include <mpi.h>

#include <Teuchos_DefaultMpiComm.hpp>
#include <memory>

#include "tpetra_ext/reductions/reduction_route.hpp"
#endif

#if defined(CAPSTAN_HAVE_MPI) && MPI_VERSION >= 3 && !defined(CAPSTAN_WITHOUT_IALLREDUCE)
#define CAPSTAN_HAVE_IALLREDUCE 1
#else
#define CAPSTAN_HAVE_IALLREDUCE 0
#endif

namespace capstan {

#ifdef CAPSTAN_HAVE_MPI

namespace detail {

/// Whether the last thing MPI said was an error: it then need not complete what is in flight.
inline bool& mpiIsSuspect() {
  static bool suspect = false;
  return suspect;
}

/// How long destructors wait for a suspect MPI.
constexpr std::chrono::seconds patience{2};

/// The text of an error of MPI, of which note is taken.
inline std::string describe(const char* function, int code) {
  mpiIsSuspect() = true;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  return std::string(function) +
         " failed: " + (length > 0 ? std::string(text, length) : "MPI error " + std::to_string(code));
}

}  // namespace detail

#endif

/// One reduction at a time: local where `size` is 1, else over `raw`.
struct AllReduce::State final : detail::Watched {
  Teuchos::RCP<const Teuchos::Comm<int>> comm;
  int rank = 0;
  int size = 1;
  long ticket = 0;
  bool inFlight = false;
  bool abandoned = false;
  std::string error;  // of the reduction started last
  ReductionListener* listener = nullptr;
  Trace::Clock::time_point begun;  // where there is a trace

  /// Throws where a new reduction cannot begin.
  void requireFree() const {
    if (inFlight) throw std::logic_error("capstan: a reduction over this batch is still in flight; wait for it first");
    if (abandoned) {
      throw std::runtime_error("capstan: a reduction over this batch was given up after an error of MPI; use another");
    }
  }
  /// The reduction in flight is over.
  void end() noexcept {
    inFlight = false;
    if (Trace* const trace = Trace::current()) trace->addReduction(ticket, begun, Trace::Clock::now());
    if (auto* told = std::exchange(listener, nullptr); told != nullptr) told->reductionEnded(!error.empty());
  }
  [[noreturn]] void throwError() const {
    throw std::runtime_error("capstan: reduction over " + std::to_string(size) + " ranks: " + error);
  }

#ifdef CAPSTAN_HAVE_MPI
  MPI_Comm raw = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  void* deferredData = nullptr;  // set while a deferred reduction is pending
  int deferredCount = 0;
  MPI_Datatype deferredType = MPI_DATATYPE_NULL;
  std::shared_ptr<ReductionRoute> route;  // of the reduction in flight; null: MPI's own
  long operation = 0;                     // by which the route knows it; 0: none

  bool routeDone = false;
  int routeCode = MPI_SUCCESS;

  static MPI_Datatype datatype(Type type) { return type == Type::Float ? MPI_FLOAT : MPI_DOUBLE; }

  /// The way that a reduction takes which begins now.
  std::shared_ptr<ReductionRoute> routeFor(long bytes, bool blocking) const {
    const auto& current = detail::currentRoute();
    return current != nullptr && current->takes(raw, bytes, blocking) ? current : nullptr;
  }

#if CAPSTAN_HAVE_IALLREDUCE
  /// Begins a sum by the route. Returns its ticket.
  long startRouted(void* data, int count, MPI_Datatype type) {
    routeDone = false;
    const int code = route->start(data, count, type, operation);
    if (code == MPI_SUCCESS) {
      detail::watch(*this);
    } else {
      error = detail::describe("a node-aware all-reduce", code);
      operation = 0;
      route = nullptr;
    }
    return ticket;
  }
#endif

  void allreduce(void* data, int count, MPI_Datatype type) {
    const Traced reduction("blocking reduction");
    const CounterTimer timer(counters().waitSeconds);
    const detail::BlockedInMpi blocked;
    if (const auto by = std::exchange(route, nullptr); by != nullptr) {
      take("a node-aware all-reduce", by->run(data, count, type));
    } else {
      take("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, data, count, type, MPI_SUM, raw));
    }
  }

  void take(const char* function, int code) {
    if (code != MPI_SUCCESS) {
      error = detail::describe(function, code);
    } else {
      detail::mpiIsSuspect() = false;
    }
  }

  bool look() noexcept override {
    int done = 0;
    // An error is the wait's to tell.
    if (operation != 0) return lookAtRoute();
    return MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
  }

  /// The route forgets an operation that is over: its code is kept for the wait.
  bool lookAtRoute() noexcept {
    if (!routeDone) routeCode = route->test(operation, routeDone);
    return routeDone;
  }
  /// Whether a routed reduction is over; takes note of its end.
  bool routeEnded() {
    if (!lookAtRoute()) return false;
    take("a node-aware all-reduce", routeCode);
    operation = 0;
    route = nullptr;
    return true;
  }

  /// Whether MPI completes the request in due time.
  bool settles() noexcept {
    const auto deadline = std::chrono::steady_clock::now() + detail::patience;
    while (!look()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  /// Whether nothing may be asked of MPI any more.
  static bool outlivesMpi() noexcept {
    int finalized = 0;
    return MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0;
  }

  /// complete() for destructors: after MPI_Finalize, or where a suspect MPI does not settle, there is no result.
  void completeOrGiveUp(long number) noexcept {
    detail::unwatch(*this);
    try {
      if (outlivesMpi()) {
        error = "MPI was finalized before the reduction was waited for";
        return;
      }
      eventLog().record(LoggedKind::ReductionWait, number);
      if (!detail::mpiIsSuspect()) {
        complete();
      } else if (std::exchange(deferredData, nullptr) != nullptr) {
        error = "not sent after an error of MPI";
      } else if (settles()) {
        complete();
      } else {
        abandoned = true;
        error = "given up after an error of MPI";
      }
    } catch (...) {  // out of memory while writing a text: a destructor has nobody to tell
    }
  }

  /// Blocks until MPI is done with the buffer; keeps the error for wait().
  void complete() {
    const Traced wait("wait");
    const CounterTimer timer(counters().nonblockingWaitSeconds);
    if (deferredData != nullptr) {
      allreduce(std::exchange(deferredData, nullptr), deferredCount, deferredType);
    } else if (operation != 0) {
      const CounterTimer all(counters().waitSeconds);
      detail::unwatch(*this);
      const detail::BlockedInMpi blocked;
      while (!routeEnded()) {
        if (!kernels::helpTasks()) std::this_thread::yield();
      }
    } else if (request != MPI_REQUEST_NULL) {
      const CounterTimer all(counters().waitSeconds);
      detail::unwatch(*this);
      const detail::BlockedInMpi blocked;
      int done = 0, code = MPI_SUCCESS;
      // Threads compute what was launched before; this one does, too, tile by tile.
      while (kernels::tasksPending() && done == 0 && code == MPI_SUCCESS) {
        code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done == 0 && !kernels::helpTasks()) std::this_thread::yield();
      }
      if (done == 0 && code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
      take("MPI_Wait", code);
      request = MPI_REQUEST_NULL;
    }
  }
#else
  void completeOrGiveUp(long) noexcept {}
  bool look() noexcept override { return true; }
#endif
};

}  // namespace capstan
