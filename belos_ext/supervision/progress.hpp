#pragma once
/// \file
/// What the loop of a method sees of the solve it belongs to: it tells each step, and is told when the cycle ends. The
/// loop holds no other decision than those of its paper.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "belos_ext/convergence/definiteness_watch.hpp"
#include "belos_ext/convergence/predicted_norm.hpp"
#include "belos_ext/convergence/residual_gap.hpp"
#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/supervision/judged_residual.hpp"
#include "belos_ext/supervision/method.hpp"

namespace capstan::tuning::cg {
/// Iterates below this part of the largest number are finite without a look at their entries. Chosen.
inline constexpr double farFromOverflow = 0.1;
}  // namespace capstan::tuning::cg

namespace capstan::tuning::bicgstab {
/// Iterations in which the residual has not halved that end a cycle: residuals of BiCGStab rise and fall. Measured with
/// 20 right-hand sides and at most 3300 iterations, without a preconditioner: 1138_bus takes 1822 with 500 and 2381
/// with 1000 in the median, hypre_TEST_ij_A is solved 20 times and 12 times. With 300 both miss some of ten.
inline constexpr int patience = 500;
/// Iterations without a smaller residual that end a cycle where the recursion has fallen by all digits there are.
/// Chosen.
inline constexpr int fewIdle = 10;
/// A cycle that left more than this part of the residual gained nothing. Chosen: half of it, as for patience.
inline constexpr double progress = 0.5;
/// Iterations for each row that a method may take which ends after one for each in exact arithmetic: of more, rounding
/// is all that drives it, and GMRES ends where this one should have. Chosen: a small system alone comes to them.
inline constexpr int mostForARow = 3;
}  // namespace capstan::tuning::bicgstab

namespace capstan {

/// The step that a method of conjugate gradients is about to make: x += alpha p.
template <class Scalar>
struct CgStep {
  Scalar alpha;
  Scalar beta;      ///< of the next direction, or of p
  Scalar coupling;  ///< the beta that p is made with; 0: it is z
  Scalar mu, nu;    ///< (p, A p) and (r, z)
  Scalar sz;        ///< (A p, z): mu where A is symmetric
  Scalar rr;        ///< of the residual that is judged
  Scalar pp, ss;    ///< (p, p) and (A p, A p)
};

template <class Types>
class Progress {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  /// A solve begins, or one goes on in this method. All of these outlive it. Local.
  /// \param handsOver another method can go on where this one gets nowhere
  void begin(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, Method<Types>& method,
             JudgedResidual<Types>& residual, const Treatment& treatment, const ResidualReplacement& replacement,
             bool handsOver) {
    system_ = &system;
    b_ = &b;
    x_ = &x;
    stop_ = &stop;
    method_ = &method;
    residual_ = &residual;
    treatment_ = treatment;
    replacement_ = replacement;
    handsOver_ = handsOver;
    formed_ = false;
  }

  LinearSystem<Types>& system() { return *system_; }
  const MultiVector& b() const { return *b_; }
  MultiVector& x() { return *x_; }
  StopTest& stop() { return *stop_; }
  JudgedResidual<Types>& residual() { return *residual_; }

  /// The watches begin at a residual of this norm. Local.
  void watch(double residual) {
    watch_.begin(residual);
    gap_.begin(std::numeric_limits<Scalar>::epsilon(), root(residual_->sizeOfGuess()), residual);
    if (treatment_.symmetric && system_->isNonsymmetric()) {
      watch_.doubt();
      stop_->findsAsymmetric();
    }
  }
  /// A cycle begins. Local.
  void beginCycle() {
    steps_ = 0;
    examined_ = false;
    best_ = halved_ = std::numeric_limits<double>::infinity();
    bestStep_ = halvedStep_ = 0;
    begunAt_ = residual_->attained().explicit_;
  }

  /// Something worth telling in the report.
  void tell(const Event& event) { system_->tell(stop_->iterations(), event); }

  /// Whether A is known not to be symmetric.
  bool isNonsymmetric() const { return system_->isNonsymmetric(); }
  /// Why A or M is not what the method is for; None: nothing says so.
  Cause seen() const { return watch_.seen(); }
  /// Whether the method is to be given up for that.
  bool isHopeless() const { return watch_.hopeless(stop_->target(), stop_->remaining()); }
  /// Whether the recursive residual is that of x, as far as rounding has been followed.
  bool isTrue() const { return gap_.isSmall(); }

