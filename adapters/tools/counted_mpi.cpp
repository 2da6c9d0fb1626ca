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

int MPI_Allreduce(const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  count(counts.blockingReductions);
  return PMPI_Allreduce(send, receive, n, type, op, comm);
}

int MPI_Reduce(const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  count(counts.blockingReductions);
  return PMPI_Reduce(send, receive, n, type, op, root, comm);
}

int MPI_Reduce_scatter(const void* send, void* receive, const int n[], MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  count(counts.blockingReductions);
  return PMPI_Reduce_scatter(send, receive, n, type, op, comm);
}

int MPI_Reduce_scatter_block(const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  count(counts.blockingReductions);
  return PMPI_Reduce_scatter_block(send, receive, n, type, op, comm);
}

int MPI_Scan(const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  count(counts.blockingReductions);
  return PMPI_Scan(send, receive, n, type, op, comm);
}

int MPI_Exscan(const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  count(counts.blockingReductions);
  return PMPI_Exscan(send, receive, n, type, op, comm);
}

int MPI_Iallreduce(const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  count(counts.nonblockingReductions);
  return PMPI_Iallreduce(send, receive, n, type, op, comm, request);
}

#if MPI_VERSION >= 4
// PETSc reduces through the large-count forms where they are there.
int MPI_Allreduce_c(const void* send, void* receive, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  count(counts.blockingReductions);
  return PMPI_Allreduce_c(send, receive, n, type, op, comm);
}

int MPI_Iallreduce_c(const void* send, void* receive, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                     MPI_Request* request) {
  count(counts.nonblockingReductions);
  return PMPI_Iallreduce_c(send, receive, n, type, op, comm, request);
}
#endif

int MPI_Ireduce(const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request) {
  count(counts.nonblockingReductions);
  return PMPI_Ireduce(send, receive, n, type, op, root, comm, request);
}

int MPI_Barrier(MPI_Comm comm) {
  count(counts.otherCollectives);
  return PMPI_Barrier(comm);
}

int MPI_Bcast(void* buffer, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  count(counts.otherCollectives);
  return PMPI_Bcast(buffer, n, type, root, comm);
}

int MPI_Allgather(const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, MPI_Comm comm) {
  count(counts.otherCollectives);
  return PMPI_Allgather(send, n, type, receive, m, to, comm);
}

int MPI_Allgatherv(const void* send, int n, MPI_Datatype type, void* receive, const int m[], const int at[],
                   MPI_Datatype to, MPI_Comm comm) {
  count(counts.otherCollectives);
  return PMPI_Allgatherv(send, n, type, receive, m, at, to, comm);
}

int MPI_Gather(const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, int root,
               MPI_Comm comm) {
  count(counts.otherCollectives);
  return PMPI_Gather(send, n, type, receive, m, to, root, comm);
}

int MPI_Gatherv(const void* send, int n, MPI_Datatype type, void* receive, const int m[], const int at[],
                MPI_Datatype to, int root, MPI_Comm comm) {
  count(counts.otherCollectives);
  return PMPI_Gatherv(send, n, type, receive, m, at, to, root, comm);
}

int MPI_Alltoall(const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, MPI_Comm comm) {
  count(counts.otherCollectives);
  return PMPI_Alltoall(send, n, type, receive, m, to, comm);
}

int MPI_Alltoallv(const void* send, const int n[], const int from[], MPI_Datatype type, void* receive, const int m[],
                  const int at[], MPI_Datatype to, MPI_Comm comm) {
  count(counts.otherCollectives);
  return PMPI_Alltoallv(send, n, from, type, receive, m, at, to, comm);
}

}  // extern "C"
