#pragma once
/// \file
/// Inner products of tall-skinny matrices, each column read once.
///
/// Common to all: matrices are views of rank 2 with contiguous columns and any leading dimension, accessible
/// from Exec; the result must also be accessible from the host (PinnedSpace<Exec>), where it may be read after a fence.
/// Local to the process; asynchronous; deterministic for the same shapes and number of threads; NaN and Inf propagate.
/// Source: the fused block products of single-reduce block Gram-Schmidt ([low-sync], section 3).

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/generic/gram_tiles.hpp"
#include "tpetra_ext/kernels/host/chunks.hpp"

namespace capstan::kernels {

namespace detail {

/// Rows in a chunk of a Gram kernel: short enough that Y stays in the first-level cache.
constexpr std::ptrdiff_t gramChunkRows = 1024;

template <class Exec, class T>
void innerProductsOn(HostPath, Queue<Exec>& queue, const MatrixRef<const T>& X, const MatrixRef<const T>& Y,
                     const MatrixRef<T>& C) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const ChunkPlan plan(X.rows, gramChunkRows);
  const PartialSums<T> sums(plan.slots, std::ptrdiff_t(X.cols) * Y.cols, kernels.lanes);
  forEachChunk(queue, plan, [&](int slot, std::ptrdiff_t first, std::ptrdiff_t rows) {
    kernels.innerProducts(chunk(X.rowRange(first, rows)), chunk(Y.rowRange(first, rows)), sums.slot(slot));
  });
  sums.fold();
  for (int j = 0; j < Y.cols; ++j) {
    for (int i = 0; i < X.cols; ++i) C(i, j) = sums.total(i + std::ptrdiff_t(j) * X.cols);
  }
}

template <class Exec, class T>
void innerProductsOn(GenericPath, Queue<Exec>& queue, const MatrixRef<const T>& X, const MatrixRef<const T>& Y,
                     const MatrixRef<T>& C) {
  gramGeneric(queue, X, Y, C, -1);
}

/// C from the upper half of the sums of ChunkKernels::trailingGram.
template <class T>
void writeTrailingGram(const PartialSums<T>& sums, int first, const MatrixRef<T>& C) {
  const auto cols = static_cast<int>(C.rows);
  for (int j = 0; j < C.cols; ++j) {
    for (int i = 0; i <= first + j; ++i) {
      const T total = sums.total(i + std::ptrdiff_t(j) * cols);
      C(i, j) = total;
      if (i >= first) C(first + j, i - first) = total;
    }
  }
}

template <class Exec, class T>
void trailingGramOn(HostPath, Queue<Exec>& queue, const MatrixRef<const T>& B, int first, const MatrixRef<T>& C) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const ChunkPlan plan(B.rows, gramChunkRows);
  const PartialSums<T> sums(plan.slots, std::ptrdiff_t(B.cols) * C.cols, kernels.lanes);
  forEachChunk(queue, plan, [&](int slot, std::ptrdiff_t firstRow, std::ptrdiff_t rows) {
    kernels.trailingGram(chunk(B.rowRange(firstRow, rows)), first, sums.slot(slot));
  });
  sums.fold();
  writeTrailingGram(sums, first, C);
}

template <class Exec, class T>
void trailingGramOn(GenericPath, Queue<Exec>& queue, const MatrixRef<const T>& B, int first, const MatrixRef<T>& C) {
  gramGeneric(queue, B, B.block(0, B.rows, first, B.cols - first), C, first);
}

template <class Exec, class T>
void trailingGramOn(HostPath, Queue<Exec>& queue, const MatrixRef<const float>& Q, const MatrixRef<const T>& W,
                    int first, const MatrixRef<T>& C) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const ChunkPlan plan(W.rows, gramChunkRows);
  const PartialSums<T> sums(plan.slots, std::ptrdiff_t(C.rows) * C.cols, kernels.lanes);
  forEachChunk(queue, plan, [&](int slot, std::ptrdiff_t firstRow, std::ptrdiff_t rows) {
    kernels.singleGram(chunk(Q.rowRange(firstRow, rows)), chunk(W.rowRange(firstRow, rows)), first, sums.slot(slot));
  });
  sums.fold();
  writeTrailingGram(sums, Q.cols + first, C);
}