  /// The norm that the tolerance is meant in goes with the next reduction, where a claim is near. Local.
  void takeMeasure() { takeMeasure(*method_->residual()); }
  /// The same for another vector than residual(), which tookMeasure() gives the 2-norm of.
  void takeMeasure(const MultiVector& r) {
    measures_ = stop_->wantsMeasure(stop_->recursive());
    if (measures_) system_->takeMeasure(r);
  }
  void tookMeasure(double norm) {
    if (std::exchange(measures_, false)) stop_->measured(norm, system_->measured());
  }

  /// Numbers of CG: what they say of A and M goes into the report. Local.
  void sees(double pAp, double rMr, double zAp) {
    if (watch_.sees(pAp, rMr, zAp)) tell({EventKind::Indefinite, watch_.seen()});
  }
  /// M has been seen not to be linear and symmetric. Local.
  void doubt() { watch_.doubt(); }
  /// x += alpha p, r -= alpha s, from norms of p and s. Local.
  void stepped(double alpha, double p, double s) { gap_.stepped(alpha, p, s); }
  /// What the residual has lost by rounding is followed anew, from an x of this norm. Local.
  void watchGap(double x) { gap_.begin(std::numeric_limits<Scalar>::epsilon(), x, residual_->attained().explicit_); }

  /// Whether a method of conjugate gradients may make this step, after the reduction of its products. Nothing: it may.
  /// Collective.
  /// \param varies M has been seen not to be linear and symmetric   \param addStep x += alpha p of its argument
  template <class AddStep>
  std::optional<Ending> admits(const CgStep<Scalar>& step, bool varies, const AddStep& addStep) {
    if (varies) watch_.doubt();
    sees(static_cast<double>(step.mu), static_cast<double>(step.nu), static_cast<double>(step.sz));
    const double norm = root(step.rr);
    tookMeasure(norm);
    recursive_ = norm;
    if (stop_->reached(norm)) return Ending::Claimed;
    if (std::isnan(step.mu) || std::isnan(step.nu) || std::isnan(step.beta) || std::isnan(norm))
      return Ending::NotFinite;
    if (step.alpha == Scalar(0) || !std::isfinite(step.alpha) || !std::isfinite(step.beta)) return Ending::Breakdown;
    if (isHopeless()) return Ending::Unfit;
    if (!isFarFromOverflow(step) && !staysFinite(addStep)) return Ending::Overflow;
    if (!varies) system_->observe(1 / static_cast<double>(step.alpha), static_cast<double>(step.coupling));
    gap_.stepped(static_cast<double>(step.alpha), root(step.pp), root(step.ss));
    return std::nullopt;
  }

  /// The residual has been replaced by b - A x, of this norm. Local.
  void replaced(double norm) { gap_.replaced(norm); }

  /// Counts the iteration that led to a residual of this norm, and asks whoever has a say. Nothing: go on. Collective.
  /// \param measuresAhead a reduction that tells whether a tolerance in another norm is met may save a dear product
  std::optional<Ending> follow(const PredictedNorm& next, bool measuresAhead = false) {
    const double norm = next.cancelled ? measured(*method_->residual()) : next.norm;
    const bool goOn = count(norm);
    if (goOn && measuresAhead) measureAhead(norm);
    if (!treatment_.examines && !goOn) return Ending::UserTest;
    if (!std::isfinite(norm)) return Ending::NotFinite;
    if (stop_->reached(norm) && (!treatment_.examines || examine(norm) != Claim::TooEarly)) return Ending::Claimed;
    if (!goOn) return Ending::UserTest;
    if (stop_->exhausted()) return Ending::Limit;
    if (replacementIsDue()) return Ending::Replacement;
    return treatment_.symmetric ? std::nullopt : idle(norm);
  }

  /// The same of a method that follows an iterate y besides, whose residual is what the iteration is counted with where
  /// it is the smaller one: y takes the place of x where the solve is over with it.
  /// \param r the recursive residual of x
  template <class Smoothed>
  std::optional<Ending> followBoth(const PredictedNorm& next, const MultiVector& r, Smoothed& y) {
    const double norm = next.cancelled ? measured(r) : next.norm, other = y.norm();
    const bool smooths = other < norm, goOn = count(norm, std::min(other, norm));
    const bool limit = stop_->exhausted();  // a trial's, which is another one once y has been judged
    if (smooths && goOn && (stop_->reached(other) || limit) && endsWith(y)) return Ending::Claimed;
    if (!goOn) return Ending::UserTest;
    if (!std::isfinite(norm)) return Ending::NotFinite;
    if (stop_->reached(norm)) return Ending::Claimed;
    if (limit) return Ending::Limit;
    return replacementIsDue() ? std::optional(Ending::Replacement) : std::nullopt;
  }

