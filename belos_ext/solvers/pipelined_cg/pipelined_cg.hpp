#pragma once
/// \file
/// Deep pipelined conjugate gradients, p(l)-CG, any depth l >= 1.
///
/// Source: [deep-pipelined-cg], algorithm 1, with the stable multi-basis recurrences; `line k` at the end of a
/// statement is its line k.
///
/// Cost of an iteration: 1 nonblocking reduction of l + 3 numbers (l + 1 for G, |q|^2 and (q, M p); one more with a
/// preconditioner, the 2-norm of the residual), 1 fence (where it starts), 1 A, 1 M^{-1}, all recurrences in one sweep
/// over 2 l + 5 vectors (2 l + 3 more with a preconditioner). Overlap: the reduction started at the end of iteration i
/// - l is waited for in iteration i, after l applications of A and M^{-1} and l - 1 sweeps. Storage: 2 l + max(l, 3) +
/// 2 vectors beyond x and b, which is max(4 l + 1, 7) for l <= 2 and less beyond; 2 l + 3 more with a preconditioner (2
/// l + 4 with a left and a right one); 1 more from the first warm restart on; 4 or 5 more once CG takes over; 17 more
/// while bounds of the spectrum are estimated, with 16 A, 16 M^{-1} and 3 reductions. Where M costs more than a
/// diagonal they are learnt instead: 16 iterations with l = 1 and a shift that the first product shows (1 reduction),
/// then a warm restart, which goes to the depth asked for. There, too, no product is made beyond the end that earlier
/// solves foretell, and the last one without M^{-1}: a solve of n iterations that ends there takes n A (2 more for
/// the first and the last residual) and n M^{-1}.
///
/// | paper         | here         | shape               | meaning                                                      |
/// |---------------|--------------|---------------------|--------------------------------------------------------------|
/// | v_j = z^(0)_j | q_j: z(0, j) | n x 1, distributed  | Lanczos vectors, M-orthonormal                               |
/// | z^(k)_j       | z(k, j)      | n x 1, distributed  | k-th auxiliary basis                                         |
/// | z^(l)_j       | top(j)       | n x 1, distributed  | the basis that runs l products ahead                         |
/// | u_j           | u(j)         | n x 1, distributed  | M z^(l)_j (z^(l)_j itself without a preconditioner)          |
/// | p             | p_           | n x 1, distributed  | search direction of x                                        |
/// | -             | kept_        | n x 1, distributed  | s = A p of the direction kept over a restart                 |
/// | g, gamma,     | lanczos_     | band, scalars,      | Z^(l) = Q G; diagonal and off-diagonal of the Lanczos matrix |
/// | delta         |              | replicated          | T                                                            |
/// | eta, zeta     | eta_, zeta_  | scalars, replicated | LU factors of T, and the M^{-1}-norm of the residual         |
///
/// Restarts are warm. A cycle that ends early leaves x_a, q_a and p_{a-1}; the next one runs on the space conjugate to
/// p_{a-1}: algorithm 1 with A - s s^T / (p, s) for A, s = A p_{a-1}, whose Lanczos vectors are those that CG would go
/// on with. It differs from A on z_0 .. z_{2l} alone, and (s, z_i) travels with the products of z_i, waited for early.
/// What q_a has lost of being orthogonal to M p_{a-1} is mended first: x_a goes to the least error along p_{a-1}, and
/// its residual with it.
/// Cost of a restart: 2 blocking reductions, 1 A, 1 M^{-1} (1 A more where the residual is computed anew), l A to fill.
///
/// Where M is negative definite, products are those with -M; where M^{-1} A is, so are T and the shifts: A and M may be
/// so alone or together, and the steps are those with -A, or -M.
///
/// How long a pipeline is trusted: orthogonality_watch.hpp. What follows one that is not: pipeline_restarts.hpp.

#include "belos_ext/solvers/pipelined_cg/pipeline_restarts.hpp"

namespace capstan {

template <class Types>
class PipelinedCg final : public PipelineRestarts<Types> {
 public:
  using Base = PipelineRestarts<Types>;
  using typename Base::MultiVector;
  using typename Base::Scalar;

