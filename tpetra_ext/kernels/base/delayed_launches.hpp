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
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "tpetra_ext/kernels/base/instruction_set.hpp"

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
    listen();
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

  /// Takes Kokkos' hooks, where it does not have them, and passes on to whoever had them.
  void listen() {
    if (entries_.empty() && !hooked_) {
      hooked_ = true;
      Kokkos::push_finalize_hook([] { instance().run(); });
    }
    namespace tools = Kokkos::Tools::Experimental;
    const tools::EventSet now = tools::get_callbacks();
    using That = DelayedLaunches;
    take(now.begin_parallel_for, &That::beforeKernel<&That::beforeFor_>, beforeFor_,
         tools::set_begin_parallel_for_callback);
    take(now.begin_parallel_reduce, &That::beforeKernel<&That::beforeReduce_>, beforeReduce_,
         tools::set_begin_parallel_reduce_callback);
    take(now.begin_parallel_scan, &That::beforeKernel<&That::beforeScan_>, beforeScan_,
         tools::set_begin_parallel_scan_callback);
    take(now.begin_deep_copy, &DelayedLaunches::beforeCopy, beforeCopy_, tools::set_begin_deep_copy_callback);
    take(now.deallocate_data, &DelayedLaunches::beforeFree, beforeFree_, tools::set_deallocate_data_callback);
    take(now.push_region, &DelayedLaunches::beforeRegion, beforeRegion_, tools::set_push_region_callback);
  }

  template <class Hook, class Set>
  static void take(Hook now, Hook own, Hook& before, const Set& set) {
    if (now == own) return;
    before = now;
    set(own);
  }

  template <Kokkos::Tools::beginFunction DelayedLaunches::*Before>
  static void beforeKernel(const char* name, const std::uint32_t device, std::uint64_t* number) {
    instance().run();
    if (instance().*Before != nullptr) (instance().*Before)(name, device, number);
  }
  static void beforeCopy(Kokkos::Tools::SpaceHandle to, const char* toName, const void* toData,
                         Kokkos::Tools::SpaceHandle from, const char* fromName, const void* fromData,
                         std::uint64_t bytes) {
    instance().run();
    if (instance().beforeCopy_ != nullptr) {
      instance().beforeCopy_(to, toName, toData, from, fromName, fromData, bytes);
    }
  }
  static void beforeFree(const Kokkos::Tools::SpaceHandle space, const char* name, const void* data,
                         const std::uint64_t bytes) {
    instance().run();
    if (instance().beforeFree_ != nullptr) instance().beforeFree_(space, name, data, bytes);
  }
  /// Libraries that call BLAS announce that by a region. So do timers, which launch nothing.
  static void beforeRegion(const char* name) {
    const std::string_view text(name);
    if (text.substr(0, 6) == "Kokkos" || text.substr(0, 6) == "Tpetra") instance().run();
    if (instance().beforeRegion_ != nullptr) instance().beforeRegion_(name);
  }

  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<Block>> blocks_;  ///< of the kernels, one behind the other
  std::size_t block_ = 0, used_ = 0;
  bool running_ = false, hooked_ = false;
  Kokkos::Tools::beginFunction beforeFor_ = nullptr, beforeReduce_ = nullptr, beforeScan_ = nullptr;
  Kokkos::Tools::beginDeepCopyFunction beforeCopy_ = nullptr;
  Kokkos::Tools::deallocateDataFunction beforeFree_ = nullptr;
  Kokkos::Tools::pushFunction beforeRegion_ = nullptr;
};

/// Runs all kernels that have been delayed, where launches are.
inline void runDelayed() {
  if (launchesDelayed()) DelayedLaunches::instance().run();
}

}  // namespace capstan::kernels::detail
