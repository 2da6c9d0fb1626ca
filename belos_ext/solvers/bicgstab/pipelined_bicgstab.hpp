#pragma once
/// \file
/// Pipelined BiCGStab: the one reduction of an iteration is hidden behind an application of A and M^{-1}.
///
/// Source: [Cools and Vanroose 2017], preconditioned p-BiCGStab, whose two reductions are one here, as CAPSTAN BICGSTAB
/// has it: all products that alpha and omega need are known before v. Products with A and M^{-1} are taken of w and z,
/// and the vectors BiCGStab needs follow by recurrence; a hat marks M^{-1} times a vector.
/// `line k` beside a statement: docs/methods/pipelined-bicgstab.md.
///
/// Cost of an iteration: 1 nonblocking reduction of 14 numbers, 2 A, 2 M^{-1}, 2 sweeps. Overlap: behind M^{-1} z and
/// A. Where rounding has left less than half the digits of a product: one more, blocking. Start of a cycle: 1 A, 1
/// M^{-1}. Storage: 8 vectors (12 with a preconditioner, 13 with a left and a right one), one more where a claim is
/// examined, after a restart or for a guess that is not zero.
///
/// | paper         | here               | shape               | meaning                                         |
/// |---------------|--------------------|---------------------|-------------------------------------------------|
/// | r_i, q_i      | r                  | n x 1, distributed  | residual; q = r - alpha s in its place          |
/// | w_i, y_i      | w_                 | n x 1, distributed  | A r^; y = w - alpha z in its place              |
/// | t_i           | t_                 | n x 1, distributed  | A w^                                            |
/// | p^_i          | pHat_              | n x 1, distributed  | search direction of x: M^{-1} p                 |
/// | s_i, z_i, v_i | s_, z_, v_         | n x 1, distributed  | A p^, A s^, A z^                                |
/// | r^, w^, s^,   | hat(r), hat(w),    | n x 1, distributed  | M^{-1} r, ...; the vectors themselves without a |
/// | z^            | hat(s), hat(z)     |                     | preconditioner; q^ in the place of r^           |
/// | r_0           | shadow             | n x 1, distributed  | shadow residual r*                              |
/// | alpha, beta,  | alpha, beta, omega | scalars, replicated | coefficients of p, of the next p, and of q      |
/// | omega         |                    |                     |                                                 |
///
/// The recurrences let rounding grow: every 50 iterations, and each time the residual has fallen by eight digits, all
/// vectors but p^ are computed anew (5 A, 3 M^{-1}); a claim that the computed residual does not bear out starts a new
/// cycle from it. After 50 iterations (r*, s) is compared with what the recurrences had made of it (1 reduction). Where
/// half its digits are wrong, BiCgStab goes on from the same vectors for the rest of the solve: alpha, which makes r
/// orthogonal to r*, comes from that product, and half the digits are what two-sided Lanczos recurrences need [Day
/// 1997].

#include "belos_ext/solvers/bicgstab/bicgstab.hpp"
#include "tpetra_ext/reductions/pending_reduction.hpp"

namespace capstan::tuning::bicgstab {
/// Iterations after which the pipelined recurrences are begun anew from x and p^, and judged. Chosen: that takes 5 A, 5
/// in a hundred of what the iterations take.
inline constexpr int mostSteps = 50;
/// Error of (r*, s), in sqrt(eps) of it, with which the pipeline is given up. Derived: half the digits, with which
/// two-sided Lanczos recurrences still compute their projection of A to full accuracy [Day 1997].
inline constexpr double lostDigits = 1;
}  // namespace capstan::tuning::bicgstab

namespace capstan {

template <class Types>
class PipelinedBiCgStab final : public BiCgStab<Types> {
 public:
  using Base = BiCgStab<Types>;
  using typename Base::MultiVector;
  using typename Base::Scalar;
  using typename Base::Step;
  using typename Base::Vector;

  using Options = MethodOptions<FallbackOptions, HiddenOptions>;
  static Cost cost(const SolverOptions&, bool preconditioned) {
    // Read and written by the first sweep, read by the products, read and written by the second sweep.
    if (preconditioned) return {1, 2, 2, 12, 64, 8 * (11 + 4 + 5 + 11 + 4), 2};
    return {1, 2, 2, 8, 54, 8 * (7 + 3 + 5 + 8 + 3), 2};
  }

  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>& judged) override {
    Base::prepare(system, b, judged);
    for (Vector* vector : {&v_, &t_}) vectorLike(b, *vector);
    for (Vector* vector : {&wHat_, &zHat_}) {
      if (preconditioned_) vectorLike(b, *vector);
    }
    trusted_ = true;
  }

 private:
  using Base::batch_, Base::hat, Base::hatOf, Base::length_, Base::pHat_, Base::preconditioned_, Base::rHat_, Base::s_,
      Base::sHat_, Base::w_, Base::z_;
  Ending iterate(Progress<Types>& progress) override {
    if (!trusted_) return Base::iterate(progress);
    auto& system = progress.system();
    MultiVector& r = *this->r_;
    hatOf(system, r, rHat_);
    system.act(Action::Operator, hat(r, rHat_), *w_);  // line 1
    peak_ = static_cast<double>(length_);
    sinceReplacement_ = 0;
    for (Step step;;) {                                    // line 2
      hatOf(system, *w_, wHat_);                           // line 3
      system.act(Action::Operator, hat(*w_, wHat_), *t_);  // line 3: t = A w^
      directions(system, step);                            // lines 4, 5: p^, s, s^, z
      this->enterProducts();
      PendingReduction<Types> products = system.start(*batch_);             // line 6
      hatOf(system, *z_, zHat_);                                            // line 6
      system.act(Action::Operator, hat(*z_, zHat_), *v_);                   // line 6: v = A M^{-1} z
      products.wait();                                                      // line 6
      if (const auto ending = this->takeAll(system, step)) return *ending;  // lines 7, 8, 11
      makeStep(progress, step);                                             // lines 7 to 10
      if (const auto ending = this->follow(progress, step)) return *ending;
      if (!replacementIsDue(progress.recursive())) continue;
      replace(system, progress.b(), progress.x(), progress.stop());
      if (ranLong_ && haveLostDigits(system, progress.stop())) return this->goOn(progress, step);
    }
  }

