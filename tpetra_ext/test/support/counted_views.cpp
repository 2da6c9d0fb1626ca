// Apart from operator new, which nvcc compiles for the host only, and Kokkos for both.
#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdint>

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/test/support/counted_allocations.hpp"

namespace capstan::test {
namespace {

std::atomic<long> views{0};

void noteView(Kokkos::Profiling::SpaceHandle, const char*, const void*, std::uint64_t) { ++views; }

long viewsSoFar() {
  static const bool counting = [] {
    Kokkos::Tools::Experimental::set_allocate_data_callback(noteView);
    return true;
  }();
  return counting ? views.load() : 0;
}

}  // namespace

long allocations() { return kernels::runsOnHost<Kokkos::DefaultExecutionSpace> ? heapAllocations() : viewsSoFar(); }

}  // namespace capstan::test
