// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Time that passes, where MPI may not have been started.

#include <chrono>

namespace capstan::foam {

/// Seconds since some moment in the past. Local.
inline double wallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace capstan::foam
