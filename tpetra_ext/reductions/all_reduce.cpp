#include "tpetra_ext/reductions/all_reduce.hpp"

#include <Teuchos_Comm.hpp>
#include <Teuchos_DefaultSerialComm.hpp>
#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/reductions/progress.hpp"
// The tests also build this file with CAPSTAN_WITHOUT_MPI and CAPSTAN_WITHOUT_IALLREDUCE, as older installations would.
#if defined(HAVE_TEUCHOS_MPI) && !defined(CAPSTAN_WITHOUT_MPI)
#define CAPSTAN_HAVE_MPI
#include <mpi.h>

#include <Teuchos_DefaultMpiComm.hpp>
#endif

#if defined(CAPSTAN_HAVE_MPI) && MPI_VERSION >= 3 && !defined(CAPSTAN_WITHOUT_IALLREDUCE)
#define CAPSTAN_HAVE_IALLREDUCE 1
#else
#define CAPSTAN_HAVE_IALLREDUCE 0
#endif

namespace capstan {

namespace {

NonblockingMode& mode() {
  static NonblockingMode current = CAPSTAN_HAVE_IALLREDUCE ? NonblockingMode::Native : NonblockingMode::Deferred;
  return current;
}

long nextTicket() {
  static long last = 0;
  return ++last;
}

#ifdef CAPSTAN_HAVE_MPI
/// Whether the last thing MPI said was an error: it then need not complete what is in flight.
bool& mpiIsSuspect() {
  static bool suspect = false;
  return suspect;
}

/// How long destructors wait for a suspect MPI.
constexpr std::chrono::seconds patience{2};

std::string describe(const char* function, int code) {
  mpiIsSuspect() = true;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  return std::string(function) +
         " failed: " + (length > 0 ? std::string(text, length) : "MPI error " + std::to_string(code));
}
#endif

}  // namespace

NonblockingMode nonblockingMode() { return mode(); }

void setNonblockingMode(NonblockingMode wanted) {
  if (wanted == NonblockingMode::Native && !CAPSTAN_HAVE_IALLREDUCE) {
    throw std::invalid_argument(
        "capstan: native nonblocking reductions need MPI-3 (MPI_Iallreduce); allowed here: deferred");
  }
  mode() = wanted;
}

struct AllReduce::State final : detail::Watched {
  Teuchos::RCP<const Teuchos::Comm<int>> comm;
  int rank = 0;
  int size = 1;
  long ticket = 0;
  bool inFlight = false;
  bool abandoned = false;
  std::string error;  // of the reduction started last

