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
/// twice: one more application of the polynomial, or two, and 1 reduction. 1 reduction more in the first solve of a
/// solver (manager/opening.hpp).
///
/// Degree 1 is the method itself. Ladder, each step in the report: where the method finds its preconditioner
/// indefinite, bounds of an earlier solve are estimated anew, and the solve goes on from its x -> degree 1, with bounds
/// of this solve or of the user, where the method would hand over to GMRES, where no bounds are found, or where A has
/// been seen not to be symmetric. After a solve that took many more iterations for a digit of the residual than the
/// first one the next solve estimates bounds anew: those of a matrix that has been scaled down are too high, which is
/// slow, but does no harm.

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "belos_ext/solvers/common/krylov_solver.hpp"
#include "belos_ext/solvers/common/polynomial_system.hpp"
#include "belos_ext/spectrum/spectrum_estimate.hpp"

namespace capstan {

template <class Types, class Method>
class WithPolynomial final : public KrylovSolver<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  /// A step of the polynomial takes 6 flops, 4 vectors read and 2 written; with M 5 flops, 5 read and 3 written.
  static Cost cost(const SolverOptions& options, bool preconditioned) {
    const double more = options.polynomialDegree - 1, m = preconditioned ? 1 : 0;
    if (more == 0) return Method::cost(options, preconditioned);
    Cost cost = Method::cost(options, true);
    cost.operators += more;
    cost.preconditioners = m * (more + 1);
    cost.vectors += 2 + m;
    cost.flops += 1 + more * (6 - m);
    cost.bytes += 8 * (1 + more * (6 + 2 * m));
    return cost;
  }

  void configure(const SolverOptions& options) override {
    isUsed_ = options.polynomialDegree > 1;
    if (!isUsed_) return method_.configure(options);  // short solves notice a copy
    options_ = options;                               // what the method is told depends on the bounds
    forget();
    if (!options.eigenvalueBoundsAuto && options.eigenvalueBounds.max > 0) bounds_ = options.eigenvalueBounds;
    recalled_ = SolverState();
  }

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

  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) override {
    if (!isUsed_) return method_.solve(system, b, x, stop);
    const bool given = !options_.eigenvalueBoundsAuto && bounds_.has_value();
    const MultiVector* const known = system.knownResidual(x);
    auto refusal = solveBy(system, b, x, stop, bounds_.value_or(EigenvalueBounds{0, 1}), [&, given] {
      return bounds_.has_value() && pace_ >= 0 && (given || system.agreesOnState()) && !system.isNonsymmetric();
    });
    if (refusal == Refusal::NotUsable) {
      if (!system.agreesOnState()) {
        recalled_ = SolverState();
        if (!given) forget();
      }
      if (known != nullptr) system.know(x, *known);  // x is as it was
      if (system.isNonsymmetric()) return solvePlainly(system, b, x, stop, "A is not symmetric");
    }
    if (refusal && refusal != Refusal::Fallback && !given) {
      if (!estimate(system, b, stop.iterations())) {
        return solvePlainly(system, b, x, stop, "no bounds of a positive spectrum are found");
      }
      refusal = solveBy(system, b, x, stop, *bounds_, {});
    }
    if (!refusal) return watchPace(stop);
    solvePlainly(system, b, x, stop,
                 refusal == Refusal::Fallback ? "the method cannot go on with a polynomial"
                                              : "the polynomial is not positive definite");
    if (!given) forget();
  }

 private:
  using Refusal = typename PolynomialSystem<Types>::Refusal;

  /// Why the solve is not over; nothing where it is.
  std::optional<Refusal> solveBy(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop,
                                 const EigenvalueBounds& bounds, std::function<bool()> usable) {
    const ChebyshevPolynomial polynomial(options_.polynomialDegree, bounds);
    PolynomialSystem<Types> followed(system, polynomial, vectors_, std::move(usable));
    SolverOptions options = options_;
    options.eigenvalueBoundsAuto = false;
    options.eigenvalueBounds = polynomial.image();
    method_.configure(options);
    method_.recall(recalled_);
    try {
      method_.solve(followed, b, x, stop);
    } catch (const Refusal refusal) {
      return refusal;
    }
    return std::nullopt;
  }

  void forget() {
    bounds_.reset();
    pace_ = 0;
  }

  /// Doubts bounds that do not seem to be this matrix' any more: the next solve estimates them anew. Where it finds the
  /// same, solves are that slow, and are so without a doubt.
  void watchPace(const StopTest& stop) {
    const double digits = std::log10(stop.initial() / stop.explicitNorm());
    if (!stop.converged() || !(digits >= 1)) return;
    const double pace = stop.iterations() / std::min(digits, 100.0);
    if (pace_ == 0) pace_ = pace;
    if (pace > tuning::polynomial::slower * pace_) pace_ = -pace;
  }

  void solvePlainly(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop,
                    const std::string& why) {
    system.tell(stop.iterations(), "polynomial degree", "1: " + why);
    method_.configure(options_);
    method_.recall(recalled_);
    method_.solve(system, b, x, stop);
  }

  /// Whether there are bounds. 16 A, 16 M^{-1}, 3 reductions. Collective.
  bool estimate(LinearSystem<Types>& system, const MultiVector& b, int iteration) {
    MultiVector& w = vectorLike(b, vectors_.w);
    const bool preconditioned = system.preconditioned(), both = system.hasLeft() && system.hasRight();
    MultiVector* const between = both ? &vectorLike(b, vectors_.between) : nullptr;
    const double doubted = pace_ < 0 && bounds_ ? bounds_->max : 0;
    bounds_ = SpectrumEstimate<Types>()(system, b.getMap(), [&](const MultiVector& in, MultiVector& out) {
      system.act(Action::Operator, in, preconditioned ? w : out);
      if (preconditioned) system.precondition(w, between, out);
    });
    if (bounds_) bounds_->max *= tuning::polynomial::margin;
    const bool same = bounds_ && std::abs(bounds_->max - doubted) <= tuning::polynomial::same * doubted;
    pace_ = same ? std::abs(pace_) : 0;
    system.tell(iteration, "eigenvalue bounds", bounds_ ? toString(*bounds_) : "the estimate broke down");
    return bounds_.has_value();
  }

  bool isUsed_ = false;
  SolverOptions options_;                   ///< where it is
  std::optional<EigenvalueBounds> bounds_;  ///< of M^{-1} A
  double pace_ = 0;                         ///< iterations for a digit of the residual; negative: they are in doubt
  SolverState recalled_;
  PolynomialVectors<Types> vectors_;
  Method method_;
};

}  // namespace capstan
