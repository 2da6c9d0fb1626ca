// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Work to be done while MPI still runs, when the application ends MPI itself.

#include <functional>

namespace capstan::foam {

/// Runs \p action at the start of MPI_Finalize, the last one registered first.
///
/// Local. MPI must be initialised. OpenFOAM calls MPI_Finalize and only then std::exit, so objects that hold
/// communicators cannot wait for the destructors of statics: an attribute of MPI_COMM_SELF is deleted earlier.
/// An exception thrown by an action is reported on standard error; the remaining actions still run.
/// \throws std::runtime_error if MPI refuses the attribute.
void atMpiFinalize(std::function<void()> action);

/// Initialises Tpetra and Kokkos once, on top of the MPI the application started, and ends them in MPI_Finalize.
void ensureTrilinos();

}  // namespace capstan::foam