  /// A sweep makes l + 1 three-term recurrences (l + 2 with a preconditioner), p and x; then come l + 3 products.
  static Cost cost(const SolverOptions& options, bool preconditioned) {
    const double l = options.pipelineDepth, more = preconditioned ? 1 : 0;
    const double vectors = 2 * l + std::max(l, 3.0) + 2 + more * (2 * l + 3);
    const double recurrences = (l + 1) * (1 + more), read = 2 * l + 5 + more * (2 * l + 3);
    const double moved = read + recurrences + 2 + (l + 2 + 2 * more);  // the last: vectors in products
    return {1, 1, 1, vectors, 5 * recurrences + 5 + 2 * (l + 3 + more), 8 * moved, l + 1};
  }

 private:
  using Base::a_, Base::bare_, Base::bases_, Base::bounds_, Base::depth_, Base::expected_, Base::kept_, Base::lanczos_,
      Base::nu_, Base::ofM_, Base::ofSpectrum_, Base::p_, Base::pending_, Base::perNorm_, Base::preconditioned_,
      Base::products_, Base::restart_, Base::scratch_, Base::zeta_;
  using Base::l, Base::over, Base::replaces, Base::top, Base::u, Base::z;
  using typename Base::Halt;

  /// The loop of algorithm 1, from u_0 and z_0 before they are normalised; x is the iterate x_a, p_ the direction
  /// p_{a-1} that led to it, when it ends early.
  Halt iterate(Progress<Types>& progress) override {
    auto& system = progress.system();
    auto& x = progress.x();
    watch_.begin(std::numeric_limits<Scalar>::epsilon(), l());
    bases_.begin(system, 1 / nu_);  // line 1; u_0 = u_0 / nu, too
    bare_ = false;
    for (int i = 0, last = ExpectedEnd::unknown;; ++i) {  // line 2
      if (last == ExpectedEnd::unknown) last = lastProduct(system, progress.stop(), i);
      if (i < last) expand(system, progress.stop().iterations(), i);  // lines 3 to 7
      const int a = a_ = i - l();
      if (a == last) return drain(progress);
      if (a >= 0) {                                                       // line 8
        const Scalar rest = finishColumn(a + 1, bare_ && a + 1 == last);  // lines 9 to 18; its reduction was started
        const Scalar before = a > 0 ? lanczos_.delta(a - 1) : Scalar(0);  // l iterations ago
        const Scalar lambda = a > 0 ? before / eta_ : Scalar(0);          // line 27
        const Scalar eta = lanczos_.gamma(a) - lambda * before;           // lines 25, 28
        if (a == 0) ofSpectrum_ = eta < 0 ? -1 : 1;
        if (a == 0) zeta_ = nu_;  // line 25
        if (a == 0 || !watch_.lost()) system.observe(static_cast<double>(eta), static_cast<double>(lambda * lambda));
        if (!(ofSpectrum_ * eta > 0) || !std::isfinite(eta) || !std::isfinite(rest)) return Halt::Breakdown;
        SweepList<Types> sweep(x.getLocalLength());
        if (a > 0) sweep.axpy(zeta_, *p_, x);  // line 31: x_a = x_{a-1} + zeta p
        eta_ = eta;
        if (a > 0) zeta_ = -lambda * zeta_;  // line 29
        const bool exhausted = std::abs(rest) <= std::sqrt(std::numeric_limits<Scalar>::epsilon());
        if (const auto halt = judge(progress.stop(), rest, exhausted); halt != Halt::None) {
          system.kernels().sweep(sweep);
          return over(progress, residualNorm()) && !replaces() ? Halt::Told : halt;
        }
        sweep.axpby(1 / eta, z(0, a), -(a > 0 ? before : kept_.onto()) / eta, *p_);  // lines 30, 25: p_a
        if (!(rest > 0)) return lastStep(progress, sweep);                           // line 11
        if (!bare_ || a + 1 < last) bases_.recur(sweep, a, lanczos_, last, bare_);   // lines 19 to 21
        system.kernels().sweep(sweep);
      }
      if (i < last) {
        const auto* s = i + 1 <= 2 * l() ? kept_.image() : nullptr;
        products_.start(system, i + 1, bases_, *p_, s, bare_);  // line 23
      }
      pending_ = a > 0;
      if (a > 0 && over(progress, residualNorm())) return Halt::Told;  // line 32
      pending_ = false;
    }
  }

