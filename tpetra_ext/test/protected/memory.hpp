#pragma once

/// \file
/// Memory of a device that is not there: the host may not touch it, though it is this machine's.
///
/// All of it lies in one range of addresses, whose pages have no access rights but while an Open lives: while a kernel
/// runs (hooks.cpp) or a copy of Kokkos' (space.hpp). Whoever touches it at another time is found out: a fault is
/// counted, and the view's label and the functions that were at it are printed, once for each place. The program then
/// goes on, so that one run shows all places.

#include <cstddef>
#include <string>

namespace capstan::test::protected_memory {

/// At least `bytes` of it, whole pages, filled with 0xFF: NaN as numbers, -1 as indices. Local.
/// \return null where there is no memory
void* allocate(const char* label, std::size_t bytes);

/// Gives back what allocate() returned. Local.
void release(void* data) noexcept;

/// Whether an address is in it.
bool holds(const void* address);

/// Lets code touch it, or not. Local. \return what held before
bool setOpen(bool open) noexcept;

/// Code of the host that stands for a device may touch it while this lives.
class Open {
 public:
  Open() : before_(setOpen(true)) {}
  ~Open() { setOpen(before_); }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

 private:
  bool before_;
};

/// Times so far that code of the host has touched it, each place and each opening once. Local.
long faults();

/// What was printed of the latest fault; empty: there was none. Local.
std::string latestFault();

/// Counts and prints a fault that shows otherwise than by a touch. Local.
void report(const std::string& fault);

/// Makes Kokkos tell of copies, so that those are faults which a device cannot do. It does as well where other
/// callbacks for copies are set. Local.
void watchCopies();

/// Prints no fault while this is set: for tests that touch it on purpose.
void setSilent(bool silent);

}  // namespace capstan::test::protected_memory
