#pragma once
/// \file
/// s-step (communication-avoiding) GMRES.
///
/// Source: [low-sync], sections 2.1 and 3; [pipelined-and-s-step], Fig. 3 [CA-GMRES]. Basis: [Bai, Hu and Reichel
/// 1994].
/// `line k` beside a statement: docs/methods/sstep-gmres.md.
///
/// Cost of s iterations: 1 reduction (single-reduce schemes; others see block_gram_schmidt.hpp) and 1 fence for each,
/// s A, s M^{-1}, two passes over the basis. Storage: m + 5 vectors. Overlap: none. Start of a solve without cached
/// shifts: panels of 2, 3, ... steps on the unscaled monomial basis until there are about s Ritz values. An automatic s
/// grows from there, where products are cheap at once to what conditioning allows (step_size.hpp).
///
/// | paper       | here          | shape           | meaning                                           |
/// |-------------|---------------|-----------------|---------------------------------------------------|
/// | s           | steps         | scalar          | vectors generated between reductions              |
/// | V_{j:j+s}   | columns of Q  | n x (s+1)       | panel: v_0 = q_j, v_{k+1} = p_{k+1}(A M^{-1}) q_j |
/// | B           | changeOfBasis | (s+1) x s       | A M^{-1} V(:,0:s) = V B                           |
/// | R_{:,j:j+s} | coefficients  | (j+s+1) x (s+1) | V = Q R                                           |
/// | theta       | recurrence_   | about s numbers | Leja-ordered Ritz values                          |
///
/// Panels that would lose digits of H are foreseen, and made shorter (panel_errors.hpp).
///
/// Fallbacks: a panel that lost rank, or digits of H, keeps its good vectors and makes the next ones shorter, to
/// single classical steps with explicit norms; a claim that is refuted makes every later panel of the solve one step,
/// and systems of at most 2 s equations, whose last residual they would decide, have no others.
/// A product whose rounding is found far beyond eps makes panels shorter, and takes columns back where H has become too
/// inexact before: 1 A, 1 M^{-1} and 1 reduction where a panel is first cut, once a label.

#include "belos_ext/basis/matrix_powers.hpp"
#include "belos_ext/basis/panel_errors.hpp"
#include "belos_ext/basis/step_size.hpp"
#include "belos_ext/convergence/expected_end.hpp"
#include "belos_ext/dense/ritz_values.hpp"
#include "belos_ext/orthogonalization/kept_gram_schmidt.hpp"
#include "belos_ext/spectrum/spectral_interval.hpp"
#include "belos_ext/supervision/arnoldi_method.hpp"

namespace capstan::tuning::step_size {
/// A panel is shortened, where products are cheap, to at most this part of its steps. Chosen.
inline constexpr double worthShortening = 0.67;
/// But not below so many, nor below half of them. Chosen: as many products may cost more than a reduction.
inline constexpr int fewSteps = 8;
}  // namespace capstan::tuning::step_size

namespace capstan::tuning::relation_error {
/// An estimated error of H, in eps, large enough to be compared with the one that is there. Chosen: above what a
/// product of orthonormal vectors is rounded by.
inline constexpr int measurable = 30;
/// Errors this many times their estimate are no accident. Measured where panels are first cut: up to 16 times on 30
/// systems, with and without preconditioner; 31 to 1500 times on cryg2500 with RILU(0).
inline constexpr int rough = 20;
/// Columns that are made again where they are found to have such errors. Chosen: about three panels.
inline constexpr int mostTakenBack = 16;
}  // namespace capstan::tuning::relation_error

namespace capstan {

template <class Types>
class SStepGmres final : public ArnoldiMethod<Types> {
 public:
  using Base = ArnoldiMethod<Types>;
  using typename Base::Matrix;
  using typename Base::Scalar;

