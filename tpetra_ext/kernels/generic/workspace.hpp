#pragma once
/// \file
/// Device memory that the generic kernels keep between calls.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>

#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/kernels/base/matrix_ref.hpp"

namespace capstan::kernels::detail {

/// At least `count` scalars of Exec's memory, kept until Kokkos::finalize and reused by the next call. Where it has to
/// grow, it waits, and at least doubles: a basis that gains a column at a time makes it grow a few times only.
///
/// Kernels enqueued on one instance of Exec run in order, so they may share it. Kernels of two instances must not be in
/// flight at once, and only one host thread may enqueue them.
template <class Exec, class T>
T* workspace(const Exec& exec, std::size_t count) {
  using Buffer = Kokkos::View<T*, typename Exec::memory_space>;
  static Buffer* buffer = nullptr;
  if (buffer == nullptr) {
    buffer = new Buffer;
    Kokkos::push_finalize_hook([] {
      delete buffer;
      buffer = nullptr;
    });
  }
  if (buffer->extent(0) < count) {
    fence(exec);  // kernels in flight may use the old memory
    const std::size_t size = std::max(count, 2 * buffer->extent(0));
    *buffer = Buffer();
    *buffer = Buffer(Kokkos::view_alloc(Kokkos::WithoutInitializing, "capstan::kernels workspace"), size);
  }
  return buffer->data();
}

/// A small matrix to be copied to the device, row by row, padded with the identity to paddedRows x paddedCols.
template <class T>
struct CopiedMatrix {
  MatrixRef<const T> from;
  T* to = nullptr;
  int paddedRows = 0;
  int paddedCols = 0;
  T factor = T(1);
  bool identityPadding = false;

  std::size_t size() const { return static_cast<std::size_t>(paddedRows) * static_cast<std::size_t>(paddedCols); }
};

/// Copies up to three small matrices in one launch: kernels then read device memory, not pinned host memory, per row.
template <class Exec, class T>
struct CopyMatrices {
  CopiedMatrix<T> matrix[3];

  KOKKOS_FUNCTION void operator()(const std::ptrdiff_t index) const {
    std::ptrdiff_t entry = index;
    for (int m = 0; m < 3; ++m) {
      const CopiedMatrix<T>& copy = matrix[m];
      const std::ptrdiff_t size = std::ptrdiff_t(copy.paddedRows) * copy.paddedCols;
      if (entry < size) {
        const auto i = static_cast<int>(entry / copy.paddedCols);
        const auto j = static_cast<int>(entry % copy.paddedCols);
        T value = copy.identityPadding && i == j ? T(1) : T(0);
        if (i < copy.from.rows && j < copy.from.cols) value = copy.factor * copy.from(i, j);
        copy.to[entry] = value;
        return;
      }
      entry -= size;
    }
  }

  /// Places the copies in the workspace and enqueues the copying.
  void launch(const Exec& exec) {
    std::size_t total = 0;
    for (const auto& copy : matrix) total += copy.size();
    T* to = workspace<Exec, T>(exec, total);
    for (auto& copy : matrix) {
      copy.to = to;
      to += copy.size();
    }
    kernels::launch(
        "capstan copy",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::ptrdiff_t>>(exec, 0, static_cast<std::ptrdiff_t>(total)),
        *this);
  }
};

}  // namespace capstan::kernels::detail
