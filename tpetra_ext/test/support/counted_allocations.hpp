#pragma once

/// \file
/// Counts heap allocations through operator new, Kokkos views included (each makes one record with it). With a device
/// they are those of Kokkos' views alone: its launches and fences there make strings on the host.
///
/// Link capstan_test_counting to the test program.

namespace capstan::test {

/// Calls of operator new in this process so far, all libraries included; with a device, allocations by Kokkos since the
/// first call.
long allocations();

/// Those of Kokkos itself for the range of one kernel, whoever launches it: up to Kokkos 5 some releases write a
/// message about each bound, and throw it away where the bound is right. Other releases: none.
long allocationsOfARange();

/// Calls of operator new, whatever there is for a device.
long heapAllocations();

/// Bytes of Kokkos' views that are there, of those that were made since the first call.
long viewBytes();

}  // namespace capstan::test
