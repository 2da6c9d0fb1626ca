#pragma once
/// \file
/// BiCGStab with one reduction an iteration.
///
/// Source: [van der Vorst 1992], preconditioned from the right, in the letters of [Cools and Vanroose 2017], which the
/// pipelined form needs. Both products of an iteration, w = A r^ and z = A s^, come before its reduction, as in
/// communication-avoiding BiCGStab with s = 1 [Carson, Knight and Demmel 2013]; no product with the transpose is
/// needed, as in [Yang and Brent 2002]. A q^ is y = w - alpha z, and s = A p^ = w + beta (s - omega z): with s as the
/// product and w from it, y has the rounding of larger vectors, and real systems take 4 in a hundred iterations more.
/// q is a residual, too, that of x + alpha p^: where it meets the target, half an iteration is saved, which counts as
/// one. A claim that comes too early costs no more than its examination (1 A, 1 reduction): the cycle goes on.
///
/// `line k` beside a statement: docs/methods/bicgstab.md.
///
/// Cost of an iteration: 1 reduction of 14 numbers, 2 A, 2 M^{-1}, 2 sweeps (s; then x, r, s and p^). Where the solve
/// is expected to end in this iteration, or rounding has left less than half the digits of a product: 2 of 5 each, so
/// that half an iteration is saved where that is enough. Storage: 6 vectors (8 with a preconditioner, 9 with a left and
/// a right one), one more where a claim is examined, after a restart or for a guess that is not zero. Overlap: none.
///
/// The left column has the letters of [van der Vorst 1992].
///
/// | paper      | here             | shape               | meaning                                           |
/// |------------|------------------|---------------------|---------------------------------------------------|
/// | r, s       | r_               | n x 1, distributed  | residual; q = r - alpha s in its place            |
/// | r~_0       | shadow_          | n x 1, distributed  | shadow residual r*, fixed in a cycle              |
/// | y          | pHat_            | n x 1, distributed  | p^ = M^{-1} p, search direction of x              |
/// | v          | s_               | n x 1, distributed  | s = A p^, by recurrence                           |
/// |            | w_, z_           | n x 1, distributed  | w = A r^, z = A s^                                |
/// | t          | w_               | n x 1, distributed  | y = A q^ = w - alpha z in the place of w          |
/// | z          | hat(r)           | n x 1, distributed  | q^ = M^{-1} q, in the place of r^ = M^{-1} r      |
/// |            | hat(s)           | n x 1, distributed  | s^ = M^{-1} s; s without a preconditioner         |
/// | rho, alpha | rho, alpha       | scalars, replicated | (r*, r); rho / (r*, s)                            |
/// | omega      | omega            | scalar, replicated  | (q, y) / (y, y)                                   |

#include <memory>
#include <optional>

#include "belos_ext/convergence/expected_end.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/solvers/bicgstab/bicgstab_products.hpp"
#include "belos_ext/supervision/progress.hpp"

namespace capstan::tuning::bicgstab {
/// Cycles in a row that gained nothing, and so end BiCGStab. Chosen.
inline constexpr int mostFruitless = 2;
/// The part of a first residual that one iteration is expected to leave. Chosen: solves of one iteration have a good
/// preconditioner or a loose tolerance.
inline constexpr double firstIteration = 0.1;
}  // namespace capstan::tuning::bicgstab

namespace capstan {

template <class Types>
class BiCgStab : public Method<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Vector = Teuchos::RCP<MultiVector>;
  using Products = BiCgStabProducts<Types>;

  static constexpr Treatment treatment = [] {
    Treatment how;
    how.goesBack = how.examines = true;
    how.mostFruitless = tuning::bicgstab::mostFruitless;
    how.restart = EventKind::NewShadowResidual;
    return how;
  }();

