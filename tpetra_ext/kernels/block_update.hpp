#pragma once
/// \file
/// Block vector updates of block Gram-Schmidt, fused with what follows them.
///
/// Common to all: tall matrices are views of rank 2 with contiguous columns and any leading dimension, accessible from
/// Exec; small matrices live in PinnedSpace<Exec>. No output may overlap an input, except as stated. Zero rows and zero
/// columns are legal. Local to the process; asynchronous (small matrices may be changed by the host only after a
/// fence); deterministic for the same shapes and number of threads; NaN and Inf propagate.
/// The host path makes one pass; the generic path of updateAndGram reads V a second time.
/// Source: steps (a) and (c) of single-reduce block Gram-Schmidt ([low-sync], section 3).

#include <algorithm>

#include "tpetra_ext/kernels/generic/row_solve.hpp"
#include "tpetra_ext/kernels/inner_products.hpp"

namespace capstan::kernels {

namespace detail {

/// V += sign Q R on one chunk; Q in the precision of V, or in single precision.
template <class T>
void updateBy(const ChunkKernels<T>& kernels, const MatrixRef<const T>& Q, const MatrixRef<const T>& R, T sign,
              const MatrixRef<T>& V) {
  kernels.update(chunk(Q), chunk(R), sign, chunk(V));
}
template <class T, class = std::enable_if_t<!std::is_same<T, float>::value>>
void updateBy(const ChunkKernels<T>& kernels, const MatrixRef<const float>& Q, const MatrixRef<const T>& R, T sign,
              const MatrixRef<T>& V) {
  kernels.singleUpdate(chunk(Q), chunk(R), sign, chunk(V));
}

template <class Exec, class Entry, class T>
void updateOn(HostPath, Queue<Exec>& queue, const MatrixRef<const Entry>& Q, const MatrixRef<const T>& R, T sign,
              const MatrixRef<T>& V) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const ChunkPlan plan(V.rows, updateChunkRows(kernels, V.cols));
  forEachChunk(queue, plan, [&](int, std::ptrdiff_t first, std::ptrdiff_t rows) {
    updateBy(kernels, Q.rowRange(first, rows), R, sign, V.rowRange(first, rows));
  });
}

template <class Exec, class Entry, class T>
void updateOn(GenericPath, Queue<Exec>& queue, const MatrixRef<const Entry>& Q, const MatrixRef<const T>& R, T sign,
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

/// The checks and the call that update and accumulate share.
template <class Path, class Exec, class ViewQ, class ViewR, class ViewV>
void checkedUpdate(Queue<Exec>& queue, const ViewQ& Q, const ViewR& R, ScalarOf<ViewV> sign, const ViewV& V,
                   const char* kernel, const char* coefficients) {
  using T = ScalarOf<ViewV>;
  const MatrixRef<const ScalarOf<ViewQ>> q = matrixRef<Exec>(Q, kernel, "Q");
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
/// \param Q n x k, in the precision of V or in single precision
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
/// \param Q n x k, in the precision of X or in single precision
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

}  // namespace capstan::kernels
