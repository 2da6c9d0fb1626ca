#pragma once
/// \file
/// Deep pipelined conjugate gradients, p(l)-CG, any depth l >= 1.
///
/// Source: [deep-pipelined-cg], algorithm 1, with the stable multi-basis recurrences.
///
/// Cost of an iteration: 1 nonblocking reduction of l + 2 numbers (l + 1 for G, and |q|^2; one more with a
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
/// Cost of a restart: 2 blocking reductions, 1 A (2 A and 1 M^{-1} where the residual is computed anew), l A to fill.
///
/// Where M is negative definite, products are those with -M; where M^{-1} A is, so are T and the shifts: A and M may be
/// so alone or together, and the steps are those with -A, or -M.
///
/// Breakdown ladder, each step in the report: bounds of an earlier solve that do not fit are estimated anew -> restart,
/// warm where the direction still has the products it should have,
/// from the computed residual where not -> half the depth -> CAPSTAN CG, which goes on from the same residual and
/// direction. Later solves with the same A begin with the depth that it has come down to, or are CAPSTAN CG's, and cost
/// what those do: pipeline_memory.hpp.

#include <algorithm>
#include <cmath>

#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/problem/kept_iterate.hpp"
#include "belos_ext/problem/rows_first.hpp"
#include "belos_ext/solvers/pipelined_cg/pipelined_cg_cycle.hpp"
#include "belos_ext/spectrum/spectral_interval.hpp"
#include "belos_ext/supervision/next_method.hpp"
#include "belos_ext/supervision/pipeline_memory.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan {

template <class Types>
class PipelinedCg final : public PipelinedCgCycle<Types> {
 public:
  using Base = PipelinedCgCycle<Types>;
  using typename Base::MultiVector;
  using typename Base::Scalar;

  /// A sweep makes l + 1 three-term recurrences (l + 2 with a preconditioner), p and x; then come l + 2 products.
  static Cost cost(const SolverOptions& options, bool preconditioned) {
    const double l = options.pipelineDepth, more = preconditioned ? 1 : 0;
    const double vectors = 2 * l + std::max(l, 3.0) + 2 + more * (2 * l + 3);
    const double recurrences = (l + 1) * (1 + more), read = 2 * l + 5 + more * (2 * l + 3);
    const double multiplied = l + 1 + 2 * more;  // vectors in products
    return {1, 1, 1, vectors, 5 * recurrences + 5 + 2 * (l + 2 + more), 8 * (read + recurrences + 2 + multiplied)};
  }

