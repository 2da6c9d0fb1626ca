#pragma once
/// \file
/// Deep pipelined conjugate gradients, p(l)-CG, any depth l >= 1.
///
/// Source: deep-pipelined-cg, algorithm 1 (Cornelis, Cools and Vanroose), with the stable multi-basis recurrences.
///
/// Cost of an iteration: 1 nonblocking reduction of l + 1 numbers, 1 A, 1 M^{-1}, all recurrences in one sweep over
/// 3 l + 8 vectors. Storage: 2 l + max(l, 3) + 4 vectors, 3 more with a preconditioner. Overlap: the reduction started
/// at the end of iteration i - l is waited for in iteration i, after l applications of A and M^{-1} and l - 1 sweeps.
///
/// | paper       | here         | shape               | meaning                                                      |
/// |-------------|--------------|---------------------|--------------------------------------------------------------|
/// | z^(k)_j     | z(k, j)      | n x 1, distributed  | k-th auxiliary basis; z^(0) = v is M-orthonormal             |
/// | z^(l)_j     | top(j)       | n x 1, distributed  | the basis that runs l products ahead                         |
/// | u_j         | u(j)         | n x 1, distributed  | M z^(l)_j (z^(l)_j itself without a preconditioner)          |
/// | p           | p_           | n x 1, distributed  | search direction of x                                        |
/// | g_{j,c}     | g_(j, c)     | band of 2 l + 1     | Z^(l) = V G, replicated                                      |
/// | gamma,delta | gamma, delta | scalars, replicated | diagonal and off-diagonal of the Lanczos matrix T            |
/// | eta, zeta   | eta, zeta    | scalars, replicated | LU factors of T, and the M^{-1}-norm of the residual         |
/// | sigma_k     | shifts_      | l numbers           | Chebyshev points of the spectrum of M^{-1} A                 |

#include <optional>

#include "belos_ext/basis/spectrum_estimate.hpp"
#include "belos_ext/basis/vector_ring.hpp"
#include "belos_ext/core/agreement.hpp"
#include "belos_ext/dense/banded_window.hpp"
#include "belos_ext/solvers/cg.hpp"

