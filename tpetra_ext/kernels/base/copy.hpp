#pragma once
/// \file
/// Copies between views that wait for one queue of a device.
///
/// Kokkos::deep_copy(to, from) waits for all that any queue of the process has been given, before and after it copies:
/// also for the application's own kernels, which have nothing to do with the copy.

#include <Kokkos_Core.hpp>

#include "tpetra_ext/kernels/base/fence.hpp"

namespace capstan::kernels {

/// to = from, after the work given to `exec`; it is done when this returns. Views of different memories must have their
/// entries in the same order, without gaps. As Kokkos' own copies it is not counted as a fence. Local.
template <class Exec, class To, class From>
void copyAndWait(const Exec& exec, const To& to, const From& from) {
  if constexpr (runsOnHost<Exec>) detail::runDelayed();
  Kokkos::deep_copy(exec, to, from);
  detail::waitFor(exec, 0);
}

}  // namespace capstan::kernels
