#pragma once
/// \file
/// The vectors of CG, their inner products, and what an iteration does to them. Symbols as in cg.hpp.

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "belos_ext/convergence/predicted_norm.hpp"
#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/problem/constant_null_space.hpp"
#include "belos_ext/problem/linear_system.hpp"
#include "belos_ext/solvers/cg/measured_products.hpp"
#include "belos_ext/solvers/cg/plain_product.hpp"
#include "belos_ext/supervision/judged_residual.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan {

/// \tparam Product how s = A p comes by what it needs of other ranks: PlainProduct, or one with its interface
template <class Types, class Product = PlainProduct<Types>>
class CgVectors {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Vector = Teuchos::RCP<MultiVector>;

  /// What one reduction brings: all of it for the current r and p.
  struct Products {
    Scalar mu = 0;     ///< (p, s)
    Scalar nu = 0;     ///< (r, z)
    Scalar delta = 0;  ///< ((r, t) + (s, z)) / 2, which is (r, t) where M is symmetric
    Scalar gamma = 0;  ///< (s, t)
    Scalar rr = 0, rs = 0, ss = 0;
    Scalar pp = 0;
    Scalar rt = 0, sz = 0;  ///< (r, M^{-1} s) and (s, z); the latter is mu where A is symmetric
  };

  /// x += alpha p, p = z + beta p.
  struct Step {
    Scalar alpha, beta;
    bool cancelled = false;  ///< nothing but rounding is left of the (r, z) that beta has been predicted from
  };

  /// (e, v), where constants may have to be projected out.
  struct Sums {
    Scalar r = 0, p = 0, s = 0, t = 0;
  };

  void configure(const SolverOptions& options) { smoothing_.configure(options.residualSmoothing); }

  /// Whether M has been seen not to be linear and symmetric, in this solve or an earlier one.
  bool varies() const { return knownToVary_ || measured_.varies; }
  /// What earlier solves have seen of M; false where ranks differ in it.
  void expectVariation(bool varies) { knownToVary_ = varies; }
  /// What the next solve may expect.
  bool expectsVariation() const { return measured_.steps < tuning::cg::firstSteps ? varies() : measured_.varies; }

