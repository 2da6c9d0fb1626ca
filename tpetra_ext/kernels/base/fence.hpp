#pragma once
/// \file
/// The one place where the host waits for kernels, and counts how often it does.
///
/// A wait empties the queue of a device, which costs about as much as a small kernel; on CPUs it is nothing. All waits
/// of the kernels, of the reductions and of what a solver does to its vectors go through here. Those inside Kokkos'
/// copies, Tpetra and the application's operators are not counted.

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <string>

#include "tpetra_ext/kernels/base/launch.hpp"

namespace capstan::kernels {

namespace detail {

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

/// Waits until what `queue` was given is done, and for no other queue. Local.
template <class Exec>
void fence(Queue<Exec>& queue) {
  if constexpr (runsOnHost<Exec>) detail::runLaunched();
  detail::waitFor(queue.instance(), 0);
  queue.noteFence();
}

/// result = the sum of what functor(i, sum) adds for i = 0, ..., count - 1, a number on the host, which waits for it:
/// one fence. Local.
template <class Exec, class Functor, class Result>
void reduceAndWait(const char* label, Queue<Exec>& queue, std::ptrdiff_t count, const Functor& functor,
                   Result& result) {
  if constexpr (runsOnHost<Exec>) detail::runLaunched();
  queue.noteLaunch();
  Kokkos::parallel_reduce(label, detail::rangeOf(queue, 0, count), functor, result);
  queue.noteFence();
}

/// The same with Kokkos::parallel_scan: functor(i, sum, last), and the sum of all. One fence. Local.
template <class Exec, class Functor, class Result>
void scanAndWait(const char* label, Queue<Exec>& queue, std::ptrdiff_t count, const Functor& functor, Result& total) {
  if constexpr (runsOnHost<Exec>) detail::runLaunched();
  queue.noteLaunch();
  Kokkos::parallel_scan(label, detail::rangeOf(queue, 0, count), functor, total);
  queue.noteFence();
}

/// To be called before code that is not Capstan's gets to see vectors, which may look at them on the host. Nothing on
/// devices: there Tpetra waits where it shows what is on a device to the host. On CPUs it has nothing to wait for, and
/// kernels that have been delayed run now. Not a fence, and not counted as one. Local.
template <class Exec>
void handOver() {
  if constexpr (runsOnHost<Exec>) detail::runLaunched();
}

}  // namespace capstan::kernels
