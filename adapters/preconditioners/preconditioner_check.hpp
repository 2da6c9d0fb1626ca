#pragma once
/// \file
/// What a few random vectors tell of a preconditioner, once it is built: whether a Krylov method can use it at all.

#include <string>

#include "adapters/preconditioners/types.hpp"

namespace capstan::preconditioning {

/// What was seen of M^-1, alike on all ranks.
struct PreconditionerCheck {
  bool finite = true;       ///< no NaN or Inf in M^-1 u
  bool positive = true;     ///< (u, M^-1 u) > 0
  double asymmetry = 0;     ///< |(u, M^-1 v) - (v, M^-1 u)| over the root of (u, M^-1 u) (v, M^-1 v)
  double contraction = -1;  ///< || e - M^-1 A e || over || e || after a few steps; negative: not looked at

  /// Rounding, and smoothers that are symmetric but for it, stay below.
  static constexpr double symmetric = 1e-6;

  /// Why no Krylov method that needs a symmetric positive definite M, or one that needs none, can use it; empty: it
  /// may. \param symmetricMethod such as conjugate gradients
  std::string whyUnusable(bool symmetricMethod) const;
  /// What a user should know of a preconditioner that can be used; empty: nothing.
  std::string remark(bool symmetricMethod) const;
};

/// Looks at M^-1 with two random vectors, the same for any number of ranks: 2 applications and 1 all-reduce; with the
/// contraction 3 more, with as many products of A, and 2 all-reduces. Collective.
/// \param a, m A and M^-1, on the same map   \param cycle M is one of multigrid, whose iteration should converge by
/// itself
PreconditionerCheck checkPreconditioner(const Operator& a, const Operator& m, bool cycle);

}  // namespace capstan::preconditioning
