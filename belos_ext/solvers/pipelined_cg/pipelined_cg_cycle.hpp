#pragma once
/// \file
/// One cycle of p(l)-CG: the loop of algorithm 1, from a normalised residual to convergence or to where the recurrences
/// can no longer be trusted. Symbols and costs as in pipelined_cg.hpp.
///
/// `line k` at the end of a statement is line k of algorithm 1 in [deep-pipelined-cg].

#include <optional>

#include "belos_ext/convergence/expected_end.hpp"
#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/problem/constant_null_space.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/solvers/pipelined_cg/kept_direction.hpp"
#include "belos_ext/solvers/pipelined_cg/pipeline_depth.hpp"
#include "belos_ext/solvers/pipelined_cg/pipelined_products.hpp"
#include "belos_ext/spectrum/spectral_interval.hpp"
#include "belos_ext/supervision/krylov_solver.hpp"

namespace capstan {

template <class Types>
class PipelinedCgCycle : public KrylovSolver<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

 protected:
  /// Replacement: an intended residual replacement. Drift: the computed residual is not the recursion's. Skew: Q is no
  /// longer orthonormal. Exhausted: as is the Krylov space. Drained: no further product was made, as the solve was
  /// expected to be over. Learnt: there are Ritz values enough for the shifts of a deeper pipeline.
  enum class Ending { Over, Replacement, Drift, Skew, Breakdown, Exhausted, Drained, Learnt };

  /// The loop of algorithm 1; x is the iterate x_a, p_ the direction p_{a-1} that led to it, when it ends early.
  Ending iterate(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    watch_.begin(std::numeric_limits<Scalar>::epsilon(), l());
    bases_.begin(system, 1 / nu_);  // line 1: z^(k)_0 = M^{-1} u_0 / nu; here u_0 = u_0 / nu, too
    bare_ = false;
    for (int i = 0, last = ExpectedEnd::unknown;; ++i) {  // line 2
      if (last == ExpectedEnd::unknown) last = lastProduct(system, stop, i);
      // Lines 3 to 7: u_{i+1} = A z^(l)_i - sigma_i u_i; z^(l)_{i+1} = M^{-1} u_{i+1}.
      if (i < last) expand(system, stop.iterations(), i, bare_);
      const int a = a_ = i - l();
      if (a == last) return drain(system, b, x, stop);
      if (a >= 0) {  // line 8
        const Scalar rest =
            finishColumn(a + 1, bare_ && a + 1 == last);  // lines 9 to 18; its reduction was started l iterations ago
        const Scalar before = a > 0 ? lanczos_.delta(a - 1) : Scalar(0);
        const Scalar lambda = a > 0 ? before / eta_ : Scalar(0);  // line 27
        const Scalar eta = lanczos_.gamma(a) - lambda * before;   // lines 25, 28
        if (a == 0) ofSpectrum_ = eta < 0 ? -1 : 1;
        if (a == 0 || !watch_.lost()) system.observe(static_cast<double>(eta), static_cast<double>(lambda * lambda));
        if (!(ofSpectrum_ * eta > 0) || !std::isfinite(eta) || !std::isfinite(rest)) return Ending::Breakdown;
        SweepList<Types> sweep(x.getLocalLength());
        if (a > 0) sweep.axpy(zeta_, *p_, x);                          // line 31: x_a = x_{a-1} + zeta p
        directionShould_ = {a > 0 ? ofM_ / eta_ : Scalar(0), before};  // (p, A p), (A p, q_a) / (p, A p) of p_{a-1}
        eta_ = eta;
        zeta_ = a > 0 ? -lambda * zeta_ : nu_;  // lines 29, 25
        const bool exhausted = std::abs(rest) <= vanishing();
        if (a > 0 && (watch_.lost(a <= tuning::pipelined_cg::shortSolve ? stop.target() / residualNorm() : 0) ||
                      (!(rest > 0) && !exhausted))) {
          system.kernels().sweep(sweep);
          return leave(system, b, x, stop, rest > 0 ? Ending::Skew : Ending::Breakdown);  // line 11
        }
        if (depth_.learns() && a == tuning::spectrum::steps) {
          if (watch_.good()) {
            system.kernels().sweep(sweep);
            return leave(system, b, x, stop, Ending::Learnt);
          }
          depth_.stays();
        }
        sweep.axpby(1 / eta, z(0, a), -(a > 0 ? before : kept_.onto()) / eta, *p_);  // lines 30, 25: p_a
        if (!(rest > 0)) return lastStep(system, sweep, x, stop);                    // line 11
        // Lines 19 to 21: z^(k)_{a+k+1}, u_{i+1}.
        if (!bare_ || a + 1 < last) bases_.recur(sweep, a, lanczos_, last, bare_);
        system.kernels().sweep(sweep);
      }
      if (i < last) {
        products_.start(system, i + 1, bases_, i + 1 <= 2 * l() ? kept_.image() : nullptr, bare_);  // line 23
      }
      if (a > 0) {
        stop.iterated(residualNorm());
        expected_.observe(stop.recursive());
        if (const auto end = follow(system, b, x, stop)) return *end;  // line 32
        if (replacementIsDue(stop)) return replaceResidual(system, x, stop);
      }
    }
  }

