#pragma once
/// \file
/// What a method is to the supervisor: its mathematics, cycle by cycle. A cycle returns how it ended, as data; what
/// that means for the solve is decided in supervisor.hpp, the same for all methods.

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/problem/linear_system.hpp"
#include "belos_ext/problem/solver_state.hpp"

namespace capstan {

template <class Types>
class JudgedResidual;
template <class Types>
class Progress;

/// How a cycle of a method has ended.
enum class Ending {
  Claimed,      ///< the recursive residual meets its target: a claim, which is judged by computing b - A x
  Replacement,  ///< rounding is about to separate the recursion from b - A x
  Limit,        ///< of iterations
  UserTest,     ///< the application asks to stop
  Breakdown,    ///< what the method divides by is zero, or nothing but rounding
  NotFinite,    ///< a number of the recurrences is
  Overflow,     ///< the next iterate cannot be represented; x is the last one
  Underflow,    ///< squares of the residual cannot: the supervisor has seen it before the cycle
  Stagnant,     ///< the residual has not fallen for long
  OtherForm,    ///< of a method with two: the other one goes on
  NotLinear,    ///< M is not linear and symmetric, which the recurrences take it to be
  Unfit,        ///< A or M is not what the method is for, and the residual has not fallen for long, or has diverged
  Full,         ///< it has all the columns that it can have, and x the change that they make
  Skew,         ///< a basis is no longer orthonormal, and nothing that the method has left is to be trusted
  Renewed,      ///< the method goes on from its own residual in another form: Start::GoOn
  HandsOver     ///< the next method gets on better from here, along direction()
};

/// What a cycle begins with, besides the x at hand.
enum class Start {
  First,      ///< the residual of x, and the products that take() has been given
  Anew,       ///< the residual of x, and nothing else
  Made,       ///< the direction and its image are those of the next step: another form of the method has made them
  Direction,  ///< the residual of x, computed anew, and the last search direction
  GoOn        ///< what the cycle before has left: its claim came too early, or it was Renewed
};

/// How the supervisor treats a method: data.
struct Treatment {
  bool symmetric = false;    ///< for symmetric A and M: rows are solved first, constants looked for, signs watched
  bool goesBack = false;     ///< a cycle that leaves a larger residual than it began with is undone
  bool examines = false;     ///< claims are examined while the cycle stands
  bool minimises = false;    ///< x and its residual come at the end of a cycle, but after Breakdown and NotFinite
  bool replaces = false;     ///< "Residual Replacement" is the supervisor's: after a claim the direction may be kept
  bool lends = false;        ///< residual() is not needed while a cycle runs: claims are examined in it
  bool judges = false;       ///< whether A annihilates constants, by its first products
  bool keepsSpace = false;   ///< it goes on with a residual computed anew wherever that is the recursion's
  bool mayOverflow = false;  ///< x, unseen: it is looked at after solves that have failed
  int patience = 1;          ///< multiples of the iterations in which a residual that rises and falls is to halve
  int mostFruitless = 0;     ///< cycles in a row that gain nothing end the method; 0: they do not
  EventKind restart = EventKind::Restart;  ///< what the report calls a restart
};

/// One method, for one right-hand side, that follows b - A x.
template <class Types>
class Method {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  virtual ~Method() = default;

  /// What a method is given of the options: it names what it takes, and how they become its own in configure().
  using Options = MethodOptions<>;
  void configure(const Options& options) { static_cast<void>(options); }
  /// Drops what recall() took over: the ranks do not agree on it. Local.
  void forget(const Options& options) { static_cast<void>(options); }
  /// As KrylovSolver's.
  virtual void recall(const SolverState& state) { static_cast<void>(state); }
  virtual void remember(SolverState& state) const { static_cast<void>(state); }

  /// A solve begins. Whether the next method is to do it, as earlier solves have shown. Local.
  virtual bool defers(LinearSystem<Types>& system) { return static_cast<void>(system), false; }
  /// It is over: what later ones may know of it. Collective. \param own iterations before the next method went on
  virtual void learn(LinearSystem<Types>& system, StopTest& stop, int own) {
    static_cast<void>(system), static_cast<void>(stop), static_cast<void>(own);
  }

  /// The next solve goes on where another method has stopped, without a direction of it. Local.
  virtual void takesOver() {}

  /// Makes what is missing for vectors like b. Collective where it allocates.
  /// \param judged holds the batch and the constants of this solve
  virtual void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>& judged) = 0;

  /// The residual that the tolerance is asked of, n x 1: b - A x when a cycle begins.
  virtual Teuchos::RCP<MultiVector>& residual() = 0;

  /// Enters what the first cycle can have reduced with the norms of its residual, and takes it. Collective; local.
  virtual void enter(LinearSystem<Types>& system, ReductionBatch<Types>& batch) {
    static_cast<void>(system), static_cast<void>(batch);
  }
  virtual void take(LinearSystem<Types>& system) { static_cast<void>(system); }

  /// || M_L^{-1} (b - A x) || of the guess, for a method that minimises it: after take(). Collective.
  virtual double nativeNorm(LinearSystem<Types>& system) {
    static_cast<void>(system);
    return 0;
  }

  /// Iterates, x in place, until something ends the cycle. Collective.
  virtual Ending cycle(Progress<Types>& progress, Start start) = 0;

  /// The solve is over. Collective.
  virtual void ended(Progress<Types>& progress) { static_cast<void>(progress); }

  /// As KrylovSolver's.
  virtual int finalStepSize() const { return 0; }

  /// b - A x of the x at hand has taken the place of the recursive residual, and rounding has not parted the two: what
  /// the method follows besides may be kept. Whether the direction may be. Local.
  virtual bool keepsDirection() const { return false; }

  /// Why the last cycle has ended as it did, for the report; None: the ending says it. Local.
  virtual Cause why() const { return Cause::None; }
  /// The depth that a pipeline goes on with, for the report. Local.
  virtual int depth() const { return 0; }
  /// The direction that led to x, with which the next method may go on, n x 1; null: none. Local.
  virtual const MultiVector* direction() const { return nullptr; }

  /// Makes the first cycle go on from a direction that another method stood at. False where it cannot. Collective.
  /// \param p n x 1, of any length
  virtual bool startAlong(Progress<Types>& progress, const MultiVector& p) {
    static_cast<void>(progress), static_cast<void>(p);
    return false;
  }
};

}  // namespace capstan
