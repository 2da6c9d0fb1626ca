#pragma once
/// \file
/// Where a kernel runs (its path) and where its small matrices live (PinnedSpace).

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <type_traits>

#include "tpetra_ext/kernels/base/instruction_set.hpp"
#include "tpetra_ext/kernels/base/task_queue.hpp"

#if defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL)
/// Kokkos' names of these two, wherever they are: a back end begins in Kokkos::Experimental, and goes to Kokkos when it
/// is done. HIP has been there since Kokkos 4.0 and SYCL since 4.5, which keep the old name for a while. A name without
/// namespace is looked for from here on outwards: first in Kokkos::Experimental, then in Kokkos.
///
/// No version is asked for: what vendors ship between two releases has names of the later one and the number of the
/// earlier. To look into both namespaces at once does not do: to clang a class and its other name hide each other.
namespace Kokkos::Experimental::capstan_names {
#ifdef KOKKOS_ENABLE_HIP
using Hip = HIP;
using HipPinned = HIPHostPinnedSpace;
#endif
#ifdef KOKKOS_ENABLE_SYCL
using Sycl = SYCL;
using SyclPinned = SYCLHostUSMSpace;  // since Kokkos 3.5
#endif
}  // namespace Kokkos::Experimental::capstan_names
#endif

namespace capstan::kernels {

/// Register- and cache-blocked vector code for CPUs, one contiguous range of rows per thread.
struct HostPath {};

/// Portable Kokkos code (teams and ranges) for any backend. It also runs on CPUs, so that it is tested everywhere.
struct GenericPath {};

/// HostPath where the execution space is a CPU's, unless the environment says CAPSTAN_KERNELS=generic; else
/// GenericPath.
struct AutoPath {};

namespace detail {

template <class Exec>
struct IsCpuBackend : std::false_type {};
#ifdef KOKKOS_ENABLE_SERIAL
template <>
struct IsCpuBackend<Kokkos::Serial> : std::true_type {};
#endif
#ifdef KOKKOS_ENABLE_OPENMP
template <>
struct IsCpuBackend<Kokkos::OpenMP> : std::true_type {};
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <>
struct IsCpuBackend<Kokkos::Threads> : std::true_type {};
#endif

#ifdef CAPSTAN_SERIAL_IS_A_DEVICE  // its memory is not the host's: tpetra_ext/test/protected
template <class Exec>
struct IsHostBackend : std::false_type {};
#else
template <class Exec>
struct IsHostBackend : IsCpuBackend<Exec> {};
#endif

/// Bytes of a functor, its policy beside it, that Kokkos hands to CUDA as kernel arguments, and that CUDA takes.
/// Between the two Kokkos copies it through constant memory, unless told that it is light, and waits for the kernel
/// that used that before.
constexpr std::size_t smallArguments = 440, largeArguments = 4000;

/// Calls run(HostPath()) or run(GenericPath()), as Path says. \throws std::invalid_argument when AutoPath looks at a
/// CAPSTAN_KERNELS that is wrong.
template <class Path, class Exec, class Run>
void choosePath(const Run& run) {
  if constexpr (!std::is_same<Path, AutoPath>::value) {
    run(Path());
  } else if constexpr (!IsHostBackend<Exec>::value) {
    run(GenericPath());
  } else if (genericPathForced()) {
    run(GenericPath());
  } else {
    run(HostPath());
  }
}

/// The same for a kernel, which may run later: as a task, or on a device. \param run holds copies of all that it needs,
/// but for the queue \param label outlives the kernel: a literal
template <class Path, class Exec, class Run>
void onPath([[maybe_unused]] const char* label, const Run& run) {
  choosePath<Path, Exec>([&](auto path) {
    if constexpr (std::is_same<decltype(path), HostPath>::value) {
      if (tasksRun.load(std::memory_order_relaxed)) return TaskQueue::instance().add(label, [run] { run(HostPath()); });
    }
    run(path);
  });
}

template <class Exec>
struct PinnedSpaceOf {
  using Type = Kokkos::HostSpace;
  static_assert(Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible,
                "capstan::kernels::PinnedSpace knows no memory that both the host and this execution space can access");
};
#ifdef KOKKOS_ENABLE_CUDA
template <>
struct PinnedSpaceOf<Kokkos::Cuda> {
  using Type = Kokkos::CudaHostPinnedSpace;
};
#endif
#ifdef KOKKOS_ENABLE_HIP
template <>
struct PinnedSpaceOf<Kokkos::Experimental::capstan_names::Hip> {
  using Type = Kokkos::Experimental::capstan_names::HipPinned;
};
#endif
#ifdef KOKKOS_ENABLE_SYCL
template <>
struct PinnedSpaceOf<Kokkos::Experimental::capstan_names::Sycl> {
  using Type = Kokkos::Experimental::capstan_names::SyclPinned;
};
#endif

}  // namespace detail

/// Whether kernels of this execution space run on the CPU, and in its memory.
template <class Exec>
constexpr bool runsOnHost = detail::IsHostBackend<Exec>::value;

/// Memory for the small matrices of the kernels: Exec's kernels and the host can both access it (the host after a
/// fence). HostSpace on CPUs, page-locked host memory on GPUs.
template <class Exec>
using PinnedSpace = typename detail::PinnedSpaceOf<Exec>::Type;

}  // namespace capstan::kernels
