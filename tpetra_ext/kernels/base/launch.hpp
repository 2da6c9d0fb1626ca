#pragma once
/// \file
/// The one place where kernels are launched: what launches may be asked to do otherwise, they all do. Policies are made
/// here alone, each with the instance of a queue.

#include <Kokkos_Core.hpp>
#include <cstddef>

#include "tpetra_ext/kernels/base/delayed_launches.hpp"
#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/base/queue.hpp"

namespace capstan::kernels {

/// Whether a kernel may still be running, or waiting, when its launch has returned: then the host reads and writes what
/// it uses after a fence only. Always on devices; on CPUs where kernels are tasks, or
/// CAPSTAN_KERNELS=delayed asks for it. Local.
template <class Exec>
bool runsLater() {
  if constexpr (runsOnHost<Exec>) return launchesDelayed() || detail::tasksRun.load(std::memory_order_relaxed);
  return true;
}

/// Indices of kernels.
template <class Exec>
using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::ptrdiff_t>>;

/// Teams of kernels: how many, the threads of each, and the vector lanes of a thread.
struct Teams {
  int count;
  int threads = 1, lanes = 1;
};

namespace detail {

template <class Exec>
Range<Exec> rangeOf(const Queue<Exec>& queue, std::ptrdiff_t first, std::ptrdiff_t last) {
  return Range<Exec>(queue.instance(), first, last);
}

struct ParallelFor {
  template <class Policy, class Functor>
  void operator()(const char* label, const Policy& policy, const Functor& functor) const {
    Kokkos::parallel_for(label, policy, functor);
  }
};
struct ParallelReduce {
  template <class Policy, class Functor, class Result>
  void operator()(const char* label, const Policy& policy, const Functor& functor, const Result& result) const {
    Kokkos::parallel_reduce(label, policy, functor, result);
  }
};

/// Hands a kernel to Kokkos, now or when launches that are delayed are run.
template <class Run, class Exec, class... Arguments>
void launchBy(Queue<Exec>& queue, const Arguments&... arguments) {
  queue.noteLaunch();
  if constexpr (runsOnHost<Exec>) {
    if (launchesDelayed()) return DelayedLaunches::instance().add([=] { Run()(arguments...); });
    finishTasks();  // Kokkos' kernels are none
  }
  Run()(arguments...);
}

}  // namespace detail

/// functor(i) for i from `first` on, `last` left out. \param label outlives the kernel: a literal
template <class Exec, class Functor>
void launch(const char* label, Queue<Exec>& queue, std::ptrdiff_t first, std::ptrdiff_t last, const Functor& functor) {
  detail::launchBy<detail::ParallelFor>(queue, label, detail::rangeOf(queue, first, last), functor);
}
template <class Exec, class Functor>
void launch(const char* label, Queue<Exec>& queue, std::ptrdiff_t count, const Functor& functor) {
  launch(label, queue, 0, count, functor);
}

/// The same for arguments that are to travel in the launch as far as CUDA takes them, not through constant memory, for
/// which Kokkos waits.
template <class Exec, class Functor>
void launchLight(const char* label, Queue<Exec>& queue, std::ptrdiff_t count, const Functor& functor) {
  namespace experimental = Kokkos::Experimental;
  const auto policy =
      experimental::require(detail::rangeOf(queue, 0, count), experimental::WorkItemProperty::HintLightWeight);
  detail::launchBy<detail::ParallelFor>(queue, label, policy, functor);
}

/// functor(member) for each member of each team; label as above.
template <class Exec, class Functor>
void launchTeams(const char* label, Queue<Exec>& queue, const Teams& teams, const Functor& functor) {
  const Kokkos::TeamPolicy<Exec> policy(queue.instance(), teams.count, teams.threads, teams.lanes);
  detail::launchBy<detail::ParallelFor>(queue, label, policy, functor);
}

/// The sum of what functor(i, sum) adds, into a view, for which nobody waits here; label as above.
template <class Exec, class Functor, class Result>
void launchReduction(const char* label, Queue<Exec>& queue, std::ptrdiff_t count, const Functor& functor,
                     const Result& result) {
  static_assert(Kokkos::is_view<Result>::value, "a number on the host: reduceAndWait()");
  detail::launchBy<detail::ParallelReduce>(queue, label, detail::rangeOf(queue, 0, count), functor, result);
}

}  // namespace capstan::kernels