  /// One product further. The first 2 l + 1 of a warm restart stay conjugate to the direction kept.
  /// \param bare u_{i+1} alone
  void expand(LinearSystem<Types>& system, int iteration, int i, bool bare) {
    if (lanczos_.depth() == 0) return expandRoughly(system, iteration);
    system.act(Action::Operator, top(i), u(i + 1));  // line 3
    if (i == 0 && kept_.image() != nullptr) kept_.remove(system, u(1));
    if (i > 0 && i <= 2 * l() && kept_.image() != nullptr) {
      products_.wait(i);
      kept_.remove(system, products_.along(i), u(i + 1));
    }
    if (i < l()) system.kernels().axpby(-lanczos_.shift(i), u(i), Scalar(1), u(i + 1));  // line 3
    if (bare) return;
    if (preconditioned_) system.precondition(u(i + 1), scratch_.get(), top(i + 1));  // line 4
    if (i + 1 < l()) bases_.copyDown(system, i + 1);                                 // lines 5 to 7
  }

  EigenvalueBounds bounds(LinearSystem<Types>& system, int iteration) {
    return bounds_.get(system, p_->getMap(), iteration, [&](const MultiVector& in, MultiVector& out) {
      system.act(Action::Operator, in, preconditioned_ ? *check_ : out);
      if (preconditioned_) system.precondition(*check_, scratch_.get(), out);
    });
  }

  /// The first product of l = 1 where no shifts are known, with a preconditioner: it shows the mean and the spread of
  /// the spectrum as q_0 sees it, (q_0, A q_0) and (A q_0, M^{-1} A q_0), and one shift does within them. 1 reduction.
  void expandRoughly(LinearSystem<Types>& system, int iteration) {
    system.act(Action::Operator, top(0), u(1));
    system.precondition(u(1), scratch_.get(), top(1));
    auto& batch = *restart_;
    batch.clear();
    const auto mean = batch.dot(u(1), top(0)), square = batch.dot(u(1), top(1));
    system.reduce(batch);
    bounds_.takeRough(system, static_cast<double>(ofM_ * batch[mean]), static_cast<double>(ofM_ * batch[square]),
                      Spread::Any, iteration);
    lanczos_.reset(chebyshevPoints<Scalar>(bounds(system, iteration), l()));
    system.kernels().axpby(-lanczos_.shift(0), u(0), Scalar(1), u(1));
    system.kernels().axpby(-lanczos_.shift(0), top(0), Scalar(1), top(1));
  }

