/// \file
/// The protected memory is open while a kernel runs. Kokkos tells its tools of beginnings and ends through the
/// functions below, before and after it runs one. They are found here first, and go on to Kokkos' own, which tell the
/// tools: so tests may set and take back callbacks as they please.
///
/// Views of two memories whose entries lie in another order, or with gaps, cannot be copied from the one to the other
/// as they are: a device refuses it. Kokkos::Serial copies them by a kernel, which may access both. That is a fault,
/// too.

#include <dlfcn.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tpetra_ext/test/protected/memory.hpp"

namespace {

using capstan::test::protected_memory::setOpen;

/// Whether Kokkos is copying from one memory to another.
bool betweenMemories = false;

void begin(const std::string& kernel) {
  if (betweenMemories && std::string_view(kernel).substr(0, 16) == "Kokkos::ViewCopy") {
    capstan::test::protected_memory::report("a copy between the host and the device needs a kernel: '" + kernel + "'");
  }
  setOpen(true);
}

/// Kokkos' own function of the name and type of `here`.
template <class Function>
Function* kokkosOwn(Function* here) {
  Dl_info info = {};
  void* next = nullptr;
  if (dladdr(reinterpret_cast<void*>(here), &info) != 0 && info.dli_sname != nullptr) {
    next = dlsym(RTLD_NEXT, info.dli_sname);
    if (dlsym(RTLD_DEFAULT, info.dli_sname) != reinterpret_cast<void*>(here)) next = nullptr;
  }
  if (next == nullptr) {
    std::fputs("capstan: protected memory: this library must come before Kokkos in the order of loading\n", stderr);
    std::abort();
  }
  return reinterpret_cast<Function*>(next);
}

}  // namespace

namespace Kokkos::Tools {

bool profileLibraryLoaded() { return true; }

void beginParallelFor(const std::string& kernel, const std::uint32_t device, std::uint64_t* number) {
  static auto* const own = kokkosOwn(&beginParallelFor);
  own(kernel, device, number);
  begin(kernel);
}
void endParallelFor(const std::uint64_t number) {
  static auto* const own = kokkosOwn(&endParallelFor);
  setOpen(false);
  own(number);
}
void beginParallelScan(const std::string& kernel, const std::uint32_t device, std::uint64_t* number) {
  static auto* const own = kokkosOwn(&beginParallelScan);
  own(kernel, device, number);
  begin(kernel);
}
void endParallelScan(const std::uint64_t number) {
  static auto* const own = kokkosOwn(&endParallelScan);
  setOpen(false);
  own(number);
}
void beginParallelReduce(const std::string& kernel, const std::uint32_t device, std::uint64_t* number) {
  static auto* const own = kokkosOwn(&beginParallelReduce);
  own(kernel, device, number);
  begin(kernel);
}
void endParallelReduce(const std::uint64_t number) {
  static auto* const own = kokkosOwn(&endParallelReduce);
  setOpen(false);
  own(number);
}

// Kokkos calls these two where a tool listens: watchCopies() does.
void beginDeepCopy(const SpaceHandle toSpace, const std::string toLabel, const void* to, const SpaceHandle fromSpace,
                   const std::string fromLabel, const void* from, const std::uint64_t bytes) {
  static auto* const own = kokkosOwn(&beginDeepCopy);
  own(toSpace, toLabel, to, fromSpace, fromLabel, from, bytes);
  betweenMemories = std::string_view(toSpace.name) != fromSpace.name;
}
void endDeepCopy() {
  static auto* const own = kokkosOwn(&endDeepCopy);
  betweenMemories = false;
  own();
}

}  // namespace Kokkos::Tools

namespace capstan::test::protected_memory {

void watchCopies() {
  namespace tools = Kokkos::Tools::Experimental;
  const tools::EventSet now = tools::get_callbacks();
  if (now.begin_deep_copy == nullptr) {
    tools::set_begin_deep_copy_callback([](Kokkos::Tools::SpaceHandle, const char*, const void*,
                                           Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t) {});
  }
  if (now.end_deep_copy == nullptr) tools::set_end_deep_copy_callback([] {});
}

}  // namespace capstan::test::protected_memory
