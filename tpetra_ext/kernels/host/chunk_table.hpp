#pragma once
/// \file
/// The table of the kernels for the instruction set this is compiled for (CAPSTAN_KERNELS_ISA).

#include "tpetra_ext/kernels/host/chunk_kernels.hpp"
#include "tpetra_ext/kernels/host/gram_chunk.hpp"
#include "tpetra_ext/kernels/host/rows_chunk.hpp"
#include "tpetra_ext/kernels/host/sketch_chunk.hpp"
#include "tpetra_ext/kernels/host/update_chunk.hpp"
#include "tpetra_ext/kernels/host/vector_chunk.hpp"

#define CAPSTAN_KERNELS_NAME_OF(isa) #isa
#define CAPSTAN_KERNELS_NAME(isa) CAPSTAN_KERNELS_NAME_OF(isa)

namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA {

template <class T>
CAPSTAN_INLINE MatrixRef<T> ref(const ChunkMatrix<T>& matrix) {
  return {matrix.data, matrix.rows, matrix.cols, matrix.stride};
}

template <class T>
struct Entries {
  static void innerProducts(ChunkMatrix<const T> X, ChunkMatrix<const T> Y, T* sums) {
    innerProductsChunk<T>(ref(X), ref(Y), sums);
  }
  static void trailingGram(ChunkMatrix<const T> B, int first, T* sums) {
    trailingGramChunk<T>(ref(B), first, sums, B.cols);
  }
  static void singleGram(ChunkMatrix<const float> Q, ChunkMatrix<const T> W, int first, T* sums) {
    singleGramChunk<T>(ref(Q), ref(W), first, sums);
  }
  static void upperProducts(ChunkMatrix<const T> X, ChunkMatrix<const T> Y, T* sums) {
    upperProductsChunk<T>(ref(X), ref(Y), sums);
  }
  static void update(ChunkMatrix<const T> Q, ChunkMatrix<const T> R, T sign, ChunkMatrix<T> V) {
    updateChunk<T>(ref(Q), ref(R), sign, ref(V));
  }
  static void singleUpdate(ChunkMatrix<const float> Q, ChunkMatrix<const T> R, T sign, ChunkMatrix<T> V) {
    updateByColumnGroups<T>(ref(Q), ref(R), sign, ref(V));
  }
  static void round(ChunkMatrix<const T> from, ChunkMatrix<float> to) { roundChunk<T>(ref(from), ref(to)); }
  static void solve(ChunkMatrix<T> V, ChunkMatrix<const T> U) { solveChunk<T>(ref(V), ref(U)); }
  static void sketch(ChunkMatrix<const T> X, int place, const std::uint64_t* signs, int size, T* memory, T* sums) {
    sketchChunk<T>(ref(X), place, signs, size, memory, sums);
  }
  static void packRows(ChunkMatrix<const T> X, T* packed) { packRowsChunk<T>(ref(X), packed); }
};

template <class T>
constexpr ChunkKernels<T> makeTable() {
  return {CAPSTAN_KERNELS_NAME(CAPSTAN_KERNELS_ISA),
          Pack<T>::width,
          updateBlockWidth,
          dotsAtOnce,
          &Entries<T>::innerProducts,
          &Entries<T>::trailingGram,
          &Entries<T>::upperProducts,
          &Entries<T>::update,
          &Entries<T>::solve,
          &dotsChunk<T>,
          &magnitudesChunk<T>,
          &sumChunk<T>,
          &combineChunk<T>,
          &scaleChunk<T>,
          &scaledAxpbyChunk<T>,
          &multiplyRowsChunk<T>,
          &Entries<T>::packRows,
          &Entries<T>::singleGram,
          &Entries<T>::singleUpdate,
          &Entries<T>::round,
          &Entries<T>::sketch};
}

// Constants: nothing of this instruction set runs when the library is loaded.
extern const ChunkKernels<float> floatTable;
extern const ChunkKernels<double> doubleTable;
constexpr ChunkKernels<float> floatTable = makeTable<float>();
constexpr ChunkKernels<double> doubleTable = makeTable<double>();

}  // namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA
