#include "tpetra_ext/reductions/progress.hpp"

#include <Teuchos_ConfigDefs.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "tpetra_ext/kernels/host/interlude.hpp"
#include "tpetra_ext/reductions/all_reduce.hpp"
#ifdef __linux__
#include <sys/prctl.h>
#endif
#if defined(HAVE_TEUCHOS_MPI) && !defined(CAPSTAN_WITHOUT_MPI)
#define CAPSTAN_HAVE_MPI
#include <mpi.h>
#endif

namespace capstan {
namespace {

using Clock = std::chrono::steady_clock;

/// Inside a kernel the clock decides: kernels shorter than this are never interrupted, and what a look costs (a fifth
/// of a microsecond with Open MPI) stays near one per cent.
constexpr std::chrono::microseconds betweenPolls{20};
/// The thread naps between looks, for where it has no core to itself.
constexpr std::chrono::microseconds betweenLooks{10};

void interruptKernel();

/// Everything progress knows. Never destroyed: reductions may outlive the statics of this library.
class Watch {
 public:
  static Watch& instance() {
    static Watch* const only = new Watch;
    return *only;
  }

  Watch() { entries_.reserve(64); }  // no allocation during a solve

  ProgressMode mode = ProgressMode::None;  // of the solver's thread
  std::atomic<long> looks{0};
  std::atomic<bool> threadRunning{false};

  void add(detail::Watched& reduction, ProgressMode how) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    owner_ = std::this_thread::get_id();
    entries_.push_back({&reduction, how});
    update();
    if (how == ProgressMode::Thread) wake_.notify_one();
  }

  /// The mode it was watched under; None when it was not.
  ProgressMode remove(detail::Watched& reduction) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.reduction == &reduction; });
    if (found == entries_.end()) return ProgressMode::None;
    const ProgressMode how = found->mode;
    entries_.erase(found);
    update();
    return how;
  }

  void poll() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::this_thread::get_id() == owner_) look(ProgressMode::Poll);
  }

  void pollInKernel() {
    if (Clock::now() - lastLook_.load(std::memory_order_relaxed) >= betweenPolls) poll();
  }

  void hold(int change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    holders_ += change;
    if (holders_ == 0) wake_.notify_one();
  }

  /// Throws std::system_error where no thread can be started.
  void startThread() {
    if (threadRunning) return;
    thread_ = std::thread([this] { drive(); });
    threadRunning = true;
  }

  /// Joins the thread; nothing is looked at from now on.
  void close() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
      entries_.clear();
      update();
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
    threadRunning = false;
  }

  /// Whether this thread is looking right now, which at the end of a process means that MPI aborts inside of it.
  bool lookingHere() const { return looker_.load() == std::this_thread::get_id(); }

 private:
  struct Entry {
    detail::Watched* reduction;
    ProgressMode mode;
  };

  auto oldest(ProgressMode how) {
    return std::find_if(entries_.begin(), entries_.end(), [how](const Entry& entry) { return entry.mode == how; });
  }

  void update() {
    const bool any = oldest(ProgressMode::Poll) != entries_.end();
    detail::somethingToPoll.store(any, std::memory_order_relaxed);
    kernels::interlude.store(any ? interruptKernel : nullptr, std::memory_order_relaxed);
  }

  /// One MPI call, on the oldest: MPI libraries advance everything in flight whichever request they are asked for.
  void look(ProgressMode how) {
    const auto entry = oldest(how);
    if (entry == entries_.end()) return;
    looker_ = std::this_thread::get_id();
    const bool complete = entry->reduction->look();
    looker_ = std::thread::id();
    looks.fetch_add(1, std::memory_order_relaxed);
    lastLook_.store(Clock::now(), std::memory_order_relaxed);
    if (!complete) return;
    entries_.erase(entry);
    update();
  }

  /// The progress thread.
  void drive() {
#ifdef __linux__
    prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // nanoseconds; else a nap takes 50 us longer
#endif
    std::unique_lock<std::mutex> lock(mutex_);
    while (!closed_) {
      if (holders_ > 0 || oldest(ProgressMode::Thread) == entries_.end()) {
        wake_.wait(lock);
        continue;
      }
      look(ProgressMode::Thread);
      wake_.wait_for(lock, betweenLooks);
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Entry> entries_;  // pending reductions, in the order they were started
  bool closed_ = false;
  int holders_ = 0;  // waits of the solver's thread
  std::thread::id owner_;
  std::atomic<std::thread::id> looker_{std::thread::id()};
  std::atomic<Clock::time_point> lastLook_{Clock::time_point()};
  std::thread thread_;
};

void interruptKernel() { Watch::instance().pollInKernel(); }

#ifdef CAPSTAN_HAVE_MPI

bool mpiRuns() {
  int up = 0, down = 0;
  MPI_Initialized(&up);
  MPI_Finalized(&down);
  return up != 0 && down == 0;
}

const char* nameOfLevel(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    default:
      return "MPI_THREAD_MULTIPLE";
  }
}

