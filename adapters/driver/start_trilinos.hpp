// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Trilinos inside an application that starts and ends MPI itself.

#include "adapters/run_end/run_end.hpp"

namespace capstan::driver {

/// Initialises Kokkos once, and Tpetra on top of MPI where that runs. They end in MPI_Finalize, or at exit where MPI
/// never runs. Local.
void ensureTrilinos();

}  // namespace capstan::driver
