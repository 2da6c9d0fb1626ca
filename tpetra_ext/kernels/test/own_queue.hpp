#pragma once
/// \file
/// A queue that is not the default one, so that a kernel, copy or wait that went elsewhere would be out of order.

#include <Kokkos_Core.hpp>
#include <vector>

#include "tpetra_ext/kernels/base/queue.hpp"

namespace capstan::kernels::test {

namespace instances {
using namespace Kokkos::Experimental;
/// For a Kokkos that has none: there instances of CPUs are all one. Kokkos' own is preferred.
template <class Exec>
std::vector<Exec> partition_space(const Exec& whole, ...) {
  return {whole};
}
template <class Exec>
Exec own() {
  return partition_space(Exec(), 1)[0];
}
}  // namespace instances

/// One for all tests, whose memory is given back before Kokkos ends.
template <class Exec>
Queue<Exec>& ownQueue() {
  static auto& queue = []() -> Queue<Exec>& {
    auto* const made = new Queue<Exec>(instances::own<Exec>());
    Kokkos::push_finalize_hook([made] { made->release(); });
    return *made;
  }();
  return queue;
}

}  // namespace capstan::kernels::test
