#pragma once
/// \file
/// One step of the matrix powers loop: what becomes of a product.

#include "belos_ext/basis/basis_recurrence.hpp"
#include "belos_ext/basis/krylov_basis.hpp"
#include "tpetra_ext/operators/vector_recurrence.hpp"

namespace capstan {

/// v_{k+1} = (v_{k+1} - alpha_k v_k - beta_k v_{k-1}) / gamma_k where column first + k + 1 holds the operator times
/// column first + k. For as long as the basis keeps its vectors.
template <class Types>
VectorRecurrence<Types> recurrenceOf(const BasisRecurrence& recurrence, KrylovBasis<Types>& basis, int first, int k) {
  using Scalar = typename Types::Scalar;
  const RecurrenceStep step = recurrence.step(k);
  if (step.plain()) return {};
  const Scalar scale = static_cast<Scalar>(1 / step.gamma);
  VectorRecurrence<Types> then{scale, static_cast<Scalar>(-step.alpha) * scale, &basis[first + k]};
  if (k > 0) {
    then.c = static_cast<Scalar>(-step.beta) * scale;
    then.u = &basis[first + k - 1];
  }
  return then;
}

}  // namespace capstan
