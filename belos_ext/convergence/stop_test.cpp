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

}  // namespace

void StopTest::begin(const ResidualNorms& initial, double rhsNorm, double preconditioned) {
  if (begun_) return;  // a method that hands over to another one
  begun_ = true;
  implicitScale_ = scaleOf(criteria_.implicitScaling, initial, rhsNorm, preconditioned, criteria_.userScale);
  explicitScale_ = scaleOf(criteria_.explicitScaling, initial, rhsNorm, preconditioned, criteria_.userScale);
  target_ = criteria_.tolerance;
  recursive_ = initial.native;
  norms_ = initial;
  if (scaleListener_) scaleListener_(implicitScale_);
}

double StopTest::attained(const ResidualNorms& norms) const {
  const double native = norms.native / implicitScale_;
  if (!criteria_.testExplicit) return native;
  const double computed = norms.explicit_ / explicitScale_;
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
    fruitless_ = now > progress * bestAttained_ ? fruitless_ + 1 : 0;
    // The recursion stopped too early by the factor now / tolerance; ask it for a little more than that.
    target_ = std::min(target_, norms.native / implicitScale_ * std::min(1.0, criteria_.tolerance / now)) * 0.5;
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