  /// The number of the last product u that the solve is likely to need, where u_i or u_{i+1} is that. Each costs an
  /// application of M; without one, or with a diagonal, it costs less than a reduction that nothing hides. x_{i+1}
  /// needs u_{i+1}, but no M^{-1} u_{i+1}: where the last product is foreseen, it is bare.
  int lastProduct(LinearSystem<Types>& system, const StopTest& stop, int i) {
    const int left = system.sparesProducts() ? expected_.likely(stop.target(), ExpectedEnd::TooEarly::CostsProduct)
                                             : ExpectedEnd::unknown;
    if (left == ExpectedEnd::unknown) return ExpectedEnd::unknown;
    const int end = std::max(0, i - 1 - l()) + left;
    if (i > 0 && end <= i) return i;
    const bool restarts = kept_.image() != nullptr && i < 2 * l();  // (s, z^(l)_{i+1}) is asked for
    if (end > i + 1 || restarts || lanczos_.depth() == 0) return ExpectedEnd::unknown;
    bare_ = true;
    return i + 1;
  }

  /// x_a with the last column there is. The residual of x_a and the direction that led to it are known, or computed: CG
  /// can go on.
  Ending drain(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    system.kernels().axpby(zeta_, *p_, Scalar(1), x);
    if (bare_) {
      const Computed computed = computeResidual(system, b, x);
      stop.iterated(computed.rest);
      return follow(system, b, x, stop, &computed).value_or(Ending::Drained);
    }
    const Scalar lambda = lanczos_.delta(a_ - 1) / eta_;
    zeta_ = -lambda * zeta_;
    stop.iterated(residualNorm());
    return follow(system, b, x, stop).value_or(Ending::Drained);
  }

  /// Column c of G and column c - 1 of T. Returns what is left of |z_c|^2; see PipelinedLanczos::complete().
  /// \param bare z_c is not there, and what is left of it is not known: all of it
  Scalar finishColumn(int c, bool bare) {
    products_.wait(c);  // those of line 23, l iterations ago
    if (c >= l()) {
      watch_.observe(static_cast<double>(products_.square(c)));
      if (preconditioned_) perNorm_ = std::sqrt(static_cast<double>(products_.residual(c)));
    }
    if (!bare) return lanczos_.complete(c, products_.products(c));  // lines 9, 10, 12 to 18
    lanczos_.end(c, products_.products(c));
    return 1;
  }

  /// || b - A x_a || by the recurrences; with a preconditioner the ratio of the norms is that of x_{a-l+1}.
  double residualNorm() const { return std::abs(static_cast<double>(zeta_)) * perNorm_; }

  /// Column a + 1 cannot be used, or is not: x_a is the last iterate, and p_{a-1} the last direction.
  Ending leave(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop, Ending ending) {
    stop.iterated(residualNorm());
    return follow(system, b, x, stop).value_or(ending);
  }

  /// The Krylov space is exhausted: the step along p_a is the last, and good.
  Ending lastStep(LinearSystem<Types>& system, SweepList<Types>& sweep, MultiVector& x, StopTest& stop) {
    if (a_ > 0) stop.iterated(residualNorm());
    if (!stop.exhausted()) {
      sweep.axpy(zeta_, *p_, x);
      stop.iterated(stop.recursive());
      system.record(stop.iterations(), stop.recursive());
    }
    system.kernels().sweep(sweep);
    return Ending::Exhausted;
  }

  struct Computed {
    ResidualNorms whole;  ///< of b - A x
    double rest;          ///< || b - A x || without its constant, where that is projected out
  };

  /// History, status tests, limits; a claim is checked on the true residual without leaving the pipeline, and only
  /// drift between recursion and residual ends it.
  /// \param known the residual of x; null: not computed yet
  std::optional<Ending> follow(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop,
                               const Computed* known = nullptr) {
    system.record(stop.iterations(), stop.recursive());
    const bool goOn = system.boundary(stop.iterations(), stop.recursive(), {});
    const bool claimed = stop.reached(stop.recursive());
    if (!claimed && goOn && !stop.exhausted()) return std::nullopt;

    const auto [norms, rest] = known != nullptr ? *known : computeResidual(system, b, x);
    if (claimed && constants_.endsInconsistent(system, norms, rest, stop)) return Ending::Over;
    if (stop.verified(norms, claimed)) return Ending::Over;
    if (!goOn) {
      stop.stop(StopReason::UserTest);
      return Ending::Over;
    }
    if (!(rest > tuning::pipelined_cg::driftFactor * stop.recursive())) return std::nullopt;
    if (options_.residualReplacement.mode != ResidualReplacement::Mode::Off) return Ending::Drift;
    stop.stop(StopReason::Stagnation);
    return Ending::Over;
  }

