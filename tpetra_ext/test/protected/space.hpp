#pragma once

/// \file
/// Kokkos' memory space of the protected memory (memory.hpp). Kernels of Kokkos::Serial may access it, the host may
/// not: it must copy, as from a device. For Kokkos 3.5, the one of Trilinos 13.2.

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstring>
#include <impl/Kokkos_SharedAlloc_timpl.hpp>
#include <string>

#include "tpetra_ext/test/protected/memory.hpp"

#ifdef KOKKOS_ENABLE_DEBUG
#error \
    "The protected memory space keeps no list of allocations, which Kokkos asks for where it is built with KOKKOS_ENABLE_DEBUG"
#endif

namespace capstan::test {

/// A memory space, as Kokkos wants it.
class ProtectedSpace {
 public:
  using memory_space = ProtectedSpace;
  using size_type = std::size_t;
  using execution_space = Kokkos::Serial;
  using device_type = Kokkos::Device<execution_space, memory_space>;

  static constexpr const char* name() { return "Protected"; }

  void* allocate(std::size_t bytes) const { return allocate("[unlabeled]", bytes); }
  void* allocate(const char* label, std::size_t bytes, std::size_t counted = 0) const {
    void* const data = protected_memory::allocate(label, bytes);
    if (data == nullptr) {
      throw Kokkos::Experimental::RawMemoryAllocationFailure(
          bytes, protectedPage, Kokkos::Experimental::RawMemoryAllocationFailure::FailureMode::OutOfMemoryError,
          Kokkos::Experimental::RawMemoryAllocationFailure::AllocationMechanism::StdMalloc);
    }
    if (Kokkos::Profiling::profileLibraryLoaded()) {
      Kokkos::Profiling::allocateData(Kokkos::Tools::make_space_handle(name()), label, data,
                                      counted > 0 ? counted : bytes);
    }
    return data;
  }
  void deallocate(void* data, std::size_t bytes) const { deallocate("[unlabeled]", data, bytes); }
  void deallocate(const char* label, void* data, std::size_t bytes, std::size_t counted = 0) const {
    if (Kokkos::Profiling::profileLibraryLoaded()) {
      Kokkos::Profiling::deallocateData(Kokkos::Tools::make_space_handle(name()), label, data,
                                        counted > 0 ? counted : bytes);
    }
    protected_memory::release(data);
  }

 private:
  static constexpr std::size_t protectedPage = 4096;
};

}  // namespace capstan::test

namespace Kokkos {

// A kernel of Kokkos::Serial may access the space although its own memory, the host's, may not.
template <>
struct SpaceAccessibility<Serial, capstan::test::ProtectedSpace> {
  enum { accessible = true, assignable = false, deepcopy = true };
  using space = Device<Serial, capstan::test::ProtectedSpace>;
};
template <class Memory>
struct SpaceAccessibility<capstan::test::ProtectedSpace, Memory> {
  enum { accessible = true, assignable = std::is_same<Memory, capstan::test::ProtectedSpace>::value, deepcopy = true };
  using space = capstan::test::ProtectedSpace;
};
template <class Memory>
struct SpaceAccessibility<Device<Serial, capstan::test::ProtectedSpace>, Memory> {
  enum { accessible = true, assignable = std::is_same<Memory, capstan::test::ProtectedSpace>::value, deepcopy = true };
  using space = Device<Serial, capstan::test::ProtectedSpace>;
};

namespace Impl {

// The host must copy. So mirrors are of other memory, and a DualView holds two allocations.
template <>
struct MemorySpaceAccess<HostSpace, capstan::test::ProtectedSpace> {
  enum { assignable = false, accessible = false, deepcopy = true };
};
// Kokkos::Serial takes results of reductions in memory that can access the host's.
template <>
struct MemorySpaceAccess<capstan::test::ProtectedSpace, HostSpace> {
  enum { assignable = false, accessible = true, deepcopy = true };
};

/// View::operator() asks this where it is called, in kernels, too. The pages themselves tell the one from the other.
template <>
struct verify_space<HostSpace, capstan::test::ProtectedSpace, false> {
  static void check() {}
};

/// Copies as a device does: after all kernels, before the host goes on.
struct ProtectedCopy {
  ProtectedCopy(void* to, const void* from, std::size_t bytes) {
    const capstan::test::protected_memory::Open open;
    std::memcpy(to, from, bytes);
  }
};
template <class Exec>
struct DeepCopy<capstan::test::ProtectedSpace, capstan::test::ProtectedSpace, Exec> : ProtectedCopy {
  using ProtectedCopy::ProtectedCopy;
  DeepCopy(const Exec&, void* to, const void* from, std::size_t bytes) : ProtectedCopy(to, from, bytes) {}
};
template <class Exec>
struct DeepCopy<capstan::test::ProtectedSpace, HostSpace, Exec> : ProtectedCopy {
  using ProtectedCopy::ProtectedCopy;
  DeepCopy(const Exec&, void* to, const void* from, std::size_t bytes) : ProtectedCopy(to, from, bytes) {}
};
template <class Exec>
struct DeepCopy<HostSpace, capstan::test::ProtectedSpace, Exec> : ProtectedCopy {
  using ProtectedCopy::ProtectedCopy;
  DeepCopy(const Exec&, void* to, const void* from, std::size_t bytes) : ProtectedCopy(to, from, bytes) {}
};

/// What counts the views of an allocation. Its header, with the label, lies before the data, in the space.
template <>
class SharedAllocationRecord<capstan::test::ProtectedSpace, void>
    : public HostInaccessibleSharedAllocationRecordCommon<capstan::test::ProtectedSpace> {
  using Space = capstan::test::ProtectedSpace;
  using Base = HostInaccessibleSharedAllocationRecordCommon<Space>;
  using Untyped = SharedAllocationRecord<void, void>;
  friend class SharedAllocationRecordCommon<Space>;
  friend Base;

 protected:
  SharedAllocationRecord() = default;
  SharedAllocationRecord(const Space& space, const std::string& label, std::size_t bytes,
                         const Untyped::function_type destroy = &deallocate)
      : Base(checked_allocation_with_header(space, label, bytes), sizeof(SharedAllocationHeader) + bytes, destroy),
        m_space(space) {
    SharedAllocationHeader header;
    this->_fill_host_accessible_header_info(header, label);
    DeepCopy<Space, HostSpace>(Untyped::m_alloc_ptr, &header, sizeof header);
  }
  ~SharedAllocationRecord() override {
    m_space.deallocate(get_label().c_str(), Untyped::m_alloc_ptr, Untyped::m_alloc_size,
                       Untyped::m_alloc_size - sizeof(SharedAllocationHeader));
  }

 private:
  const Space m_space;  // Kokkos' base class knows it by this name
};

}  // namespace Impl
}  // namespace Kokkos
