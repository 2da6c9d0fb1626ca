/// \file
/// MPI functions that start operations, replaced: initialisation and collectives.

#include <utility>

#include "perf/latency/layer.hpp"
#include "perf/latency/real_mpi.hpp"
#include "perf/latency/requests.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace {

using namespace capstan::latency;

/// The delays of `comm` where its collectives are delayed, else null.
std::shared_ptr<CommunicatorDelays> collectiveDelays(MPI_Comm comm) {
  if (!on() || !settings().collectives.on || comm == MPI_COMM_NULL) return nullptr;
  auto delays = delaysOf(comm);
  return delays->delaysCollectives() ? delays : nullptr;
}

/// Calls a blocking collective and returns no sooner than its delay after the call.
template <class Call>
int blocking(MPI_Comm comm, double bytes, Call call) {
  const auto delays = collectiveDelays(comm);
  if (!delays) return call();
  const auto deadline = Clock::now() + count(counters().blocking, delays->collective(bytes));
  const int code = call();
  if (code == MPI_SUCCESS) holdUntil(deadline);
  return code;
}

/// Calls a nonblocking collective and holds its request back.
template <class Call>
int nonblocking(MPI_Comm comm, double bytes, MPI_Request* request, Call call) {
  const auto delays = collectiveDelays(comm);
  if (!delays) return call();
  HeldRequest held;
  held.delays = delays;
  held.bytes = bytes;
  restart(held, Clock::now());
  const int code = call();
  if (code == MPI_SUCCESS) hold(request, std::move(held));
  return code;
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  readSettingsOrExit();
  const int code = real::Init(argc, argv);
  if (code == MPI_SUCCESS) start();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  readSettingsOrExit();
  const int code = real::Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) start();
  return code;
}

int MPI_Finalize() {
  stop();
  return real::Finalize();
}

int MPI_Allreduce(const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const double bytes = on() ? bytesOf(n, type) : 0;
  return blocking(comm, bytes, [=] { return real::Allreduce(send, receive, n, type, op, comm); });
}

int MPI_Iallreduce(const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  const double bytes = on() ? bytesOf(n, type) : 0;
  return nonblocking(comm, bytes, request, [=] { return real::Iallreduce(send, receive, n, type, op, comm, request); });
}

int MPI_Barrier(MPI_Comm comm) {
  if (!settings().barriers) return real::Barrier(comm);
  return blocking(comm, 0, [=] { return real::Barrier(comm); });
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  if (!settings().barriers) return real::Ibarrier(comm, request);
  return nonblocking(comm, 0, request, [=] { return real::Ibarrier(comm, request); });
}

#if MPI_VERSION >= 4
int MPI_Allreduce_c(const void* send, void* receive, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const double bytes = on() ? bytesOf(n, type) : 0;
  return blocking(comm, bytes, [=] { return real::Allreduce_c(send, receive, n, type, op, comm); });
}

int MPI_Iallreduce_c(const void* send, void* receive, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                     MPI_Request* request) {
  const double bytes = on() ? bytesOf(n, type) : 0;
  return nonblocking(comm, bytes, request,
                     [=] { return real::Iallreduce_c(send, receive, n, type, op, comm, request); });
}

int MPI_Allreduce_init(const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request* request) {
  const int code = real::Allreduce_init(send, receive, n, type, op, comm, info, request);
  const auto delays = collectiveDelays(comm);
  if (code != MPI_SUCCESS || !delays) return code;
  HeldRequest held;
  held.delays = delays;
  held.bytes = bytesOf(n, type);
  holdPersistent(*request, std::move(held));
  return code;
}
#endif

int MPI_Start(MPI_Request* request) {
  const auto now = Clock::now();
  const int code = real::Start(request);
  HeldRequest* held = findPersistent(*request);
  if (code == MPI_SUCCESS && held != nullptr) restart(*held, now);
  return code;
}

int MPI_Startall(int n, MPI_Request requests[]) {
  const auto now = Clock::now();
  const int code = real::Startall(n, requests);
  if (code != MPI_SUCCESS) return code;
  for (int i = 0; i < n; ++i) {
    if (HeldRequest* held = findPersistent(requests[i]); held != nullptr) restart(*held, now);
  }
  return code;
}

}  // extern "C"

CAPSTAN_LATENCY_ALSO_PMPI(Init)
CAPSTAN_LATENCY_ALSO_PMPI(Init_thread)
CAPSTAN_LATENCY_ALSO_PMPI(Finalize)
CAPSTAN_LATENCY_ALSO_PMPI(Allreduce)
CAPSTAN_LATENCY_ALSO_PMPI(Iallreduce)
CAPSTAN_LATENCY_ALSO_PMPI(Barrier)
CAPSTAN_LATENCY_ALSO_PMPI(Ibarrier)
#if MPI_VERSION >= 4
CAPSTAN_LATENCY_ALSO_PMPI(Allreduce_c)
CAPSTAN_LATENCY_ALSO_PMPI(Iallreduce_c)
CAPSTAN_LATENCY_ALSO_PMPI(Allreduce_init)
#endif
CAPSTAN_LATENCY_ALSO_PMPI(Start)
CAPSTAN_LATENCY_ALSO_PMPI(Startall)
