#pragma once
/// \file
/// Pipelined GMRES: p(l)-GMRES, and pipelined CA-GMRES, which does the same with blocks of t vectors.
///
/// Source: [pipelined-and-s-step], Fig. 2 [Ghysels, Ashby, Meerbergen and Vanroose 2013] and Fig. 4, section III-C;
/// p(1) with the orthogonalisations of [low-sync], section 3. One loop serves all: blocks of t products, d reductions
/// in flight, auxiliary basis Z running L = (d + 1) t - 1 products ahead of the orthonormal basis Q. p(l)-GMRES is t =
/// 1, d = l. `line k` beside a statement means line k of the page of each method, docs/methods/pipelined-gmres.md and
/// pipelined-sstep-gmres.md.
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
/// | q_j   | Q: basis()        | n x (m+1)     | orthonormal basis                                          |
/// | v_j   | Z: ahead_         | n x (m+1)     | auxiliary basis, A M^{-1} Z = Z B                          |
/// | R, B  | gramSchmidt_      | (m+1) x (m+1) | Z = Q G, and B: pipelined_recurrence.hpp                   |
/// | H     | relation()        | (m+1) x m     | H = G B G^{-1}                                             |
/// | l, t  | ladder_           | scalars       | reductions in flight, vectors a block                      |
/// | tau   | tau_              | scalar        | entries of B under tau h_{c,a} max abs(lambda) are dropped |
///
/// A right preconditioner that is not linear lets even a classical cycle promise what it does not keep. Then, and in
/// later solves, all cycles are classical and flexible.
///
/// Fallbacks, for a vector whose implicit norm cannot be trusted: orthogonalise it again with explicit norms (a
/// few times a cycle); else end the cycle, take it to its end classically where enough of it is exact, and go on as
/// pipeline_ladder.hpp says. A solve that is classical from the start has no Z, and keeps M^{-1} Q as CAPSTAN GMRES
/// does.

#include "belos_ext/convergence/expected_end.hpp"
#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/orthogonalization/pipelined_gram_schmidt.hpp"
#include "belos_ext/solvers/gmres/gmres.hpp"
#include "belos_ext/spectrum/pipeline_shifts.hpp"
#include "belos_ext/supervision/pipeline_ladder.hpp"

namespace capstan::tuning::pipelined_gmres {
/// Errors of H that may delay convergence, though the residual may still be met. Measured: superlinear convergence of a
/// nonnormal operator (BentPipe2D100) comes 4 iterations later with errors of 1e-9, and then misses its cycle.
inline constexpr double mostError = 1e-10;
/// How many vectors of a cycle may be orthogonalised again, one product ahead. Measured on real matrices.
inline constexpr int maxAgain = 3;
/// Classical cycles tell of an M that is not linear where so much is left of what they began with: rounding leaves
/// less. Chosen.
inline constexpr double brokenPart = 1e-4;
}  // namespace capstan::tuning::pipelined_gmres

namespace capstan {

template <class Types>
class PipelinedGmres : public Gmres<Types> {
 public:
  using Base = Gmres<Types>;
  using typename Base::Matrix;
  using typename Base::MultiVector;
  using typename Base::Scalar;

  /// One product ahead z stands behind the j = (m + 1) / 2 vectors of Q on the average of a cycle: products of two
  /// columns with all, one pass over Q, one over Z but for the last vector, and x.
  static Cost cost(const SolverOptions& options, bool) {
    if (options.pipelineDepth > 1) return costOfBlocks(options, options.pipelineDepth, 1);
    const double m = options.numBlocks, j = (m + 1) / 2;
    const double flops = 4 * j + 2 + 2 * j + 2 + (m - 1) * (m + 2) / m + 2;
    return {1, 1, 1, 2 * m + 6, flops, 8 * (2 * (j + 3) + (m - 1) * (m + 6) / (2 * m) + 1), 1};
  }
  /// The same in blocks of t.
  static Cost costOfBlocks(const SolverOptions& options, bool) {
    return costOfBlocks(options, options.pipelineDepth, options.stepSize);
  }

  /// \param blocks false: p(l)-GMRES; true: pipelined CA-GMRES, t = "Step Size"
  /// \param guarded false: as published, to the breakdown of an implicit norm; true: the pipeline ends before H becomes
  ///   less exact than the solve needs
  explicit PipelinedGmres(bool blocks, bool guarded = true) : guarded_(guarded), ladder_(blocks) {}

