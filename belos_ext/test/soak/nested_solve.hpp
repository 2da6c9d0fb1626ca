#pragma once
/// \file
/// Operators and preconditioners that themselves run a Capstan solve, on the same ranks and under the same label.

#include <BelosSolverManager.hpp>

#include "belos_ext/test/soak/system.hpp"

namespace capstan::soak {

class NestedSolve {
 public:
  /// Solves a small system of its own and leaves the result as it is. A false "converged" throws std::logic_error.
  static SoakOperator::Afterwards onTheSide(const RCP<const Comm>& comm, std::uint64_t seed);

  /// Scales the result by 1 + e with e from such a solve: not quite linear, as inner iterations are.
  static SoakOperator::Afterwards asPreconditioner(const RCP<const Comm>& comm, std::uint64_t seed);

  NestedSolve(const RCP<const Comm>& comm, std::uint64_t seed);

  /// || x ||_1 of the solution of a system that depends on `application`. Collective.
  double solve(int application);

 private:
  using Solver = Belos::SolverManager<Scalar, MultiVector, Operator>;

  RCP<Solver> make() const;

  std::uint64_t seed_;
  RCP<CrsMatrix> a_;
  RCP<Solver> solver_;
};

}  // namespace capstan::soak
