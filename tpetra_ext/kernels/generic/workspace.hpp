#pragma once
/// \file
/// Device memory that the generic kernels keep in their queue between calls.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>

#include "tpetra_ext/kernels/base/copy.hpp"
#include "tpetra_ext/kernels/base/matrix_ref.hpp"

namespace capstan::kernels::detail {

/// At least `count` scalars of the queue's memory, used again by the next call. Where it has to grow, it waits, and at
/// least doubles: a basis that gains a column at a time makes it grow a few times only.
template <class Exec, class T>
T* workspace(Queue<Exec>& queue, std::size_t count) {
  auto& memory = queue.memory();
  if (const std::size_t size = count * sizeof(T); memory.extent(0) < size) {
    fence(queue);  // kernels in flight may use the old memory
    const std::size_t room = std::max(size, 2 * memory.extent(0));
    memory = {};
    memory = unfilled<typename Queue<Exec>::Memory>("capstan::kernels workspace", room);
  }
  return reinterpret_cast<T*>(memory.data());
}

struct NoTeams {
  unsigned* finished;
  KOKKOS_FUNCTION void operator()(const std::ptrdiff_t) const { *finished = 0; }
};

/// Where the kernels of the queue count their teams that are done: 0 for the next one.
template <class Exec>
unsigned* finishedTeams(Queue<Exec>& queue) {
  auto& counter = queue.finishedTeams();
  if (counter.extent(0) == 0) {
    counter = unfilled<typename Queue<Exec>::Counter>("capstan::kernels finished teams", std::size_t(1));
    kernels::launch("capstan no teams", queue, 1, NoTeams{counter.data()});
  }
  return counter.data();
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
  void launch(Queue<Exec>& queue) {
    std::size_t total = 0;
    for (const auto& copy : matrix) total += copy.size();
    T* to = workspace<Exec, T>(queue, total);
    for (auto& copy : matrix) {
      copy.to = to;
      to += copy.size();
    }
    kernels::launch("capstan copy", queue, static_cast<std::ptrdiff_t>(total), *this);
  }
};

}  // namespace capstan::kernels::detail