  using Options = PipelineMemory::Options;  ///< of both forms: each is given its own
  void configure(const Options& options) {
    Base::configure(options);
    ladder_.configure(options);
    tau_ = options.changeOfBasisDropTolerance;
    shifts_.configure(options, options, tau_ > 0);
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

  void forget(const Options& options) { configure(options); }

  void prepare(LinearSystem<Types>& system, const MultiVector& b, JudgedResidual<Types>& judged) override {
    Base::prepare(system, b, judged);
    ladder_.begin(system);
    if (ladder_.givenUp()) ahead_ = {};  // M^{-1} Q may take its place
    wasFlexible_ = flexible_;
    promised_ = 0;
  }
  void ended(Progress<Types>& progress) override {
    Base::ended(progress);
    ladder_.end(progress.system(), progress.stop());
    if (progress.stop().lossOfAccuracy()) flexible_ = wasFlexible_;  // what rounding has broken says nothing of M
  }

 protected:
  using Base::basis, Base::columns, Base::flexible_, Base::length, Base::options_, Base::recursive, Base::relation,
      Base::space;

  std::size_t bases() const override { return ladder_.givenUp() ? Base::bases() : 2; }

  Ending expand(Progress<Types>& progress, Scalar beta) override {
    auto& system = progress.system();
    auto& stop = progress.stop();
    if (brokePromise(beta)) changeDirections(system, stop.iterations());
    if (flexible_ || ladder_.givenUp() || ladder_.wentAstray(system, stop, beta)) {
      return classicalCycle(progress, beta);
    }
    const Ending ending = pipelinedCycle(progress, beta);
    const bool whole = isWhole(ending), rough = shifts_.rough();
    const auto compare = [&] { shifts_.compare(system, relation().hessenberg(), columns(), whole, stop.iterations()); };
    if (!rough) compare();
    const int exact = exactColumns(progress, ending);
    ladder_.ran(exact > 0 ? exact : columns(), !rough && !shifts_.unknown());
    if (exact > 0) {
      const Ending end = goOnClassically(progress, exact);
      if (rough) compare();  // the columns made classically tell, too
      return end;
    }
    if (rough) compare();
    if (this->isInVain(ending, beta)) {
      ladder_.brokeAfter(0);
      ladder_.shrink(system, stop, Cause::LostTouch, true);
      return classicalCycle(progress, beta);
    }
    const Scalar promised = columns() > 0 ? recursive() : Scalar(0);
    ladder_.ended(promised, ending == Ending::Claimed ? beta : Scalar(0));
    if (whole) {
      ladder_.succeeded(system, stop, columns(), gramSchmidt_.condition(),
                        ending == Ending::Claimed && stop.restarts() == 0);
      return ending;
    }
    ladder_.brokeAfter(columns());
    const bool gained = columns() > 0 && promised < static_cast<Scalar>(tuning::stop_test::progress) * beta;
    ladder_.shrink(system, stop, inexact_ ? Cause::Inexact : Cause::ImplicitNorm, !gained);
    return gained ? ending : classicalCycle(progress, beta);
  }

 private:
  /// A block is multiplied with the K vectors of Q known and the d t of Z after them, and orthogonalised, each in one
  /// pass; every vector of it takes a pass over Z of its own, from number L on. Averages of a cycle, and x.
  static Cost costOfBlocks(const SolverOptions& options, double d, double t) {
    const double m = options.numBlocks, ahead = (d + 1) * t - 1, corrected = std::max(m - ahead, 0.0);
    const double q = (m - t) / 2 + 1, known = std::max(q - (d - 1) * t, 1.0);
    const double flops = 2 * known + 2 * d * t - t + 1 + t + 2 * q + (corrected * (corrected + 2) + 2 * ahead) / m + 2;
    const double moved = (known + q) / t + d + 5 + (corrected * (corrected + 5) / 2 + 3 * ahead) / m + 1;
    return {1 / t, 1, 1, 2 * m + 6, flops, 8 * moved, d * t};
  }

  /// Whether the pipeline did not end before the cycle did.
  bool isWhole(Ending ending) const {
    return columns() == length() || (ending != Ending::Breakdown && ending != Ending::NotFinite);
  }

  /// The columns that are exact enough to go on from classically, where the pipeline has ended before the cycle did, or
  /// with a claim that was refuted; 0: none, or a restart does better.
  int exactColumns(Progress<Types>& progress, Ending ending) {
    const auto& stop = progress.stop();
    if (columns() == 0 || ending == Ending::UserTest || stop.exhausted()) return 0;
    if (isWhole(ending) && !this->isRefuted()) return 0;
    const int kept = this->errors(progress).most(columns(), (ladder_.depth() + 1) * t());
    return ending == Ending::Claimed && this->restartsSooner(stop, kept) ? 0 : kept;
  }

  /// Takes a broken cycle to its end classically, in the same Krylov space.
  Ending goOnClassically(Progress<Types>& progress, int kept) {
    ladder_.shrink(progress.system(), progress.stop(), Cause::BrokenAfter, false, columns(), kept);
    this->truncate(kept);
    const Ending ending = this->goOn(progress);
    ladder_.recovered();
    ladder_.ended(recursive(), Scalar(0));
    return ending;
  }

  /// Fig. 4, and Fig. 2 with t = 1.
  Ending pipelinedCycle(Progress<Types>& progress, Scalar beta) {
    auto& system = progress.system();
    begin(progress, beta);
    system.startUpEnds();
    const int most = std::min(length(), progress.stop().remaining());
    int m = most;
    bool draining = false;
    std::optional<Ending> ending;
    for (int first = 0; columns() < m && !ending; first += t()) {  // line 2
      if (const int end = expectedEnd(progress); !draining && first < m && end < std::min(first + t(), m)) {
        m = std::max(end, first);
        draining = true;
      }
      const int count = std::min(t(), m - first);
      const int ready = first - ladder_.depth() * t();  // first product of the block to be completed
      generateBlock(progress, first, count);            // lines 3, 4, 8: z_{i+1} = A M^{-1} z_i, by known columns of H
      if (ready >= 0) {
        ending = completeBlock(progress, ready, std::min(t(), m - ready));  // lines 5 to 7: started d blocks ago
        if (ending) break;
        correctLast(system, first, m);  // line 8: z_{first+t} by the first column of H just found
      }
      if (first < m) gramSchmidt_.start(system, basis(), ahead_, first, count);  // line 9: [Q Z]^T Z_block
    }
    gramSchmidt_.drain();
    if (ending) return *ending;
    return m < most ? this->goOn(progress) : Ending::Full;
  }

  /// The products that the cycle is likely to need: each costs an application of M. Without one, or with a diagonal,
  /// they cost less than reductions that nothing hides.
  int expectedEnd(Progress<Types>& progress) const {
    if (!progress.system().sparesProducts()) return ExpectedEnd::unknown;
    const int left = expected_.likely(progress.stop().target(), ExpectedEnd::TooEarly::CostsReductions);
    return left == ExpectedEnd::unknown ? left : columns() + left;
  }

  int t() const { return ladder_.t(); }
  int lag() const { return ladder_.lag(); }

  void begin(Progress<Types>& progress, Scalar beta) {
    auto& system = progress.system();
    const auto& stop = progress.stop();
    const int m = length();
    Base::begin(progress, beta);  // line 1
    expected_.begin(stop.iterations(), static_cast<double>(beta));
    const auto map = basis()[0].getMap();
    ahead_.resize(map, m + 1);
    const bool learning = system.sparesProducts() && shifts_.unknown();
    ladder_.fit(system, stop, static_cast<int>(std::min<Tpetra::global_size_t>(map->getGlobalNumElements(), m)),
                learning);  // the mean of the spectrum is a shift, but not two
    gramSchmidt_.begin(map->getComm(), m, t(), ladder_.depth(), scheme());
    again_ = lag() > 1 ? 0 : tuning::pipelined_gmres::maxAgain;
    normalizer_ = 1;
    const long before = system.products();
    if (!learning) shifts_.choose(system, map, lag(), stop.iterations());
    ladder_.learnt(system.products() - before);
    system.kernels().scale(Scalar(1), basis()[0], ahead_[0]);  // line 1
  }

  /// What CGS2 and MGS correct is known one product ahead only, and without dropping.
  PipelinedScheme scheme() const {
    return lag() > 1 || tau_ > 0 ? PipelinedScheme::Cgs1 : pipelinedScheme(options_.blockOrthogonalization);
  }

  /// Products first .. first + count - 1. The last vector of a full block waits for correctLast().
  void generateBlock(Progress<Types>& progress, int first, int count) {
    auto& system = progress.system();
    for (int i = first; i < first + count; ++i) {
      system.apply(ahead_[i], ahead_[i + 1]);  // line 3
      if (i == 0 && shifts_.unknown()) {
        shifts_.chooseOne(system, ahead_[0], ahead_[1], progress.stop().iterations());
        system.startUpEnds(1, 1);
      }
      if (i < lag()) {
        const Scalar sigma = shifts_[i];
        gramSchmidt_.recurrence().shift(i, sigma);
        if (sigma != Scalar(0)) system.kernels().axpby(-sigma, ahead_[i], Scalar(1), ahead_[i + 1]);  // line 4
      } else if (i - lag() < relation().columns()) {
        correct(system, i);  // line 8
      }
    }
  }

  void correctLast(LinearSystem<Types>& system, int first, int m) {
    const int i = first + t() - 1;
    if (i >= lag() && i < m) correct(system, i);  // line 8
  }

  /// z_{i+1} = (A z_i - sum_j b_{j,i} z_j) / b_{i+1,i}. One product ahead, z_i and A z_i are first divided by the new
  /// normaliser of the vector they were made of.
  void correct(LinearSystem<Types>& system, int i) {
    const Scalar drop = static_cast<Scalar>(tau_ * shifts_.radius());
    const auto change = gramSchmidt_.recurrence().changeOfBasis(i, relation().hessenberg(), drop);
    normalizeAndSubtract(system, ahead_, lag(), lag() + change.r.numRows(), normalizer_, ahead_[i + 1],
                         copyOf(change.r), change.norm);
    normalizer_ = 1;
  }

  /// The block's vectors of Q and columns of H, and their residuals. Nothing: go on. Collective.
  std::optional<Ending> completeBlock(Progress<Types>& progress, int first, int count) {
    auto& system = progress.system();
    const auto& stop = progress.stop();
    const PipelinedBlock block = gramSchmidt_.complete(system, basis(), ahead_, first, count, again_);  // lines 5, 6
    again_ -= block.reorthogonalized;
    if (block.reorthogonalized > 0) {
      system.tell(stop.iterations(), EventKind::Reorthogonalized);
    }
    normalizer_ = static_cast<Scalar>(block.normalizer);
    if (normalizer_ != Scalar(1)) {
      Matrix s(first + 1, 1);
      s(first, 0) = normalizer_;
      relation().reexpress(first, s);
    }
    std::optional<Ending> ending;
    for (int a = first; a < first + block.columns && !ending; ++a) {
      relation().refresh();
      inexact_ = !isExact(stop, a);
      if (inexact_) return Ending::Breakdown;
      const Matrix h = gramSchmidt_.recurrence().hessenbergColumn(a, relation().hessenberg());  // line 7
      Matrix coefficients(a + 2, 2);
      coefficients(a, 0) = 1;
      for (int j = 0; j <= a + 1; ++j) coefficients(j, 1) = h(j, 0);
      ending = this->extend(progress, a, coefficients);  // line 7
      expected_.observe(recursive());
    }
    this->closed_ = block.closed;
    if (ending) return ending;
    return block.columns == count && !block.closed ? std::nullopt : std::optional(Ending::Breakdown);
  }

  /// Whether column a of H, and so those after it, can be as exact as this solve still needs: GMRES bears errors that
  /// grow as its residual falls ([Simoncini and Szyld 2003]). Where not, the rest of the cycle is better done
  /// classically.
  bool isExact(const StopTest& stop, int a) {
    const Scalar error = gramSchmidt_.recurrence().relationError(a);
    const Scalar limit = ExactColumns<Types>::bearable(relation(), stop.target());
    const auto margin = static_cast<Scalar>(tuning::exact_columns::underestimated);
    const Scalar least = margin * ExactColumns<Types>::least();
    const auto most = shifts_.rough() && lag() == 1 ? least : static_cast<Scalar>(tuning::pipelined_gmres::mostError);
    return a == 0 || !guarded_ || error <= std::max(std::min(limit, most), least);
  }

  Ending classicalCycle(Progress<Types>& progress, Scalar beta) {
    ladder_.ended(Scalar(0), Scalar(0));
    Base::begin(progress, beta);
    const Ending ending = this->goOn(progress);
    begunAt_ = beta;
    promised_ = columns() > 0 ? recursive() : Scalar(0);
    // No claim, which would end the solve, where flexible cycles are to be tried next: brokePromise().
    const bool flexibleNext = this->isInVain(ending, beta) && mayBeNonlinear(progress.system()) && !flexible_ &&
                              progress.stop().mayRestart() &&
                              this->candidate_.norms().native > tuning::pipelined_gmres::astray * promised_;
    return flexibleNext ? Ending::Full : ending;
  }

  /// Whether the last cycle of this solve was a classical one, and has left far more than it said.
  bool brokePromise(Scalar beta) {
    const Scalar promised = std::exchange(promised_, Scalar(0));
    return promised > 0 && beta > tuning::pipelined_gmres::astray * promised &&
           beta > static_cast<Scalar>(tuning::pipelined_gmres::brokenPart) * begunAt_;
  }

  /// Whether M, from the right alone, has not been cleared of not being linear.
  bool mayBeNonlinear(LinearSystem<Types>& system) const { return system.hasRight() && !system.hasLeft() && !cleared_; }

  /// It was M that broke the promise of a cycle, if it is not linear: flexible cycles keep theirs then. Where one does
  /// not, either, M is cleared.
  void changeDirections(LinearSystem<Types>& system, int iteration) {
    using Directions = typename KrylovSpace<Types>::Directions;
    if (!mayBeNonlinear(system)) return;
    cleared_ = flexible_;
    flexible_ = !flexible_;
    system.tell(iteration, flexible_ ? EventKind::FlexibleFromNow : EventKind::FlexibleNoLonger);
    if (flexible_) ahead_ = {};  // the directions take its place
    space().resize(basis()[0].getMap(), length(), flexible_ ? Directions::Flexible : Directions::None);
  }

  bool guarded_;
  PipelineLadder<Types> ladder_;
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
