#include "perf/device/kernel_counts.hpp"

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace capstan::perf {
namespace {

constexpr std::uint64_t smallCopy = 16384;

// Kokkos keeps one callback for the process, so what it counts is here.
KernelCounts counts;

void noteKernel(const char*, std::uint32_t, std::uint64_t* id) {
  *id = 0;
  ++counts.kernels;
}

void noteFence(const char*, std::uint32_t, std::uint64_t* id) {
  *id = 0;
  ++counts.fences;
}

void noteCopy(Kokkos::Profiling::SpaceHandle, const char*, const void*, Kokkos::Profiling::SpaceHandle, const char*,
              const void*, std::uint64_t bytes) {
  if (bytes > smallCopy) ++counts.copies;
}

class Hooks {
 public:
  Hooks() { set(noteKernel, noteFence, noteCopy); }
  ~Hooks() { set(nullptr, nullptr, nullptr); }

 private:
  using Begin = void (*)(const char*, std::uint32_t, std::uint64_t*);

  static void set(Begin kernel, Begin fence, decltype(&noteCopy) copy) {
    namespace hooks = Kokkos::Tools::Experimental;
    hooks::set_begin_parallel_for_callback(kernel);
    hooks::set_begin_parallel_reduce_callback(kernel);
    hooks::set_begin_parallel_scan_callback(kernel);
    hooks::set_begin_fence_callback(fence);
    hooks::set_begin_deep_copy_callback(copy);
  }
};

}  // namespace

KernelCounts countKernels(Contestant& contestant) {
  contestant.prepare();
  counts = KernelCounts{};
  const Hooks hooks;
  contestant.solve();
  return counts;
}

std::string deviceName() {
#ifdef KOKKOS_ENABLE_CUDA
  cudaDeviceProp properties{};
  int device = 0;
  if (cudaGetDevice(&device) == cudaSuccess && cudaGetDeviceProperties(&properties, device) == cudaSuccess)
    return properties.name;
#endif
  return Kokkos::DefaultExecutionSpace::name();
}

}  // namespace capstan::perf