namespace capstan {

template <class Types>
class PipelinedCg final : public KrylovSolver<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  void configure(const SolverOptions& options) override {
    options_ = options;
    depth_ = options.pipelineDepth;
    bounds_.reset();
    if (!options.eigenvalueBoundsAuto) bounds_ = options.eigenvalueBounds;
    classical_.configure(options);
  }
  void recall(const SolverState& state) override {
    if (options_.eigenvalueBoundsAuto) bounds_ = state.eigenvalueBounds;
    stamp_ = Agreement<Types>::stampOf(state.solves);
  }
  void remember(SolverState& state) const override {
    if (options_.eigenvalueBoundsAuto) state.eigenvalueBounds = bounds_;
  }

  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) override {
    depth_ = options_.pipelineDepth;
    int setbacks = 0;
    Ending ending = Ending::None;
    while (!stop.over()) {
      prepare(system, b);
      const Start start = begin(system, b, x, stop, ending);
      if (stop.over()) return;
      // A square that may have underflowed says nothing about (u_0, M^{-1} u_0).
      const Scalar vanishing = static_cast<Scalar>(b.getGlobalLength()) * std::numeric_limits<Scalar>::min();
      if (!(start.gamma > vanishing) || setbacks > maxSetbacks) {
        system.tell(stop.iterations(), "classical", "the pipelined recurrences break down; going on with CAPSTAN CG");
        return classical_.solve(system, b, x, stop);
      }
      chooseShifts(system, stop);
      ending = iterate(system, b, x, stop, start);
      pending_.clear();  // completes what is still in flight
      widenBounds();
      ++setbacks;
      if (ending == Ending::Breakdown) {
        depth_ = std::max(1, depth_ / 2);
        system.tell(stop.iterations(), "restart",
                    "square-root breakdown; going on with depth " + std::to_string(depth_));
      }
      if (!stop.over()) stop.restarted(true);
    }
  }

 private:
  enum class Ending { None, Over, Drifted, Breakdown };
  /// Restarts cost CG its superlinear convergence: where one does not help, the classical recurrences are better.
  static constexpr int maxSetbacks = 1;
  struct Start {
    Scalar gamma = 0;     ///< (u_0, M^{-1} u_0)
    double residual = 0;  ///< || u_0 ||
  };

  /// u_0 = b - A x, z_0 = M^{-1} u_0; u_0 / nu, z_0 / nu with nu^2 = gamma = (u_0, z_0). The true residual is judged
  /// here.
  Start begin(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop, Ending last) {
    const bool first = last == Ending::None;
    system.residual(b, x, u(0));
    if (preconditioned_) system.precondition(u(0), &u(1), top(0));
    auto& batch = *restart_;
    batch.clear();
    const auto uz = batch.dot(u(0), top(0)), uu = batch.norm2(u(0)), bb = batch.norm2(b);
    agreement_.enter(batch, stamp_);
    system.reduce(batch);
    if (first && !agreement_.reached(batch)) configure(SolverOptions(options_));
    const Scalar gamma = batch[uz], square = batch[uu], rhs = batch[bb];
    const double norm = system.norm(u(0), square, batch);
    if (first) stop.begin({norm, norm}, system.norm(b, rhs, batch));
    if (!std::isfinite(gamma)) {
      stop.stop(StopReason::NonFinite);
    } else if (last != Ending::Drifted) {  // that residual has been judged already
      stop.verified({norm, norm}, false);
    }
    return {gamma, norm};
  }

  /// The loop of algorithm 1; x is the iterate x_{i-l} when it ends.
  Ending iterate(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop,
                 const Start& start) {
    const int l = depth_;
    const Scalar nu = std::sqrt(start.gamma);
    Scalar eta = 0, zeta = 0;
    double perNorm = start.residual / static_cast<double>(nu);  // || b - A x || over its M^{-1}-norm, as last computed
    normalizeFirst(system, nu);                                 // z^(k)_0 = M^{-1} u_0 / nu, u_0 = u_0 / nu

    for (int i = 0;; ++i) {
      system.act(Action::Operator, top(i), u(i + 1));                                  // u_{i+1} = A z^(l)_i
      if (i < l) system.kernels().axpby(-shift(i), u(i), Scalar(1), u(i + 1));         //   - sigma_i u_i
      if (preconditioned_) system.precondition(u(i + 1), scratch_.get(), top(i + 1));  // z^(l)_{i+1} = M^{-1} u_{i+1}
      if (i + 1 < l) system.kernels().scale(Scalar(1), top(i + 1), z(i + 1, i + 1));   // z^(k)_k = z^(l)_k
      const int a = i - l;
      if (a >= 0) {
        pending_[slot(a + 1)].wait();  // started l iterations ago
        const bool positive = finishColumn(a + 1);
        extendLanczos(a);
        const Scalar before = a > 0 ? delta(a - 1) : Scalar(0), lambda = a > 0 ? before / eta : Scalar(0);
        const Scalar etaNext = gamma(a) - lambda * before;
        if (!(etaNext > 0) || !std::isfinite(etaNext)) return Ending::Breakdown;
        SweepList<Types> sweep(x.getLocalLength());
        if (a > 0) sweep.axpy(zeta, *p_, x);                        // x_a = x_{a-1} + zeta p
        sweep.axpby(1 / etaNext, z(0, a), -before / etaNext, *p_);  // p_a
        eta = etaNext;
        zeta = a > 0 ? -lambda * zeta : nu;
        if (!positive) return lastStep(system, sweep, zeta, x, stop);
        recur(sweep, i, a);  // z^(k)_{a+k+1}, u_{i+1}
        system.kernels().sweep(sweep);
      }
      startColumn(i + 1);
      if (a > 0) {
        stop.iterated(static_cast<double>(std::abs(zeta)) * perNorm);
        if (const auto end = follow(system, b, x, stop, static_cast<double>(std::abs(zeta)), perNorm)) return *end;
      }
    }
  }

  /// Row by row, column c of G: products by symmetry, then orthogonalisation against the earlier columns. False when
  /// the square root of the norm fails.
  bool finishColumn(int c) {
    const int l = depth_;
    auto& batch = *batches_[slot(c)];
    for (int j = std::max(0, c - l), k = 0; j <= c; ++j, ++k) {
      g_.at(j, c) = batch[products_[slot(c)][static_cast<std::size_t>(k)]];
    }
    for (int j = std::max(0, c - 2 * l); j < c - l; ++j) g_.at(j, c) = g_(c - l, j + l);
    const Scalar square = g_(c, c);
    for (int j = std::max(0, c - l + 1); j <= c; ++j) {
      Scalar sum = g_(j, c);
      for (int k = std::max(0, c - 2 * l); k < j; ++k) sum -= g_(k, j == c ? c : j) * g_(k, c);
      g_.at(j, c) = j < c ? sum / g_(j, j) : sum > rounding * square ? std::sqrt(sum) : Scalar(0);
    }
    return g_(c, c) > 0 && std::isfinite(g_(c, c));
  }

  /// Column a + 1 broke down: the step of CG that needs column a only is still good, and the last one if the Krylov
  /// space is exhausted.
  Ending lastStep(LinearSystem<Types>& system, SweepList<Types>& sweep, Scalar zeta, MultiVector& x, StopTest& stop) {
    if (!stop.exhausted()) {
      sweep.axpy(zeta, *p_, x);
      stop.iterated(stop.recursive());
      system.record(stop.iterations(), stop.recursive());
    }
    system.kernels().sweep(sweep);
    return Ending::Breakdown;
  }

  /// gamma_a and delta_a of the Lanczos matrix.
  void extendLanczos(int a) {
    const int l = depth_;
    const Scalar corner = g_(a, a), coupling = a > 0 ? g_(a - 1, a) * delta(a - 1) : Scalar(0);
    if (a < l) {
      gamma_.push_back((g_(a, a + 1) + shift(a) * corner - coupling) / corner);
      delta_.push_back(g_(a + 1, a + 1) / corner);
    } else {
      gamma_.push_back((corner * gamma(a - l) + g_(a, a + 1) * delta(a - l) - coupling) / corner);
      delta_.push_back(g_(a + 1, a + 1) * delta(a - l) / corner);
    }
  }

  /// z^(k)_{a+k+1} = (z^(k+1)_{a+k+1} + (sigma_k - gamma_a) z^(k)_{a+k} - delta_{a-1} z^(k)_{a+k-1}) / delta_a, k < l,
  /// each in the place of its last term; z^(l)_{i+1} and u_{i+1} likewise from A z^(l)_i.
  void recur(SweepList<Types>& sweep, int i, int a) {
    const Scalar scale = 1 / delta(a), back = a > 0 ? -delta(a - 1) * scale : Scalar(0);
    for (int k = 0; k < depth_; ++k) {
      sweep.axpby(scale, z(k + 1, a + k + 1), back, z(k, a + k + 1));
      sweep.axpy((shift(k) - gamma(a)) * scale, z(k, a + k), z(k, a + k + 1));
    }
    const auto advance = [&](MultiVector& next, MultiVector& now, MultiVector* previous) {
      sweep.axpby(-gamma(a) * scale, now, scale, next);
      if (a > 0) sweep.axpy(back, *previous, next);
    };
    advance(top(i + 1), top(i), a > 0 ? &top(i - 1) : nullptr);
    if (preconditioned_) advance(u(i + 1), u(i), a > 0 ? &u(i - 1) : nullptr);
  }

  /// Starts the reduction of column c of G: (u_c, v_{c-l}) and (u_c, z^(l)_j), j = c-l+1 .. c.
  void startColumn(int c) {
    auto& batch = *batches_[slot(c)];
    auto& products = products_[slot(c)];
    batch.clear();
    products.clear();
    if (c >= depth_) products.push_back(batch.dot(u(c), z(0, c - depth_)));
    for (int j = std::max(0, c - depth_ + 1); j <= c; ++j) products.push_back(batch.dot(u(c), top(j)));
    pending_[slot(c)] = batch.start();
  }

  /// History, status tests, limits; a claim is checked on the true residual without leaving the pipeline, and only
  /// drift between recursion and residual ends it.
  std::optional<Ending> follow(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop,
                               double natural, double& perNorm) {
    system.record(stop.iterations(), stop.recursive());
    const bool goOn = system.boundary(stop.iterations(), stop.recursive(), {});
    const bool claimed = stop.reached(stop.recursive());
    const auto& replacement = options_.residualReplacement;
    const bool due = replacement.mode == ResidualReplacement::Mode::Every && stop.iterations() % replacement.every == 0;
    if (!claimed && goOn && !stop.exhausted() && !due) return std::nullopt;

    system.residual(b, x, *check_);
    if (preconditioned_) system.precondition(*check_, scratch_.get(), *checkPreconditioned_);
    auto& batch = *restart_;
    batch.clear();
    const auto rr = batch.norm2(*check_), rz = batch.dot(*check_, preconditioned_ ? *checkPreconditioned_ : *check_);
    system.reduce(batch);
    const Scalar square = batch[rr];
    const double computed = std::sqrt(static_cast<double>(batch[rz])), norm = system.norm(*check_, square, batch);
    if (stop.verified({norm, norm}, claimed)) return Ending::Over;
    if (!goOn) {
      stop.stop(StopReason::UserTest);
      return Ending::Over;
    }
    if (due) return Ending::Drifted;
    if (computed > driftFactor * natural) {
      if (replacement.mode == ResidualReplacement::Mode::Off) {
        stop.stop(StopReason::Stagnation);
        return Ending::Over;
      }
      system.tell(stop.iterations(), "residual replacement", "the recursion has left the computed residual behind");
      return Ending::Drifted;
    }
    perNorm = norm / natural;
    return std::nullopt;
  }

  /// Chebyshev points of the estimated spectrum of M^{-1} A.
  void chooseShifts(LinearSystem<Types>& system, StopTest& stop) {
    if (!bounds_) {
      bounds_ = estimate_(system, p_->getMap(), [&](const MultiVector& v, MultiVector& w) {
        system.act(Action::Operator, v, preconditioned_ ? *check_ : w);
        if (preconditioned_) system.precondition(*check_, scratch_.get(), w);
      });
      if (bounds_) {
        system.tell(stop.iterations(), "eigenvalue bounds",
                    std::to_string(bounds_->min) + " to " + std::to_string(bounds_->max));
      }
    }
    shifts_ = chebyshevPoints<Scalar>(bounds_.value_or(EigenvalueBounds{0, 0}), depth_);
  }

  /// The Lanczos matrix of the steps just made knows the spectrum better than the estimate did.
  void widenBounds() {
    if (!options_.eigenvalueBoundsAuto || !bounds_ || gamma_.size() < 8) return;
    const auto ritz = tridiagonalEigenvalues(gamma_, delta_);
    if (!ritz.empty() && std::isfinite(ritz.back())) bounds_->max = std::max(bounds_->max, 1.01 * ritz.back());
  }

  void normalizeFirst(LinearSystem<Types>& system, Scalar nu) {
    system.kernels().scale(1 / nu, top(0), top(0));
    if (preconditioned_) system.kernels().scale(1 / nu, u(0), u(0));
    system.kernels().scale(Scalar(1), top(0), z(0, 0));
    g_.reset(2 * depth_, 3 * depth_ + 2);
    g_.at(0, 0) = 1;
    gamma_.clear();
    delta_.clear();
  }

  void prepare(LinearSystem<Types>& system, const MultiVector& b) {
    const auto map = b.getMap();
    preconditioned_ = system.preconditioned();
    top_.resize(map, std::max(depth_, 3));
    if (preconditioned_) u_.resize(map, 3);
    auxiliary_.resize(std::max(auxiliary_.size(), static_cast<std::size_t>(depth_)));
    for (int k = 0; k < depth_; ++k) auxiliary_[static_cast<std::size_t>(k)].resize(map, 2);
    if (p_.is_null() || p_->getMap().get() != map.get()) {
      for (auto* v : {&p_, &check_}) *v = Teuchos::rcp(new MultiVector(map, 1));
      scratch_ = checkPreconditioned_ = Teuchos::null;
      batches_.clear();
      restart_ = std::make_unique<ReductionBatch<Types>>(map->getComm());
    }
    if (preconditioned_ && scratch_.is_null()) {
      for (auto* v : {&scratch_, &checkPreconditioned_}) *v = Teuchos::rcp(new MultiVector(map, 1));
    }
    while (static_cast<int>(batches_.size()) < depth_ + 1) {
      batches_.push_back(std::make_unique<ReductionBatch<Types>>(map->getComm()));
    }
    products_.resize(batches_.size());
    pending_.clear();
    pending_.resize(batches_.size());
  }

  MultiVector& z(int k, int j) { return k == depth_ ? top_[j] : auxiliary_[static_cast<std::size_t>(k)][j]; }
  MultiVector& top(int j) { return top_[j]; }
  MultiVector& u(int j) { return preconditioned_ ? u_[j] : top_[j]; }
  Scalar shift(int k) const { return shifts_[static_cast<std::size_t>(k)]; }
  Scalar gamma(int a) const { return gamma_[static_cast<std::size_t>(a)]; }
  Scalar delta(int a) const { return delta_[static_cast<std::size_t>(a)]; }
  std::size_t slot(int c) const { return static_cast<std::size_t>(c % (depth_ + 1)); }

  static constexpr Scalar rounding = 10 * std::numeric_limits<Scalar>::epsilon();
  static constexpr double driftFactor = 2;

  SolverOptions options_;
  int depth_ = 1, stamp_ = 0;
  bool preconditioned_ = false;
  std::optional<EigenvalueBounds> bounds_;
  std::vector<Scalar> shifts_, gamma_, delta_;
  BandedWindow<Scalar> g_;
  VectorRing<Types> top_, u_;
  std::vector<VectorRing<Types>> auxiliary_;
  Teuchos::RCP<MultiVector> p_, scratch_, check_, checkPreconditioned_;
  std::vector<std::unique_ptr<ReductionBatch<Types>>> batches_;
  std::vector<std::vector<typename ReductionBatch<Types>::Slot>> products_;
  std::vector<PendingReduction<Types>> pending_;
  std::unique_ptr<ReductionBatch<Types>> restart_;
  SpectrumEstimate<Types> estimate_;
  Agreement<Types> agreement_;
  Cg<Types> classical_;
};

}  // namespace capstan
