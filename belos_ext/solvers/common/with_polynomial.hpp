#pragma once
/// \file
/// A method of conjugate gradients that takes d products an iteration ("Polynomial Degree"): its preconditioner is
/// followed by a Chebyshev polynomial, so that it needs about 1 / d of the iterations, and of the reductions, for
/// little more products. Nothing but the spectrum's upper end has to be known.
///
/// Source: [Saad 1985], [Ashby, Manteuffel and Otto 1992].
///
/// Cost of an iteration: that of the method with a preconditioner, d - 1 A, and d M^{-1} in place of one; vectors:
/// polynomial_system.hpp. Bounds of the spectrum, where they are not given, take 16 A, 16 M^{-1} and 3 reductions once
/// for each problem where states are cached; a solve that knows none, or whose ranks do not agree on them, begins
/// twice: one more application of the polynomial, or two, 2 A and 1 reduction. 1 reduction more in the first solve of a
/// solver (manager/opening.hpp).
///
/// Degree 1 is the method itself. Bounds that leave out an eigenvalue are seen by the method's own numbers, which are
/// those of a Lanczos matrix (ritz_watch.hpp): of an odd degree the preconditioner stays definite with them, so that
/// nothing else would show. Where they are far too low the solve goes on from its x with others; where they are a
/// little too low, the next one has wider ones. Bounds that are too high, those of a matrix that has been scaled down,
/// show in nothing but the iterations: a solve that takes many more than earlier ones let expect estimates anew, once.
///
/// Fallbacks, each in the report: bounds of an earlier solve, or of the user, are proved wrong, or doubted: they are
/// estimated anew -> those of the estimate are proved too low: they are made wider -> degree 1, with bounds of this
/// solve or of the user, where the method would hand over to GMRES, where no bounds are found, or where A has been seen
/// not to be symmetric.

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "belos_ext/solvers/common/polynomial_system.hpp"
#include "belos_ext/spectrum/spectrum_estimate.hpp"
#include "belos_ext/supervision/krylov_solver.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan::tuning::polynomial {
/// A solve that takes so many times the iterations that one before has led to expect puts its bounds in doubt. Chosen.
inline constexpr double slower = 1.5;
/// Bounds that one solve tries, those of an earlier one and an estimate among them. Chosen: each is proved too narrow
/// by the last one, and made wider.
inline constexpr int mostTrials = 5;
}  // namespace capstan::tuning::polynomial

namespace capstan {

template <class Types, class Method>
class WithPolynomial final : public KrylovSolver<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  using Options = typename Method::Options::template With<PolynomialOptions>;

  /// A step of the polynomial takes 6 flops, 4 vectors read and 2 written; with M 5 flops.
  static Cost cost(const SolverOptions& options, bool preconditioned) {
    const double more = options.polynomialDegree - 1, m = preconditioned ? 1 : 0;
    if (more == 0) return Method::cost(options, preconditioned);
    Cost cost = Method::cost(options, true);
    cost.operators += more;
    cost.preconditioners = m * (more + 1);
    cost.vectors += 2 + m;
    cost.flops += 1 + more * (6 - m);
    cost.bytes += 8 * (1 + more * 6);
    return cost;
  }

  void configure(const SolverOptions& options) override {
    isUsed_ = options.polynomialDegree > 1;
    if (!isUsed_) return method_.configure(options);  // short solves notice a copy
    options_ = options;                               // what the method is told depends on the bounds
    forget();
    if (!options.eigenvalueBoundsAuto) bounds_ = options.eigenvalueBounds;
    recalled_ = SolverState();
  }

  void setNext(const MethodTraits& method) override { method_.setNext(method); }
  void recall(const SolverState& state) override {
    if (!isUsed_) return method_.recall(state);
    recalled_ = state;
    if (!options_.eigenvalueBoundsAuto) return;
    bounds_ = state.polynomialBounds;
    pace_ = state.polynomialPace;
  }
  void remember(SolverState& state) const override {
    method_.remember(state);
    if (!isUsed_ || !options_.eigenvalueBoundsAuto) return;
    state.polynomialBounds = bounds_;
    state.polynomialPace = pace_;
  }