  /// 1 A, 1 reduction; `check_` and `restart_` are overwritten. Collective.
  Computed computeResidual(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x) {
    system.residual(b, x, *check_);
    auto& batch = *restart_;
    batch.clear();
    const auto rr = batch.norm2(*check_);
    const auto sum = constants_.ofResidual() ? constants_.enter(batch, *check_) : rr;
    system.reduce(batch);
    const Scalar square = batch[rr], constant = batch[sum];
    const double norm = system.norm(*check_, square, batch);
    overflows_ = !std::isfinite(norm);
    const ResidualNorms norms{norm, norm, system.measured()};
    if (!constants_.ofResidual()) return {norms, norm};
    return {norms, constants_.takeOutOfResidual(system, constant, square, *check_, batch)};
  }

  bool replacementIsDue(const StopTest& stop) const {
    const auto& replacement = options_.residualReplacement;
    return replacement.mode == ResidualReplacement::Mode::Every && stop.iterations() % replacement.every == 0 &&
           stop.remaining() > 1;
  }

  /// Takes the step along p_a, so that it is the last direction of the cycle.
  Ending replaceResidual(LinearSystem<Types>& system, MultiVector& x, StopTest& stop) {
    system.kernels().axpby(zeta_, *p_, Scalar(1), x);
    stop.iterated(stop.recursive());
    return Ending::Replacement;
  }

  void prepare(LinearSystem<Types>& system, const MultiVector& b) {
    const auto map = b.getMap();
    preconditioned_ = system.preconditioned();
    bases_.resize(map, l(), depth_.wanted(), preconditioned_);
    const auto known = p_;
    if (&vectorLike(b, p_) != known.get()) restart_ = std::make_unique<ReductionBatch<Types>>(map->getComm());
    vectorLike(b, check_);
    if (system.hasLeft() && system.hasRight()) vectorLike(b, scratch_);
    products_.begin(map->getComm(), l(), preconditioned_);
  }

  int l() const { return depth_.current(); }
  MultiVector& z(int k, int j) { return bases_.z(k, j); }
  MultiVector& top(int j) { return bases_.top(j); }
  MultiVector& u(int j) { return bases_.u(j); }
  static Scalar vanishing() { return std::sqrt(std::numeric_limits<Scalar>::epsilon()); }

  SolverOptions options_;
  PipelineDepth depth_;
  OrthogonalityWatch watch_;
  int a_ = 0;  ///< of the last iterate x_a
  bool preconditioned_ = false;
  bool bare_ = false;                ///< the last product is foreseen, and M^{-1} of it is not made
  Scalar ofM_ = 1, ofSpectrum_ = 1;  ///< the signs of M and of M^{-1} A
  Scalar nu_ = 0, eta_ = 0, zeta_ = 0;
  typename KeptDirection<Types>::Numbers directionShould_;  ///< what the last direction should give
  ExpectedEnd expected_;
  SpectralInterval<Types> bounds_;
  bool overflows_ = false;  ///< b - A x of the last iterate that was looked at is not finite
  double perNorm_ = 1;      ///< || b - A x || over its M^{-1}-norm
  PipelinedLanczos<Scalar> lanczos_;
  PipelinedBases<Types> bases_;
  PipelinedProducts<Types> products_;
  KeptDirection<Types> kept_;
  ConstantNullSpace<Types> constants_;
  Teuchos::RCP<MultiVector> p_, check_, scratch_;
  std::unique_ptr<ReductionBatch<Types>> restart_;
};

}  // namespace capstan
