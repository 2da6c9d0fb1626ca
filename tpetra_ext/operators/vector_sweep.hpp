#pragma once
/// \file
/// Recurrences on single vectors that one pass is to take together, for BlockKernels and for products. All is local.

#include <Tpetra_MultiVector.hpp>
#include <cstddef>

#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/kernels/sweep_list.hpp"
#include "tpetra_ext/operators/vector_recurrence.hpp"

namespace capstan {

namespace detail {

/// The local rows for reading, or for updating in place, on the device. n x columns, LayoutLeft.
template <class MultiVector>
auto readable(const MultiVector& v) {
  return compat::deviceView(v, Tpetra::Access::ReadOnly);
}
template <class MultiVector>
auto writable(MultiVector& v) {
  return compat::deviceView(v, Tpetra::Access::ReadWrite);
}

/// The single column of v, for reading, updating or overwriting. Rank-1 view.
template <class MultiVector>
auto readableColumn(const MultiVector& v) {
  return compat::deviceColumn(v, Tpetra::Access::ReadOnly);
}
template <class MultiVector>
auto writableColumn(MultiVector& v) {
  return compat::deviceColumn(v, Tpetra::Access::ReadWrite);
}
template <class MultiVector>
auto overwritableColumn(MultiVector& v) {
  return compat::deviceColumn(v, Tpetra::Access::OverwriteAll);
}

}  // namespace detail

/// One step of a fused recurrence on single vectors: y = a x + b y.
template <class MultiVector>
struct VectorUpdate {
  using Scalar = typename MultiVector::scalar_type;
  Scalar a;
  const MultiVector& x;
  Scalar b;
  MultiVector& y;
};

/// y = a x + b y (b == 0 overwrites) and y = y + a x, for BlockKernels::sweep().
template <class MultiVector>
VectorUpdate<MultiVector> axpby(typename MultiVector::scalar_type a, const MultiVector& x,
                                typename MultiVector::scalar_type b, MultiVector& y) {
  return {a, x, b, y};
}
template <class MultiVector>
VectorUpdate<MultiVector> axpy(typename MultiVector::scalar_type a, const MultiVector& x, MultiVector& y) {
  return {a, x, 1, y};
}

/// y = D x + b y, D a diagonal, kept as a vector d like x and y; b == 0 overwrites. y is neither d nor x.
template <class MultiVector>
struct ScaledUpdate {
  using Scalar = typename MultiVector::scalar_type;
  const MultiVector& d;
  const MultiVector& x;
  Scalar b;
  MultiVector& y;
};

/// y = D x + b y, for BlockKernels::sweep().
template <class MultiVector>
ScaledUpdate<MultiVector> scaledAxpby(const MultiVector& d, const MultiVector& x, typename MultiVector::scalar_type b,
                                      MultiVector& y) {
  return {d, x, b, y};
}

/// A fused recurrence of a length known only at run time, on single vectors of one length. See kernels/sweep_list.hpp.
/// Vectors stay where they are until the list is swept: nobody makes them anew, or looks at them on the host.
template <class Types>
class SweepList {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  explicit SweepList(size_t rows) : rows_(static_cast<std::ptrdiff_t>(rows)) {}

  /// y = a x + b y; b == 0 overwrites.
  void axpby(Scalar a, const MultiVector& x, Scalar b, MultiVector& y) {
    const auto from = detail::readableColumn(x);
    const auto to = detail::writableColumn(y);
    list_.template add<typename Types::ExecutionSpace>(rows_, a, *from, b, *to, *to);
  }
  /// y = y + a x.
  void axpy(Scalar a, const MultiVector& x, MultiVector& y) { axpby(a, x, 1, y); }
  /// w = a w + b v + c u; terms with a zero factor are not read, unless all are zero.
  void recur(Scalar a, MultiVector& w, Scalar b, const MultiVector& v, Scalar c, const MultiVector& u) {
    if (b == Scalar(0)) return c == Scalar(0) ? axpby(a, w, Scalar(0), w) : axpby(c, u, a, w);
    const auto first = detail::readableColumn(v), second = detail::readableColumn(u);
    const auto to = detail::writableColumn(w);
    list_.template add<typename Types::ExecutionSpace>(rows_, b, *first, c, *second, a, *to, *to);
  }

  /// What a recurrence says.
  void recur(const VectorRecurrence<Types>& then, MultiVector& w) {
    recur(then.a, w, then.b, then.v != nullptr ? *then.v : w, then.c, then.u != nullptr ? *then.u : w);
  }

  /// w = a x + b v + c u; terms whose factor b or c is zero are not read.
  void combine(Scalar a, const MultiVector& x, Scalar b, const MultiVector& v, Scalar c, const MultiVector& u,
               MultiVector& w) {
    const auto first = detail::readableColumn(x), second = detail::readableColumn(v), third = detail::readableColumn(u);
    const auto to = detail::writableColumn(w);
    list_.template add<typename Types::ExecutionSpace>(rows_, a, *first, b, *second, c, *third, *to);
  }

  std::ptrdiff_t rows() const { return rows_; }
  const kernels::SweepList<Scalar>& list() const { return list_; }

 private:
  std::ptrdiff_t rows_;
  kernels::SweepList<Scalar> list_;
};

}  // namespace capstan
