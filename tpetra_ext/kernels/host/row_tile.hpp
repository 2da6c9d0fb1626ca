#pragma once
/// \file
/// V += sign Q R for wide V: a few rows of all of V's columns stay in registers while the columns of Q pass by, so V is
/// loaded and stored once, not once per group of Q's columns.

#include <cstddef>

#include "tpetra_ext/kernels/host/simd.hpp"

namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA {

constexpr int rowTileWidth = vectorRegisters == 32 ? 12 : 6;  // columns of V
constexpr int rowTilePacks = 2;                               // registers of rows
constexpr int rowTileDepth = 32;                              // columns of Q in one pass
// More columns than the hardware's prefetchers follow, so the kernel asks for what it needs a few tiles later.
constexpr int prefetchBytes = 512;

/// `coefficients` is depth x N, by rows.
template <class T, int N>
void rowTiles(const MatrixRef<const T>& Q, int i0, int depth, const T* coefficients, const MatrixRef<T>& V, int j0) {
  constexpr int width = Pack<T>::width;
  const std::ptrdiff_t rows = V.rows;
  const std::ptrdiff_t strideQ = Q.stride;
  const std::ptrdiff_t strideV = V.stride;
  for (std::ptrdiff_t row = 0; row + rowTilePacks * width <= rows; row += rowTilePacks * width) {
    T* v = V.column(j0) + row;
    Pack<T> sum[N][rowTilePacks];
    CAPSTAN_UNROLL
    for (int j = 0; j < N; ++j) {
      CAPSTAN_UNROLL
      for (int p = 0; p < rowTilePacks; ++p) sum[j][p] = Pack<T>::load(v + j * strideV + p * width);
    }
    const T* q = Q.column(i0) + row;
    const T* r = coefficients;
    for (int i = 0; i < depth; ++i, q += strideQ, r += N) {
      prefetch(q + prefetchBytes / int(sizeof(T)), rowTilePacks * vectorBytes);
      Pack<T> qp[rowTilePacks];
      CAPSTAN_UNROLL
      for (int p = 0; p < rowTilePacks; ++p) qp[p] = Pack<T>::load(q + p * width);
      CAPSTAN_UNROLL
      for (int j = 0; j < N; ++j) {
        const Pack<T> coefficient = Pack<T>::fill(r[j]);
        CAPSTAN_UNROLL
        for (int p = 0; p < rowTilePacks; ++p) sum[j][p].multiplyAdd(coefficient, qp[p]);
      }
    }
    CAPSTAN_UNROLL
    for (int j = 0; j < N; ++j) {
      CAPSTAN_UNROLL
      for (int p = 0; p < rowTilePacks; ++p) sum[j][p].store(v + j * strideV + p * width);
    }
  }
}

template <class T, int N = rowTileWidth>
void rowTilesDispatch(int n, const MatrixRef<const T>& Q, int i0, int depth, const T* coefficients,
                      const MatrixRef<T>& V, int j0) {
  if (n == N) {
    rowTiles<T, N>(Q, i0, depth, coefficients, V, j0);
  } else if constexpr (N > 1) {
    rowTilesDispatch<T, N - 1>(n, Q, i0, depth, coefficients, V, j0);
  }
}

/// V += sign Q R on the leading rows of a chunk; returns their number. The rest is less than one tile high.
template <class T>
std::ptrdiff_t updateByRowTiles(const MatrixRef<const T>& Q, const MatrixRef<const T>& R, T sign,
                                const MatrixRef<T>& V) {
  constexpr int tileRows = rowTilePacks * Pack<T>::width;
  const ColumnBlocks blocks(V.cols, rowTileWidth);
  T coefficients[rowTileDepth * rowTileWidth];
  for (int i0 = 0; i0 < Q.cols; i0 += rowTileDepth) {
    const int depth = Q.cols - i0 < rowTileDepth ? Q.cols - i0 : rowTileDepth;
    for (int block = 0; block < blocks.count; ++block) {
      const int j0 = blocks.begin(block);
      const int n = blocks.width(block);
      for (int i = 0; i < depth; ++i) {
        for (int j = 0; j < n; ++j) coefficients[i * n + j] = sign * R(i0 + i, j0 + j);
      }
      rowTilesDispatch<T>(n, Q, i0, depth, coefficients, V, j0);
    }
  }
  return V.rows - V.rows % tileRows;
}

}  // namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA
