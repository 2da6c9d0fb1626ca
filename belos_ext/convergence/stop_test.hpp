#pragma once
/// \file
/// When a solve may stop, for one right-hand side. The only place that says "converged".
///
/// Two different things are compared with the tolerance (names as in Belos):
///  - the native residual, the one the recursion follows: M_L^{-1}(b - A x) under GMRES, b - A x under CG,
///    divided by the implicit scale;
///  - the explicit residual b - A x divided by the explicit scale, where a left preconditioner makes the two differ
///    or the application asked for that scaling.
/// A recursion may only claim (reached()); verified() decides from norms of residuals computed from x. A claim that
/// fails lowers the target of the recursion and the solve goes on from the true residual; claims that fail without
/// progress end it with a loss of accuracy, and so does one that fails where only rounding is left of b - A x.
/// Where the tolerance is meant in another norm than the 2-norm (ResidualMeasure), that norm of b - A x alone decides,
/// and is what a solve reports: it is measured wherever b - A x is computed, and goes with its norms. The recursion
/// then claims by the ratio of the two norms: that at the end of the last solve, or of the last residual computed. A
/// method that can form x without giving up its Krylov space has a claim examined first: as long as the recursion is
/// right, a claim that is too early costs no restart.

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "belos_ext/convergence/iteration_pace.hpp"
#include "belos_ext/convergence/residual_measure.hpp"
#include "belos_ext/convergence/stop_reason.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan::tuning::stop_test {
/// A residual up to this many times another one is the same but for rounding: that of a recursion while it is right,
/// that at the end of a cycle at the attainable accuracy. Chosen.
inline constexpr double trusted = 2;
/// Residuals judged since the last iteration beyond which a solve is called stagnant. Chosen: the longest ladder, from
/// the guess of a pipelined method down to GMRES, judges about ten.
inline constexpr int mostJudgedInPlace = 20;
/// What left more than this part of a residual made no progress: a failed claim then ends the solve. Chosen.
inline constexpr double progress = 0.9;
/// A residual within this factor of its target is measured in the norm of the tolerance, and a claim that came too
/// early lowers the target by what was missing, but by no more than this at once. Chosen: CG rarely gains more in an
/// iteration, and the ratio of two norms changes little in one.
inline constexpr double nearClaim = 10;
/// The same where that costs half a product, or a reduction. Measured: in OpenFOAM's tutorials as many iterations as
/// with 10; with its multigrid in cavity3d 9 of 15 such residuals do meet it, and the ratio of the norms changes by up
/// to 2 in an iteration.
inline constexpr double nearCostlyClaim = 3;
/// Numbers that differ by less than this part are the same but for rounding of sums: residuals that did not fall,
/// products with the same A. Chosen: well above rounding, well below any progress.
inline constexpr double unchanged = 1e-10;
}  // namespace capstan::tuning::stop_test

namespace capstan {

/// Norms of a residual computed from x, already reduced: equal on all ranks.
struct ResidualNorms {
  double native = 0;     ///< || M_L^{-1} (b - A x) || (or || b - A x || without a left preconditioner)
  double explicit_ = 0;  ///< || b - A x ||
  /// b - A x in the norm that the tolerance is meant in, where that is another one: LinearSystem::measured()
  double measured = std::numeric_limits<double>::quiet_NaN();
};

struct StopCriteria {
  double tolerance = 1e-8;
  int maxIterations = 1000;
  int maxRestarts = 1000;
  ResidualScaling implicitScaling = ResidualScaling::NormOfPrecInitRes;
  ResidualScaling explicitScaling = ResidualScaling::NormOfInitRes;
  double userScale = 1;
  bool testExplicit = false;
  /// A solve that meets its tolerance sooner goes on, as long as there is a residual and the method gets anywhere.
  int minIterations = 0;
  /// A solve that ends at its limit leaves x as it is: the application looks at it.
  bool keepsLast = false;
  /// After so many iterations the next method goes on, where there is one; 0: never.
  int handsOverAt = 0;
  /// Or where A is found not to be symmetric, by a method that needs it to be.
  bool handsOverAsymmetric = false;
  /// Of b - A x itself: where it asks for less than the tolerance, it takes its place.
  double absoluteTolerance = 0;

