#pragma once
/// \file
/// A sketch of a tall-skinny matrix: S = Theta X, with far fewer rows than X.
///
/// Theta = k^{-1/2} [E_0 H D_0, E_1 H D_1, ...]: H the k x k Hadamard matrix, D_b and E_b diagonals of random signs.
/// Block b is for the rows whose numbers are b k to (b + 1) k - 1 ([Balabanov, Beaupere, Grigori and Lederer 2023],
/// with blocks of as many rows as S has). Each block alone keeps lengths, and E[Theta^T Theta] = I: for any few
/// vectors, (Theta x)^T (Theta y) is near x^T y.
///
/// Local to the process; asynchronous; deterministic for the same shapes; NaN and Inf propagate.

#include <cmath>
#include <cstdint>

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/base/mixed_bits.hpp"
#include "tpetra_ext/kernels/generic/workspace.hpp"
#include "tpetra_ext/kernels/host/chunks.hpp"

namespace capstan::kernels {

/// Rows of S, at least and at most; a power of two.
constexpr int fewestSketchRows = 64, mostSketchRows = 1 << 24;

constexpr bool isSketchHeight(std::ptrdiff_t rows) {
  return rows >= fewestSketchRows && rows <= mostSketchRows && (rows & (rows - 1)) == 0;
}

/// Flops of an entry of X: log2(k) sums of the transform, and one to S.
constexpr int sketchFlops(std::ptrdiff_t rows) {
  int sums = 1;
  for (; rows > 1; rows /= 2) ++sums;
  return sums;
}

/// The numbers of rows: first, first + 1, ... \tparam seed another one is another Theta
struct SketchedRows {
  std::uint64_t first = 0;
  std::uint64_t seed = 0;
};

namespace detail {

/// 64 signs, 1: minus. Of block b, words [2 b k / 64, (2 b + 1) k / 64) are D_b, those behind them E_b.
KOKKOS_INLINE_FUNCTION std::uint64_t sketchSigns(std::uint64_t seed, std::uint64_t word) {
  return mixed(seed ^ mixed(word));
}

/// What the rows of a rank have of block `block`: rows [begin, end) of X, from place `place` of the block on.
struct SketchBlock {
  std::ptrdiff_t begin, end;
  int place;

  KOKKOS_INLINE_FUNCTION SketchBlock(const SketchedRows& rows, std::ptrdiff_t count, int height, std::uint64_t block) {
    const std::uint64_t size = static_cast<std::uint64_t>(height), start = block * size;
    place = start < rows.first ? static_cast<int>(rows.first - start) : 0;
    begin = start < rows.first ? 0 : static_cast<std::ptrdiff_t>(start - rows.first);
    end = static_cast<std::ptrdiff_t>(start + size - rows.first);
    if (end > count) end = count;
  }
};

/// Blocks that `count` rows are in.
inline std::ptrdiff_t sketchBlocks(const SketchedRows& rows, std::ptrdiff_t count, int height) {
  if (count == 0) return 0;
  const auto size = static_cast<std::uint64_t>(height);
  return static_cast<std::ptrdiff_t>((rows.first + static_cast<std::uint64_t>(count) - 1) / size - rows.first / size) +
         1;
}

/// Rows of a chunk, at least.
constexpr std::ptrdiff_t sketchChunkRows = 8192;

template <class Exec, class T>
void sketchOn(HostPath, Queue<Exec>& queue, const SketchedRows& rows, const MatrixRef<const T>& X,
              const MatrixRef<T>& S) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const auto height = static_cast<int>(S.rows);
  const std::uint64_t firstBlock = rows.first / static_cast<std::uint64_t>(height);
  const std::ptrdiff_t words = height / 64;
  const ChunkPlan plan(sketchBlocks(rows, X.rows, height) * height, std::max<std::ptrdiff_t>(sketchChunkRows, height));
  const PartialSums<T> sums(plan.slots, S.rows * X.cols, 1);
  forEachChunk(queue, plan, [&](int slot, std::ptrdiff_t first, std::ptrdiff_t count) {
    thread_local std::vector<std::uint64_t> signs;
    thread_local std::vector<T> memory;
    signs.resize(static_cast<std::size_t>(2 * words));
    memory.resize(static_cast<std::size_t>(3 * height));
    for (std::ptrdiff_t at = first; at < first + count; at += height) {
      const std::uint64_t number = firstBlock + static_cast<std::uint64_t>(at / height);
      const SketchBlock block(rows, X.rows, height, number);
      for (std::ptrdiff_t k = 0; k < 2 * words; ++k) {
        signs[static_cast<std::size_t>(k)] =
            sketchSigns(rows.seed, number * static_cast<std::uint64_t>(2 * words) + static_cast<std::uint64_t>(k));
      }
      kernels.sketch(chunk(X.rowRange(block.begin, block.end - block.begin)), block.place, signs.data(), height,
                     memory.data(), sums.slot(slot));
    }
  });
  sums.fold();
  const T scale = T(1) / std::sqrt(T(height));
  for (int j = 0; j < X.cols; ++j) {
    for (std::ptrdiff_t i = 0; i < S.rows; ++i) S(i, j) = scale * sums.total(i + S.rows * j);
  }
}

/// One column of X in some of the blocks: all of a column of S, to which nobody else adds.
template <class T>
struct SketchPart {
  SketchedRows rows;
  MatrixRef<const T> X;
  int height;
  std::ptrdiff_t blocks;
  int parts;
  T* partial;  ///< of each column and part: its sums, and a block

