// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Where the OpenFOAM side finds the Trilinos side.

#include <stdexcept>

#include "adapters/openfoam/trilinos_side.hpp"

namespace capstan::foam {

/// The library with the Trilinos side cannot be opened, or is of another release.
class LibraryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The Trilinos side. The first call opens libcapstanFoamTrilinos.so, without showing its symbols to other libraries:
/// beside libcapstanFoam.so, else where the loader looks for libraries (wmake's library names the folder as its rpath).
///
/// Local. Throws LibraryError that tells what was tried where it cannot be opened, or is of another release; the
/// next call then tries again.
const TrilinosSide& trilinos();

}  // namespace capstan::foam
