#include "tpetra_ext/reductions/all_reduce.hpp"

#include <Teuchos_DefaultSerialComm.hpp>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "tpetra_ext/reductions/all_reduce_state.hpp"

namespace capstan {

#ifdef CAPSTAN_HAVE_MPI

namespace {
std::shared_ptr<ReductionRoute>& route() {
  static std::shared_ptr<ReductionRoute> current;
  return current;
}
}  // namespace

ReductionRouteScope::ReductionRouteScope(std::shared_ptr<ReductionRoute> taken) : before_(std::move(taken)) {
  std::swap(before_, route());
}
ReductionRouteScope::~ReductionRouteScope() { std::swap(before_, route()); }
void ReductionRouteScope::take(std::shared_ptr<ReductionRoute> taken) { route() = std::move(taken); }

const std::shared_ptr<ReductionRoute>& detail::currentRoute() { return route(); }

#endif

namespace {

NonblockingMode& mode() {
  static NonblockingMode current = CAPSTAN_HAVE_IALLREDUCE ? NonblockingMode::Native : NonblockingMode::Deferred;
  return current;
}

long nextTicket() {
  static long last = 0;
  return ++last;
}

}  // namespace

NonblockingMode nonblockingMode() { return mode(); }

void setNonblockingMode(NonblockingMode wanted) {
  if (wanted == NonblockingMode::Native && !CAPSTAN_HAVE_IALLREDUCE) {
    throw std::invalid_argument(
        "capstan: native nonblocking reductions need MPI-3 (MPI_Iallreduce); allowed here: deferred");
  }
  mode() = wanted;
}

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
  state_->completeOrGiveUp(ticket);
  state_->end();
  return !state_->abandoned;
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
  eventLog().record(LoggedKind::BlockingReduction, state_->ticket);
  if (state_->size == 1) return;
#ifdef CAPSTAN_HAVE_MPI
  ++counters().messages;
  counters().bytes += bytes;
  state_->route = state_->routeFor(bytes, true);
  state_->allreduce(data, count, State::datatype(type));
  if (!state_->error.empty()) state_->throwError();
#else
  (void)data, (void)type, (void)bytes;
#endif
}

long AllReduce::startRaw(void* data, int count, Type type, int bytes, ReductionListener* listener) {
  state_->requireFree();
  state_->error.clear();
  state_->ticket = nextTicket();
  state_->listener = listener;
  if (count == 0) {
    state_->end();
    return state_->ticket;
  }
  ++counters().nonblocking;
  eventLog().record(LoggedKind::ReductionStart, state_->ticket);
  state_->inFlight = true;
  if (Trace::current() != nullptr) state_->begun = Trace::Clock::now();
  if (state_->size == 1) return state_->ticket;
#ifdef CAPSTAN_HAVE_MPI
  ++counters().messages;
  counters().bytes += bytes;
  ++counters().nonblockingBySize[static_cast<std::size_t>(sizeClass(bytes))];
#if CAPSTAN_HAVE_IALLREDUCE
  if (mode() == NonblockingMode::Native) {
    state_->route = state_->routeFor(bytes, false);
    if (state_->route != nullptr) return state_->startRouted(data, count, State::datatype(type));
    const int code =
        MPI_Iallreduce(MPI_IN_PLACE, data, count, State::datatype(type), MPI_SUM, state_->raw, &state_->request);
    if (code != MPI_SUCCESS) {
      state_->request = MPI_REQUEST_NULL;
      state_->error = detail::describe("MPI_Iallreduce", code);
    } else {
      detail::watch(*state_);
    }
    return state_->ticket;
  }
#endif
  state_->route = state_->routeFor(bytes, true);
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
    eventLog().record(LoggedKind::ReductionWait, ticket);
#ifdef CAPSTAN_HAVE_MPI
    if (state_->size > 1 && State::outlivesMpi()) {
      state_->error = "MPI was finalized before the reduction was waited for";
    } else {
      state_->complete();
    }
#endif
    state_->end();
  }
  if (!state_->error.empty()) state_->throwError();
}

bool AllReduce::test(long ticket) {
  if (ticket != state_->ticket || !state_->inFlight) return true;
#ifdef CAPSTAN_HAVE_MPI
  if (state_->deferredData != nullptr) return false;
  if (state_->operation != 0) {
    const ProgressMode watched = detail::unwatch(*state_);
    if (!state_->routeEnded()) {
      detail::watchAgain(*state_, watched);
      return false;
    }
  } else if (state_->request != MPI_REQUEST_NULL) {
    int done = 0;
    const ProgressMode watched = detail::unwatch(*state_);
    const int code = MPI_Test(&state_->request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
      state_->error = detail::describe("MPI_Test", code);
      state_->request = MPI_REQUEST_NULL;
      done = 1;
    }
    if (done == 0) {
      detail::watchAgain(*state_, watched);
      return false;
    }
  }
#endif
  eventLog().record(LoggedKind::ReductionWait, ticket);
  state_->end();
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
long AllReduce::start(Scalar* data, int count, ReductionListener* listener) {
  return startRaw(data, count, typeOf<Scalar>(), static_cast<int>(sizeof(Scalar)) * count, listener);
}

template void AllReduce::run(float*, int);
template void AllReduce::run(double*, int);
template long AllReduce::start(float*, int, ReductionListener*);
template long AllReduce::start(double*, int, ReductionListener*);

}  // namespace capstan
