#pragma once
/// \file
/// Preconditioned conjugate gradients with one reduction an iteration: the oracle of the CG family.
///
/// Source: Chronopoulos and Gear 1989, algorithm 2; same iterates as Hestenes and Stiefel 1952 in exact arithmetic.
///
/// Cost of an iteration: 1 reduction of 3 numbers, 1 A, 1 M^{-1}, 4 vector updates in one sweep (6 vectors read, 4
/// written). Storage: 5 vectors. Overlap: none.
///
/// | paper | here   | shape              | meaning                                       |
/// |-------|--------|--------------------|-----------------------------------------------|
/// | r     | r      | n x 1, distributed | recursive residual of b - A x                 |
/// | u     | u      | n x 1, distributed | M^{-1} r (r itself without a preconditioner)  |
/// | w     | w      | n x 1, distributed | A u                                           |
/// | p, s  | p, s   | n x 1, distributed | search direction and A p                      |
/// | gamma | gamma  | scalar, replicated | (r, u), the squared M^{-1}-norm of r          |
/// | delta | delta  | scalar, replicated | (w, u)                                        |

#include <utility>

#include "belos_ext/solvers/krylov_solver.hpp"

namespace capstan {

template <class Types>
class Cg final : public KrylovSolver<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  void configure(const SolverOptions& options) override { replacement_ = options.residualReplacement; }

  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) override {
    prepare(b, system);
    system.residual(b, x, *r_);  // r = b - A x
    run(system, b, x, stop, false);
  }

  /// Goes on where another form of CG stands, without a loss of conjugacy: r is its residual of x, p its last search
  /// direction, of any length. `stop` has begun. Collective.
  void resume(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, const MultiVector& r,
              const MultiVector& p) {
    prepare(b, system);
    system.kernels().sweep(axpby(Scalar(1), r, Scalar(0), *r_), axpby(Scalar(1), p, Scalar(0), *p_));
    system.act(Action::Operator, *p_, *s_);  // s = A p
    run(system, b, x, stop, true);
  }

 private:
  /// \param resumed p, s and r are those of a step made elsewhere
  void run(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, bool resumed) {
    MultiVector &r = *r_, &u = system.preconditioned() ? *u_ : *r_, &w = *w_, &p = *p_, &s = *s_;
    auto& batch = *batch_;
    Scalar gammaOld = 0, alpha = 0;  // gammaOld == 0: start with p = u
    bool first = !resumed;

    while (!stop.over()) {
      if (system.preconditioned()) system.precondition(r, t_.get(), u);  // u = M^{-1} r
      system.act(Action::Operator, u, w);                                // w = A u
      batch.clear();
      const auto ru = batch.dot(r, u), wu = batch.dot(w, u), rr = batch.norm2(r);
      const auto bb = first ? batch.norm2(b) : rr;
      const auto su = resumed ? batch.dot(s, u) : rr, sp = resumed ? batch.dot(s, p) : rr;
      system.reduce(batch);
      const Scalar gamma = batch[ru], delta = batch[wu];
      const Scalar square = batch[rr], rhs = batch[bb];
      const double norm = first ? system.norm(r, square, batch) : std::sqrt(static_cast<double>(square));

      if (first) {
        stop.begin({norm, norm}, system.norm(b, rhs, batch));
        if (stop.verified({norm, norm}, false)) break;
      } else if (gammaOld != Scalar(0) && !progressed(system, stop, norm)) {
        if (!restart(system, b, x, stop)) break;  // the true residual decides, not rr
        gammaOld = 0;
        continue;
      }
      first = false;
      Scalar beta = gammaOld == Scalar(0) ? Scalar(0) : gamma / gammaOld;
      Scalar pAp = gammaOld == Scalar(0) ? delta : delta - beta * gamma / alpha;  // (p, A p) without a reduction
      if (std::exchange(resumed, false)) {                                        // conjugate to the p given
        const Scalar onto = -batch[su] / batch[sp], rest = delta + onto * batch[su];
        if (rest > Scalar(0) && std::isfinite(onto)) beta = onto, pAp = rest;
      }
      if (!(gamma > 0) || !(pAp > 0) || !std::isfinite(gamma) || !std::isfinite(pAp)) {
        if (!std::isfinite(gamma) || !std::isfinite(pAp)) {
          if (gammaOld == Scalar(0) || !verify(system, b, x, stop, false)) stop.stop(StopReason::NonFinite);
        } else if (gammaOld == Scalar(0) || !restart(system, b, x, stop)) {
          if (!stop.over()) stop.stop(StopReason::Breakdown);  // A or M is not positive definite
        }
        gammaOld = 0;
        continue;
      }
      alpha = gamma / pAp;
      system.kernels().sweep(axpby(Scalar(1), u, beta, p),  // p = u + beta p
                             axpby(Scalar(1), w, beta, s),  // s = w + beta s
                             axpy(alpha, p, x),             // x = x + alpha p
                             axpy(-alpha, s, r));           // r = r - alpha s
      gammaOld = gamma;
      if (replacement_.mode == ResidualReplacement::Mode::Every && (stop.iterations() + 1) % replacement_.every == 0) {
        system.residual(b, x, r);
      }
    }
  }

  /// Counts the iteration that led to this residual. False when it claims convergence, the count is spent, or a test of
  /// the application stops the solve.
  bool progressed(LinearSystem<Types>& system, StopTest& stop, double norm) {
    stop.iterated(norm);
    system.record(stop.iterations(), norm);
    claimed_ = stop.reached(norm);
    stopped_ = !system.boundary(stop.iterations(), norm, {});
    return !claimed_ && !stopped_ && !stop.exhausted() && std::isfinite(norm);
  }

  /// r = b - A x, whose norm is judged. True when the solve has converged.
  bool verify(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop, bool claimed) {
    system.residual(b, x, *r_);
    batch_->clear();
    const auto rr = batch_->norm2(*r_);
    system.reduce(*batch_);
    const Scalar square = (*batch_)[rr];
    const double norm = system.norm(*r_, square, *batch_);
    stop.verified({norm, norm}, claimed);
    return stop.converged();
  }

  /// r = b - A x. Returns true when the iteration is to go on from there.
  bool restart(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop) {
    const bool claimed = std::exchange(claimed_, false);
    verify(system, b, x, stop, true);
    if (stop.over()) return false;
    if (stopped_) {
      stop.stop(StopReason::UserTest);
    } else if (claimed && replacement_.mode == ResidualReplacement::Mode::Off) {
      stop.stop(StopReason::Stagnation);
    } else {
      system.tell(stop.iterations(), "residual replacement",
                  claimed ? "the computed residual does not meet the tolerance yet"
                          : "breakdown; restarted from the computed residual");
      stop.restarted(true);
    }
    return !stop.over();
  }

  void prepare(const MultiVector& b, LinearSystem<Types>& system) {
    const auto map = b.getMap();
    claimed_ = stopped_ = false;
    if (r_.is_null() || r_->getMap().get() != map.get()) {
      for (Vector* v : {&r_, &w_, &p_, &s_}) *v = Teuchos::rcp(new MultiVector(map, 1));
      u_ = t_ = Teuchos::null;
      batch_ = std::make_unique<ReductionBatch<Types>>(map->getComm());
    }
    if (system.preconditioned() && u_.is_null()) u_ = Teuchos::rcp(new MultiVector(map, 1));
    if (system.hasLeft() && system.hasRight() && t_.is_null()) t_ = Teuchos::rcp(new MultiVector(map, 1));
  }

  using Vector = Teuchos::RCP<MultiVector>;

  ResidualReplacement replacement_;
  bool claimed_ = false, stopped_ = false;
  Vector r_, u_, w_, p_, s_, t_;
  std::unique_ptr<ReductionBatch<Types>> batch_;
};

}  // namespace capstan
