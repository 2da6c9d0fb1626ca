#pragma once
/// \file
/// The interface every method implements, and what it may keep between solves.

#include <complex>
#include <memory>
#include <vector>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/problem/linear_system.hpp"
#include "belos_ext/problem/solver_state.hpp"

namespace capstan {

/// One method, for one right-hand side. Keeps its vectors between solves of the same shape.
template <class Types>
class KrylovSolver {
 public:
  using MultiVector = typename Types::MultiVector;
  using Map = typename Types::Map;

  virtual ~KrylovSolver() = default;

  /// Takes new options; called before every solve. Local.
  virtual void configure(const SolverOptions& options) = 0;

  /// Solves A x = b from the guess in x until `stop` is over. x is written only with finite, verified-as-computed
  /// iterates. b, x: n x 1 on the same map. Collective.
  virtual void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) = 0;

  /// Takes over, and gives back, what is worth keeping across solver instances. Called after configure(). Local.
  ///
  /// Ranks may remember different solves, so what was recalled counts only once they agree: a solver that recalls asks
  /// agreesOnState() of its system after its first reduction, and forgets the state otherwise.
  virtual void recall(const SolverState& state) { static_cast<void>(state); }
  virtual void remember(SolverState& state) const { static_cast<void>(state); }

  /// Goes on where another method cannot. `stop` has begun. Collective.
  /// \param direction its last search direction, n x 1 and of any length, to which the next one is to be conjugate;
  ///   null: there is none, and this is a new beginning
  virtual void takeOver(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop,
                        const MultiVector* direction) {
    static_cast<void>(direction);
    solve(system, b, x, stop);
  }

  /// A solve that an exception has ended, after its first reduction: x = its guess where that has, as the recursion
  /// tells, the smaller residual. Local.
  virtual void abandon(LinearSystem<Types>& system, MultiVector& x, const StopTest& stop) {
    static_cast<void>(system), static_cast<void>(x), static_cast<void>(stop);
  }

  /// What goes on where this method cannot: said once, when it is made (MethodTraits::next). Local.
  virtual void setNext(const MethodTraits& method) { static_cast<void>(method); }

  /// Step size at the end of an s-step solve; 0 elsewhere.
  virtual int finalStepSize() const { return 0; }
};

/// Makes a method. Defined once, in belos_ext/registry/methods.cpp.
template <class Types>
std::unique_ptr<KrylovSolver<Types>> makeKrylovSolver(const MethodTraits& method);

}  // namespace capstan