  /// A panel reads [Q V] twice, which has s + 1 vectors more than the j = (m - s) / 2 on the average of a cycle, and
  /// writes the last 2 s + 1, with which all are multiplied. Its products are scaled and shifted as they are made (3
  /// flops; no vector, 1 with a right M, 3 with a left one or A's own products; 1 more for a pair of shifts); and x.
  static Cost cost(const SolverOptions& options, bool preconditioned) {
    const double m = options.numBlocks, s = options.stepSize, j = (m - s) / 2;
    const double kept = Base::keptVectors(options, preconditioned);
    const double products = (2 * s + 1) * (2 * j + 2), updates = s * s + (s + 1) * (s + 1) + 2 * j * (s + 1);
    const double flops = (products + updates) / s + 3 + 2, recurrence = preconditioned ? 1 : 0;
    if (const auto sketched = Base::sketchedCost(options, s, kept, 3, recurrence)) return *sketched;
    if (options.basisPrecision == BasisPrecision::Double) {
      return {1 / s, 1, 1, m + 5 + kept, flops, 8 * ((2 * j + 4 * s + 3) / s + recurrence + 1)};
    }
    // All but the last 2 s + 1 columns take half as many bytes; s of these are written twice, and s + 1 columns are
    // copied whenever the window is full.
    const double window = Base::windowOf(options.stepSize);
    const double both = options.basisPrecision == BasisPrecision::Auto ? m + 1 : window;
    const double copies = 2 * (s + 1) / (window - (s + 1)), doubles = (3 * (2 * s + 1)) / s + copies + recurrence;
    return {1 / s, 1, 1, (m + 1) / 2 + both + 4 + kept, flops, 8 * doubles + 4 * ((2 * (j - s) + s) / s + 1)};
  }

  using Options = MethodOptions<RestartOptions, SchemeOptions, ArnoldiOptions, StepSizeOptions, BasisOptions,
                                ShiftOptions, SpectrumOptions>;
  void configure(const Options& options) {
    options_ = options;
    recalled_ = trusted_ = false;
    panelSteps_ = 0;
    expected_.forget();
    Base::configure(options);
    stepSize_.configure(options.stepSizeAuto, options.stepSize);
    errors_.configure(options.intraOrthogonalization == IntraOrthogonalization::CholQr &&
                      options.blockOrthogonalization != BlockOrthogonalization::Sketched);
    recurrence_.reset(options.basis);
    if (!options.eigenvalueBoundsAuto)
      recurrence_.setInterval(options.eigenvalueBounds.min, options.eigenvalueBounds.max);
    if (!options.shiftsAuto) recurrence_.setShifts(options.shifts);
    learning_ = learns() && !recurrence_.ready();
    judged_ = options.basis != Basis::Chebyshev || options.eigenvalueBoundsAuto;
  }

  void recall(const SolverState& state) override {
    Base::recall(state);
    if (options_.shiftsAuto) recurrence_.setShifts(state.shifts);
    recalled_ = options_.shiftsAuto && !state.shifts.empty() && recurrence_.ready();  // not bounds that are given
    if (recalled_ && options_.basis == Basis::Chebyshev) judged_ = false;
    stepSize_.recall(state.stepSize);
    errors_.recall(state.exactSteps);
    expected_.recall(state.iterations);
    trusted_ = state.productRounding > 0;
    if (trusted_) errors_.roughen(static_cast<Scalar>(state.productRounding));
  }
  void remember(SolverState& state) const override {
    Base::remember(state);
    // What the user fixed is not something learnt.
    if (options_.shiftsAuto) state.shifts = recurrence_.shifts();
    if (options_.stepSizeAuto) state.stepSize = stepSize_.current();
    state.exactSteps = errors_.samples();
    state.productRounding = trusted_ ? static_cast<double>(errors_.estimates().roughness()) : 0;
  }
  int finalStepSize() const override { return panelSteps_; }

  void forget(const Options& options) { configure(options); }

