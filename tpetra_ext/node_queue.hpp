#pragma once

/// \file
/// The queue that Capstan's kernels share with Tpetra's.

#include <Kokkos_Core.hpp>

#include "tpetra_ext/kernels/base/queue.hpp"

namespace capstan {

namespace detail {

template <class Exec>
kernels::Queue<Exec>& queueOfDefaultInstance() {
  // Not destroyed: objects that carry it may live longer than Kokkos, of which its memory is.
  static auto& queue = []() -> kernels::Queue<Exec>& {
    auto& made = *new kernels::Queue<Exec>(Exec{});
    Kokkos::push_finalize_hook([&made] { made.release(); });
    return made;
  }();
  return queue;
}

}  // namespace detail

/// The queue of all that works on Tpetra's vectors and matrices: the default instance of the node's execution space.
///
/// Tpetra's own kernels run there, and nowhere else: products, imports with what packs and unpacks them, updates and
/// fills of multivectors take no instance up to Trilinos 17, where some functions within Tpetra do, but no caller of
/// CrsMatrix::apply(), MultiVector or Import can give one. The preconditioner's kernels are there as well. Between two
/// of Capstan's kernels there nearly always is one of theirs, on the same vectors. In one queue each comes after the
/// one before it and nobody waits; with an instance of our own, the host would have to wait before and after each
/// product.
///
/// So what is given to this queue comes after what Tpetra has launched, and before what it launches next. Who reads a
/// result on the host waits: reductions and exchanges for this queue alone, Tpetra where it shows a vector to the host.
/// What works on plain views alone (kernels/, topology/exchange/) takes any queue, and is given this one here.
///
/// Not before Kokkos is initialised. Local.
template <class Types>
kernels::Queue<typename Types::ExecutionSpace>& nodeQueue() {
  return detail::queueOfDefaultInstance<typename Types::ExecutionSpace>();
}

}  // namespace capstan