  /// Whether || M_L^{-1} (b - A x) || of the guess is a scale.
  bool scalesByNative() const {
    return implicitScaling == ResidualScaling::NormOfPrecInitRes ||
           explicitScaling == ResidualScaling::NormOfPrecInitRes;
  }
};

/// What becomes of a claim that is examined while the Krylov space stands.
enum class Claim {
  Met,       ///< x meets the tolerance
  TooEarly,  ///< it does not, and the recursion is right: go on in the same space, to the lowered target
  Wrong      ///< it does not, and the recursion has lost touch with the residual
};

class StopTest {
 public:
  explicit StopTest(const StopCriteria& criteria)
      : criteria_(criteria),
        mostIterations_(criteria.handsOverAt > 0 ? std::min(criteria.handsOverAt, criteria.maxIterations)
                                                 : criteria.maxIterations) {}

  /// Fixes the scales from the initial residual and the right-hand side; later calls change nothing.
  void begin(const ResidualNorms& initial, double rhsNorm) { begin(initial, rhsNorm, initial.native); }
  /// \param preconditioned || M_L^{-1} (b - A x) ||, for a method whose native residual is another one
  void begin(const ResidualNorms& initial, double rhsNorm, double preconditioned);

  /// The tolerance is meant in the norm that this measures, for all residuals given from now on; null: the 2-norm. To
  /// be called before begin(); it outlives this.
  void judgeBy(ResidualMeasure* measure) { measure_ = measure; }
  ResidualMeasure* measure() const { return measure_; }
  /// Whether a method that has its residual at hand, with this 2-norm, should have it measured: a claim is near.
  bool wantsMeasure(double recursive) const {
    if (measure_ == nullptr) return false;
    const bool costly = measure_->isCostly();
    return recursive <= (costly ? tuning::stop_test::nearCostlyClaim : tuning::stop_test::nearClaim) * target();
  }
  /// A residual with this native norm has been measured: later claims go by the ratio of the two norms. Local.
  /// \param value what LinearSystem::measured() says of it
  void measured(double native, double value);

  /// The solve begins from a better x than the application's own, whose residual has this norm: scales of the initial
  /// residual refer to that, so that the tolerance means what it would mean without. A method that finds its first
  /// residual no smaller is to begin again: refusesGuess(). To be called before begin(). Without effect on a scale that
  /// is || M_L^{-1} (b - A x) || of another vector than b - A x.
  /// \param measured LinearSystem::measured() of that residual
  void beginsBelow(double norm, double measured) {
    application_ = norm;
    applicationMeasured_ = measured;
  }
  /// Whether the guess is none: the solve is over, without anything being decided.
  bool refusesGuess() const { return refusesGuess_; }
  /// A is not symmetric, which the method that is running needs: after its next iteration the next one goes on, where
  /// the criteria say so. Local.
  void findsAsymmetric() {
    if (criteria_.handsOverAsymmetric && iterations_ + 1 < mostIterations_)
      criteria_.handsOverAt = mostIterations_ = iterations_ + 1;
  }
  /// Whether the residual judged last came after StopCriteria::handsOverAt iterations: true once. Local.
  bool takeLeave() { return std::exchange(leaves_, false); }
  /// Whether the solve has ended at its limit, and x is to stay as it is. Local.
  bool keepsLast() const { return criteria_.keepsLast && reason() == StopReason::MaxIterations; }
  /// || b - A x ||_2 as begin() was given it, and as it was last verified: of b - A x itself, also where the method
  /// follows another vector.
  double initial() const { return initial_; }
  double explicitNorm() const { return explicitNorm_; }

