// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/start_trilinos.hpp"

#include <Tpetra_Core.hpp>

namespace capstan::foam {

void ensureTrilinos() {
  if (Tpetra::isInitialized()) {
    return;
  }
  int argc = 0;
  char** argv = nullptr;
  Tpetra::initialize(&argc, &argv);
  atMpiFinalize([] { Tpetra::finalize(); });
}

}  // namespace capstan::foam
