#pragma once
/// \file
/// What a policy for the initial guess is: it keeps what earlier solves of one right-hand side have left, and makes a
/// guess of it.

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "belos_ext/events/event.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/problem/linear_system.hpp"

namespace capstan {

/// A guess that has been written to x.
struct Proposal {
  int vectors = 0;       ///< that it is made of; 0: there is none, and x is as it was
  double predicted = 0;  ///< || b - A x || of it; NaN where nothing is known
  bool certain = false;  ///< predictions have come true: the method's own first residual may judge this one
};

/// A solve that has converged.
template <class Types>
struct SolvedSystem {
  using MultiVector = typename Types::MultiVector;
  const MultiVector& own;                     ///< the application's own x
  const MultiVector& x;                       ///< the solution
  const MultiVector *ownResidual, *residual;  ///< b - A x of both, where the policy wantsResiduals()
  bool moved;                                 ///< whether the method has made an iteration
};

template <class Types>
class GuessPolicy {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Batch = ReductionBatch<Types>;

  virtual ~GuessPolicy() = default;

  /// Whether a guess is made of the residual of the application's own x; else before that is known, so that one
  /// reduction judges both.
  virtual bool needsResidual() const = 0;

  /// Whether it learns from residuals of the application's own x and of the solution.
  virtual bool wantsResiduals() const = 0;

  /// Whether the next solve is to go without a guess, as the last ones were not worth what they cost. The same on all
  /// ranks that have solved alike.
  virtual bool rests() const { return false; }

  /// Adds what the guess is made of to the reduction that carries (r, r), r = b - A x: at most mostNumbers().
  /// Local.
  virtual void enter(LinearSystem<Types>& system, Batch& batch, const MultiVector& r) = 0;
  static constexpr int mostNumbers() { return 4 * InitialGuess::mostVectors; }

  /// x <- a better guess than x, where it has one. Ranks that have entered the same get the same. Collective where the
  /// guess needs the residual, else local.
  /// \param batch after the reduction, where the guess needs the residual: may be used again   \param square (r, r)
  /// \param r b - A x
  virtual Proposal propose(LinearSystem<Types>& system, Batch& batch, Scalar square, const MultiVector& r,
                           MultiVector& x) = 0;

  /// What has become of the proposal. \param norm || b - A x || of it, computed from x   \param own that of the
  /// application's own x. Returns what the report should tell; mostly nothing. Local.
  virtual std::optional<Event> judge(double norm, double own) = 0;

  /// A solve has ended, in whatever way; after learn(). Local.
  virtual void ended() {}

  /// A solve has converged. Local.
  virtual void learn(LinearSystem<Types>& system, const SolvedSystem<Types>& solved) = 0;

  /// Forgets the vectors. Local.
  virtual void forget() = 0;

  /// The same, and what else there is: for ranks that have found that they do not hold the same. Local.
  void beginAnew() {
    forget();
    rate = 0;
    iterations = 0;
  }

  /// Whose map is to be exchanged for an equal one of another object.
  virtual std::vector<Teuchos::RCP<MultiVector>> kept() const = 0;

  /// How much the logarithm of the residual fell in an iteration of the last solve without a guess; 0: there was
  /// none.
  double rate = 0;
  /// Iterations of that solve, or of one since that took more with a guess; 0: there was none.
  int iterations = 0;

  /// Of vectors, on this rank. Local.
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& v : kept()) sum += v->getLocalLength() * v->getNumVectors() * sizeof(Scalar);
    return sum;
  }
};

}  // namespace capstan
