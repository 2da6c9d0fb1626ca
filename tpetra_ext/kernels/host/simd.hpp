#pragma once
/// \file
/// One SIMD register of scalars, as wide as the instruction set this file is compiled for. No intrinsics but fused
/// multiply-adds, where their rounding counts.
///
/// What this header and those that include it define stands in a namespace named after the instruction set
/// (CAPSTAN_KERNELS_ISA), and what a function there calls is either there too or forced inline: the linker keeps one
/// copy of an inline function, and it must not be one that an older processor cannot run. For the same reason nothing
/// of the standard library or Kokkos is used here.

#include <cstddef>
#include <cstring>
#if defined(__FMA__) && defined(__GNUC__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

#ifndef CAPSTAN_KERNELS_ISA
#error "include tpetra_ext/kernels/host/chunk_kernels.hpp; this header is for the sources in host/ alone"
#endif

#if defined(__GNUC__)
#define CAPSTAN_INLINE inline __attribute__((always_inline))
#else
#define CAPSTAN_INLINE inline
#endif

// GCC and Clang unroll a loop whose trip count is a constant when told; the register tiles depend on it.
#if defined(__CUDACC__)
#define CAPSTAN_UNROLL
#define CAPSTAN_INDEPENDENT
#elif defined(__clang__)
#define CAPSTAN_UNROLL _Pragma("unroll")
#define CAPSTAN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define CAPSTAN_UNROLL _Pragma("GCC unroll 16")
#define CAPSTAN_INDEPENDENT _Pragma("GCC ivdep")
#else
#define CAPSTAN_UNROLL
#define CAPSTAN_INDEPENDENT
#endif

namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA {

#if defined(__AVX512F__)
constexpr int vectorBytes = 64;
constexpr int vectorRegisters = 32;
#elif defined(__AVX__)
constexpr int vectorBytes = 32;
constexpr int vectorRegisters = 16;
#elif defined(__aarch64__) || defined(__VSX__)
constexpr int vectorBytes = 16;
constexpr int vectorRegisters = 32;
#else
constexpr int vectorBytes = 16;
constexpr int vectorRegisters = 16;
#endif

// nvcc's front end gets plain arrays: its vector extensions are not complete.
#if defined(__GNUC__) && !defined(__CUDACC__)
template <class T>
struct NativeVector;
template <>
struct NativeVector<float> {
  typedef float Type __attribute__((vector_size(vectorBytes)));
  static CAPSTAN_INLINE Type magnitude(const Type& a) { return a < 0 ? -a : a; }
  static CAPSTAN_INLINE Type fill(float scalar) { return scalar - Type{}; }  // one broadcast instruction
};
template <>
struct NativeVector<double> {
  typedef double Type __attribute__((vector_size(vectorBytes)));
  static CAPSTAN_INLINE Type magnitude(const Type& a) { return a < 0 ? -a : a; }
  static CAPSTAN_INLINE Type fill(double scalar) { return scalar - Type{}; }  // one broadcast instruction
};
#else
template <class T>
struct NativeVector {
  struct Type {
    T lane[vectorBytes / sizeof(T)];
    const T& operator[](int i) const { return lane[i]; }
    Type& operator+=(const Type& other) {
      for (int i = 0; i < int(vectorBytes / sizeof(T)); ++i) lane[i] += other.lane[i];
      return *this;
    }
    friend Type operator*(const Type& a, const Type& b) {
      Type c;
      for (int i = 0; i < int(vectorBytes / sizeof(T)); ++i) c.lane[i] = a.lane[i] * b.lane[i];
      return c;
    }
  };
  static Type magnitude(const Type& a) {
    Type positive;
    for (int i = 0; i < int(vectorBytes / sizeof(T)); ++i) positive.lane[i] = a[i] < 0 ? -a[i] : a[i];
    return positive;
  }
  static Type fill(T scalar) {
    Type filled;
    for (T& lane : filled.lane) lane = scalar;
    return filled;
  }
};
#endif

#if defined(__GNUC__) && !defined(__CUDACC__)
/// sum + a b, of vectors of T, as __builtin_fma rounds it where there are such instructions. Compilers need not make
/// them of the operators: GCC 16 multiplies before it shuffles, or several vectors in one register, and rounds the
/// products.
template <class T, class Vector>
CAPSTAN_INLINE Vector plusProducts(const Vector& sum, const Vector& a, const Vector& b) {
#ifdef __FMA__
  constexpr bool isDouble = sizeof(T) == sizeof(double);
  constexpr std::size_t bytes = sizeof(Vector);
  if constexpr (isDouble && bytes == 16) return _mm_fmadd_pd(a, b, sum);
  if constexpr (!isDouble && bytes == 16) return _mm_fmadd_ps(a, b, sum);
  if constexpr (isDouble && bytes == 32) return _mm256_fmadd_pd(a, b, sum);
  if constexpr (!isDouble && bytes == 32) return _mm256_fmadd_ps(a, b, sum);
#ifdef __AVX512F__
  if constexpr (isDouble && bytes == 64) return _mm512_fmadd_pd(a, b, sum);
  if constexpr (!isDouble && bytes == 64) return _mm512_fmadd_ps(a, b, sum);
#endif
#endif
  return sum + a * b;
}
#endif

/// Asks for `bytes` bytes at `address`, which need not exist.
CAPSTAN_INLINE void prefetch(const void* address, int bytes) {
#if defined(__GNUC__)
  for (int offset = 0; offset < bytes; offset += 64) __builtin_prefetch(static_cast<const char*>(address) + offset);
#else
  (void)address;
  (void)bytes;
#endif
}

/// The lanes of one register.
template <class T>
struct Pack {
  typename NativeVector<T>::Type value;
  static constexpr int width = vectorBytes / int(sizeof(T));

  static CAPSTAN_INLINE Pack load(const T* from) {
    Pack pack;
    std::memcpy(&pack.value, from, sizeof(pack.value));
    return pack;
  }
  /// The first `count` lanes from memory, zero in the others.
  static CAPSTAN_INLINE Pack loadPart(const T* from, int count) {
    T lanes[width] = {};
    for (int i = 0; i < count; ++i) lanes[i] = from[i];
    return load(lanes);
  }
  /// The same of numbers of another precision.
  template <class S>
  static CAPSTAN_INLINE Pack load(const S* from) {
    Pack pack;
#if defined(__GNUC__) && !defined(__CUDACC__)
    typedef S Given __attribute__((vector_size(width * sizeof(S))));
    Given given;
    std::memcpy(&given, from, sizeof(given));
    pack.value = __builtin_convertvector(given, typename NativeVector<T>::Type);
#else
    for (int i = 0; i < width; ++i) pack.value.lane[i] = T(from[i]);
#endif
    return pack;
  }
  template <class S>
  static CAPSTAN_INLINE Pack loadPart(const S* from, int count) {
    T lanes[width] = {};
    for (int i = 0; i < count; ++i) lanes[i] = T(from[i]);
    return load(lanes);
  }
  static CAPSTAN_INLINE Pack fill(T scalar) {
    Pack pack;
    pack.value = NativeVector<T>::fill(scalar);
    return pack;
  }
  CAPSTAN_INLINE void store(T* to) const { std::memcpy(to, &value, sizeof(value)); }
  CAPSTAN_INLINE void storePart(T* to, int count) const {
    for (int i = 0; i < count; ++i) to[i] = value[i];
  }
  CAPSTAN_INLINE void multiplyAdd(const Pack& a, const Pack& b) { value += a.value * b.value; }
  CAPSTAN_INLINE void scale(const Pack& a) { value = value * a.value; }
  CAPSTAN_INLINE void add(const Pack& a) { value += a.value; }
  CAPSTAN_INLINE void addMagnitude(const Pack& a) { value += NativeVector<T>::magnitude(a.value); }
  CAPSTAN_INLINE T sum() const {
    T total = value[0];
    for (int i = 1; i < width; ++i) total += value[i];
    return total;
  }
};

/// Column-major matrix that it does not own; element (i, j) is data[i + j * stride].
template <class T>
struct MatrixRef {
  T* data;
  std::ptrdiff_t rows;
  int cols;
  std::ptrdiff_t stride;

  CAPSTAN_INLINE T& operator()(std::ptrdiff_t i, int j) const { return data[i + j * stride]; }
  CAPSTAN_INLINE T* column(int j) const { return data + j * stride; }

  /// Rows [firstRow, firstRow + rowCount).
  CAPSTAN_INLINE MatrixRef rowRange(std::ptrdiff_t firstRow, std::ptrdiff_t rowCount) const {
    return block(firstRow, rowCount, 0, cols);
  }
  /// The block of rowCount x colCount at (firstRow, firstCol).
  CAPSTAN_INLINE MatrixRef block(std::ptrdiff_t firstRow, std::ptrdiff_t rowCount, int firstCol, int colCount) const {
    const bool empty = rowCount == 0 || colCount == 0;  // then data may be null
    return {empty ? data : data + firstRow + firstCol * stride, rowCount, colCount, stride};
  }
};

template <class T>
CAPSTAN_INLINE MatrixRef<const T> readOnly(const MatrixRef<T>& matrix) {
  return {matrix.data, matrix.rows, matrix.cols, matrix.stride};
}

/// Blocks of columns as equal as possible, none wider than `widest`: 7 columns, widest 6, give 3 + 4; the last is the
/// widest.
struct ColumnBlocks {
  int cols;
  int count;

  CAPSTAN_INLINE ColumnBlocks(int columns, int widest) : cols(columns), count((columns + widest - 1) / widest) {}
  CAPSTAN_INLINE int begin(int block) const { return static_cast<int>(static_cast<long long>(cols) * block / count); }
  CAPSTAN_INLINE int width(int block) const { return begin(block + 1) - begin(block); }
};

}  // namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA
