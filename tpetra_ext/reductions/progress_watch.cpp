#include "tpetra_ext/reductions/progress_watch.hpp"

#include <algorithm>

#include "tpetra_ext/kernels/host/interlude.hpp"
#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace capstan::detail {

namespace {

/// Inside a kernel the clock decides: kernels shorter than this are never interrupted. A look costs 0.35 us with Open
/// MPI, and 2 us in the midst of a kernel that has pushed MPI's data out of the cache: 4 per cent of the kernel, while
/// a reduction is in flight. The clock is read at every fourth chunk, some microseconds apart.
constexpr std::chrono::microseconds betweenPolls{50};
constexpr unsigned chunksPerClock = 4;
/// The thread naps between looks, for where it has no core to itself.
constexpr std::chrono::microseconds betweenLooks{10};

void interruptKernel(kernels::ChunksOf) { Watch::instance().pollInKernel(); }

}  // namespace

std::atomic<bool> somethingToPoll{false};

Watch& Watch::instance() {
  static Watch* const only = new Watch;
  return *only;
}

std::vector<Watch::Entry>::iterator Watch::oldest(ProgressMode how) {
  return std::find_if(entries_.begin(), entries_.end(), [how](const Entry& entry) { return entry.mode == how; });
}

void Watch::update() {
  const bool any = oldest(ProgressMode::Poll) != entries_.end();
  somethingToPoll.store(any, std::memory_order_relaxed);
  kernels::interlude.store(any ? interruptKernel : nullptr, std::memory_order_relaxed);
}

void Watch::add(Watched& reduction, ProgressMode how) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  owner_ = std::this_thread::get_id();
  entries_.push_back({&reduction, how});
  update();
  if (how == ProgressMode::Thread) wake_.notify_one();
}

ProgressMode Watch::remove(Watched& reduction) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.reduction == &reduction; });
  if (found == entries_.end()) return ProgressMode::None;
  const ProgressMode how = found->mode;
  entries_.erase(found);
  update();
  return how;
}

long Watch::pending() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<long>(entries_.size());
}

/// One MPI call, on the oldest: MPI libraries advance everything in flight whichever request they are asked for.
void Watch::look(ProgressMode how) {
  const auto entry = oldest(how);
  if (entry == entries_.end()) return;
  looker_ = std::this_thread::get_id();
  const bool complete = entry->reduction->look();
  looker_ = std::thread::id();
  looks_.fetch_add(1, std::memory_order_relaxed);
  lastLook_.store(Clock::now(), std::memory_order_relaxed);
  if (!complete) return;
  entries_.erase(entry);
  update();
}

void Watch::poll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::this_thread::get_id() == owner_) look(ProgressMode::Poll);
}

void Watch::pollInKernel() {
  const unsigned chunk = chunks_.load(std::memory_order_relaxed) + 1;
  chunks_.store(chunk, std::memory_order_relaxed);  // no matter if one is lost
  if (chunk % chunksPerClock != 0) return;
  if (Clock::now() - lastLook_.load(std::memory_order_relaxed) >= betweenPolls) poll();
}

void Watch::startThread() {
  if (threadRunning_) return;
  thread_ = std::thread([this] { drive(); });
  threadRunning_ = true;
}

void Watch::drive() {
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

void Watch::hold() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++holders_;
}

void Watch::resume() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (--holders_ == 0) wake_.notify_one();
}

void Watch::close() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    entries_.clear();
    update();
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  threadRunning_ = false;
}

}  // namespace capstan::detail
