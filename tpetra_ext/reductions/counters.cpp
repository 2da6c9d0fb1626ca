#include "tpetra_ext/reductions/counters.hpp"

#include <cstddef>

#include "tpetra_ext/kernels/base/fence.hpp"

namespace capstan {

ReductionCounters operator-(const ReductionCounters& later, const ReductionCounters& earlier) {
  ReductionCounters result;
  result.blocking = later.blocking - earlier.blocking;
  result.nonblocking = later.nonblocking - earlier.nonblocking;
  result.messages = later.messages - earlier.messages;
  result.bytes = later.bytes - earlier.bytes;
  result.fences = later.fences - earlier.fences;
  result.waitSeconds = later.waitSeconds - earlier.waitSeconds;
  result.nonblockingWaitSeconds = later.nonblockingWaitSeconds - earlier.nonblockingWaitSeconds;
  for (std::size_t k = 0; k < result.nonblockingBySize.size(); ++k) {
    result.nonblockingBySize[k] = later.nonblockingBySize[k] - earlier.nonblockingBySize[k];
  }
  result.kernelSeconds = later.kernelSeconds - earlier.kernelSeconds;
  return result;
}

int sizeClass(long bytes) {
  int k = 0;
  while (k < 31 && (1L << k) < bytes) ++k;
  return k;
}

ReductionCounters& counters() {
  static ReductionCounters total;
  total.fences = kernels::fences();
  return total;
}

void EventLog::record(LoggedKind kind, long id) {
  if (enabled_) events_.push_back({static_cast<long>(events_.size()), kind, id});
}

long EventLog::find(LoggedKind kind, long id) const {
  for (const LoggedEvent& event : events_) {
    if (event.kind == kind && event.id == id) return event.sequence;
  }
  return -1;
}

EventLog& eventLog() {
  static EventLog log;
  return log;
}

}  // namespace capstan
