#pragma once
/// \file
/// The one place where kernels are launched: what launches may be asked to do otherwise, they all do.

#include <Kokkos_Core.hpp>

#include "tpetra_ext/kernels/base/delayed_launches.hpp"
#include "tpetra_ext/kernels/base/execution.hpp"

namespace capstan::kernels {

/// Whether a kernel may still be running, or waiting, when its launch has returned: then the host reads and writes what
/// it uses after a fence only. Always on devices; on CPUs where CAPSTAN_KERNELS=delayed asks for it. Local.
template <class Exec>
bool runsLater() {
  if constexpr (runsOnHost<Exec>) return launchesDelayed();
  return true;
}

/// Kokkos::parallel_for. \param label outlives the kernel: a literal
template <class Policy, class Functor>
void launch(const char* label, const Policy& policy, const Functor& functor) {
  if constexpr (runsOnHost<typename Policy::execution_space>) {
    if (launchesDelayed()) {
      detail::DelayedLaunches::instance().add([=] { Kokkos::parallel_for(label, policy, functor); });
      return;
    }
  }
  Kokkos::parallel_for(label, policy, functor);
}

/// Kokkos::parallel_reduce into a view, for which nobody waits here; label as above.
template <class Policy, class Functor, class Result>
void launchReduction(const char* label, const Policy& policy, const Functor& functor, const Result& result) {
  static_assert(Kokkos::is_view<Result>::value, "a number on the host: reduceAndWait()");
  if constexpr (runsOnHost<typename Policy::execution_space>) {
    if (launchesDelayed()) {
      detail::DelayedLaunches::instance().add([=] { Kokkos::parallel_reduce(label, policy, functor, result); });
      return;
    }
  }
  Kokkos::parallel_reduce(label, policy, functor, result);
}

}  // namespace capstan::kernels
