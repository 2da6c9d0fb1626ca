#pragma once

/// \file
/// Makes the memory of Tpetra's default node one that the host may not touch. It is read before every other header
/// (CapstanTestNode.cmake), and stands for the headers of Trilinos 13.2 that name the node.
///
/// All of Tpetra's and Belos' templates are then of this node, whose type no library of Trilinos has: tpetra_*.cpp
/// instantiates them.

#include "tpetra_ext/test/protected/space.hpp"

// For Capstan's kernels Kokkos::Serial is a device: they take the portable path, and its memory is not the host's.
#define CAPSTAN_SERIAL_IS_A_DEVICE

// Instead of KokkosCompat_ClassicNodeAPI_Wrapper.hpp, which this keeps out.
#ifdef KOKKOSCOMPAT_CLASSICNODEAPI_WRAPPER_HPP
#error "tpetra_ext/test/protected/node.hpp comes too late: Tpetra's node has been named"
#endif
#define KOKKOSCOMPAT_CLASSICNODEAPI_WRAPPER_HPP
namespace Teuchos {
class ParameterList;
}
namespace Kokkos::Compat {
template <class ExecutionSpace, class MemorySpace = typename ExecutionSpace::memory_space>
class KokkosDeviceWrapperNode {
 public:
  using execution_space = ExecutionSpace;
  using memory_space = MemorySpace;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  static constexpr bool classic = false;
  KokkosDeviceWrapperNode() = delete;
  explicit KokkosDeviceWrapperNode(Teuchos::ParameterList&) = delete;
  static std::string name();
};
using KokkosSerialWrapperNode = KokkosDeviceWrapperNode<Kokkos::Serial, capstan::test::ProtectedSpace>;
}  // namespace Kokkos::Compat

// Buffers of messages are in the same memory, as they are with CUDA. MPI is given copies on the host.
#include <Tpetra_Details_DefaultTypes.hpp>
template <>
struct Tpetra::Details::DefaultTypes::CommBufferMemorySpace<Kokkos::Serial> {
  using type = capstan::test::ProtectedSpace;
};

// A Tpetra object refuses a view of one side while one of the other is alive, where the host cannot access the device's
// memory. The question is for the execution space of the host, which is Kokkos::Serial, whose kernels can. It is
// answered for another one here, that stands for all else on the host.
namespace Kokkos {
struct OutsideOfKernels {};
template <class Memory>
struct SpaceAccessibility<OutsideOfKernels, Memory> {
  enum { accessible = Impl::MemorySpaceAccess<HostSpace, Memory>::accessible };
};
}  // namespace Kokkos
#include <Kokkos_DualView.hpp>
#include <Teuchos_TestForException.hpp>
#include <Tpetra_Access.hpp>
#define DefaultHostExecutionSpace OutsideOfKernels
#include <Tpetra_Details_WrappedDualView.hpp>
#undef DefaultHostExecutionSpace

// On Kokkos::Serial some of Trilinos' kernels are loops of the host. Without this word they are kernels, as on devices.
#include <KokkosBlas1_scal.hpp>
#include <KokkosKernels_Controls.hpp>
#include <KokkosKernels_ExecSpaceUtils.hpp>
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv_impl_omp.hpp>
#include <Kokkos_InnerProductSpaceTraits.hpp>
#include <Tpetra_Details_Blas.hpp>
#pragma push_macro("KOKKOS_ENABLE_SERIAL")
#undef KOKKOS_ENABLE_SERIAL
#include <KokkosSparse_spmv_impl.hpp>
#include <Tpetra_Details_fill.hpp>
#pragma pop_macro("KOKKOS_ENABLE_SERIAL")
