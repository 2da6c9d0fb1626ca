#include "tpetra_ext/reductions/counters.hpp"

namespace capstan {

ReductionCounters operator-(const ReductionCounters& later, const ReductionCounters& earlier) {
  ReductionCounters result;
  result.blocking = later.blocking - earlier.blocking;
  result.nonblocking = later.nonblocking - earlier.nonblocking;
  result.messages = later.messages - earlier.messages;
  result.bytes = later.bytes - earlier.bytes;
  result.fences = later.fences - earlier.fences;
  result.waitSeconds = later.waitSeconds - earlier.waitSeconds;
  result.kernelSeconds = later.kernelSeconds - earlier.kernelSeconds;
  return result;
}

ReductionCounters& counters() {
  static ReductionCounters total;
  return total;
}

void EventLog::record(EventKind kind, long id) {
  if (enabled_) events_.push_back({static_cast<long>(events_.size()), kind, id});
}

long EventLog::find(EventKind kind, long id) const {
  for (const Event& event : events_) {
    if (event.kind == kind && event.id == id) return event.sequence;
  }
  return -1;
}

EventLog& eventLog() {
  static EventLog log;
  return log;
}

}  // namespace capstan
