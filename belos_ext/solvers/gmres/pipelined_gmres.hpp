#pragma once
/// \file
/// Pipelined GMRES: p(l)-GMRES, and pipelined CA-GMRES, which does the same with blocks of t vectors.
///
/// Source: [pipelined-and-s-step], Fig. 2 [Ghysels, Ashby, Meerbergen and Vanroose 2013] and Fig. 4, section III-C;
/// p(1) with the orthogonalisations of [low-sync], section 3. One loop serves all: blocks of t products, d reductions
/// in flight, auxiliary basis Z running L = (d + 1) t - 1 products ahead of the orthonormal basis Q. p(l)-GMRES is t =
/// 1, d = l. `line k (j)` beside a statement means line k of Fig. 4, and line j of Fig. 2.
///
/// Cost of t iterations: 1 nonblocking reduction, 1 fence (where it starts), t A, t M^{-1}, t + 2 passes over the bases
/// (products, orthogonalisation, and the change of basis of each vector). Storage: 2 m + 6 vectors. Overlap: a block's
/// reduction is waited for d blocks later, after d t applications of A and M^{-1}. Draining: the last d blocks of a
/// cycle only wait. With a preconditioner it begins where earlier solves have ended; what is left then is done
/// classically. The first cycle that knows no shifts, with a preconditioner: t = d = 1, and 1 reduction with its first
/// product; the shifts of the next one come from its H.
///
/// | paper | here              | shape         | meaning                                                    |
/// |-------|-------------------|---------------|------------------------------------------------------------|
/// | q_j   | Q: cycle_.basis() | n x (m+1)     | orthonormal basis                                          |
/// | v_j   | Z: ahead_         | n x (m+1)     | auxiliary basis, A M^{-1} Z = Z B                          |
/// | R, B  | gramSchmidt_      | (m+1) x (m+1) | Z = Q G, and B: pipelined_recurrence.hpp                   |
/// | H     | cycle_.relation() | (m+1) x m     | H = G B G^{-1}                                             |
/// | l, t  | ladder_           | scalars       | reductions in flight, vectors a block                      |
/// | tau   | tau_              | scalar        | entries of B under tau h_{c,a} max abs(lambda) are dropped |
///
/// A right preconditioner that is not linear lets even a classical cycle promise what it does not keep. Then, and in
/// later solves, all cycles are classical and flexible.
///
/// Breakdown ladder, for a vector whose implicit norm cannot be trusted: orthogonalise it again with explicit norms (a
/// few times a cycle); else end the cycle, take it to its end classically where enough of it is exact, and go on as
/// pipeline_ladder.hpp says. A solve that is classical from the start has no Z, and keeps M^{-1} Q as CAPSTAN GMRES
/// does.

#include "belos_ext/convergence/expected_end.hpp"
#include "belos_ext/orthogonalization/pipelined_gram_schmidt.hpp"
#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/solvers/gmres/classical_cycle.hpp"
#include "belos_ext/solvers/gmres/pipeline_ladder.hpp"
#include "belos_ext/solvers/gmres/restarted_gmres.hpp"
#include "belos_ext/spectrum/pipeline_shifts.hpp"

namespace capstan {

template <class Types>
class PipelinedGmres : public RestartedGmres<Types> {
 public:
  using Base = RestartedGmres<Types>;
  using typename Base::Matrix;
  using typename Base::MultiVector;
  using typename Base::Scalar;

  /// One product ahead z stands behind the j = (m + 1) / 2 vectors of Q on the average of a cycle: products of two
  /// columns with all, one pass over Q, one over Z but for the last vector, and x.
  static Cost cost(const SolverOptions& options, bool) {
    if (options.pipelineDepth > 1) return costOfBlocks(options, options.pipelineDepth, 1);
    const double m = options.numBlocks, j = (m + 1) / 2;
    const double flops = 4 * j + 2 + 2 * j + 2 + (m - 1) * (m + 2) / m + 2;
    return {1, 1, 1, 2 * m + 6, flops, 8 * (2 * (j + 3) + (m - 1) * (m + 6) / (2 * m) + 1)};
  }
  /// The same in blocks of t.
  static Cost costOfBlocks(const SolverOptions& options, bool) {
    return costOfBlocks(options, options.pipelineDepth, options.stepSize);
  }

