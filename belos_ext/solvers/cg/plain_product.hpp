#pragma once
/// \file
/// The product of CG that sends its own messages, as the operator does: the interface that CgVectors asks of a product.

#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/problem/linear_system.hpp"

namespace capstan {

template <class Types>
struct PlainProduct {
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Options = MethodOptions<SymmetricOptions, SmoothingOptions, FallbackOptions>;

  /// Whether z -= alpha t is wanted from the first step on, also where M is costly: what is measured instead
  /// (flexible_cg.hpp) has a product with a vector that no recurrence gives.
  static constexpr bool recurs = false;

  /// z or p has been made in another way than by step(). Local.
  void replaced() {}
  /// s = A p; z is what p is made of next. Collective.
  void multiply(LinearSystem<Types>& system, const MultiVector& z, const MultiVector& p, MultiVector& s) {
    static_cast<void>(z);
    system.act(Action::Operator, p, s);
  }
  /// t = M^{-1} s, after multiply(). scratch: as LinearSystem::precondition(). Collective.
  void precondition(LinearSystem<Types>& system, const MultiVector& s, MultiVector* scratch, MultiVector& t) {
    system.precondition(s, scratch, t);
  }
  /// The reduction of an iteration; t is what z is changed by next. Collective.
  void reduce(LinearSystem<Types>& system, ReductionBatch<Types>& batch, const MultiVector& t) {
    static_cast<void>(t);
    system.reduce(batch);
  }
  /// z = z - alpha t + shift, p = z + beta p is about to be computed. Local.
  void step(LinearSystem<Types>& system, Scalar alpha, Scalar beta, Scalar shift) {
    static_cast<void>(system), static_cast<void>(alpha), static_cast<void>(beta), static_cast<void>(shift);
  }
};

}  // namespace capstan
