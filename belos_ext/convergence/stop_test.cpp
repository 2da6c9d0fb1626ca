#include "belos_ext/convergence/stop_test.hpp"

#include <algorithm>

namespace capstan {
namespace {

/// Failed claims without progress before a loss of accuracy is declared.
constexpr int fruitlessClaims = 3;
/// Full cycles that leave the residual unchanged before the solve is called stagnant: a restarted method that makes no
/// progress in one whole cycle makes none in the next. Residuals of CG rise before they fall.
constexpr int idleRestarts = 5;
constexpr double progress = 0.9;
constexpr double unchanged = 1e-10;
/// A claim that came too early lowers the target by what was missing, but not by more than this at once: the residual
/// that is tested may fall faster than the one the recursion follows. Later ones ask for a little more each, so that x
/// is not formed in every iteration.
constexpr double leastLowering = 0.1;
constexpr double laterClaims = 0.95;
constexpr double least = 0.5;
/// In units of eps (|| b || + || |A| |x| ||): a residual below it is rounding. Iterative refinement ends near 1.
constexpr double few = 2;

double scaleOf(ResidualScaling scaling, const ResidualNorms& initial, double rhsNorm, double preconditioned,
               double userScale) {
  double scale = 1;
  switch (scaling) {
    case ResidualScaling::NormOfInitRes:
      scale = initial.explicit_;
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

/// norm / scale, which is 0 for norm = 0 alone: a quotient that underflows meets no tolerance of 0.
double scaled(double norm, double scale) {
  const double quotient = norm / scale;
  return quotient == 0 && norm > 0 ? std::numeric_limits<double>::denorm_min() : quotient;
}

}  // namespace

void StopTest::begin(const ResidualNorms& initial, double rhsNorm, double preconditioned) {
  if (begun_) return;  // a method that hands over to another one
  begun_ = true;
  rhsNorm_ = rhsNorm;
  implicitScale_ = scaleOf(criteria_.implicitScaling, initial, rhsNorm, preconditioned, criteria_.userScale);
  explicitScale_ = scaleOf(criteria_.explicitScaling, initial, rhsNorm, preconditioned, criteria_.userScale);
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
  unchanged_ = now > (1 - unchanged) * bestAttained_ && norms.native > (1 - unchanged) * bestNative_;
  if (!unchanged_) idle_ = 0;
  if (claimed) {
    fruitless_ = now < progress * bestAttained_ ? 0 : fruitless_ + 1;  // also where both are zero, and a test says no
    // The recursion stopped too early by the factor now / tolerance; ask it for a little more than that.
    lowerTarget(norms, criteria_.tolerance / now);
    target_ *= least;
  }
  bestAttained_ = std::min(bestAttained_, now);
  bestNative_ = std::min(bestNative_, norms.native);
  if (fruitless_ >= fruitlessClaims) {
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
  lowerTarget({recursive, 0}, std::max(leastLowering, criteria_.tolerance / now));
  target_ *= std::max(least, std::pow(laterClaims, tooEarly_++));
  return Claim::TooEarly;
}

bool StopTest::endAtRoundingLevel(double images, double epsilon) {
  const double level = epsilon * (rhsNorm_ + images);
  const double needed = norms_.explicit_ * (criteria_.tolerance / attained());
  if (over_ || !std::isfinite(level) || !(norms_.explicit_ <= few * level && needed < level)) return false;
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
  } else if (unchanged_ && ++idle_ >= idleRestarts) {
    stop(StopReason::Stagnation);
  } else if (fullCycles_ >= criteria_.maxRestarts) {
    stop(StopReason::MaxRestarts);
  } else {
    ++fullCycles_;
    ++restarts_;
  }
}

}  // namespace capstan
