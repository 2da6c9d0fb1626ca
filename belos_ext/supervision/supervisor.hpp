#pragma once
/// \file
/// One solve by a method that follows b - A x, or minimises it in a Krylov space: the supervisor begins it, lets the
/// method run cycle by cycle, judges each by the residual computed from x, and decides what comes next.
///
/// | how a cycle ended         | what comes next                                                                |
/// |---------------------------|--------------------------------------------------------------------------------|
/// | claimed, replacement,     | b - A x decides. It meets the tolerance: converged. Nothing but rounding is    |
/// | limit                     | left of it, or the limit is reached: over. Else it takes the place of the      |
/// |                           | recursive residual; the direction stays where the two are the same             |
/// | breakdown, not finite     | restart from b - A x; over, or the next method, where not even a step was made |
/// | overflow, underflow,      | the next method                                                                |
/// | not linear, unfit         |                                                                                |
/// | skew                      | restart from b - A x                                                           |
/// | stagnant                  | restart; the next method, where several cycles in a row have gained nothing    |
/// | full                      | restart; over, where it was one too many, or several left x as it was          |
/// | renewed                   | the next cycle, from what this one has left                                    |
/// | of a trial, too slow      | the next method                                                                |
/// | hands over                | the next method, along the last direction where that is good                   |
///
/// x is never left worse than the application's guess, in the norm that is judged, but where its own test has ended the
/// solve.
///
/// Cost beyond the cycles: 1 A and 1 reduction for the first residual, each claim, replacement and restart.

#include <algorithm>
#include <limits>
#include <utility>

#include "belos_ext/convergence/stop_test.hpp"
#include "belos_ext/supervision/judged_residual.hpp"
#include "belos_ext/supervision/krylov_solver.hpp"
#include "belos_ext/supervision/method.hpp"
#include "belos_ext/supervision/next_method.hpp"
#include "belos_ext/supervision/progress.hpp"
#include "belos_ext/supervision/rounding_level.hpp"

