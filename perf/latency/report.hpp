/// \file
/// What was emulated, told at MPI_Finalize.
#pragma once

#include "perf/latency/settings.hpp"

namespace capstan::latency {

/// Writes the counters of all ranks where CAPSTAN_LATENCY_REPORT says: a few lines on stderr, or one JSON object in a
/// file. Collective over MPI_COMM_WORLD. Prints a message on stderr where the file cannot be written.
void writeReport(const Settings& settings);

}  // namespace capstan::latency
