#pragma once
/// \file
/// The type of a view's copy on the host, which Kokkos 5 (Trilinos 17) names anew.

#include <Kokkos_Core.hpp>
#include <utility>

namespace capstan::kernels {

/// What Kokkos::create_mirror_view() makes of a view: its HostMirror before Kokkos 5, its host_mirror_type since then.
template <class View>
using HostMirror = decltype(Kokkos::create_mirror_view(std::declval<const View&>()));

}  // namespace capstan::kernels