  using Options = MethodOptions<FallbackOptions>;
  static Cost cost(const SolverOptions&, bool preconditioned) {
    // Read and written by the sweeps, and read by the products.
    if (preconditioned) return {1, 2, 2, 8, 48, 8 * (3 + 5 + 8 + 4 + 3 + 1)};
    return {1, 2, 2, 6, 46, 8 * (3 + 5 + 6 + 4)};
  }

  void configure(const Options&) { expected_.forget(); }
  void recall(const SolverState& state) override { expected_.recall(state.iterations); }
  void forget(const Options&) { expected_.forget(); }

  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>&) override {
    if (!batch_ || r_->getMap().get() != b.getMap().get())
      batch_ = std::make_unique<ReductionBatch<Types>>(b.getMap()->getComm());
    preconditioned_ = system.preconditioned();
    for (Vector* vector : {&r_, &shadow_, &pHat_, &s_, &w_, &z_}) vectorLike(b, *vector);
    for (Vector* vector : {&rHat_, &sHat_}) {
      if (preconditioned_) vectorLike(b, *vector);
    }
    if (system.hasLeft() && system.hasRight()) vectorLike(b, between_);
  }
  Vector& residual() final { return r_; }

  Ending cycle(Progress<Types>& progress, Start) final {
    auto& system = progress.system();
    if (progress.steps() == 0 && progress.stop().iterations() == 0) system.startUpEnds();
    const Scalar square = progress.residual().square();
    // A square that may have underflowed is no product to divide by.
    const Scalar least = static_cast<Scalar>(progress.x().getGlobalLength()) * std::numeric_limits<Scalar>::min();
    if (!(square > least)) return Ending::Breakdown;
    system.kernels().axpby(Scalar(1), *r_, Scalar(0), *shadow_);  // line 1: r* = r
    length_ = std::sqrt(square);
    expected_.begin(progress.stop().iterations(), static_cast<double>(length_));
    return iterate(progress);
  }

 protected:
  /// The coefficients of an iteration.
  struct Step {
    Scalar alpha = 0, omega = 0;
    Scalar beta = 0;        ///< p^ = r^ + beta (p^ - omega s^) comes next
    Scalar next = 0;        ///< (r*, r) of the next residual
    bool last = false;      ///< none can come
    bool halfMade = false;  ///< q, q^ and, in the place of w, y are there
    PredictedNorm predicted{0, false};
  };

  /// Iterates from r_, which is b - A x and r*, until something ends the cycle. Collective.
  virtual Ending iterate(Progress<Types>& progress) { return goOn(progress, Step()); }

  /// Goes on where an iteration has ended: from x, r, and the p^, s, s^, z of that iteration. Collective.
  Ending goOn(Progress<Types>& progress, Step step) {
    auto& system = progress.system();
    MultiVector &r = *r_, &s = *s_, &z = *z_, &w = *w_;
    SweepList<Types> start(r.getLocalLength());
    startNext(start, step);
    system.kernels().sweep(start);
    for (;;) {  // line 2
      if (preconditioned_) {
        hatOf(system, r, rHat_);
        SweepList<Types> direction(r.getLocalLength());
        turn(direction, step);  // line 3
        system.kernels().sweep(direction);
      }
      system.act(Action::Operator, hat(r, rHat_), w);      // line 3
      system.kernels().axpby(Scalar(1), w, step.beta, s);  // line 4
      const bool ends = endIsNear(progress);
      if (ends) {
        if (const auto ending = takeFirst(progress, step)) return *ending;
      }
      hatOf(system, s, sHat_);
      system.act(Action::Operator, hat(s, sHat_), z);  // line 4
      if (!ends) {
        enterProducts();
        progress.takeMeasure();
        system.reduce(*batch_);  // line 5
        progress.tookMeasure(std::sqrt(static_cast<double>(products_.first(*batch_).rr)));
      }
      if (const auto ending = ends ? takeSecond(system, step) : takeAll(system, step)) return *ending;  // lines 6, 7, 9
      makeStep(progress, step);                                                                         // lines 6 to 8
      if (const auto ending = follow(progress, step)) return *ending;
    }
  }

  void enterProducts() {
    batch_->clear();
    products_.enter(*batch_, *shadow_, *r_, *w_, *s_, *z_);
  }

  /// alpha, omega and beta from the products that batch_ has. Nothing: they can be used. Collective where rounding has
  /// taken too much of them.
  std::optional<Ending> takeAll(LinearSystem<Types>& system, Step& step) {
    if (const auto ending = takeAlpha(products_.first(*batch_), step)) return ending;
    const auto second = products_.second(*batch_, step.alpha);
    return second ? takeOmega(*second, step) : takeSecond(system, step);
  }

  /// The next residual has been made. Nothing: go on. Collective.
  std::optional<Ending> follow(Progress<Types>& progress, const Step& step) {
    if (const auto ending = progress.follow(step.predicted)) return *ending;
    const double norm = progress.recursive();
    expected_.observe(norm);
    const bool vanishes = step.last || isRounding(step.next, length_ * static_cast<Scalar>(norm));
    return vanishes ? std::optional(Ending::Breakdown) : std::nullopt;
  }

  /// hat = M^{-1} vector, where there is a preconditioner.
  void hatOf(LinearSystem<Types>& system, const MultiVector& vector, const Vector& hat) {
    if (preconditioned_) system.precondition(vector, between_.get(), *hat);
  }
  MultiVector& hat(MultiVector& vector, const Vector& hat) { return preconditioned_ ? *hat : vector; }

  /// q = r - alpha s, q^ = r^ - alpha s^ in the places of r and r^.
  void half(SweepList<Types>& sweep, Scalar alpha) {
    sweep.axpy(-alpha, *s_, *r_);
    if (preconditioned_) sweep.axpy(-alpha, *sHat_, *rHat_);
  }

  bool preconditioned_ = false;
  Scalar length_ = 0, sigma_ = 0;  ///< || r* ||, (r*, s)
  Vector r_, shadow_, pHat_, s_, w_, z_, rHat_, sHat_;
  std::unique_ptr<ReductionBatch<Types>> batch_;

 private:
  /// Whether the iteration is expected to be the last one: half of it may be enough.
  bool endIsNear(Progress<Types>& progress) {
    const double target = progress.stop().target(), first = tuning::bicgstab::firstIteration;
    return expected_.remaining(target) == 1 ||
           (progress.steps() == 0 && first * static_cast<double>(length_) <= target);
  }

  std::optional<Ending> takeAlpha(const typename Products::First& of, Step& step) {
    step.halfMade = false;
    rho_ = of.rho;
    sigma_ = of.sigma;
    if (!std::isfinite(sigma_)) return Ending::NotFinite;
    if (isRounding(sigma_, length_ * std::sqrt(of.ss))) return Ending::Breakdown;
    step.alpha = rho_ / sigma_;  // line 6
    return std::nullopt;
  }

  std::optional<Ending> takeOmega(const typename Products::Second& of, Step& step) {
    step.omega = of.yy > 0 ? of.qy / of.yy : Scalar(0);  // line 7
    if (!std::isfinite(step.omega) || !std::isfinite(step.alpha)) return Ending::NotFinite;
    step.next = of.ofQ - step.omega * of.ofY;  // line 9
    const bool vanishes = isRounding(of.qy, std::sqrt(of.yy) * std::sqrt(of.qq));
    const Scalar beta = vanishes ? Scalar(0) : (step.next / rho_) * (step.alpha / step.omega);  // line 9
    step.last = vanishes || !std::isfinite(beta);
    step.beta = step.last ? Scalar(0) : beta;
    step.predicted = predictNorm(of.qq, of.qy, of.yy, step.omega);
    // (q, q) has half its digits, or more.
    const Scalar square = static_cast<Scalar>(step.predicted.norm * step.predicted.norm);
    if (!(square > std::sqrt(std::numeric_limits<Scalar>::epsilon()) * of.qq)) step.predicted.cancelled = true;
    return std::nullopt;
  }

  /// The first half of an iteration, which may be enough. Nothing: go on.
  std::optional<Ending> takeFirst(Progress<Types>& progress, Step& step) {
    auto& kernels = progress.system().kernels();
    const MultiVector &r = *r_, &shadow = *shadow_, &s = *s_;
    const auto& batch = *batch_;
    batch_->clear();
    const auto [rho, sigma, rr, rs, ss] = batch_->dots({{shadow, r}, {shadow, s}, {r, r}, {r, s}, {s, s}});
    progress.takeMeasure();
    progress.system().reduce(*batch_);
    progress.tookMeasure(std::sqrt(static_cast<double>(batch[rr])));
    if (const auto ending = takeAlpha({batch[rho], batch[sigma], batch[rr], batch[rs], batch[ss]}, step)) return ending;
    const auto ofQ = predictNorm(batch[rr], batch[rs], batch[ss], step.alpha);
    if (ofQ.cancelled || !progress.stop().reached(ofQ.norm, 1)) return std::nullopt;
    kernels.axpby(step.alpha, *pHat_, Scalar(1), progress.x());
    if (const auto ending = progress.followHalf(ofQ)) return ending;
    kernels.axpby(-step.alpha, *pHat_, Scalar(1), progress.x());  // it was too early
    return std::nullopt;
  }

  /// The second half, from q and y themselves. One sweep, one reduction.
  std::optional<Ending> takeSecond(LinearSystem<Types>& system, Step& step) {
    const MultiVector &q = *r_, &shadow = *shadow_, &y = *w_;
    const auto& batch = *batch_;
    SweepList<Types> sweep(q.getLocalLength());
    half(sweep, step.alpha);            // line 6
    sweep.axpy(-step.alpha, *z_, *w_);  // line 6
    system.kernels().sweep(sweep);
    step.halfMade = true;
    batch_->clear();
    const auto [qq, qy, yy, ofQ, ofY] = batch_->dots({{q, q}, {q, y}, {y, y}, {shadow, q}, {shadow, y}});
    system.reduce(*batch_);
    return takeOmega({batch[qq], batch[qy], batch[yy], batch[ofQ], batch[ofY]}, step);
  }

  /// x += alpha p^ + omega q^, r = q - omega y, and what comes next begins. One sweep.
  void makeStep(Progress<Types>& progress, const Step& step) {
    SweepList<Types> sweep(r_->getLocalLength());
    if (!step.halfMade) half(sweep, step.alpha);                        // line 6
    sweep.axpy(step.alpha, *pHat_, progress.x());                       // line 7
    sweep.axpy(step.omega, hat(*r_, rHat_), progress.x());              // line 7
    sweep.axpy(-step.omega, *w_, *r_);                                  // line 8
    if (!step.halfMade) sweep.axpy(step.alpha * step.omega, *z_, *r_);  // line 8
    startNext(sweep, step);
    progress.system().kernels().sweep(sweep);
  }

  /// s - omega z in the place of s, and p^ where there is no M^{-1} r to wait for.
  void startNext(SweepList<Types>& sweep, const Step& step) {
    if (!preconditioned_) turn(sweep, step);                        // line 3
    if (step.beta != Scalar(0)) sweep.axpy(-step.omega, *z_, *s_);  // line 4
  }

  /// p^ = r^ + beta (p^ - omega s^).
  void turn(SweepList<Types>& sweep, const Step& step) {
    if (step.beta != Scalar(0)) sweep.axpy(-step.omega, hat(*s_, sHat_), *pHat_);  // line 3
    sweep.axpby(Scalar(1), hat(*r_, rHat_), step.beta, *pHat_);                    // line 3
  }

  Scalar rho_ = 0;  ///< (r*, r)
  Products products_;
  ExpectedEnd expected_;
  Vector between_;
};

}  // namespace capstan
