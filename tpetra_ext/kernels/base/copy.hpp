#pragma once
/// \file
/// Copies between views by one queue, and views to copy to.
///
/// Kokkos::deep_copy(to, from) waits for all that any queue of the process has been given, before and after it copies:
/// also for the application's own kernels, which have nothing to do with the copy. And a new view is filled with zeros
/// by a kernel of the default instance, unless Kokkos is told not to.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/kernels/base/host_mirror.hpp"

namespace capstan::kernels {

/// to = from, after the work given to `queue`; it is done when this returns. Views of different memories must have
/// their entries in the same order, without gaps. As Kokkos' own copies it is not counted as a fence. Local.
template <class Exec, class To, class From>
void copyAndWait(const Queue<Exec>& queue, const To& to, const From& from) {
  if constexpr (runsOnHost<Exec>) detail::runLaunched();
  Kokkos::deep_copy(queue.instance(), to, from);
  detail::waitFor(queue.instance(), 0);
}

/// A new view whose entries are to be written before they are read. Local.
template <class View, class... Extents>
View unfilled(const char* label, Extents... extents) {
  return View(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(label)),
              static_cast<std::size_t>(extents)...);
}

/// The view itself where the host can use it, else a new one of the same shape on the host, to be written before it is
/// read. Local.
template <class View>
HostMirror<View> mirror(const View& view) {
  // Not by comparing the memory spaces: nvcc then compiles this branch for device views with Kokkos 5, too.
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible) {
    return view;
  } else {
    return HostMirror<View>(Kokkos::view_alloc(Kokkos::WithoutInitializing, view.label()), view.layout());
  }
}

/// A new view of numbers that the host has. Local; waits for the copy.
template <class View, class Exec, class Value>
View copied(const Queue<Exec>& queue, const char* label, const std::vector<Value>& values) {
  const View view = unfilled<View>(label, values.size());
  const auto host = mirror(view);
  std::copy(values.begin(), values.end(), host.data());
  copyAndWait(queue, view, host);
  return view;
}

}  // namespace capstan::kernels
