#pragma once
/// \file
/// Makes what would end a run silently say which problem it was: a hang, a signal, a report of a sanitizer, an MPI
/// error.

#include <cstdint>
#include <string>

namespace capstan::soak {

/// Watches from a thread of its own that the driver goes on. When nothing was announced for `seconds`, every rank
/// prints its state and the process aborts, which ends the others.
class Watchdog {
 public:
  /// \param reproduce the command that repeats a problem, up to its seed
  Watchdog(int rank, double seconds, const std::string& reproduce);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// What this rank does from now on, at most 200 characters.
  static void announce(std::uint64_t seed, const std::string& what);

  /// The solve goes on.
  static void beat();
};

}  // namespace capstan::soak
