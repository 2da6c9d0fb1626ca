#pragma once

/// \file
/// Where the messages of a device are while they are MPI's: in its own memory, or in page-locked memory of the host.

#include <Kokkos_Core.hpp>
#include <string>

#include "tpetra_ext/topology/device_aware_mpi.hpp"

namespace capstan::topology {

/// Whose addresses MPI is asked about.
enum class DeviceKind { Cuda, Hip, Sycl, Other };

/// The kind that an execution space of Kokkos is for.
template <class Execution>
DeviceKind deviceKindOf() {
  const std::string name = Execution::name();
  if (name.find("Cuda") != std::string::npos) return DeviceKind::Cuda;
  if (name.find("HIP") != std::string::npos) return DeviceKind::Hip;
  return name.find("SYCL") != std::string::npos ? DeviceKind::Sycl : DeviceKind::Other;
}

struct MessageMemory {
  bool onDevice = false;  ///< MPI is given addresses of the device
  std::string reason;     ///< for people
};

/// What is asked for, else what the environment variable CAPSTAN_DEVICE_AWARE_MPI says ("on", "off", "auto"), else what
/// MPI says of itself: Open MPI's and MPICH's MPIX_Query_*_support. Another value of the variable is told in the
/// reason, and counts as "auto". After MPI_Init. Local.
MessageMemory messageMemory(DeviceAwareMpi asked, DeviceKind kind);

}  // namespace capstan::topology
