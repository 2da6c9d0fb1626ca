#include "adapters/libraries/open_mate.hpp"
#include "adapters/preconditioners/makers.hpp"

namespace capstan::preconditioning {

const Makers& makers() {
  // A program is elsewhere than its libraries.
  static const Makers* const opened = offerOfMate<PreconditionerError, Makers>(
      {"libcapstanPreconditioners.so", makersFunction, makersStamp, "makes the preconditioners of Trilinos and hypre",
       "install Capstan again"},
      reinterpret_cast<const void*>(&makers), dlsym(RTLD_DEFAULT, "capstan_register_solvers"));
  return *opened;
}

}  // namespace capstan::preconditioning
