#pragma once
/// \file
/// Floating point traps as applications switch them on to find their own errors: division by zero, invalid operations
/// and overflow.

#include <string>
#include <vector>

namespace capstan::testing {

/// Whether this machine has them and they can be counted: x86-64 with glibc.
bool hasFloatingPointTraps();

/// Switches the traps on for its lifetime and keeps what traps, instead of the end of the program that an application
/// would see: each operation that trapped runs once more without. For the thread that makes it and for those that this
/// one starts. One at a time.
class FloatingPointTraps {
 public:
  FloatingPointTraps();
  ~FloatingPointTraps();
  FloatingPointTraps(const FloatingPointTraps&) = delete;
  FloatingPointTraps& operator=(const FloatingPointTraps&) = delete;

  /// What trapped, each operation once: its kind and from where it was called, one line a frame. At most 16.
  static std::vector<std::string> found();
  /// Whether the traps are on: false where somebody else has switched them off.
  static bool on();
};

}  // namespace capstan::testing
