#pragma once
/// \file
/// Dot products and recurrences of vectors on one chunk of rows.

#include <cstddef>

#include "tpetra_ext/kernels/host/simd.hpp"

namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA {

/// A pack of entries from `row` on; fewer where the chunk ends before.
template <class T>
struct PackAt {
  std::ptrdiff_t row;
  int count = Pack<T>::width;

  CAPSTAN_INLINE Pack<T> of(const T* x) const {
    return count == Pack<T>::width ? Pack<T>::load(x + row) : Pack<T>::loadPart(x + row, count);
  }
};

/// Calls add(sum, place) for all rows of one chunk, sum being one of four packs of `sums`: four chains hide the latency
/// of the additions.
template <class T, class Add>
CAPSTAN_INLINE void addInChains(std::ptrdiff_t rows, T* sums, const Add& add) {
  constexpr int width = Pack<T>::width;
  constexpr int chains = 4;
  Pack<T> sum[chains];
  for (int c = 0; c < chains; ++c) sum[c] = Pack<T>::load(sums + c * width);
  std::ptrdiff_t row = 0;
  for (; row + chains * width <= rows; row += chains * width) {
    CAPSTAN_UNROLL
    for (int c = 0; c < chains; ++c) add(sum[c], PackAt<T>{row + c * width});
  }
  for (; row + width <= rows; row += width) add(sum[0], PackAt<T>{row});
  if (row < rows) add(sum[1], PackAt<T>{row, static_cast<int>(rows - row)});
  for (int c = 0; c < chains; ++c) sum[c].store(sums + c * width);
}

/// Four packs of sums += the products of one chunk.
template <class T>
void dotChunk(const T* x, const T* y, std::ptrdiff_t rows, T* sums) {
  addInChains(rows, sums, [x, y](Pack<T>& sum, PackAt<T> at) { sum.multiplyAdd(at.of(x), at.of(y)); });
}

/// Four packs of sums += the magnitudes of one chunk.
template <class T>
void magnitudesChunk(const T* x, std::ptrdiff_t rows, T* sums) {
  addInChains(rows, sums, [x](Pack<T>& sum, PackAt<T> at) { sum.addMagnitude(at.of(x)); });
}

/// Four packs of sums += the entries of one chunk.
template <class T>
void sumChunk(const T* x, std::ptrdiff_t rows, T* sums) {
  addInChains(rows, sums, [x](Pack<T>& sum, PackAt<T> at) { sum.add(at.of(x)); });
}

/// z = a x + b y + c w on one chunk. A term whose factor b or c is zero is not read; c is zero where b is. Every
/// operand is the output itself or apart from it, so no iteration depends on another.
template <class T>
void combineChunk(T a, const T* x, T b, const T* y, T c, const T* w, T* z, std::ptrdiff_t count) {
  if (b == T(0)) {
    CAPSTAN_INDEPENDENT
    for (std::ptrdiff_t i = 0; i < count; ++i) z[i] = a * x[i];
    return;
  }
  if (c == T(0)) {
    CAPSTAN_INDEPENDENT
    for (std::ptrdiff_t i = 0; i < count; ++i) z[i] = a * x[i] + b * y[i];
    return;
  }
  CAPSTAN_INDEPENDENT
  for (std::ptrdiff_t i = 0; i < count; ++i) z[i] = a * x[i] + b * y[i] + c * w[i];
}

}  // namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA
