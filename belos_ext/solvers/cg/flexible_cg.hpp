#pragma once
/// \file
/// CG whose next direction is made of inner products that are all measured in one reduction before it is made: for an M
/// that is not linear, and for the first steps where M is costly.
///
/// Source: the vectors of [Chronopoulos and Gear 1989], w = A z and s = w + beta s, so that one reduction an iteration
/// is enough. Their (p, A p) is derived from symmetry, and loses convergence where a pressure is pinned by a row whose
/// column is kept; here it is expanded into measured inner products, without loss (362 iterations of Hestenes and
/// Stiefel's 362 on cavity-pc-64x64-i10, where the derived one does not converge in 4000). beta makes p conjugate to
/// the direction before, and alpha minimises along p, whatever M is: [Notay 2000], flexible CG. Where M is linear and
/// symmetric, beta is the textbook's (r, z) over the last one; where the first steps see another number, M is not.
/// There x is the combination of the last one and CG's of least residual: residual_smoothing.hpp.
///
/// Cost of an iteration: 1 reduction of 15 numbers (4 more where residuals are smoothed), 1 A, 1 M^{-1}, one sweep (6
/// vectors read, 4 written; 8 and 6). Overlap: none.
///
/// | paper | here   | shape              | meaning                                            |
/// |-------|--------|--------------------|----------------------------------------------------|
/// | u     | z      | n x 1, distributed | M^{-1} r                                           |
/// | w     | w      | n x 1, distributed | A z                                                |
/// | p, s  | p, s   | n x 1, distributed | the last direction and A p, until the step is made |
/// | beta  | beta_  | scalar, replicated | -(z, s) / (p, s), of the last p and s              |
/// | gamma | nu     | scalar, replicated | (r, z)                                             |
/// | delta | mu     | scalar, replicated | (p, s) of the next p and s; pr is (p, r)           |

#include <algorithm>
#include <array>

#include "belos_ext/convergence/residual_smoothing.hpp"
#include "belos_ext/solvers/cg/cg_vectors.hpp"
#include "belos_ext/supervision/progress.hpp"

namespace capstan::tuning::cg {
/// Where a residual shrinks to this part in an iteration, M does more, and costs more, than a reduction. Chosen.
inline constexpr double fast = 0.6;
}  // namespace capstan::tuning::cg

namespace capstan {

template <class Types>
class FlexibleCg {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  explicit FlexibleCg(CgVectors<Types>& vectors) : v_(vectors) {}

  void configure(const SmoothingOptions& options) { smoothing_.configure(options.residualSmoothing); }
  /// What earlier solves have seen of M, and what the next one may expect.
  void expectVariation(bool varies) { knownToVary_ = varies; }
  bool expectsVariation() const { return steps_ < tuning::preconditioner::firstSteps ? varies() : varies_; }
  /// Whether M has been seen not to be linear and symmetric, in this solve or an earlier one.
  bool varies() const { return knownToVary_ || varies_; }
  void seeVariation() { varies_ = true; }

  /// \param costly M is: one M^{-1} less in a solve that ends within the first steps pays. Local.
  void prepare(bool costly) {
    mostSteps_ = costly ? tuning::cg::measuredSteps : 0;
    steps_ = 0;
    directed_ = varies_ = false;
    smoothing_.end();
  }

  /// The residual of the x at hand, that the tolerance is asked of.
  Teuchos::RCP<MultiVector>& judged() { return smoothing_.active() ? smoothing_.q() : v_.ownResidual(); }
  /// It takes the place of r; CG begins again at its x. Local.
  void adoptJudged(LinearSystem<Types>& system) {
    if (smoothing_.active()) system.kernels().scale(Scalar(1), *smoothing_.q(), v_.r());
    smoothing_.end();
  }

  /// p and s are a direction to go on from, of any length, about whose M nothing is known. Local.
  void goOnFrom() {
    directed_ = true;
    steps_ = tuning::preconditioner::firstSteps;
  }

