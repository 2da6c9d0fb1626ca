#pragma once
/// \file
/// The solvers of several right-hand sides, one for each: kept from solve to solve with their storage, and run
/// together, so that they share reductions, or one after the other.

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "belos_ext/guess/guess_session.hpp"
#include "belos_ext/manager/direct_system.hpp"
#include "belos_ext/manager/lockstep.hpp"
#include "belos_ext/manager/monitor.hpp"
#include "belos_ext/manager/split_system.hpp"
#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/supervision/krylov_solver.hpp"

namespace capstan {

template <class Types>
class RightHandSideSolvers {
 public:
  using MultiVector = typename Types::MultiVector;

  explicit RightHandSideSolvers(const MethodTraits& method) : method_(method) {}

  /// One solver for each of the right-hand sides, with these options and what is known of earlier solves. Local.
  void configure(std::size_t count, const SolverOptions& options, const std::optional<SolverState>& known) {
    while (solvers_.size() < count) solvers_.push_back(makeKrylovSolver<Types>(method_));
    solvers_.resize(count);
    for (auto& solver : solvers_) {
      solver->configure(options);
      if (known) solver->recall(*known);
    }
  }

  /// What takes the norm that the tolerance is meant in, for each right-hand side; kept as long as that norm is wanted.
  /// \param host another norm; none: that of the options. Local.
  void measure(ResidualNorm norm, const HostNorm& host, std::vector<StopTest>& stops) {
    if (norm == ResidualNorm::Two && !host) return measures_.clear();
    while (measures_.size() < stops.size()) measures_.push_back(std::make_unique<ResidualMeasure>());
    for (std::size_t c = 0; c < stops.size(); ++c) {
      measures_[c]->measureBy(host);
      stops[c].judgeBy(measures_[c].get());
    }
  }

  /// Solves A x = b for all of them. Collective. Throws ParametersDiffer.
  /// A solve that is taken to begin at x = 0 and does not ends with its first residual, for GuessStart to begin again.
  /// \param brought checksums of the parameters and of the state that configure() was given
  /// \param settled is told what the ranks agree on, as in Agreement, once for each set that advances together
  /// \param facts what all ranks know alike before that
  /// \param together how many advance together, at least 1: rightHandSidesTogether()   \param guesses open
  void solve(PreconditionedOperator<Types>& a, Monitor<Types>& monitor, const MultiVector& b, MultiVector& x,
             std::vector<StopTest>& stops, const Brought& brought, const OpeningFacts& facts,
             const std::function<void(bool)>& settled, std::size_t together, GuessSession<Types>& guesses) {
    const std::size_t count = solvers_.size();
    agreed_ = zeroGuess_ = true;
    std::vector<Teuchos::RCP<MultiVector>> xs;
    std::vector<Teuchos::RCP<const MultiVector>> bs;
    if (x.getNumVectors() == 1 && b.getNumVectors() == 1) {  // a view of a column takes longer than a small product
      xs.push_back(Teuchos::rcpFromRef(x));
      bs.push_back(Teuchos::rcpFromRef(b));
    }
    for (std::size_t c = xs.size(); c < count; ++c) {
      xs.push_back(x.getVectorNonConst(c));
      bs.push_back(b.getVector(c));
    }
    const auto one = [&](std::size_t c, LinearSystem<Types>& system, bool splits = false) {
      guesses.solve(c, system, *bs[c], *xs[c], stops[c], [&](StopTest& stop) {
        if (!splits) return solvers_[c]->solve(system, *bs[c], *xs[c], stop);
        SplitSystem<Types>(system, a, split_).solve(*solvers_[c], *bs[c], *xs[c], stop);
      });
    };
    // What the method follows is another residual then: a tolerance has to be meant in a norm that is measured, and
    // tests of the application want the x of each iteration.
    const auto* const measured = stops.front().measure();
    const bool splits = a.splits() && measured != nullptr && !measured->host() && !monitor.watches();
    for (std::size_t begin = 0; begin < count; begin += together) {
      const std::size_t end = std::min(count, begin + together);
      if (begin > 0) monitor.nextSet(a.cost());
      monitor.choose(begin, end - begin);
      monitor.agreed.onState = monitor.agreed.notOnState = monitor.agreed.onZeroGuess = false;
      Agreement<Types> agreement(brought, [&](bool onState) {
        monitor.agreed.onState = onState;
        monitor.agreed.notOnState = !onState;
        monitor.agreed.onZeroGuess = agreement.onZeroGuess();
        for (std::size_t c = begin; c < end && guesses.presumesZero() && !agreement.onZeroGuess(); ++c) {
          stops[c].beginsBelow(0, 0);
        }
        settled(onState);
      });
      Opening<Types> opening(a, monitor, agreement, opening_, method_.firstProducts, facts, x.getMap()->getComm());
      for (std::size_t c = begin; c < end; ++c) {
        auto* const measure = stops[c].measure();
        if (measure != nullptr) measure->setCostly((splits && end - begin == 1) || measure->host());
      }
      if (end - begin == 1) {
        DirectSystem<Types> system(a, monitor, *kernels_, static_cast<int>(begin), &opening, stops[begin].measure());
        one(begin, system, splits);
        note(agreement);
        continue;
      }
      std::vector<typename Lockstep<Types>::Body> bodies;
      std::vector<ResidualMeasure*> measures;
      for (std::size_t c = begin; c < end; ++c) {
        measures.push_back(stops[c].measure());
        bodies.push_back([&, c](LinearSystem<Types>& system) { one(c, system); });
      }
      if (!storage_) storage_ = std::make_unique<LockstepStorage<Types>>();
      Lockstep<Types>(a, monitor, static_cast<int>(begin), *storage_, &opening).run(bodies, measures);
      note(agreement);
    }
  }

  /// Whether the ranks had the same state in the last solve.
  bool agreedOnState() const { return agreed_; }

  /// Whether all of x was zero before it.
  bool beganAtZero() const { return zeroGuess_; }

  /// What the first one has learnt, with the shortest of their pipelines.
  void remember(SolverState& state) const {
    const SolverState before = state;
    solvers_.front()->remember(state);
    for (std::size_t c = 1; c < solvers_.size(); ++c) {
      SolverState other = before;
      solvers_[c]->remember(other);
      if (isShorter(other.workingPipeline, state.workingPipeline)) state.workingPipeline = other.workingPipeline;
    }
  }

  /// The largest; 0 for methods without.
  int finalStepSize() const {
    int steps = 0;
    for (const auto& solver : solvers_) steps = std::max(steps, solver->finalStepSize());
    return steps;
  }

  /// Gives back the storage; completes what is in flight.
  void clear() {
    solvers_.clear();
    measures_.clear();
    storage_.reset();
    split_ = {};
    opening_ = {};
    kernels_.emplace();
  }

 private:
  void note(const Agreement<Types>& agreement) {
    agreed_ = agreement.onState();
    zeroGuess_ = zeroGuess_ && agreement.onZeroGuess();
  }

  const MethodTraits& method_;
  bool agreed_ = false, zeroGuess_ = false;
  std::vector<std::unique_ptr<ResidualMeasure>> measures_;
  std::vector<std::unique_ptr<KrylovSolver<Types>>> solvers_;
  std::unique_ptr<LockstepStorage<Types>> storage_;
  SplitVectors<Types> split_;
  KnownOpening<Types> opening_;
  std::optional<BlockKernels<Types>> kernels_{std::in_place};
};

}  // namespace capstan
