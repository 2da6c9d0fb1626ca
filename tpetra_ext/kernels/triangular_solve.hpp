#pragma once
/// \file
/// Tall-skinny right triangular solve.

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/generic/row_solve.hpp"
#include "tpetra_ext/kernels/host/chunks.hpp"

namespace capstan::kernels {

namespace detail {

template <class Exec, class T>
void triangularSolveOn(HostPath, Queue<Exec>& queue, const MatrixRef<T>& V, const MatrixRef<const T>& U) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const ChunkPlan plan(V.rows, updateChunkRows(kernels, V.cols));
  forEachChunk(queue, plan, [&](int, std::ptrdiff_t first, std::ptrdiff_t rows) {
    kernels.solve(chunk(V.rowRange(first, rows)), chunk(U));
  });
}

template <class Exec, class T>
void triangularSolveOn(GenericPath, Queue<Exec>& queue, const MatrixRef<T>& V, const MatrixRef<const T>& U) {
  const MatrixRef<T> none{nullptr, V.rows, 0, 0};
  const MatrixRef<const T> noCoefficients{nullptr, 0, V.cols, 0};
  rowSolve<Exec, T>(queue, MatrixRef<const T>(none), none, nullptr, noCoefficients, T(1), V, &U);
}

}  // namespace detail

/// V <- V U^{-1}, U upper triangular; what is below its diagonal is not read.
///
/// The host path multiplies by the reciprocals of the diagonal: a zero on the diagonal gives Inf or NaN, no exception.
/// Local to the process; asynchronous; deterministic.
///
/// \param V n x s, contiguous columns, any leading dimension
/// \param U s x s, accessible from Exec and (on CPUs) the host
/// \throws std::invalid_argument when the shapes do not fit or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewV, class ViewU>
void triangularSolve(Queue<Exec>& queue, const ViewV& V, const ViewU& U) {
  using T = detail::ScalarOf<ViewV>;
  const detail::MatrixRef<T> v = detail::matrixRef<Exec>(V, "triangularSolve", "V");
  const detail::MatrixRef<const T> u = detail::matrixRef<Exec>(U, "triangularSolve", "U");
  detail::requireShape(u, v.cols, v.cols, "triangularSolve", "U");
  if (v.cols == 0) return;
  detail::onPath<Path, Exec>("triangular solve",
                             [=, &queue](auto path) { detail::triangularSolveOn(path, queue, v, u); });
}

}  // namespace capstan::kernels
