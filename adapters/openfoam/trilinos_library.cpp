// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/trilinos_library.hpp"

#include "adapters/libraries/open_mate.hpp"

namespace capstan::foam {

const TrilinosSide& trilinos() {
  static const TrilinosSide* const opened = offerOfMate<LibraryError, TrilinosSide>(
      {"libcapstanFoamTrilinos.so", trilinosSideFunction, sideStamp,
       "holds the solvers and belongs beside libcapstanFoam.so", "install both libraries again"},
      reinterpret_cast<const void*>(&trilinos));
  return *opened;
}

}  // namespace capstan::foam
