#pragma once
/// \file
/// Time that passes. Teuchos::Time::wallTime() is that only where MPI has been started; else it asks the kernel for the
/// time of the processor.

#include <chrono>

namespace capstan {

/// Seconds since some moment in the past. Local.
inline double wallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace capstan
