#include "belos_ext/manager/solver_manager.hpp"

#include <Teuchos_TimeMonitor.hpp>
#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "belos_ext/manager/chosen_reductions.hpp"
#include "belos_ext/manager/exchanged_product.hpp"
#include "belos_ext/manager/problem_checks.hpp"
#include "belos_ext/manager/problem_key.hpp"
#include "belos_ext/manager/right_hand_side_solvers.hpp"
#include "belos_ext/manager/row_sum_watch.hpp"
#include "belos_ext/manager/solve_end.hpp"
#include "belos_ext/manager/solve_execution.hpp"
#include "belos_ext/manager/solve_facts.hpp"
#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/manager/symmetry_watch.hpp"
#include "belos_ext/manager/working_pipeline.hpp"
#include "belos_ext/parameters/conflicts.hpp"
#include "belos_ext/parameters/parameter_agreement.hpp"
#include "belos_ext/parameters/user_options_error.hpp"
#include "belos_ext/problem/finite_guess.hpp"
#include "belos_ext/report/report_summary.hpp"
#include "belos_ext/report/solve_progress.hpp"
#include "belos_ext/report/trace_file.hpp"
#include "belos_ext/support/checksum.hpp"
#include "belos_ext/support/memory_share.hpp"
#include "belos_ext/support/said_once.hpp"
#include "belos_ext/support/shared_text.hpp"
#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/operators/preconditioned_operator.hpp"
#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan {
namespace {

/// At the end of a solve, however that is left, the caller may look at what kernels have been given.
template <class Exec>
struct HandsOver {
  ~HandsOver() { kernels::handOver<Exec>(); }
};

/// Of the right-hand sides that took any; 0 where one has not converged, or none took any.
int fewestIterations(const std::vector<StopTest>& stops) {
  int fewest = 0;
  for (const StopTest& stop : stops) {
    if (!stop.converged()) return 0;
    if (stop.iterations() > 0 && (fewest == 0 || stop.iterations() < fewest)) fewest = stop.iterations();
  }
  return fewest;
}

}  // namespace

template <class Types>
SolverManager<Types>::SolverManager(const MethodTraits& method, const std::string& askedAs)
    : Asked(method, askedAs),
      solvers_(std::make_unique<RightHandSideSolvers<Types>>(method_)),
      guesses_(std::make_unique<GuessSession<Types>>()),
      exchanged_(std::make_unique<ExchangedProduct<Types>>()) {}

template <class Types>
SolverManager<Types>::~SolverManager() = default;

template <class Types>
Teuchos::RCP<typename SolverManager<Types>::Base> SolverManager<Types>::clone() const {
  auto copy = Teuchos::rcp(new SolverManager(method_, askedAs_));
  copy->parameters_ = parameters_;
  return copy;
}

template <class Types>
void SolverManager<Types>::reset(Belos::ResetType type) {
  if ((type & Belos::Problem) != 0 && !problem_.is_null()) problem_->setProblem();
  if ((type & Belos::RecycleSubspace) == 0) return;
  solvers_->clear();
  // The problem may have lost its vectors, or be another one by now: what the last solve has left goes all the same.
  if (lastKey_) StateCache::instance().erase(*lastKey_);
  lastKey_.reset();
  guesses_->clear();
  if (!problem_.is_null() && problem_->isProblemSet()) {
    const StateKey key = stateKey();
    StateCache::instance().erase(key);
    guesses_->forget(key, problem_->getLHS()->getMap()->getComm());
  }
  exchanged_->forget();
  operator_.reset();
}

template <class Types>
std::string SolverManager<Types>::description() const {
  return "Capstan::SolverManager (" + method_.canonical + ")";
}

template <class Types>
std::string SolverManager<Types>::takeUserOptions() {
  const SolveFacts facts = solveFacts<Types>(*problem_, method_, parameters_.applicationsName(), askedAs_);
  facts_ = facts;
  facts_.symmetric = nullptr;
  asks_ = false;
  if (!this->hostRefusal_.empty()) return this->hostRefusal_;
  try {
    parameters_.setOverlay(parameterOverlay(facts));
  } catch (const SymmetryAsked&) {
    asks_ = true;
    return "";
  } catch (const std::invalid_argument& error) {
    if (speaksForAll()) sayOnce(error.what());
    return error.what();
  }
  if (hostNorm_ && !scalesOtherNorms(parameters_.options())) {
    return method_.canonical +
           ": a norm of the application's own goes with the scalings \"Norm of Initial Residual\", "
           "\"None\" and \"User Provided\"";
  }
  if (!parameters_.options().flexible || problem_->getLeftPrec().is_null()) return "";
  return method_.canonical +
         ": \"Flexible Gmres\" needs right preconditioning: the problem has a left preconditioner (use setRightPrec)";
}

