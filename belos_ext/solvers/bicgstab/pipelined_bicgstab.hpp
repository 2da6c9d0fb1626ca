#pragma once
/// \file
/// Pipelined BiCGStab: each of the two reductions of an iteration is hidden behind an application of A and M^{-1}.
///
/// Source: [Cools and Vanroose 2017], preconditioned p-BiCGStab. Products with A and
/// M^{-1} are taken of w and z, and the vectors BiCGStab needs follow by recurrence; a hat marks M^{-1} times a vector.
/// `line k` beside a statement: docs/methods/pipelined-bicgstab.md.
///
/// Cost of an iteration: 2 nonblocking reductions of 4 and 5 numbers, 2 A, 2 M^{-1}, 2 sweeps. Overlap: (q, y), (y, y)
/// and the like behind M^{-1} z and A; (r*, r) and its like behind M^{-1} w and A. Start of a cycle: 2 A, 2 M^{-1} and
/// a blocking reduction. Storage: 8 vectors (12 with a preconditioner, 13 with a left and a right one), one more where
/// a claim is examined, after a restart or for a guess that is not zero.
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
/// cycle from it. After 50 iterations (r*, s) is compared with what the recurrences had made of it. Where half its
/// digits are wrong, UnpipelinedBiCgStab goes on from the same vectors for the rest of the solve: alpha, which makes r
/// orthogonal to r*, comes from that product, and half the digits are what two-sided Lanczos recurrences need [Day
/// 1997].

#include "belos_ext/solvers/bicgstab/unpipelined_bicgstab.hpp"
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
class PipelinedBiCgStab final : public UnpipelinedBiCgStab<Types> {
 public:
  using Base = UnpipelinedBiCgStab<Types>;
  using typename Base::MultiVector;
  using typename Base::Scalar;
  using typename Base::Vector;

  using Options = MethodOptions<FallbackOptions, HiddenOptions>;
  static Cost cost(const SolverOptions&, bool preconditioned) {
    // Read and written by the first sweep, read by its products, and the same of the second.
    if (preconditioned) return {2, 2, 2, 12, 54, 8 * (11 + 7 + 3 + 9 + 4 + 5), 2};
    return {2, 2, 2, 8, 44, 8 * (7 + 5 + 3 + 6 + 3 + 5), 2};
  }

