#include "adapters/libraries/open_mate.hpp"
#include "adapters/preconditioners/makers.hpp"

namespace capstan::preconditioning {
namespace {

constexpr const char* libraryName = "libcapstanPreconditioners.so";

const Makers& open() {
  const void* const own = reinterpret_cast<const void*>(&open);
  // A program is elsewhere than its libraries.
  const Mate mate = openMate(libraryName, {own, dlsym(RTLD_DEFAULT, "capstan_register_solvers")});
  if (mate.handle == nullptr) {
    throw PreconditionerError(std::string("cannot open ") + libraryName +
                              ", which makes the preconditioners of Trilinos and hypre. Tried:" + mate.tried +
                              "\n    Set LD_LIBRARY_PATH to the folder that holds it, or install Capstan again");
  }
  const auto function = reinterpret_cast<MakersFunction>(dlsym(mate.handle, makersFunction));
  const Makers* const found = function == nullptr ? nullptr : function(makersStamp);
  if (found != nullptr) return *found;
  const std::string file = fileOf(reinterpret_cast<const void*>(function));
  throw PreconditionerError((file.empty() ? libraryName : file) + " is of another release than " +
                            fileOf(own).string() + ": build the one from the source of the other");
}

}  // namespace

const Makers& makers() {
  static const Makers& opened = open();
  return opened;
}

}  // namespace capstan::preconditioning