namespace capstan {

template <class Types>
class Supervisor : public KrylovSolver<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  void setNext(const MethodTraits& method) final { next_.set(method); }
  void configure(const SolverOptions& options) override {
    replacement_ = options.residualReplacement;
    residual_.configure(treatment_.symmetric ? options.nullSpace : NullSpace::None);
    next_.configure(options);
    next_.forget();
  }
  void recall(const SolverState& state) final {
    method_.recall(state);
    next_.recall(state);
  }
  void remember(SolverState& state) const final {
    method_.remember(state);
    if (defers_) next_.remember(state);
  }
  int finalStepSize() const final { return method_.finalStepSize(); }

  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) final {
    defers_ = method_.defers(system);
    leftAt_ = std::numeric_limits<int>::max();
    if (defers_) {
      system.tell(0, EventKind::ClassicalFromStart);
      next_.solve(system, b, x, stop);
    } else {
      solveByMethod(system, b, x, stop);
    }
    method_.learn(system, stop, std::min(leftAt_, stop.iterations()));
  }

  void takeOver(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop,
                const MultiVector* direction) final {
    if (direction == nullptr) {
      method_.takesOver();
      return solve(system, b, x, stop);
    }
    prepare(system, b, x, stop);
    if (!method_.startAlong(progress_, *direction)) return solve(system, b, x, stop);
    progress_.watch(residual_.attained().explicit_);
    run(Start::GoOn);
    residual_.settle(system, b, x, stop, treatment_.mayOverflow);
  }
  void abandon(LinearSystem<Types>& system, MultiVector& x, const StopTest& stop) final {
    if (defers_) return next_.abandon(system, x, stop);
    if (!(stop.recursive() <= residual_.initial().explicit_)) residual_.restoreGuess(system, x);
  }

 protected:
  Supervisor(Method<Types>& method, const Treatment& treatment) : method_(method), treatment_(treatment) {}

  /// What the method has recalled.
  virtual void forget() = 0;

 private:
  void solveByMethod(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    prepare(system, b, x, stop);
    auto& r = *method_.residual();
    const auto enter = [&](ReductionBatch<Types>& batch) { method_.enter(system, batch); };
    const auto take = [&] {
      if (!system.agreesOnState()) {
        forget();
        next_.forget();
      }
      method_.take(system);
    };
    const auto native = [&] { return method_.nativeNorm(system); };
    using Native = std::function<double()>;
    if (residual_.begin(system, b, x, stop, r,
                        {enter, take, treatment_.minimises ? native : Native(), treatment_.judges})) {
      progress_.watch(residual_.attained().explicit_);
      run(residual_.changed() ? Start::Anew : Start::First);
    }
    method_.ended(progress_);
    const bool moved =
        treatment_.minimises ? progress_.hasFormed() : stop.reason() != StopReason::NonFinite || stop.iterations() > 0;
    if (moved) residual_.settle(system, b, x, stop, treatment_.mayOverflow);
  }

  void prepare(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    residual_.prepare(b);
    method_.prepare(system, b, residual_);
    progress_.begin(system, b, x, stop, method_, residual_, treatment_, replacement_, next_.wanted());
    fruitless_ = 0;
  }

  void run(Start start) {
    auto& stop = progress_.stop();
    for (first_ = true; !stop.over(); first_ = false) {
      if (!first_ && treatment_.goesBack) before_.keep(progress_.system(), progress_.x());
      progress_.beginCycle();
      if (!treatment_.minimises && residual_.mayUnderflow() && next_.wanted()) {
        leave(Ending::Underflow);
        return;
      }
      const bool fresh = start == Start::First || start == Start::Anew;
      const Ending ending = method_.cycle(progress_, start);
      if (stop.over()) return;
      start = judge(ending, treatment_.minimises || (fresh && progress_.steps() == 0));
    }
  }

  /// b - A x decides. Where the solve is not over, what the next cycle begins with. Collective.
  /// \param empty where the cycle broke down it has given nothing: no first step, and nothing is kept from earlier ones
  Start judge(Ending ending, bool empty) {
    auto& stop = progress_.stop();
    const bool claimed = ending == Ending::Claimed;
    if (ending == Ending::HandsOver) return leave(ending);
    if (ending == Ending::Renewed) {
      if (method_.why() != Cause::None) progress_.tell({EventKind::PipelineWarm, method_.why(), method_.depth()});
      stop.restarted(true);
      return Start::GoOn;
    }
    if (empty && ending == Ending::NotFinite) return end(StopReason::NonFinite);
    const double before = progress_.begunAt(), recursive = progress_.recursive();
    if (empty && (ending == Ending::Breakdown || ending == Ending::Unfit) && treatment_.mostFruitless == 0) {
      return leave(ending);
    }
    const bool wentBack = compute(ending, before);
    if (std::isinf(residual_.attained().explicit_) && next_.wanted() && !stop.exhausted()) return leave(ending);
    if (residual_.judge(progress_.system(), stop, claimed && !wentBack)) {
      const bool limited = stop.reason() == StopReason::MaxIterations || stop.reason() == StopReason::MaxRestarts;
      if (ending == Ending::UserTest && limited) return end(StopReason::UserTest);
      if (claimed && stop.reason() == StopReason::Stagnation && stop.recursionIsWrong())
        rounding_.ends(progress_.system(), progress_.x(), stop);
      return Start::Anew;
    }
    if (ending == Ending::UserTest) return end(StopReason::UserTest);
    slow_ = stop.takeLeave();
    if (slow_ && next_.wanted()) return leave(ending);
    if (claimed && !treatment_.replaces) {
      progress_.tell(EventKind::ClaimRefuted);
    }
    const bool apart = stop.recursionIsWrong() || !progress_.isTrue();
    if ((claimed || !treatment_.replaces) && ending != Ending::Full && apart &&
        rounding_.ends(progress_.system(), progress_.x(), stop)) {
      return Start::Anew;
    }
    if (claimed && treatment_.replaces && stop.cameEarly() && progress_.isTrue()) return Start::GoOn;
    if (claimed && treatment_.replaces && replacement_.mode == ResidualReplacement::Mode::Off) {
      return end(StopReason::Stagnation);
    }
    if (ending == Ending::Unfit || ending == Ending::NotLinear || ending == Ending::Overflow) return leave(ending);
    return treatment_.replaces ? replace(ending, recursive) : restart(ending, before);
  }

  /// r = b - A x, of the x that the cycle began with where the one it leaves is worse and the method goes back. The x
  /// that a test of the application has seen stays, and one that it wants at the limit. Returns whether it went back.
  bool compute(Ending ending, double before) {
    auto& system = progress_.system();
    if (!progress_.examined()) {
      residual_.use(*method_.residual());
      residual_.compute(system, progress_.b(), progress_.x(), treatment_.goesBack);
    }
    const bool asked = ending == Ending::UserTest || (ending == Ending::Limit && progress_.stop().criteria().keepsLast);
    if (!treatment_.goesBack || (residual_.finite() && (asked || residual_.attained().explicit_ <= before)))
      return false;
    if (first_) residual_.restoreGuess(system, progress_.x());
    if (!first_) before_.restore(system, progress_.x());
    progress_.tell(EventKind::BackToCycle);
    residual_.use(*method_.residual());
    residual_.compute(system, progress_.b(), progress_.x(), true);
    return true;
  }

  /// b - A x takes the place of the recursive residual.
  Start replace(Ending ending, double recursive) {
    auto& stop = progress_.stop();
    const bool breaks = ending == Ending::Breakdown || ending == Ending::NotFinite || ending == Ending::Skew;
    const bool same = residual_.rest() <= tuning::stop_test::trusted * recursive;
    const bool lost = !same || (!treatment_.keepsSpace && !progress_.isTrue());
    if (breaks) {
      progress_.tell({treatment_.restart, cause(ending), method_.depth()});
    } else {
      progress_.tell(ending == Ending::Claimed ? EventKind::ClaimRefuted
                     : lost                    ? EventKind::ResidualRestarted
                                               : EventKind::ResidualReplaced);
    }
    stop.restarted(true);
    progress_.replaced(residual_.rest());
    return breaks || lost || !method_.keepsDirection() ? Start::Anew : Start::Direction;
  }

  /// A new cycle, or the next method where several in a row have gained nothing.
  Start restart(Ending ending, double before) {
    auto& stop = progress_.stop();
    stop.restarted(ending == Ending::Claimed || ending == Ending::Replacement);
    if (stop.over() || treatment_.minimises) return Start::Anew;
    fruitless_ = residual_.attained().explicit_ < tuning::bicgstab::progress * before ? 0 : fruitless_ + 1;
    if (fruitless_ >= treatment_.mostFruitless) return leave(ending);
    progress_.tell({treatment_.restart, cause(ending)});
    return Start::Anew;
  }

  /// The next method, from the better of x and the guess, or along a direction from x; the solve is over afterwards.
  Start leave(Ending ending) {
    auto& stop = progress_.stop();
    if (!next_.wanted()) {
      return end(ending == Ending::Breakdown ? StopReason::Breakdown : StopReason::Stagnation);
    }
    const Why why = ending == Ending::Unfit && progress_.seen() != Cause::None ? Why(progress_.seen(), cause(ending))
                    : std::isinf(residual_.attained().explicit_)               ? Cause::Unbounded
                                                                               : cause(ending);
    const bool along = ending == Ending::HandsOver && !residual_.constants().hasTakenOut();
    // Without a direction the next method does best where it begins as it would alone, unless much has been gained.
    const bool hardlyBegun = first_ && method_.direction() == nullptr && progress_.steps() <= method_.depth() + 1 &&
                             !(progress_.recursive() < tuning::bicgstab::progress * residual_.initial().explicit_);
    const bool misled = slow_ && isAsymmetric();
    if (misled || (ending == Ending::HandsOver && hardlyBegun && progress_.steps() > 0)) {
      residual_.goBack(progress_.system(), progress_.x(), stop);
      progress_.tell(EventKind::BackToStart);
    } else if (ending != Ending::HandsOver && !(residual_.attained().explicit_ <= residual_.initial().explicit_)) {
      residual_.goBack(progress_.system(), progress_.x(), stop);
    } else if (ending != Ending::HandsOver) {
      residual_.takeOutOfIterate(progress_.system(), progress_.b(), progress_.x(), stop);
    }
    leftAt_ = stop.iterations();
    next_.goOn(progress_.system(), progress_.b(), progress_.x(), stop, why, along ? method_.direction() : nullptr);
    residual_.attain(stop.norms());
    return Start::Anew;
  }

  Start end(StopReason reason) {
    progress_.stop().stop(reason);
    return Start::Anew;
  }

  /// Whether A is known not to be symmetric, which the method needs.
  bool isAsymmetric() const { return treatment_.symmetric && progress_.isNonsymmetric(); }

  Cause cause(Ending ending) const {
    if (slow_) return isAsymmetric() ? Cause::NotSymmetric : Cause::Slow;
    if (method_.why() != Cause::None) return method_.why();
    switch (ending) {
      case Ending::Claimed:
        return Cause::Unmet;
      case Ending::Stagnant:
      case Ending::Unfit:
        return Cause::NoProgress;
      case Ending::NotLinear:
        return Cause::NotLinear;
      case Ending::NotFinite:
        return Cause::RecurrencesOverflow;
      case Ending::Skew:
        return Cause::LostOrthogonality;
      case Ending::Overflow:
        return Cause::IterateOverflows;
      case Ending::Underflow:
        return Cause::SquaresUnderflow;
      default:
        return Cause::Breakdown;
    }
  }

  Method<Types>& method_;
  const Treatment treatment_;
  ResidualReplacement replacement_;
  bool first_ = true;    ///< cycle of the solve
  bool defers_ = false;  ///< the next method solves from the start
  int leftAt_ = 0;       ///< iterations before the next method has gone on
  bool slow_ = false;    ///< a trial that takes too long (StopCriteria::handsOverAt)
  int fruitless_ = 0;    ///< cycles in a row that gained nothing
  JudgedResidual<Types> residual_;
  Progress<Types> progress_;
  RoundingLevel<Types> rounding_;
  KeptIterate<Types> before_;  ///< the cycle that is running
  NextMethod<Types> next_;
};

/// A method with its supervisor: what a row of the registry makes. The method gets no options but its own.
/// \tparam Given where rows share a method: those of the row
template <class Types, class Numerics, class Given = typename Numerics::Options>
class Supervised final : public Supervisor<Types> {
 public:
  using Options = Given;

  static Cost cost(const SolverOptions& options, bool preconditioned) {
    return Numerics::cost(options, preconditioned);
  }
  template <class... Arguments>
  explicit Supervised(Arguments... arguments)
      : Supervisor<Types>(numerics_, Numerics::treatment), numerics_(arguments...) {}

  void configure(const SolverOptions& options) override {
    given_ = options;
    numerics_.configure(given_);
    Supervisor<Types>::configure(options);
  }

  Numerics& numerics() { return numerics_; }

 private:
  void forget() override { numerics_.forget(given_); }

  Numerics numerics_;
  Options given_;
};

}  // namespace capstan
