#pragma once
/// \file
/// One row per thread: V <- (V + Q R + P S) U^{-1} for the generic path.

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/base/matrix_ref.hpp"
#include "tpetra_ext/kernels/generic/workspace.hpp"

namespace capstan::kernels::detail {

/// Small matrix on the device, stored by rows and padded so that a block of N columns is always complete.
template <class T>
struct Coefficients {
  const T* data = nullptr;
  int stride = 0;
  KOKKOS_INLINE_FUNCTION const T* at(int i, int j) const { return data + std::ptrdiff_t(i) * stride + j; }
};

/// sums += (row of Q) times columns [j0, j0 + N) of the coefficients.
template <class T, int N, class S>
KOKKOS_INLINE_FUNCTION void addProduct(const MatrixRef<S>& Q, int cols, std::ptrdiff_t row, const Coefficients<T>& R,
                                       int firstRow, int j0, T factor, T (&sums)[N]) {
  for (int k = 0; k < cols; ++k) {
    const T q = factor * T(Q(row, k));
    const T* r = R.at(firstRow + k, j0);
    for (int j = 0; j < N; ++j) sums[j] += q * r[j];
  }
}

/// What single precision has of a number; zero where that is below its smallest normal one.
template <class T>
KOKKOS_INLINE_FUNCTION float inSingle(T value) {
  constexpr T smallest = T(1.17549435082228750797e-38);
  return value < smallest && value > -smallest ? 0.0F : static_cast<float>(value);
}

/// Nobody wants P in single precision.
struct NoCopy {
  template <class T>
  KOKKOS_INLINE_FUNCTION void write(std::ptrdiff_t /*row*/, int /*column*/, T /*value*/) const {}
};
/// P S^{-1} is written in single precision, too.
struct SingleCopy {
  MatrixRef<float> to;
  template <class T>
  KOKKOS_INLINE_FUNCTION void write(std::ptrdiff_t row, int column, T value) const {
    to(row, column) = inSingle(value);
  }
};

/// First P <- P S^{-1} (when asked), then V <- (V + Q R(0:cols(Q), :) + P R(cols(Q):end, :)) U^{-1} (U when asked).
/// The sign of the update is in R.
template <class T, int N, class Entry, class Copy>
struct RowSolve {
  MatrixRef<const Entry> Q;
  MatrixRef<T> P;
  MatrixRef<T> V;
  Coefficients<T> S;
  Coefficients<T> R;
  Coefficients<T> U;
  bool solveP;
  bool solveV;
  Copy copy;

