#pragma once
/// \file
/// The register tiles of X^T Y and of B^T B(:, first:end) for the generic path.

#include "tpetra_ext/kernels/base/matrix_ref.hpp"
#include "tpetra_ext/kernels/generic/partial_sums.hpp"

namespace capstan::kernels::detail {

/// The columns of [Q W], Q in single precision, as those of one matrix.
template <class T>
struct SingleColumnsFirst {
  MatrixRef<const float> Q;
  MatrixRef<const T> W;
  int cols = 0;  ///< of both

  KOKKOS_INLINE_FUNCTION T operator()(std::ptrdiff_t row, int column) const {
    return column < Q.cols ? T(Q(row, column)) : W(row, column - Q.cols);
  }
};

/// Tiles of M columns of X by N of Y. A tile over the edge repeats the last column and drops the result.
///
/// With symmetricFrom >= 0, X(:, symmetricFrom:end)^T Y is known to be symmetric, or its first columns are where Y has
/// more: tiles below the diagonal of that square are left out and mirrored when written.
template <class T, int M, int N, class Left = MatrixRef<const T>>
struct GramTiles {
  static constexpr int size = M * N;
  Left X;
  MatrixRef<const T> Y;
  MatrixRef<T> C;
  int symmetricFrom;
  int tileRows;
  int tileCols;

  GramTiles(const Left& x, const MatrixRef<const T>& y, const MatrixRef<T>& c, int symmetric)
      : X(x), Y(y), C(c), symmetricFrom(symmetric), tileRows((x.cols + M - 1) / M), tileCols((y.cols + N - 1) / N) {}

  KOKKOS_INLINE_FUNCTION int count() const { return tileRows * tileCols; }
  KOKKOS_INLINE_FUNCTION bool belowDiagonal(int i, int j) const { return symmetricFrom >= 0 && i > symmetricFrom + j; }

  KOKKOS_INLINE_FUNCTION void add(int tile, std::ptrdiff_t row, T (&sums)[size]) const {
    const int i0 = (tile % tileRows) * M;
    const int j0 = (tile / tileRows) * N;
    if (belowDiagonal(i0, j0 + N - 1)) return;
    T x[M];
    for (int i = 0; i < M; ++i) x[i] = X(row, i0 + i < X.cols ? i0 + i : X.cols - 1);
    for (int j = 0; j < N; ++j) {
      const T y = Y(row, j0 + j < Y.cols ? j0 + j : Y.cols - 1);
      for (int i = 0; i < M; ++i) sums[j * M + i] += x[i] * y;
    }
  }

  KOKKOS_INLINE_FUNCTION void write(int tile, int k, T sum) const {
    const int i = (tile % tileRows) * M + k % M;
    const int j = (tile / tileRows) * N + k / M;
    if (i >= C.rows || j >= C.cols || belowDiagonal(i, j)) return;
    C(i, j) = sum;
    if (symmetricFrom >= 0 && i >= symmetricFrom && symmetricFrom + j < C.rows) {
      C(symmetricFrom + j, i - symmetricFrom) = sum;
    }
  }
};

/// C = X^T Y, or with symmetricFrom >= 0 its symmetric form, see GramTiles.
template <class Exec, class Left, class T>
void gramGeneric(Queue<Exec>& queue, const Left& X, const MatrixRef<const T>& Y, const MatrixRef<T>& C,
                 int symmetricFrom) {
  if (X.cols == 0 || Y.cols == 0) return;
  if (Y.cols == 1) {
    sumOverRows<Exec, T>(queue, Y.rows, GramTiles<T, 8, 1, Left>(X, Y, C, symmetricFrom));
  } else if ((Y.cols + 4) / 5 * 5 <= (Y.cols + 3) / 4 * 4) {  // the width that repeats fewer columns
    sumOverRows<Exec, T>(queue, Y.rows, GramTiles<T, 6, 5, Left>(X, Y, C, symmetricFrom));
  } else {
    sumOverRows<Exec, T>(queue, Y.rows, GramTiles<T, 6, 4, Left>(X, Y, C, symmetricFrom));
  }
}

}  // namespace capstan::kernels::detail
