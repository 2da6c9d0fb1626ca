#pragma once

/// \file
/// The reductions that are looked at, and the thread that does so under ProgressMode::Thread. Used by progress.cpp
/// only.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "tpetra_ext/reductions/progress.hpp"

namespace capstan::detail {

/// Everything progress knows of this process. One object, never destroyed: reductions may outlive the statics of this
/// library. The list is guarded by a mutex, so that no request is looked at by two threads at once, nor after the
/// solver's thread has taken it back.
class Watch {
 public:
  static Watch& instance();

  ProgressMode mode = ProgressMode::None;  ///< of reductions to come; for the solver's thread

  void add(Watched& reduction, ProgressMode how);
  /// The mode it was watched under; None when it was not, or is complete.
  ProgressMode remove(Watched& reduction);
  long pending();

  /// One look, if this is the thread that started the latest reduction.
  void poll();
  /// The same between two chunks of rows, at most once in a while.
  void pollInKernel();

  /// Throws std::system_error where no thread can be started.
  void startThread();
  bool threadRunning() const { return threadRunning_; }
  /// Stops the thread from looking until resume(). Calls nest.
  void hold();
  void resume();

  /// Joins the thread; nothing is looked at from now on.
  void close();

  long looks() const { return looks_; }
  /// Whether this thread is looking right now: at the end of a process it means that MPI has aborted inside of it.
  bool lookingHere() const { return looker_.load() == std::this_thread::get_id(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    Watched* reduction;
    ProgressMode mode;
  };

  Watch() { entries_.reserve(64); }  // no allocation during a solve
  std::vector<Entry>::iterator oldest(ProgressMode how);
  void update();
  void look(ProgressMode how);
  void drive();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Entry> entries_;  // pending reductions, in the order they were started
  bool closed_ = false;
  int holders_ = 0;
  std::thread::id owner_;  // of the latest reduction
  std::atomic<std::thread::id> looker_{std::thread::id()};
  std::atomic<Clock::time_point> lastLook_{Clock::time_point()};
  std::atomic<long> looks_{0};
  std::atomic<unsigned> chunks_{0};  // of kernels, with something in flight
  std::atomic<bool> threadRunning_{false};
  std::thread thread_;
};

}  // namespace capstan::detail
