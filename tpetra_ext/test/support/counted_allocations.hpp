#pragma once

/// \file
/// Counts heap allocations through operator new, Kokkos views included (each makes one record with it).
///
/// Compile counted_allocations.cpp into the test program.

namespace capstan::test {

/// Calls of operator new in this process so far, all libraries included.
long allocations();

}  // namespace capstan::test
