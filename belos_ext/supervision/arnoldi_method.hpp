#pragma once
/// \file
/// What a method is to the supervisor that minimises the residual in a Krylov space, cycle by cycle, M_L^{-1} A
/// M_R^{-1} Q = Q H: it fills Q and H; the rest of a cycle of GMRES is here.
///
/// Source: [Saad and Schultz 1986], algorithm 4; flexible variant [Saad 1993]. Symbols: basis/krylov_space.hpp.
///
/// Cost of a restart, and of a claim that is examined: one candidate (candidate_iterate.hpp). A claim that stands is
/// examined once, not again when x is updated. A classical step: 1 A, 1 M^{-1} and 3 reductions.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "belos_ext/basis/exact_columns.hpp"
#include "belos_ext/basis/stored_precision.hpp"
#include "belos_ext/orthogonalization/sketch_rows.hpp"
#include "belos_ext/orthogonalization/vector_orthogonalization.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/supervision/candidate_iterate.hpp"
#include "belos_ext/supervision/restart_length.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan::tuning::gmres {
/// A residual whose image is smaller than this part of the largest image in its Krylov space is a null vector. Chosen:
/// where the system is inconsistent the image was 1e-5 to 1e-8 of the largest once cycles gained nothing; a consistent
/// one whose residual has a smaller image than this asks for an x 1e4 times larger than the residual's share in it.
inline constexpr double nullImage = 1e-4;
/// What a cycle has to take off the residual of such a system. Chosen: a million of such cycles gain one digit.
inline constexpr double leastGain = 1e-6;
}  // namespace capstan::tuning::gmres

namespace capstan {

template <class Types>
class ArnoldiMethod : public Method<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Matrix = SmallMatrix<Scalar>;

  static constexpr Treatment treatment = [] {
    Treatment how;
    how.minimises = true;
    return how;
  }();

  using Options = MethodOptions<RestartOptions, ArnoldiOptions>;
  void configure(const Options& options) {
    wantedLength_.configure(options, options.keepPreconditionedBasis);
    flexible_ = options.flexible;
    precision_.configure(options.basisPrecision);
  }
  void recall(const SolverState& state) override { precision_.recall(state); }
  void remember(SolverState& state) const override { precision_.remember(state); }

  void takesOver() final { tookOver_ = true; }

  void prepare(LinearSystem<Types>&, const MultiVector& b, JudgedResidual<Types>& judged) override {
    judged_ = &judged;
    candidate_.prepare(b);
    precision_.begin();
  }
  Teuchos::RCP<MultiVector>& residual() final { return candidate_.residual(); }

  /// M_L^{-1} r, and what the ranks have room for.
  void enter(LinearSystem<Types>& system, ReductionBatch<Types>& batch) final {
    const auto& r = *residual();
    system.toNative(r, candidate_.native());
    nativeSlot_ = batch.norm2(candidate_.native());
    const auto bytes = static_cast<double>(r.getLocalLength() * sizeof(Scalar));
    keepable_ = bases() == 1 && system.hasRight() && !system.hasLeft();
    const double vectors = static_cast<double>(bases() - 1) + precision_.part();
    wantedLength_.enter(batch, vectors * bytes, keepable_ ? bytes : 0);
  }
  void take(LinearSystem<Types>& system) final {
    const auto& batch = judged_->batch();
    nativeSquare_ = batch[nativeSlot_];
    agreedLength_ = wantedLength_.agreed(batch);
    longest_ = agreedLength_;
    columns_ = 0;
    grows_ = std::exchange(tookOver_, false);
    if (grows_) {
      agreedLength_ = std::min(longest_, tuning::gmres::fallbackRestart);
    } else if (agreedLength_ < wantedLength_.wanted()) {
      system.tell(0, {EventKind::RestartLength, agreedLength_});
    }
    using Directions = typename KrylovSpace<Types>::Directions;
    directions_ = flexible_                                 ? Directions::Flexible
                  : keepable_ && wantedLength_.keeps(batch) ? Directions::Kept
                                                            : Directions::None;
    system.startUpEnds();
  }
  double nativeNorm(LinearSystem<Types>& system) final {
    return system.norm(candidate_.native(), nativeSquare_, judged_->batch());
  }

