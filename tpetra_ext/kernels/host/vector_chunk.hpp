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

/// Calls add(sum, place) for all rows of one chunk, sum[k] being one of the four packs of the k-th of `count` sums:
/// four chains hide the latency of the additions.
template <int count, class T, class Add>
CAPSTAN_INLINE void addInChains(std::ptrdiff_t rows, T* sums, const Add& add) {
  constexpr int width = Pack<T>::width;
  constexpr int chains = 4;
  Pack<T> sum[chains][count];
  for (int k = 0; k < count; ++k) {
    for (int c = 0; c < chains; ++c) sum[c][k] = Pack<T>::load(sums + (k * chains + c) * width);
  }
  std::ptrdiff_t row = 0;
  for (; row + chains * width <= rows; row += chains * width) {
    CAPSTAN_UNROLL
    for (int c = 0; c < chains; ++c) add(sum[c], PackAt<T>{row + c * width});
  }
  for (; row + width <= rows; row += width) add(sum[0], PackAt<T>{row});
  if (row < rows) add(sum[1], PackAt<T>{row, static_cast<int>(rows - row)});
  for (int k = 0; k < count; ++k) {
    for (int c = 0; c < chains; ++c) sum[c][k].store(sums + (k * chains + c) * width);
  }
}

/// Vectors whose products with another one dotsChunk() adds at once: as many as leave registers for what is loaded.
constexpr int dotsAtOnce = vectorBytes == 64 ? 4 : 2;

template <int count, class T>
CAPSTAN_INLINE void dotsOfChunk(const T* x, const T* const* y, std::ptrdiff_t rows, T* sums) {
  const T* other[count];
  for (int k = 0; k < count; ++k) other[k] = y[k];
  addInChains<count>(rows, sums, [x, &other](Pack<T>* sum, PackAt<T> at) {
    // Loads first: whatever is loaded, products and sums then stand side by side, and are fused alike.
    const Pack<T> entry = at.of(x);
    Pack<T> entries[count];
    CAPSTAN_UNROLL
    for (int k = 0; k < count; ++k) entries[k] = at.of(other[k]);
    CAPSTAN_UNROLL
    for (int k = 0; k < count; ++k) sum[k].multiplyAdd(entry, entries[k]);
  });
}

/// Four packs of the k-th sum += the products of one chunk of x and y_k, k < count <= dotsAtOnce. Each sum is the same
/// whatever others are formed with it.
template <class T>
void dotsChunk(const T* x, const T* const* y, int count, std::ptrdiff_t rows, T* sums) {
  switch (count) {
    case 1:
      return dotsOfChunk<1>(x, y, rows, sums);
    case 2:
      return dotsOfChunk<2>(x, y, rows, sums);
    case 3:
      return dotsOfChunk<3>(x, y, rows, sums);
    default:
      return dotsOfChunk<4>(x, y, rows, sums);
  }
}

/// Four packs of sums += the magnitudes of one chunk.
template <class T>
void magnitudesChunk(const T* x, std::ptrdiff_t rows, T* sums) {
  addInChains<1>(rows, sums, [x](Pack<T>* sum, PackAt<T> at) { sum->addMagnitude(at.of(x)); });
}

/// Four packs of sums += the entries of one chunk.
template <class T>
void sumChunk(const T* x, std::ptrdiff_t rows, T* sums) {
  addInChains<1>(rows, sums, [x](Pack<T>* sum, PackAt<T> at) { sum->add(at.of(x)); });
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

/// z = d * x entry by entry on one chunk; z is apart from both.
template <class T>
void scaleChunk(const T* d, const T* x, T* z, std::ptrdiff_t count) {
  CAPSTAN_INDEPENDENT
  for (std::ptrdiff_t i = 0; i < count; ++i) z[i] = d[i] * x[i];
}

/// y = d * x entry by entry + b y on one chunk; y is not read where b is zero. y is apart from d and x.
template <class T>
void scaledAxpbyChunk(const T* d, const T* x, T b, T* y, std::ptrdiff_t count) {
  if (b == T(0)) return scaleChunk(d, x, y, count);
  CAPSTAN_INDEPENDENT
  for (std::ptrdiff_t i = 0; i < count; ++i) y[i] = d[i] * x[i] + b * y[i];
}

}  // namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA
