#pragma once
/// \file
/// What the numbers of CG tell of A and M, and when CG is hopeless.
///
/// With A or M negative definite, CG takes the very steps that it takes with -A, or -M.
///
/// Hestenes and Stiefel's CG often converges although (p, A p) or (r, M^{-1} r) was negative once, or A is a little
/// nonsymmetric: neither is a reason to stop. It is hopeless where such a sign has been seen and the residual has found
/// no new minimum for long or has risen far above it, or where something else is known against it and its pace is too
/// slow for the iterations that are left. A method without short recurrences then goes on. Replicated: fed with reduced
/// numbers only.

#include <algorithm>
#include <cmath>
#include <limits>

#include "belos_ext/events/event.hpp"

namespace capstan::tuning::definiteness {
/// Iterations without a new minimum, after A or M were seen not to be definite, that make CG hopeless. Chosen.
inline constexpr int patience = 200;
/// A minimum is new below this part of the last one. Chosen.
inline constexpr double progress = 0.99;
/// A residual has diverged beyond this multiple of that of the guess, in the norm of M^{-1} where the method has it.
/// Derived: (r_k, M^{-1} r_k) <= lambda_max |e_k|_A^2 <= lambda_max |e_0|_A^2 <= kappa(M^{-1} A) (r_0, M^{-1} r_0), and
/// beyond kappa = 1 / eps nothing is to be hoped for. The 2-norm alone grows with the scaling of rows, too.
inline constexpr double divergence = 1e8;
/// A residual that has risen so far above its least one, after such a sign, does not come down again. Measured: a
/// pressure that is known but for a constant, with BoomerAMG that divides by rounding on its coarsest level, falls to
/// 4e-9 of the first residual in 5 iterations, (r, M^{-1} r) < 0 is seen, and 14 later it is 1e5 times the first.
inline constexpr double rise = 1e6;
/// How far (M^{-1} r, A p) may be from (p, A p), relative to both. Derived: rounding in it is relative to the norms, so
/// that only half of the number is taken for a sign.
inline constexpr double asymmetric = 0.5;
}  // namespace capstan::tuning::definiteness

namespace capstan::tuning::preconditioner {
/// Iterations between renewals of z = M^{-1} r; they cost an M^{-1} each, and M is linear and definite. Chosen.
inline constexpr int renewal = 100;
/// Steps that are looked at for an M that is not linear and symmetric: rounding is small in them. Chosen.
inline constexpr int firstSteps = 3;
/// Two forms of one product of M, of beta say, differ by more than rounding beyond this part of both. Chosen:
/// OpenFOAM's multigrid differs by 0.1 and more, a linear M by rounding.
inline constexpr double unequal = 1e-3;
}  // namespace capstan::tuning::preconditioner

namespace capstan {

class DefinitenessWatch {
 public:
  void begin(double initialResidual) {
    seen_ = Cause::None;
    ofA_ = ofM_ = 0;
    energy_ = 0;
    initial_ = best_ = checkpoint_ = initialResidual;
    bestAt_ = iteration_ = 0;
    known_ = false;
    diverged_ = doubted_ = risen_ = false;
  }

  /// Something else says that A or M is not what CG is for: A is known not to be symmetric, M to vary, or b to have a
  /// part that no A x has.
  void doubt() { doubted_ = true; }

  /// Numbers of one iteration of CG: (p, A p), (r, M^{-1} r), and (M^{-1} r, A p), which is (p, A p) where A is
  /// symmetric. True the first time that one of them says that A or M is not symmetric and definite. The first numbers
  /// tell the sign of each.
  bool sees(double pAp, double rMr, double zAp) {
    if (energy_ == 0) energy_ = std::abs(rMr);
    constexpr double bound = tuning::definiteness::divergence * tuning::definiteness::divergence;
    diverged_ = energy_ > 0 && std::abs(rMr) / bound > energy_;  // no overflow
    if (seen_ != Cause::None) return false;
    if (ofA_ == 0) ofA_ = pAp < 0 ? -1 : 1;
    if (ofM_ == 0) ofM_ = rMr < 0 ? -1 : 1;
    if (ofA_ * pAp < 0) {
      seen_ = ofA_ > 0 ? Cause::NegativeA : Cause::PositiveA;
    } else if (ofM_ * rMr < 0) {
      seen_ = ofM_ > 0 ? Cause::NegativeM : Cause::PositiveM;
    } else if (diverged_) {
      seen_ = Cause::Divergence;
    } else if (std::abs(zAp - pAp) > tuning::definiteness::asymmetric * (std::abs(zAp) + std::abs(pAp))) {
      seen_ = Cause::FarFromSymmetric;
    }
    return seen_ != Cause::None;
  }

  /// Why A or M is not symmetric positive definite; None where nothing says so.
  Cause seen() const { return seen_; }

  void iterated(double residual) {
    ++iteration_;
    if (energy_ == 0) {
      diverged_ = residual > tuning::definiteness::divergence * initial_;
      if (diverged_ && seen_ == Cause::None) seen_ = Cause::Divergence;
    }
    risen_ = seen_ != Cause::None && residual / tuning::definiteness::rise > best_;
    if (residual < tuning::definiteness::progress * best_) {
      best_ = residual;
      bestAt_ = iteration_;
    }
    if (iteration_ % tuning::definiteness::patience != 0) return;
    known_ = best_ > 0;
    if (known_) rate_ = (std::log(checkpoint_) - std::log(best_)) / tuning::definiteness::patience;
    checkpoint_ = best_;
  }

  /// After a sign, no new minimum for as many iterations as the last one took, and 200 at least; with a doubt, a pace,
  /// in the last 200 iterations or more, that does not reach the target in those that remain; or a residual 1e8 times
  /// that of the guess, or after a sign 1e6 times the least one.
  bool hopeless(double target, int remaining) const {
    const bool idle = seen_ != Cause::None && iteration_ - bestAt_ > std::max(tuning::definiteness::patience, bestAt_);
    const bool slow = doubted_ && known_ && target > 0 && std::log(best_) > std::log(target) + rate_ * remaining;
    return diverged_ || risen_ || idle || slow;
  }

 private:
  Cause seen_ = Cause::None;
  int ofA_ = 0, ofM_ = 0;  ///< their signs; 0: not known yet
  double energy_ = 0;      ///< (r_0, M^{-1} r_0), where the method tells it
  double initial_ = 0, best_ = std::numeric_limits<double>::infinity();
  double checkpoint_ = best_, rate_ = 0;  ///< the best one some iterations ago; logarithms an iteration since
  bool known_ = false;                    ///< rate_ is
  bool diverged_ = false, doubted_ = false, risen_ = false;
  int bestAt_ = 0, iteration_ = 0;
};

}  // namespace capstan