  /// \param blocks false: p(l)-GMRES; true: pipelined CA-GMRES, t = "Step Size"
  /// \param guarded false: as published, to the breakdown of an implicit norm; true: the pipeline ends before H becomes
  ///   less exact than the solve needs
  explicit PipelinedGmres(bool blocks, bool guarded = true) : guarded_(guarded), ladder_(blocks) {}

  void configure(const SolverOptions& options) override {
    options_ = options;
    this->configureCycles(options);
    classical_.configure(options);
    ladder_.configure(options);
    tau_ = options.changeOfBasisDropTolerance;
    shifts_.configure(options, tau_ > 0);
    expected_.forget();
    cleared_ = false;
  }
  void recall(const SolverState& state) override {
    flexible_ = state.preconditionerVaries;
    shifts_.recall(state);
    ladder_.recall(state);
    expected_.recall(state.iterations);
  }
  void remember(SolverState& state) const override {
    state.preconditionerVaries = flexible_;
    shifts_.remember(state);
    ladder_.remember(state);
  }
  int finalStepSize() const override { return ladder_.stepSize(); }

 protected:
  using Base::cycle_, Base::flexible_;

  void forget() override { configure(SolverOptions(options_)); }
  std::size_t bases() const override { return ladder_.givenUp() ? Base::bases() : 2; }
  void starts(LinearSystem<Types>& system) override {
    ladder_.begin(system);
    if (ladder_.givenUp()) ahead_ = {};  // M^{-1} Q may take its place
    wasFlexible_ = flexible_;
  }
  void ended(LinearSystem<Types>& system, const StopTest& stop) override {
    ladder_.end(system, stop);
    if (stop.lossOfAccuracy()) flexible_ = wasFlexible_;  // what rounding has broken says nothing of M
  }

  CycleOutcome iterate(LinearSystem<Types>& system, Scalar beta, StopTest& stop) override {
    if (brokePromise(stop, beta)) changeDirections(system, stop.iterations());
    if (flexible_ || ladder_.givenUp() || ladder_.wentAstray(system, stop, beta)) {
      return classicalCycle(system, beta, stop);
    }
    CycleOutcome outcome = pipelinedCycle(system, beta, stop);
    const auto& relation = cycle_.relation();
    const bool whole = isWhole(outcome, stop);
    const bool rough = shifts_.rough();
    const auto compare = [&] {
      shifts_.compare(system, relation.hessenberg(), outcome.columns, whole, stop.iterations());
    };
    if (!rough) compare();
    const int exact = isBroken(outcome, stop) ? exactColumns(system, stop, outcome) : 0;
    ladder_.ran(exact > 0 ? exact : outcome.columns, !rough && !shifts_.unknown());
    const bool mended = exact > 0;
    if (mended) goOn(system, stop, outcome, exact);
    if (rough) compare();  // the columns made classically tell, too
    if (mended) {
      ladder_.recovered();
      ladder_.ended(relation.leastSquares().residual(outcome.columns), Scalar(0));
      return outcome;
    }
    const Scalar promised = outcome.columns > 0 ? relation.leastSquares().residual(outcome.columns) : Scalar(0);
    ladder_.ended(promised, outcome.claimed ? beta : Scalar(0));
    if (whole) {
      ladder_.succeeded(system, stop, outcome.columns, gramSchmidt_.condition(),
                        outcome.claimed && stop.restarts() == 0);
      return outcome;
    }
    ladder_.brokeAfter(outcome.columns);
    const bool gained = outcome.columns > 0 && promised < static_cast<Scalar>(tuning::pipelined_gmres::progress) * beta;
    ladder_.shrink(system, stop,
                   inexact_ ? "H would not be exact enough" : "the implicit norm of a basis vector cannot be trusted",
                   !gained);
    return gained ? outcome : classicalCycle(system, beta, stop, outcome.columns);
  }

