#pragma once
/// \file
/// Rows of a sparse matrix times a block that lies row by row, in register tiles; and such a block from columns.

#include <cstddef>

#include "tpetra_ext/kernels/host/chunk_kernels.hpp"
#include "tpetra_ext/kernels/host/column_chunk.hpp"
#include "tpetra_ext/kernels/host/simd.hpp"

namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA {

/// N scalars beside one another, in as many registers as that takes; N is a power of two. `Narrow`: less than any
/// register, by single scalars, since compilers round such vectors in other ways than the rest.
template <class T, int N, bool Narrow = (N * sizeof(T) < 16)>
struct RowPacks {
  static constexpr int width = N < Pack<T>::width ? N : Pack<T>::width;
  static constexpr int count = N / width;
#if defined(__GNUC__) && !defined(__CUDACC__)
  typedef T Vector __attribute__((vector_size(width * sizeof(T))));
#else
  struct Vector {
    T lane[width];
    Vector& operator+=(const Vector& other) {
      for (int i = 0; i < width; ++i) lane[i] += other.lane[i];
      return *this;
    }
    friend Vector operator*(T a, const Vector& b) {
      Vector c;
      for (int i = 0; i < width; ++i) c.lane[i] = a * b.lane[i];
      return c;
    }
  };
#endif
  Vector part[count];

  CAPSTAN_INLINE void clear() {
    CAPSTAN_UNROLL
    for (int p = 0; p < count; ++p) part[p] = Vector{};
  }
  CAPSTAN_INLINE void multiplyAdd(T factor, const T* from) {
    CAPSTAN_UNROLL
    for (int p = 0; p < count; ++p) {
      Vector values;
      std::memcpy(&values, from + p * width, sizeof(values));
#if defined(__GNUC__) && !defined(__CUDACC__)
      part[p] = plusProducts<T>(part[p], Vector(factor - Vector{}), values);
#else
      part[p] += factor * values;
#endif
    }
  }
  CAPSTAN_INLINE void store(T* to) const { std::memcpy(to, part, sizeof(part)); }
};

template <class T, int N>
struct RowPacks<T, N, true> {
  static constexpr int count = 1;
  T value[N];
  CAPSTAN_INLINE void clear() {
    for (int i = 0; i < N; ++i) value[i] = T(0);
  }
  CAPSTAN_INLINE void multiplyAdd(T factor, const T* from) {
    CAPSTAN_UNROLL
    for (int i = 0; i < N; ++i) value[i] = plusProduct(value[i], factor, from[i]);
  }
  CAPSTAN_INLINE void store(T* to) const { std::memcpy(to, value, sizeof(value)); }
};

/// The row of X for a column of A. `Plain`: nothing is received, and columns are where their numbers say.
template <bool Plain, class T>
CAPSTAN_INLINE const T* rowFor(const ChunkRows<T>& a, int column) {
  if (Plain) return a.x + static_cast<std::ptrdiff_t>(column) * a.cols;
  const int source = a.sources == nullptr ? column : a.sources[column];
  return source < a.own ? a.x + static_cast<std::ptrdiff_t>(source) * a.cols
                        : a.received + static_cast<std::ptrdiff_t>(source - a.own) * a.cols;
}

/// Columns [j0, j0 + N) of a row of the result.
template <class T, int N>
CAPSTAN_INLINE void writeTile(const ChunkRows<T>& a, std::ptrdiff_t row, int j0, const RowPacks<T, N>& packs) {
  T sum[N];
  packs.store(sum);
  T* y = a.y + row + j0 * a.stride;
  // What Y holds counts for nothing where beta is zero, NaN included.
  if (a.beta == T(0)) {
    for (int j = 0; j < N; ++j) y[j * a.stride] = a.alpha * sum[j];
  } else {
    for (int j = 0; j < N; ++j) y[j * a.stride] = a.beta * y[j * a.stride] + a.alpha * sum[j];
  }
}

/// Columns [j0, j0 + N) of R rows of the result. Entries of R rows are taken in turn, so that their sums, each in the
/// order of storage, do not wait for one another.
template <class T, int N, int R, bool Plain>
CAPSTAN_INLINE void rowsTile(const ChunkRows<T>& a, const int* rows, int j0) {
  RowPacks<T, N> sums[R];
  std::size_t begin[R], length[R];
  std::size_t common = ~std::size_t(0);
  for (int r = 0; r < R; ++r) {
    sums[r].clear();
    begin[r] = a.begin[rows[r]];
    length[r] = a.begin[rows[r] + 1] - begin[r];
    common = length[r] < common ? length[r] : common;
  }
  for (std::size_t k = 0; k < common; ++k) {
    CAPSTAN_UNROLL
    for (int r = 0; r < R; ++r) {
      const std::size_t entry = begin[r] + k;
      sums[r].multiplyAdd(a.values[entry], rowFor<Plain>(a, a.columns[entry]) + j0);
    }
  }
  CAPSTAN_UNROLL
  for (int r = 0; r < R; ++r) {
    for (std::size_t entry = begin[r] + common; entry < begin[r] + length[r]; ++entry) {
      sums[r].multiplyAdd(a.values[entry], rowFor<Plain>(a, a.columns[entry]) + j0);
    }
    writeTile<T, N>(a, rows[r], j0, sums[r]);
  }
}

/// The same for R rows of the same columns, from `row` on: a column's number and its row of X are read once.
template <class T, int N, int R, bool Plain>
CAPSTAN_INLINE void alikeTile(const ChunkRows<T>& a, std::ptrdiff_t row, int j0) {
  RowPacks<T, N> sums[R];
  CAPSTAN_UNROLL
  for (int r = 0; r < R; ++r) sums[r].clear();
  const std::size_t begin = a.begin[row], length = a.begin[row + 1] - begin;
  const T* const values = a.values + begin;
  for (std::size_t k = 0; k < length; ++k) {
    const T* const x = rowFor<Plain>(a, a.columns[begin + k]) + j0;
    CAPSTAN_UNROLL
    for (int r = 0; r < R; ++r) sums[r].multiplyAdd(values[static_cast<std::size_t>(r) * length + k], x);
  }
  CAPSTAN_UNROLL
  for (int r = 0; r < R; ++r) writeTile<T, N>(a, row + r, j0, sums[r]);
}

/// Rows that are taken together.
constexpr int rowGroup = 4;

/// As many rows at once as give four sums in registers; two for a column that is left over (measured: 0.44 ns an entry
/// with rows of 80, four at once 0.67, one 1.66).
template <class T, int N, bool Plain>
CAPSTAN_INLINE void rowsGroup(const ChunkRows<T>& a, const int* rows, int count, int j0) {
  constexpr int packs = RowPacks<T, N>::count;
  constexpr int together = N == 1 ? 2 : packs >= rowGroup ? 1 : rowGroup / packs;
  int r = 0;
  for (; r + together <= count; r += together) rowsTile<T, N, together, Plain>(a, rows + r, j0);
  if constexpr (together > 1) {
    for (; r < count; ++r) rowsTile<T, N, 1, Plain>(a, rows + r, j0);
  }
}

/// Columns [j0, j0 + N) of `count` rows of the same columns: so many at once as give eight sums in registers.
template <class T, int N, bool Plain>
CAPSTAN_INLINE void alikeGroup(const ChunkRows<T>& a, std::ptrdiff_t row, std::ptrdiff_t count, int j0) {
  constexpr int packs = RowPacks<T, N>::count;
  constexpr int together = packs >= 8 ? 1 : 8 / packs;
  const std::ptrdiff_t end = row + count;
  for (; row + together <= end; row += together) alikeTile<T, N, together, Plain>(a, row, j0);
  if constexpr (together > 4) {
    if (row + 4 <= end) {
      alikeTile<T, N, 4, Plain>(a, row, j0);
      row += 4;
    }
  }
  if constexpr (together > 2) {
    if (row + 2 <= end) {
      alikeTile<T, N, 2, Plain>(a, row, j0);
      row += 2;
    }
  }
  for (; row < end; ++row) alikeTile<T, N, 1, Plain>(a, row, j0);
}

/// tile(N as a type, j0) for all columns: 16 at once, and of the rest eight, four, two and one, as its digits say.
template <class Tile>
CAPSTAN_INLINE void forColumns(int columns, const Tile& tile) {
  int j = 0;
  for (; j + 16 <= columns; j += 16) tile(Number<16>(), j);
  const int rest = columns - j;
  if ((rest & 8) != 0) tile(Number<8>(), j);
  j += rest & 8;
  if ((rest & 4) != 0) tile(Number<4>(), j);
  j += rest & 4;
  if ((rest & 2) != 0) tile(Number<2>(), j);
  j += rest & 2;
  if ((rest & 1) != 0) tile(Number<1>(), j);
}

/// Places from..to-1 of the list.
template <class T, bool Plain>
CAPSTAN_INLINE void multiplyAnyRows(const ChunkRows<T>& a, std::ptrdiff_t from, std::ptrdiff_t to) {
  int numbers[rowGroup];
  for (std::ptrdiff_t k = from; k < to; k += rowGroup) {
    const int count = to - k < rowGroup ? static_cast<int>(to - k) : rowGroup;
    for (int r = 0; r < count; ++r) numbers[r] = a.rows == nullptr ? static_cast<int>(k) + r : a.rows[k + r];
    forColumns(a.cols, [&](auto wide, int j) { rowsGroup<T, decltype(wide)::value, Plain>(a, numbers, count, j); });
  }
}

template <class T, bool Plain>
void multiplyRowsWith(const ChunkRows<T>& a, std::ptrdiff_t from, std::ptrdiff_t to) {
  std::ptrdiff_t done = from;
  if (a.runCount > 0) {
    for (const RowRun* run = runAt(a, from); run->first < to && from < to; ++run) {
      const std::ptrdiff_t next = run[1].first < to ? run[1].first : to;
      if (run->length == sameColumns) {
        multiplyAnyRows<T, Plain>(a, done, from);
        const std::ptrdiff_t row = a.rows == nullptr ? from : a.rows[from], count = next - from;
        forColumns(a.cols, [&](auto wide, int j) { alikeGroup<T, decltype(wide)::value, Plain>(a, row, count, j); });
        done = next;
      }
      from = next;
    }
  }
  multiplyAnyRows<T, Plain>(a, done, to);
}

/// Rows from..to-1 of the list of rows.
template <class T>
void multiplyRowsChunk(const ChunkRows<T>& a, std::ptrdiff_t from, std::ptrdiff_t to) {
  if (a.cols == 1) {
    multiplyColumnChunk(a, from, to);
  } else if (a.received == nullptr && a.sources == nullptr) {
    multiplyRowsWith<T, true>(a, from, to);
  } else {
    multiplyRowsWith<T, false>(a, from, to);
  }
}

template <class T, int N>
CAPSTAN_INLINE void packTile(const MatrixRef<const T>& X, int j0, T* packed) {
  const T* x[N];
  for (int j = 0; j < N; ++j) x[j] = X.column(j0 + j);
  for (std::ptrdiff_t row = 0; row < X.rows; ++row) {
    T* to = packed + row * X.cols + j0;
    CAPSTAN_UNROLL
    for (int j = 0; j < N; ++j) to[j] = x[j][row];
  }
}

/// Entry j + row * X.cols of `packed` = X(row, j).
template <class T>
void packRowsChunk(const MatrixRef<const T>& X, T* packed) {
  int j = 0;
  for (; j + 8 <= X.cols; j += 8) packTile<T, 8>(X, j, packed);
  for (; j + 4 <= X.cols; j += 4) packTile<T, 4>(X, j, packed);
  for (; j < X.cols; ++j) packTile<T, 1>(X, j, packed);
}

}  // namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA
