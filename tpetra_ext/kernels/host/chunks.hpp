#pragma once
/// \file
/// Rows in chunks that stay in cache, chunks in tiles, which threads share, and the tiles' partial sums.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "tpetra_ext/kernels/base/matrix_ref.hpp"
#include "tpetra_ext/kernels/base/queue.hpp"
#include "tpetra_ext/kernels/base/task_queue.hpp"
#include "tpetra_ext/kernels/host/chunk_kernels.hpp"
#include "tpetra_ext/kernels/host/interlude.hpp"

namespace capstan::kernels::detail {

/// Rows of a tile, at least: some microseconds of work. And the most tiles of a kernel.
constexpr std::ptrdiff_t tileRows = 2048;
constexpr int mostTiles = 64;

/// Partition of n rows: `slots` contiguous ranges (tiles) of whole chunks of `chunkRows` rows. It depends on n alone,
/// so sums kept per tile have the same bits for any number of threads.
struct ChunkPlan {
  std::ptrdiff_t rows;
  std::ptrdiff_t chunkRows;
  std::ptrdiff_t chunks;
  int slots;
  ChunksOf of;

  ChunkPlan(std::ptrdiff_t n, std::ptrdiff_t rowsPerChunk, ChunksOf what = ChunksOf::Vectors)
      : rows(n),
        chunkRows(rowsPerChunk),
        chunks((n + rowsPerChunk - 1) / rowsPerChunk),
        slots(
            static_cast<int>(std::max<std::ptrdiff_t>(1, std::min({chunks, n / tileRows, std::ptrdiff_t(mostTiles)})))),
        of(what) {}
};

/// Calls body(slot, firstRow, rowCount) for every chunk, in ascending order within a slot, and the interlude between
/// chunks, where the thread that launched the kernel computes them.
template <class Exec, class Body>
void forEachChunk(Queue<Exec>& queue, const ChunkPlan& plan, const Body& body) {
  const bool shared = tilesShared.load(std::memory_order_relaxed);
  const bool alone = plan.slots == 1 || queue.instance().concurrency() == 1;
  const auto runSlot = [&](int slot) {
    const bool pauses = shared ? TaskQueue::instance().ownThread() : alone || slot == 0;
    const std::ptrdiff_t last = plan.chunks * (slot + 1) / plan.slots;
    for (std::ptrdiff_t chunk = plan.chunks * slot / plan.slots; chunk < last; ++chunk) {
      const std::ptrdiff_t first = chunk * plan.chunkRows;
      body(slot, first, std::min(plan.chunkRows, plan.rows - first));
      if (!pauses || chunk + 1 == plan.chunks) continue;
      if (void (*const pause)(ChunksOf) = interlude.load(std::memory_order_relaxed); pause != nullptr) pause(plan.of);
    }
  };
  if (shared) return TaskQueue::instance().forEachTile(plan.slots, runSlot);
  if (alone) {
    for (int slot = 0; slot < plan.slots; ++slot) runSlot(slot);
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

  /// Adds up the slots in order. Before total().
  void fold() const {
    for (int i = 1; i < slots_; ++i) {
      const T* const from = slot(i);
      for (std::ptrdiff_t k = 0; k < stride_ - padding; ++k) data_[k] += from[k];
    }
  }

  /// The sum of one entry of what is folded, over lanes in order.
  T total(std::ptrdiff_t entry) const {
    T total = data_[entry * lanes_];
    for (int lane = 1; lane < lanes_; ++lane) total += data_[entry * lanes_ + lane];
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

  int slots_;
  int lanes_;
  std::ptrdiff_t stride_;
  T* data_;
};

}  // namespace capstan::kernels::detail