template <class Exec, class T>
void trailingGramOn(GenericPath, Queue<Exec>& queue, const MatrixRef<const float>& Q, const MatrixRef<const T>& W,
                    int first, const MatrixRef<T>& C) {
  const SingleColumnsFirst<T> both{Q, W, Q.cols + W.cols};
  gramGeneric(queue, both, W.block(0, W.rows, first, W.cols - first), C, Q.cols + first);
}

template <class Exec, class T>
void symmetricProductsOn(HostPath, Queue<Exec>& queue, const MatrixRef<const T>& X, const MatrixRef<const T>& Y,
                         const MatrixRef<T>& C) {
  const ChunkKernels<T>& kernels = chunkKernels<T>();
  const ChunkPlan plan(X.rows, gramChunkRows);
  const PartialSums<T> sums(plan.slots, std::ptrdiff_t(X.cols) * Y.cols, kernels.lanes);
  forEachChunk(queue, plan, [&](int slot, std::ptrdiff_t first, std::ptrdiff_t rows) {
    kernels.upperProducts(chunk(X.rowRange(first, rows)), chunk(Y.rowRange(first, rows)), sums.slot(slot));
  });
  sums.fold();
  for (int j = 0; j < Y.cols; ++j) {
    for (int i = 0; i < X.cols && i <= j; ++i) {
      C(i, j) = sums.total(i + std::ptrdiff_t(j) * X.cols);
      if (j < X.cols) C(j, i) = C(i, j);
    }
  }
}

template <class Exec, class T>
void symmetricProductsOn(GenericPath, Queue<Exec>& queue, const MatrixRef<const T>& X, const MatrixRef<const T>& Y,
                         const MatrixRef<T>& C) {
  gramGeneric(queue, X, Y, C, 0);
}

inline void requireTrailing(int first, int columns) {
  if (first >= 0 && first <= columns) return;
  throw std::invalid_argument("capstan::kernels::trailingGram: first is " + std::to_string(first) +
                              ", must be in [0, " + std::to_string(columns) + "]");
}

}  // namespace detail

/// C = X^T Y in one pass over X and Y.
///
/// \param X n x k
/// \param Y n x t; may share columns with X
/// \param C k x t, overwritten
/// \throws std::invalid_argument when the shapes do not fit or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewX, class ViewY, class ViewC>
void innerProducts(Queue<Exec>& queue, const ViewX& X, const ViewY& Y, const ViewC& C) {
  using T = detail::ScalarOf<ViewC>;
  const detail::MatrixRef<const T> x = detail::matrixRef<Exec>(X, "innerProducts", "X");
  const detail::MatrixRef<const T> y = detail::matrixRef<Exec>(Y, "innerProducts", "Y");
  const detail::MatrixRef<T> c = detail::matrixRef<Exec>(C, "innerProducts", "C");
  detail::requireShape(c, x.cols, y.cols, "innerProducts", "C");
  if (x.cols == 0 || y.cols == 0) return;
  detail::requireShape(y, x.rows, y.cols, "innerProducts", "Y");
  detail::onPath<Path, Exec>("inner products",
                             [=, &queue](auto path) { detail::innerProductsOn(path, queue, x, y, c); });
}

