#pragma once
/// \file
/// Vector recurrences fused into one pass: several axpby-like operations, executed in order on every row.
///
/// \code
/// sweep(queue, n, axpby(1.0, z, beta, p), axpby(1.0, w, beta, s), axpy(alpha, p, x), axpy(-alpha, s, r));
/// \endcode
/// An operation sees what the ones before it wrote. Operands of one operation, and of different ones, may be the same
/// vector; vectors that overlap without being the same are not supported. A vector read by several operations is read
/// from memory once. Local to the process; asynchronous; NaN and Inf propagate.
/// Every variant of CG and pipelined CG fuses its recurrences this way ([Chronopoulos and Gear 1989] and later).

#include <cstddef>

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/base/launch.hpp"
#include "tpetra_ext/kernels/base/matrix_ref.hpp"
#include "tpetra_ext/kernels/host/chunks.hpp"

namespace capstan::kernels {

namespace detail {

/// z = a x + b y. `readsY` false: y is not read at all, so that its NaN cannot spread.
template <class Vector, class VectorY, class VectorZ>
struct Combine {
  using T = ScalarOf<VectorZ>;
  T a;
  Vector x;
  T b;
  VectorY y;
  VectorZ z;
};

/// The operation as the kernels run it: z = a x + b y + c w. A term whose factor b or c is zero is not read; c is zero
/// where b is.
template <class T>
struct CombineRef {
  T a;
  const T* x;
  T b;
  const T* y;
  T c;
  const T* w;
  T* z;

  KOKKOS_INLINE_FUNCTION void operator()(std::ptrdiff_t i) const {
    T value = a * x[i];
    if (b != T(0)) value += b * y[i];
    if (c != T(0)) value += c * w[i];
    z[i] = value;
  }

  /// Rows [first, first + count) on the host. Every operand is the output itself or apart from it.
  void run(std::ptrdiff_t first, std::ptrdiff_t count) const {
    const T* const ys = b == T(0) ? nullptr : y + first;
    const T* const ws = c == T(0) ? nullptr : w + first;
    chunkKernels<T>().combine(a, x + first, b, ys, c, ws, z + first, count);
  }
};

template <class Exec, class Vector, class VectorY, class VectorZ>
auto combineRef(const Combine<Vector, VectorY, VectorZ>& op, std::ptrdiff_t n) {
  using T = ScalarOf<VectorZ>;
  return CombineRef<T>{
      op.a,    vectorData<Exec>(op.x, n, "sweep", "x"),         op.b, vectorData<Exec>(op.y, n, "sweep", "y"), T(0),
      nullptr, vectorData<Exec>(op.z, n, "sweep", "the output")};
}

/// y = d * x + b y, entry by entry; y is not read where b is zero.
template <class T>
struct ScaledRef {
  const T* d;
  const T* x;
  T b;
  T* y;

  KOKKOS_INLINE_FUNCTION void operator()(std::ptrdiff_t i) const {
    T value = d[i] * x[i];
    if (b != T(0)) value += b * y[i];
    y[i] = value;
  }

  /// Rows [first, first + count) on the host.
  void run(std::ptrdiff_t first, std::ptrdiff_t count) const {
    chunkKernels<T>().scaledAxpby(d + first, x + first, b, y + first, count);
  }
};

template <class VectorD, class Vector, class VectorY>
struct Scaled {
  using T = ScalarOf<VectorY>;
  VectorD d;
  Vector x;
  T b;
  VectorY y;
};

template <class Exec, class VectorD, class Vector, class VectorY>
auto combineRef(const Scaled<VectorD, Vector, VectorY>& op, std::ptrdiff_t n) {
  using T = ScalarOf<VectorY>;
  return ScaledRef<T>{vectorData<Exec>(op.d, n, "sweep", "d"), vectorData<Exec>(op.x, n, "sweep", "x"), op.b,
                      vectorData<Exec>(op.y, n, "sweep", "y")};
}

/// A fixed list of operations that can be copied to a device.
template <class... Ops>
struct OpList {
  KOKKOS_INLINE_FUNCTION void operator()(std::ptrdiff_t) const {}
  void run(std::ptrdiff_t, std::ptrdiff_t) const {}
};
template <class First, class... Rest>
struct OpList<First, Rest...> {
  First first;
  OpList<Rest...> rest;