/// Closes the watch before MPI goes away: MPI_Finalize deletes the attributes of MPI_COMM_SELF first of all. Unloading
/// the library does the same, and takes the attribute along, whose code goes away.
class Closing {
 public:
  static void arrange() { static Closing only; }

 private:
  Closing() {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &onDelete, &key_, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key_, nullptr);
  }
  ~Closing() {
    if (Watch::instance().lookingHere()) return;
    if (mpiRuns()) {
      MPI_Comm_delete_attr(MPI_COMM_SELF, key_);
      MPI_Comm_free_keyval(&key_);
    }
  }
  static int onDelete(MPI_Comm, int, void*, void*) {
    Watch::instance().close();
    return MPI_SUCCESS;
  }

  int key_ = MPI_KEYVAL_INVALID;
};

/// The mode that is possible, and why it is another one.
ProgressMode possible(ProgressMode wanted, std::string& reason) {
  if (wanted == ProgressMode::None) return wanted;
  if (!mpiRuns()) {
    reason = "MPI is not running: reductions are local";
    return ProgressMode::None;
  }
  if (nonblockingMode() == NonblockingMode::Deferred) {
    reason = "nonblocking reductions are deferred to their wait";
    return ProgressMode::None;
  }
  Closing::arrange();
  if (wanted == ProgressMode::Poll) return wanted;
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) {
    reason = std::string("a progress thread needs MPI_THREAD_MULTIPLE, the application has initialised MPI with ") +
             nameOfLevel(level);
    return ProgressMode::Poll;
  }
  try {
    Watch::instance().startThread();
  } catch (const std::system_error& error) {
    reason = std::string("the system starts no thread: ") + error.what();
    return ProgressMode::Poll;
  }
  return wanted;
}

#else

ProgressMode possible(ProgressMode wanted, std::string& reason) {
  if (wanted != ProgressMode::None) reason = "Capstan was built without MPI: reductions are local";
  return ProgressMode::None;
}

#endif

}  // namespace

std::string toString(ProgressMode mode) {
  switch (mode) {
    case ProgressMode::None:
      return "none";
    case ProgressMode::Poll:
      return "poll";
    case ProgressMode::Thread:
      return "thread";
  }
  throw std::logic_error("ProgressMode out of range");
}

long progressPolls() { return Watch::instance().looks; }
bool progressThreadRunning() { return Watch::instance().threadRunning; }

ProgressScope::ProgressScope(ProgressMode wanted) : before_(Watch::instance().mode) {
  mode_ = possible(wanted, reason_);
  Watch::instance().mode = mode_;
}

ProgressScope::~ProgressScope() { Watch::instance().mode = before_; }

namespace detail {

std::atomic<bool> somethingToPoll{false};

void pollNow() noexcept { Watch::instance().poll(); }

void watch(Watched& reduction) { watchAgain(reduction, Watch::instance().mode); }

ProgressMode unwatch(Watched& reduction) { return Watch::instance().remove(reduction); }

void watchAgain(Watched& reduction, ProgressMode mode) {
  if (mode != ProgressMode::None) Watch::instance().add(reduction, mode);
}

BlockedInMpi::BlockedInMpi() : held_(progressThreadRunning()) {
  if (held_) Watch::instance().hold(1);
}
BlockedInMpi::~BlockedInMpi() {
  if (held_) Watch::instance().hold(-1);
}

}  // namespace detail

}  // namespace capstan