template <class Types>
void SolverManager<Types>::throwDifference() const {
  const auto& comm = *problem_->getLHS()->getMap()->getComm();
  const std::string complaint = firstComplaint(refusal_, comm);
  if (!complaint.empty()) throwMisuse(complaint);
  misuse(method_, differingParameters(parameters_, comm));
}

template <class Types>
Brought SolverManager<Types>::brought(std::uint64_t state, bool zeroGuess, bool pipeline) const {
  if (refusal_.empty()) return {parameters_.checksum(), state, false, asks_, zeroGuess, pipeline};
  Checksum checksum;
  checksum.add(refusal_);
  return {checksum.value(), state, true, false, zeroGuess, pipeline};
}

template <class Types>
std::string SolverManager<Types>::problemLabel() const {
  const std::string& own = parameters_.options().solverLabel;
  if (!own.empty() || problem_.is_null() || problem_->getOperator().is_null()) return own;
  return problem_->getOperator()->getObjectLabel();
}

template <class Types>
StateKey SolverManager<Types>::stateKey() const {
  return problemKey<Types>(method_.canonical, problemLabel(), *problem_, facts_.system);
}

template <class Types>
StateKey SolverManager<Types>::orderKey() const {
  return problemKey<Types>(method_.canonical, problem_->getOperator()->getObjectLabel(), *problem_, 0);
}

template <class Types>
OpeningFacts SolverManager<Types>::openingFacts() const {
  return {operator_->hasLeft(),
          operator_->hasRight(),
          operator_->hasDiagonalPreconditioner(),
          operator_->splits(),
          guesses_->presumesZero(),
          guesses_->order(),
          static_cast<std::size_t>(problem_->getLHS()->getNumVectors())};
}

template <class Types>
void SolverManager<Types>::prepareOperator() {
  const auto a = problem_->getOperator();
  const auto left = problem_->getLeftPrec();
  const auto right = problem_->getRightPrec();
  exchanged_->meet(a);
  if (operator_ && a == knownOperator_ && left == knownLeft_ && right == knownRight_) {
    operator_->resetCost();
    return;
  }
  operator_ = std::make_unique<PreconditionedOperator<Types>>(a, left, right);
  knownOperator_ = a;
  knownLeft_ = left;
  knownRight_ = right;
}

template <class Types>
Belos::ReturnType SolverManager<Types>::nothingToSolve(const SolverOptions& options) {
  report_ = SolveReport{};
  report_.solver = method_.canonical;
  report_.label = problemLabel();
  report_.system = facts_.system;
  report_.ranks = problem_->getLHS()->getMap()->getComm()->getSize();
  report_.rows = static_cast<long long>(problem_->getLHS()->getGlobalLength());
  report_.tolerance = options.tolerance;
  report_.converged = true;
  report_.reason = StopReason::Converged;
  lossOfAccuracy_ = false;
  if (problem_->getLHS()->getMap()->getComm()->getRank() == 0) publish(report_, options, false);
  return Belos::Converged;
}

template <class Types>
bool SolverManager<Types>::takesGuesses(const StopCriteria& criteria) {
  if (series_ < 0 || parameters_.options().initialGuess.mode == InitialGuess::Mode::Application) return false;
  if (!operator_->hasLeft() || !criteria.scalesByNative()) return true;
  report_.events.push_back(reportEvent(0, -1, EventKind::GuessOfApplication));
  return false;
}