 private:
  using Base::hat, Base::hatOf, Base::pHat_, Base::preconditioned_, Base::rHat_, Base::s_, Base::sHat_, Base::w_,
      Base::wHat_;
  Ending iterate(Progress<Types>& progress) override {
    if (!trusted_) return this->unpipelined(progress);
    auto& system = progress.system();
    auto& kernels = system.kernels();
    MultiVector &r = *this->r_, &shadow = *this->shadow_;
    kernels.axpby(Scalar(1), r, Scalar(0), shadow);  // line 1: r* = r
    hatOf(system, r, rHat_);
    system.act(Action::Operator, hat(r, rHat_), *w_);  // line 1
    advance(system);                                   // line 1: w^ = M^{-1} w, t = A w^
    begin_->clear();
    const auto first = begin_->dot(shadow, *w_), ww = begin_->norm2(*w_);
    system.reduce(*begin_);
    const Scalar length = std::sqrt(this->square_), image = (*begin_)[first];
    if (!std::isfinite(image)) return Ending::NotFinite;
    if (isRounding(image, length * std::sqrt((*begin_)[ww]))) return Ending::Breakdown;

    Scalar rho = this->square_, sigma = image, beta = 0, omega = 0;  // sigma = (r*, s)
    peak_ = static_cast<double>(length);
    sinceReplacement_ = 0;
    for (;;) {  // line 2
      if (!std::isfinite(sigma)) return Ending::NotFinite;
      const Scalar alpha = ratioOr(rho, sigma, std::numeric_limits<Scalar>::infinity());  // lines 1, 11
      if (!std::isfinite(alpha)) return Ending::Breakdown;
      directions(system, alpha, beta, omega);                  // lines 3 to 5: p^, s, s^, z; q, q^, y
      PendingReduction<Types> productsOfQ = startOfQ(system);  // line 6
      hatOf(system, *z_, zHat_);                               // line 6
      system.act(Action::Operator, hat(*z_, zHat_), *v_);      // line 6: v = A M^{-1} z
      productsOfQ.wait();                                      // line 6
      const auto& ofQ = *ofQ_;
      const PredictedNorm normOfQ{std::sqrt(static_cast<double>(ofQ[qqSlot_])), false};
      if (!std::isfinite(ofQ[ssSlot_])) return Ending::NotFinite;
      // || s || comes after the alpha it judges, with which nothing but r, r^ and w has been changed.
      if (isRounding(sigma, length * std::sqrt(ofQ[ssSlot_]))) return Ending::Breakdown;
      if (!std::isfinite(ofQ[qySlot_])) return Ending::NotFinite;
      omega = ofQ[yySlot_] > 0 ? ofQ[qySlot_] / ofQ[yySlot_] : Scalar(0);  // line 7
      const bool last = isRounding(ofQ[qySlot_], std::sqrt(ofQ[qqSlot_]) * std::sqrt(ofQ[yySlot_]));
      const auto predicted = predictNorm(ofQ[qqSlot_], ofQ[qySlot_], ofQ[yySlot_], omega);
      if (const auto ending = this->followHalf(progress, alpha, *pHat_, normOfQ)) return *ending;
      step(system, alpha, omega, progress.x());  // lines 7, 8: x; r, r^, w
      if (const auto ending = progress.follow(predicted)) return *ending;

      const bool replaces = replacementIsDue(progress.recursive());
      if (replaces) replace(system, progress.b(), progress.x(), progress.stop());
      PendingReduction<Types> productsOfR = startOfR(system);  // line 9
      advance(system);                                         // line 9: w^ = M^{-1} w, t = A w^
      productsOfR.wait();                                      // line 9
      const auto& ofR = *ofR_;
      const Scalar next = ofR[rSlot_], rr = ofR[rrSlot_];
      if (last || isRounding(next, length * std::sqrt(rr))) return Ending::Breakdown;
      beta = (next / rho) * (alpha / omega);  // line 10
      rho = next;
      if (replaces && ranLong_ && haveLostDigits(system, progress.stop(), sigma, ofR[sSlot_])) {
        return this->goOn(progress, {length, rr, rho, beta, omega});
      }
      sigma = ofR[wSlot_] + beta * ofR[sSlot_] - beta * omega * ofR[zSlot_];  // line 11
    }
  }

  /// Whether the residual has fallen so far that the recurrences have lost half their digits, or they have run long.
  /// Only these are judged: a fall takes digits of the best.
  bool replacementIsDue(double norm) {
    const bool fallen = this->fallenFrom(peak_, norm);
    ranLong_ = ++sinceReplacement_ >= tuning::bicgstab::mostSteps;
    if (!fallen && !ranLong_) return false;
    sinceReplacement_ = 0;
    peak_ = norm;
    return true;
  }