  /// Whether the residual has fallen so far that what recurrences make of it has lost half its digits, or they have run
  /// long. Only these are judged: a fall takes digits of the best.
  bool replacementIsDue(double norm) {
    peak_ = std::max(peak_, norm);
    const bool fallen = norm <= std::sqrt(static_cast<double>(std::numeric_limits<Scalar>::epsilon())) * peak_;
    ranLong_ = ++sinceReplacement_ >= tuning::bicgstab::mostSteps;
    if (!fallen && !ranLong_) return false;
    sinceReplacement_ = 0;
    peak_ = norm;
    return true;
  }

  /// Whether rounding had taken half the digits of sigma, which alpha came from, before replace(): then the pipeline is
  /// not trusted any more in this solve. 1 reduction.
  bool haveLostDigits(LinearSystem<Types>& system, const StopTest& stop) {
    const Scalar recurred = this->sigma_;
    batch_->clear();
    const auto ofS = batch_->dot(*this->shadow_, *s_);
    system.reduce(*batch_);
    const Scalar computed = (*batch_)[ofS];
    const Scalar bound =
        static_cast<Scalar>(tuning::bicgstab::lostDigits) * std::sqrt(std::numeric_limits<Scalar>::epsilon());
    trusted_ = std::abs(recurred - computed) <= bound * std::abs(computed);
    if (trusted_) return false;
    system.tell(stop.iterations(), EventKind::RecurrencesLost);
    return true;
  }

  /// r, r^, w from x, and s, s^, z, z^, v from p^: what recurrences have made of them is forgotten, the direction is
  /// not. 5 A, 3 M^{-1}.
  void replace(LinearSystem<Types>& system, const MultiVector& b, const MultiVector& x, StopTest& stop) {
    system.tell(stop.iterations(), EventKind::RecurrencesReplaced);
    MultiVector& r = *this->r_;
    system.residual(b, x, r);
    hatOf(system, r, rHat_);
    system.act(Action::Operator, hat(r, rHat_), *w_);
    system.act(Action::Operator, *pHat_, *s_);
    hatOf(system, *s_, sHat_);
    system.act(Action::Operator, hat(*s_, sHat_), *z_);
    hatOf(system, *z_, zHat_);
    system.act(Action::Operator, hat(*z_, zHat_), *v_);
  }

  /// p^ = r^ + beta (p^ - omega s^), s = w + beta (s - omega z), s^ = w^ + beta (s^ - omega z^), z = t + beta (z -
  /// omega v). One sweep.
  void directions(LinearSystem<Types>& system, const Step& step) {
    MultiVector& r = *this->r_;
    SweepList<Types> sweep(r.getLocalLength());
    const auto turn = [&](const MultiVector& onto, const MultiVector& away, MultiVector& direction) {
      if (step.beta != Scalar(0)) sweep.axpy(-step.omega, away, direction);
      sweep.axpby(Scalar(1), onto, step.beta, direction);
    };
    turn(hat(r, rHat_), hat(*s_, sHat_), *pHat_);       // line 4
    if (preconditioned_) turn(*wHat_, *zHat_, *sHat_);  // line 5
    turn(*w_, *z_, *s_);                                // line 4
    turn(*t_, *v_, *z_);                                // line 5
    system.kernels().sweep(sweep);
  }

  /// x += alpha p^ + omega q^, r = q - omega y, r^ = q^ - omega (w^ - alpha z^), w = y - omega (t - alpha v). One
  /// sweep.
  void makeStep(Progress<Types>& progress, const Step& step) {
    const auto alpha = step.alpha, omega = step.omega;
    MultiVector &r = *this->r_, &x = progress.x();
    SweepList<Types> sweep(r.getLocalLength());
    if (!step.halfMade) {
      this->half(sweep, alpha);      // line 8
      sweep.axpy(-alpha, *z_, *w_);  // line 8
    }
    sweep.axpy(alpha, *pHat_, x);         // line 9
    sweep.axpy(omega, hat(r, rHat_), x);  // line 9
    sweep.axpy(-omega, *w_, r);           // line 10
    if (preconditioned_) {
      sweep.axpy(-omega, *wHat_, *rHat_);         // line 10
      sweep.axpy(alpha * omega, *zHat_, *rHat_);  // line 10
    }
    sweep.axpy(-omega, *t_, *w_);         // line 10
    sweep.axpy(alpha * omega, *v_, *w_);  // line 10
    progress.system().kernels().sweep(sweep);
  }

  bool trusted_ = true;       ///< the pipeline's recurrences, in this solve
  bool ranLong_ = false;      ///< the recurrences that are replaced
  int sinceReplacement_ = 0;  ///< iterations
  double peak_ = 0;           ///< the largest residual since the recurrences began, or were replaced
  Vector v_, t_, wHat_, zHat_;
};

}  // namespace capstan