/// C = X^T Y in one pass over X and Y, where X^T Y(:, 0:k) is known to be symmetric, as Z^T (A Z) is: of its pairs one
/// product is computed.
///
/// \param X n x k
/// \param Y n x t, t >= k; may share columns with X
/// \param C k x t, overwritten; C(:, 0:k) is exactly symmetric
/// \throws std::invalid_argument when the shapes do not fit or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewX, class ViewY, class ViewC>
void symmetricProducts(Queue<Exec>& queue, const ViewX& X, const ViewY& Y, const ViewC& C) {
  using T = detail::ScalarOf<ViewC>;
  const detail::MatrixRef<const T> x = detail::matrixRef<Exec>(X, "symmetricProducts", "X");
  const detail::MatrixRef<const T> y = detail::matrixRef<Exec>(Y, "symmetricProducts", "Y");
  const detail::MatrixRef<T> c = detail::matrixRef<Exec>(C, "symmetricProducts", "C");
  detail::requireShape(c, x.cols, y.cols, "symmetricProducts", "C");
  if (y.cols < x.cols) {
    throw std::invalid_argument("capstan::kernels::symmetricProducts: Y has " + std::to_string(y.cols) +
                                " columns, must have at least the " + std::to_string(x.cols) + " of X");
  }
  if (x.cols == 0) return;
  detail::requireShape(y, x.rows, y.cols, "symmetricProducts", "Y");
  detail::onPath<Path, Exec>("inner products",
                             [=, &queue](auto path) { detail::symmetricProductsOn(path, queue, x, y, c); });
}

/// C = B^T B(:, first:end) in one pass over B; each symmetric pair of the trailing square is computed once.
///
/// \param B n x m
/// \param first first trailing column, 0 <= first <= m
/// \param C m x (m - first), overwritten; C(first:m, :) is exactly symmetric
/// \throws std::invalid_argument when the shapes do not fit or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewB, class ViewC>
void trailingGram(Queue<Exec>& queue, const ViewB& B, int first, const ViewC& C) {
  using T = detail::ScalarOf<ViewC>;
  const detail::MatrixRef<const T> b = detail::matrixRef<Exec>(B, "trailingGram", "B");
  const detail::MatrixRef<T> c = detail::matrixRef<Exec>(C, "trailingGram", "C");
  detail::requireTrailing(first, b.cols);
  detail::requireShape(c, b.cols, b.cols - first, "trailingGram", "C");
  if (c.cols == 0) return;
  detail::onPath<Path, Exec>("inner products",
                             [=, &queue](auto path) { detail::trailingGramOn(path, queue, b, first, c); });
}

/// C = [Q W]^T W(:, first:end) in one pass over Q and W, Q in single precision, as the final columns of a basis may be
/// stored; each symmetric pair of the trailing square is computed once. All sums are in the precision of W.
///
/// \param Q n x k, of float; k = 0 is legal
/// \param W n x m
/// \param first first trailing column, 0 <= first <= m
/// \param C (k + m) x (m - first), overwritten; C(k + first:end, :) is exactly symmetric
/// \throws std::invalid_argument when the shapes do not fit or columns are not contiguous
template <class Path = AutoPath, class Exec, class ViewQ, class ViewW, class ViewC>
void trailingGram(Queue<Exec>& queue, const ViewQ& Q, const ViewW& W, int first, const ViewC& C) {
  using T = detail::ScalarOf<ViewC>;
  const detail::MatrixRef<const float> q = detail::matrixRef<Exec>(Q, "trailingGram", "Q");
  const detail::MatrixRef<const T> w = detail::matrixRef<Exec>(W, "trailingGram", "W");
  const detail::MatrixRef<T> c = detail::matrixRef<Exec>(C, "trailingGram", "C");
  detail::requireTrailing(first, w.cols);
  detail::requireRows(q, w.rows, "trailingGram", "Q");
  detail::requireShape(c, q.cols + w.cols, w.cols - first, "trailingGram", "C");
  if (c.cols == 0) return;
  detail::onPath<Path, Exec>("inner products",
                             [=, &queue](auto path) { detail::trailingGramOn(path, queue, q, w, first, c); });
}

}  // namespace capstan::kernels