  /// The same where the recursion tells no norm: of b - A x, which need not be computed again. 1 A, 1 reduction.
  std::optional<Ending> followComputed() {
    compute();
    const double norm = residual_->rest();
    examined_ = true;
    const bool goOn = count(norm);
    if (!std::isfinite(norm)) return Ending::NotFinite;
    if (stop_->reached(norm) && stop_->examined(residual_->attained(), norm) != Claim::TooEarly) return Ending::Claimed;
    if (!goOn) return Ending::UserTest;
    return stop_->exhausted() ? std::optional(Ending::Limit) : std::nullopt;
  }

  /// A residual within an iteration that counts as one where it meets the target: x has been brought to it. Nothing:
  /// go on. Collective.
  std::optional<Ending> followHalf(const PredictedNorm& half) {
    const Claim claim = examine(half.norm);
    if (claim == Claim::TooEarly) return std::nullopt;
    const bool goOn = count(half.norm);
    return goOn || claim == Claim::Met ? Ending::Claimed : Ending::UserTest;
  }

  /// An iteration has led to a residual of this norm, of an x that is not formed. Local.
  void counts(double norm) {
    ++steps_;
    recursive_ = norm;
    stop_->iterated(norm);
    system_->record(stop_->iterations(), norm);
  }
  /// Whether the application lets the solve go on. Collective.
  /// \param update makes the change of x since the cycle began; empty: x has it
  bool asks(const std::function<void(MultiVector&)>& update) {
    return system_->boundary(stop_->iterations(), recursive_, update);
  }
  /// x is what the cycle has led to, with residuals computed of these norms, and the method has them. Local.
  void formed(const ResidualNorms& norms) {
    residual_->attain(norms);
    examined_ = formed_ = true;
  }

  /// Whether x has ever been formed().
  bool hasFormed() const { return formed_; }

  /// The norm of the computed residual that the cycle began with.
  double begunAt() const { return begunAt_; }
  /// What the recursion said last of the norm of the residual.
  double recursive() const { return recursive_; }
  /// Of this cycle.
  int steps() const { return steps_; }
  /// Whether its claim has been examined: residual() of the method is b - A x.
  bool examined() const { return examined_; }

 private:
  /// Whether x + alpha p can be represented, by norms: |x| is bounded by the sum of the steps.
  bool isFarFromOverflow(const CgStep<Scalar>& step) const {
    constexpr double largest = static_cast<double>(std::numeric_limits<Scalar>::max());
    const double least = root(static_cast<Scalar>(x_->getGlobalLength()) * std::numeric_limits<Scalar>::min());
    const double length = std::abs(static_cast<double>(step.alpha)) * std::max(root(step.pp), least);
    return gap_.iterate() + length < tuning::cg::farFromOverflow * largest;
  }
  /// The same by its entries. One reduction.
  template <class AddStep>
  bool staysFinite(const AddStep& addStep) {
    MultiVector candidate(*x_, Teuchos::Copy);
    addStep(candidate);
    return residual_->isFinite(*system_, candidate);
  }

  /// Whether the application lets the solve go on.
  bool count(double norm) { return count(norm, norm); }
  /// \param judged the norm of what is judged, where that is another residual
  bool count(double norm, double judged) {
    counts(judged);
    recursive_ = norm;
    if (treatment_.symmetric) {
      watch_.iterated(norm);
      gap_.left(norm);
    }
    return asks({});
  }

  /// Whether the solve is over with y, which is x then. 1 A, 1 reduction.
  template <class Smoothed>
  bool endsWith(Smoothed& y) {
    y.exchange(*system_, *x_);
    residual_->use(*method_->residual());
    if (residual_->verify(*system_, *b_, *x_, *stop_, stop_->reached(y.norm()))) {
      tell({EventKind::SmoothedResidual, y.idle()});
      return true;
    }
    y.exchangeBack(*system_, *x_, residual_->r(), residual_->rest(), stop_->cameEarly());
    return false;
  }