  void takeOver(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop,
                const MultiVector* direction) override {
    if (isUsed_) return solve(system, b, x, stop);
    method_.takeOver(system, b, x, stop, direction);
  }

  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) override {
    if (!isUsed_) return method_.solve(system, b, x, stop);
    estimated_ = false;
    const MultiVector* const known = system.knownResidual(x);
    auto refusal = solveBy(system, b, x, stop, bounds_.value_or(EigenvalueBounds{0, 1}), [&] {
      return bounds_.has_value() && (isGiven() || system.agreesOnState()) && !system.isNonsymmetric();
    });
    if (refusal == Refusal::NotUsable) {
      if (!system.agreesOnState()) {
        recalled_ = SolverState();
        if (!isGiven()) forget();
      }
      if (known != nullptr) system.know(x, *known);  // x is as it was
      if (system.isNonsymmetric()) return solvePlainly(system, b, x, stop, Cause::NotSymmetric);
    }
    for (int trial = 2; refusal && refusal != Refusal::Fallback && trial <= tuning::polynomial::mostTrials; ++trial) {
      if (!findBetter(system, b, stop.iterations(), *refusal)) break;
      refusal = solveBy(system, b, x, stop, *bounds_, {});
    }
    if (!refusal) return learn(system, stop);
    const bool found = bounds_.has_value();
    if (!isGiven()) forget();
    solvePlainly(system, b, x, stop,
                 refusal == Refusal::Fallback ? Cause::NoPolynomial
                 : found                      ? Cause::PolynomialNotDefinite
                                              : Cause::NoBounds);
  }

 private:
  using Refusal = typename PolynomialSystem<Types>::Refusal;

  /// Whether the bounds of this solve began as those of the user.
  bool isGiven() const { return !options_.eigenvalueBoundsAuto; }

  /// Why the solve is not over; nothing where it is.
  std::optional<Refusal> solveBy(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop,
                                 const EigenvalueBounds& bounds, std::function<bool()> usable) {
    const ChebyshevPolynomial polynomial(options_.polynomialDegree, bounds);
    const bool judgesBelow = isGiven() && !estimated_;
    PolynomialSystem<Types> followed(
        system, polynomial, vectors_, std::move(usable), [&] { return areStale(system, b, stop); }, judgesBelow);
    SolverOptions options = options_;
    options.eigenvalueBoundsAuto = false;
    options.eigenvalueBounds = polynomial.image();
    method_.configure(options);
    method_.recall(recalled_);
    begunAt_ = stop.iterations();
    std::optional<Refusal> refusal;
    try {
      method_.solve(followed, b, x, stop);
    } catch (const Refusal why) {
      refusal = why;
      if (why != Refusal::NotUsable) method_.abandon(system, x, stop);
    }
    judge(polynomial, followed.watch());
    return refusal;
  }

  /// Takes what Ritz values tell of the bounds of this polynomial.
  void judge(const ChebyshevPolynomial& polynomial, const IntervalWatch& watch) {
    const bool odd = polynomial.degree() % 2 == 1;
    tooHigh_ = watch.below() && polynomial.image().min > 0;
    tooLow_ = watch.above() || watch.farBelow();
    farEnd_ = 0;
    if (watch.above() && odd) farEnd_ = polynomial.farEndOf(tuning::polynomial::harmful * polynomial.image().max);
    if (watch.farBelow() && !odd && !tooHigh_) farEnd_ = polynomial.farEnd();
  }

  void forget() {
    bounds_.reset();
    pace_ = 0;
  }

  /// Whether this solve takes many more iterations than earlier ones let expect, and an estimate finds other bounds,
  /// which it leaves in the place of these. Where it finds the same, solves are that slow.
  bool areStale(LinearSystem<Types>& system, const MultiVector& b, const StopTest& stop) {
    const double digits = std::log10(boundedRatio(stop.initial(), stop.target()));
    if (estimated_ || pace_ == 0 || !(digits >= 1)) return false;
    const double expected = pace_ * std::min(digits, 100.0), more = stop.iterations() - expected;
    const double worth = static_cast<double>(tuning::spectrum::steps) / options_.polynomialDegree;
    if (!(more > std::max((tuning::polynomial::slower - 1) * expected, worth))) return false;
    const auto found = estimate(system, b, stop.iterations());
    const double far = farOf(*bounds_);
    if (!found || std::abs(farOf(*found) - far) <= tuning::spectrum::same * std::abs(far)) return false;
    bounds_ = found;
    pace_ = 0;
    return true;
  }

  /// Other bounds than those that have been refused. False where there are none.
  bool findBetter(LinearSystem<Types>& system, const MultiVector& b, int iteration, Refusal refusal) {
    if (refusal == Refusal::Stale) return true;  // they are there
    if (estimated_ && (refusal != Refusal::Unfit || farEnd_ == 0)) return false;
    if (isGiven() && !estimated_) {
      system.tell(iteration, {EventKind::BoundsTooTight, bounds_->min, bounds_->max});
    }
    const double least = tuning::polynomial::margin * farEnd_;
    if (estimated_) return widen(system, iteration, least);
    const auto before = std::exchange(bounds_, estimate(system, b, iteration));
    pace_ = 0;
    if (bounds_ && before && farEnd_ > 0 && signOf(*before) == signOf(*bounds_) && least > std::abs(farOf(*bounds_))) {
      widen(system, iteration, least);
    }
    return bounds_.has_value();
  }

  /// Takes the far end of the bounds farther from zero. True.
  bool widen(LinearSystem<Types>& system, int iteration, double far) {
    (signOf(*bounds_) > 0 ? bounds_->max : bounds_->min) = signOf(*bounds_) * far;
    system.tell(iteration, {EventKind::BoundsWidened, bounds_->min, bounds_->max});
    return true;
  }

  /// After a solve: what the next one may expect. An unconverged one that was slow leaves no bounds.
  void learn(LinearSystem<Types>& system, const StopTest& stop) {
    if (isGiven()) {
      if ((tooLow_ || tooHigh_) && !estimated_) {
        system.tell(stop.iterations(), {EventKind::BoundsTightButUsed, bounds_->min, bounds_->max});
      }
      return;
    }
    if (tooHigh_) (signOf(*bounds_) > 0 ? bounds_->min : bounds_->max) = 0;
    if (tooLow_ && farEnd_ > 0) widen(system, stop.iterations(), farEnd_);
    const double digits = std::min(std::log10(boundedRatio(stop.initial(), stop.explicitNorm())), 100.0);
    const double pace = stop.iterations() / std::max(digits, 1.0);
    if (!stop.converged()) {
      if (!estimated_ && pace_ > 0 && pace > tuning::polynomial::slower * pace_) forget();
    } else if (digits >= 1 && begunAt_ == 0 && (pace_ == 0 || estimated_)) {
      pace_ = pace;
    }
  }

  void solvePlainly(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, Cause why) {
    system.tell(stop.iterations(), {EventKind::PolynomialGivenUp, why});
    method_.configure(options_);
    method_.recall(recalled_);
    method_.solve(system, b, x, stop);
  }

  /// Bounds, or nothing where there are none of a definite spectrum. 16 A, 16 M^{-1}, 3 reductions. Collective.
  std::optional<EigenvalueBounds> estimate(LinearSystem<Types>& system, const MultiVector& b, int iteration) {
    MultiVector& w = vectorLike(b, vectors_.w);
    const bool preconditioned = system.preconditioned(), both = system.hasLeft() && system.hasRight();
    MultiVector* const between = both ? &vectorLike(b, vectors_.between) : nullptr;
    auto found = SpectrumEstimate<Types>()(system, b.getMap(), [&](const MultiVector& in, MultiVector& out) {
      system.act(Action::Operator, in, preconditioned ? w : out);
      if (preconditioned) system.precondition(w, between, out);
    });
    if (found) (signOf(*found) > 0 ? found->max : found->min) *= tuning::polynomial::margin;
    estimated_ = true;
    system.tell(iteration, found ? Event(EventKind::BoundsEstimated, found->min, found->max) : EventKind::BoundsBroken);
    return found;
  }

  static double farOf(const EigenvalueBounds& bounds) { return signOf(bounds) > 0 ? bounds.max : bounds.min; }

  bool isUsed_ = false;
  SolverOptions options_;                   ///< where it is
  std::optional<EigenvalueBounds> bounds_;  ///< of M^{-1} A
  double pace_ = 0;                         ///< iterations for a digit of the residual; 0: not known
  bool estimated_ = false;                  ///< the spectrum has been, in this solve
  int begunAt_ = 0;                         ///< iterations of the solve before it began with these bounds
  bool tooLow_ = false, tooHigh_ = false;   ///< a Ritz value is beyond their far end, or between zero and the near one
  double farEnd_ = 0;                       ///< where the far end may be then, as far as is known; else 0
  SolverState recalled_;
  PolynomialVectors<Types> vectors_;
  Method method_;
};

}  // namespace capstan
