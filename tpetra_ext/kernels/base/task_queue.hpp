#pragma once
/// \file
/// Kernels as tasks on the cores of a process: whoever launches one goes on, and threads compute it meanwhile.
///
/// The role of QUARK in pipelined CA-GMRES ([pipelined-and-s-step]): inner products, products and orthogonalisation run
/// beside reductions and small dense work, and nobody orders them by hand. The order is that of the queue of a device:
/// kernels run one behind the other, in the order in which they were launched. So what is right for a device is right
/// here. Kernels consist of tiles of rows, which the threads share. Tiles depend on the number of rows alone, and sums
/// over them are added in their order: results have the same bits for any number of threads.
///
/// The thread that launches kernels computes, too, where it waits for them. It alone calls MPI, so it lets reductions
/// make progress between two tiles (interlude.hpp).

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace capstan::kernels {

namespace detail {

/// Whether kernels are tasks now, and whether threads share their tiles, as they do those of tasks.
extern std::atomic<bool> tasksRun, tilesShared;

/// The queue, and the threads that work at it. One for a process, used by the one thread that launches kernels.
class TaskQueue {
 public:
  static TaskQueue& instance();

  TaskQueue();
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  /// How many threads there are, the calling one included, which is the one that launches kernels from now on. Waits
  /// for those that are there. Local. \throws std::system_error where no thread can be made: there is one then
  /// \param attend what the calling thread does between looks where it waits; it must return quickly and not throw
  void setThreads(int threads, void (*attend)());
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Puts kernel() behind what is there. Waits where the queue is full. Allocates nothing. Local.
  template <class Kernel>
  void add(const char* label, const Kernel& kernel) {
    static_assert(sizeof(Kernel) <= kernelSize && alignof(Kernel) <= alignof(std::max_align_t));
    Entry& entry = next();
    new (entry.kernel) Kernel(kernel);
    entry.label = label;
    entry.run = [](void* that) {
      (*static_cast<Kernel*>(that))();
      static_cast<Kernel*>(that)->~Kernel();
    };
    added();
  }

  /// Until all that was added is done; computes meanwhile. Does nothing within a kernel. Local.
  void wait();

  /// Some tiles of what is being computed, if there are any. For whoever waits for something else. Local.
  bool help() { return joinTiles(0); }

  /// body(tile) for each of `count` tiles, by all threads that are free. For the thread that runs a kernel. Returns
  /// when they are done.
  template <class Body>
  void forEachTile(int count, const Body& body) {
    if (count == 1) return body(0);
    runTiles({&body, [](const void* that, int tile) { (*static_cast<const Body*>(that))(tile); }, count});
  }

  /// Whether this is the thread that launches kernels.
  bool ownThread() const { return std::this_thread::get_id() == owner_; }

  /// Told of each stretch of a kernel, by the thread that has computed it: 0 is the launching one. Null: nobody.
  using Clock = std::chrono::steady_clock;
  using Listener = void (*)(const char* label, int thread, Clock::time_point begin, Clock::time_point end);
  void tell(Listener listener) { listener_.store(listener); }

  /// Kernels that were added and that are done so far, and tiles that other threads than the launching one have
  /// computed. Local.
  std::uint64_t kernels() const { return added_.load(std::memory_order_relaxed); }
  std::uint64_t done() const { return done_.load(std::memory_order_acquire); }
  bool pending() const { return done() != kernels(); }
  std::uint64_t tilesOfWorkers() const { return tilesOfWorkers_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kernelSize = 5632, length = 64;
  struct Entry {
    alignas(std::max_align_t) unsigned char kernel[kernelSize];
    void (*run)(void*);
    const char* label;
  };
  struct Tiles {
    const void* body;
    void (*run)(const void*, int);
    int count;
    const char* label = "kernel";
  };
  /// The next tile of a thread's share; others take from it when they are done with theirs.
  struct alignas(64) Share {
    std::atomic<int> next{0};
    int last = 0;
  };

  void endThreads();
  Entry& next();
  void added();
  bool workOnce(int thread) { return joinTiles(thread) || runKernel(); }
  bool runKernel();
  void runTiles(const Tiles& tiles);
  bool joinTiles(int thread);
  void computeTiles(int thread);
  void work(int thread);
  void wakeWorkers();

  std::unique_ptr<Entry[]> entries_;
  std::vector<std::thread> workers_;
  std::thread::id owner_;
  void (*attend_)() = nullptr;
  std::vector<Share> shares_;  // of the launching thread first
  Tiles tiles_{};
  const char* label_ = "kernel";  ///< of the kernel that runs
  std::atomic<Listener> listener_{nullptr};
  alignas(64) std::atomic<std::uint64_t> added_{0};
  std::atomic<bool> ends_{false};
  alignas(64) std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> taken_{false};             ///< somebody runs a kernel, or looks for one
  alignas(64) std::atomic<bool> open_{false};  ///< tiles_ may be joined
  std::atomic<int> joined_{0};
  std::atomic<std::uint64_t> tilesOfWorkers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<int> asleep_{0};
};

/// Waits for kernels that are tasks, where there are any.
inline void finishTasks() {
  if (tasksRun.load(std::memory_order_relaxed)) TaskQueue::instance().wait();
}

}  // namespace detail

/// For whoever waits for something else than kernels: whether there are tasks to be done. Local.
inline bool tasksPending() {
  return detail::tasksRun.load(std::memory_order_relaxed) && detail::TaskQueue::instance().pending();
}
/// Computes some tiles, where there are any. Local.
inline bool helpTasks() {
  return detail::tasksRun.load(std::memory_order_relaxed) && detail::TaskQueue::instance().help();
}

}  // namespace capstan::kernels