  /// b - A x beside the residual of the method, or in its place where that is lent.
  void compute() {
    residual_->use(treatment_.lends ? *method_->residual() : vectorLike(*b_, check_));
    residual_->compute(*system_, *b_, *x_, true);
  }

  /// A claim, by b - A x, which need not be computed again. Storage: 1 vector from the first one on, where none is
  /// lent. 1 A, 1 reduction.
  Claim examine(double norm) {
    compute();
    const auto claim = residual_->finite() ? stop_->examined(residual_->attained(), norm) : Claim::Wrong;
    examined_ = claim != Claim::TooEarly;
    if (examined_) {
      if (!treatment_.lends) std::swap(method_->residual(), check_);
    } else {
      system_->tell(stop_->iterations(), EventKind::ClaimEarly);
    }
    return claim;
  }

  /// The norm of the recursive residual, of whose prediction nothing but rounding is left. 1 reduction.
  double measured(const MultiVector& r) {
    auto& batch = residual_->batch();
    batch.clear();
    const auto rr = batch.norm2(r);
    system_->reduce(batch);
    const Scalar square = batch[rr];
    return system_->norm(r, square, batch);
  }

  /// The norm of the tolerance of a residual that may meet it.
  void measureAhead(double predicted) {
    if (stop_->measure() == nullptr || stop_->reached(predicted)) return;
    if (!(predicted <= tuning::stop_test::nearCostlyClaim * stop_->target())) return;
    const auto& r = *method_->residual();
    system_->takeMeasure(r);
    const double norm = measured(r);
    stop_->measured(norm, system_->measured());
  }

  bool replacementIsDue() const {
    using Mode = ResidualReplacement::Mode;
    if (!treatment_.replaces) return false;
    if (replacement_.mode == Mode::Every) return stop_->iterations() % replacement_.every == 0;
    return replacement_.mode == Mode::Auto && gap_.due(stop_->target());
  }

  /// Whether a residual that may rise and fall has not fallen for long.
  std::optional<Ending> idle(double norm) {
    namespace tuned = tuning::bicgstab;
    if (norm < tuning::stop_test::progress * best_) {
      best_ = norm;
      bestStep_ = steps_;
    }
    if (norm < tuned::progress * halved_) {
      halved_ = norm;
      halvedStep_ = steps_;
    }
    // A recursion that has fallen by nearly all digits there are, and falls no more, says nothing about b - A x.
    const bool fallen = best_ <= tuning::predicted_norm::cancelled * std::numeric_limits<Scalar>::epsilon() * begunAt_;
    if (steps_ - bestStep_ >= tuned::fewIdle && fallen) return Ending::Claimed;
    if (handsOver_ && static_cast<double>(stop_->iterations()) >= tuned::mostForARow * rows()) return Ending::Unfit;
    // The next method needs iterations, too: a cycle takes no more than a quarter of them in vain, if that is many.
    const int most = treatment_.patience * tuned::patience;
    const int patience = std::min(most, std::max(tuned::patience / 10, stop_->criteria().maxIterations / 4));
    return steps_ - halvedStep_ >= patience ? std::optional(Ending::Stagnant) : std::nullopt;
  }

  double rows() const { return static_cast<double>(x_->getGlobalLength()); }

  static double root(Scalar square) { return std::sqrt(static_cast<double>(square)); }

  LinearSystem<Types>* system_ = nullptr;
  const MultiVector* b_ = nullptr;
  MultiVector* x_ = nullptr;
  StopTest* stop_ = nullptr;
  Method<Types>* method_ = nullptr;
  JudgedResidual<Types>* residual_ = nullptr;
  Treatment treatment_;
  ResidualReplacement replacement_;
  bool handsOver_ = false;
  DefinitenessWatch watch_;
  ResidualGap gap_;
  Teuchos::RCP<MultiVector> check_;
  int steps_ = 0, bestStep_ = 0, halvedStep_ = 0;
  bool examined_ = false, formed_ = false;
  bool measures_ = false;  ///< the norm of the tolerance goes with the reduction that is next, or was last
  double recursive_ = 0;
  double best_ = 0, halved_ = 0;  ///< smallest recursive residual of the cycle; that, where it was half of one before
  double begunAt_ = 0;            ///< the computed one that it began with
};

}  // namespace capstan
