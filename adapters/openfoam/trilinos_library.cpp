// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/trilinos_library.hpp"

#include "adapters/libraries/open_mate.hpp"

namespace capstan::foam {
namespace {

constexpr const char* libraryName = "libcapstanFoamTrilinos.so";

const TrilinosSide& side() {
  const void* const own = reinterpret_cast<const void*>(&side);
  const Mate mate = openMate(libraryName, {own});
  if (mate.handle == nullptr) {
    throw LibraryError(std::string("cannot open ") + libraryName +
                       ", which holds the solvers and belongs beside libcapstanFoam.so. Tried:" + mate.tried +
                       "\n    Set LD_LIBRARY_PATH to the folder that holds it, or install both libraries again");
  }
  const auto function = reinterpret_cast<TrilinosSideFunction>(dlsym(mate.handle, trilinosSideFunction));
  const TrilinosSide* const found = function == nullptr ? nullptr : function(sideStamp);
  if (found != nullptr) return *found;
  const std::string file = fileOf(reinterpret_cast<const void*>(function));
  throw LibraryError((file.empty() ? libraryName : file) + " is of another release than " + fileOf(own).string() +
                     ": build the one from the source of the other");
}

}  // namespace

const TrilinosSide& trilinos() {
  static const TrilinosSide& opened = side();
  return opened;
}

}  // namespace capstan::foam