template <class Types>
void SolverManager<Types>::solveRightHandSides(const SolverOptions& options, Monitor<Types>& monitor,
                                               std::vector<StopTest>& stops) {
  const StateKey key = stateKey();
  lastKey_ = key;
  auto known = options.stateCache ? StateCache::instance().find(key) : std::nullopt;
  if (known) checkWorkingPipeline<Types>(*known, *problem_->getOperator());
  SolverOptions own = options;  // every right-hand side has bases of its own
  own.basisMemory =
      basisMemoryShare(problem_->getLHS()->getMap()->getComm()->getSize()) / static_cast<double>(stops.size());
  solvers_->configure(stops.size(), own, known);
  solvers_->measure(options.residualNorm, hostNorm_, stops);
  guesses_->open(options, takesGuesses(stops.front().criteria()), method_.needsSymmetric || problem_->isHermitian(),
                 key, orderKey(), series_, *problem_->getLHS());
  const auto b = refusingBadGuess<Types>(problem_->getRHS(), guesses_->content());
  const std::size_t together = rightHandSidesTogether(options, stops.size());
  // Enlarged CG multiplies blocks of its own; other methods those of right-hand sides that advance together.
  const int width =
      method_.is(Trait::Directions) ? options.enlargingFactor : static_cast<int>(std::min(together, stops.size()));
  exchanged_->open(options, width, method_.is(Trait::Embeds), *operator_, report_);
  ChosenReductions reductions(options, problem_->getLHS()->getMap()->getComm());
  Checksum earlier;
  earlier.add(checksumOf(known));
  earlier.add(guesses_->checksum());
  earlier.add(exchanged_->checksum());
  solvers_->solve(
      *operator_, monitor, *b, *problem_->getLHS(), stops,
      brought(earlier.value(), guesses_->content().zero, known && known->workingPipeline), openingFacts(),
      [&](bool same) {
        exchanged_->agree(same);
        reductions.agree();
      },
      together, *guesses_);
  exchanged_->close(report_);
  reductions.close(report_);
  guesses_->close(stops, solvers_->agreedOnState(), solvers_->beganAtZero(), options, report_);
  if (options.stateCache) {
    // What the ranks did not agree on has been forgotten by all of them.
    SolverState state = solvers_->agreedOnState() ? known.value_or(SolverState{}) : SolverState{};
    solvers_->remember(state);
    noteWorkingPipeline<Types>(state, *problem_->getOperator());
    if (const int fewest = fewestIterations(stops); fewest > 0) rememberIterations(state, fewest);
    ++state.solves;
    StateCache::instance().store(key, state);
  }
}

template <class Types>
void SolverManager<Types>::watchMatrix(const SolverOptions& options, Monitor<Types>& monitor) {
  if (method_.needsSymmetric) {
    operator_->findDiagonalRows();
    watchSymmetry<Types>(problem_->getOperator(), *operator_->diagonalRows(), monitor, report_);
  }
  // What a preconditioner makes may hold constants, so may b and x, and so do parts of a residual that is without.
  if (method_.is(Trait::Directions) || options.nullSpace == NullSpace::Auto) {
    watchRowSums<Types>(*problem_->getOperator(), monitor);
  }
}

template <class Types>
std::vector<StopTest> SolverManager<Types>::stopTests(const SolverOptions& options, Monitor<Types>& monitor) const {
  // A recursion of b - A x is by default measured against itself, as in Belos' CG.
  const bool native = method_.family == Family::Gmres;  // whose recursion follows M_L^{-1} (b - A x)
  const ResidualScaling implicitScaling =
      native || options.implicitScalingGiven ? options.implicitScaling : ResidualScaling::NormOfInitRes;
  const StopCriteria criteria{options.tolerance,
                              options.maxIterations,
                              options.maxRestarts,
                              implicitScaling,
                              options.explicitScaling,
                              options.userScale,
                              options.explicitScalingGiven || (native && operator_->hasLeft()),
                              minIterations_,
                              keepsLast_,
                              handsOverAt_,
                              handsOverAsymmetric_,
                              options.absoluteTolerance};
  std::vector<StopTest> stops;
  for (int c = 0; c < static_cast<int>(problem_->getLHS()->getNumVectors()); ++c) {
    stops.emplace_back(criteria);
    stops.back().setApproval([&monitor, c](double residual) { return monitor.approves(c, residual); });
    stops.back().setScaleListener([&monitor, c](double scale) { monitor.setScale(c, scale); });
  }
  return stops;
}

template <class Types>
Belos::ReturnType SolverManager<Types>::solve() {
  requireReady(method_, problem_);
  prepareOperator();  // before the facts: an earlier matrix may be gone now
  before_ = counters();
  try {
    return solveLooking();
  } catch (const PipelinesDiffer&) {  // begins again with the one asked for, and all else that is known
    if (auto state = StateCache::instance().find(*lastKey_)) {
      forgetWorkingPipeline(*state);
      StateCache::instance().store(*lastKey_, *state);
    }
    return solveLooking();
  }
}

template <class Types>
Belos::ReturnType SolverManager<Types>::solveLooking() {
  try {
    return solveOnce();
  } catch (const SymmetryAsked&) {
    SystemNumbers::of(*problem_->getLHS()->getMap()->getComm()).lookForSymmetry();
    return solveOnce();
  }
}

