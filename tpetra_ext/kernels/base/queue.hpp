#pragma once
/// \file
/// The queue that kernels are put into: one instance of an execution space, which whoever launches them carries.

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstddef>

namespace capstan::kernels {

namespace detail {

inline std::atomic<long> allFences{0};

}  // namespace detail

/// An instance of an execution space, and what is known of the kernels that it was given.
///
/// What is put into one queue, kernels and copies, runs in the order in which it was put there; the host waits for it
/// by fence() alone (fence.hpp). Between two queues, and between a queue and what others give to other instances, there
/// is no order, but for a fence. Every launch, copy and wait of the kernels takes a queue, and a queue is made of an
/// instance: none can be left out, so that nothing of ours runs on a default that nobody named.
///
/// It outlives the objects that carry it, and is not made before Kokkos is initialised. For one thread at a time.
template <class Exec>
class Queue {
 public:
  explicit Queue(const Exec& instance) : instance_(instance) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  const Exec& instance() const { return instance_; }

  /// Kernels that it was given so far; loops on the host's own path are none. Local.
  long launches() const { return launches_; }
  /// Times that the host has waited for it. Where the number has grown, all that it was given before is done. Local.
  long fences() const { return fences_; }

  /// For launch() and fence(), which do what is noted here. Local.
  void noteLaunch() { ++launches_; }
  void noteFence() {
    ++fences_;
    ++detail::allFences;
  }

  /// Memory of the instance that the generic kernels keep between calls (generic/workspace.hpp). They run in order, so
  /// they share it.
  using Memory = Kokkos::View<std::byte*, typename Exec::memory_space>;
  Memory& memory() { return memory_; }
  /// Teams that are done, of the kernel that is counting them; 0 between kernels (generic/workspace.hpp).
  using Counter = Kokkos::View<unsigned*, typename Exec::memory_space>;
  Counter& finishedTeams() { return finishedTeams_; }

  /// Gives the memory back: before Kokkos ends, when nothing is running. Local.
  void release() {
    memory_ = {};
    finishedTeams_ = {};
  }

 private:
  Exec instance_;
  Memory memory_;
  Counter finishedTeams_;
  long launches_ = 0;
  long fences_ = 0;
};

/// Times that this process has waited for kernels so far, in this library. Local.
inline long fences() { return detail::allFences; }

}  // namespace capstan::kernels
