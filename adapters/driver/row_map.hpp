// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How the cells of a mesh are dealt out to the ranks, as Trilinos sees it.

namespace capstan::driver {

/// Rows numbered contiguously by rank, on a communicator of its own. Shared by all fields of a mesh. TrilinosSide makes
/// it, and knows what it holds.
class RowMap;

}  // namespace capstan::driver
