#pragma once
/// \file
/// How one solve of a right-hand side gets its initial guess, and what it leaves for the next one.
///
/// Before the method begins, r = b - A x is computed for the application's own x. The policy makes its guess, and that
/// is taken only where b - A x gets smaller by it, by norms computed from x: here, in a reduction, or by the method's
/// own first residual where earlier predictions have come true. A method that refutes one begins again, from the
/// application's own x. Whatever is computed here of the x that the method begins with is not computed again
/// (LinearSystem::know()). M is not applied. The residuals that the method computes first and last are kept for the
/// policy.
///
/// Where the application's x is taken to be zero, r is b. A solve that finds in its first reduction that x is not zero
/// on all ranks begins again, from x; so does one that ends with x = 0, as its claim needs b - A x.
///
/// Only in the first reduction the ranks learn whether they agree (Agreement, Opening). Where they do not, all forget
/// what they have.
///
/// Cost: that of the policy, and up to 4 vectors copied, 1 more for each residual that the method computes; without a
/// policy 1 reduction. Storage, for the solve: 3 vectors, 1 more where a guess is tried.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/guess/guess_order.hpp"
#include "belos_ext/guess/guess_policy.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/report/solve_report.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan {

/// What a solve takes its application's x to be, before the ranks have compared theirs.
enum class Presumed {
  Nothing,
  Zero,       ///< zero, and this rank's part is not
  ZeroAsItIs  ///< zero, as this rank's part is
};

template <class Types>
class GuessStart {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Policy = GuessPolicy<Types>;

