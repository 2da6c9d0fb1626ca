// Preloaded into a program: floating point traps are on from the start, as in an application that switches them on.
#include <cfenv>

namespace {

[[gnu::constructor]] void enableTraps() {
#ifdef __GLIBC__
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
#endif
}

}  // namespace
