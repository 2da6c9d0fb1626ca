#pragma once
/// \file
/// Rows in chunks that stay in cache, contiguous runs of chunks to threads, and the threads' partial sums.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "tpetra_ext/kernels/base/matrix_ref.hpp"
#include "tpetra_ext/kernels/base/queue.hpp"
#include "tpetra_ext/kernels/host/chunk_kernels.hpp"
#include "tpetra_ext/kernels/host/interlude.hpp"

namespace capstan::kernels::detail {

/// Partition of n rows: `slots` contiguous ranges (one a thread) of whole chunks of `chunkRows` rows.
struct ChunkPlan {
  std::ptrdiff_t rows;
  std::ptrdiff_t chunkRows;
  std::ptrdiff_t chunks;
  int slots;
  ChunksOf of;

  template <class Exec>
  ChunkPlan(const Queue<Exec>& queue, std::ptrdiff_t n, std::ptrdiff_t rowsPerChunk, ChunksOf what = ChunksOf::Vectors)
      : rows(n),
        chunkRows(rowsPerChunk),
        chunks((n + rowsPerChunk - 1) / rowsPerChunk),
        slots(static_cast<int>(std::max<std::ptrdiff_t>(
            1, std::min<std::ptrdiff_t>(chunks, static_cast<int>(queue.instance().concurrency()))))),
        of(what) {}
};

/// Calls body(slot, firstRow, rowCount) for every chunk, in ascending order within a slot, and the interlude between
/// chunks of the first slot.
///
/// The assignment depends on the plan alone, so sums kept per slot are the same in every run.
template <class Exec, class Body>
void forEachChunk(Queue<Exec>& queue, const ChunkPlan& plan, const Body& body) {
  const auto runSlot = [&plan, &body](int slot) {
    const std::ptrdiff_t last = plan.chunks * (slot + 1) / plan.slots;
    for (std::ptrdiff_t chunk = plan.chunks * slot / plan.slots; chunk < last; ++chunk) {
      const std::ptrdiff_t first = chunk * plan.chunkRows;
      body(slot, first, std::min(plan.chunkRows, plan.rows - first));
      if (slot != 0 || chunk + 1 == last) continue;
      if (void (*const pause)(ChunksOf) = interlude.load(std::memory_order_relaxed); pause != nullptr) pause(plan.of);
    }
  };
  if (plan.slots == 1) {
    runSlot(0);
    return;
  }
  queue.noteLaunch();
  Kokkos::parallel_for("capstan chunks",
                       Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>>(queue.instance(), 0, plan.slots),
                       runSlot);
}

/// The matrix as the tables of chunk kernels take it.
template <class T>
ChunkMatrix<T> chunk(const MatrixRef<T>& matrix) {
  return {matrix.data, matrix.rows, matrix.cols, matrix.stride};
}

/// Rows in a chunk of the update kernels: by column groups, a chunk of V takes half of the first-level cache; by row
/// tiles, V and the columns solved with it stay in the second-level cache.
template <class T>
std::ptrdiff_t updateChunkRows(const ChunkKernels<T>& kernels, int cols) {
  if (cols > kernels.narrow) return 1024;
  return cols <= 1 ? 2048 : 2560 / cols / 64 * 64;
}

/// Zeroed partial sums: `count` entries of `lanes` scalars for each slot. The memory belongs to the calling thread and
/// is kept for the next call, so nothing is allocated once it has grown.
template <class T>
class PartialSums {
 public:
  PartialSums(int slots, std::ptrdiff_t count, int lanes)
      : slots_(slots), lanes_(lanes), stride_((count * lanes + lineLength - 1) / lineLength * lineLength + padding) {
    auto& memory = storage();
    const auto needed = static_cast<std::size_t>(stride_ / lineLength * slots);
    if (memory.size() < needed) memory.resize(needed);
    data_ = memory.data()->values;
    std::fill_n(data_, stride_ * slots, T(0));
  }

  T* slot(int index) const { return data_ + index * stride_; }

  /// The sum of one entry, over slots in order and then over lanes in order.
  T total(std::ptrdiff_t entry) const {
    T total = part(entry * lanes_);
    for (int lane = 1; lane < lanes_; ++lane) total += part(entry * lanes_ + lane);
    return total;
  }

 private:
  static constexpr std::ptrdiff_t lineLength = 64 / sizeof(T);
  // Two cache lines between slots: no thread writes a line (or its prefetched neighbour) that another one uses.
  static constexpr std::ptrdiff_t padding = 2 * lineLength;

  struct alignas(64) Line {
    T values[lineLength];
  };
  static std::vector<Line>& storage() {
    thread_local std::vector<Line> memory;
    return memory;
  }

  T part(std::ptrdiff_t index) const {
    T sum = data_[index];
    for (int i = 1; i < slots_; ++i) sum += slot(i)[index];
    return sum;
  }

  int slots_;
  int lanes_;
  std::ptrdiff_t stride_;
  T* data_;
};

}  // namespace capstan::kernels::detail