  void configure(const SolverOptions& options) override {
    options_ = options;
    bounds_.configure(options);
    constants_.configure(options.nullSpace);
    classical_.configure(options);
    classical_.recall(SolverState());
    expected_.forget();
    memory_.configure(options);
  }
  void setNext(const MethodTraits& method) override { classical_.set(method); }
  void recall(const SolverState& state) override {
    bounds_.recall(state);
    expected_.recall(state.iterations);
    memory_.recall(state);
    classical_.recall(state);
  }
  void remember(SolverState& state) const override {
    bounds_.remember(state);
    memory_.remember(state);
    if (memory_.isClassical()) classical_.remember(state);
  }

  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) override {
    memory_.begin(system.products());
    pipelined_ = std::numeric_limits<int>::max();
    if (memory_.isClassical()) {
      system.tell(0, EventKind::ClassicalFromStart);
      classical_.solve(system, b, x, stop);
    } else {
      run(system, b, x, stop);
      if (!stop.converged() && stop.reason() != StopReason::UserTest) settle(system, x, stop);
    }
    memory_.end(stop, system.products(), std::min(pipelined_, stop.iterations()));
  }

 private:
  void run(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    chooseDepth(system, b, stop);
    constants_.begin(system, b);
    for (Restart restart = Restart::First; !stop.over();) {
      prepare(system, b);
      if (!begin(system, b, x, stop, restart)) return;
      // A short pipeline finds its shifts with its first product.
      const bool roughly = learnsShifts(system) && l() == 1;
      const long before = system.products();
      const EigenvalueBounds used = roughly ? EigenvalueBounds{} : this->bounds(system, stop.iterations());
      memory_.leaveOut(system.products() - before);
      lanczos_.reset(roughly ? std::vector<Scalar>() : chebyshevPoints<Scalar>(used, l()));
      expected_.begin(stop.iterations(), perNorm_ * static_cast<double>(nu_));
      system.startUpEnds(0, 1);
      const Ending ending = iterate(system, b, x, stop);
      products_.drain();  // completes what is still in flight
      const bool whole = stop.over() || (ending != Ending::Skew && ending != Ending::Breakdown);
      const bool fitted = bounds_.learn(lanczos_, system, whole, stop.iterations());
      if (stop.over()) return;
      const int depth = l();
      restart = fitted || whole ? recover(system, stop, ending) : Restart::Cold;
      if (depth_.hasFailed()) memory_.failed(depth, l(), 1, stop, !roughly && bounds_.wouldBe(used));
      if (depth_.givenUp()) return goClassical(system, b, x, stop, restart);
      stop.restarted(true);
    }
  }

  using Base::a_, Base::bases_, Base::bounds_, Base::depth_, Base::directionShould_, Base::expected_, Base::kept_,
      Base::lanczos_, Base::nu_, Base::ofM_, Base::ofSpectrum_, Base::options_, Base::overflows_;
  using Base::check_, Base::constants_, Base::iterate, Base::l, Base::prepare, Base::top, Base::u;
  using Base::p_, Base::perNorm_, Base::preconditioned_, Base::products_, Base::restart_, Base::scratch_, Base::zeta_;
  using typename Base::Ending;

  /// The sign of A.
  Scalar ofA() const { return ofM_ * ofSpectrum_; }

  /// Where a cycle begins. First, Cold, Judged: with the residual computed from x, judged already or not. Replaced:
  /// with that and the last direction. Warm: with the residual of the recurrences and the last direction.
  enum class Restart { First, Cold, Judged, Replaced, Warm };

  /// u_0 and z_0 = M^{-1} u_0 of the next cycle, nu^2 = (u_0, z_0), s = A p. A residual computed from x is judged here.
  /// False when the solve is over.
  bool begin(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, Restart restart) {
    const bool first = restart == Restart::First;
    if (restart == Restart::Replaced) kept_.keep(system, *p_, ofA());
    if (restart != Restart::Replaced && restart != Restart::Warm) kept_.forget();
    const bool computed = restart != Restart::Warm;
    if (computed) system.residual(b, x, u(0));
    // No A x has this constant, so that what is left is no residual to be judged: follow() counts it in.
    const bool projected = computed && constants_.ofResidual(), replaced = restart == Restart::Replaced;
    if (replaced && !projected) {
      kept_.minimizeAlong(system, *restart_, *p_, x, u(0));
      system.takeMeasure(u(0));  // of the x that is judged, with its rows
    }
    if (computed) rows_.takeOut(system, u(0));
    if (projected) constants_.takeOut(system, u(0), *restart_);
    if (replaced && projected) kept_.minimizeAlong(system, *restart_, *p_, x, u(0));
    if (computed && preconditioned_) system.precondition(u(0), scratch_.get(), top(0));
    auto& batch = *restart_;
    batch.clear();
    const auto uz = batch.dot(u(0), top(0)), uu = batch.norm2(u(0)), bb = first ? batch.norm2(b) : uu;
    const auto xx = first ? batch.norm2(x) : uu, sumX = first ? batch.sum(x) : uu;
    kept_.enter(batch, *p_, top(0));
    rows_.enter(batch);
    const auto sum = constants_.undecided() ? constants_.enter(batch, u(0)) : uu;
    system.reduce(batch);
    if (first && !system.agreesOnState()) {
      configure(SolverOptions(options_));
      chooseDepth(system, b, stop);  // some ranks knew shifts, and others did not
      prepare(system, b);
    }
    // What is known not to be symmetric has no sign.
    if (first) ofM_ = batch[uz] < 0 && !system.isNonsymmetric() ? -1 : 1;
    products_.setSign(ofM_);
    const Scalar square = ofM_ * batch[uz], norm2 = batch[uu], rhs = batch[bb], size = batch[xx], constant = batch[sum],
                 entries = batch[sumX];
    const Scalar rest = computed ? rows_.left(batch) : Scalar(0);
    nu_ = std::sqrt(std::max(square, Scalar(0)));
    kept_.take(batch, nu_);
    const double norm = computed ? rows_.norm(system, u(0), rest, norm2, batch) : system.norm(u(0), norm2, batch);
    const ResidualNorms norms{norm, norm, system.measured()};
    perNorm_ = ratioOr(rest > 0 ? std::sqrt(static_cast<double>(norm2)) : norm, static_cast<double>(nu_), 0.0);
    if (first) {
      guess_.keepGuess(system, x, size, entries);
      const double whole = system.norm(b, rhs, batch);
      const bool scaled = system.hasLeft() && stop.criteria().scalesByNative();
      stop.begin(norms, whole, scaled ? rows_.nativeNorm(system, u(0), *check_, batch) : norm);
    }
    if (first) initial_ = norms;
    if (computed) overflows_ = !first && !std::isfinite(norm);
    if (computed && restart != Restart::Judged && !projected) stop.verified(norms, false);
    if (projected && (stop.exhausted() || !std::isfinite(square))) {
      stop.verified(Base::computeResidual(system, b, x).whole, false);  // the solve ends: 1 A, 1 reduction
    }
    if (!stop.over() && !std::isfinite(square)) {
      if (!computed) return begin(system, b, x, stop, Restart::Cold);
      stop.stop(StopReason::NonFinite);
    }
    if (!stop.over() && first && rows_.matters(u(0), rest, rhs, norm2)) {
      rows_.solve(system, stop.iterations(), b, x, u(0));
      return begin(system, b, x, stop, Restart::Cold);
    }
    if (!stop.over() && first && findConstant(system, stop, constant, norm2)) {
      return begin(system, b, x, stop, Restart::Judged);
    }
    // A square that may have underflowed says nothing about (u_0, M^{-1} u_0).
    const Scalar least = static_cast<Scalar>(b.getGlobalLength()) * std::numeric_limits<Scalar>::min();
    if (!stop.over() && !(square > least)) goClassical(system, b, x, stop, Restart::Cold);
    return !stop.over();
  }

  /// x = the guess, where steps or b - A x have overflowed, or the residual is larger than that of the guess. One
  /// reduction, after solves that failed only.
  void settle(LinearSystem<Types>& system, MultiVector& x, StopTest& stop) {
    restart_->clear();
    const auto bad = restart_->value(system.kernels().finite(x) ? Scalar(0) : Scalar(1));
    system.reduce(*restart_);
    const bool overflows = (*restart_)[bad] != Scalar(0) || overflows_;
    if (!overflows && (stop.keepsLast() || !stop.isWorse(stop.norms(), initial_))) return;
    guess_.restore(system, x);
    stop.wentBack(initial_);
    system.tell(stop.iterations(), overflows ? EventKind::BackFromOverflow : EventKind::BackToGuess);
  }

  /// Whether u_0 has a constant that is to be taken out, from its sum and its square. 1 A and a reduction where it has
  /// one. Constants in what M makes are left to CAPSTAN CG, which takes over where they spoil the recurrences: here a
  /// sum is known l products after the vector has been used.
  bool findConstant(LinearSystem<Types>& system, const StopTest& stop, Scalar sum, Scalar square) {
    if (!constants_.needsImage(system, sum, square) || !constants_.matters(sum, square)) return false;
    system.act(Action::Operator, u(0), *check_);
    auto& batch = *restart_;
    batch.clear();
    const auto ofImage = constants_.enter(batch, *check_), image = batch.norm2(*check_);
    system.reduce(batch);
    return constants_.judge(system, stop, sum, batch[ofImage], batch[image]) && constants_.ofResidual();
  }

  /// The next step of the ladder after a cycle that did not end the solve.
  Restart recover(LinearSystem<Types>& system, StopTest& stop, Ending ending) {
    if (ending == Ending::Replacement) return Restart::Replaced;
    Restart restart = Restart::Cold;
    if (ending == Ending::Drained) {
      depth_.giveUp(Cause::Drained);
      return Restart::Warm;
    }
    if (ending == Ending::Drift) restart = Restart::Judged;
    if (ending == Ending::Learnt) {
      depth_.learnt();
      system.tell(stop.iterations(), {EventKind::DepthFromNow, l()});
      bases_.restartFrom(system, a_, zeta_);
      return directionIsGood(system, stop.iterations()) ? Restart::Warm : Restart::Cold;
    }
    if (ending == Ending::Skew) {  // |q_a|^2 is known l steps late: the direction itself tells how good it is now
      bases_.restartFrom(system, a_, zeta_);  // the residual u_a zeta_a
      const bool few = stop.iterations() <= tuning::pipelined_cg::fewIterations;
      if (!few && directionIsGood(system, stop.iterations())) restart = Restart::Warm;
    }
    depth_.setback(a_ + 1, ending == Ending::Breakdown || ending == Ending::Exhausted);
    if (depth_.givenUp()) return restart;
    if (ending == Ending::Drift) {
      system.tell(stop.iterations(), EventKind::ResidualLeftBehind);
    } else {
      const Cause cause = ending == Ending::Skew        ? Cause::LostOrthogonality
                          : ending == Ending::Breakdown ? Cause::SquareRoot
                                                        : Cause::Exhausted;
      system.tell(stop.iterations(),
                  {restart == Restart::Warm ? EventKind::PipelineWarm : EventKind::PipelineCold, cause, l()});
    }
    return restart;
  }

  /// Conjugacy to a spoilt direction does harm: a new beginning costs the iterations done at most, an error e in the
  /// direction the more the larger e is. Late, half the digits are enough. One application of A and one blocking
  /// reduction.
  bool directionIsGood(LinearSystem<Types>& system, int iterations) {
    const Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
    const Scalar tolerance = iterations <= tuning::pipelined_cg::early
                                 ? tuning::pipelined_cg::goodDirection * epsilon
                                 : tuning::pipelined_cg::lateDirection * std::sqrt(epsilon);
    kept_.keep(system, *p_, ofA());
    return kept_.agrees(system, *restart_, *p_, top(0), zeta_, directionShould_, tolerance);
  }

  void goClassical(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, Restart restart) {
    pipelined_ = stop.iterations();
    const Cause why = depth_.reason() == Cause::None ? Cause::PipelineBreakdown : depth_.reason();
    const bool along = restart == Restart::Warm && !constants_.ofResidual();
    classical_.goOn(system, b, x, stop, why, along ? p_.get() : nullptr);
    overflows_ = false;
  }

  /// Whether shifts come from products that count: an estimate costs applications of M that do not.
  bool learnsShifts(LinearSystem<Types>& system) const { return system.sparesProducts() && !bounds_.known(); }

  void chooseDepth(LinearSystem<Types>& system, const MultiVector& b, StopTest& stop) {
    const auto rows = b.getGlobalLength();
    const int most = static_cast<int>(
        std::min<Tpetra::global_size_t>(std::max<Tpetra::global_size_t>(rows, 1), tuning::pipelined_cg::deepest));
    int asked = options_.pipelineDepth;
    if (const auto* works = memory_.works(); works != nullptr && works->depth < std::min(asked, most)) {
      asked = works->depth;
      system.tell(stop.iterations(), {EventKind::DepthFromEarlier, asked});
    }
    depth_.begin(asked, most, learnsShifts(system));
    if (asked > most) {
      system.tell(stop.iterations(), {EventKind::DepthReduced, asked, most});
    }
  }

  RowsFirst<Types> rows_;
  ResidualNorms initial_;
  KeptIterate<Types> guess_;
  PipelineMemory memory_;
  int pipelined_ = 0;  ///< iterations before CAPSTAN CG goes on; without end where it does not
  NextMethod<Types> classical_;
};

}  // namespace capstan
