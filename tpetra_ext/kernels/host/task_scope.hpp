#pragma once
/// \file
/// Kernels of CPUs as tasks of several threads (base/task_queue.hpp), for a while.

#include "tpetra_ext/kernels/base/delayed_launches.hpp"
#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/host/interlude.hpp"

namespace capstan::kernels {

/// How several threads take part in kernels.
struct Threads {
  int count = 1;       ///< the launching one included
  bool tasks = false;  ///< kernels are tasks, and launches return at once; else they return when the kernel is done
};

/// While this lives, the tiles of kernels that are launched by this thread on a CPU, in its vector code, are shared by
/// so many threads. They are done when this ends. Scopes nest, as solvers inside preconditioners do. Threads are kept,
/// asleep, from one scope to the next. Local. \throws std::system_error where the system has no thread to give
template <class Exec>
class TaskScope {
 public:
  /// Whether threads can share kernels in this build and run. \throws std::invalid_argument as instructionSet() does
  static bool possible() {
    if constexpr (!runsOnHost<Exec>) return false;
    return !genericPathForced();
  }

  explicit TaskScope(const Threads& threads) : before_(now()) { take(possible() ? threads : Threads{}); }
  ~TaskScope() {
    try {
      take(before_);
    } catch (...) {  // no thread to be had any more: kernels of the outer scope run where they are launched
      detail::tasksRun.store(false, std::memory_order_relaxed);
      detail::tilesShared.store(false, std::memory_order_relaxed);
    }
  }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

 private:
  static Threads now() {
    if (!detail::tilesShared.load(std::memory_order_relaxed)) return {};
    return {detail::TaskQueue::instance().threads(), detail::tasksRun.load(std::memory_order_relaxed)};
  }

  static void take(const Threads& threads) {
    const Threads before = now();
    if (threads.count == before.count && threads.tasks == before.tasks) return;
    detail::runLaunched();
    const bool several = threads.count > 1;
    if (several) detail::TaskQueue::instance().setThreads(threads.count, detail::callInterlude);
    if (several && threads.tasks) detail::KokkosHooks::listen(detail::runLaunched);
    detail::tasksRun.store(several && threads.tasks, std::memory_order_relaxed);
    detail::tilesShared.store(several, std::memory_order_relaxed);
  }

  Threads before_;
};

}  // namespace capstan::kernels
