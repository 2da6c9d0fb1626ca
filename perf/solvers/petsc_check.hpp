#pragma once
/// \file
/// PETSc's error codes as exceptions.

#include <petscsys.h>

#include <stdexcept>
#include <string>

namespace capstan::perf {

/// \throws std::runtime_error unless the code says that all is well. Local.
inline void check(PetscErrorCode code, const char* what) {
  if (code == 0) return;
  const char* text = nullptr;
  PetscErrorMessage(code, &text, nullptr);
  throw std::runtime_error(std::string("PETSc: ") + what + ": " + (text != nullptr ? text : "unknown error"));
}

}  // namespace capstan::perf