 private:
  /// A block is multiplied with the K vectors of Q known and the d t of Z after them, and orthogonalised, each in one
  /// pass; every vector of it takes a pass over Z of its own, from number L on. Averages of a cycle, and x.
  static Cost costOfBlocks(const SolverOptions& options, double d, double t) {
    const double m = options.numBlocks, ahead = (d + 1) * t - 1, corrected = std::max(m - ahead, 0.0);
    const double q = (m - t) / 2 + 1, known = std::max(q - (d - 1) * t, 1.0);
    const double flops = 2 * known + 2 * d * t - t + 1 + t + 2 * q + (corrected * (corrected + 2) + 2 * ahead) / m + 2;
    const double moved = (known + q) / t + d + 5 + (corrected * (corrected + 5) / 2 + 3 * ahead) / m + 1;
    return {1 / t, 1, 1, 2 * m + 6, flops, 8 * moved};
  }

  bool isWhole(const CycleOutcome& outcome, const StopTest& stop) const {
    return outcome.columns == cycle_.length() || outcome.claimed || outcome.stopped || stop.exhausted();
  }

  /// Whether the pipeline ended before the cycle did, or with a claim that was refuted.
  bool isBroken(const CycleOutcome& outcome, const StopTest& stop) const {
    if (outcome.columns == 0 || outcome.stopped || stop.exhausted()) return false;
    return !isWhole(outcome, stop) || cycle_.isRefuted(outcome);
  }

  /// The columns of a broken cycle that are exact enough to go on from classically; 0 where a restart does better.
  int exactColumns(LinearSystem<Types>& system, const StopTest& stop, const CycleOutcome& outcome) {
    const int kept = cycle_.exactColumns(system, stop, outcome.columns, (ladder_.depth() + 1) * t());
    return outcome.claimed && cycle_.restartsSooner(stop, outcome.columns, kept) ? 0 : kept;
  }

  /// Takes a broken cycle to its end classically, in the same Krylov space.
  void goOn(LinearSystem<Types>& system, StopTest& stop, CycleOutcome& outcome, int kept) {
    ladder_.shrink(system, stop,
                   "broken after " + std::to_string(outcome.columns) + " iterations, of which " + std::to_string(kept) +
                       " are kept: the rest of the cycle is classical",
                   false);
    const int lost = outcome.columns - kept;
    cycle_.relation().truncate(kept);
    outcome = CycleOutcome();
    outcome.columns = kept;
    classical_.goOn(cycle_, system, stop, outcome, lost);
  }

  /// Fig. 4, and Fig. 2 with t = 1.
  CycleOutcome pipelinedCycle(LinearSystem<Types>& system, Scalar beta, StopTest& stop) {
    begin(system, stop, beta);
    system.startUpEnds();
    const int most = std::min(cycle_.length(), stop.remaining());
    int m = most;
    bool draining = false;
    CycleOutcome outcome;
    for (int first = 0; outcome.columns < m && !outcome.claimed && !outcome.stopped; first += t()) {
      if (const int end = expectedEnd(system, stop, outcome);
          !draining && first < m && end < std::min(first + t(), m)) {
        m = std::max(end, first);
        draining = true;
      }
      const int count = std::min(t(), m - first);
      const int ready = first - ladder_.depth() * t();  // line 7 (3): first product of the block to be completed
      // z_{i+1} = A M^{-1} z_i, corrected by known columns of H
      generateBlock(system, stop.iterations(), first, count);  // lines 1 to 6 (1, 2)
      if (ready >= 0) {                                        // line 8 (4)
        // Its reduction was started d blocks ago.
        if (!completeBlock(system, stop, ready, std::min(t(), m - ready), outcome)) break;  // lines 9 to 16 (5 to 8)
        correctLast(system, first, m);  // line 17 (9): z_{first+t} by the first column of H just found
      }
      // [Q Z]^T Z_block
      if (first < m) gramSchmidt_.start(system, cycle_.basis(), ahead_, first, count);  // line 19 (11)
    }
    gramSchmidt_.drain();
    if (m < most && outcome.columns == m && !outcome.claimed && !outcome.stopped && !outcome.closed) {
      classical_.goOn(cycle_, system, stop, outcome);
    }
    return outcome;
  }

  /// The products that the cycle is likely to need: each costs an application of M. Without one, or with a diagonal,
  /// they cost less than reductions that nothing hides.
  int expectedEnd(LinearSystem<Types>& system, const StopTest& stop, const CycleOutcome& outcome) const {
    const int left = system.sparesProducts() ? expected_.likely(stop.target(), ExpectedEnd::TooEarly::CostsReductions)
                                             : ExpectedEnd::unknown;
    return left == ExpectedEnd::unknown ? left : outcome.columns + left;
  }