  Ending cycle(Progress<Types>& progress, Start) final {
    const double native = judged_->attained().native;
    if (columns_ > 0 && isNullVector(native)) {
      progress.stop().stop(StopReason::Stagnation);
      return Ending::Stagnant;
    }
    gained_ = columns_ > 0 && (gained_ || !(native > tuning::gmres::fallbackGain * begunAt_));
    const bool single = precision_.single(), longer = columns_ == 0 || isToGrow(progress, native);
    if (longer || single != basis().compressed()) {
      const auto& b = progress.b();
      if (columns_ > 0 && !space_.keeps() && directions_ == KrylovSpace<Types>::Directions::Kept) {
        directions_ = KrylovSpace<Types>::Directions::None;  // given up in an earlier cycle
      }
      space_.resize(b.getMap(), limited(agreedLength_, b, progress.stop()), directions_, single ? window() : 0);
      if (longer && !grows_) progress.stop().limitCycles(length());
    }
    if (precision_.changes()) progress.tell(EventKind::BasisSingle);
    begunAt_ = native;
    const Ending ending = expand(progress, static_cast<Scalar>(native));
    if (columns_ == 0) return ending == Ending::NotFinite ? ending : Ending::Breakdown;
    const auto left = static_cast<double>(recursive());
    precision_.judge(relation(), columns_, native, left);
    if (!candidate_.take(progress, space_, columns_)) return Ending::NotFinite;
    if (single && !StopTest::trusts(judged_->attained(), left)) {
      precision_.refute();
      progress.tell(EventKind::BasisDouble);
    }
    const bool told = ending == Ending::Claimed || ending == Ending::UserTest || ending == Ending::Replacement;
    return told ? ending : Ending::Full;
  }
  void ended(Progress<Types>& progress) override { candidate_.goBack(progress); }

 protected:
  /// Fills Q and H from q_0 = M_L^{-1} r / beta; Breakdown and NotFinite where it can go no further, after however many
  /// columns. Collective.
  virtual Ending expand(Progress<Types>& progress, Scalar beta) = 0;

  /// Vectors that each iteration of a cycle adds to what is kept.
  virtual std::size_t bases() const { return flexible_ ? 2 : 1; }

  /// Columns of the basis in double precision beside those in single precision: a panel and the one before, and
  /// several more, for they are copied wherever this is full. \param panel vectors that are added at once
  static int windowOf(int panel) { return 4 * panel + 4; }
  virtual int window() const { return windowOf(1); }

  /// Vectors that are kept with a right preconditioner to save an application of it.
  static double keptVectors(const SolverOptions& options, bool preconditioned) {
    return preconditioned && options.keepPreconditionedBasis != KeepBasis::Off ? options.numBlocks : 0;
  }

  /// Of panels of s steps that a sketch orthonormalises; none where it does not. Sketches of two panels, one pass over
  /// Q, which writes one. \param own, entries flops of an iteration, and vector entries, beside that
  static std::optional<Cost> sketchedCost(const SolverOptions& options, double s, double kept, double own = 0,
                                          double entries = 0) {
    if (options.blockOrthogonalization != BlockOrthogonalization::Sketched) return std::nullopt;
    const double m = options.numBlocks, columns = (m - s) / 2 + 1;
    const double transform = kernels::sketchFlops(tuning::sketch::rowsFor(options.numBlocks));
    const double flops = 2 * transform + 2 * columns + s + 2 + own, read = (columns + 4 * s) / s;
    return Cost{1 / s, 1, 1, m + 5 + kept, flops, 8 * (read + entries + 1)};
  }

  /// m, the most columns of a cycle.
  int length() const { return space_.length(); }
  /// Leading columns of H the update may use.
  int columns() const { return columns_; }
  KrylovSpace<Types>& space() { return space_; }
  KrylovBasis<Types>& basis() { return space_.basis(); }
  ArnoldiRelation<Scalar>& relation() { return space_.relation(); }
  /// || beta e_1 - H y || after all columns.
  Scalar recursive() const { return space_.relation().residual(columns_); }

  /// q_0 = M_L^{-1} r / beta. Collective where a candidate was not taken: then 1 A, 1 M_L^{-1}.
  void begin(Progress<Types>& progress, Scalar beta) {
    progress.beginCycle();
    candidate_.forget(progress);
    space_.begin(progress.system(), candidate_.native(), beta);
    columns_ = 0;
    closed_ = refuted_ = false;
  }

  /// Goes on with fewer columns: H is not exact enough after them. Local.
  void truncate(int kept) {
    space_.relation().truncate(kept);
    candidate_.drop();
    columns_ = kept;
    closed_ = refuted_ = false;
  }

