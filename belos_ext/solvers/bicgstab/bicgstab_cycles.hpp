#pragma once
/// \file
/// What both forms of BiCGStab share: cycles from a computed residual with a shadow residual of their own, claims, and
/// the ladder.
///
/// Cost beyond the iterations: 1 A and 1 reduction for the first residual, for each claim and for each restart.
///
/// A claim is examined while the cycle stands, and one that comes too early costs no more than that: the cycle goes on.
/// Storage: 1 vector from the first claim on.
/// q is a residual, too, that of x + alpha p^: where it meets the target, half an iteration is saved, which counts as
/// one.
///
/// Ladder, each step in the report: (r*, s) with s = A M^{-1} p, omega or (r*, r) is nothing but rounding, or the
/// residual has not halved for long: restart from the computed residual, which is the new shadow residual -> CAPSTAN
/// GMRES, where two restarts in a row gained nothing ("Fallback"). A cycle that left a larger residual than it began
/// with is undone.

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "belos_ext/convergence/predicted_norm.hpp"
#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/problem/kept_iterate.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/solvers/common/krylov_solver.hpp"
#include "belos_ext/solvers/common/rounding_level.hpp"
#include "belos_ext/solvers/gmres/gmres_fallback.hpp"

namespace capstan {

template <class Types>
class BiCgStabCycles : public KrylovSolver<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Vector = Teuchos::RCP<MultiVector>;