  int t() const { return ladder_.t(); }
  int lag() const { return ladder_.lag(); }

  void begin(LinearSystem<Types>& system, StopTest& stop, Scalar beta) {
    const int m = cycle_.length();
    cycle_.begin(system, beta);
    expected_.begin(stop.iterations(), static_cast<double>(beta));
    const auto map = cycle_.basis()[0].getMap();
    ahead_.resize(map, m + 1);
    const bool learning = system.sparesProducts() && shifts_.unknown();
    ladder_.fit(system, stop, static_cast<int>(std::min<Tpetra::global_size_t>(map->getGlobalNumElements(), m)),
                learning);  // the mean of the spectrum is a shift, but not two
    gramSchmidt_.begin(map->getComm(), m, t(), ladder_.depth(), scheme());
    again_ = lag() > 1 ? tuning::pipelined_gmres::maxAgainAhead : tuning::pipelined_gmres::maxAgain;
    normalizer_ = 1;
    const long before = system.products();
    if (!learning) shifts_.choose(system, map, lag(), stop.iterations());
    ladder_.learnt(system.products() - before);
    system.kernels().scale(Scalar(1), cycle_.basis()[0], ahead_[0]);
  }

  /// What CGS2 and MGS correct is known one product ahead only, and without dropping.
  PipelinedScheme scheme() const {
    return lag() > 1 || tau_ > 0 ? PipelinedScheme::Cgs1 : pipelinedScheme(options_.blockOrthogonalization);
  }

  /// Products first .. first + count - 1. The last vector of a full block waits for correctLast().
  void generateBlock(LinearSystem<Types>& system, int iteration, int first, int count) {
    for (int i = first; i < first + count; ++i) {  // line 1
      system.apply(ahead_[i], ahead_[i + 1]);      // lines 3, 4 (1, 2)
      if (i == 0 && shifts_.unknown()) {
        shifts_.chooseOne(system, ahead_[0], ahead_[1], iteration);
        system.startUpEnds(1, 1);
      }
      if (i < lag()) {
        const Scalar sigma = shifts_[i];
        gramSchmidt_.recurrence().shift(i, sigma);
        if (sigma != Scalar(0)) system.kernels().axpby(-sigma, ahead_[i], Scalar(1), ahead_[i + 1]);
      } else if (i - lag() < cycle_.relation().columns()) {
        correct(system, i);  // line 5
      }
    }
  }

  void correctLast(LinearSystem<Types>& system, int first, int m) {
    const int i = first + t() - 1;
    if (i >= lag() && i < m) correct(system, i);  // line 17 (9)
  }

  /// z_{i+1} = (A z_i - sum_j b_{j,i} z_j) / b_{i+1,i}. One product ahead, z_i and A z_i are first divided by the new
  /// normaliser of the vector they were made of.
  void correct(LinearSystem<Types>& system, int i) {
    const Scalar drop = static_cast<Scalar>(tau_ * shifts_.radius());
    const auto change = gramSchmidt_.recurrence().changeOfBasis(i, cycle_.relation().hessenberg(), drop);
    normalizeAndSubtract(system, ahead_, lag(), lag() + change.r.numRows(), normalizer_, ahead_[i + 1],
                         copyOf(change.r), change.norm);
    normalizer_ = 1;
  }