  /// Adds `gained` columns to H and follows their residuals, one iteration each: the count of iterations is not rounded
  /// up to a multiple of s. Then status tests have their turn. Nothing: go on. Collective.
  std::optional<Ending> extend(Progress<Types>& progress, int first, int gained, const Matrix& changeOfBasis,
                               const Matrix& coefficients) {
    auto& relation = space_.relation();
    relation.addPanel(first, block(changeOfBasis, 0, 0, gained + 1, gained),
                      block(coefficients, 0, 0, first + gained + 1, gained + 1));
    relation.refresh();
    bool claimed = false;
    for (columns_ = first; columns_ < first + gained && !claimed;) {
      ++columns_;
      const auto norm = static_cast<double>(recursive());
      progress.counts(norm);
      claimed = progress.stop().reached(norm) && !tooEarly(progress, norm);
    }
    const auto update = [&](MultiVector& out) { candidate_.show(progress.system(), space_, columns_, out); };
    if (!progress.asks(update)) return Ending::UserTest;
    candidate_.hide();
    if (claimed) return Ending::Claimed;
    if (basis().compressed() && StoredPrecision::isSpent(static_cast<double>(recursive()), begunAt_)) {
      return progress.stop().exhausted() ? Ending::Limit : Ending::Replacement;
    }
    return progress.stop().exhausted() ? std::optional(Ending::Limit) : std::nullopt;
  }
  /// The same for one product, orthonormalised as it is.
  std::optional<Ending> extend(Progress<Types>& progress, int first, const Matrix& coefficients) {
    return extend(progress, first, 1, plainStep(), coefficients);
  }
  /// The change of basis of one product as it is.
  static Matrix plainStep() {
    Matrix plain(2, 1);
    plain(1, 0) = 1;
    return plain;
  }

  /// After a panel of one step in which the fast orthogonalisation found nothing new: one Arnoldi step after column
  /// `first` by classical Gram-Schmidt with explicit norms. If nothing but rounding is left the Krylov space is
  /// invariant: the cycle closes and the true residual is asked. Collective.
  /// \param changeOfBasis, r of the panel that failed; the first column of r says what became of q_first
  std::optional<Ending> classicalStep(Progress<Types>& progress, int first, const PanelOutcome& panel,
                                      const Matrix& changeOfBasis, const Matrix& r) {
    auto& system = progress.system();
    if (!panel.finite) return Ending::NotFinite;
    if (panel.rank == 0) return Ending::Breakdown;
    if (panel.dependent) return close(progress, first, changeOfBasis, r);
    progress.tell(EventKind::Reorthogonalized);
    relation().reexpress(first, block(r, 0, 0, first + 1, 1));
    space_.apply(system, first);
    explicit_.prepare(basis().map()->getComm());
    Matrix coefficients;
    const VectorOutcome vector = explicit_.orthonormalize(basis(), first + 1, system, coefficients);
    if (!vector.finite) return Ending::NotFinite;
    return vector.independent ? extend(progress, first, coefficients)
                              : close(progress, first, plainStep(), coefficients);
  }

  /// Second stage of two-stage schemes over the vectors of the cycle; H and the residual follow it. Collective.
  void complete(BlockGramSchmidt<Types>& orthogonalization, Progress<Types>& progress) {
    if (columns_ == 0) return;
    const int vectors = columns_ + (closed_ ? 0 : 1);
    const int usable = orthogonalization.finish(basis(), vectors, progress.system(), relation());
    relation().refresh();
    if (usable < vectors) {
      progress.tell({EventKind::SecondStage, usable});
      columns_ = std::max(usable - 1, 0);
    }
  }

  /// What is known, and can be found out, of the errors of H.
  ExactColumns<Types> errors(Progress<Types>& progress) {
    return {progress.system(), progress.stop(), space_, judged_->batch()};
  }

  /// Whether a claim has been examined, and was refuted, since the recursion has lost touch with the residual.
  bool isRefuted() const { return refuted_ && !closed_; }
  /// Whether a cycle that began with `beta` ends with such a claim, and its x is hardly better, or worse. Local.
  bool isInVain(Ending ending, Scalar beta) {
    return ending == Ending::Claimed && isRefuted() &&
           !(candidate_.norms().native < tuning::stop_test::progress * static_cast<double>(beta));
  }

