#pragma once
/// \file
/// Inner products of the columns of one chunk of rows, in register tiles.

#include <cstddef>

#include "tpetra_ext/kernels/host/simd.hpp"

namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA {

/// Widest block of columns of Y in a tile, and columns of X beside a block of width `width`: as many sums as the
/// registers hold, and never so few that the multiply-add latency shows.
constexpr int gramBlockWidth = vectorRegisters == 32 ? 6 : 3;
constexpr int gramTileRows(int width) {
  if (vectorRegisters == 32) return width == 1 ? 8 : (width == 2 ? 6 : 4);
  return width == 1 ? 6 : (width == 2 ? 4 : 3);
}

/// Sums are kept as registers are: entry k of `total` is the Pack<T>::width scalars from total + k * width on.
///
/// sums(i, j) += x_i^T y_j for M columns of X and N of Y; with `Triangle` X = Y and only i <= j is computed. Entries of
/// X, of precision S, may be shorter than those of Y.
template <class T, int M, int N, bool Triangle>
CAPSTAN_INLINE void gramStep(const Pack<T> (&x)[M], const Pack<T> (&y)[N], Pack<T> (&sums)[N][M]) {
  CAPSTAN_UNROLL
  for (int j = 0; j < N; ++j) {
    CAPSTAN_UNROLL
    for (int i = 0; i < M; ++i) {
      if (!Triangle || i <= j) sums[j][i].multiplyAdd(x[i], y[j]);
    }
  }
}

template <class T, int M, int N, bool Triangle, class S>
void gramTile(const MatrixRef<const S>& X, int i0, const MatrixRef<const T>& Y, int j0, T* total,
              std::ptrdiff_t totalStride) {
  constexpr int width = Pack<T>::width;
  const S* x[M];
  const T* y[N];
  for (int i = 0; i < M; ++i) x[i] = X.column(i0 + i);
  for (int j = 0; j < N; ++j) y[j] = Y.column(j0 + j);
  Pack<T> sums[N][M];
  CAPSTAN_UNROLL
  for (int j = 0; j < N; ++j) {
    CAPSTAN_UNROLL
    for (int i = 0; i < M; ++i) sums[j][i] = Pack<T>::load(total + (j * totalStride + i) * width);
  }
  Pack<T> xp[M];
  Pack<T> yp[N];
  std::ptrdiff_t row = 0;
  for (; row + width <= X.rows; row += width) {
    CAPSTAN_UNROLL
    for (int i = 0; i < M; ++i) xp[i] = Pack<T>::load(x[i] + row);
    CAPSTAN_UNROLL
    for (int j = 0; j < N; ++j) yp[j] = Pack<T>::load(y[j] + row);
    gramStep<T, M, N, Triangle>(xp, yp, sums);
  }
  if (row < X.rows) {
    const int rest = static_cast<int>(X.rows - row);
    for (int i = 0; i < M; ++i) xp[i] = Pack<T>::loadPart(x[i] + row, rest);
    for (int j = 0; j < N; ++j) yp[j] = Pack<T>::loadPart(y[j] + row, rest);
    gramStep<T, M, N, Triangle>(xp, yp, sums);
  }
  CAPSTAN_UNROLL
  for (int j = 0; j < N; ++j) {
    CAPSTAN_UNROLL
    for (int i = 0; i < M; ++i) {
      if (!Triangle || i <= j) sums[j][i].store(total + (j * totalStride + i) * width);
    }
  }
}

/// Turns the run-time number of X's columns into the compile-time one of the tile.
template <class T, int N, int M = gramTileRows(N), class S>
void gramTileRowsDispatch(int m, const MatrixRef<const S>& X, int i0, const MatrixRef<const T>& Y, int j0, T* total,
                          std::ptrdiff_t totalStride) {
  if (m == M) {
    gramTile<T, M, N, false>(X, i0, Y, j0, total, totalStride);
  } else if constexpr (M > 1) {
    gramTileRowsDispatch<T, N, M - 1>(m, X, i0, Y, j0, total, totalStride);
  }
}

/// One column block of Y of run-time width n against columns [i0, i0 + count) of X.
template <class T, int N = gramBlockWidth, class S>
void gramColumnBlock(int n, const MatrixRef<const S>& X, int i0, int count, const MatrixRef<const T>& Y, int j0,
                     T* total, std::ptrdiff_t totalStride) {
  if (n == N) {
    for (int i = 0; i < count; i += gramTileRows(N)) {
      const int m = count - i < gramTileRows(N) ? count - i : gramTileRows(N);
      gramTileRowsDispatch<T, N>(m, X, i0 + i, Y, j0, total + (i0 + i) * Pack<T>::width, totalStride);
    }
  } else if constexpr (N > 1) {
    gramColumnBlock<T, N - 1>(n, X, i0, count, Y, j0, total, totalStride);
  }
}

/// Of columns i0 to i0 + n - 1 of X and j0 to j0 + n - 1 of Y the upper triangle.
template <class T, int N = gramBlockWidth>
void gramTriangle(int n, const MatrixRef<const T>& X, int i0, const MatrixRef<const T>& Y, int j0, T* total,
                  std::ptrdiff_t totalStride) {
  if (n == N) {
    gramTile<T, N, N, true>(X, i0, Y, j0, total, totalStride);
  } else if constexpr (N > 1) {
    gramTriangle<T, N - 1>(n, X, i0, Y, j0, total, totalStride);
  }
}

/// total += X^T Y of one chunk; (i, j) is entry i + j * X.cols of `total`.
template <class T>
void innerProductsChunk(const MatrixRef<const T>& X, const MatrixRef<const T>& Y, T* total) {
  const ColumnBlocks blocks(Y.cols, gramBlockWidth);
  const int group = blocks.count == 0 ? 1 : gramTileRows(blocks.width(blocks.count - 1));
  // A group of X's columns meets all of Y while it is in the first-level cache.
  for (int i = 0; i < X.cols; i += group) {
    const int count = X.cols - i < group ? X.cols - i : group;
    for (int block = 0; block < blocks.count; ++block) {
      const int j = blocks.begin(block);
      gramColumnBlock<T>(blocks.width(block), X, i, count, Y, j, total + std::ptrdiff_t(j) * X.cols * Pack<T>::width,
                         X.cols);
    }
  }
}

/// total += B^T B(:, first:end) of one chunk; of the trailing square only the upper triangle is computed. (i, j) is
/// entry i + j * stride of `total`.
template <class T>
void trailingGramChunk(const MatrixRef<const T>& B, int first, T* total, std::ptrdiff_t stride) {
  const int trailing = B.cols - first;
  const ColumnBlocks blocks(trailing, gramBlockWidth);
  if (blocks.count == 0) return;
  const int group = gramTileRows(blocks.width(blocks.count - 1));
  const int lastStart = first + blocks.begin(blocks.count - 1);
  for (int i = 0; i < lastStart; i += group) {
    for (int block = 0; block < blocks.count; ++block) {
      const int limit = first + blocks.begin(block);
      if (i >= limit) continue;
      const int count = limit - i < group ? limit - i : group;
      const int j = blocks.begin(block);
      gramColumnBlock<T>(blocks.width(block), B, i, count, B, first + j, total + j * stride * Pack<T>::width, stride);
    }
  }
  for (int block = 0; block < blocks.count; ++block) {
    const int j = blocks.begin(block);
    gramTriangle<T>(blocks.width(block), B, first + j, B, first + j, total + (j * stride + first + j) * Pack<T>::width,
                    stride);
  }
}

/// total += [Q W]^T W(:, first:end) of one chunk, Q in single precision; of the trailing square only the upper triangle
/// is computed. (i, j) is entry i + j * (Q.cols + W.cols) of `total`.
template <class T>
void singleGramChunk(const MatrixRef<const float>& Q, const MatrixRef<const T>& W, int first, T* total) {
  const ColumnBlocks blocks(W.cols - first, gramBlockWidth);
  if (blocks.count == 0) return;
  const std::ptrdiff_t stride = std::ptrdiff_t(Q.cols) + W.cols;
  const int group = gramTileRows(blocks.width(blocks.count - 1));
  for (int i = 0; i < Q.cols; i += group) {
    const int count = Q.cols - i < group ? Q.cols - i : group;
    for (int block = 0; block < blocks.count; ++block) {
      const int j = blocks.begin(block);
      gramColumnBlock<T>(blocks.width(block), Q, i, count, W, first + j, total + j * stride * Pack<T>::width, stride);
    }
  }
  trailingGramChunk<T>(W, first, total + std::ptrdiff_t(Q.cols) * Pack<T>::width, stride);
}

/// total += X^T Y of one chunk, where (i, j) with i > j is not asked for: below the diagonal there are some numbers.
template <class T>
void upperProductsChunk(const MatrixRef<const T>& X, const MatrixRef<const T>& Y, T* total) {
  const ColumnBlocks blocks(Y.cols, gramBlockWidth);
  if (blocks.count == 0) return;
  const auto hasTriangle = [&](int block) { return blocks.begin(block + 1) <= X.cols; };
  const int group = gramTileRows(blocks.width(blocks.count - 1));
  for (int i = 0; i < X.cols; i += group) {
    for (int block = 0; block < blocks.count; ++block) {
      const int j = blocks.begin(block);
      const int limit = hasTriangle(block) ? j : X.cols;
      if (i >= limit) continue;
      const int count = limit - i < group ? limit - i : group;
      gramColumnBlock<T>(blocks.width(block), X, i, count, Y, j, total + std::ptrdiff_t(j) * X.cols * Pack<T>::width,
                         X.cols);
    }
  }
  for (int block = 0; block < blocks.count && hasTriangle(block); ++block) {
    const int j = blocks.begin(block);
    gramTriangle<T>(blocks.width(block), X, j, Y, j, total + (std::ptrdiff_t(j) * X.cols + j) * Pack<T>::width, X.cols);
  }
}

}  // namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA
