/// \file
/// What the latency layer is asked to emulate, read from environment variables. No MPI here.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace capstan::latency {

/// Random part of a collective's latency. `scale` is the mean (exponential) or the upper end (uniform), in seconds.
struct Noise {
  enum class Kind { None, Exponential, Uniform } kind = Kind::None;
  double scale = 0;
};

/// Latency of a collective: alpha log2(P) + bytes * secondsPerByte + noise, or alpha alone when `fixed`.
struct CollectiveSettings {
  bool on = false;
  bool fixed = true;
  double alpha = 0;  ///< seconds
  double secondsPerByte = 0;
  std::int64_t processes = 0;  ///< virtual number of processes of MPI_COMM_WORLD; 0 is the real one
  Noise noise;
  std::uint64_t seed = 1;
};

struct Settings {
  CollectiveSettings collectives;
  bool barriers = false;  ///< delay MPI_Barrier and MPI_Ibarrier as all-reduces of 0 bytes, too
  bool yield = false;     ///< give the processor away while waiting

  bool on() const { return collectives.on; }
};

/// The variables of this process whose names begin with CAPSTAN_LATENCY.
std::map<std::string, std::string> latencyVariables();

/// Reads the settings. Local.
///
/// \throws std::invalid_argument with variable, value and what is allowed: unknown variable or key, wrong number or
/// unit,
///   number out of range, CAPSTAN_LATENCY_US together with CAPSTAN_LATENCY_MODEL.
Settings parseSettings(const std::map<std::string, std::string>& variables);

}  // namespace capstan::latency
