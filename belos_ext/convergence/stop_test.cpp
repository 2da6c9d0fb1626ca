#include "belos_ext/convergence/stop_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan::tuning::stop_test {
/// Full cycles that leave the residual unchanged before the solve is called stagnant: a restarted method that makes no
/// progress in one whole cycle makes none in the next. Residuals of CG rise before they fall. Chosen.
inline constexpr int idleRestarts = 5;
/// Each claim after it asks for this part more, so that x is not formed in every iteration. Chosen.
inline constexpr double laterClaims = 0.95;
/// A failed claim lowers the target by this factor beyond what was missing, one that came too early by no more. Chosen.
inline constexpr double leastPart = 0.5;
/// A residual below this many eps (|| b || + || |A| |x| ||) is rounding, where the target is below one. Measured:
/// iterative refinement ends near 1, and CG, which rounds x in each step, between 1 and 7 (bcsstk18 with Jacobi 6.4).
inline constexpr double roundingLevel = 10;
}  // namespace capstan::tuning::stop_test

namespace capstan {
namespace {

namespace tuned = tuning::stop_test;

double scaleOf(ResidualScaling scaling, double initial, double rhsNorm, double preconditioned, double userScale) {
  double scale = 1;
  switch (scaling) {
    case ResidualScaling::NormOfInitRes:
      scale = initial;
      break;
    case ResidualScaling::NormOfPrecInitRes:
      scale = preconditioned;
      break;
    case ResidualScaling::NormOfRHS:
      scale = rhsNorm;
      break;
    case ResidualScaling::UserProvided:
      scale = userScale;
      break;
    case ResidualScaling::None:
      break;
  }
  return scale > 0 ? scale : 1;  // as Belos: a vanishing scale means an absolute test
}

/// norm / scale, which is 0 for norm = 0 alone: a quotient that underflows meets no tolerance of 0, and a scale whose
/// square has overflowed is none.
double scaled(double norm, double scale) {
  if (std::isinf(scale) && norm > 0) return std::numeric_limits<double>::infinity();
  const double quotient = ratioOr(norm, scale, std::numeric_limits<double>::infinity());
  return quotient == 0 && norm > 0 ? std::numeric_limits<double>::denorm_min() : quotient;
}

}  // namespace

void StopTest::begin(const ResidualNorms& initial, double rhsNorm, double preconditioned) {
  if (begun_) return;  // a method that hands over to another one
  begun_ = true;
  rhsNorm_ = rhsNorm;
  initial_ = explicitNorm_ = explicitOf(initial);
  const double own = application_.value_or(initial_);
  if (application_) preconditioned = own;
  if (measure_ != nullptr) {
    const double first = initial.measured;
    const auto scaling = criteria_.testExplicit ? criteria_.explicitScaling : criteria_.implicitScaling;
    const double scale = application_ ? applicationMeasured_ : first;
    explicitScale_ = scaleOf(scaling, scale, rhsNorm, scale, criteria_.userScale);
    const double known = measure_->knownRatio();
    setRatio(known > 0 ? known : ratioOr(first, initial.native, 1.0));
  } else {
    implicitScale_ = scaleOf(criteria_.implicitScaling, own, rhsNorm, preconditioned, criteria_.userScale);
    explicitScale_ = scaleOf(criteria_.explicitScaling, own, rhsNorm, preconditioned, criteria_.userScale);
  }
  if (application_ && !(initial_ < own)) {
    refusesGuess_ = over_ = true;
    return;
  }
  // Scales as in attained(): that of b - A x, where it is tested.
  const double scale = measure_ != nullptr || criteria_.testExplicit ? explicitScale_ : implicitScale_;
  const double tolerance = criteria_.tolerance;
  criteria_.tolerance = std::max(tolerance, ratioOr(criteria_.absoluteTolerance, scale, 0.0));
  target_ = criteria_.tolerance;
  if (measure_ == nullptr && criteria_.testExplicit && criteria_.absoluteTolerance > 0) {
    const double native = criteria_.absoluteTolerance * ratioOr(initial.native, initial.explicit_, 1.0);
    target_ = std::max(tolerance, ratioOr(native, implicitScale_, 0.0));
  }
  recursive_ = initial.native;
  norms_ = initial;
  if (scaleListener_) scaleListener_(implicitScale_);
}

double StopTest::explicitOf(const ResidualNorms& norms) const {
  const double apart = measure_ != nullptr ? measure_->twoNorm() : norms.explicit_;
  return std::isnan(apart) ? norms.explicit_ : apart;
}

void StopTest::setRatio(double ratio) {
  // That of an earlier solve, of another system, may leave no scale: it underflows.
  const bool usable = std::isfinite(ratio) && ratio > 0 && ratioOr(explicitScale_, ratio, 0.0) > 0;
  ratio_ = usable ? ratio : 1;
  implicitScale_ = explicitScale_ / ratio_;
}

void StopTest::noteClaimed(const ResidualNorms& norms) {
  if (measure_ != nullptr) measured(norms.native, norms.measured);
}

void StopTest::measured(double native, double value) {
  if (native > 0) setRatio(ratioOr(value, native, 1.0));
}

double StopTest::attained(const ResidualNorms& norms) const {
  if (measure_ != nullptr) return scaled(norms.measured, explicitScale_);
  const double native = scaled(norms.native, implicitScale_);
  if (!criteria_.testExplicit) return native;
  const double computed = scaled(norms.explicit_, explicitScale_);
  // One of the two tolerances is enough, and the absolute one is of b - A x.
  const bool alone = std::isnan(computed) || norms.explicit_ <= criteria_.absoluteTolerance;
  return alone ? computed : std::max(native, computed);
}

double StopTest::attained() const { return attained(norms_); }

double StopTest::estimated(double norm) const { return attained({norm, norm, ratio_ * norm}); }

bool StopTest::verified(const ResidualNorms& norms, bool claimed) {
  if (refusesGuess_) return true;
  if (claimed) noteClaimed(norms);
  const double now = attained(norms);
  if (!std::isfinite(now)) {
    stop(StopReason::NonFinite);
    return true;
  }
  norms_ = norms;
  explicitNorm_ = explicitOf(norms);
  const bool met = now <= criteria_.tolerance && (!approve_ || approve_(norms.native));
  refused_ = now <= criteria_.tolerance && !met;
  if (met && !claimed && now > 0 && tooFewIterations() && metAt_ != iterations_) {
    metAt_ = iterations_;
    return false;
  }
  if (met) {
    converged_ = true;
    if (measure_ != nullptr && claimed) measure_->keepRatio(ratio_);
    stop(StopReason::Converged);
    return true;
  }
  // With a left preconditioner b - A x may grow for many cycles while what GMRES minimises falls.
  unchanged_ = now > (1 - tuned::unchanged) * bestAttained_ && norms.native > (1 - tuned::unchanged) * bestNative_;
  if (!unchanged_) idle_ = 0;
  bool fruitless = false;
  const double later = std::pow(tuned::laterClaims, tooEarly_ + 1);
  if (claimed && measure_ != nullptr && now > criteria_.tolerance && later > tuned::leastPart &&
      trusts(norms, recursive_)) {
    // The recursion is right; the ratio of the two norms has changed since it was last measured.
    ++tooEarly_;
    target_ = criteria_.tolerance * later;
  } else if (claimed) {
    fruitless = !(now < tuned::progress * bestAttained_);  // also where both are zero, and a test says no
    // The recursion stopped too early by the factor now / tolerance; ask it for a little more than that.
    lowerTarget(norms, ratioOr(criteria_.tolerance, now, 1.0));
    target_ *= tuned::leastPart;
  }
  bestAttained_ = std::min(bestAttained_, now);
  bestNative_ = std::min(bestNative_, norms.native);
  if (fruitless || getsNowhere()) {
    stop(StopReason::Stagnation);
  } else if (exhausted() && mostIterations_ == criteria_.handsOverAt && mostIterations_ < criteria_.maxIterations) {
    leaves_ = true;
    mostIterations_ = criteria_.maxIterations;
  } else if (exhausted()) {
    stop(iterations_ < criteria_.maxIterations ? StopReason::MaxRestarts : StopReason::MaxIterations);
  }
  return over_;
}

/// Whether many residuals have been judged since the last iteration, this one included.
bool StopTest::getsNowhere() {
  if (std::exchange(judgedAt_, iterations_) != iterations_) judgedInPlace_ = 0;
  return ++judgedInPlace_ > tuned::mostJudgedInPlace;
}

void StopTest::lowerTarget(const ResidualNorms& norms, double factor) {
  target_ = std::min(target_, norms.native / implicitScale_ * std::min(1.0, factor));
}

Claim StopTest::examined(const ResidualNorms& norms, double recursive) {
  noteClaimed(norms);
  const double now = attained(norms);
  if (now <= criteria_.tolerance) return Claim::Met;
  if (!std::isfinite(now) || !trusts(norms, recursive)) return Claim::Wrong;
  lowerTarget({recursive, 0}, std::max(1 / tuned::nearClaim, criteria_.tolerance / now));
  target_ *= std::max(tuned::leastPart, std::pow(tuned::laterClaims, tooEarly_++));
  return Claim::TooEarly;
}

bool StopTest::endAtRoundingLevel(double images, double epsilon) {
  const double level = epsilon * (rhsNorm_ + images);
  const double needed = norms_.explicit_ * ratioOr(criteria_.tolerance, attained(), 1.0);
  const bool rounding = norms_.explicit_ <= tuned::roundingLevel * level && needed < level;
  const bool over = over_ && reason_ != StopReason::Stagnation;
  if (over || norms_.explicit_ == 0 || !std::isfinite(level) || !rounding) return false;
  stop(StopReason::AttainableAccuracy);
  return true;
}

bool StopTest::endInconsistent(const ResidualNorms& whole, double part, double rest) {
  if (over_ || !(estimated(part) > criteria_.tolerance) || !(estimated(rest) <= criteria_.tolerance)) return false;
  norms_ = whole;
  stop(StopReason::Inconsistent);
  return true;
}

void StopTest::limitCycles(int columns) {
  const auto most = static_cast<std::int64_t>(columns) * (static_cast<std::int64_t>(criteria_.maxRestarts) + 1);
  mostIterations_ = static_cast<int>(std::min<std::int64_t>(criteria_.maxIterations, iterations_ + most));
}

void StopTest::restarted(bool claimed) {
  if (over_) return;
  if (claimed) {
    ++restarts_;
  } else if (unchanged_ && ++idle_ >= tuned::idleRestarts) {
    stop(StopReason::Stagnation);
  } else if (fullCycles_ >= criteria_.maxRestarts) {
    stop(StopReason::MaxRestarts);
  } else {
    ++fullCycles_;
    ++restarts_;
  }
}

}  // namespace capstan