  /// The recursion's residual norm meets its target. False for NaN.
  /// \param beyond iterations that end with it and are not counted yet
  bool reached(double recursive, int beyond = 0) const {
    return recursive <= target_ * implicitScale_ && !tooFewIterations(beyond);
  }

  /// The recursion's residual norm that reached() asks for.
  double target() const { return target_ * implicitScale_; }

  /// Has iterations timed from now on; null: no longer. It outlives this, or that is said before.
  void timeBy(IterationPace* pace) { pace_ = pace; }

  /// Counts an iteration and records the recursion's residual.
  void iterated(double recursive) {
    ++iterations_;
    recursive_ = recursive;
    if (pace_ != nullptr) pace_->iterated();
  }
  int iterations() const { return iterations_; }
  int remaining() const { return mostIterations_ - iterations_; }
  bool exhausted() const { return remaining() <= 0; }

  /// From here on there are cycles of so many columns: no more iterations than "Maximum Restarts" allows of them, also
  /// where columns are taken back and made again. Local.
  void limitCycles(int columns);

  /// Counts a restart; a full cycle beyond "Maximum Restarts" ends the solve, and so does one of several in a row that
  /// left the residual as it was. A failed claim is not a full cycle, nor is any of CG.
  void restarted(bool claimed);
  int restarts() const { return restarts_; }

  /// Judges residuals computed from x. Returns true when the solve is over; converged() and reason() say how. So is one
  /// that comes here again and again without an iteration: every loop of a method that may go round without counting
  /// one asks here, which bounds it however products are rounded.
  /// \param claimed the recursion had reached its target
  bool verified(const ResidualNorms& norms, bool claimed);

  /// Judges a claim by norms of the residual of the x it stands for. Lowers the target where that is TooEarly.
  /// \param recursive what the recursion says of `norms.native`
  Claim examined(const ResidualNorms& norms, double recursive);

  /// Whether a computed residual bears the recursion out. False for NaN.
  static bool trusts(const ResidualNorms& norms, double recursive) {
    return norms.native <= tuning::stop_test::trusted * recursive;
  }

  /// Whether the last residual verified is larger than the recursion said: only then may rounding be the reason.
  bool recursionIsWrong() const { return !trusts(norms_, recursive_); }

  /// Whether a claim that has just failed was right about the 2-norm: the method may go on as if it had not been made.
  bool cameEarly() const { return measure_ != nullptr && !over_ && !recursionIsWrong(); }

  /// Ends the solve where nothing but rounding is left of b - A x and the tolerance asks for less than that, so that no
  /// method can meet it: with level = eps (|| b || + images), both || b - A x || <= 2 level and what it would have to
  /// be < level. For claims that failed, one that ends as stagnation among them. Returns whether it did. \param images
  /// the size of |A| |x|: || A (+-x) || with random signs, or less, which ends no solve too early \param epsilon of the
  /// arithmetic
  bool endAtRoundingLevel(double images, double epsilon);

  /// Ends the solve where a part of b - A x that no x changes keeps the whole above the tolerance, and the rest meets
  /// it. To be asked before verified() judges the whole. Returns whether it did. \param whole norms of b - A x
  /// \param part, rest 2-norms: what they are in another norm is told by the ratio of the two
  bool endInconsistent(const ResidualNorms& whole, double part, double rest);

  /// x is an earlier iterate again; these are the norms of its residuals.
  void wentBack(const ResidualNorms& norms) {
    explicitNorm_ *= ratioOr(norms.explicit_, norms_.explicit_, 1.0);
    norms_ = norms;
    // That x has been found wanting is no statement about this one.
    if (reason_ == StopReason::AttainableAccuracy) reason_ = StopReason::Stagnation;
  }

