// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/start_trilinos.hpp"

#include <Kokkos_Core.hpp>
#include <Tpetra_Core.hpp>

namespace capstan::driver {

void ensureTrilinos() {
  if (!mpiRuns()) {
    // Tpetra's own start would start MPI, which a serial run can do without.
    if (Kokkos::is_initialized()) return;
    Kokkos::initialize();
    atRunEnd([] { Kokkos::finalize(); });
    return;
  }
  if (Tpetra::isInitialized()) return;
  int argc = 0;
  char** argv = nullptr;
  Tpetra::initialize(&argc, &argv);
  atMpiFinalize([] { Tpetra::finalize(); });
}

}  // namespace capstan::driver