  /// Whether rounding had taken half the digits of sigma, which alpha came from, before replace(): then the pipeline is
  /// not trusted any more in this solve.
  /// \param recurred, computed (r*, s) by recurrences, and of s = A p^
  bool haveLostDigits(LinearSystem<Types>& system, const StopTest& stop, Scalar recurred, Scalar computed) {
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

  void advance(LinearSystem<Types>& system) {
    hatOf(system, *w_, wHat_);
    system.act(Action::Operator, hat(*w_, wHat_), *t_);
  }

  /// p^ = r^ + beta (p^ - omega s^), s = w + beta (s - omega z), s^ = w^ + beta (s^ - omega z^), z = t + beta (z -
  /// omega v); then q = r - alpha s, q^ = r^ - alpha s^, y = w - alpha z in the places of r, r^ and w. One sweep.
  void directions(LinearSystem<Types>& system, Scalar alpha, Scalar beta, Scalar omega) {
    MultiVector& r = *this->r_;
    SweepList<Types> sweep(r.getLocalLength());
    const auto turn = [&](const MultiVector& onto, const MultiVector& away, MultiVector& direction) {
      if (beta != Scalar(0)) sweep.axpy(-omega, away, direction);
      sweep.axpby(Scalar(1), onto, beta, direction);
    };
    turn(hat(r, rHat_), hat(*s_, sHat_), *pHat_);             // line 3
    if (preconditioned_) turn(*wHat_, *zHat_, *sHat_);        // line 4
    turn(*w_, *z_, *s_);                                      // line 3
    turn(*t_, *v_, *z_);                                      // line 4
    sweep.axpy(-alpha, *s_, r);                               // line 5
    if (preconditioned_) sweep.axpy(-alpha, *sHat_, *rHat_);  // line 5
    sweep.axpy(-alpha, *z_, *w_);                             // line 5
    system.kernels().sweep(sweep);
  }

  /// x += alpha p^ + omega q^, r = q - omega y, r^ = q^ - omega (w^ - alpha z^), w = y - omega (t - alpha v). One
  /// sweep.
  void step(LinearSystem<Types>& system, Scalar alpha, Scalar omega, MultiVector& x) {
    MultiVector& r = *this->r_;
    SweepList<Types> sweep(r.getLocalLength());
    sweep.axpy(this->stepOfP(alpha), *pHat_, x);  // line 7
    sweep.axpy(omega, hat(r, rHat_), x);          // line 7
    sweep.axpy(-omega, *w_, r);                   // line 8
    if (preconditioned_) {
      sweep.axpy(-omega, *wHat_, *rHat_);         // line 8
      sweep.axpy(alpha * omega, *zHat_, *rHat_);  // line 8
    }
    sweep.axpy(-omega, *t_, *w_);         // line 8
    sweep.axpy(alpha * omega, *v_, *w_);  // line 8
    system.kernels().sweep(sweep);
  }

  PendingReduction<Types> startOfQ(LinearSystem<Types>& system) {
    ofQ_->clear();
    qySlot_ = ofQ_->dot(*this->r_, *w_);
    yySlot_ = ofQ_->norm2(*w_);
    qqSlot_ = ofQ_->norm2(*this->r_);
    ssSlot_ = ofQ_->norm2(*s_);
    return system.start(*ofQ_);
  }
  PendingReduction<Types> startOfR(LinearSystem<Types>& system) {
    const MultiVector& shadow = *this->shadow_;
    ofR_->clear();
    rSlot_ = ofR_->dot(shadow, *this->r_);
    wSlot_ = ofR_->dot(shadow, *w_);
    sSlot_ = ofR_->dot(shadow, *s_);
    zSlot_ = ofR_->dot(shadow, *z_);
    rrSlot_ = ofR_->norm2(*this->r_);
    return system.start(*ofR_);
  }

  void allocate(LinearSystem<Types>& system, const MultiVector& b) override {
    Base::allocate(system, b);
    for (Vector* vector : {&z_, &v_, &t_}) vectorLike(b, *vector);
    if (preconditioned_) vectorLike(b, zHat_);
    for (auto* batch : {&begin_, &ofQ_, &ofR_}) this->make(*batch, b);
    trusted_ = true;
  }

  bool trusted_ = true;       ///< the pipeline's recurrences, in this solve
  bool ranLong_ = false;      ///< the recurrences that are replaced
  int sinceReplacement_ = 0;  ///< iterations
  double peak_ = 0;           ///< the largest residual since the recurrences began, or were replaced
  Vector z_, v_, t_, zHat_;
  std::unique_ptr<ReductionBatch<Types>> begin_, ofQ_, ofR_;
  typename ReductionBatch<Types>::Slot qySlot_, yySlot_, qqSlot_, ssSlot_, rSlot_, wSlot_, sSlot_, zSlot_, rrSlot_;
};

}  // namespace capstan