  explicit OpList(const First& op, const Rest&... ops) : first(op), rest(ops...) {}
  KOKKOS_INLINE_FUNCTION void operator()(std::ptrdiff_t i) const {
    first(i);
    rest(i);
  }
  void run(std::ptrdiff_t begin, std::ptrdiff_t count) const {
    first.run(begin, count);
    rest.run(begin, count);
  }
};

/// Rows in a chunk: a dozen vectors of it fit the second-level cache, most recurrences the first.
constexpr std::ptrdiff_t sweepChunkRows = 512;

template <class Exec, class Ops>
void sweepOn(HostPath, Queue<Exec>& queue, std::ptrdiff_t n, const Ops& ops) {
  const ChunkPlan plan(n, sweepChunkRows);
  forEachChunk(queue, plan, [&](int, std::ptrdiff_t first, std::ptrdiff_t rows) { ops.run(first, rows); });
}

template <class Exec, class Ops>
void sweepOn(GenericPath, Queue<Exec>& queue, std::ptrdiff_t n, const Ops& ops) {
  launchLight("capstan sweep", queue, n, ops);
}

}  // namespace detail

/// y = a x + b y; b == 0 overwrites y without reading it.
template <class ViewX, class ViewY>
auto axpby(detail::ScalarOf<ViewY> a, const ViewX& x, detail::ScalarOf<ViewY> b, const ViewY& y) {
  return detail::Combine<ViewX, ViewY, ViewY>{a, x, b, y, y};
}

/// y = y + a x.
template <class ViewX, class ViewY>
auto axpy(detail::ScalarOf<ViewY> a, const ViewX& x, const ViewY& y) {
  return detail::Combine<ViewX, ViewY, ViewY>{a, x, detail::ScalarOf<ViewY>(1), y, y};
}

/// z = a x + b y; with b == 0, y is not read.
template <class ViewX, class ViewY, class ViewZ>
auto combine(detail::ScalarOf<ViewZ> a, const ViewX& x, detail::ScalarOf<ViewZ> b, const ViewY& y, const ViewZ& z) {
  return detail::Combine<ViewX, ViewY, ViewZ>{a, x, b, y, z};
}

/// y = a x.
template <class ViewX, class ViewY>
auto scale(detail::ScalarOf<ViewY> a, const ViewX& x, const ViewY& y) {
  return detail::Combine<ViewX, ViewY, ViewY>{a, x, detail::ScalarOf<ViewY>(0), y, y};
}

/// y = d * x + b y, entry by entry: D x + b y of a diagonal D. b == 0 overwrites y without reading it; y is neither d
/// nor x.
template <class ViewD, class ViewX, class ViewY>
auto scaledAxpby(const ViewD& d, const ViewX& x, detail::ScalarOf<ViewY> b, const ViewY& y) {
  return detail::Scaled<ViewD, ViewX, ViewY>{d, x, b, y};
}

/// Executes the operations in order on rows [0, n), in one pass.
///
/// \param n rows; every vector has at least as many, contiguous
/// \param ops results of axpby, axpy, combine, scale and scaledAxpby
/// \throws std::invalid_argument when a vector is too short or not contiguous
template <class Path = AutoPath, class Exec, class... Ops>
void sweep(Queue<Exec>& queue, std::ptrdiff_t n, const Ops&... ops) {
  const detail::OpList<decltype(detail::combineRef<Exec>(ops, n))...> list(detail::combineRef<Exec>(ops, n)...);
  if (n <= 0) return;
  detail::onPath<Path, Exec>("recurrences", [=, &queue](auto path) { detail::sweepOn(path, queue, n, list); });
}

}  // namespace capstan::kernels
