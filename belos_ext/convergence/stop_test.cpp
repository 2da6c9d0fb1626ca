#include "belos_ext/convergence/stop_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "belos_ext/parameters/tuning.hpp"

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
  const double quotient = norm / scale;
  return quotient == 0 && norm > 0 ? std::numeric_limits<double>::denorm_min() : quotient;
}

}  // namespace

void StopTest::begin(const ResidualNorms& initial, double rhsNorm, double preconditioned) {
  if (begun_) return;  // a method that hands over to another one
  begun_ = true;
  rhsNorm_ = rhsNorm;
  initial_ = initial.explicit_;
  const double own = application_.value_or(initial.explicit_);
  if (application_) preconditioned = own;
  implicitScale_ = scaleOf(criteria_.implicitScaling, own, rhsNorm, preconditioned, criteria_.userScale);
  explicitScale_ = scaleOf(criteria_.explicitScaling, own, rhsNorm, preconditioned, criteria_.userScale);
  if (application_ && !(initial.explicit_ < own)) {
    refusesGuess_ = over_ = true;
    return;
  }
  target_ = criteria_.tolerance;
  recursive_ = initial.native;
  norms_ = initial;
  if (scaleListener_) scaleListener_(implicitScale_);
}

double StopTest::attained(const ResidualNorms& norms) const {
  const double native = scaled(norms.native, implicitScale_);
  if (!criteria_.testExplicit) return native;
  const double computed = scaled(norms.explicit_, explicitScale_);
  return std::isnan(computed) ? computed : std::max(native, computed);
}

double StopTest::attained() const { return attained(norms_); }

bool StopTest::verified(const ResidualNorms& norms, bool claimed) {
  if (refusesGuess_) return true;
  const double now = attained(norms);
  if (!std::isfinite(now)) {
    stop(StopReason::NonFinite);
    return true;
  }
  norms_ = norms;
  if (now <= criteria_.tolerance && (!approve_ || approve_())) {
    converged_ = true;
    stop(StopReason::Converged);
    return true;
  }
  // With a left preconditioner b - A x may grow for many cycles while what GMRES minimises falls.
  unchanged_ = now > (1 - tuned::unchanged) * bestAttained_ && norms.native > (1 - tuned::unchanged) * bestNative_;
  if (!unchanged_) idle_ = 0;
  if (claimed) {
    // Fruitless also where both are zero, and a test says no.
    fruitless_ = now < tuned::progress * bestAttained_ ? 0 : fruitless_ + 1;
    // The recursion stopped too early by the factor now / tolerance; ask it for a little more than that.
    lowerTarget(norms, criteria_.tolerance / now);
    target_ *= tuned::leastPart;
  }
  bestAttained_ = std::min(bestAttained_, now);
  bestNative_ = std::min(bestNative_, norms.native);
  if (fruitless_ >= tuned::fruitlessClaims) {
    stop(StopReason::Stagnation);
  } else if (exhausted()) {
    stop(StopReason::MaxIterations);
  }
  return over_;
}

void StopTest::lowerTarget(const ResidualNorms& norms, double factor) {
  target_ = std::min(target_, norms.native / implicitScale_ * std::min(1.0, factor));
}

Claim StopTest::examined(const ResidualNorms& norms, double recursive) {
  const double now = attained(norms);
  if (now <= criteria_.tolerance) return Claim::Met;
  if (!std::isfinite(now) || !trusts(norms, recursive)) return Claim::Wrong;
  lowerTarget({recursive, 0}, std::max(tuned::leastLowering, criteria_.tolerance / now));
  target_ *= std::max(tuned::leastPart, std::pow(tuned::laterClaims, tooEarly_++));
  return Claim::TooEarly;
}

bool StopTest::endAtRoundingLevel(double images, double epsilon) {
  const double level = epsilon * (rhsNorm_ + images);
  const double needed = norms_.explicit_ * (criteria_.tolerance / attained());
  const bool rounding = norms_.explicit_ <= tuned::roundingLevel * level && needed < level;
  if (over_ || !std::isfinite(level) || !rounding) return false;
  stop(StopReason::AttainableAccuracy);
  return true;
}

bool StopTest::endInconsistent(double whole, double part, double rest) {
  if (over_ || !(attained({part, part}) > criteria_.tolerance) || !(attained({rest, rest}) <= criteria_.tolerance)) {
    return false;
  }
  norms_ = {whole, whole};
  stop(StopReason::Inconsistent);
  return true;
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
