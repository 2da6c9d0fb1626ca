/// \file
/// How long an operation must take: the delays of a communicator.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <random>

#include "perf/latency/settings.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace capstan::latency {

/// CLOCK_MONOTONIC. Only differences on one rank are taken: clocks of different ranks are never compared.
using Clock = std::chrono::steady_clock;
using Duration = Clock::duration;

/// Draws the noise of one communicator's collectives, in seconds. Every rank draws the same number for the same
/// collective, because MPI has all ranks call a communicator's collectives in one order.
class NoiseSource {
 public:
  NoiseSource(const Noise& noise, std::uint64_t seed) : noise_(noise), generator_(seed) {}
  double draw();

 private:
  Noise noise_;
  std::mt19937_64 generator_;
};

/// The delays on one communicator. Kept with the communicator as an attribute, and by requests that outlive it.
class CommunicatorDelays {
 public:
  CommunicatorDelays(const Settings& settings, MPI_Comm comm);

  /// True where collectives on this communicator are delayed: not on one process alone, unless the program has no
  /// other.
  bool delaysCollectives() const { return collectives_; }

  /// Delay of the next collective of `bytes` bytes. Thread-safe; call it once for each collective.
  Duration collective(double bytes);

 private:
  const Settings& settings_;
  bool collectives_;
  double latency_;  // seconds, without bytes and noise
  std::mutex mutex_;
  NoiseSource noise_;
};

/// The delays of `comm`, made on first use. Local. Thread-safe.
std::shared_ptr<CommunicatorDelays> delaysOf(MPI_Comm comm);

/// Bytes of `count` elements of `type`.
double bytesOf(MPI_Count count, MPI_Datatype type);

/// Creates and frees what delaysOf needs of MPI.
void startDelays(const Settings& settings);
void stopDelays();

}  // namespace capstan::latency