 protected:
  Ending expand(Progress<Types>& progress, Scalar beta) override {
    auto& system = progress.system();
    begin(progress, beta);
    std::optional<Ending> ending;
    Matrix r;
    while (columns() < length() && !ending) {  // line 2
      const int first = columns();
      const int most = std::min({panelSteps(progress, first), length() - first, progress.stop().remaining()});
      const int steps = expectedSteps(progress, most);

      const Matrix changeOfBasis = generatePanel(system, first, steps);  // lines 3, 4: V = [q_j, p_1(A) q_j, ...]
      const PanelOutcome panel =
          orthogonalization_->orthonormalize(basis(), first, steps, system, relation(), r);  // lines 5 to 7: V = Q R
      revalidate(progress, steps, panel);
      if (panel.rank == steps + 1) {
        stepSize_.succeeded(steps, panel.condition, steps < most);
      } else if (steps == 1) {
        ending = this->classicalStep(progress, first, panel, changeOfBasis, r);
        continue;
      } else if (!shrink(progress, first, steps, panel, r)) {
        continue;
      }
      const int gained = reliableSteps(progress, first, panel.rank - 1, changeOfBasis, r);
      if (gained < panel.rank - 1 && !estimatesHold(progress, first)) continue;
      ending = this->extend(progress, first, gained, changeOfBasis, r);  // lines 8, 9: H = (R B - H R_top) R_mid^{-1}
      for (int c = first + 1; c <= columns(); ++c) expected_.observe(relation().residual(c));
      judgeInterval(progress, false);
      learnShifts(progress, false);
    }
    this->complete(*orthogonalization_, progress);
    if (!careful_ && !basis().compressed() && this->isRefuted()) {
      careful_ = true;
      trusted_ = false;
      progress.tell(EventKind::PanelsWary);
    }
    judgeInterval(progress, true);
    learnShifts(progress, true);
    return ending.value_or(Ending::Full);
  }

 private:
  int window() const override { return Base::windowOf(stepSize_.current()); }

  using Base::basis, Base::columns, Base::flexible_, Base::length, Base::relation, Base::space;

  void begin(Progress<Types>& progress, Scalar beta) {
    const auto few = 2 * static_cast<Tpetra::global_size_t>(options_.stepSize);
    if (progress.stop().iterations() == 0) careful_ = basis().map()->getGlobalNumElements() <= few;
    errors_.begin();
    losesDigits_ = false;
    Base::begin(progress, beta);  // line 1
    expected_.begin(progress.stop().iterations(), static_cast<double>(beta));
    orthogonalization_.get(options_, basis().map()->getComm()).begin(length());
    stepSize_.beginCycle(progress.system().sparesProducts());
  }
  /// s, or fewer where H would lose digits, or while the shifts are not known: an unscaled monomial basis loses a digit
  /// or more a step.
  int panelSteps(Progress<Types>& progress, int first) {
    panelSteps_ = careful_ ? 1 : stepSize_.current();
    if (panelSteps_ == 1) return 1;
    if (!recurrence_.ready() && options_.basis != Basis::Monomial && learns()) return unshiftedSteps(first);
    if (flexible_) return panelSteps_;  // H = R B inherits nothing
    panelSteps_ = errors_.foreseeable(first, panelSteps_);
    const int exact = errors_.worthwhile(relation(), progress.stop().target(), first, panelSteps_, recurrence_);
    if (exact < panelSteps_ && !losesDigits_) {
      losesDigits_ = true;
      progress.tell({EventKind::PanelsLimited, panelSteps_});
    }
    panelSteps_ = exact;
    return exact;
  }

  int unshiftedSteps(int first) const {
    const int s = stepSize_.current();
    if (!options_.computeRitzValuesOnFly) return 1;  // a classical first cycle
    return std::min(s, first == 0 ? 2 : first <= 2 ? 3 : 5);
  }

  /// At most as many steps as the solve may still need: a product too many costs an application of M. Without one, or
  /// with a diagonal, it costs less than the reduction of another panel, and then only an automatic s is shortened: not
  /// below a few steps, and where that spares products worth the risk of another panel.
  int expectedSteps(Progress<Types>& progress, int most) {
    const int bound = expected_.nextPanel(progress.stop().target(), most);
    if (progress.system().sparesProducts()) return bound;
    const bool shorten = options_.stepSizeAuto && bound <= tuning::step_size::worthShortening * most;
    return shorten ? std::max(bound, std::min(tuning::step_size::fewSteps, (most + 1) / 2)) : most;
  }

