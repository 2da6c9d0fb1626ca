#pragma once

/// \file
/// When what was done: stretches of work of each thread, and reductions from their start to the end of the wait.

#include <chrono>
#include <mutex>
#include <vector>

namespace capstan {

/// What was recorded while it lived. One at a time for a process; off, which costs a branch, where there is none.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;

  struct Stretch {
    const char* name;  ///< a literal
    int thread;        ///< 0: the one that drives the solver
    Clock::time_point begin, end;
  };
  struct Reduction {
    long ticket;
    Clock::time_point begin, end;
  };

  /// Begins to record, also what threads of kernels do (kernels/base/task_queue.hpp).
  Trace();
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// The one that records; null: nothing does. Local.
  static Trace* current();

  /// By any thread. What there is no memory for is lost.
  void add(const char* name, int thread, Clock::time_point begin, Clock::time_point end) noexcept;
  void addReduction(long ticket, Clock::time_point begin, Clock::time_point end) noexcept;

  const std::vector<Stretch>& stretches() const { return stretches_; }
  const std::vector<Reduction>& reductions() const { return reductions_; }

 private:
  std::mutex mutex_;
  std::vector<Stretch> stretches_;
  std::vector<Reduction> reductions_;
  Trace* outer_;  ///< of a solver around this one, which records nothing meanwhile
};

/// A stretch of the driving thread, from here to the end of the scope.
class Traced {
 public:
  explicit Traced(const char* name) : name_(name) {
    if (Trace::current() != nullptr) begin_ = Trace::Clock::now();
  }
  ~Traced() {
    if (Trace* const trace = Trace::current(); trace != nullptr && begin_ != Trace::Clock::time_point{}) {
      trace->add(name_, 0, begin_, Trace::Clock::now());
    }
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

 private:
  const char* name_;
  Trace::Clock::time_point begin_{};
};

}  // namespace capstan
