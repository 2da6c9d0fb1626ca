/// \file
/// MPI functions that start operations, replaced: initialisation and all-reduces.

#include "perf/latency/layer.hpp"
#include "perf/latency/real_mpi.hpp"
#include "perf/latency/requests.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace {

using namespace capstan::latency;

/// Calls a blocking all-reduce and returns no sooner than the latency after the call.
template <class Call>
int blocking(MPI_Comm comm, Call call) {
  if (!delayed(comm)) return call();
  ++counters().blocking;
  const auto deadline = Clock::now() + settings().latency;
  const int code = call();
  if (code == MPI_SUCCESS) holdUntil(deadline);
  return code;
}

/// Calls a nonblocking all-reduce and holds its request back.
template <class Call>
int nonblocking(MPI_Comm comm, MPI_Request* request, Call call) {
  if (!delayed(comm)) return call();
  ++counters().nonblocking;
  const auto deadline = Clock::now() + settings().latency;
  const int code = call();
  if (code == MPI_SUCCESS) hold(request, deadline);
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
  return blocking(comm, [=] { return real::Allreduce(send, receive, n, type, op, comm); });
}

int MPI_Iallreduce(const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  return nonblocking(comm, request, [=] { return real::Iallreduce(send, receive, n, type, op, comm, request); });
}

#if MPI_VERSION >= 4
int MPI_Allreduce_c(const void* send, void* receive, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return blocking(comm, [=] { return real::Allreduce_c(send, receive, n, type, op, comm); });
}

int MPI_Iallreduce_c(const void* send, void* receive, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                     MPI_Request* request) {
  return nonblocking(comm, request, [=] { return real::Iallreduce_c(send, receive, n, type, op, comm, request); });
}

int MPI_Allreduce_init(const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request* request) {
  if (delayed(comm)) return refused(comm, "MPI_Allreduce_init", MPI_ERR_UNSUPPORTED_OPERATION);
  return real::Allreduce_init(send, receive, n, type, op, comm, info, request);
}

int MPI_Allreduce_init_c(const void* send, void* receive, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                         MPI_Info info, MPI_Request* request) {
  if (delayed(comm)) return refused(comm, "MPI_Allreduce_init_c", MPI_ERR_UNSUPPORTED_OPERATION);
  return real::Allreduce_init_c(send, receive, n, type, op, comm, info, request);
}
#endif

}  // extern "C"

CAPSTAN_LATENCY_ALSO_PMPI(Init)
CAPSTAN_LATENCY_ALSO_PMPI(Init_thread)
CAPSTAN_LATENCY_ALSO_PMPI(Finalize)
CAPSTAN_LATENCY_ALSO_PMPI(Allreduce)
CAPSTAN_LATENCY_ALSO_PMPI(Iallreduce)
#if MPI_VERSION >= 4
CAPSTAN_LATENCY_ALSO_PMPI(Allreduce_c)
CAPSTAN_LATENCY_ALSO_PMPI(Iallreduce_c)
CAPSTAN_LATENCY_ALSO_PMPI(Allreduce_init)
CAPSTAN_LATENCY_ALSO_PMPI(Allreduce_init_c)
#endif