  /// The block's vectors of Q and columns of H, and their residuals. False when the cycle can go no further.
  bool completeBlock(LinearSystem<Types>& system, StopTest& stop, int first, int count, CycleOutcome& outcome) {
    // Lines 9, 11, 15, 16 (5, 6, 8).
    const PipelinedBlock block = gramSchmidt_.complete(system, cycle_.basis(), ahead_, first, count, again_);
    again_ -= block.reorthogonalized;
    if (block.reorthogonalized > 0) {
      system.tell(stop.iterations(), "reorthogonalise", "classical Gram-Schmidt with explicit norms");
    }
    normalizer_ = static_cast<Scalar>(block.normalizer);
    if (normalizer_ != Scalar(1)) {
      Matrix s(first + 1, 1);
      s(first, 0) = normalizer_;
      cycle_.relation().reexpress(first, s);
    }
    Matrix plain(2, 1);
    plain(1, 0) = 1;
    for (int a = first; a < first + block.columns && !outcome.claimed; ++a) {  // line 10
      cycle_.relation().refresh();
      inexact_ = !isExact(stop, a);
      if (inexact_) return false;
      const Matrix h = gramSchmidt_.recurrence().hessenbergColumn(a, cycle_.relation().hessenberg());  // line 12 (7)
      Matrix coefficients(a + 2, 2);
      coefficients(a, 0) = 1;
      for (int j = 0; j <= a + 1; ++j) coefficients(j, 1) = h(j, 0);
      cycle_.extend(system, stop, a, 1, plain, coefficients, outcome);
      expected_.observe(cycle_.relation().leastSquares().residual(outcome.columns));
    }
    outcome.closed = block.closed;
    return block.columns == count && !block.closed;
  }

  /// Whether column a of H, and so those after it, can be as exact as this solve still needs: GMRES bears errors that
  /// grow as its residual falls ([Simoncini and Szyld 2003]). Where not, the rest of the cycle is better done
  /// classically.
  bool isExact(const StopTest& stop, int a) {
    const Scalar error = gramSchmidt_.recurrence().relationError(a);
    const Scalar limit = cycle_.bearableError(stop);
    const Scalar least = tuning::gmres::leastError * std::numeric_limits<Scalar>::epsilon();
    const auto most = shifts_.rough() && lag() == 1 ? least : static_cast<Scalar>(tuning::pipelined_gmres::mostError);
    return a == 0 || !guarded_ || error <= std::max(std::min(limit, most), least);
  }

  /// \param spent iterations of a pipelined cycle that it takes the place of
  CycleOutcome classicalCycle(LinearSystem<Types>& system, Scalar beta, StopTest& stop, int spent = 0) {
    ladder_.ended(Scalar(0), Scalar(0));
    const CycleOutcome outcome = classical_.run(cycle_, system, beta, stop, spent);
    begunAt_ = beta;
    promised_ = outcome.columns > 0 ? cycle_.relation().leastSquares().residual(outcome.columns) : Scalar(0);
    return outcome;
  }

  /// Whether the last cycle of this solve was a classical one, and has left far more than it said.
  bool brokePromise(const StopTest& stop, Scalar beta) {
    const Scalar promised = std::exchange(promised_, Scalar(0));
    return stop.iterations() > 0 && promised > 0 && beta > tuning::pipelined_gmres::astray * promised &&
           beta > static_cast<Scalar>(tuning::pipelined_gmres::brokenPart) * begunAt_;
  }

  /// It was M that broke the promise of a cycle, if it is not linear: flexible cycles keep theirs then. Where one does
  /// not, either, M is cleared.
  void changeDirections(LinearSystem<Types>& system, int iteration) {
    using Directions = typename KrylovSpace<Types>::Directions;
    if (!system.hasRight() || system.hasLeft() || cleared_) return;
    cleared_ = flexible_;
    flexible_ = !flexible_;
    system.tell(iteration, "flexible",
                flexible_ ? "M may not be linear: classical cycles with directions of their own" : "no longer");
    if (flexible_) ahead_ = {};  // the directions take its place
    cycle_.resize(cycle_.basis()[0].getMap(), cycle_.length(), flexible_ ? Directions::Flexible : Directions::None);
  }

  bool guarded_;
  SolverOptions options_;
  PipelineLadder<Types> ladder_;
  ClassicalCycle<Types> classical_;
  Scalar begunAt_ = 0, promised_ = 0;  ///< beta of the last classical cycle, and what it said it leaves; else 0
  bool cleared_ = false;               ///< M has been taken not to be linear, and is
  bool wasFlexible_ = false;           ///< as the solve began
  int again_ = 0;                      ///< vectors of the cycle that may still be orthogonalised again
  bool inexact_ = false;               ///< the pipeline was ended by its estimate of the errors of H
  Scalar normalizer_ = 1;
  double tau_ = 0;
  PipelineShifts<Types> shifts_;
  ExpectedEnd expected_;
  KrylovBasis<Types> ahead_;
  PipelinedGramSchmidt<Types> gramSchmidt_;
};

}  // namespace capstan