  /// Solves by `method(stop)`, which begins with the x there is. Collective.
  /// \param policy what is kept of earlier solves, or null   \param order the same on all ranks; where the method comes
  ///   first, the policy only learns   \param presumed of x; Nothing on all ranks or on none
  template <class Method>
  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, Policy* policy,
             GuessOrder order, Presumed presumed, const Method& method) {
    try {
      begin(system, b, x, stop, policy, order, presumed, method);
    } catch (...) {
      // The ranks have not agreed, or the application's operator has thrown: x is the application's own again.
      if (presumed_ == Presumed::Zero || proposal_.vectors > 0) system.kernels().scale(Scalar(1), *own_, x);
      throw;
    }
  }

  const GuessReport& report() const { return report_; }

 private:
  template <class Method>
  void begin(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, Policy* policy,
             GuessOrder order, Presumed presumed, const Method& method) {
    report_ = {};
    proposal_ = {};
    taken_ = false;
    presumed_ = presumed;
    keepOwn(system, x, policy != nullptr);
    const StopTest unbiased = stop;
    const auto startAgain = [&](const auto& start) {
      stop = unbiased;
      start(stop);
    };
    keeps_ = policy != nullptr && policy->wantsResiduals();
    if (keeps_) {
      prepare(x);
      system.keepResiduals(order == GuessOrder::Method ? residual_.get() : nullptr, &vectorLike(x, last_));
    }
    if (order != GuessOrder::Method) {
      const auto guess = [&](StopTest& test) { tryGuess(system, b, x, test, policy, order); };
      guess(stop);
      if (presumptionFailed(system)) {
        beginAtOwn(system, x);
        startAgain(guess);
      }
    } else if (presumed != Presumed::Nothing) {
      system.know(x, b);
    }
    method(stop);
    const bool endsAtZero = stop.converged() && stop.iterations() == 0 && stop.explicitNorm() == stop.initial();
    if (presumed_ != Presumed::Nothing && !taken_ && endsAtZero) {
      presumed_ = Presumed::Nothing;
      startAgain(method);
    }
    if (taken_ && proposal_.certain) judge(system, *policy, stop.initial());
    if (stop.refusesGuess()) {
      if (taken_) {
        giveUp(system, x);
      } else {
        beginAtOwn(system, x);
        if (keeps_) system.keepResiduals(residual_.get(), last_.get());
      }
      startAgain(method);
    }
    system.keepResiduals(nullptr, nullptr);
    if (policy != nullptr) end(system, x, stop, *policy);
  }

  /// x <- zero, where it is taken to be that.
  void keepOwn(LinearSystem<Types>& system, MultiVector& x, bool guesses) {
    if (guesses || presumed_ == Presumed::Zero) system.kernels().scale(Scalar(1), x, vectorLike(x, own_));
    if (presumed_ == Presumed::Zero) system.kernels().fill(Scalar(0), x);
  }

  /// Known, and the same on all ranks, after the first reduction.
  bool presumptionFailed(const LinearSystem<Types>& system) const {
    return presumed_ != Presumed::Nothing && !system.agreesOnZeroGuess();
  }

  /// x <- the application's own, of which nothing is known.
  void beginAtOwn(LinearSystem<Types>& system, MultiVector& x) {
    if (presumed_ == Presumed::Zero) {
      system.kernels().scale(Scalar(1), *own_, x);
    } else {
      system.kernels().fill(Scalar(0), x);
    }
    presumed_ = Presumed::Nothing;
  }

  void tryGuess(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, Policy* policy,
                GuessOrder order) {
    prepare(x);
    if (presumed_ == Presumed::Nothing) {
      computeResidual(system, b, x, *residual_);
    } else {
      system.kernels().scale(Scalar(1), b, *residual_);
    }
    auto& batch = *batch_;
    batch.clear();
    system.takeMeasure(*residual_);
    const auto square = batch.norm2(*residual_);
    auto trial = square;
    // A policy that is new keeps to the order of the one before it.
    const bool tried = order == GuessOrder::Both && policy != nullptr && !policy->needsResidual();
    if (policy != nullptr) {
      if (system.differsOnState())
        policy->beginAnew();  // a product has asked before: ranks would enter different things
      policy->enter(system, batch, *residual_);
    }
    if (tried) propose(system, *policy, Scalar(0), x);
    if (order == GuessOrder::Both) {
      computeResidual(system, b, x, vectorLike(x, trial_));
      trial = batch.norm2(*trial_);
    }
    system.reduce(batch);
    if (presumptionFailed(system)) return;
    if (policy == nullptr) return system.know(x, *residual_);
    const Scalar rr = batch[square], tt = batch[trial];
    if (!system.agreesOnState()) {
      policy->beginAnew();
      return giveUp(system, x);
    }
    ownMeasured_ = system.measured();
    if (policy->needsResidual()) propose(system, *policy, rr, x);
    ownNorm_ = system.norm(*residual_, rr, batch);
    if (proposal_.vectors == 0) return giveUp(system, x);
    if (!proposal_.certain) {
      const double norm = tried ? system.norm(*trial_, tt, batch) : tryNow(system, b, x);
      judge(system, *policy, norm);
    }
    if (!proposal_.certain && !(norm_ < ownNorm_)) return giveUp(system, x);
    take(system, x, stop);
  }

  /// x <- the guess. An entry that is not finite, which no row may read, becomes one that every row does.
  void propose(LinearSystem<Types>& system, Policy& policy, Scalar square, MultiVector& x) {
    proposal_ = policy.propose(system, *batch_, square, *residual_, x);
    if (proposal_.vectors == 0 || system.kernels().finite(x)) return;
    system.kernels().fill(std::numeric_limits<Scalar>::quiet_NaN(), x);
  }

  /// The norm of b - A x of a guess. 1 A, 1 reduction.
  double tryNow(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x) {
    computeResidual(system, b, x, vectorLike(x, trial_));
    batch_->clear();
    const auto slot = batch_->norm2(*trial_);
    system.reduce(*batch_);
    const Scalar square = (*batch_)[slot];
    return system.norm(*trial_, square, *batch_);
  }

  /// The guess has been found to leave a residual of this norm.
  void judge(LinearSystem<Types>& system, Policy& policy, double norm) {
    norm_ = norm;
    if (const auto told = policy.judge(norm, ownNorm_)) system.tell(0, *told);
  }

  void take(LinearSystem<Types>& system, const MultiVector& x, StopTest& stop) {
    taken_ = true;
    stop.beginsBelow(ownNorm_, ownMeasured_);
    if (!proposal_.certain) system.know(x, *trial_);
  }

  /// The method is to begin with the application's own x.
  void giveUp(LinearSystem<Types>& system, MultiVector& x) {
    if (proposal_.vectors > 0) system.kernels().scale(Scalar(1), *own_, x);
    proposal_ = {};
    taken_ = false;
    system.know(x, *residual_);
  }

  /// What there is to keep of the solve, and to tell.
  void end(LinearSystem<Types>& system, const MultiVector& x, const StopTest& stop, Policy& policy) {
    if (!system.agreesOnState()) {
      policy.beginAnew();
      keeps_ = false;  // what one rank has kept, another may not
    }
    const double last = stop.explicitNorm();
    if (taken_) {
      report_.vectors = proposal_.vectors;
      report_.factor = ratioOr(ownNorm_, norm_, std::numeric_limits<double>::infinity());
      report_.iterationsSaved = savedBy(std::log(boundedRatio(ownNorm_, last)), stop.iterations(), policy.rate);
      if (policy.iterations > 0) policy.iterations = std::max(policy.iterations, stop.iterations());
    } else if (const double fallen = std::log(boundedRatio(stop.initial(), last));
               last != 0 && stop.iterations() > 0 && fallen > 0) {
      policy.rate = fallen / stop.iterations();
      policy.iterations = stop.iterations();
    }
    const auto kept = [&](const Teuchos::RCP<MultiVector>& r) { return keeps_ ? r.get() : nullptr; };
    if (stop.converged()) policy.learn(system, {*own_, x, kept(residual_), kept(last_), stop.iterations() > 0});
    policy.ended();
  }

  /// Iterations less than a solve from the application's own x takes, whose residual's logarithm falls by `fall` in all
  /// and by `rate` an iteration; NaN where that rate is not known.
  static double savedBy(double fall, int iterations, double rate) {
    if (rate == 0) return std::numeric_limits<double>::quiet_NaN();
    return std::max(0.0, fall / rate - iterations);
  }

  void computeResidual(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, MultiVector& r) {
    system.act(Action::Operator, x, r);
    system.kernels().axpby(Scalar(1), b, Scalar(-1), r);
  }

  void prepare(const MultiVector& x) {
    const auto known = residual_;
    if (&vectorLike(x, residual_) != known.get()) {
      batch_ = std::make_unique<ReductionBatch<Types>>(x.getMap()->getComm());
    }
  }

  Proposal proposal_;
  bool taken_ = false;
  bool keeps_ = false;             ///< the first and the last residual of the solve are kept for the policy
  double ownNorm_ = 0, norm_ = 0;  ///< || b - A x || of the application's own x, and of the guess
  double ownMeasured_ = 0;         ///< LinearSystem::measured() of the former
  GuessReport report_;
  Teuchos::RCP<MultiVector> own_;               ///< the application's x
  Teuchos::RCP<MultiVector> residual_, trial_;  ///< b - A x of the application's x, and of a guess
  Teuchos::RCP<MultiVector> last_;              ///< the method's last one
  Presumed presumed_ = Presumed::Nothing;
  std::unique_ptr<ReductionBatch<Types>> batch_;
};

}  // namespace capstan
