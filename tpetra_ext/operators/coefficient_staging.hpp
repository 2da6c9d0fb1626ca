#pragma once
/// \file
/// Pinned memory through which small host matrices reach the kernels.

#include <Kokkos_Core.hpp>
#include <Teuchos_SerialDenseMatrix.hpp>
#include <cstddef>
#include <utility>

#include "tpetra_ext/kernels/base/leased_buffers.hpp"

namespace capstan {

/// Copies of host matrices for kernels. Buffers are kept, and free again with a fence after their kernels: reductions
/// wait for one all the time, so that nobody has to wait for a buffer, nor is one allocated after the first solve of a
/// shape. Local; for kernels of one queue, which it carries.
template <class Exec, class Scalar>
class CoefficientStaging {
  using Buffers = kernels::LeasedBuffers<Exec, Scalar>;

 public:
  using Matrix =
      Kokkos::View<Scalar**, Kokkos::LayoutLeft, kernels::PinnedSpace<Exec>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using HostMatrix = Teuchos::SerialDenseMatrix<int, Scalar>;

  /// A copy. The kernels that read it are launched while this lives: as an argument of the launch it does.
  class Staged {
   public:
    const Matrix& operator*() const { return matrix_; }

   private:
    friend class CoefficientStaging;
    Staged(typename Buffers::Lease lease, std::size_t rows, std::size_t columns)
        : lease_(std::move(lease)), matrix_(lease_.data(), rows, columns) {}

    typename Buffers::Lease lease_;
    Matrix matrix_;
  };

  explicit CoefficientStaging(kernels::Queue<Exec>& queue) : buffers_(queue) {}

  /// A copy of `a`, of the same shape.
  [[nodiscard]] Staged copy(const HostMatrix& a) {
    const auto rows = static_cast<std::size_t>(a.numRows()), columns = static_cast<std::size_t>(a.numCols());
    Staged staged(buffers_.take(rows * columns), rows, columns);
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = 0; i < rows; ++i) (*staged)(i, j) = a(static_cast<int>(i), static_cast<int>(j));
    }
    return staged;
  }

 private:
  Buffers buffers_;
};

}  // namespace capstan