  KOKKOS_FUNCTION void operator()(const std::ptrdiff_t row) const {
    if (solveP) {
      for (int j0 = 0; j0 < P.cols; j0 += N) {
        T p[N];
        load(P, row, j0, p);
        solve(P, row, S, j0, p);
        store(P, row, j0, p);
        for (int j = 0; j < N; ++j) {
          if (j0 + j < P.cols) copy.write(row, j0 + j, p[j]);
        }
      }
    }
    for (int j0 = 0; j0 < V.cols; j0 += N) {
      T v[N];
      load(V, row, j0, v);
      addProduct<T, N>(Q, Q.cols, row, R, 0, j0, T(1), v);
      addProduct<T, N>(P, P.cols, row, R, Q.cols, j0, T(1), v);
      if (solveV) solve(V, row, U, j0, v);
      store(V, row, j0, v);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION static void load(const MatrixRef<T>& A, std::ptrdiff_t row, int j0, T (&a)[N]) {
    for (int j = 0; j < N; ++j) a[j] = j0 + j < A.cols ? A(row, j0 + j) : T(0);
  }
  KOKKOS_INLINE_FUNCTION static void store(const MatrixRef<T>& A, std::ptrdiff_t row, int j0, const T (&a)[N]) {
    for (int j = 0; j < N; ++j) {
      if (j0 + j < A.cols) A(row, j0 + j) = a[j];
    }
  }
  /// Columns [j0, j0 + N) of one row of A U^{-1}; those before j0 are done and in memory.
  KOKKOS_INLINE_FUNCTION static void solve(const MatrixRef<T>& A, std::ptrdiff_t row, const Coefficients<T>& upper,
                                           int j0, T (&a)[N]) {
    addProduct<T, N>(A, j0, row, upper, 0, j0, T(-1), a);
    for (int j = 0; j < N; ++j) {
      const T* column = upper.at(j0, j0 + j);
      for (int i = 0; i < j; ++i) a[j] -= column[std::ptrdiff_t(i) * upper.stride] * a[i];
      a[j] /= column[std::ptrdiff_t(j) * upper.stride];
    }
  }
};

inline int roundUp(int count, int multiple) { return (count + multiple - 1) / multiple * multiple; }

template <class Exec, class T, int N, class Entry, class Copy>
void rowSolveWidth(Queue<Exec>& queue, const MatrixRef<const Entry>& Q, const MatrixRef<T>& P,
                   const MatrixRef<const T>* S, const MatrixRef<const T>& R, T sign, const MatrixRef<T>& V,
                   const MatrixRef<const T>* U, const Copy& single) {
  CopyMatrices<Exec, T> copy;
  const int padded = roundUp(V.cols, N);
  copy.matrix[0] = {R, nullptr, static_cast<int>(R.rows), padded, sign, false};
  if (U != nullptr) copy.matrix[1] = {*U, nullptr, padded, padded, T(1), true};
  if (S != nullptr) copy.matrix[2] = {*S, nullptr, roundUp(P.cols, N), roundUp(P.cols, N), T(1), true};
  copy.launch(queue);
  RowSolve<T, N, Entry, Copy> solve{Q,
                                    P,
                                    V,
                                    {copy.matrix[2].to, copy.matrix[2].paddedCols},
                                    {copy.matrix[0].to, copy.matrix[0].paddedCols},
                                    {copy.matrix[1].to, copy.matrix[1].paddedCols},
                                    S != nullptr,
                                    U != nullptr,
                                    single};
  static_assert(sizeof(solve) <= smallArguments, "the arguments would travel through constant memory");
  kernels::launch("capstan rows", queue, V.rows, solve);
}

/// P <- P S^{-1} (S null: P as it is), copied as asked for; V <- (V + sign [Q P] R) U^{-1} (U null: no solve).
/// Asynchronous.
template <class Exec, class T, class Entry, class Copy = NoCopy>
void rowSolve(Queue<Exec>& queue, const MatrixRef<const Entry>& Q, const MatrixRef<T>& P, const MatrixRef<const T>* S,
              const MatrixRef<const T>& R, T sign, const MatrixRef<T>& V, const MatrixRef<const T>* U,
              const Copy& copy = {}) {
  if (V.rows == 0) return;
  const int widest = V.cols > P.cols ? V.cols : P.cols;
  if (widest == 0) return;
  if (widest == 1) {
    rowSolveWidth<Exec, T, 1>(queue, Q, P, S, R, sign, V, U, copy);
  } else if (widest <= 2) {
    rowSolveWidth<Exec, T, 2>(queue, Q, P, S, R, sign, V, U, copy);
  } else if (widest <= 4) {
    rowSolveWidth<Exec, T, 4>(queue, Q, P, S, R, sign, V, U, copy);
  } else if (widest == 5) {
    rowSolveWidth<Exec, T, 5>(queue, Q, P, S, R, sign, V, U, copy);
  } else if (widest <= 8) {
    rowSolveWidth<Exec, T, 8>(queue, Q, P, S, R, sign, V, U, copy);
  } else if (widest <= 10) {
    rowSolveWidth<Exec, T, 10>(queue, Q, P, S, R, sign, V, U, copy);
  } else {
    rowSolveWidth<Exec, T, 16>(queue, Q, P, S, R, sign, V, U, copy);
  }
}

}  // namespace capstan::kernels::detail
