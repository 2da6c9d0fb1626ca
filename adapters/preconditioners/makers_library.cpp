// libcapstanPreconditioners.so: see makers.hpp.
#include "adapters/preconditioners/makers.hpp"

extern "C" __attribute__((visibility("default"))) const capstan::preconditioning::Makers* capstanPreconditionerMakers(
    unsigned long stamp) {
  namespace own = capstan::preconditioning;
  return stamp == own::makersStamp ? &own::linkedMakers() : nullptr;
}