  /// Ends the solve for another reason, but for an x that has met the tolerance already, and was to be improved still:
  /// that is Converged. Stagnation and AttainableAccuracy mean a loss of accuracy, but for an x that meets the
  /// tolerance and that the application's own test does not approve.
  void stop(StopReason reason) {
    if (metAt_ == iterations_ && reason != StopReason::UserTest) {
      converged_ = true;
      reason = StopReason::Converged;
    }
    const bool inaccurate = reason == StopReason::Stagnation || reason == StopReason::AttainableAccuracy;
    lossOfAccuracy_ = lossOfAccuracy_ || (inaccurate && !refused_);
    reason_ = reason;
    over_ = true;
  }

  /// Whether another full cycle may follow one.
  bool mayRestart() const { return fullCycles_ < criteria_.maxRestarts; }

  /// Before a first step x, or what is judged of it, has changed since it was judged: it is asked anew for the least
  /// number of iterations.
  void judgesAnew() { metAt_ = -1; }

  /// A further condition on convergence, asked once the residuals meet the tolerance (the application's own test), with
  /// the native one.
  void setApproval(std::function<bool(double)> approve) { approve_ = std::move(approve); }

  /// Told the scale of the native residual when it is known.
  void setScaleListener(std::function<void(double)> listener) { scaleListener_ = std::move(listener); }

  bool over() const { return over_; }
  bool converged() const { return converged_; }
  bool lossOfAccuracy() const { return lossOfAccuracy_; }
  StopReason reason() const { return reason_; }
  double recursive() const { return recursive_; }
  double implicitScale() const { return implicitScale_; }
  double explicitScale() const { return explicitScale_; }
  /// What scaled residuals are compared with: after begin() the one of the two tolerances that asks for less.
  double tolerance() const { return criteria_.tolerance; }
  const ResidualNorms& norms() const { return norms_; }
  const StopCriteria& criteria() const { return criteria_; }
  /// The scaled residual of x as last computed, with which the tolerance is compared; the larger one where two are
  /// tested.
  double attained() const;

  /// Whether the one is larger than the other, as the tolerance is meant. True for NaN.
  bool isWorse(const ResidualNorms& norms, const ResidualNorms& than) const {
    return !(attained(norms) <= attained(than));
  }

 private:
  double attained(const ResidualNorms& norms) const;
  double estimated(double norm) const;
  double explicitOf(const ResidualNorms& norms) const;
  bool tooFewIterations(int beyond = 0) const { return iterations_ + beyond < criteria_.minIterations && !exhausted(); }
  void noteClaimed(const ResidualNorms& norms);
  void setRatio(double ratio);
  void lowerTarget(const ResidualNorms& norms, double factor);
  bool getsNowhere();

  StopCriteria criteria_;
  ResidualMeasure* measure_ = nullptr;
  IterationPace* pace_ = nullptr;
  double ratio_ = 1;
  std::function<bool(double)> approve_;
  std::function<void(double)> scaleListener_;
  double implicitScale_ = 1, explicitScale_ = 1, rhsNorm_ = 0;
  std::optional<double> application_;  ///< || b - A x || of the application's own x, where the solve begins below it
  double applicationMeasured_ = 0;
  double initial_ = 0, explicitNorm_ = 0;
  bool refusesGuess_ = false;
  double target_ = 0;
  double recursive_ = 0;
  ResidualNorms norms_;
  double bestAttained_ = std::numeric_limits<double>::infinity();
  double bestNative_ = std::numeric_limits<double>::infinity();
  int tooEarly_ = 0;
  int idle_ = 0;
  int judgedAt_ = -1, judgedInPlace_ = 0;  ///< residuals judged after so many iterations
  int iterations_ = 0, restarts_ = 0, fullCycles_ = 0;
  int metAt_ = -1;  ///< x met the tolerance after so many iterations, and there were to be more
  bool leaves_ = false;
  bool begun_ = false, unchanged_ = false, refused_ = false;
  bool over_ = false, converged_ = false, lossOfAccuracy_ = false;
  StopReason reason_ = StopReason::MaxIterations;
  int mostIterations_;
};

}  // namespace capstan
