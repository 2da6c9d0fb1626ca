#pragma once
/// \file
/// What the functions of capstan.h return in place of exceptions.

#include <stdexcept>
#include <string>

#include "adapters/c/capstan.h"

namespace capstan::c {

/// An error that the caller is told of, alike on all ranks unless it is CAPSTAN_ERROR_LONE.
class Error : public std::runtime_error {
 public:
  Error(capstan_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  capstan_status status() const { return status_; }

 private:
  capstan_status status_;
};

}  // namespace capstan::c