  /// Whether the cycle ends with x_a, before p_a is made of column a + 1. \param rest of |z_{a+1}|^2
  Halt judge(const StopTest& stop, Scalar rest, bool exhausted) {
    const double left = a_ <= tuning::pipelined_cg::fewIterations ? ratioOr(stop.target(), residualNorm(), 0.0) : 0;
    if (a_ > 0 && (watch_.lost(left) || (!(rest > 0) && !exhausted))) {
      return rest > 0 ? Halt::Skew : Halt::Breakdown;  // line 11
    }
    if (!depth_.learns() || a_ != tuning::spectrum::steps) return Halt::None;
    if (watch_.good()) return Halt::Learnt;
    depth_.stays();
    return Halt::None;
  }

  /// One product further. The first 2 l + 1 of a warm restart stay conjugate to the direction kept.
  void expand(LinearSystem<Types>& system, int iteration, int i) {
    system.act(Action::Operator, top(i), u(i + 1));  // line 3
    if (i == 0 && kept_.image() != nullptr) kept_.remove(system, u(1));
    if (lanczos_.depth() == 0) return expandRoughly(system, iteration);
    if (i > 0 && i <= 2 * l() && kept_.image() != nullptr) {
      products_.wait(i);
      kept_.remove(system, products_.along(i), u(i + 1));
    }
    if (i < l()) system.kernels().axpby(-lanczos_.shift(i), u(i), Scalar(1), u(i + 1));  // line 3
    if (bare_) return;
    if (preconditioned_) system.precondition(u(i + 1), scratch_.get(), top(i + 1));  // line 4
    if (i + 1 < l()) bases_.copyDown(system, i + 1);                                 // lines 5 to 7
  }

  /// After the first product of l = 1 where no shifts are known, with a preconditioner: it shows the mean and the
  /// spread of the spectrum as q_0 sees it, (q_0, A q_0) and (A q_0, M^{-1} A q_0), and one shift does within them. 1
  /// reduction.
  void expandRoughly(LinearSystem<Types>& system, int iteration) {
    system.precondition(u(1), scratch_.get(), top(1));
    auto& batch = *restart_;
    batch.clear();
    const auto mean = batch.dot(u(1), top(0)), square = batch.dot(u(1), top(1));
    system.reduce(batch);
    bounds_.takeRough(system, static_cast<double>(ofM_ * batch[mean]), static_cast<double>(ofM_ * batch[square]),
                      Spread::Any, iteration);
    lanczos_.reset(chebyshevPoints<Scalar>(this->bounds(system, iteration), l()));
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
  Halt drain(Progress<Types>& progress) {
    progress.system().kernels().axpby(zeta_, *p_, Scalar(1), progress.x());
    if (!bare_) zeta_ = -lanczos_.delta(a_ - 1) / eta_ * zeta_;
    const bool ends = bare_ ? this->overByComputed(progress) : over(progress, residualNorm());
    return ends && !replaces() ? Halt::Told : Halt::Drained;
  }

  /// Column c of G and column c - 1 of T. Returns what is left of |z_c|^2; see PipelinedLanczos::complete().
  /// \param bare z_c is not there, and what is left of it is not known: all of it
  Scalar finishColumn(int c, bool bare) {
    products_.wait(c);  // line 9: those of line 23, l iterations ago
    if (c >= l()) {
      const Scalar onto = c > l() ? lanczos_.delta(c - l() - 1) * products_.onto(c) : Scalar(0);
      watch_.observe(static_cast<double>(products_.square(c)), static_cast<double>(onto));
      const auto square = static_cast<double>(products_.residual(c));
      if (preconditioned_ && square > 0) perNorm_ = std::sqrt(square);  // else by rounding
    }
    if (!bare) return lanczos_.complete(c, products_.products(c));  // lines 9, 10, 12 to 18
    lanczos_.end(c, products_.products(c));
    return 1;
  }

  /// || b - A x_a || by the recurrences; with a preconditioner the ratio of the norms is that of x_{a-l+1}.
  double residualNorm() const { return std::abs(static_cast<double>(zeta_)) * perNorm_; }

  /// The Krylov space is exhausted: the step along p_a is the last, and good.
  Halt lastStep(Progress<Types>& progress, SweepList<Types>& sweep) {
    progress.system().kernels().sweep(sweep);
    if (a_ > 0 && over(progress, residualNorm()) && !replaces()) return Halt::Told;
    progress.system().kernels().axpby(zeta_, *p_, Scalar(1), progress.x());
    return over(progress, residualNorm()) && !replaces() ? Halt::Told : Halt::Exhausted;
  }

  OrthogonalityWatch watch_;
  Scalar eta_ = 0;
};

}  // namespace capstan
