// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How the cells of a mesh are dealt out to the ranks, as Trilinos sees it.

#include <mpi.h>

#include <cstdint>
#include <memory>

namespace capstan::foam {

/// Rows numbered contiguously by rank, on a communicator of its own. Shared by all fields of a mesh.
class CellMap;

/// The map of \p cells rows on this rank. Collective over \p comm, which is duplicated; MPI_COMM_NULL: of one process
/// without MPI.
std::shared_ptr<const CellMap> makeCellMap(MPI_Comm comm, std::int64_t cells);

/// Whether it stands on MPI, as preconditioners of Trilinos want it. Local.
bool isOverMpi(const CellMap& map);

/// Rows on this rank. Local.
std::int64_t localCells(const CellMap& map);

}  // namespace capstan::foam
