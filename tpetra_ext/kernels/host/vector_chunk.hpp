#pragma once
/// \file
/// Dot products and recurrences of vectors on one chunk of rows.

#include <cstddef>

#include "tpetra_ext/kernels/host/simd.hpp"

namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA {

/// Four entries of sums += the products of one chunk; four chains hide the latency of the additions.
template <class T>
void dotChunk(const T* x, const T* y, std::ptrdiff_t rows, T* sums) {
  constexpr int width = Pack<T>::width;
  constexpr int chains = 4;
  Pack<T> sum[chains];
  for (int c = 0; c < chains; ++c) sum[c] = Pack<T>::load(sums + c * width);
  std::ptrdiff_t row = 0;
  for (; row + chains * width <= rows; row += chains * width) {
    CAPSTAN_UNROLL
    for (int c = 0; c < chains; ++c) {
      sum[c].multiplyAdd(Pack<T>::load(x + row + c * width), Pack<T>::load(y + row + c * width));
    }
  }
  for (; row + width <= rows; row += width) sum[0].multiplyAdd(Pack<T>::load(x + row), Pack<T>::load(y + row));
  if (row < rows) {
    const int rest = static_cast<int>(rows - row);
    sum[1].multiplyAdd(Pack<T>::loadPart(x + row, rest), Pack<T>::loadPart(y + row, rest));
  }
  for (int c = 0; c < chains; ++c) sum[c].store(sums + c * width);
}

/// Four entries of sums += the magnitudes of one chunk.
template <class T>
void magnitudesChunk(const T* x, std::ptrdiff_t rows, T* sums) {
  constexpr int width = Pack<T>::width;
  constexpr int chains = 4;
  Pack<T> sum[chains];
  for (int c = 0; c < chains; ++c) sum[c] = Pack<T>::load(sums + c * width);
  std::ptrdiff_t row = 0;
  for (; row + chains * width <= rows; row += chains * width) {
    CAPSTAN_UNROLL
    for (int c = 0; c < chains; ++c) sum[c].addMagnitude(Pack<T>::load(x + row + c * width));
  }
  for (; row + width <= rows; row += width) sum[0].addMagnitude(Pack<T>::load(x + row));
  if (row < rows) sum[1].addMagnitude(Pack<T>::loadPart(x + row, static_cast<int>(rows - row)));
  for (int c = 0; c < chains; ++c) sum[c].store(sums + c * width);
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