  /// Throws where a new reduction cannot begin.
  void requireFree() const {
    if (inFlight) throw std::logic_error("capstan: a reduction over this batch is still in flight; wait for it first");
    if (abandoned) {
      throw std::runtime_error("capstan: a reduction over this batch was given up after an error of MPI; use another");
    }
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

  static MPI_Datatype datatype(Type type) { return type == Type::Float ? MPI_FLOAT : MPI_DOUBLE; }

  void allreduce(void* data, int count, MPI_Datatype type) {
    const CounterTimer timer(counters().waitSeconds);
    const detail::BlockedInMpi blocked;
    take("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, data, count, type, MPI_SUM, raw));
  }

  void take(const char* function, int code) {
    if (code != MPI_SUCCESS) {
      error = describe(function, code);
    } else {
      mpiIsSuspect() = false;
    }
  }

  bool look() noexcept override {
    int done = 0;
    // An error is the wait's to tell.
    return MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
  }

  /// Whether MPI completes the request in due time.
  bool settles() noexcept {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!look()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  /// Blocks until MPI is done with the buffer; keeps the error for wait().
  void complete() {
    const CounterTimer timer(counters().nonblockingWaitSeconds);
    if (deferredData != nullptr) {
      allreduce(std::exchange(deferredData, nullptr), deferredCount, deferredType);
    } else if (request != MPI_REQUEST_NULL) {
      const CounterTimer all(counters().waitSeconds);
      detail::unwatch(*this);
      const detail::BlockedInMpi blocked;
      take("MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
      request = MPI_REQUEST_NULL;
    }
  }
#else
  bool look() noexcept override { return true; }
#endif
};

AllReduce::AllReduce(Teuchos::RCP<const Teuchos::Comm<int>> comm) : state_(std::make_unique<State>()) {
  if (comm.is_null()) throw std::invalid_argument("capstan: a reduction needs a communicator; got a null pointer");
  state_->comm = std::move(comm);
  const Teuchos::Comm<int>* given = state_->comm.get();
#ifdef CAPSTAN_HAVE_MPI
  if (const auto* mpi = dynamic_cast<const Teuchos::MpiComm<int>*>(given)) {
    state_->rank = mpi->getRank();
    state_->size = mpi->getSize();
    if (state_->size > 1) state_->raw = *mpi->getRawMpiComm();
    return;
  }
#endif
  if (dynamic_cast<const Teuchos::SerialComm<int>*>(given) == nullptr) {
    throw std::invalid_argument("capstan: reductions work on Teuchos::MpiComm and Teuchos::SerialComm; got " +
                                given->description());
  }
}

AllReduce::~AllReduce() { finish(state_->ticket); }

bool AllReduce::finish(long ticket) noexcept {
  if (ticket != state_->ticket || !state_->inFlight) return true;
  state_->inFlight = false;
#ifdef CAPSTAN_HAVE_MPI
  detail::unwatch(*state_);
  int finalized = 0;
  if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0) return true;  // nothing may be asked of MPI any more
  try {
    eventLog().record(EventKind::ReductionWait, ticket);
    if (!mpiIsSuspect()) {
      state_->complete();
    } else if (std::exchange(state_->deferredData, nullptr) != nullptr) {
      state_->error = "not sent after an error of MPI";
    } else if (state_->settles()) {
      state_->complete();
    } else {
      state_->abandoned = true;
      state_->error = "given up after an error of MPI";
      return false;
    }
  } catch (...) {  // out of memory while writing a text: a destructor has nobody to tell
  }
#endif
  return true;
}

void AllReduce::abandon(std::shared_ptr<AllReduce> reduction) noexcept {
  // Without memory for a shared pointer there is none left to protect either.
  static_cast<void>(new (std::nothrow) std::shared_ptr<AllReduce>(std::move(reduction)));
}

void AllReduce::runRaw(void* data, int count, Type type, int bytes) {
  state_->requireFree();
  state_->error.clear();
  if (count == 0) return;
  state_->ticket = nextTicket();
  ++counters().blocking;
  eventLog().record(EventKind::BlockingReduction, state_->ticket);
  if (state_->size == 1) return;
#ifdef CAPSTAN_HAVE_MPI
  ++counters().messages;
  counters().bytes += bytes;
  state_->allreduce(data, count, State::datatype(type));
  if (!state_->error.empty()) state_->throwError();
#else
  (void)data, (void)type, (void)bytes;
#endif
}

long AllReduce::startRaw(void* data, int count, Type type, int bytes) {
  state_->requireFree();
  state_->error.clear();
  state_->ticket = nextTicket();
  if (count == 0) return state_->ticket;
  ++counters().nonblocking;
  eventLog().record(EventKind::ReductionStart, state_->ticket);
  state_->inFlight = true;
  if (state_->size == 1) return state_->ticket;
#ifdef CAPSTAN_HAVE_MPI
  ++counters().messages;
  counters().bytes += bytes;
  ++counters().nonblockingBySize[static_cast<std::size_t>(sizeClass(bytes))];
#if CAPSTAN_HAVE_IALLREDUCE
  if (mode() == NonblockingMode::Native) {
    const int code =
        MPI_Iallreduce(MPI_IN_PLACE, data, count, State::datatype(type), MPI_SUM, state_->raw, &state_->request);
    if (code != MPI_SUCCESS) {
      state_->request = MPI_REQUEST_NULL;
      state_->error = describe("MPI_Iallreduce", code);
    } else {
      detail::watch(*state_);
    }
    return state_->ticket;
  }
#endif
  state_->deferredData = data;
  state_->deferredCount = count;
  state_->deferredType = State::datatype(type);
#else
  (void)data, (void)type, (void)bytes;
#endif
  return state_->ticket;
}

void AllReduce::wait(long ticket) {
  if (ticket != state_->ticket) return;  // an older one: complete, or the next could not have been started
  if (state_->inFlight) {
    eventLog().record(EventKind::ReductionWait, ticket);
    state_->inFlight = false;
#ifdef CAPSTAN_HAVE_MPI
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0 && state_->size > 1) {
      state_->error = "MPI was finalized before the reduction was waited for";
    } else {
      state_->complete();
    }
#endif
  }
  if (!state_->error.empty()) state_->throwError();
}

bool AllReduce::test(long ticket) {
  if (ticket != state_->ticket || !state_->inFlight) return true;
#ifdef CAPSTAN_HAVE_MPI
  if (state_->deferredData != nullptr) return false;
  if (state_->request != MPI_REQUEST_NULL) {
    int done = 0;
    const ProgressMode watched = detail::unwatch(*state_);
    const int code = MPI_Test(&state_->request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
      state_->error = describe("MPI_Test", code);
      state_->request = MPI_REQUEST_NULL;
      done = 1;
    }
    if (done == 0) {
      detail::watchAgain(*state_, watched);
      return false;
    }
  }
#endif
  eventLog().record(EventKind::ReductionWait, ticket);
  state_->inFlight = false;
  return true;
}

bool AllReduce::inFlight() const { return state_->inFlight; }
bool AllReduce::failed() const { return !state_->error.empty(); }
int AllReduce::rank() const { return state_->rank; }
int AllReduce::size() const { return state_->size; }

bool AllReduce::sameCommunicator(const AllReduce& other) const {
#ifdef CAPSTAN_HAVE_MPI
  return state_->raw == other.state_->raw;
#else
  return state_->size == other.state_->size;
#endif
}

template <>
AllReduce::Type AllReduce::typeOf<float>() {
  return Type::Float;
}
template <>
AllReduce::Type AllReduce::typeOf<double>() {
  return Type::Double;
}

template <class Scalar>
void AllReduce::run(Scalar* data, int count) {
  runRaw(data, count, typeOf<Scalar>(), static_cast<int>(sizeof(Scalar)) * count);
}

template <class Scalar>
long AllReduce::start(Scalar* data, int count) {
  return startRaw(data, count, typeOf<Scalar>(), static_cast<int>(sizeof(Scalar)) * count);
}

template void AllReduce::run(float*, int);
template void AllReduce::run(double*, int);
template long AllReduce::start(float*, int);
template long AllReduce::start(double*, int);

}  // namespace capstan
