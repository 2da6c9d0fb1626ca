#pragma once
/// \file
/// Counts the collectives of this process, whoever calls them, by way of MPI's profiling interface (PMPI). Compile
/// counted_mpi.cpp into the program itself: its definitions then come before the MPI library's.

namespace capstan::tools {

struct MpiCounts {
  long blockingReductions = 0;     ///< MPI_Allreduce, MPI_Reduce, MPI_Reduce_scatter(_block), MPI_Scan, MPI_Exscan
  long nonblockingReductions = 0;  ///< MPI_Iallreduce, MPI_Ireduce
  long otherCollectives = 0;       ///< MPI_Barrier, MPI_Bcast, MPI_Allgather(v), MPI_Alltoall(v), MPI_Gather(v)
};

/// Starts counting at zero, or stops. Local. Not thread-safe: one thread a rank calls MPI.
void countMpi(bool on);

/// The calls counted between the last start and its stop. Local.
MpiCounts mpiCounts();

}  // namespace capstan::tools
