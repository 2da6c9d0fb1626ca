/// \file
/// State of the latency layer in this process: settings, counters, waiting, and the requests whose completion it holds
/// back.
#pragma once

#include <atomic>

#include "perf/latency/delays.hpp"
#include "perf/latency/settings.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace capstan::latency {

/// What happened on this rank since MPI_Init; the tests look at it.
struct Counters {
  std::atomic<long> blocking{0};           ///< delayed blocking all-reduces (and barriers)
  std::atomic<long> nonblocking{0};        ///< delayed nonblocking and persistent ones, counted at their start
  std::atomic<long> askedNanoseconds{0};   ///< sum of the delays asked for
  std::atomic<long> waitedNanoseconds{0};  ///< time in blocking calls after the real operation had completed
};

Counters& counters();

/// True between MPI_Init and MPI_Finalize where something is to be emulated.
bool on();
const Settings& settings();

/// Reads the settings; prints what is wrong with them and ends the process where they are bad. Before MPI is
/// initialised.
void readSettingsOrExit();
/// Collective over MPI_COMM_WORLD, right after the real MPI_Init and right before the real MPI_Finalize.
void start();
void stop();

/// Lets MPI make progress once and, if so asked, gives the processor away. Local.
void idle();

/// Returns no sooner than at `deadline`, idling, and counts the time.
void holdUntil(Clock::time_point deadline);

/// Counts the delay and returns it.
Duration count(std::atomic<long>& operations, Duration delay);

}  // namespace capstan::latency
