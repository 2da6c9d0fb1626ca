#pragma once
/// \file
/// The one Belos::SolverManager: takes a Belos::LinearProblem and a method, and keeps the promise of what "Converged"
/// means for every method alike.
///
/// - solve() returns Belos::Converged only if the explicitly computed residual of every right-hand side meets the
///   tolerance in the norm and scaling asked for.
/// - Nothing but misuse throws: a missing or inconsistent problem, invalid parameters, exceptions of the application's
///   own operators. NaN, breakdown, stagnation and divergence are outcomes, equal on all ranks; the solution is left at
///   its last finite iterate.
/// - setParameters() merges: what a list does not name keeps its value.
///
/// Every function that communicates says so; the others are local.

#include <BelosLinearProblem.hpp>
#include <BelosSolverManager.hpp>
#include <BelosStatusTestCombo.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "belos_ext/manager/agreement.hpp"
#include "belos_ext/manager/asked_solver.hpp"
#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/parameter_overlay.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/report/solve_report.hpp"
#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {

template <class Types>
class RightHandSideSolvers;
template <class Types>
class PreconditionedOperator;
template <class Types>
class Monitor;
template <class Types>
class GuessSession;
template <class Types>
class ExchangedProduct;
class StopTest;
struct OpeningFacts;
struct StopCriteria;

template <class Types>
class SolverManager final : public AskedSolver<Types> {
 public:
  using Asked = AskedSolver<Types>;
  using typename Asked::Base;
  using typename Asked::MultiVector;
  using typename Asked::Operator;
  using typename Asked::Scalar;

  /// \param askedAs as in AskedSolver
  explicit SolverManager(const MethodTraits& method, const std::string& askedAs = "");
  ~SolverManager() override;

  /// A solver of the same method with the same parameters and no problem.
  Teuchos::RCP<Base> clone() const override;

  /// Belos::Problem: recomputes the problem's initial residual. Belos::RecycleSubspace: forgets cached state, what is
  /// kept for initial guesses, and storage; as with Belos' managers the problem need not be complete, or there at all.
  void reset(Belos::ResetType type) override;

  /// Sums these numbers over the ranks in the first reduction of the next solve, and tells the sums then; as
  /// Monitor::sendAlong(). Local; call it alike on all ranks.
  void sendAlong(std::vector<Scalar> numbers, std::function<void(const std::vector<Scalar>&)> tell) {
    along_ = std::move(numbers);
    tellAlong_ = std::move(tell);
  }

  /// After so many iterations of the next solves the method's next one goes on (MethodTraits::next); 0: never. The same
  /// on all ranks. Local.
  void setHandsOverAt(int iterations) { handsOverAt_ = iterations; }
  /// So it does where A is found not to be symmetric, and the method needs it to be. Local.
  void setHandsOverAsymmetric(bool handsOver) { handsOverAsymmetric_ = handsOver; }

  /// Who has chosen this solver for the next solves, and why: for their reports. `said` is an event, or empty. Local.
  void setChoice(const ChoiceReport& choice, const std::string& said) {
    choice_ = choice;
    choiceSaid_ = said;
  }

  /// Solves for all right-hand sides. Collective.
  Belos::ReturnType solve() override;

  std::string description() const override;

 private:
  using Asked::askedAs_, Asked::comboType_, Asked::debugTest_, Asked::keepsLast_, Asked::lossOfAccuracy_,
      Asked::hostNorm_, Asked::method_, Asked::minIterations_, Asked::parameters_, Asked::problem_, Asked::report_,
      Asked::series_, Asked::userTest_;

  /// Takes what the user has set outside the application; what is wrong with it is also said on stderr. Returns why
  /// this rank refuses to solve, or an empty string. Other ranks may not refuse: they learn of it in the first
  /// reduction of the solve, and then all throw alike. As solveFacts().
  std::string takeUserOptions();
  /// As solveOnce(), but for SymmetryAsked: looks, and begins again. Collective.
  Belos::ReturnType solveLooking();
  /// Throws SymmetryAsked, on all ranks, where the options of one ask for what nobody has looked for, and
  /// PipelinesDiffer as Agreement does; x is as it was then. Collective.
  Belos::ReturnType solveOnce();
  /// Says what the ranks have found wrong, or what they differ in. Collective.
  [[noreturn]] void throwDifference() const;
  /// What this rank brings to a solve. \param state checksum of the cached state
  /// \param pipeline whether that has a WorkingPipeline
  Brought brought(std::uint64_t state, bool zeroGuess, bool pipeline) const;
  /// Names the problem for options, reports and cached state: the solver's label, else the operator's object label.
  /// (Belos::LinearProblem keeps its own label to itself.)
  std::string problemLabel() const;
  StateKey stateKey() const;
  /// Of what ranks have agreed on: without labels that parameters give, and so the same on all ranks.
  StateKey orderKey() const;
  OpeningFacts openingFacts() const;
  void prepareOperator();
  /// Whether guesses are asked for and can be had; tells the report where they cannot.
  bool takesGuesses(const StopCriteria& criteria);
  /// The outcome of a problem without right-hand sides.
  Belos::ReturnType nothingToSolve(const SolverOptions& options);
  /// Looks for what symmetric methods have to know of the matrix, once for each; what the ranks find travels in the
  /// first reduction of the solve. Local.
  void watchMatrix(const SolverOptions& options, Monitor<Types>& monitor);
  /// One for each right-hand side. Local.
  std::vector<StopTest> stopTests(const SolverOptions& options, Monitor<Types>& monitor) const;
  void solveRightHandSides(const SolverOptions& options, Monitor<Types>& monitor, std::vector<StopTest>& stops);
  void fillReport(const std::vector<StopTest>& stops, const SolverOptions& options);

  SolveFacts facts_;                                                ///< of the last solve that has begun
  std::vector<Teuchos::RCP<const typename Types::Map>> knownMaps_;  ///< found to be alike
  bool asks_ = false;                ///< this rank's options ask for the symmetry, and nobody has looked for it
  std::string refusal_;              ///< why this rank refuses the solve, or empty
  std::optional<StateKey> lastKey_;  ///< of the last solve

  std::unique_ptr<PreconditionedOperator<Types>> operator_;
  Teuchos::RCP<const Operator> knownOperator_, knownLeft_, knownRight_;
  std::unique_ptr<RightHandSideSolvers<Types>> solvers_;
  std::unique_ptr<GuessSession<Types>> guesses_;
  ReductionCounters before_;  ///< at the beginning of the solve that is running, with what it began again
  int handsOverAt_ = 0;
  bool handsOverAsymmetric_ = false;
  ChoiceReport choice_;
  std::string choiceSaid_;
  std::vector<Scalar> along_;  ///< what is sent along with the next solve, and who is told
  std::function<void(const std::vector<Scalar>&)> tellAlong_;
  std::unique_ptr<ExchangedProduct<Types>> exchanged_;
};

}  // namespace capstan