  /// Makes what is missing for vectors like b. Collective where it allocates.
  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>& judged) {
    const auto map = b.getMap();
    batch_ = &judged.batch();
    constants_ = &judged.constants();
    if (r_.is_null() || r_->getMap().get() != map.get()) {
      for (Vector* v : {&r_, &p_, &s_}) *v = Teuchos::rcp(new MultiVector(map, 1));
      z_ = t_ = between_ = Teuchos::null;
    }
    preconditioned_ = system.preconditioned();
    measures_ = system.sparesProducts() && !Product::recurs;
    settled_ = true;
    made_ = 0;
    measured_ = {};
    smoothing_.end();
    doubted_ = Product::recurs && preconditioned_ ? tuning::cg::firstSteps : 0;
    product_.replaced();
    if (preconditioned_ && z_.is_null()) z_ = Teuchos::rcp(new MultiVector(map, 1));
    if (preconditioned_ && t_.is_null()) t_ = Teuchos::rcp(new MultiVector(map, 1));
    if (system.hasLeft() && system.hasRight() && between_.is_null()) between_ = Teuchos::rcp(new MultiVector(map, 1));
    sums_ = {};
  }

  MultiVector& r() { return *r_; }
  MultiVector& p() { return *p_; }
  MultiVector& s() { return *s_; }
  MultiVector& z() { return preconditioned_ ? *z_ : *r_; }
  MultiVector& t() { return preconditioned_ ? *t_ : *s_; }
  /// A z where the products are measured.
  MultiVector& w() { return *t_; }
  const Products& products() const { return q_; }
  const Sums& sums() const { return sums_; }
  ConstantNullSpace<Types>& constants() { return *constants_; }

  /// The residual of the x at hand, which the tolerance is asked of: the smoothed one where that is another than r.
  Vector& judged() { return smoothing_.active() ? smoothing_.q() : r_; }
  /// Its square, as last reduced.
  Scalar judgedSquare() const { return smoothing_.active() ? smoothing_.square() : q_.rr; }

  /// Whether products with A z are measured (MeasuredProducts), for M is costly or not linear.
  bool measures() const { return measures_; }
  /// Whether M has just been seen not to be linear, so that no messages are saved any more: true once.
  bool stopsCarrying() { return std::exchange(stopsCarrying_, false); }
  /// z -= alpha t from the first step on: M is linear.
  void recompute() { measures_ = false; }

  /// z = M^{-1} r; without its constant, in a reduction, where constants are projected out.
  void preconditionResidual(LinearSystem<Types>& system) {
    product_.replaced();
    if (!preconditioned_) return;
    system.precondition(*r_, between_.get(), *z_);
    if (constants_->active()) constants_->takeOut(system, *z_, *batch_);
  }

  /// z = M^{-1} r, p = z, s = A p, t = M^{-1} s, and the products in the batch, before its reduction.
  void begin(LinearSystem<Types>& system) {
    preconditionResidual(system);
    beginAgain(system);
    system.act(Action::Operator, *p_, *s_);  // nothing is carried yet: the solve may be over after the reduction
    if (preconditioned_ && !measures_) system.precondition(*s_, between_.get(), *t_);
    enter();
  }

  /// Decides whether constants may be projected out, and does it where b - A x holds one.
  void judgeConstants(LinearSystem<Types>& system, const StopTest& stop) {
    if (!constants_->judge(system, stop, sums_.r, sums_.s, q_.ss) || !constants_->ofResidual()) return;
    if (constants_->matters(sums_.r, q_.rr)) projectResidual(system);
  }

  /// p = z: a new beginning.
  void beginAgain(LinearSystem<Types>& system) {
    product_.replaced();
    system.kernels().scale(Scalar(1), z(), *p_);
    settled_ = true;
    made_ = 0;
  }
  /// The judged residual takes the place of r; CG begins again at its x. Local.
  void adoptJudged(LinearSystem<Types>& system) {
    if (smoothing_.active()) system.kernels().scale(Scalar(1), *smoothing_.q(), *r_);
    smoothing_.end();
  }
  /// r has been replaced, and p stays: z = M^{-1} r, or s = A p without what rounding has made of it.
  void keepDirection(LinearSystem<Types>& system) {
    if (!measures_) return preconditionResidual(system);
    product_.replaced();
    system.act(Action::Operator, *p_, *s_);
    settled_ = false;
  }

  /// s = A p, t = M^{-1} s. Or, where products are measured, z = M^{-1} r and w = A z, but for a new beginning.
  void multiply(LinearSystem<Types>& system) {
    if (measures_ && !settled_) {
      preconditionResidual(system);
      return system.act(Action::Operator, *z_, w());
    }
    product_.multiply(system, z(), *p_, *s_);
    if (preconditioned_ && !measures_) product_.precondition(system, *s_, between_.get(), *t_);
  }

  /// Enters the products into the cleared batch.
  void enter() {
    auto& batch = *batch_;
    slots_ = {};
    if (measures_ && !settled_) {
      measured_.enter(batch, *r_, *z_, w(), *p_, *s_, smoothing_.active() ? smoothing_.q().get() : nullptr);
      if (constants_->watching()) slots_.sumZ = constants_->enter(batch, *z_);
      if (constants_->watching()) slots_.sumP = constants_->enter(batch, *p_);
      return;
    }
    const MultiVector &r = *r_, &p = *p_, &s = *s_, &z = this->z(), &t = this->t();
    if (!preconditioned_) {
      const auto [ps, rr, rs, ss, pp] = batch.dots({{p, s}, {r, r}, {r, s}, {s, s}, {p, p}});
      slots_ = {ps, rr, rs, rs, ss, rr, rs, ss, pp};
    } else if (measures_) {
      const auto [ps, rr, rs, ss, pp, rz, sz] = batch.dots({{p, s}, {r, r}, {r, s}, {s, s}, {p, p}, {r, z}, {s, z}});
      slots_ = {ps, rz, sz, sz, ss, rr, rs, ss, pp};
    } else {
      const auto [ps, rr, rs, ss, pp, rz, sz, rt, st] =
          batch.dots({{p, s}, {r, r}, {r, s}, {s, s}, {p, p}, {r, z}, {s, z}, {r, t}, {s, t}});
      slots_ = {ps, rz, rt, sz, st, rr, rs, ss, pp};
    }
    enterSums();
  }
  void take() {
    const auto& batch = *batch_;
    if (measures_ && !settled_) {
      measured_.take(batch);
      const auto& m = measured_;
      q_ = {m.mu, m.nu, Scalar(0), Scalar(0), m.rr, m.rs, m.ss, m.pp, m.sz, m.sz};
      if (smoothing_.active()) smoothing_.know(m.smoothed);
      sums_ = {};
      if (slots_.sumZ) sums_.p = batch[*slots_.sumZ] + m.beta * batch[*slots_.sumP];
      return;
    }
    measured_.begin(batch[slots_.nu]);
    const Scalar delta = (batch[slots_.rt] + batch[slots_.sz]) / 2;
    q_ = {batch[slots_.mu],    batch[slots_.nu], delta,
          batch[slots_.gamma], batch[slots_.rr], batch[slots_.rs],
          batch[slots_.ss],    batch[slots_.pp], batch[slots_.rt],
          batch[slots_.sz]};
    takeSums();
  }
  /// The one reduction. Where enough steps have been measured, s = A p and t = M^{-1} s take over, which rounding does
  /// less harm: one more reduction and 1 M^{-1}, once; s is still the recurrence's. Collective.
  void measure(LinearSystem<Types>& system) {
    batch_->clear();
    enter();
    product_.reduce(system, *batch_, t());
    take();
    if (!measures_) return doubt();
    if (measured_.varies || measured_.steps < tuning::cg::measuredSteps) return;
    settleDirection(system);
    measures_ = false;
    doubted_ = tuning::cg::firstSteps;
    product_.precondition(system, *s_, between_.get(), *t_);
    measure(system);
  }

  /// p once more without its constant, and z. Their products. Two reductions. From here on z -= alpha t, which keeps
  /// the constant out.
  void projectDirection(LinearSystem<Types>& system, int iteration) {
    settleDirection(system);
    measures_ = false;
    doubted_ = 0;
    product_.replaced();
    constants_->remove(system, constants_->meanOf(sums_.p), *p_);
    constants_->project(system, iteration);
    constants_->takeOut(system, *z_, *batch_);
    multiply(system);
    measure(system);
  }

  /// r without its constant, and all that follows from it. One reduction.
  void projectResidual(LinearSystem<Types>& system) {
    constants_->remove(system, constants_->meanOf(sums_.r), *r_);
    preconditionResidual(system);
    beginAgain(system);
    multiply(system);
    measure(system);
  }

  /// The next step. With z -= alpha t, beta is predicted from the next (r, z); where products are measured it makes the
  /// p of this step conjugate to the one before. An indefinite M has (r, z) < 0, so that a sign tells nothing of
  /// rounding: what is left of the terms does.
  Step nextStep() const {
    if (measures_) return {ratioOr(measured_.pr, q_.mu, Scalar(0)), measured_.beta};
    const Scalar alpha = ratioOr(q_.nu, q_.mu, Scalar(0)), middle = 2 * alpha * q_.delta,
                 last = alpha * alpha * q_.gamma;
    const Scalar nu = q_.nu - middle + last;
    return {alpha, ratioOr(nu, q_.nu, Scalar(0)),
            hasCancelled(nu, std::abs(q_.nu) + std::abs(middle) + std::abs(last))};
  }

  /// The beta that the direction of this step is made with; 0: it is z.
  Scalar coupling() const { return measures_ && !settled_ ? measured_.beta : made_; }

  /// p = z + beta p and s = w + beta s, where they are still to be made.
  void settleDirection(LinearSystem<Types>& system) {
    if (!measures_ || settled_) return;
    product_.replaced();
    system.kernels().sweep(axpby(Scalar(1), *z_, measured_.beta, *p_), axpby(Scalar(1), w(), measured_.beta, *s_));
    settled_ = true;
    made_ = measured_.beta;
  }

  /// x += alpha p, r -= alpha s, z -= alpha t, p = z + beta p in one pass; where products are measured p = z + beta p,
  /// s = w + beta s, x += alpha p, r -= alpha s, or the smoothed x in the place of CG's. Where next.cancelled, beta
  /// comes from the new r and z: one reduction. \param renew z = M^{-1} r instead of z -= alpha t
  void step(LinearSystem<Types>& system, const Step& next, MultiVector& x, bool renew) {
    if (!measures_) smoothing_.leave(system.kernels(), x);
    if (next.cancelled) return stepClassically(system, next.alpha, x, renew);
    const Scalar alpha = next.alpha, beta = next.beta;
    if (measures_ || renew) {
      product_.replaced();
    } else {
      product_.step(system, alpha, beta, shiftOf(alpha));
    }
    made_ = beta;
    if (measures_) return stepMeasured(system.kernels(), alpha, beta, x);
    if (!preconditioned_) {
      system.kernels().sweep(axpy(alpha, *p_, x), axpy(-alpha, *s_, *r_), axpby(Scalar(1), *r_, beta, *p_));
    } else if (!renew && constants_->active()) {
      system.kernels().sweep(axpy(alpha, *p_, x), axpy(-alpha, *s_, *r_), axpy(-alpha, *t_, *z_),
                             axpy(shiftOf(alpha), constants_->ones(*z_), *z_), axpby(Scalar(1), *z_, beta, *p_));
    } else if (!renew) {
      system.kernels().sweep(axpy(alpha, *p_, x), axpy(-alpha, *s_, *r_), axpy(-alpha, *t_, *z_),
                             axpby(Scalar(1), *z_, beta, *p_));
    } else {
      system.kernels().sweep(axpy(alpha, *p_, x), axpy(-alpha, *s_, *r_));
      preconditionResidual(system);
      system.kernels().axpby(Scalar(1), *z_, beta, *p_);
    }
  }

  /// || b - A x || of the next iterate by the recurrence for (r, r), or for the smoothed residual.
  PredictedNorm nextNorm(Scalar alpha) const {
    return smooths() ? smoothing_.next(alpha, q_.rr, q_.rs, q_.ss).norm : predictNorm(q_.rr, q_.rs, q_.ss, alpha);
  }

  /// Whether (r, M^{-1} s) and (s, z) differ by more than rounding makes them: z is no longer M^{-1} r, or M is not
  /// symmetric.
  bool strayed() const {
    return preconditioned_ && !measures_ &&
           std::abs(q_.rt - q_.sz) > static_cast<Scalar>(tuning::cg::strayed) * (std::abs(q_.rt) + std::abs(q_.sz));
  }

  /// NaN in what A or M made: a sum that is NaN where one of its terms is.
  bool poisoned() const {
    return std::isnan(q_.mu) || std::isnan(q_.nu) || std::isnan(q_.delta) || std::isnan(q_.gamma) || std::isnan(q_.rr);
  }

 private:
  struct Slots {
    using Slot = typename ReductionBatch<Types>::Slot;
    Slot mu, nu, rt, sz, gamma, rr, rs, ss, pp;
    std::optional<Slot> sumR = {}, sumP = {}, sumS = {}, sumT = {}, sumZ = {};  ///< where somebody wants them
  };

  /// The constant that z - alpha t has too little of.
  Scalar shiftOf(Scalar alpha) const { return constants_->active() ? alpha * constants_->meanOf(sums_.t) : Scalar(0); }

  bool smooths() const { return measures_ && smoothing_.wanted(varies()); }

  /// The step where products are measured: p and s are made in it, but for a new beginning.
  void stepMeasured(BlockKernels<Types>& kernels, Scalar alpha, Scalar beta, MultiVector& x) {
    const bool settled = std::exchange(settled_, false);
    const auto makesP = axpby(Scalar(1), *z_, beta, *p_), makesS = axpby(Scalar(1), w(), beta, *s_);
    if (smooths()) {
      const Scalar eta = smoothing_.next(alpha, q_.rr, q_.rs, q_.ss).eta;
      if (settled) {
        smoothing_.step(kernels, eta, alpha, *p_, *s_, *r_, x);
      } else {
        smoothing_.step(kernels, eta, alpha, *p_, *s_, *r_, x, makesP, makesS);
      }
    } else if (settled) {
      kernels.sweep(axpy(alpha, *p_, x), axpy(-alpha, *s_, *r_));
    } else {
      kernels.sweep(makesP, makesS, axpy(alpha, *p_, x), axpy(-alpha, *s_, *r_));
    }
  }

  /// The step where the next (r, z) cannot be predicted: it is reduced before p = z + beta p, as Hestenes and Stiefel
  /// do. One reduction, collective.
  void stepClassically(LinearSystem<Types>& system, Scalar alpha, MultiVector& x, bool renew) {
    auto& kernels = system.kernels();
    if (renew || !preconditioned_) {
      kernels.sweep(axpy(alpha, *p_, x), axpy(-alpha, *s_, *r_));
      if (renew) preconditionResidual(system);
    } else {
      kernels.sweep(axpy(alpha, *p_, x), axpy(-alpha, *s_, *r_), axpy(-alpha, *t_, *z_));
      if (constants_->active()) kernels.axpby(shiftOf(alpha), constants_->ones(*z_), Scalar(1), *z_);
    }
    batch_->clear();
    const auto rz = preconditioned_ ? batch_->dot(*r_, *z_) : batch_->norm2(*r_);
    system.reduce(*batch_);
    const Scalar beta = ratioOr((*batch_)[rz], q_.nu, Scalar(0));
    if (!renew) product_.step(system, alpha, beta, shiftOf(alpha));
    kernels.axpby(Scalar(1), z(), beta, *p_);
    made_ = beta;
  }

  /// Goes back to measured products where the first steps with z -= alpha t show that M is not linear.
  void doubt() {
    if (doubted_ == 0) return;
    --doubted_;
    if (!strayed()) return;
    doubted_ = 0;
    measures_ = measured_.varies = true;
    stopsCarrying_ = Product::recurs;
    measured_.begin(q_.nu);
  }

  void enterSums() {
    auto& batch = *batch_;
    const bool first = constants_->undecided(), active = constants_->active();
    if (first || active) slots_.sumR = constants_->enter(batch, *r_);
    if (first || active) slots_.sumS = constants_->enter(batch, *s_);
    if (first || constants_->watching()) slots_.sumP = constants_->enter(batch, *p_);
    if (active) slots_.sumT = constants_->enter(batch, *t_);
  }
  /// With t as if it had no constant: step() takes it out.
  void takeSums() {
    const auto read = [this](const auto& slot) { return slot ? (*batch_)[*slot] : Scalar(0); };
    sums_ = {read(slots_.sumR), read(slots_.sumP), read(slots_.sumS), read(slots_.sumT)};
    if (!constants_->active()) return;
    const Scalar mean = constants_->meanOf(sums_.t);
    q_.rt -= mean * sums_.r;
    q_.gamma -= mean * sums_.s;
    q_.delta -= mean * sums_.r / 2;
  }

  Product product_;
  bool preconditioned_ = false;
  bool knownToVary_ = false;  ///< M has, in earlier solves
  bool measures_ = false;
  bool settled_ = true;  ///< p and s are those of the next step, not of the last one
  Scalar made_ = 0;      ///< the beta that p was made with; 0: p is z
  MeasuredProducts<Types> measured_;
  ResidualSmoothing<Types> smoothing_;
  bool stopsCarrying_ = false;
  int doubted_ = 0;                                ///< steps in which M is still looked at
  ConstantNullSpace<Types>* constants_ = nullptr;  ///< of the solve
  Sums sums_;
  Vector r_, z_, p_, s_, t_, between_;
  ReductionBatch<Types>* batch_ = nullptr;  ///< of the solve
  Slots slots_;
  Products q_;
};

}  // namespace capstan
