#include "belos_ext/choice/choosing_manager.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "belos_ext/choice/choosing.hpp"
#include "belos_ext/choice/system_choice.hpp"
#include "belos_ext/manager/problem_checks.hpp"
#include "belos_ext/manager/problem_key.hpp"
#include "belos_ext/manager/solve_facts.hpp"
#include "belos_ext/parameters/parameter_overlay.hpp"
#include "belos_ext/problem/symmetry_check.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/reductions/kept_with_communicator.hpp"

namespace capstan {

namespace {

/// Of the iterations that a trial may take: what is expected, six times.
constexpr int longestUnsure = 4;

/// After how many iterations of an arm its next method goes on; 0: never. Local.
int handsOverAt(const SystemChoice& choice, std::size_t arm, bool trial) {
  const Chooser& chooser = *choice.chooser;
  const MethodTraits& method = *choice.arms[arm].method;
  const MethodTraits* const next = findMethod(method.next);
  if (next == nullptr) return 0;
  // A trial's next method stands for the best one: of another family it may not solve.
  if (trial && next->family == choice.arms[chooser.best()].method->family) return chooser.mostIterations(arm);
  // One for symmetric A may solve some systems and get nowhere with the next, where nothing says what A is.
  return choice.unsure && method.needsSymmetric ? longestUnsure * chooser.mostIterations(arm) : 0;
}

/// What a solve has not sent, since it has made no reduction or has thrown, is not for a later one.
template <class Solver>
struct Unsent {
  Solver& solver;
  ~Unsent() { solver.sendAlong({}, {}); }
};

}  // namespace

SystemChoices& SystemChoices::of(const Teuchos::Comm<int>& comm) {
  return *static_cast<SystemChoices*>(
      keptWith(comm, "system choices", [] { return std::make_shared<SystemChoices>(); }).get());
}

template <class Types>
ChoosingManager<Types>::ChoosingManager(const std::string& askedAs)
    : Asked(choosingMethod(), askedAs.empty() ? choosingMethod().canonical : askedAs) {}

template <class Types>
ChoosingManager<Types>::~ChoosingManager() = default;

template <class Types>
Teuchos::RCP<typename ChoosingManager<Types>::Base> ChoosingManager<Types>::clone() const {
  auto copy = Teuchos::rcp(new ChoosingManager(askedAs_));
  copy->parameters_ = parameters_;
  return copy;
}

template <class Types>
void ChoosingManager<Types>::setParameters(const Teuchos::RCP<Teuchos::ParameterList>& parameters) {
  if (!parameters.is_null() && parameters_.merge(*parameters)) ++changes_;
}

template <class Types>
void ChoosingManager<Types>::reserve(const std::vector<std::string>& names, const std::string& why) {
  Asked::reserve(names, why);
  reserved_.emplace_back(names, why);
  for (Kept& kept : solvers_) kept.solver->reserve(names, why);
}

template <class Types>
void ChoosingManager<Types>::reset(Belos::ResetType type) {
  if ((type & Belos::Problem) != 0 && !problem_.is_null()) problem_->setProblem();
  if ((type & Belos::RecycleSubspace) == 0) return;
  for (Kept& kept : solvers_) {
    kept.solver->setProblem(problem_);
    kept.solver->reset(Belos::RecycleSubspace);
  }
}

template <class Types>
SystemChoice& ChoosingManager<Types>::choiceOfSystem() {
  const SolveFacts facts =
      factsButSymmetry<Types>(*problem_, choosingMethod(), parameters_.applicationsName(), askedAs_);
  try {
    const auto overlay = parameterOverlay(facts);
    parameters_.setOverlay(overlay);
    if (!overlay.is_null()) ++changes_;
  } catch (const SymmetryAsked&) {          // such options are for the method that solves
  } catch (const std::invalid_argument&) {  // which says what is wrong
  }
  SystemChoice& choice = SystemChoices::of(*problem_->getLHS()->getMap()->getComm()).of(facts.system);
  std::string madeFor = kindOf(problem_->getLeftPrec()) + '\n' + kindOf(problem_->getRightPrec()) + '\n' +
                        std::to_string(parameters_.checksumButLimits());
  if (!choice.chooser || choice.madeFor != madeFor) {
    choice.madeFor.clear();  // a file that is wrong is looked at again
    const std::string& label = facts.label;
    choice.key = {label.empty() ? fmt::format("system {}", facts.system) : label,
                  toString(parameters_.options().choiceMode),
                  kindOf(problem_->getLeftPrec()) + '|' + kindOf(problem_->getRightPrec()),
                  "",  // takeFromFile() says which machine
                  problem_->getLHS()->getMap()->getComm()->getSize(),
                  facts.rows};
    begin(choice);
    choice.madeFor = std::move(madeFor);
  }
  const auto symmetry = SymmetryCheck<Types>::known(problem_->getOperator());
  if (symmetry && symmetry->rowsThatDiffer > 0) choice.chooser->leaveSymmetricArms();
  return choice;
}

template <class Types>
void ChoosingManager<Types>::begin(SystemChoice& choice) const {
  const auto& x = *problem_->getLHS();
  const bool preconditioned = !problem_->getLeftPrec().is_null() || !problem_->getRightPrec().is_null();
  const auto symmetry = SymmetryCheck<Types>::known(problem_->getOperator());
  Symmetry known = Symmetry::Likely;
  if (symmetry) {
    if (symmetry->rowsThatDiffer > 0) known = Symmetry::None;
  } else if (!problem_->isHermitian() && !SymmetryCheck<Types>::mayRead(*problem_->getOperator())) {
    known = Symmetry::Unknown;  // CG finds out of others in its first solve
  }
  choice.unsure = known == Symmetry::Unknown;
  choice.arms = armsFor(parameters_, known);
  std::vector<ArmModel> models;
  for (const Arm& arm : choice.arms) models.push_back(modelOf(arm, parameters_, preconditioned));
  std::optional<MachineTimes> counted;
  if (parameters_.options().choiceMode == ChoiceMode::Counted) {
    const auto rows = static_cast<double>(x.getGlobalLength());
    counted = countedTimes(rows, x.getMap()->getComm()->getSize(), preconditioned);
  }
  choice.chooser.emplace(std::move(models), counted);
  choice.waiting.reset();
  choice.written.clear();
  if (!parameters_.options().choiceFile.empty()) takeFromFile(choice);
}

template <class Types>
void ChoosingManager<Types>::takeFromFile(SystemChoice& choice) const {
  const std::string& path = parameters_.options().choiceFile;
  const bool fixed = parameters_.options().choiceMode == ChoiceMode::Fixed;
  const Teuchos::Comm<int>& comm = *problem_->getLHS()->getMap()->getComm();
  choice.key.machine = machineName(Types::ExecutionSpace::name(), comm);
  const ChoiceFile file = readChoiceFile(path, comm);
  const ChoiceFile::Entry* const found = file.find(choice.key);
  const auto refuse = [&](const std::string& why) {
    misuse(choosingMethod(), fmt::format("\"Choice\" = \"fixed\", \"Choice File\" = \"{}\": {}", path, why));
  };
  if (found == nullptr) {
    const std::vector<std::string> systems = file.systems();
    if (fixed) {
      refuse(fmt::format("found nothing of the system \"{}\"; it has: {}{}", choice.key.system,
                         systems.empty() ? "none" : fmt::format("{}", fmt::join(systems, ", ")),
                         didYouMean(choice.key.system, systems)));
    }
    return;
  }
  choice.chooser->resume(found->known, !fixed && found->key == choice.key);
  const std::string& best = choice.chooser->arm(choice.chooser->best()).name;
  if (fixed && best != found->known.best) {
    std::vector<std::string> arms;
    for (const Arm& arm : choice.arms) arms.push_back(nameOf(arm));
    refuse(fmt::format("of the system \"{}\" it has \"{}\"; allowed with this matrix and these parameters: {}",
                       choice.key.system, found->known.best, fmt::join(arms, "; ")));
  }
}

template <class Types>
void ChoosingManager<Types>::keepInFile(SystemChoice& choice) const {
  const SolverOptions& options = parameters_.options();
  if (options.choiceFile.empty() || options.choiceMode == ChoiceMode::Fixed) return;
  const Chooser& chooser = *choice.chooser;
  const std::string& best = chooser.arm(chooser.best()).name;
  if (!isToBeKept(chooser, best, choice.written)) return;
  if (problem_->getLHS()->getMap()->getComm()->getRank() != 0) return;
  const auto known = chooser.knowledge();
  if (!known) return;
  choice.written = best;
  keepInChoiceFile(options.choiceFile, {choice.key, *known}, *options.outputStream);
}

template <class Types>
typename ChoosingManager<Types>::Inner& ChoosingManager<Types>::solverOf(const Arm& arm) {
  const std::string name = nameOf(arm);
  auto found = std::find_if(solvers_.begin(), solvers_.end(), [&](const Kept& kept) { return kept.arm == name; });
  if (found == solvers_.end()) {
    // Others give their vectors back; what their methods have learnt is in the state cache.
    if (solvers_.size() >= mostSolvers) solvers_.pop_back();
    found = solvers_.insert(solvers_.begin(), Kept{name, std::make_unique<Inner>(*arm.method, askedAs_)});
    for (const auto& [names, why] : reserved_) found->solver->reserve(names, why);
    found->solver->setHandsOverAsymmetric(true);
  }
  std::rotate(solvers_.begin(), found, std::next(found));
  Kept& kept = solvers_.front();
  Inner& solver = *kept.solver;
  if (std::exchange(kept.changes, changes_) != changes_) {
    solver.setParameters(Teuchos::rcp(new Teuchos::ParameterList(parametersOf(arm, parameters_.ofApplication()))));
  }
  solver.setLimits(parameters_.options().tolerance, parameters_.options().maxIterations);
  solver.askAs(*this);
  return solver;
}

template <class Types>
void ChoosingManager<Types>::sendAlong(SystemChoice& choice, Inner& solver) const {
  if (!choice.waiting) return;
  std::vector<Scalar> shares;
  const int ranks = problem_->getLHS()->getMap()->getComm()->getSize();
  for (const double each : measuresOf(*choice.waiting)) shares.push_back(static_cast<Scalar>(each / ranks));
  solver.sendAlong(shares, [&choice](const std::vector<Scalar>& means) {
    Observation seen = *choice.waiting;
    choice.waiting.reset();
    RankMeasures measures{};
    std::copy(means.begin(), means.end(), measures.begin());
    setMeasures(seen, measures);
    choice.chooser->learn(choice.last, seen);
  });
}

template <class Types>
Belos::ReturnType ChoosingManager<Types>::solve() {
  requireReady(choosingMethod(), problem_);
  SystemChoice& choice = choiceOfSystem();
  const bool fixed = parameters_.options().choiceMode == ChoiceMode::Fixed;
  const std::size_t arm = fixed ? choice.chooser->best() : choice.chooser->choose();
  const ChoiceReport report = choiceReport(*choice.chooser, arm);
  Inner& solver = solverOf(choice.arms[arm]);
  const int trialEndsAt = handsOverAt(choice, arm, report.trial);
  solver.setHandsOverAt(trialEndsAt);
  solver.setChoice(report, said(report, choice.said));
  if (!report.trial) choice.said = report.arm;
  sendAlong(choice, solver);
  const Unsent<Inner> unsent{solver};
  const Belos::ReturnType result = solver.solve();
  lossOfAccuracy_ = solver.isLOADetected();
  report_ = solver.report();
  choice.last = arm;
  keepInFile(choice);
  if (!fixed) choice.waiting = observationOf(report_, trialEndsAt);
  return result;
}

template <class Types>
Teuchos::RCP<Belos::SolverManager<typename Types::Scalar, typename Types::MultiVector, typename Types::Operator>>
makeSolver(const MethodTraits& method, const std::string& askedAs) {
  if (method.canonical == choosingMethod().canonical) return Teuchos::rcp(new ChoosingManager<Types>(askedAs));
  return Teuchos::rcp(new SolverManager<Types>(method, askedAs));
}

#define CAPSTAN_CHOOSING_MANAGER(S, LO, GO, NO)                                                                  \
  template class ChoosingManager<TpetraTypes<S, LO, GO, NO>>;                                                    \
  template Teuchos::RCP<SolverManager<TpetraTypes<S, LO, GO, NO>>::Base> makeSolver<TpetraTypes<S, LO, GO, NO>>( \
      const MethodTraits&, const std::string&);

CAPSTAN_INSTANTIATE(CAPSTAN_CHOOSING_MANAGER)

}  // namespace capstan
