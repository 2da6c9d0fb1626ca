#pragma once
/// \file
/// What a program shows to a person, and not to a pipe.

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace capstan::tools {

/// Whether someone may be watching standard error: CAPSTAN_PROGRESS (0 or 1) says so, else whether it is a terminal.
/// Open MPI gives every rank a terminal of its own for standard output, so that one does not tell. Local.
inline bool progressWanted() {
  const char* asked = std::getenv("CAPSTAN_PROGRESS");
  return asked != nullptr ? std::string(asked) == "1" : isatty(STDERR_FILENO) == 1;
}

}  // namespace capstan::tools
