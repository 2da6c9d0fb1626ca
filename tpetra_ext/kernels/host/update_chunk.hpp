#pragma once
/// \file
/// V += sign Q R and V <- V U^{-1} on one chunk of rows, in register tiles.

#include <cstddef>

#include "tpetra_ext/kernels/host/row_tile.hpp"
#include "tpetra_ext/kernels/host/simd.hpp"

namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA {

/// Widest block of columns of V in a tile, and columns of Q beside a block of width `width`: their coefficients, one
/// register each, stay in registers over all rows of the chunk.
constexpr int updateBlockWidth = vectorRegisters == 32 ? 6 : 3;
constexpr int updateTileDepth(int width) {
  if (vectorRegisters == 32) return width <= 2 ? 8 : (width == 3 ? 6 : 4);
  return width == 1 ? 6 : (width == 2 ? 4 : 3);
}

/// Entries of Q, of precision S, may be shorter than those of V.
template <class T, int M, int N, class S>
void updateTile(const MatrixRef<const S>& Q, int i0, const MatrixRef<const T>& R, T sign, const MatrixRef<T>& V,
                int j0) {
  constexpr int width = Pack<T>::width;
  const S* q[M];
  T* v[N];
  Pack<T> coefficient[N][M];
  for (int i = 0; i < M; ++i) q[i] = Q.column(i0 + i);
  for (int j = 0; j < N; ++j) v[j] = V.column(j0 + j);
  CAPSTAN_UNROLL
  for (int j = 0; j < N; ++j) {
    CAPSTAN_UNROLL
    for (int i = 0; i < M; ++i) coefficient[j][i] = Pack<T>::fill(sign * R(i0 + i, j0 + j));
  }
  Pack<T> qp[M];
  const std::ptrdiff_t rows = V.rows;
  const std::ptrdiff_t whole = rows - rows % width;
  for (std::ptrdiff_t row = 0; row < whole; row += width) {
    CAPSTAN_UNROLL
    for (int i = 0; i < M; ++i) qp[i] = Pack<T>::load(q[i] + row);
    CAPSTAN_UNROLL
    for (int j = 0; j < N; ++j) {
      Pack<T> vp = Pack<T>::load(v[j] + row);
      CAPSTAN_UNROLL
      for (int i = 0; i < M; ++i) vp.multiplyAdd(coefficient[j][i], qp[i]);
      vp.store(v[j] + row);
    }
  }
  if (whole < rows) {
    const int rest = static_cast<int>(rows - whole);
    for (int i = 0; i < M; ++i) qp[i] = Pack<T>::loadPart(q[i] + whole, rest);
    for (int j = 0; j < N; ++j) {
      Pack<T> vp = Pack<T>::loadPart(v[j] + whole, rest);
      for (int i = 0; i < M; ++i) vp.multiplyAdd(coefficient[j][i], qp[i]);
      vp.storePart(v[j] + whole, rest);
    }
  }
}

template <class T, int N, int M = updateTileDepth(N), class S>
void updateTileDispatch(int m, const MatrixRef<const S>& Q, int i0, const MatrixRef<const T>& R, T sign,
                        const MatrixRef<T>& V, int j0) {
  if (m == M) {
    updateTile<T, M, N>(Q, i0, R, sign, V, j0);
  } else if constexpr (M > 1) {
    updateTileDispatch<T, N, M - 1>(m, Q, i0, R, sign, V, j0);
  }
}

template <class T, int N = updateBlockWidth, class S>
void updateColumnBlock(int n, const MatrixRef<const S>& Q, int i0, int count, const MatrixRef<const T>& R, T sign,
                       const MatrixRef<T>& V, int j0) {
  if (n == N) {
    for (int i = 0; i < count; i += updateTileDepth(N)) {
      const int m = count - i < updateTileDepth(N) ? count - i : updateTileDepth(N);
      updateTileDispatch<T, N>(m, Q, i0 + i, R, sign, V, j0);
    }
  } else if constexpr (N > 1) {
    updateColumnBlock<T, N - 1>(n, Q, i0, count, R, sign, V, j0);
  }
}

/// V += sign Q R on one chunk, V narrow: groups of Q's columns pass by while V is in the first-level cache.
template <class T, class S>
void updateByColumnGroups(const MatrixRef<const S>& Q, const MatrixRef<const T>& R, T sign, const MatrixRef<T>& V) {
  const ColumnBlocks blocks(V.cols, updateBlockWidth);
  if (blocks.count == 0) return;
  const int group = updateTileDepth(blocks.width(blocks.count - 1));
  for (int i = 0; i < Q.cols; i += group) {
    const int count = Q.cols - i < group ? Q.cols - i : group;
    for (int block = 0; block < blocks.count; ++block) {
      updateColumnBlock<T>(blocks.width(block), Q, i, count, R, sign, V, blocks.begin(block));
    }
  }
}

/// V += sign Q R on one chunk. Q and V must not overlap.
template <class T>
void updateChunk(const MatrixRef<const T>& Q, const MatrixRef<const T>& R, T sign, const MatrixRef<T>& V) {
  std::ptrdiff_t done = 0;
  if (V.cols > updateBlockWidth) done = updateByRowTiles<T>(Q, R, sign, V);
  if (done < V.rows) {
    updateByColumnGroups<T>(Q.rowRange(done, V.rows - done), R, sign, V.rowRange(done, V.rows - done));
  }
}

/// to = what single precision has of `from`, on one chunk. Numbers smaller than its normal ones become zero: products
/// with others would take many times longer.
template <class T>
void roundChunk(const MatrixRef<const T>& from, const MatrixRef<float>& to) {
  constexpr T smallest = T(1.17549435082228750797e-38);
  for (int j = 0; j < to.cols; ++j) {
    const T* const given = from.column(j);
    float* const rounded = to.column(j);
    CAPSTAN_INDEPENDENT
    for (std::ptrdiff_t i = 0; i < to.rows; ++i) {
      const bool tiny = given[i] < smallest && given[i] > -smallest;
      rounded[i] = static_cast<float>(tiny ? T(0) : given[i]);
    }
  }
}

/// One step of the triangular solve, on the lanes of N columns.
template <class T, int N>
CAPSTAN_INLINE void solveStep(const Pack<T> (&coefficient)[N][N], Pack<T> (&v)[N]) {
  CAPSTAN_UNROLL
  for (int j = 0; j < N; ++j) {
    CAPSTAN_UNROLL
    for (int i = 0; i < j; ++i) v[j].multiplyAdd(coefficient[j][i], v[i]);
    v[j].scale(coefficient[j][j]);
  }
}

/// Columns [j0, j0 + N) of V <- themselves times the inverse of U's diagonal block there.
template <class T, int N>
void solveTile(const MatrixRef<T>& V, const MatrixRef<const T>& U, int j0) {
  constexpr int width = Pack<T>::width;
  T* v[N];
  Pack<T> coefficient[N][N];
  for (int j = 0; j < N; ++j) {
    v[j] = V.column(j0 + j);
    for (int i = 0; i < j; ++i) coefficient[j][i] = Pack<T>::fill(-U(j0 + i, j0 + j));
    coefficient[j][j] = Pack<T>::fill(T(1) / U(j0 + j, j0 + j));
  }
  Pack<T> vp[N];
  const std::ptrdiff_t rows = V.rows;
  const std::ptrdiff_t whole = rows - rows % width;
  for (std::ptrdiff_t row = 0; row < whole; row += width) {
    CAPSTAN_UNROLL
    for (int j = 0; j < N; ++j) vp[j] = Pack<T>::load(v[j] + row);
    solveStep<T, N>(coefficient, vp);
    CAPSTAN_UNROLL
    for (int j = 0; j < N; ++j) vp[j].store(v[j] + row);
  }
  if (whole < rows) {
    const int rest = static_cast<int>(rows - whole);
    for (int j = 0; j < N; ++j) vp[j] = Pack<T>::loadPart(v[j] + whole, rest);
    solveStep<T, N>(coefficient, vp);
    for (int j = 0; j < N; ++j) vp[j].storePart(v[j] + whole, rest);
  }
}

template <class T, int N = updateBlockWidth>
void solveTileDispatch(int n, const MatrixRef<T>& V, const MatrixRef<const T>& U, int j0) {
  if (n == N) {
    solveTile<T, N>(V, U, j0);
  } else if constexpr (N > 1) {
    solveTileDispatch<T, N - 1>(n, V, U, j0);
  }
}

/// V <- V U^{-1} on one chunk, by forward substitution over blocks of columns.
template <class T>
void solveChunk(const MatrixRef<T>& V, const MatrixRef<const T>& U) {
  const ColumnBlocks blocks(V.cols, updateBlockWidth);
  for (int block = 0; block < blocks.count; ++block) {
    const int j = blocks.begin(block);
    const int n = blocks.width(block);
    updateChunk<T>(readOnly(V.block(0, V.rows, 0, j)), U.block(0, j, j, n), T(-1), V.block(0, V.rows, j, n));
    solveTileDispatch<T>(n, V, U, j);
  }
}

}  // namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA
