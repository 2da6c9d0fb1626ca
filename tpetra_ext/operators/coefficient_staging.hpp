#pragma once
/// \file
/// Pinned memory through which small host matrices reach the kernels.

#include <Kokkos_Core.hpp>
#include <Teuchos_SerialDenseMatrix.hpp>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"

namespace capstan {

/// A queue of buffers, kept as long as this lives. A buffer is written again once the host has waited for kernels
/// since, for whatever reason: reductions do so all the time, so that nobody has to wait for a buffer, nor is one
/// allocated after the first solve of a shape. Local; for kernels of Exec's default queue.
template <class Exec, class Scalar>
class CoefficientStaging {
 public:
  using Matrix =
      Kokkos::View<Scalar**, Kokkos::LayoutLeft, kernels::PinnedSpace<Exec>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using HostMatrix = Teuchos::SerialDenseMatrix<int, Scalar>;

  /// Buffers that may be in use at a time; for one more the host waits.
  static constexpr std::size_t most = 16;

  /// A copy of `a`, of the same shape, for kernels launched before the next fence.
  Matrix copy(const Exec& exec, const HostMatrix& a) {
    const auto rows = static_cast<std::size_t>(a.numRows()), columns = static_cast<std::size_t>(a.numCols());
    const Matrix to(next(exec, rows * columns), rows, columns);
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = 0; i < rows; ++i) to(i, j) = a(static_cast<int>(i), static_cast<int>(j));
    }
    return to;
  }

 private:
  using Buffer = Kokkos::View<Scalar*, kernels::PinnedSpace<Exec>>;

  Scalar* next(const Exec& exec, std::size_t size) {
    if (used_ == most && kernels::fencesOf<Exec>() == fences_) kernels::fence(exec);
    if (const long fences = kernels::fencesOf<Exec>(); fences != fences_) {
      fences_ = fences;
      used_ = 0;
    }
    if (used_ == buffers_.size()) buffers_.emplace_back();
    Buffer& buffer = buffers_[used_++];
    if (buffer.extent(0) < size) {
      buffer = Buffer(Kokkos::view_alloc(Kokkos::WithoutInitializing, "capstan coefficients"),
                      std::max(size, 2 * buffer.extent(0)));
    }
    return buffer.data();
  }

  std::vector<Buffer> buffers_;
  std::size_t used_ = 0;  ///< buffers that kernels may read which were launched since fence number fences_
  long fences_ = 0;
};

}  // namespace capstan
