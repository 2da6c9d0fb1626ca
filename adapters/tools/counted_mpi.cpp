#include "adapters/tools/counted_mpi.hpp"

#include <mpi.h>

namespace {

bool counting = false;
capstan::tools::MpiCounts counts;

void count(long& calls) {
  if (counting) ++calls;
}

}  // namespace

namespace capstan::tools {

void countMpi(bool on) {
  if (on) counts = {};
  counting = on;
}

MpiCounts mpiCounts() { return counts; }

}  // namespace capstan::tools

// The program's own definitions come before the MPI library's, also for calls out of Trilinos and PETSc.
extern "C" {

/// A function of MPI that is counted and passed on.
#define CAPSTAN_COUNTED(counter, name, parameters, arguments) \
  int name parameters {                                       \
    count(counts.counter);                                    \
    return P##name arguments;                                 \
  }

CAPSTAN_COUNTED(blockingReductions, MPI_Allreduce,
                (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                (send, receive, n, type, op, comm))
CAPSTAN_COUNTED(blockingReductions, MPI_Reduce,
                (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
                (send, receive, n, type, op, root, comm))
CAPSTAN_COUNTED(blockingReductions, MPI_Reduce_scatter,
                (const void* send, void* receive, const int n[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                (send, receive, n, type, op, comm))
CAPSTAN_COUNTED(blockingReductions, MPI_Reduce_scatter_block,
                (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                (send, receive, n, type, op, comm))
CAPSTAN_COUNTED(blockingReductions, MPI_Scan,
                (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                (send, receive, n, type, op, comm))
CAPSTAN_COUNTED(blockingReductions, MPI_Exscan,
                (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                (send, receive, n, type, op, comm))
CAPSTAN_COUNTED(nonblockingReductions, MPI_Iallreduce,
                (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                 MPI_Request* request),
                (send, receive, n, type, op, comm, request))

#if MPI_VERSION >= 4
// PETSc reduces through the large-count forms where they are there.
CAPSTAN_COUNTED(blockingReductions, MPI_Allreduce_c,
                (const void* send, void* receive, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
                (send, receive, n, type, op, comm))
CAPSTAN_COUNTED(nonblockingReductions, MPI_Iallreduce_c,
                (const void* send, void* receive, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                 MPI_Request* request),
                (send, receive, n, type, op, comm, request))
#endif

CAPSTAN_COUNTED(nonblockingReductions, MPI_Ireduce,
                (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                 MPI_Request* request),
                (send, receive, n, type, op, root, comm, request))
CAPSTAN_COUNTED(otherCollectives, MPI_Barrier, (MPI_Comm comm), (comm))
CAPSTAN_COUNTED(otherCollectives, MPI_Bcast, (void* buffer, int n, MPI_Datatype type, int root, MPI_Comm comm),
                (buffer, n, type, root, comm))
CAPSTAN_COUNTED(otherCollectives, MPI_Allgather,
                (const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, MPI_Comm comm),
                (send, n, type, receive, m, to, comm))
CAPSTAN_COUNTED(otherCollectives, MPI_Allgatherv,
                (const void* send, int n, MPI_Datatype type, void* receive, const int m[], const int at[],
                 MPI_Datatype to, MPI_Comm comm),
                (send, n, type, receive, m, at, to, comm))
CAPSTAN_COUNTED(otherCollectives, MPI_Gather,
                (const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, int root,
                 MPI_Comm comm),
                (send, n, type, receive, m, to, root, comm))
CAPSTAN_COUNTED(otherCollectives, MPI_Gatherv,
                (const void* send, int n, MPI_Datatype type, void* receive, const int m[], const int at[],
                 MPI_Datatype to, int root, MPI_Comm comm),
                (send, n, type, receive, m, at, to, root, comm))
CAPSTAN_COUNTED(otherCollectives, MPI_Alltoall,
                (const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, MPI_Comm comm),
                (send, n, type, receive, m, to, comm))
CAPSTAN_COUNTED(otherCollectives, MPI_Alltoallv,
                (const void* send, const int n[], const int from[], MPI_Datatype type, void* receive, const int m[],
                 const int at[], MPI_Datatype to, MPI_Comm comm),
                (send, n, from, type, receive, m, at, to, comm))

}  // extern "C"
