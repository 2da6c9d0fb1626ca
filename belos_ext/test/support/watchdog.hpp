#pragma once
/// \file
/// Makes what would end a run silently say what it was at: a hang, a signal, a report of a sanitizer, an MPI error.

#include <string>

namespace capstan::testing {

/// Watches from a thread of its own that the program goes on. When nothing was announced for `seconds`, every rank
/// prints its state and the process aborts, which ends the others. One at a time.
class Watchdog {
 public:
  /// \param program what messages begin with
  Watchdog(int rank, double seconds, const std::string& program);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// What this rank does from now on: lines of at most 1000 characters.
  static void announce(const std::string& what);

  /// It goes on.
  static void beat();
};

}  // namespace capstan::testing
