#pragma once
/// \file
/// CAPSTAN_KERNELS=delayed: a kernel on a CPU runs as late as one on a device may, so that whoever reads its result
/// without a fence, or writes into what it has yet to read, is found out in every run.
///
/// A launch puts the kernel into a queue. The queue is run by a fence; before kernels and copies of others, which
/// Kokkos' hooks announce, since those of one execution space run in order; before memory is freed, for which a device
/// waits, too; and where vectors are handed to code that is not Capstan's (fence.hpp: handOver()). For the one thread
/// that launches kernels.

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "tpetra_ext/kernels/base/instruction_set.hpp"
#include "tpetra_ext/kernels/base/kokkos_hooks.hpp"
#include "tpetra_ext/kernels/base/task_queue.hpp"

namespace capstan::kernels::detail {

/// Kernels that have been launched and not been run. Its memory is kept, so that launches allocate nothing in the end.
class DelayedLaunches {
 public:
  static DelayedLaunches& instance() {
    static DelayedLaunches queue;
    return queue;
  }

  /// Puts kernel() behind what is there. Local.
  template <class Kernel>
  void add(Kernel kernel) {
    static_assert(sizeof(Kernel) <= blockSize && alignof(Kernel) <= alignof(std::max_align_t));
    KokkosHooks::listen([] { instance().run(); });
    void* const at = room(sizeof(Kernel));
    new (at) Kernel(std::move(kernel));
    entries_.push_back({[](void* that) { (*static_cast<Kernel*>(that))(); },
                        [](void* that) { static_cast<Kernel*>(that)->~Kernel(); }, at});
  }

  /// Runs what is there, in order. Does nothing where it is at that already. Local.
  void run() {
    if (running_ || entries_.empty()) return;
    running_ = true;
    for (const Entry& entry : entries_) entry.run(entry.kernel);
    for (const Entry& entry : entries_) entry.destroy(entry.kernel);
    entries_.clear();
    block_ = used_ = 0;
    running_ = false;
  }

 private:
  static constexpr std::size_t blockSize = std::size_t(1) << 15;
  struct Block {
    alignas(std::max_align_t) unsigned char bytes[blockSize];
  };
  struct Entry {
    void (*run)(void*);
    void (*destroy)(void*);
    void* kernel;
  };

  void* room(std::size_t size) {
    size = (size + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);
    if (used_ + size > blockSize) ++block_, used_ = 0;
    if (block_ == blocks_.size()) blocks_.push_back(std::make_unique<Block>());
    void* const at = blocks_[block_]->bytes + used_;
    used_ += size;
    return at;
  }

  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<Block>> blocks_;  ///< of the kernels, one behind the other
  std::size_t block_ = 0, used_ = 0;
  bool running_ = false;
};

/// All kernels that have been launched on a CPU are done when this returns.
inline void runLaunched() {
  if (launchesDelayed()) DelayedLaunches::instance().run();
  finishTasks();
}

}  // namespace capstan::kernels::detail
