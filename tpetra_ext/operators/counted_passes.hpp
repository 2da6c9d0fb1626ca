#pragma once
/// \file
/// What the passes of BlockKernels do, for VectorWork. Local; nothing where it does not count.
///
/// Used by block_kernels.hpp and preconditioned_operator.cpp only.

#include <cstddef>

#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/kernels/sweep_list.hpp"
#include "tpetra_ext/operators/vector_recurrence.hpp"
#include "tpetra_ext/reductions/vector_work.hpp"

namespace capstan::detail {

/// A view of as many rows.
template <class Tall>
Tall noColumns(const Tall& like) {
  return Tall(static_cast<typename Tall::value_type*>(nullptr), like.extent(0), 0);
}

/// v = w + q r, of whatever signs.
template <class Q, class From, class To>
void countUpdate(const Q& q, const From& w, const To& v) {
  VectorPass pass(v.extent(0));
  pass.readsAll(q);
  pass.readsAll(w);
  pass.writesAll(v);
  pass.flops(2 * q.extent(1) * v.extent(1));
}

/// p = p s^{-1}, v = (v - [q p] r) u^{-1}, with triangular s and u. \param single where p goes to, too; null: nowhere
template <class Q, class Tall, class Single = Q>
void countOrthonormalize(const Q& q, const Tall& p, const Tall& v, const Single* single = nullptr) {
  VectorPass pass(v.extent(0));
  if (!pass.counts()) return;
  pass.readsAll(q);
  for (const Tall* block : {&p, &v}) {
    pass.readsAll(*block);
    pass.writesAll(*block);
    pass.flops(block->extent(1) * block->extent(1));
  }
  pass.flops(2 * (q.extent(1) + p.extent(1)) * v.extent(1));
  if (single != nullptr) pass.writesAll(*single);
}

template <class From, class To>
void countRound(const From& from, const To& to) {
  VectorPass pass(to.extent(0));
  pass.readsAll(from);
  pass.writesAll(to);
}

/// So many flops an entry.
template <class Column>
void countRead(const Column& column, std::size_t flops) {
  VectorPass pass(column.extent(0));
  pass.reads(column.data());
  pass.flops(flops);
}

/// An operation of a sweep, z = a x + b y.
template <class X, class Y, class Z>
void countCombined(VectorPass& pass, const kernels::detail::Combine<X, Y, Z>& op) {
  const typename kernels::detail::Combine<X, Y, Z>::T none(0);
  pass.combines(op.a, op.x.data(), op.b, op.y.data(), none, op.x.data(), op.z.data());
}

/// y = D x + b y.
template <class D, class X, class Y>
void countCombined(VectorPass& pass, const kernels::detail::Scaled<D, X, Y>& op) {
  const typename kernels::detail::Scaled<D, X, Y>::T one(1), none(0);
  pass.reads(op.d.data());
  pass.combines(one, op.x.data(), op.b, op.y.data(), none, op.x.data(), op.y.data());
  pass.flops(1);
}

template <class Scalar>
void countList(std::ptrdiff_t rows, const kernels::SweepList<Scalar>& list) {
  VectorPass pass(static_cast<std::size_t>(rows));
  if (!pass.counts()) return;
  for (int k = 0; k < list.size(); ++k) {
    const auto& op = list.begin()[k];
    pass.combines(op.a, op.x, op.b, op.y, op.c, op.w, op.z);
  }
}

/// A recurrence in the pass of a product with x.
template <class Types>
void countRecurrence(const VectorRecurrence<Types>& then, const typename Types::MultiVector& x) {
  VectorPass pass(x.getLocalLength());
  if (!pass.counts()) return;
  const auto address = [&x](const typename Types::MultiVector* vector) -> const void* {
    return vector == nullptr || vector == &x ? nullptr
                                             : compat::deviceColumn(*vector, Tpetra::Access::ReadOnly)->data();
  };
  pass.recurs(then.a, then.b, address(then.v), then.c, address(then.u));
}

}  // namespace capstan::detail
