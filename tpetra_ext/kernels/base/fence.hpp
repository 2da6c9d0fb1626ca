#pragma once
/// \file
/// The one place where the host waits for kernels, and counts how often it does.
///
/// A wait empties the queue of a device, which costs about as much as a small kernel; on CPUs it is nothing. All waits
/// of the kernels, of the reductions and of what a solver does to its vectors go through here. Those inside Kokkos'
/// copies, Tpetra and the application's operators are not counted.

#include <Kokkos_Core.hpp>
#include <atomic>
#include <string>

#include "tpetra_ext/kernels/base/launch.hpp"

namespace capstan::kernels {

namespace detail {

inline std::atomic<long> allFences{0};
template <class Exec>
inline std::atomic<long> fencesOf{0};

template <class Exec>
void countFence() {
  ++allFences;
  ++fencesOf<Exec>;
}

/// Newer releases of Kokkos name fences; their own names are too long for a string to hold without an allocation.
template <class Exec>
auto waitFor(const Exec& exec, int) -> decltype(exec.fence(std::string())) {
  exec.fence("capstan");
}
template <class Exec>
void waitFor(const Exec& exec, long) {
  exec.fence();
}

}  // namespace detail

/// Times that this process has waited for kernels so far, in this library. Local.
inline long fences() { return detail::allFences; }

/// The same for one execution space. Where the number has grown, all that was given to Exec's default queue before is
/// done. Local.
template <class Exec>
long fencesOf() {
  return detail::fencesOf<Exec>;
}

/// Waits until the work given to `exec` is done. Local.
template <class Exec>
void fence(const Exec& exec) {
  if constexpr (runsOnHost<Exec>) detail::runDelayed();
  detail::waitFor(exec, 0);
  detail::countFence<Exec>();
}

/// Kokkos::parallel_reduce into a number on the host, which waits for it: one fence. Local.
template <class Policy, class Functor, class Result>
void reduceAndWait(const char* label, const Policy& policy, const Functor& functor, Result& result) {
  if constexpr (runsOnHost<typename Policy::execution_space>) detail::runDelayed();
  Kokkos::parallel_reduce(label, policy, functor, result);
  detail::countFence<typename Policy::execution_space>();
}

/// Kokkos::parallel_scan with its total on the host, which waits for it: one fence. Local.
template <class Policy, class Functor, class Result>
void scanAndWait(const char* label, const Policy& policy, const Functor& functor, Result& total) {
  if constexpr (runsOnHost<typename Policy::execution_space>) detail::runDelayed();
  Kokkos::parallel_scan(label, policy, functor, total);
  detail::countFence<typename Policy::execution_space>();
}

/// To be called before code that is not Capstan's gets to see vectors, which may look at them on the host. Nothing on
/// devices: there Tpetra waits where it shows what is on a device to the host. On CPUs it has nothing to wait for, and
/// kernels that have been delayed run now. Not a fence, and not counted as one. Local.
template <class Exec>
void handOver() {
  if constexpr (runsOnHost<Exec>) detail::runDelayed();
}

/// The same at the end of a scope, however that is left.
template <class Exec>
class HandsOver {
 public:
  HandsOver() = default;
  ~HandsOver() { handOver<Exec>(); }
  HandsOver(const HandsOver&) = delete;
  HandsOver& operator=(const HandsOver&) = delete;
};

}  // namespace capstan::kernels
