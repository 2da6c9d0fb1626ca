#pragma once

/// \file
/// A log of the collectives that a program calls on each communicator, through MPI's profiling interface, and whether
/// all ranks of a communicator have called them in the same order. MPI wants that of blocking and nonblocking ones
/// together, and most implementations forgive a breach of it until messages of two collectives are taken for one
/// another.
///
/// Link capstan_test_collective_log to the test program, and not capstan_test_counting, which stands at the same place:
/// it then sees the calls of every library in the process, Trilinos included, and of all threads.

#include <string>

namespace capstan::test {

/// Forgets the calls so far, not the communicators. Local.
void forgetCollectives();

/// Calls of this process that have been noted since. Local.
long notedCollectives();

/// What ranks have called in another order than others of the same communicator, for people; empty where there is
/// nothing. Names calls on communicators too that were made in a way the log does not know. Collective over
/// MPI_COMM_WORLD, the same on all ranks.
std::string differingCollectives();

}  // namespace capstan::test