  bool learns() const { return options_.shiftsAuto && options_.computeRitzValues && !flexible_; }

  /// v_{k+1} = (A M^{-1} v_k - alpha_k v_k - beta_k v_{k-1}) / gamma_k, k = 0..s-1. Returns B.
  Matrix generatePanel(LinearSystem<Types>& system, int first, int steps) {
    basis().makeRoom(system.kernels(), first + 1, first + steps + 1);
    for (int k = 0; k < steps; ++k) {                                                  // line 4
      space().apply(system, first + k, recurrenceOf(recurrence_, basis(), first, k));  // line 4
    }
    return recurrence_.template changeOfBasis<Scalar>(steps);
  }

  /// How many of `found` steps H can take before A Q = Q H loses digits that this solve still needs.
  int reliableSteps(Progress<Types>& progress, int first, int found, const Matrix& changeOfBasis, const Matrix& r) {
    if (flexible_) return found;  // H = R B inherits nothing
    const int steps = errors_.add(relation(), progress.stop().target(), first, found, changeOfBasis, r);
    if (steps < found) {
      losesDigits_ = true;
      progress.tell({EventKind::PanelExact, steps, found});
    }
    return steps;
  }

  /// Whether the estimates that have cut a panel bear looking at: they take products to be rounded by eps, and
  /// strong preconditioners round them a thousand times more. Measured on one column, once a solve; not again where an
  /// earlier solve has done so. Where the estimate is far too small, all follow, also those of later panels; columns
  /// that are not exact enough are taken back: as long as they are few, and the solve is young, for later errors count
  /// less. False where the panel is lost with them. 1 A, 1 M^{-1}, 1 reduction. Collective.
  bool estimatesHold(Progress<Types>& progress, int first) {
    if (trusted_ || careful_ || basis().compressed()) return true;  // in single precision all columns have errors
    auto& stop = progress.stop();
    const auto& estimates = errors_.estimates();
    const int column = estimates.worst(first - 1);  // q_first has just changed, and H does not know of it
    const auto least = static_cast<Scalar>(tuning::relation_error::measurable) * std::numeric_limits<Scalar>::epsilon();
    if (column < 0 || !(estimates.estimate(column) >= least)) return true;
    relation().refresh();
    const Scalar expected = estimates.estimate(column), found = this->errors(progress).error(column);
    trusted_ = true;
    if (found <= static_cast<Scalar>(tuning::relation_error::rough) * expected) return true;
    const auto left = static_cast<double>(relation().residual());
    const int exact = estimates.within(errors_.bearable(relation(), stop.target()) * expected / found);
    if (exact >= first - 1) {
      errors_.roughen(found / expected);
      progress.tell(EventKind::PanelsShorter);
      return true;
    }
    const int kept = relation().wholePanels(std::min(exact, first)), lost = first - kept;
    if (kept == 0 || lost > std::min(tuning::relation_error::mostTakenBack, stop.remaining() - 1) ||
        left * left < stop.target() * static_cast<double>(relation().beta())) {
      return true;
    }
    errors_.roughen(found / expected);
    progress.tell({EventKind::PanelsTakenBack, kept, first});
    this->truncate(kept);
    orthogonalization_->begin(length());
    errors_.begin();
    expected_.begin(stop.iterations(), static_cast<double>(relation().residual()));
    return false;
  }

  /// Shifts from another solve are dropped when they make an ill-conditioned panel: the operator is another one.
  void revalidate(Progress<Types>& progress, int steps, const PanelOutcome& panel) {
    if (!recalled_) return;
    if (panel.rank < steps + 1 || StepSize::isStrained(panel.condition)) {
      recurrence_.reset(options_.basis);
      learning_ = learns();
      progress.tell(EventKind::ShiftsRejected);
    }
    recalled_ = false;
  }

