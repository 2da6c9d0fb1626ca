#pragma once

/// \file
/// Who lets MPI make progress on nonblocking reductions while the solver computes.
///
/// Open MPI 4.1, among others, advances a nonblocking collective only inside MPI calls. A solver that makes none
/// between start and wait overlaps nothing: the whole all-reduce takes place in the wait.

#include <atomic>
#include <string>

#include "tpetra_ext/reductions/counters.hpp"

namespace capstan {

/// None: nobody. Poll: the solver's own thread looks at pending reductions before and after local kernels, inside long
/// ones, and around applications of operators and preconditioners. Thread: a thread of the process does.
enum class ProgressMode { None, Poll, Thread };

/// "none", "poll", "thread".
std::string toString(ProgressMode mode);

namespace detail {

/// A started reduction, as progress sees it.
class Watched {
 public:
  /// One MPI call that lets it advance and leaves its request alive. True when it is complete, with or without error.
  virtual bool look() noexcept = 0;

 protected:
  ~Watched() = default;
};

}  // namespace detail

/// Looks at pending reductions, once per call of poll(), if any was started under ProgressMode::Poll. One branch where
/// there is none. Looking at the oldest lets MPI advance all of them. Local; never throws; not for use after
/// MPI_Finalize, where it does nothing. Threads other than the one that started the reduction are ignored, since MPI
/// may have been initialised for one thread.
void pollReductions() noexcept;

/// MPI calls made so far to look at pending reductions, by whichever thread. Local.
long progressPolls();

/// Started reductions that are looked at and have not been seen complete. Local.
long progressPending();

/// Whether the progress thread of this process exists. It is started when first asked for, sleeps while no reduction
/// is in flight, and is joined before MPI is finalized (or when this library is unloaded). Local.
bool progressThreadRunning();

/// Chooses how reductions started during its life make progress. Scopes nest, as solvers inside preconditioners do.
///
/// A mode that is impossible here gives way to another: Thread to Poll where MPI was initialised with less than
/// MPI_THREAD_MULTIPLE, is known to lose messages of several threads, or no thread can be started; all to None where
/// MPI is not running or nonblocking reductions are deferred to their wait. Local; the mode need not be the same on all
/// ranks.
class ProgressScope {
 public:
  explicit ProgressScope(ProgressMode wanted);
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

  /// The mode really in use.
  ProgressMode mode() const { return mode_; }
  /// Why it is not the one asked for; empty when it is.
  const std::string& reason() const { return reason_; }

 private:
  ProgressMode before_;
  ProgressMode mode_ = ProgressMode::None;
  std::string reason_;
};

/// A stretch of local work: adds its seconds to counters().kernelSeconds and looks at pending reductions when it ends.
class LocalWork {
 public:
  LocalWork() : timer_(counters().kernelSeconds) {}

 private:
  struct PollAtEnd {
    ~PollAtEnd() { pollReductions(); }
  };
  PollAtEnd poll_;  // before the timer: destroyed after it
  CounterTimer timer_;
};

namespace detail {

/// True while pollReductions() has something to look at.
extern std::atomic<bool> somethingToPoll;
void pollNow() noexcept;

/// Puts a started reduction under the current mode, until it is complete or taken back.
void watch(Watched& reduction);
/// Takes it back: look() is not running when this returns, and will not be called again. Returns the mode it was
/// watched under, for watchAgain(); None where it was not watched, or is complete.
ProgressMode unwatch(Watched& reduction);
void watchAgain(Watched& reduction, ProgressMode mode);

/// Keeps the progress thread out of MPI while the solver's thread waits there, making progress itself.
class BlockedInMpi {
 public:
  BlockedInMpi();
  ~BlockedInMpi();
  BlockedInMpi(const BlockedInMpi&) = delete;
  BlockedInMpi& operator=(const BlockedInMpi&) = delete;

 private:
  bool held_;
};

}  // namespace detail

inline void pollReductions() noexcept {
  if (detail::somethingToPoll.load(std::memory_order_relaxed)) detail::pollNow();
}

}  // namespace capstan
