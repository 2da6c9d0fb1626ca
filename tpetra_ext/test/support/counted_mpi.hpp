#pragma once

/// \file
/// Counts the collectives and messages that a test program really sends, through MPI's profiling interface, and makes
/// them fail on demand.
///
/// Compile counted_mpi.cpp into the test program: it then stands between MPI and every library in the process, Trilinos
/// included. The counts owe nothing to Capstan's own counters, which is the point.

#include <mpi.h>

#include <atomic>
#include <vector>

namespace capstan::test {

/// Calls of this process since the last resetMpiCalls().
struct MpiCalls {
  long allreduce = 0;
  long iallreduce = 0;
  long otherCollectives = 0;  ///< reduce, broadcast, barrier, gather, all-gather(v), all-to-all(v)
  long waits = 0;             ///< MPI_Wait
  long waitsForAll = 0;       ///< MPI_Waitall
  long tests = 0;             ///< MPI_Test
  long testsOfAll = 0;        ///< MPI_Testall
  long cancels = 0;           ///< MPI_Cancel
  long allreduceBytes = 0;    ///< bytes given to both kinds of all-reduce
};

/// The counts so far.
MpiCalls& mpiCalls();

inline void resetMpiCalls() { mpiCalls() = MpiCalls(); }

/// A message that this process has sent to another one, or to itself.
struct SentMessage {
  int to = 0;  ///< the rank in the communicator that was used
  long bytes = 0;
};

/// Messages sent by MPI_Send, MPI_Isend, and by MPI_Start or MPI_Startall of what MPI_Send_init has made, while wanted.
struct SentMessages {
  bool wanted = false;
  std::vector<SentMessage> list;
};
SentMessages& sentMessages();

/// MPI_Request_get_status, which lets MPI make progress: calls from the program's first thread, and from others.
struct MpiLooks {
  std::atomic<long> here{0}, elsewhere{0};
};
MpiLooks& mpiLooks();

/// Called right after MPI_Finalize, when set: what does not hold then can still end the program with an error.
extern void (*afterMpiFinalize)();

/// Codes the next calls return; MPI_SUCCESS: none. Each is used once. All-reduces, starts, tests and requests do
/// not take place, the wait does.
struct MpiFaults {
  int allreduce = MPI_SUCCESS;
  int iallreduce = MPI_SUCCESS;
  int wait = MPI_SUCCESS;
  int startall = MPI_SUCCESS;
  int start = MPI_SUCCESS;
  int test = MPI_SUCCESS;
  int sendInit = MPI_SUCCESS;
  long spared = 0;  ///< calls of all but the all-reduce that still succeed before the failing one
};
MpiFaults& mpiFaults();

}  // namespace capstan::test