  /// Whether Ritz values of this solve bear out the interval of the Chebyshev basis, which comes from the user or from
  /// another solve; theirs takes its place where not. Once a solve. Local.
  void judgeInterval(Progress<Types>& progress, bool cycleEnds) {
    if (judged_ || flexible_ || !recurrence_.ready()) return;
    if (columns() == 0 || (columns() < tuning::spectrum::few && !cycleEnds)) return;
    judged_ = true;
    const bool given = !options_.eigenvalueBoundsAuto;
    const double times = given ? 1 + 2 * tuning::spectrum::slack : tuning::spectrum::largestOvershoot;
    const auto ritz = hessenbergEigenvalues(relation().hessenberg(), std::min(columns(), tuning::spectrum::enough));
    for (const auto& value : ritz) {
      if (!recurrence_.leavesOut(value, times)) continue;
      const EigenvalueBounds& bounds = recurrence_.interval();
      progress.tell(
          {given ? EventKind::GivenForRitz : EventKind::EarlierForRitz, bounds.min, bounds.max, value.real()});
      recurrence_.reset(options_.basis);
      recurrence_.setShifts(ritz);
      return;
    }
  }

  /// The fallback for a panel that lost rank: halve s and keep the vectors that are good. Whether there is a
  /// new one among them.
  bool shrink(Progress<Types>& progress, int first, int steps, const PanelOutcome& panel, const Matrix& r) {
    stepSize_.failed(steps);
    progress.tell({EventKind::PanelDependent, panel.rank, steps + 1, stepSize_.current()});
    if (panel.rank == 1) relation().reexpress(first, block(r, 0, 0, first + 1, 1));
    return panel.rank > 1;
  }

  /// Shifts from the first panels, once there are about s Ritz values, or from the whole first cycle. Where panels grow
  /// fast again whenever there are twice as many, up to the most steps of a panel: one with more steps than shifts
  /// repeats them, and is conditioned worse.
  void learnShifts(Progress<Types>& progress, bool cycleEnds) {
    if (!learning_ || columns() == 0) return;
    const int known = recurrence_.ready() ? static_cast<int>(recurrence_.shifts().size()) : 0;
    if (known > 0 && progress.system().sparesProducts()) return;
    const int most = std::min(stepSize_.most(), length());
    const int enough = known == 0 ? std::min(stepSize_.current(), most) : std::min(2 * known, most);
    const bool onFly = options_.computeRitzValuesOnFly;
    if (cycleEnds == onFly || (columns() < enough && (onFly || known > 0))) return;
    const int order = onFly ? std::min(columns(), most) : columns();
    recurrence_.setShifts(hessenbergEigenvalues(relation().hessenberg(), order));
    if (!recurrence_.ready()) return;
    const auto found = static_cast<int>(recurrence_.shifts().size());
    learning_ = found < most;
    progress.tell({known == 0 ? EventKind::Shifts : EventKind::MoreShifts, found});
  }

  Options options_;
  bool recalled_ = false;  ///< the shifts come from another solve and have not been tried yet
  bool learning_ = false;  ///< there may be more or better shifts than there are
  bool judged_ = true;     ///< the interval of the Chebyshev basis has been compared with Ritz values, or need not be
  bool careful_ = false;   ///< H has to be as exact as it can be: few equations, or a claim was refuted
  bool trusted_ = false;   ///< an error of H was measured, in this solve or an earlier one
  bool losesDigits_ = false;  ///< panels of this cycle have been shortened, or cut, to keep H exact
  int panelSteps_ = 0;        ///< of the latest panel, as far as it did not depend on the end; 0: none was made
  StepSize stepSize_;
  ExpectedEnd expected_;
  PanelErrors<Types> errors_;
  BasisRecurrence recurrence_;
  KeptGramSchmidt<Types> orthogonalization_;
};

}  // namespace capstan
