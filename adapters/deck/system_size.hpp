#pragma once
/// \file
/// How large systems are, asked before anything is built: a slip in `cells` must end in a message, not in a machine
/// without memory.

#include <string>
#include <vector>

#include "adapters/deck/diagnostics.hpp"
#include "adapters/deck/system_options.hpp"
#include "adapters/deck/types.hpp"

namespace capstan::deck {

/// Memory of this machine in bytes, or what the control group of this process (a container) may take of it. Local;
/// reads the file system.
double machineMemory();

/// Bytes a generated system takes on all ranks together while it is built: matrix, its unpacked form, and the vectors
/// of a solve, those of the Krylov basis excepted. Local.
double generatedBytes(const SystemOptions& system);

/// What the ranks can number and the machines they run on can hold.
struct SystemLimits {
  double rows = 0.0, bytes = 0.0;
  int ranks = 1;
};

/// \param memory of this rank's machine, in bytes. Collective; alike on all ranks.
SystemLimits systemLimits(const Communicator& comm, double memory);

/// What is wrong with a matrix of that size in a file, or nothing. Local.
std::string fileSizeProblem(double rows, double entries, const SystemLimits& limits);

/// What is wrong with vectors of that size in a file, or nothing. Local.
std::string vectorSizeProblem(long long rows, long long columns, const SystemLimits& limits);

/// Records an error for each generated system with more rows than the ranks can number, or that takes more than the
/// memory of the machines the ranks run on. Local.
void checkSystemSizes(const std::vector<SystemOptions>& systems, const SystemLimits& limits, Diagnostics& diagnostics);

}  // namespace capstan::deck
