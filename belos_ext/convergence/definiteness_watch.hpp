#pragma once
/// \file
/// What the numbers of CG tell of A and M, and when CG is hopeless.
///
/// With A or M negative definite, CG takes the very steps that it takes with -A, or -M.
///
/// Hestenes and Stiefel's CG often converges although (p, A p) or (r, M^{-1} r) was negative once, or A is a little
/// nonsymmetric: neither is a reason to stop. It is hopeless where such a sign has been seen and the residual has found
/// no new minimum for long, or where something else is known against it and its pace is too slow for the iterations
/// that are left. A method without short recurrences then goes on. Replicated: fed with reduced numbers only.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "belos_ext/parameters/tuning.hpp"

namespace capstan {

class DefinitenessWatch {
 public:
  void begin(double initialResidual) {
    seen_.clear();
    ofA_ = ofM_ = 0;
    initial_ = best_ = checkpoint_ = initialResidual;
    bestAt_ = iteration_ = 0;
    known_ = false;
    diverged_ = doubted_ = false;
  }

  /// Something else says that A or M is not what CG is for: A is known not to be symmetric, M to vary, or b to have a
  /// part that no A x has.
  void doubt() { doubted_ = true; }

  /// Numbers of one iteration of CG: (p, A p), (r, M^{-1} r), and (M^{-1} r, A p), which is (p, A p) where A is
  /// symmetric. True the first time that one of them says that A or M is not symmetric and definite. The first numbers
  /// tell the sign of each.
  bool sees(double pAp, double rMr, double zAp) {
    if (!seen_.empty()) return false;
    if (ofA_ == 0) ofA_ = pAp < 0 ? -1 : 1;
    if (ofM_ == 0) ofM_ = rMr < 0 ? -1 : 1;
    if (ofA_ * pAp < 0) {
      seen_ = ofA_ > 0 ? "(p, A p) < 0: the operator is not positive definite"
                       : "(p, A p) > 0: the operator is not negative definite";
    } else if (ofM_ * rMr < 0) {
      seen_ = ofM_ > 0 ? "(r, M^-1 r) < 0: the preconditioner is not positive definite"
                       : "(r, M^-1 r) > 0: the preconditioner is not negative definite";
    } else if (std::abs(zAp - pAp) > tuning::definiteness::asymmetric * (std::abs(zAp) + std::abs(pAp))) {
      seen_ = "(M^-1 r, A p) is far from (p, A p): the operator or the preconditioner is not symmetric";
    }
    return !seen_.empty();
  }

  /// Why A or M is not symmetric positive definite; empty where nothing says so.
  const std::string& seen() const { return seen_; }

  void iterated(double residual) {
    ++iteration_;
    diverged_ = residual > tuning::definiteness::divergence * initial_;
    if (diverged_ && seen_.empty()) seen_ = "the residual has grown beyond what CG makes of definite systems";
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
  /// that of the guess.
  bool hopeless(double target, int remaining) const {
    const bool idle = !seen_.empty() && iteration_ - bestAt_ > std::max(tuning::definiteness::patience, bestAt_);
    const bool slow = doubted_ && known_ && target > 0 && std::log(best_) > std::log(target) + rate_ * remaining;
    return diverged_ || idle || slow;
  }

 private:
  std::string seen_;
  int ofA_ = 0, ofM_ = 0;  ///< their signs; 0: not known yet
  double initial_ = 0, best_ = std::numeric_limits<double>::infinity();
  double checkpoint_ = best_, rate_ = 0;  ///< the best one some iterations ago; logarithms an iteration since
  bool known_ = false;                    ///< rate_ is
  bool diverged_ = false, doubted_ = false;
  int bestAt_ = 0, iteration_ = 0;
};

}  // namespace capstan
