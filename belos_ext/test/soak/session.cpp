#include "belos_ext/test/soak/session.hpp"

#include <fmt/format.h>

#include <Teuchos_oblackholestream.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "belos_ext/choice/choosing_manager.hpp"
#include "belos_ext/guess/guess_order.hpp"
#include "belos_ext/guess/guess_store.hpp"
#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/test/soak/random.hpp"
#include "belos_ext/test/support/watchdog.hpp"

namespace capstan::soak {
namespace {

int colour(const std::string& split, int rank, int ranks) {
  if (split == "first from rest") return rank == 0 ? 0 : 1;
  if (split == "last from rest") return rank == ranks - 1 ? 1 : 0;
  if (split == "even from odd") return rank % 2;
  if (split == "each alone") return rank;
  throw std::logic_error("soak: no split '" + split + "'");
}

/// Whether the system and the parameters are such that no method has an excuse.
bool isEasy(const SystemRecipe& s, const SolverOptions& o) {
  const auto isOneOf = [](const std::string& word, const std::vector<std::string>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const bool sizes = s.rows <= 200 && std::abs(s.matrixExponent) <= 70 && s.scatter == 0 &&
                     (s.rhs == "range" || std::abs(s.matrixExponent - s.rhsExponent) <= 3);
  const bool system = isBenign(s.matrix) && s.spoil == "nothing" && s.rhs != "huge" &&
                      isOneOf(s.guess, {"zero", "random"}) &&
                      isOneOf(s.preconditioner, {"none", "identity", "jacobi", "constant"}) && s.wrapper != "nan later";
  const bool options = o.tolerance >= 1e-9 && o.maxIterations >= 300 && o.maxRestarts >= 50 && o.numBlocks >= 100 &&
                       !o.implicitScalingGiven && !o.explicitScalingGiven &&
                       o.residualReplacement.mode != ResidualReplacement::Mode::Off &&
                       o.changeOfBasisDropTolerance <= 1e-8;
  return sizes && system && options;
}

}  // namespace

std::optional<Failure> Session::run(const Recipe& recipe) {
  StateCache::instance().clear();
  GuessStore::instance().clear();
  for (const auto& [split, comm] : groups_) GuessOrders::forget(comm);
  subject_ = {};
  abandoned_ = false;
  for (std::size_t i = 0; i < recipe.steps.size(); ++i) {
    const StepRecipe& next = recipe.steps[i];
    testing::Watchdog::announce(fmt::format("  seed {}, step {}, {}\n  reproduce: {} --seed {}", recipe.seed, i,
                                            methodOf(next.method).canonical, reproduce_, recipe.seed));
    std::vector<Failure> failures;
    try {
      failures = step(next);
    } catch (const std::exception& error) {
      failures = {{"exception", error.what()}};
    }
    if (auto failure = agreed(failures)) {
      failure->text = fmt::format("step {}: {}", i, failure->text);
      return failure;
    }
    abandonTogether();
  }
  subject_ = {};
  return std::nullopt;
}

/// Where a group of ranks had to give up its solver the others begin anew with it: they may meet in one solve again.
void Session::abandonTogether() {
  int any = 0;
  Teuchos::reduceAll(*world_, Teuchos::REDUCE_MAX, abandoned_ ? 1 : 0, Teuchos::outArg(any));
  if (any == 1) subject_ = {};
  abandoned_ = false;
}

std::vector<Failure> Session::step(const StepRecipe& recipe) {
  takeSolver(recipe);
  takeParameters(recipe.parameters);
  takeProblem(recipe);
  takeTests(recipe);
  if (recipe.reset == "problem" || recipe.reset == "both") {
    subject_.solver->reset(Belos::Problem);
    subject_.problemGuess = gathered(*subject_.system->x);
  }
  if (recipe.reset == "recycle" || recipe.reset == "both") subject_.solver->reset(Belos::RecycleSubspace);
  ++tally_.solves;
  // Asked for after the problem was set.
  if (subject_.parameters->options().flexible && subject_.system->hasLeft()) return expectRefusal();
  try {
    return solveAndJudge(recipe);
  } catch (const Belos::StatusTestError&) {  // Belos' own tests throw where they see a NaN
    ++tally_.reasons["status test threw"];
    abandoned_ = true;
    return {};
  }
}

std::vector<Failure> Session::expectRefusal() {
  ++tally_.reasons["refused"];
  try {
    subject_.solver->solve();
  } catch (const std::invalid_argument&) {
    return {};
  }
  return {{"misuse not refused", "\"Flexible Gmres\" with a left preconditioner"}};
}

std::vector<Failure> Session::solveAndJudge(const StepRecipe& recipe) {
  System& system = *subject_.system;
  HostBlock guess = gathered(*system.x);
  if (subject_.parameters->options().initialResidual == InitialResidual::ZeroGuess) {
    std::fill(guess.values.begin(), guess.values.end(), 0.0);
  }
  for (const auto& counted : {system.counted, system.leftOperator, system.rightOperator}) {
    if (!counted.is_null()) counted->restart();
  }
  Observation seen = observe();
  commitFault(seen);
  ++tally_.reasons[toString(seen.report.reason)];
  for (const long long bits : testing::bitsOf(testing::sharedNumbers(seen))) {
    tally_.digest = kernels::mixed(tally_.digest ^ static_cast<std::uint64_t>(bits));
  }
  std::vector<Failure> failures = differences(seen);
  for (const Failure& failure : judge(system, guess, gathered(*system.x), ask(recipe), seen)) {
    failures.push_back(failure);
  }
  const auto& test = subject_.userTest;
  if (seen.converged && !test.is_null() && system.x->getNumVectors() > 0 && recipe.combination != "OR" &&
      test->getStatus() != Belos::Passed) {
    failures.push_back({"converged without the user's test", recipe.userTest});
  }
  return failures;
}

void Session::takeTests(const StepRecipe& recipe) {
  using Combo = Belos::StatusTestCombo<Scalar, MultiVector, Operator>;
  const auto combination = recipe.combination == "AND"   ? Combo::AND
                           : recipe.combination == "SEQ" ? Combo::SEQ
                                                         : Combo::OR;
  subject_.userTest = makeStatusTest(recipe.userTest, recipe.system.seed);
  subject_.solver->setUserConvStatusTest(subject_.userTest, combination);
  subject_.solver->setDebugStatusTest(makeStatusTest(recipe.debugTest, recipe.system.seed + 1));
}

void Session::takeSolver(const StepRecipe& recipe) {
  if (recipe.reuse == "new" || subject_.solver.is_null() || subject_.method != recipe.method) {
    subject_ = {};
    subject_.method = recipe.method;
    const MethodTraits& name = methodOf(recipe.method);
    subject_.solver = makeSolver<Types>(name);
    subject_.parameters.emplace(name);
    Teuchos::ParameterList output;
    output.set("Output Stream", RCP<std::ostream>(Teuchos::rcp(new Teuchos::oblackholestream)));
    takeParameters(output);
  } else if (recipe.reuse == "clone") {
    subject_.solver = subject_.solver->clone();
  }
}

/// What conflicts with values of earlier steps is refused; then nothing may have changed.
void Session::takeParameters(Teuchos::ParameterList list) {
  bool expected = true;
  try {
    subject_.parameters->merge(list);
  } catch (const std::invalid_argument&) {
    expected = false;
    ++tally_.refused;
  }
  bool taken = true;
  try {
    subject_.solver->setParameters(Teuchos::rcp(new Teuchos::ParameterList(list)));
  } catch (const std::invalid_argument&) {
    taken = false;
  }
  if (taken != expected) throw std::logic_error("soak: setParameters() and Parameters::merge() do not agree");
}

void Session::takeProblem(const StepRecipe& recipe) {
  if (recipe.reuse == "again" && subject_.system) return;
  SystemRecipe wanted = recipe.system;
  subject_.comm = group(recipe.split);
  if (recipe.split != "world") {  // groups have systems of their own, of one shape
    const int own = colour(recipe.split, world_->getRank(), world_->getSize());
    wanted.seed += static_cast<std::uint64_t>(1000 * own);
    wanted.matrixExponent += 2 * own;
  }
  subject_.system = makeSystem(wanted, subject_.comm, subject_.parameters->options().flexible);
  subject_.recipe = wanted;
  const System& system = *subject_.system;
  subject_.problem = Teuchos::rcp(new Problem(system.op, system.x, system.rhs));
  if (system.hasLeft()) subject_.problem->setLeftPrec(system.given(system.leftOperator));
  if (system.hasRight()) subject_.problem->setRightPrec(system.given(system.rightOperator));
  subject_.problem->setProblem();
  subject_.problemGuess = gathered(*system.x);
  subject_.solver->setProblem(subject_.problem);
}

Observation Session::observe() {
  if (fault_ == "throw") throw std::runtime_error("a fault on purpose");
  if (fault_ == "crash" && world_->getRank() == 0) std::raise(SIGSEGV);
  while (fault_ == "hang" && world_->getRank() == 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  Observation seen;
  seen.converged = subject_.solver->solve() == Belos::Converged;
  seen.iterations = subject_.solver->getNumIters();
  seen.achieved = subject_.solver->achievedTol();
  seen.lossOfAccuracy = subject_.solver->isLOADetected();
  seen.report = dynamic_cast<const ReportingSolver&>(*subject_.solver).report();
  return seen;
}

void Session::commitFault(Observation& seen) {
  MultiVector& x = *subject_.system->x;
  if (fault_ == "ranks") seen.achieved += world_->getRank() == 0 ? 0 : 1e-12;
  if (fault_ == "nan") x.putScalar(std::numeric_limits<double>::quiet_NaN());
  if (fault_ == "converged") {
    x.randomize();
    seen.converged = seen.report.converged = true;
    for (RightHandSideReport& column : seen.report.rightHandSides) {
      column.converged = true;
      column.reason = StopReason::Converged;
    }
  }
}

Question Session::ask(const StepRecipe& recipe) const {
  Question question;
  question.options = subject_.parameters->options();
  question.method = recipe.method;
  question.testsCountApplications = !appliesOperator(recipe.userTest) && !appliesOperator(recipe.debugTest);
  if (appliesOperator(recipe.userTest)) question.userTestTolerance = statusTestTolerance;
  question.problemGuess = subject_.problemGuess;
  question.operatorFails = subject_.recipe.wrapper == "nan later";
  question.mustConverge =
      isEasy(subject_.recipe, question.options) && recipe.userTest == "none" && recipe.reuse != "again";
  return question;
}

std::vector<Failure> Session::differences(const Observation& seen) const {
  const std::vector<double> mine = testing::sharedNumbers(seen);
  const auto place = testing::firstDifference(mine, *subject_.comm);
  if (!place) return {};
  return {{"ranks differ", fmt::format("number {} of sharedNumbers() is {:.17g} here", *place,
                                       *place < mine.size() ? mine[*place] : 0.0)}};
}

std::optional<Failure> Session::agreed(const std::vector<Failure>& failures) const {
  const int ranks = world_->getSize();
  const int mine = failures.empty() ? ranks : world_->getRank();
  int first = ranks;
  Teuchos::reduceAll(*world_, Teuchos::REDUCE_MIN, mine, Teuchos::outArg(first));
  if (first == ranks) return std::nullopt;
  const auto told = [this, first](std::string text) {
    int length = static_cast<int>(text.size());
    Teuchos::broadcast(*world_, first, Teuchos::outArg(length));
    text.resize(static_cast<std::size_t>(length));
    Teuchos::broadcast(*world_, first, length, text.data());
    return text;
  };
  const Failure own = failures.empty() ? Failure() : failures.front();
  const Failure result{told(own.kind), told(own.text)};
  return result;
}

RCP<const Comm> Session::group(const std::string& split) {
  if (split == "world") return world_;
  RCP<const Comm>& comm = groups_[split];
  if (comm.is_null()) {
    comm = world_->split(colour(split, world_->getRank(), world_->getSize()), world_->getRank());
  }
  return comm;
}

}  // namespace capstan::soak
