#include "tpetra_ext/kernels/base/task_queue.hpp"

#include <algorithm>

namespace capstan::kernels::detail {

namespace {

/// Rounds that a thread looks for work without giving its core away, and those after which it sleeps: some 2 and 20 us
/// where it has a core to itself.
constexpr int busyRounds = 64, rounds = 128;

/// The share of this thread: 0 of the one that launches kernels.
thread_local int place = 0;
thread_local bool insideKernel = false;

void pause(int round) {
  if (round < busyRounds) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  } else {
    std::this_thread::yield();
  }
}

/// A stretch of work, told when it ends.
class Told {
 public:
  Told(TaskQueue::Listener listener, const char* label) : listener_(listener), label_(label) {
    if (listener_ != nullptr) begin_ = TaskQueue::Clock::now();
  }
  ~Told() {
    if (listener_ != nullptr) listener_(label_, place, begin_, TaskQueue::Clock::now());
  }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

 private:
  TaskQueue::Listener listener_;
  const char* label_;
  TaskQueue::Clock::time_point begin_;
};

}  // namespace

std::atomic<bool> tasksRun{false}, tilesShared{false};

TaskQueue& TaskQueue::instance() {
  static TaskQueue queue;
  return queue;
}

TaskQueue::TaskQueue() = default;

TaskQueue::~TaskQueue() { endThreads(); }

void TaskQueue::setThreads(int threads, void (*attend)()) {
  attend_ = attend;
  wait();
  owner_ = std::this_thread::get_id();
  if (threads == this->threads()) return;
  endThreads();
  if (entries_ == nullptr) entries_ = std::make_unique<Entry[]>(length);
  shares_ = std::vector<Share>(static_cast<std::size_t>(threads));
  try {
    for (int thread = 1; thread < threads; ++thread) workers_.emplace_back([this, thread] { work(thread); });
  } catch (...) {
    endThreads();
    throw;
  }
}

void TaskQueue::endThreads() {
  wait();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_.store(true);
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  ends_.store(false);
}

TaskQueue::Entry& TaskQueue::next() {
  const std::uint64_t number = added_.load(std::memory_order_relaxed);
  for (int round = 0; number - done_.load(std::memory_order_acquire) >= length; ++round) {
    if (!workOnce(place)) pause(round);
  }
  return entries_[number % length];
}

void TaskQueue::added() {
  added_.fetch_add(1);
  wakeWorkers();
}

void TaskQueue::wakeWorkers() {
  if (asleep_.load() == 0) return;
  // A thread that is about to sleep has looked at the queue under the lock.
  { const std::lock_guard<std::mutex> lock(mutex_); }
  wake_.notify_all();
}

void TaskQueue::wait() {
  if (insideKernel) return;
  const std::uint64_t all = added_.load(std::memory_order_relaxed);
  for (int round = 0; done_.load(std::memory_order_acquire) < all;) {
    if (workOnce(place)) {
      round = 0;
      continue;
    }
    attend_();
    pause(round++);
  }
}

/// The kernel that is first in the queue, unless somebody runs it already.
bool TaskQueue::runKernel() {
  if (done_.load(std::memory_order_relaxed) == added_.load(std::memory_order_relaxed)) return false;
  if (taken_.load(std::memory_order_relaxed) || taken_.exchange(true, std::memory_order_acquire)) return false;
  const std::uint64_t number = done_.load(std::memory_order_relaxed);
  const bool any = number != added_.load(std::memory_order_acquire);
  if (any) {
    Entry& entry = entries_[number % length];
    label_ = entry.label;
    {
      const Told told(listener_.load(std::memory_order_acquire), label_);
      insideKernel = true;
      entry.run(entry.kernel);
      insideKernel = false;
    }
    done_.store(number + 1, std::memory_order_release);
  }
  taken_.store(false, std::memory_order_release);
  if (done_.load() != added_.load()) wakeWorkers();  // who runs one need not run the next
  return any;
}

/// Opens the tiles, computes with those who come, and lets nobody in when all are taken.
void TaskQueue::runTiles(const Tiles& tiles) {
  const bool mine = !insideKernel;  // launched where it runs: nothing else is in the queue
  for (int round = 0; mine && taken_.exchange(true, std::memory_order_acquire); ++round) pause(round);
  tiles_ = tiles;
  tiles_.label = mine ? "kernel" : label_;
  const auto threads = static_cast<int>(shares_.size());
  for (int thread = 0; thread < threads; ++thread) {
    Share& share = shares_[static_cast<std::size_t>(thread)];
    share.next.store(tiles.count * thread / threads, std::memory_order_relaxed);
    share.last = tiles.count * (thread + 1) / threads;
  }
  open_.store(true);
  wakeWorkers();
  computeTiles(place);
  open_.store(false);
  for (int round = 0; joined_.load() != 0; ++round) {
    if (ownThread()) attend_();
    pause(round);
  }
  if (mine) taken_.store(false, std::memory_order_release);
}

/// Whoever joins says so before looking whether the tiles are open; whoever closes them looks for those who joined
/// afterwards. So nobody is in a list of tiles that is gone.
bool TaskQueue::joinTiles(int thread) {
  if (!open_.load(std::memory_order_relaxed) || insideKernel) return false;
  joined_.fetch_add(1);
  const bool open = open_.load();
  if (open) {
    const Told told(listener_.load(std::memory_order_acquire), tiles_.label);
    computeTiles(thread);
  }
  joined_.fetch_sub(1);
  return open;
}

/// Tiles of its own share first: the same rows in every kernel, which are in its cache.
void TaskQueue::computeTiles(int thread) {
  const std::size_t threads = shares_.size();
  std::uint64_t computed = 0;
  const bool before = std::exchange(insideKernel, true);
  for (std::size_t k = 0; k < threads; ++k) {
    Share& share = shares_[(static_cast<std::size_t>(thread) + k) % threads];
    while (true) {
      const int tile = share.next.fetch_add(1, std::memory_order_relaxed);
      if (tile >= share.last) break;
      tiles_.run(tiles_.body, tile);
      ++computed;
    }
  }
  insideKernel = before;
  if (thread != 0) tilesOfWorkers_.fetch_add(computed, std::memory_order_relaxed);
}

void TaskQueue::work(int thread) {
  place = thread;
  const auto idle = [this] {
    return !ends_.load() && !open_.load() && (done_.load() == added_.load() || taken_.load());
  };
  int round = 0;
  while (!ends_.load(std::memory_order_relaxed)) {
    if (workOnce(thread)) {
      round = 0;
    } else if (++round < rounds) {
      pause(round);
    } else {
      std::unique_lock<std::mutex> lock(mutex_);
      asleep_.fetch_add(1);
      while (idle()) wake_.wait(lock);
      asleep_.fetch_sub(1);
      round = 0;
    }
  }
}

}  // namespace capstan::kernels::detail
