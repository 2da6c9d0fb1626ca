#pragma once
/// \file
/// One step of the matrix powers loop, after the operator has been applied.

#include <algorithm>

#include "belos_ext/basis/basis_recurrence.hpp"
#include "belos_ext/basis/krylov_basis.hpp"
#include "belos_ext/problem/linear_system.hpp"

namespace capstan {

/// v_{k+1} = (v_{k+1} - alpha_k v_k - beta_k v_{k-1}) / gamma_k where column first + k + 1 holds the operator times
/// column first + k. One pass over three vectors at most. Local.
template <class Types>
void advanceBasis(LinearSystem<Types>& system, const BasisRecurrence& recurrence, KrylovBasis<Types>& basis, int first,
                  int k) {
  using Scalar = typename Types::Scalar;
  const RecurrenceStep step = recurrence.step(k);
  if (step.plain()) return;
  const Scalar scale = static_cast<Scalar>(1 / step.gamma);
  const Scalar own = static_cast<Scalar>(-step.alpha) * scale;
  const Scalar previous = k > 0 ? static_cast<Scalar>(-step.beta) * scale : Scalar(0);
  system.kernels().recur(scale, basis[first + k + 1], own, basis[first + k], previous,
                         basis[first + std::max(k - 1, 0)]);
}

}  // namespace capstan