template <class Types>
Belos::ReturnType SolverManager<Types>::solveOnce() {
  const HandsOver<typename Types::ExecutionSpace> x{};
  refusal_ = takeUserOptions();
  const SolverOptions options = parameters_.options();
  if (problem_->getLHS()->getNumVectors() == 0) {
    if (!refusal_.empty()) throwMisuse(refusal_);
    return nothingToSolve(options);
  }
  const bool timed = !options.timerLabel.empty();
  const auto timerOf = [&, prefix = timerPrefix(options.timerLabel, problemLabel())](const std::string& what) {
    return timed ? Teuchos::TimeMonitor::getNewCounter(prefix + what) : Teuchos::RCP<Teuchos::Time>();
  };
  std::optional<Teuchos::TimeMonitor> timer;
  if (timed) timer.emplace(*timerOf(method_.canonical + " total solve time"));
  const double started = wallSeconds();

  const SolveExecution<typename Types::ExecutionSpace> execution(options);
  const SolveTrace trace(options, method_.canonical, *problem_->getLHS()->getMap()->getComm());
  report_ = SolveReport{};
  report_.solver = method_.canonical;
  execution.tell(report_);
  report_.choice = choice_;
  if (!choiceSaid_.empty()) report_.events.push_back(reportEvent(0, -1, Event(EventKind::Choice).by(choiceSaid_)));
  requireOneMap<Types>(method_, *problem_, knownMaps_);
  operator_->setTimers(timerOf("Operation Op*x"), timerOf("Operation Prec*x"));

  Monitor<Types> monitor(problem_, options, report_, userTest_, comboType_, debugTest_);
  watchMatrix(options, monitor);
  if (tellAlong_)
    monitor.sendAlong(along_, [this](const std::vector<Scalar>& sums) { std::exchange(tellAlong_, {})(sums); });
  std::vector<StopTest> stops = stopTests(options, monitor);
  const SolveProgress progress(options, method_, *problem_->getLHS()->getMap()->getComm());
  try {
    solveRightHandSides(options, monitor, stops);
  } catch (const ParametersDiffer&) {
    solvers_->clear();
    guesses_->clear();
    throwDifference();
  } catch (...) {
    exchanged_->drop();
    guesses_->clear();
    solvers_->clear();  // completes what they have in flight, while the other ranks may still be there
    throw;
  }
  if (monitor.asksProblem()) problem_->setCurrLS();

  const ReductionCounters spent = counters() - before_;
  report_.reductionsBlocking = spent.blocking;
  report_.reductionsNonblocking = spent.nonblocking;
  report_.fences = spent.fences;
  report_.seconds.reductionWait = spent.waitSeconds;
  report_.seconds.orthogonalization = spent.kernelSeconds;
  report_.seconds.total = wallSeconds() - started;
  progress.fill(spent, report_);
  fillReport(stops, options);
  if (problem_->getLHS()->getMap()->getComm()->getRank() == 0) publish(report_, options, lossOfAccuracy_);
  return compat::returnType<Belos::ReturnType>(solveEnd(report_, lossOfAccuracy_));
}

template <class Types>
void SolverManager<Types>::fillReport(const std::vector<StopTest>& stops, const SolverOptions& options) {
  report_.label = problemLabel();
  report_.system = facts_.system;
  report_.ranks = problem_->getLHS()->getMap()->getComm()->getSize();
  report_.rows = static_cast<long long>(problem_->getLHS()->getGlobalLength());
  report_.finalStepSize = solvers_->finalStepSize();
  const OperatorCost& cost = operator_->cost();
  report_.operatorApplications = cost.operatorApplications;
  report_.preconditionerApplications = cost.preconditionerApplications;
  report_.seconds.operatorSeconds = cost.operatorSeconds;
  report_.seconds.preconditioner = cost.preconditionerSeconds;
  summarize(stops, options, operator_->hasLeft(), report_);
  if (hostNorm_) report_.norm = "the application's norm of b - A x";
  const bool preconditioned = operator_->hasLeft() || operator_->hasRight();
  const Cost each = method_.cost(options, preconditioned);
  const auto beyond = [&](long all, long start, double ofIteration) {
    return all - start - std::lround(ofIteration * report_.iterationsInTurn);
  };
  report_.operatorsBeyond = beyond(report_.operatorApplications, report_.operatorsAtStart, each.operators);
  report_.preconditionersBeyond = beyond(report_.preconditionerApplications, report_.preconditionersAtStart,
                                         preconditioned ? each.preconditioners : 0);
  guesses_->tell(report_);
  lossOfAccuracy_ = std::any_of(stops.begin(), stops.end(), [](const StopTest& stop) { return stop.lossOfAccuracy(); });
}

#define CAPSTAN_SOLVER_MANAGER(S, LO, GO, NO) template class SolverManager<TpetraTypes<S, LO, GO, NO>>;

CAPSTAN_INSTANTIATE(CAPSTAN_SOLVER_MANAGER)

}  // namespace capstan
