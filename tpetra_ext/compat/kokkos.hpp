#pragma once

/// \file
/// Where Kokkos releases differ (3.4, in Trilinos 13.2, to 4.x).

#include <string>

namespace capstan::compat {

namespace detail {

template <class ExecutionSpace>
auto fence(const ExecutionSpace& space, int) -> decltype(space.fence(std::string())) {
  space.fence("capstan");
}
template <class ExecutionSpace>
void fence(const ExecutionSpace& space, long) {
  space.fence();
}

}  // namespace detail

/// Waits until the work given to `space` is done. Local. Where fences have names, Kokkos' own are too long for a string
/// to hold without an allocation; this one is short.
template <class ExecutionSpace>
void fence(const ExecutionSpace& space) {
  detail::fence(space, 0);
}

}  // namespace capstan::compat
