#include "tpetra_ext/trace.hpp"

#include <atomic>
#include <new>

#include "tpetra_ext/kernels/base/task_queue.hpp"

namespace capstan {
namespace {

std::atomic<Trace*> recording{nullptr};

void addWork(const char* label, int thread, Trace::Clock::time_point begin, Trace::Clock::time_point end) {
  if (Trace* const trace = recording.load(std::memory_order_acquire)) trace->add(label, thread, begin, end);
}

void record(Trace* trace) {
  kernels::detail::finishTasks();  // so that no thread is about to tell the one before
  recording.store(trace, std::memory_order_release);
  kernels::detail::TaskQueue::instance().tell(trace == nullptr ? nullptr : addWork);
}

}  // namespace

Trace::Trace() : outer_(current()) { record(this); }
Trace::~Trace() { record(outer_); }

Trace* Trace::current() { return recording.load(std::memory_order_relaxed); }

void Trace::add(const char* name, int thread, Clock::time_point begin, Clock::time_point end) noexcept {
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    stretches_.push_back({name, thread, begin, end});
  } catch (const std::bad_alloc&) {  // as said
  }
}

void Trace::addReduction(long ticket, Clock::time_point begin, Clock::time_point end) noexcept {
  try {
    const std::lock_guard<std::mutex> lock(mutex_);
    reductions_.push_back({ticket, begin, end});
  } catch (const std::bad_alloc&) {  // as said
  }
}

}  // namespace capstan
