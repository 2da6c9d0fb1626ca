#pragma once
/// \file
/// The restart loop all GMRES methods share: true residual, a cycle of the method at hand, solution update, and again.
///
/// Source: [Saad and Schultz 1986], algorithm 4; flexible variant [Saad 1993]. What a cycle is made of stands in
/// gmres_cycle.hpp, its space with the table of symbols in krylov_space.hpp, the iterate it leads to in
/// candidate_iterate.hpp.
///
/// Cost of a restart, and of a claim that is examined: 1 reduction, 1 A, 1 M_L^{-1}, 1 M_R^{-1}, m + 1 vectors read
/// once. A claim that stands is examined once, not again when x is updated.

#include <limits>

#include "belos_ext/solvers/gmres/gmres_cycle.hpp"
#include "belos_ext/solvers/gmres/restart_length.hpp"
#include "belos_ext/supervision/krylov_solver.hpp"
#include "belos_ext/supervision/rounding_level.hpp"

namespace capstan {

template <class Types>
class RestartedGmres : public KrylovSolver<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Matrix = SmallMatrix<Scalar>;

  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) final {
    using Update = typename CandidateIterate<Types>::Update;
    auto& candidate = cycle_.candidate();
    starts(system);
    ResidualNorms norms = firstResiduals(system, b, x, stop);
    system.startUpEnds();
    while (!stop.over()) {
      const CycleOutcome outcome = iterate(system, static_cast<Scalar>(norms.native), stop);
      if (outcome.columns == 0) {
        stop.stop(outcome.finite ? StopReason::Breakdown : StopReason::NonFinite);
        break;
      }
      const Update made = candidate.take(system, cycle_.space(), outcome.columns, norms);
      if (made == Update::Refused) {
        system.tell(stop.iterations(), "refused", "what a cycle found would make the residual larger");
      }
      if (made == Update::NotFinite) {
        stop.stop(StopReason::NonFinite);
      } else if (!stop.verified(norms, outcome.claimed)) {
        if (outcome.stopped) stop.stop(StopReason::UserTest);
        if (outcome.claimed) {
          system.tell(stop.iterations(), "residual replacement",
                      "the computed residual does not meet the tolerance yet");
        }
        if (outcome.claimed) rounding_.ends(system, x, stop);
        stop.restarted(outcome.claimed);
      }
    }
    candidate.goBack(system, norms, stop);
    ended(system, stop);
  }

 protected:
  /// Drops what recall() took over: the ranks do not agree on it.
  virtual void forget() {}

  /// A solve begins, with nothing sent yet; it is over.
  virtual void starts([[maybe_unused]] LinearSystem<Types>& system) {}
  virtual void ended([[maybe_unused]] LinearSystem<Types>& system, [[maybe_unused]] const StopTest& stop) {}

  /// Takes the restart length of these options, and whether the preconditioner may change.
  void configureCycles(const SolverOptions& options) {
    wantedLength_.configure(options);
    flexible_ = options.flexible;
  }

  /// Vectors that are kept with a right preconditioner to save an application of it.
  static double keptVectors(const SolverOptions& options, bool preconditioned) {
    return preconditioned && options.keepPreconditionedBasis != KeepBasis::Off ? options.numBlocks : 0;
  }

  /// Vectors that each iteration of a cycle adds to what is kept.
  virtual std::size_t bases() const { return flexible_ ? 2 : 1; }

  /// Runs one cycle from q_0 = M_L^{-1} r / beta: fills Q and H, counts iterations, stops at the target. Collective.
  virtual CycleOutcome iterate(LinearSystem<Types>& system, Scalar beta, StopTest& stop) = 0;

  bool flexible_ = false;
  GmresCycle<Types> cycle_;  ///< its length is what the ranks have agreed on, from the first reduction of a solve on

 private:
  /// The residuals of the guess, judged, and room for the cycles. 1 reduction, 1 A, 1 M_L^{-1}.
  ResidualNorms firstResiduals(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    auto& candidate = cycle_.candidate();
    candidate.begin(system, b, x);
    auto& batch = candidate.batch();
    batch.clear();
    const auto native = batch.norm2(candidate.native()), explicit_ = batch.norm2(candidate.residual());
    const auto rhs = batch.norm2(b);
    const auto bytes = static_cast<double>(b.getLocalLength() * sizeof(Scalar));
    const bool keepable = bases() == 1 && system.hasRight() && !system.hasLeft();
    wantedLength_.enter(batch, static_cast<double>(bases()) * bytes, keepable ? bytes : 0);
    system.reduce(batch);
    const int length = wantedLength_.agreed(batch);
    if (length < wantedLength_.wanted()) {
      system.tell(0, "restart length", std::to_string(length) + ": longer bases would take too much memory");
    }
    if (!system.agreesOnState()) forget();
    using Directions = typename KrylovSpace<Types>::Directions;
    const Directions directions = flexible_                                ? Directions::Flexible
                                  : keepable && wantedLength_.keeps(batch) ? Directions::Kept
                                                                           : Directions::None;
    cycle_.resize(b.getMap(), limited(length, b, stop), directions);
    const Scalar zz = batch[native], rr = batch[explicit_], bb = batch[rhs];
    const ResidualNorms norms{system.norm(candidate.native(), zz, batch), system.norm(candidate.residual(), rr, batch),
                              system.measured()};
    stop.begin(norms, system.norm(b, bb, batch));
    stop.verified(norms, false);
    return norms;
  }

  /// No cycle can be longer than the iterations there may be, or than the Krylov space.
  static int limited(int length, const MultiVector& b, const StopTest& stop) {
    const auto rows = std::min<Tpetra::global_size_t>(b.getGlobalLength(), std::numeric_limits<int>::max());
    return std::max(1, std::min({length, stop.criteria().maxIterations, static_cast<int>(rows)}));
  }

  RoundingLevel<Types> rounding_;
  RestartLength<Types> wantedLength_;
};

}  // namespace capstan
