#pragma once
/// \file
/// What a deck says of files, checked before anything is built: those it reads, and the names of those it writes.

#include "adapters/deck/deck.hpp"
#include "adapters/deck/diagnostics.hpp"
#include "adapters/deck/system_size.hpp"

namespace capstan::deck {

/// write_matrix_files makes file names of the names of systems and solvers: records an error for each that cannot be
/// part of one. Local.
void checkFileNames(const Deck& deck, Diagnostics& diagnostics);

/// Reads through the matrix and the vectors of a system by way of `system.files`, which keeps them, and records what is
/// wrong with them. Call it on the rank that reads. Local.
void inspectFiles(const SystemOptions& system, const SystemLimits& limits, Diagnostics& diagnostics);

}  // namespace capstan::deck