  void enter(LinearSystem<Types>& system) {
    multiply(system);
    enterInnerProducts();
  }
  void take() {
    const auto& batch = *v_.batch;
    const auto of = [&](Product which) { return batch[slots_[which]]; };
    const Scalar last = nu_;
    nu_ = of(RZ), rr_ = of(RR);
    beta_ = directed_ ? ratioOr(-of(ZS), of(PS), Scalar(0)) : Scalar(0);
    // Of the next p = z + beta p and s = w + beta s.
    pr_ = nu_, mu_ = sz_ = of(ZW), rs_ = of(RW), ss_ = of(WW), pp_ = of(ZZ);
    if (directed_) {
      const auto square = [&](Product a, Product ab, Product b) {
        return std::max(of(a) + 2 * beta_ * of(ab) + beta_ * beta_ * of(b), Scalar(0));
      };
      pr_ += beta_ * of(RP);
      sz_ += beta_ * of(ZS);
      mu_ = sz_ + beta_ * (of(PW) + beta_ * of(PS));
      rs_ += beta_ * of(RS);
      ss_ = square(WW, WS, SS), pp_ = square(ZZ, ZP, PP);
    }
    if (smoothing_.active()) smoothing_.know(batch[ofQ_[0]], batch[ofQ_[1]], batch[ofQ_[2]] + beta_ * batch[ofQ_[3]]);
    v_.constants->takeSums(batch, beta_);
    if (!directed_ || steps_++ >= tuning::preconditioner::firstSteps) return;
    const Scalar textbook = ratioOr(nu_, last, Scalar(0));
    const auto apart = static_cast<Scalar>(tuning::preconditioner::unequal) * (std::abs(beta_) + std::abs(textbook));
    varies_ = varies_ || !(std::abs(beta_ - textbook) <= apart);
  }

  Ending cycle(Progress<Types>& progress, Start start) {
    auto& system = progress.system();
    begin(progress, start);
    for (;; multiply(system), reduce(progress)) {
      const bool constant = v_.isConstant(pp_);
      if (constant || (!varies_ && steps_ >= mostSteps_)) return leave(progress, constant);
      const Scalar alpha = ratioOr(pr_, mu_, Scalar(0)), judged = smoothing_.active() ? smoothing_.square() : rr_;
      const auto next = smoothing_.next(alpha, rr_, rs_, ss_);
      const PredictedNorm norm = smooths() ? next.norm : predictNorm(rr_, rs_, ss_, alpha);
      const CgStep<Scalar> step{alpha, beta_, beta_, mu_, nu_, sz_, judged, pp_, ss_};
      const auto add = [&](MultiVector& x) {
        system.kernels().sweep(axpy(alpha, v_.z(), x), axpy(alpha * beta_, v_.p(), x));
      };
      if (const auto ending = progress.admits(step, varies(), add)) return *ending;
      const bool fast = norm.norm <= tuning::cg::fast * progress.stop().recursive() || varies();  // as multigrid is
      advance(system, alpha, next.eta, progress.x());
      if (const auto ending = progress.follow(norm, fast)) return *ending;
    }
  }

 private:
  enum Product { RZ, ZW, RR, RW, WW, ZZ, ZS, PW, PS, RP, RS, WS, SS, ZP, PP };
  using Slot = typename ReductionBatch<Types>::Slot;

  void begin(Progress<Types>& progress, Start start) {
    auto& system = progress.system();
    v_.storeScaled(system);
    const bool keeps =
        start == Start::First && !v_.constants->takesOutOfFirst(system, progress.stop(), rr_, ss_, v_.r());
    if (keeps) return system.startUpEnds(1, 1);
    directed_ = start == Start::Direction || (start == Start::GoOn && directed_);
    if (start == Start::Direction) {  // s without what rounding has made of it
      system.act(Action::Operator, v_.p(), v_.s());
    } else if (start == Start::Made) {  // as if p were M^{-1} r
      system.kernels().scale(Scalar(1), v_.p(), v_.z());
      system.kernels().scale(Scalar(1), v_.s(), v_.w());
      return reduce(progress);
    }
    multiply(system);
    reduce(progress);
  }

