/// \file
/// What the layer's tests share. Emulated time is a lower bound, so "not earlier" holds on the noisiest machine;
/// nothing is asserted about "not later".
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>

#include "perf/latency/layer.hpp"

namespace capstan::latency::test {

inline int ranks() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

inline int rank() {
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  return me;
}

/// Time since construction.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  Clock::time_point start_ = Clock::now();
};

/// The latency of an all-reduce, in seconds.
inline double leastLatency() { return std::chrono::duration<double>(settings().latency).count(); }

/// Sum over the ranks of (rank + 1) * factor.
inline double expectedSum(double factor) { return factor * ranks() * (ranks() + 1) / 2; }

/// A pair of counts before and after, for what one test does.
struct Counted {
  long blocking = counters().blocking, nonblocking = counters().nonblocking;
  Counted since() const {
    Counted now;
    now.blocking -= blocking;
    now.nonblocking -= nonblocking;
    return now;
  }
};

}  // namespace capstan::latency::test
