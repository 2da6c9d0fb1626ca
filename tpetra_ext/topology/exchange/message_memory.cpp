#include "tpetra_ext/topology/exchange/message_memory.hpp"

#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <cstdlib>
#include <optional>

namespace capstan::topology {
namespace {

#ifdef MPIX_GPU_SUPPORT_CUDA  // MPICH, since 4.0
std::optional<bool> mpichTakes(int kind) {
  int takes = 0;
  if (MPIX_GPU_query_support(kind, &takes) != MPI_SUCCESS) return std::nullopt;
  return takes != 0;
}
#endif

/// What MPI says; nothing where it does not know the question.
std::optional<bool> mpiTakes(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::Cuda:
#if defined(MPIX_CUDA_AWARE_SUPPORT)
      return MPIX_Query_cuda_support() != 0;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
      return mpichTakes(MPIX_GPU_SUPPORT_CUDA);
#endif
      break;
    case DeviceKind::Hip:
#if defined(MPIX_ROCM_AWARE_SUPPORT)
      return MPIX_Query_rocm_support() != 0;
#elif defined(MPIX_GPU_SUPPORT_HIP)
      return mpichTakes(MPIX_GPU_SUPPORT_HIP);
#endif
      break;
    case DeviceKind::Sycl:
#if defined(MPIX_GPU_SUPPORT_ZE)
      return mpichTakes(MPIX_GPU_SUPPORT_ZE);
#endif
      break;
    case DeviceKind::Other:
      break;
  }
  return std::nullopt;
}

MessageMemory asMpiSays(DeviceKind kind) {
  const std::optional<bool> takes = mpiTakes(kind);
  if (!takes) return {false, "MPI does not say whether it takes addresses of the device"};
  return {*takes, *takes ? "MPI takes addresses of the device" : "MPI takes no addresses of the device"};
}

}  // namespace

MessageMemory messageMemory(DeviceAwareMpi asked, DeviceKind kind) {
  if (asked != DeviceAwareMpi::Auto) {
    return {asked == DeviceAwareMpi::On, "\"Device Aware MPI\" = \"" + toString(asked) + "\""};
  }
  const char* const variable = std::getenv("CAPSTAN_DEVICE_AWARE_MPI");
  const std::string value = variable == nullptr ? "auto" : variable;
  if (value == "on" || value == "off") return {value == "on", "CAPSTAN_DEVICE_AWARE_MPI is \"" + value + "\""};
  MessageMemory memory = asMpiSays(kind);
  if (value != "auto") {
    memory.reason =
        "CAPSTAN_DEVICE_AWARE_MPI is \"" + value + "\", which is none of on, off and auto; " + memory.reason;
  }
  return memory;
}

}  // namespace capstan::topology