  /// Whether a refuted claim leaves less to do, from the residual it has led to, than doing all but `kept` columns
  /// again. At the rate of the cycle. Local.
  bool restartsSooner(const StopTest& stop, int kept) {
    const double now = candidate_.norms().native, before = static_cast<double>(space_.relation().beta());
    if (!(now < before)) return false;
    return columns_ * std::log(boundedRatio(now, stop.target())) <
           (columns_ - kept) * std::log(boundedRatio(before, now));
  }

  bool flexible_ = false;
  bool closed_ = false;  ///< the Krylov space is invariant: H is square, there is no vector after the last column
  CandidateIterate<Types> candidate_;

 private:
  /// The last column of H: nothing is left of its vector.
  Ending close(Progress<Types>& progress, int first, const Matrix& changeOfBasis, const Matrix& coefficients) {
    const auto ending = extend(progress, first, 1, changeOfBasis, coefficients);
    closed_ = true;
    return ending == Ending::UserTest ? Ending::UserTest : Ending::Claimed;
  }

  /// A claim that the computed residual does not bear out, though the recursion is right (a left preconditioner, or
  /// another scaling, makes them differ): the cycle goes on, to a lower target. Where it ends anyway the update looks.
  bool tooEarly(Progress<Types>& progress, double recursive) {
    auto& stop = progress.stop();
    if (columns_ == length() || stop.exhausted()) return false;
    candidate_.form(progress, space_, columns_);
    if (!candidate_.finite()) return false;
    const Claim claim = stop.examined(candidate_.norms(), recursive);
    refuted_ = claim == Claim::Wrong;
    return claim == Claim::TooEarly;
  }

  /// Whether the last cycle left the residual q_0 as it was, and M_L^{-1} A M_R^{-1} q_0 is nothing: then no x has a
  /// smaller one, but for x that are large and rounding. Local. \param native what it is now
  bool isNullVector(double native) const {
    // Columns that nothing normalises, of a flexible H, say nothing of one another's images.
    if (flexible_ || !(native > (1 - tuning::gmres::leastGain) * begunAt_)) return false;
    const Matrix& h = space_.relation().hessenberg();
    const auto image = [&h](int column) {
      Scalar square = 0;
      for (int i = 0; i <= column + 1; ++i) square += h(i, column) * h(i, column);
      return std::sqrt(static_cast<double>(square));
    };
    double largest = 0;
    for (int column = 0; column < columns_; ++column) largest = std::max(largest, image(column));
    return image(0) < tuning::gmres::nullImage * largest;
  }

  /// Whether the cycle that begins is to be longer than the last one, where this goes on for another method. Not where
  /// earlier cycles gained, and the last one left the residual as it was: no x has a smaller one. Local.
  bool isToGrow(Progress<Types>& progress, double native) {
    if (!grows_ || agreedLength_ >= longest_ || columns_ < length()) return false;
    if (!(native > tuning::gmres::fallbackGain * begunAt_)) return false;
    if (gained_ && native > (1 - tuning::stop_test::unchanged) * begunAt_) return false;
    agreedLength_ = std::min(longest_, 2 * agreedLength_);
    progress.tell({EventKind::RestartLonger, agreedLength_});
    return true;
  }

  /// No cycle can be longer than the iterations there may be, or than the Krylov space.
  static int limited(int length, const MultiVector& b, const StopTest& stop) {
    const auto rows = std::min<Tpetra::global_size_t>(b.getGlobalLength(), std::numeric_limits<int>::max());
    return std::max(1, std::min({length, stop.criteria().maxIterations, static_cast<int>(rows)}));
  }

  JudgedResidual<Types>* judged_ = nullptr;
  int columns_ = 0;
  bool refuted_ = false;
  bool gained_ = false;  ///< an earlier cycle has halved the residual
  bool keepable_ = false;
  int agreedLength_ = 1, longest_ = 1;
  bool tookOver_ = false, grows_ = false;  ///< the length, from short to longest_
  double begunAt_ = 0;                     ///< || M_L^{-1} r || when the last cycle began
  Scalar nativeSquare_ = 0;
  typename ReductionBatch<Types>::Slot nativeSlot_;
  typename KrylovSpace<Types>::Directions directions_{};
  RestartLength<Types> wantedLength_;
  StoredPrecision precision_;
  KrylovSpace<Types> space_;
  VectorOrthogonalization<Types> explicit_;
};

}  // namespace capstan
