#pragma once
/// \file
/// Work to be done at the end of a run, while MPI still runs.

#include <functional>

namespace capstan {

/// Whether MPI has been started and not ended. Local.
bool mpiRuns();

/// Runs \p action at the start of MPI_Finalize, the last one registered first. Static destructors may run later, so
/// that objects that hold communicators cannot wait for them: an attribute of MPI_COMM_SELF is deleted earlier.
///
/// Local: ranks may have registered different actions, so that an action must not talk to other ranks. MPI must run. An
/// exception thrown by an action is reported on standard error; the remaining actions still run.
/// \throws std::runtime_error if MPI refuses the attribute.
void atMpiFinalize(std::function<void()> action);

/// The same, or at exit of the program where MPI does not run now. Local.
void atRunEnd(std::function<void()> action);

}  // namespace capstan
