#pragma once
/// \file
/// A block of rows with random signs, its Hadamard transform, and that with random signs to a sketch.

#include <cstddef>
#include <cstdint>

#include "tpetra_ext/kernels/host/simd.hpp"

namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA {

/// signs[i] = 1 or -1 by bit i.
template <class T>
void expandSigns(const std::uint64_t* words, int count, T* signs) {
  for (int i = 0; i < count; ++i) signs[i] = T(1) - T(2 * static_cast<int>(words[i / 64] >> (i % 64) & 1U));
}

/// y <- H y for pieces of 8 numbers.
template <class T>
CAPSTAN_INLINE void transformEights(T* y, int size) {
  for (int i = 0; i < size; i += 8) {
    T* const p = y + i;
    const T a0 = p[0] + p[1], a1 = p[0] - p[1], a2 = p[2] + p[3], a3 = p[2] - p[3];
    const T a4 = p[4] + p[5], a5 = p[4] - p[5], a6 = p[6] + p[7], a7 = p[6] - p[7];
    const T b0 = a0 + a2, b1 = a1 + a3, b2 = a0 - a2, b3 = a1 - a3;
    const T b4 = a4 + a6, b5 = a5 + a7, b6 = a4 - a6, b7 = a5 - a7;
    p[0] = b0 + b4, p[1] = b1 + b5, p[2] = b2 + b6, p[3] = b3 + b7;
    p[4] = b0 - b4, p[5] = b1 - b5, p[6] = b2 - b6, p[7] = b3 - b7;
  }
}

/// y <- H y, H the Hadamard matrix of a power of two from 64 on: pieces of 8, then two doublings a pass.
template <class T>
void hadamard(T* y, int size) {
  transformEights(y, size);
  int h = 8;
  for (; 4 * h <= size; h *= 4) {
    for (int first = 0; first < size; first += 4 * h) {
      T *const p = y + first, *const q = p + h, *const r = q + h, *const s = r + h;
      CAPSTAN_INDEPENDENT
      for (int i = 0; i < h; ++i) {
        const T a = p[i] + q[i], b = p[i] - q[i], c = r[i] + s[i], d = r[i] - s[i];
        p[i] = a + c, q[i] = b + d, r[i] = a - c, s[i] = b - d;
      }
    }
  }
  for (; h < size; h *= 2) {
    T *const p = y, *const q = y + h;
    CAPSTAN_INDEPENDENT
    for (int i = 0; i < h; ++i) {
      const T a = p[i] + q[i], b = p[i] - q[i];
      p[i] = a, q[i] = b;
    }
  }
}

/// \see ChunkKernels::sketch
template <class T>
void sketchChunk(const MatrixRef<const T>& X, int place, const std::uint64_t* words, int size, T* memory, T* sums) {
  T *const signs = memory, *const y = memory + 2 * size;
  expandSigns(words, 2 * size, signs);
  const int rows = static_cast<int>(X.rows);
  for (int j = 0; j < X.cols; ++j) {
    const T* const x = X.column(j);
    if (rows < size) {
      for (int i = 0; i < size; ++i) y[i] = T(0);
    }
    CAPSTAN_INDEPENDENT
    for (int i = 0; i < rows; ++i) y[place + i] = signs[place + i] * x[i];
    hadamard(y, size);
    T* const sum = sums + std::ptrdiff_t(j) * size;
    CAPSTAN_INDEPENDENT
    for (int i = 0; i < size; ++i) sum[i] += signs[size + i] * y[i];
  }
}

}  // namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA
