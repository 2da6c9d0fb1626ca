#pragma once
/// \file
/// Block vector updates of block Gram-Schmidt, fused with what follows them.
///
/// Common to all: tall matrices are views of rank 2 with contiguous columns and any leading dimension, accessible from
/// Exec; small matrices live in PinnedSpace<Exec>. No output may overlap an input, except as stated. Zero rows and zero
/// columns are legal. Local to the process; asynchronous (small matrices may be changed by the host only after a
/// fence); deterministic for the same shapes and number of threads; NaN and Inf propagate.
/// The host path makes one pass; the generic path of updateAndGram reads V a second time.
/// Source: steps (a), (c) and (e) of single-reduce block Gram-Schmidt ([low-sync], section 3).

#include <algorithm>

#include "tpetra_ext/kernels/inner_products.hpp"
#include "tpetra_ext/kernels/triangular_solve.hpp"

namespace capstan::kernels {

namespace detail {

template <class Exec, class T>
void updateOn(HostPath, Queue<Exec>& queue, const MatrixRef<const T>& Q, const MatrixRef<const T>& R, T sign,
              const MatrixRef<T>& V) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const ChunkPlan plan(V.rows, updateChunkRows(kernels, V.cols));
  forEachChunk(queue, plan, [&](int, std::ptrdiff_t first, std::ptrdiff_t rows) {
    kernels.update(chunk(Q.rowRange(first, rows)), chunk(R), sign, chunk(V.rowRange(first, rows)));
  });
}

template <class Exec, class T>
void updateOn(GenericPath, Queue<Exec>& queue, const MatrixRef<const T>& Q, const MatrixRef<const T>& R, T sign,
              const MatrixRef<T>& V) {
  const MatrixRef<T> none{nullptr, V.rows, 0, 0};
  rowSolve<Exec, T>(queue, Q, none, nullptr, R, sign, V, nullptr);
}

/// Columns in turn: those of one are contiguous, those of all need not be.
template <class T>
void copyRows(const MatrixRef<const T>& from, const MatrixRef<T>& to) {
  for (int j = 0; j < to.cols; ++j) std::copy_n(from.column(j), to.rows, to.column(j));
}

template <class Exec, class T>
void updateFromOn(HostPath, Queue<Exec>& queue, const MatrixRef<const T>& W, const MatrixRef<const T>& Q,
                  const MatrixRef<const T>& R, const MatrixRef<T>& V) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const ChunkPlan plan(V.rows, updateChunkRows(kernels, V.cols));
  forEachChunk(queue, plan, [&](int, std::ptrdiff_t first, std::ptrdiff_t rows) {
    copyRows(W.rowRange(first, rows), V.rowRange(first, rows));
    kernels.update(chunk(Q.rowRange(first, rows)), chunk(R), T(-1), chunk(V.rowRange(first, rows)));
  });
}

template <class T>
struct CopyEntry {
  MatrixRef<const T> from;
  MatrixRef<T> to;
  KOKKOS_FUNCTION void operator()(const std::ptrdiff_t k) const {
    to(k % to.rows, int(k / to.rows)) = from(k % to.rows, int(k / to.rows));
  }
};

template <class Exec, class T>
void updateFromOn(GenericPath, Queue<Exec>& queue, const MatrixRef<const T>& W, const MatrixRef<const T>& Q,
                  const MatrixRef<const T>& R, const MatrixRef<T>& V) {
  launch("capstan copy", queue, V.rows * V.cols, CopyEntry<T>{W, V});
  if (Q.cols > 0) updateOn(GenericPath(), queue, Q, R, T(-1), V);
}

template <class Exec, class T>
void updateAndGramOn(HostPath, Queue<Exec>& queue, const MatrixRef<const T>& Q, const MatrixRef<const T>& R,
                     const MatrixRef<T>& V, const MatrixRef<T>& G) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const ChunkPlan plan(V.rows, updateChunkRows(kernels, V.cols));
  const PartialSums<T> sums(plan.slots, std::ptrdiff_t(V.cols) * V.cols, kernels.lanes);
  forEachChunk(queue, plan, [&](int slot, std::ptrdiff_t first, std::ptrdiff_t rows) {
    const MatrixRef<T> v = V.rowRange(first, rows);
    kernels.update(chunk(Q.rowRange(first, rows)), chunk(R), T(-1), chunk(v));
    kernels.trailingGram(chunk(MatrixRef<const T>(v)), 0, sums.slot(slot));
  });
  sums.fold();
  writeTrailingGram(sums, 0, G);
}

template <class Exec, class T>
void updateAndGramOn(GenericPath, Queue<Exec>& queue, const MatrixRef<const T>& Q, const MatrixRef<const T>& R,
                     const MatrixRef<T>& V, const MatrixRef<T>& G) {
  updateOn(GenericPath(), queue, Q, R, T(-1), V);
  trailingGramOn(GenericPath(), queue, MatrixRef<const T>(V), 0, G);
}

template <class Exec, class T>
void orthonormalizeOn(HostPath, Queue<Exec>& queue, const MatrixRef<const T>& Q, const MatrixRef<T>& P,
                      const MatrixRef<const T>& S, const MatrixRef<T>& V, const MatrixRef<const T>& R,
                      const MatrixRef<const T>& U) {
  const MatrixRef<const T> rowsOfQ = R.block(0, Q.cols, 0, V.cols);
  const MatrixRef<const T> rowsOfP = R.block(Q.cols, P.cols, 0, V.cols);
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const ChunkPlan plan(V.rows, updateChunkRows(kernels, V.cols));
  forEachChunk(queue, plan, [&](int, std::ptrdiff_t first, std::ptrdiff_t rows) {
    const MatrixRef<T> p = P.rowRange(first, rows);
    const MatrixRef<T> v = V.rowRange(first, rows);
    kernels.solve(chunk(p), chunk(S));
    kernels.update(chunk(Q.rowRange(first, rows)), chunk(rowsOfQ), T(-1), chunk(v));
    kernels.update(chunk(MatrixRef<const T>(p)), chunk(rowsOfP), T(-1), chunk(v));
    kernels.solve(chunk(v), chunk(U));
  });
}

template <class Exec, class T>
void orthonormalizeOn(GenericPath, Queue<Exec>& queue, const MatrixRef<const T>& Q, const MatrixRef<T>& P,
                      const MatrixRef<const T>& S, const MatrixRef<T>& V, const MatrixRef<const T>& R,
                      const MatrixRef<const T>& U) {
  rowSolve<Exec, T>(queue, Q, P, &S, R, T(-1), V, &U);
}

/// The checks and the call that update and accumulate share.
template <class Path, class Exec, class ViewQ, class ViewR, class ViewV>
void checkedUpdate(Queue<Exec>& queue, const ViewQ& Q, const ViewR& R, ScalarOf<ViewV> sign, const ViewV& V,
                   const char* kernel, const char* coefficients) {
  using T = ScalarOf<ViewV>;
  const MatrixRef<const T> q = matrixRef<Exec>(Q, kernel, "Q");
  const MatrixRef<const T> r = matrixRef<Exec>(R, kernel, coefficients);
  const MatrixRef<T> v = matrixRef<Exec>(V, kernel, sign < 0 ? "V" : "X");
  requireShape(r, q.cols, v.cols, kernel, coefficients);
  if (q.cols == 0 || v.cols == 0) return;
  requireShape(q, v.rows, q.cols, kernel, "Q");
  onPath<Path, Exec>("update", [=, &queue](auto path) { updateOn(path, queue, q, r, sign, v); });
}

}  // namespace detail

/// V <- V - Q R.
///
/// \param Q n x k
/// \param R k x s
/// \param V n x s, updated
/// \throws std::invalid_argument when the shapes do not fit or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewQ, class ViewR, class ViewV>
void update(Queue<Exec>& queue, const ViewQ& Q, const ViewR& R, const ViewV& V) {
  detail::checkedUpdate<Path>(queue, Q, R, detail::ScalarOf<ViewV>(-1), V, "update", "R");
}

/// V <- W - Q R, W read once.
///
/// \param W n x s
/// \param Q n x k
/// \param R k x s
/// \param V n x s, overwritten
/// \throws std::invalid_argument when the shapes do not fit or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewW, class ViewQ, class ViewR, class ViewV>
void updateFrom(Queue<Exec>& queue, const ViewW& W, const ViewQ& Q, const ViewR& R, const ViewV& V) {
  using T = detail::ScalarOf<ViewV>;
  const detail::MatrixRef<const T> w = detail::matrixRef<Exec>(W, "updateFrom", "W");
  const detail::MatrixRef<const T> q = detail::matrixRef<Exec>(Q, "updateFrom", "Q");
  const detail::MatrixRef<const T> r = detail::matrixRef<Exec>(R, "updateFrom", "R");
  const detail::MatrixRef<T> v = detail::matrixRef<Exec>(V, "updateFrom", "V");
  detail::requireShape(w, v.rows, v.cols, "updateFrom", "W");
  detail::requireShape(r, q.cols, v.cols, "updateFrom", "R");
  detail::requireRows(q, v.rows, "updateFrom", "Q");
  if (v.cols == 0 || v.rows == 0) return;
  detail::onPath<Path, Exec>("update", [=, &queue](auto path) { detail::updateFromOn(path, queue, w, q, r, v); });
}

/// X <- X + Q Y, as the solution is updated from a Krylov basis.
///
/// \param Q n x k
/// \param Y k x t
/// \param X n x t, updated
/// \throws std::invalid_argument when the shapes do not fit or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewQ, class ViewY, class ViewX>
void accumulate(Queue<Exec>& queue, const ViewQ& Q, const ViewY& Y, const ViewX& X) {
  detail::checkedUpdate<Path>(queue, Q, Y, detail::ScalarOf<ViewX>(1), X, "accumulate", "Y");
}

/// V <- V - Q R and G = V^T V of the new V.
///
/// \param Q n x k
/// \param R k x s
/// \param V n x s, updated
/// \param G s x s, overwritten, exactly symmetric
/// \throws std::invalid_argument when the shapes do not fit or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewQ, class ViewR, class ViewV, class ViewG>
void updateAndGram(Queue<Exec>& queue, const ViewQ& Q, const ViewR& R, const ViewV& V, const ViewG& G) {
  using T = detail::ScalarOf<ViewV>;
  const detail::MatrixRef<const T> q = detail::matrixRef<Exec>(Q, "updateAndGram", "Q");
  const detail::MatrixRef<const T> r = detail::matrixRef<Exec>(R, "updateAndGram", "R");
  const detail::MatrixRef<T> v = detail::matrixRef<Exec>(V, "updateAndGram", "V");
  const detail::MatrixRef<T> g = detail::matrixRef<Exec>(G, "updateAndGram", "G");
  detail::requireRows(q, v.rows, "updateAndGram", "Q");
  detail::requireShape(r, q.cols, v.cols, "updateAndGram", "R");
  detail::requireShape(g, v.cols, v.cols, "updateAndGram", "G");
  if (v.cols == 0) return;
  detail::onPath<Path, Exec>("update and inner products",
                             [=, &queue](auto path) { detail::updateAndGramOn(path, queue, q, r, v, g); });
}

/// P <- P S^{-1}, then V <- (V - [Q P] R) U^{-1}, in one pass: lagged normalisation of the previous block, projection
/// and normalisation of the new one.
///
/// \param Q n x k
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
  using T = detail::ScalarOf<ViewV>;
  const char* const kernel = "orthonormalize";
  const detail::MatrixRef<const T> q = detail::matrixRef<Exec>(Q, kernel, "Q");
  const detail::MatrixRef<T> p = detail::matrixRef<Exec>(P, kernel, "P");
  const detail::MatrixRef<const T> s = detail::matrixRef<Exec>(S, kernel, "S");
  const detail::MatrixRef<T> v = detail::matrixRef<Exec>(V, kernel, "V");
  const detail::MatrixRef<const T> r = detail::matrixRef<Exec>(R, kernel, "R");
  const detail::MatrixRef<const T> u = detail::matrixRef<Exec>(U, kernel, "U");
  const std::ptrdiff_t rows = v.cols > 0 ? v.rows : p.rows;
  detail::requireRows(q, rows, kernel, "Q");
  detail::requireRows(p, rows, kernel, "P");
  detail::requireShape(s, p.cols, p.cols, kernel, "S");
  detail::requireShape(r, q.cols + p.cols, v.cols, kernel, "R");
  detail::requireShape(u, v.cols, v.cols, kernel, "U");
  const detail::MatrixRef<T> target{v.data, rows, v.cols, v.stride};
  detail::onPath<Path, Exec>("orthonormalize",
                             [=, &queue](auto path) { detail::orthonormalizeOn(path, queue, q, p, s, target, r, u); });
}

}  // namespace capstan::kernels
