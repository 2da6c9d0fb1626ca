// Apart from operator new, which nvcc compiles for the host only, and Kokkos for both.
#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/test/support/counted_allocations.hpp"

namespace capstan::test {
namespace {

std::atomic<long> views{0};
std::mutex mutex;
std::map<const void*, std::uint64_t> sizes;  // of views that are there

void noteView(Kokkos::Profiling::SpaceHandle, const char*, const void* data, std::uint64_t size) {
  ++views;
  const std::lock_guard<std::mutex> lock(mutex);
  sizes[data] = size;
}

void forgetView(Kokkos::Profiling::SpaceHandle, const char*, const void* data, std::uint64_t) {
  const std::lock_guard<std::mutex> lock(mutex);
  sizes.erase(data);
}

void countFromNowOn() {
  static const bool counting = [] {
    Kokkos::Tools::Experimental::set_allocate_data_callback(noteView);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(forgetView);
    return true;
  }();
  static_cast<void>(counting);
}

long viewsSoFar() {
  countFromNowOn();
  return views.load();
}

}  // namespace

long viewBytes() {
  countFromNowOn();
  const std::lock_guard<std::mutex> lock(mutex);
  long sum = 0;
  for (const auto& one : sizes) sum += static_cast<long>(one.second);
  return sum;
}

long allocationsOfARange() {
  using Execution = Kokkos::DefaultExecutionSpace;
  const Execution execution;
  const long before = allocations();
  const Kokkos::RangePolicy<Execution> range(execution, std::size_t(0), std::size_t(1));
  return allocations() - before + static_cast<long>(range.begin());
}

long allocations() { return kernels::runsOnHost<Kokkos::DefaultExecutionSpace> ? heapAllocations() : viewsSoFar(); }

}  // namespace capstan::test
