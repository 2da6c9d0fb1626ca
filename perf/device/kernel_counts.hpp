#pragma once
/// \file
/// What a solve asks of the device, counted by Kokkos' hooks.

#include <string>

#include "perf/solvers/contestant.hpp"

namespace capstan::perf {

/// Calls of one rank. Copies are Kokkos::deep_copy's of more than 16 kB; smaller ones are coefficients.
struct KernelCounts {
  long kernels = 0;  ///< parallel_for, parallel_reduce and parallel_scan, Capstan's, Tpetra's and KokkosKernels'
  long fences = 0;   ///< Kokkos' fences; one inside a kernel launch or a reduction to the host counts, too
  long copies = 0;
};

/// Solves once more, not timed, and counts. Collective. \throws std::exception when the solver does
KernelCounts countKernels(Contestant& contestant);

/// "NVIDIA ..." where Kokkos' default execution space is CUDA, else the space's name. Local.
std::string deviceName();

}  // namespace capstan::perf
