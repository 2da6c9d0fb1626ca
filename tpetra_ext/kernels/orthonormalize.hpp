#pragma once
/// \file
/// The pass that ends a step of block Gram-Schmidt, and columns of a basis in single precision.
///
/// Common to all: as in block_update.hpp. What is stored in single precision is promoted as it is read: all sums are in
/// the precision of the other operands.
/// Source: steps (a), (c) and (e) of single-reduce block Gram-Schmidt ([low-sync], section 3); a basis in single
/// precision: [Aliaga, Anzt, Gruetzmacher, Quintana-Orti and Tomas 2022].

#include "tpetra_ext/kernels/block_update.hpp"
#include "tpetra_ext/kernels/triangular_solve.hpp"

namespace capstan::kernels {

namespace detail {

/// \param single P in single precision; no data: it is not asked for
template <class Exec, class Entry, class T>
void orthonormalizeOn(HostPath, Queue<Exec>& queue, const MatrixRef<const Entry>& Q, const MatrixRef<T>& P,
                      const MatrixRef<const T>& S, const MatrixRef<float>& single, const MatrixRef<T>& V,
                      const MatrixRef<const T>& R, const MatrixRef<const T>& U) {
  const MatrixRef<const T> rowsOfQ = R.block(0, Q.cols, 0, V.cols);
  const MatrixRef<const T> rowsOfP = R.block(Q.cols, P.cols, 0, V.cols);
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const ChunkPlan plan(V.rows, updateChunkRows(kernels, V.cols));
  forEachChunk(queue, plan, [&](int, std::ptrdiff_t first, std::ptrdiff_t rows) {
    const MatrixRef<T> p = P.rowRange(first, rows);
    const MatrixRef<T> v = V.rowRange(first, rows);
    kernels.solve(chunk(p), chunk(S));
    if (single.data != nullptr) kernels.round(chunk(MatrixRef<const T>(p)), chunk(single.rowRange(first, rows)));
    updateBy(kernels, Q.rowRange(first, rows), rowsOfQ, T(-1), v);
    kernels.update(chunk(MatrixRef<const T>(p)), chunk(rowsOfP), T(-1), chunk(v));
    kernels.solve(chunk(v), chunk(U));
  });
}

template <class Exec, class Entry, class T>
void orthonormalizeOn(GenericPath, Queue<Exec>& queue, const MatrixRef<const Entry>& Q, const MatrixRef<T>& P,
                      const MatrixRef<const T>& S, const MatrixRef<float>& single, const MatrixRef<T>& V,
                      const MatrixRef<const T>& R, const MatrixRef<const T>& U) {
  if (single.data == nullptr) return rowSolve<Exec, T>(queue, Q, P, &S, R, T(-1), V, &U);
  rowSolve<Exec, T>(queue, Q, P, &S, R, T(-1), V, &U, SingleCopy{single});
}

/// The checks and the call of orthonormalize, with P in single precision or without.
template <class Path, class Exec, class ViewQ, class ViewP, class ViewS, class ViewV, class ViewR, class ViewU>
void checkedOrthonormalize(Queue<Exec>& queue, const ViewQ& Q, const ViewP& P, const ViewS& S,
                           const MatrixRef<float>& single, const ViewV& V, const ViewR& R, const ViewU& U) {
  using T = ScalarOf<ViewV>;
  const char* const kernel = "orthonormalize";
  const MatrixRef<const ScalarOf<ViewQ>> q = matrixRef<Exec>(Q, kernel, "Q");
  const MatrixRef<T> p = matrixRef<Exec>(P, kernel, "P");
  const MatrixRef<const T> s = matrixRef<Exec>(S, kernel, "S");
  const MatrixRef<T> v = matrixRef<Exec>(V, kernel, "V");
  const MatrixRef<const T> r = matrixRef<Exec>(R, kernel, "R");
  const MatrixRef<const T> u = matrixRef<Exec>(U, kernel, "U");
  const std::ptrdiff_t rows = v.cols > 0 ? v.rows : p.rows;
  requireRows(q, rows, kernel, "Q");
  requireRows(p, rows, kernel, "P");
  requireShape(s, p.cols, p.cols, kernel, "S");
  requireShape(r, q.cols + p.cols, v.cols, kernel, "R");
  requireShape(u, v.cols, v.cols, kernel, "U");
  if (single.data != nullptr) requireShape(single, rows, p.cols, kernel, "the single precision of P");
  const MatrixRef<T> target{v.data, rows, v.cols, v.stride};
  onPath<Path, Exec>("orthonormalize",
                     [=, &queue](auto path) { orthonormalizeOn(path, queue, q, p, s, single, target, r, u); });
}

template <class Exec, class T>
void roundOn(HostPath, Queue<Exec>& queue, const MatrixRef<const T>& from, const MatrixRef<float>& to) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  forEachChunk(queue, ChunkPlan(to.rows, tileRows), [&](int, std::ptrdiff_t first, std::ptrdiff_t rows) {
    kernels.round(chunk(from.rowRange(first, rows)), chunk(to.rowRange(first, rows)));
  });
}

template <class T>
struct RoundEntry {
  MatrixRef<const T> from;
  MatrixRef<float> to;
  KOKKOS_FUNCTION void operator()(const std::ptrdiff_t k) const {
    to(k % to.rows, int(k / to.rows)) = inSingle(from(k % to.rows, int(k / to.rows)));
  }
};

template <class Exec, class T>
void roundOn(GenericPath, Queue<Exec>& queue, const MatrixRef<const T>& from, const MatrixRef<float>& to) {
  launch("capstan round", queue, to.rows * to.cols, RoundEntry<T>{from, to});
}

}  // namespace detail

/// P <- P S^{-1}, then V <- (V - [Q P] R) U^{-1}, in one pass: lagged normalisation of the previous block, projection
/// and normalisation of the new one.
///
/// \param Q n x k, in the precision of V or in single precision
/// \param P n x p, the previous block, normalised in place; p = 0 is legal
/// \param S p x p, upper triangular
/// \param V n x s, orthonormalised in place
/// \param R (k + p) x s, rows of Q first
/// \param U s x s, upper triangular
/// \throws std::invalid_argument when the shapes do not fit or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewQ, class ViewP, class ViewS, class ViewV, class ViewR,
          class ViewU>
void orthonormalize(Queue<Exec>& queue, const ViewQ& Q, const ViewP& P, const ViewS& S, const ViewV& V, const ViewR& R,
                    const ViewU& U) {
  detail::checkedOrthonormalize<Path>(queue, Q, P, S, detail::MatrixRef<float>(), V, R, U);
}

/// The same, with the new P in single precision, too: numbers below the smallest normal one become zero.
///
/// \param single n x p in single precision, overwritten
template <class Path = AutoPath, class Exec, class ViewQ, class ViewP, class ViewS, class ViewSingle, class ViewV,
          class ViewR, class ViewU>
void orthonormalize(Queue<Exec>& queue, const ViewQ& Q, const ViewP& P, const ViewS& S, const ViewSingle& single,
                    const ViewV& V, const ViewR& R, const ViewU& U) {
  const detail::MatrixRef<float> copy = detail::matrixRef<Exec>(single, "orthonormalize", "the single precision of P");
  detail::checkedOrthonormalize<Path>(queue, Q, P, S, copy, V, R, U);
}

/// to = from in single precision, as orthonormalize() has it.
///
/// \param from n x k
/// \param to n x k, in single precision, overwritten
/// \throws std::invalid_argument when the shapes do not fit or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewFrom, class ViewTo>
void round(Queue<Exec>& queue, const ViewFrom& from, const ViewTo& to) {
  using T = detail::ScalarOf<ViewFrom>;
  const detail::MatrixRef<const T> given = detail::matrixRef<Exec>(from, "round", "from");
  const detail::MatrixRef<float> rounded = detail::matrixRef<Exec>(to, "round", "to");
  detail::requireShape(rounded, given.rows, given.cols, "round", "to");
  if (rounded.rows == 0 || rounded.cols == 0) return;
  detail::onPath<Path, Exec>("round", [=, &queue](auto path) { detail::roundOn(path, queue, given, rounded); });
}

}  // namespace capstan::kernels
