/// \file
/// What the latency layer is asked to emulate, read from environment variables. No MPI here.
#pragma once

#include <chrono>
#include <map>
#include <string>

namespace capstan::latency {

/// CLOCK_MONOTONIC. Only differences on one rank are taken: clocks of different ranks are never compared.
using Clock = std::chrono::steady_clock;

struct Settings {
  bool on = false;             ///< a latency is asked for, be it 0
  Clock::duration latency{0};  ///< of every all-reduce
  bool yield = false;          ///< give the processor away while waiting
  bool count = false;          ///< rank 0 says at the end how many all-reduces it has made
};

/// The variables of this process whose names begin with CAPSTAN_LATENCY.
std::map<std::string, std::string> latencyVariables();

/// Reads the settings. Local.
///
/// \throws std::invalid_argument with variable, value and what is allowed: unknown variable, no number, number out of
///   range.
Settings parseSettings(const std::map<std::string, std::string>& variables);

}  // namespace capstan::latency
