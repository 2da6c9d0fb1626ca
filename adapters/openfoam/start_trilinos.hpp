// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Trilinos inside an application that starts and ends MPI itself.

#include "adapters/run_end/run_end.hpp"

namespace capstan::foam {

/// Initialises Tpetra and Kokkos once, on top of the MPI the application started, and ends them in MPI_Finalize.
void ensureTrilinos();

}  // namespace capstan::foam
