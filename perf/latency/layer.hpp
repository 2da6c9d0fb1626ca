/// \file
/// State of the latency layer in this process: settings, counters, and waiting.
#pragma once

#include <atomic>

#include "perf/latency/settings.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace capstan::latency {

/// What happened on this rank since MPI_Init; the tests look at it.
struct Counters {
  std::atomic<long> blocking{0};     ///< delayed blocking all-reduces
  std::atomic<long> nonblocking{0};  ///< delayed nonblocking ones, counted at their start
  std::atomic<long> waits{0};        ///< blocking calls that waited for a deadline alone
};

Counters& counters();

const Settings& settings();

/// True where an all-reduce on `comm` is delayed: between MPI_Init and MPI_Finalize, and not on one process alone,
/// unless the program has no other. Local.
bool delayed(MPI_Comm comm);

/// Reads the settings; prints what is wrong with them and ends the process where they are bad. Before MPI is
/// initialised.
void readSettingsOrExit();
/// Right after the real MPI_Init and right before the real MPI_Finalize. Local.
void start();
void stop();

/// Lets MPI make progress once and, if so asked, gives the processor away. Local.
void idle();

/// Returns no sooner than at `deadline`, idling.
void holdUntil(Clock::time_point deadline);

/// Prints that `what` is not emulated, rather than let it through undelayed, and returns `code` by the communicator's
/// error handler, which by default ends the program. Local.
int refused(MPI_Comm comm, const char* what, int code);

}  // namespace capstan::latency