  void configure(const SolverOptions& options) override { fallback_.configure(options); }

  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) final {
    begin(system, b, x, stop);
    system.startUpEnds();
    for (bool first = true; !stop.over(); first = false) {
      if (!first) before_.keep(system, x);
      steps_ = 0;
      examined_ = halfTaken_ = false;
      best_ = halved_ = std::numeric_limits<double>::infinity();
      // A square that may have underflowed is no product to divide by.
      const Scalar least = static_cast<Scalar>(b.getGlobalLength()) * std::numeric_limits<Scalar>::min();
      const Ending ending = square_ > least ? cycle(system, b, x, stop) : Ending::Breakdown;
      judge(system, b, x, stop, ending);
    }
  }

 protected:
  enum class Ending { Claimed, Limit, UserTest, Breakdown, Stagnant, NotFinite };

  /// Iterates from r_, which is b - A x with (r, r) = square_, until something ends the cycle; x is finite where alpha
  /// and omega were. Collective.
  virtual Ending cycle(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) = 0;

  /// Makes what is missing for vectors like b. Collective where it allocates.
  virtual void prepare(LinearSystem<Types>& system, const MultiVector& b) = 0;

  /// Where q = r - alpha s, of this norm, meets the target: x += alpha p^, and the claim is examined. Nothing: go on
  /// with the second half, for which the first one has been taken, or not (stepOfP()). Collective.
  std::optional<Ending> followHalf(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop,
                                   Scalar alpha, const MultiVector& pHat, const PredictedNorm& ofQ) {
    if (ofQ.cancelled || !stop.reached(ofQ.norm, 1)) return std::nullopt;
    system.kernels().axpby(alpha, pHat, Scalar(1), x);
    halfTaken_ = true;
    if (examine(system, b, x, stop, ofQ.norm) == Claim::TooEarly) return std::nullopt;
    count(system, stop, ofQ.norm);
    return Ending::Claimed;
  }

  /// What of alpha p^ is still to be added to x.
  Scalar stepOfP(Scalar alpha) { return std::exchange(halfTaken_, false) ? Scalar(0) : alpha; }

  /// Counts the iteration that led to a residual of this norm, and asks whoever has a say. Nothing: go on. Collective.
  std::optional<Ending> follow(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop,
                               double norm) {
    const bool goOn = count(system, stop, norm);
    if (!std::isfinite(norm)) return Ending::NotFinite;
    if (stop.reached(norm) && examine(system, b, x, stop, norm) != Claim::TooEarly) return Ending::Claimed;
    if (!goOn) return Ending::UserTest;
    if (stop.exhausted()) return Ending::Limit;
    if (norm < tuning::bicgstab::smaller * best_) {
      best_ = norm;
      bestStep_ = steps_;
    }
    if (norm < tuning::bicgstab::progress * halved_) {
      halved_ = norm;
      halvedStep_ = steps_;
    }
    // A recursion that has fallen by nearly all digits there are, and falls no more, says nothing about b - A x.
    const bool fallen = best_ <= tuning::bicgstab::allDigits * std::numeric_limits<Scalar>::epsilon() * attained_;
    if (steps_ - bestStep_ >= tuning::bicgstab::fewIdle && fallen) return Ending::Claimed;
    const bool stagnant = steps_ - halvedStep_ >= tuning::bicgstab::patience;
    return stagnant ? std::optional(Ending::Stagnant) : std::nullopt;
  }

  /// Whether a product of two vectors of these lengths is nothing but rounding. True for NaN.
  static bool isRounding(Scalar product, Scalar lengths) {
    return !(std::abs(product) > std::numeric_limits<Scalar>::epsilon() * lengths);
  }

  /// A batch over the ranks of b, made where it is missing or the map is another one.
  void make(std::unique_ptr<ReductionBatch<Types>>& batch, const MultiVector& b) const {
    if (!batch || otherMap_) batch = std::make_unique<ReductionBatch<Types>>(b.getMap()->getComm());
  }

  Vector r_, shadow_;  ///< r and r*
  Scalar square_ = 0;  ///< (r, r) as a cycle begins

 private:
  /// Whether the application lets the solve go on.
  bool count(LinearSystem<Types>& system, StopTest& stop, double norm) {
    ++steps_;
    stop.iterated(norm);
    system.record(stop.iterations(), norm);
    return system.boundary(stop.iterations(), norm, {});
  }

  /// A claim, by b - A x, which judge() then need not compute. 1 A, 1 reduction.
  Claim examine(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop, double norm) {
    computed_ = residualOf(system, b, x, vectorLike(b, check_));
    const auto claim = computed_.finite ? stop.examined(computed_.norms, norm) : Claim::Wrong;
    examined_ = claim != Claim::TooEarly;
    if (!examined_) system.tell(stop.iterations(), "claim", "came too early; the cycle goes on");
    return claim;
  }

  void begin(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop) {
    otherMap_ = r_.is_null() || r_->getMap().get() != b.getMap().get();
    vectorLike(b, r_);
    vectorLike(b, shadow_);
    make(batch_, b);
    prepare(system, b);
    system.residual(b, x, *r_);
    batch_->clear();
    const auto rr = batch_->norm2(*r_), bb = batch_->norm2(b), xx = batch_->norm2(x), sum = batch_->sum(x);
    system.reduce(*batch_);
    square_ = (*batch_)[rr];
    const Scalar rhs = (*batch_)[bb];
    before_.keepGuess(system, x, (*batch_)[xx], (*batch_)[sum]);
    attained_ = system.norm(*r_, square_, *batch_);
    const double whole = system.norm(b, rhs, *batch_);
    const bool scaled = system.hasLeft() && stop.criteria().scalesByNative();
    const ResidualNorms norms{attained_, attained_, system.measured()};
    stop.begin(norms, whole, scaled ? system.nativeNorm(*r_, *shadow_, *batch_) : attained_);
    stop.verified(norms, false);
    fruitless_ = 0;
  }

  /// b - A x decides. Where the solve is not over, the next cycle has been chosen.
  void judge(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, Ending ending) {
    const double before = attained_;
    const bool claimed = ending == Ending::Claimed;
    if (examined_) {
      std::swap(r_, check_);
    } else {
      computed_ = residualOf(system, b, x, *r_);
    }
    if (!computed_.finite || !(computed_.norms.explicit_ <= before)) {
      before_.restore(system, x);
      system.tell(stop.iterations(), "went back", "to the iterate of the last restart, whose residual is smaller");
      computed_ = residualOf(system, b, x, *r_);
    }
    square_ = computed_.square;
    attained_ = computed_.norms.explicit_;
    if (stop.verified(computed_.norms, claimed)) return;
    if (ending == Ending::UserTest) return stop.stop(StopReason::UserTest);
    if (ending == Ending::NotFinite && steps_ == 0) return stop.stop(StopReason::NonFinite);
    if (claimed) system.tell(stop.iterations(), "residual replacement", reason(ending));
    if (rounding_.ends(system, x, stop)) return;
    stop.restarted(claimed);
    if (stop.over()) return;
    fruitless_ = attained_ < tuning::bicgstab::progress * before ? 0 : fruitless_ + 1;
    if (fruitless_ < tuning::bicgstab::mostFruitless) {
      return system.tell(stop.iterations(), "restart", std::string(reason(ending)) + "; a new shadow residual");
    }
    if (!fallback_.wanted()) {
      return stop.stop(ending == Ending::Breakdown ? StopReason::Breakdown : StopReason::Stagnation);
    }
    fallback_.goOn(system, b, x, stop, reason(ending));
  }

  /// b - A x as computed.
  struct Computed {
    bool finite = false;  ///< it and x are
    Scalar square = 0;
    ResidualNorms norms;
  };

  /// r = b - A x. 1 A, 1 reduction.
  Computed residualOf(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, MultiVector& r) {
    system.residual(b, x, r);
    batch_->clear();
    const auto rr = batch_->norm2(r);
    const auto bad = batch_->value(system.kernels().finite(x) ? Scalar(0) : Scalar(1));
    system.reduce(*batch_);
    const Scalar square = (*batch_)[rr];
    const bool finite = (*batch_)[bad] == Scalar(0);
    const double norm = system.norm(r, square, *batch_);
    return {finite && std::isfinite(norm), square, {norm, norm, system.measured()}};
  }

  static const char* reason(Ending ending) {
    switch (ending) {
      case Ending::Claimed:
        return "the computed residual does not meet the tolerance yet";
      case Ending::Stagnant:
        return "the residual no longer falls";
      case Ending::NotFinite:
        return "the recurrences overflow";
      default:
        return "breakdown";
    }
  }

  bool otherMap_ = true;    ///< than the solve before
  bool halfTaken_ = false;  ///< x has its alpha p^ of this iteration
  bool examined_ = false;   ///< the cycle ended with a claim that has been: check_ is b - A x
  Computed computed_;       ///< the last one
  Vector check_;
  double attained_ = 0, best_ = 0;  ///< computed residual as a cycle begins; smallest recursive one in it
  double halved_ = 0;               ///< the recursive one that was smaller than half of such a one before
  int steps_ = 0, bestStep_ = 0, halvedStep_ = 0, fruitless_ = 0;
  std::unique_ptr<ReductionBatch<Types>> batch_;
  KeptIterate<Types> before_;
  RoundingLevel<Types> rounding_;
  GmresFallback<Types> fallback_;
};

}  // namespace capstan
