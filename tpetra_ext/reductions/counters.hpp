#pragma once

/// \file
/// What this process has reduced so far, and an optional log of the order in which it did things.
///
/// Both are process-wide and meant for the one thread that drives the solver. Reports take differences of counters;
/// tests read the log to prove that work lies between the start of a reduction and the wait for it.

#include <array>
#include <chrono>
#include <vector>

namespace capstan {

/// Running totals since the start of the process. Local: ranks count for themselves.
struct ReductionCounters {
  long blocking = 0;                  ///< blocking all-reduces, counted on one rank and on a serial communicator too
  long nonblocking = 0;               ///< nonblocking all-reduces started, counted likewise
  long messages = 0;                  ///< MPI collectives really called: fewer than the above on one rank
  long bytes = 0;                     ///< bytes handed to those collectives by this rank
  long fences = 0;                    ///< times the host waited for kernels, see kernels/base/fence.hpp
  double waitSeconds = 0;             ///< seconds spent inside blocking all-reduces and in waits for nonblocking ones
  double nonblockingWaitSeconds = 0;  ///< the second part of waitSeconds
  double kernelSeconds = 0;  ///< seconds in local kernels: products of batches, with their fence, and vector updates
  /// Nonblocking messages sent, by size: element k counts those of more than 2^(k-1) and at most 2^k bytes.
  std::array<long, 32> nonblockingBySize{};
};

/// The k of ReductionCounters::nonblockingBySize.
int sizeClass(long bytes);

/// Adds the wall-clock seconds it lives to one of the totals.
class CounterTimer {
 public:
  explicit CounterTimer(double& total) : total_(total), begin_(std::chrono::steady_clock::now()) {}
  ~CounterTimer() { total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
  CounterTimer(const CounterTimer&) = delete;
  CounterTimer& operator=(const CounterTimer&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point begin_;
};

/// What happened between two snapshots: `later - earlier`.
ReductionCounters operator-(const ReductionCounters& later, const ReductionCounters& earlier);

/// The totals of this process. Copy it to take a snapshot.
ReductionCounters& counters();

enum class LoggedKind { BlockingReduction, ReductionStart, ReductionWait, OperatorApply, PreconditionerApply, User };

/// One entry of the log.
struct LoggedEvent {
  long sequence;    ///< position since the log was cleared, from 0
  LoggedKind kind;  ///< what happened
  long id;  ///< reductions: the same number at start and wait; applications: number of columns; User: the caller's
};

/// Ordered log of reductions and operator applications. Off unless enabled; then it grows until cleared.
class EventLog {
 public:
  void enable(bool on) { enabled_ = on; }
  bool enabled() const { return enabled_; }
  void clear() { events_.clear(); }
  const std::vector<LoggedEvent>& events() const { return events_; }

  /// Appends an event when the log is enabled. ReductionWait is written where the caller begins to wait, or where a
  /// successful test makes waiting unnecessary.
  void record(LoggedKind kind, long id);

  /// Position of the first event of this kind and id, or -1.
  long find(LoggedKind kind, long id) const;

 private:
  bool enabled_ = false;
  std::vector<LoggedEvent> events_;
};

/// The log of this process.
EventLog& eventLog();

}  // namespace capstan