  KOKKOS_FUNCTION void operator()(const std::ptrdiff_t index) const {
    const auto part = index / X.cols;
    const auto column = static_cast<int>(index % X.cols);
    T* const sums = partial + index * 2 * height;
    T* const y = sums + height;
    for (int i = 0; i < height; ++i) sums[i] = T(0);
    const std::uint64_t first = rows.first / static_cast<std::uint64_t>(height);
    for (std::ptrdiff_t b = blocks * part / parts; b < blocks * (part + 1) / parts; ++b) {
      const std::uint64_t number = first + static_cast<std::uint64_t>(b);
      const SketchBlock block(rows, X.rows, height, number);
      for (int i = 0; i < height; ++i) y[i] = T(0);
      for (std::ptrdiff_t row = block.begin; row < block.end; ++row) {
        const int i = block.place + static_cast<int>(row - block.begin);
        y[i] = withSign(number, i, X(row, column));
      }
      for (int h = 1; h < height; h *= 2) {
        for (int i = 0; i < height; i = (i + 1) % h == 0 ? i + 1 + h : i + 1) {
          const T upper = y[i], lower = y[i + h];
          y[i] = upper + lower;
          y[i + h] = upper - lower;
        }
      }
      for (int i = 0; i < height; ++i) sums[i] += withSign(number, height + i, y[i]);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION T withSign(std::uint64_t number, int bit, T value) const {
    const std::uint64_t word = number * static_cast<std::uint64_t>(height / 32) + static_cast<std::uint64_t>(bit / 64);
    return (sketchSigns(rows.seed, word) >> (bit % 64) & 1U) != 0 ? -value : value;
  }
};

template <class T>
struct AddSketchParts {
  MatrixRef<T> S;
  int parts;
  T scale;
  const T* partial;

  KOKKOS_FUNCTION void operator()(const std::ptrdiff_t index) const {
    const auto column = static_cast<int>(index / S.rows);
    const std::ptrdiff_t row = index % S.rows;
    T sum = T(0);
    for (int part = 0; part < parts; ++part)
      sum += partial[(std::ptrdiff_t(part) * S.cols + column) * 2 * S.rows + row];
    S(row, column) = scale * sum;
  }
};

/// The most parts of the rows. Chosen, not measured on a device.
constexpr std::ptrdiff_t mostSketchParts = 256;

template <class Exec, class T>
void sketchOn(GenericPath, Queue<Exec>& queue, const SketchedRows& rows, const MatrixRef<const T>& X,
              const MatrixRef<T>& S) {
  const auto height = static_cast<int>(S.rows);
  const std::ptrdiff_t blocks = sketchBlocks(rows, X.rows, height);
  const auto parts = static_cast<int>(std::max<std::ptrdiff_t>(1, std::min(blocks, mostSketchParts)));
  T* const partial = workspace<Exec, T>(queue, static_cast<std::size_t>(2 * S.rows * parts * X.cols));
  launch("capstan sketch", queue, std::ptrdiff_t(parts) * X.cols,
         SketchPart<T>{rows, X, height, blocks, parts, partial});
  launch("capstan sketch parts", queue, S.rows * S.cols,
         AddSketchParts<T>{S, parts, T(1) / std::sqrt(T(height)), partial});
}

}  // namespace detail

/// S = Theta X in one pass over X.
///
/// \param X n x k
/// \param S m x k, isSketchHeight(m), overwritten
/// \throws std::invalid_argument when the shapes do not fit or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewX, class ViewS>
void sketch(Queue<Exec>& queue, const SketchedRows& rows, const ViewX& X, const ViewS& S) {
  using T = detail::ScalarOf<ViewS>;
  const detail::MatrixRef<const T> x = detail::matrixRef<Exec>(X, "sketch", "X");
  const detail::MatrixRef<T> s = detail::matrixRef<Exec>(S, "sketch", "S");
  detail::requireShape(s, s.rows, x.cols, "sketch", "S");
  if (!isSketchHeight(s.rows)) {
    throw std::invalid_argument("capstan::kernels::sketch: S has " + std::to_string(s.rows) +
                                " rows, must have a power of two from " + std::to_string(fewestSketchRows) + " to " +
                                std::to_string(mostSketchRows));
  }
  if (x.cols == 0) return;
  detail::onPath<Path, Exec>("sketch", [=, &queue](auto path) { detail::sketchOn(path, queue, rows, x, s); });
}

}  // namespace capstan::kernels