  /// z = M^{-1} r, w = A z.
  void multiply(LinearSystem<Types>& system) {
    v_.preconditionResidual(system);
    system.act(Action::Operator, v_.z(), v_.w());
  }
  void reduce(Progress<Types>& progress) {
    v_.batch->clear();
    enterInnerProducts();
    progress.takeMeasure();
    progress.system().reduce(*v_.batch);
    take();
  }

  void enterInnerProducts() {
    auto& batch = *v_.batch;
    const MultiVector &r = v_.r(), &z = v_.z(), &w = v_.w(), &p = v_.p(), &s = v_.s();
    if (directed_) {
      slots_ = batch.dots({{r, z},
                           {z, w},
                           {r, r},
                           {r, w},
                           {w, w},
                           {z, z},
                           {z, s},
                           {p, w},
                           {p, s},
                           {r, p},
                           {r, s},
                           {w, s},
                           {s, s},
                           {z, p},
                           {p, p}});
    } else {
      const auto some = batch.dots({{r, z}, {z, w}, {r, r}, {r, w}, {w, w}, {z, z}});
      std::copy(some.begin(), some.end(), slots_.begin());
    }
    if (smoothing_.active()) {
      const MultiVector& q = *smoothing_.q();
      ofQ_ = batch.dots({{q, q}, {q, r}, {q, w}, {q, s}});
    }
    v_.constants->enterSums(batch, r, w, z, directed_ ? &p : nullptr, nullptr);
  }

  bool smooths() const { return smoothing_.wanted(varies()); }

  /// p = z + beta p, s = w + beta s, x += alpha p, r -= alpha s, or the smoothed x in the place of CG's. One sweep.
  void advance(LinearSystem<Types>& system, Scalar alpha, Scalar eta, MultiVector& x) {
    MultiVector &p = v_.p(), &s = v_.s(), &r = v_.r();
    SweepList<Types> sweep(r.getLocalLength());
    sweep.axpby(Scalar(1), v_.z(), beta_, p);
    sweep.axpby(Scalar(1), v_.w(), beta_, s);
    if (smooths()) {
      smoothing_.step(sweep, eta, alpha, p, s, r, x);
    } else {
      smoothing_.leave(sweep, x);
      sweep.axpy(alpha, p, x);
      sweep.axpy(-alpha, s, r);
    }
    system.kernels().sweep(sweep);
    directed_ = true;
  }

  /// With the next p and s, and CG's own x. Local.
  /// \param constant p is all but constant: from here on z -= alpha t keeps constants out
  Ending leave(Progress<Types>& progress, bool constant) {
    SweepList<Types> sweep(v_.r().getLocalLength());
    sweep.axpby(Scalar(1), v_.z(), beta_, v_.p());
    sweep.axpby(Scalar(1), v_.w(), beta_, v_.s());
    smoothing_.leave(sweep, progress.x());
    v_.made = beta_;
    progress.system().kernels().sweep(sweep);
    if (constant) {
      v_.projectDirection(progress);
      progress.system().act(Action::Operator, v_.p(), v_.s());
    }
    return Ending::OtherForm;
  }

  CgVectors<Types>& v_;
  ResidualSmoothing<Types> smoothing_;
  bool knownToVary_ = false, varies_ = false;
  bool directed_ = false;          ///< p and s are the last direction; else there is none
  int steps_ = 0, mostSteps_ = 0;  ///< those of a linear M
  Scalar beta_ = 0, nu_ = 0, rr_ = 0, pr_ = 0, mu_ = 0, sz_ = 0, rs_ = 0, ss_ = 0, pp_ = 0;
  std::array<Slot, 15> slots_;
  std::array<Slot, 4> ofQ_;  ///< q with q, r, w and s
};

}  // namespace capstan
