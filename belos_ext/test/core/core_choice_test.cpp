/// \file
/// CAPSTAN's decisions: the cost model by hand, and a chooser against machines that are made up, whose arms' times are
/// known. No clock is looked at.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "belos_ext/choice/arm.hpp"
#include "belos_ext/choice/chooser.hpp"

namespace capstan::testing {
namespace {

/// One reduction, one product, one M, so many bytes a row.
IterationCost iterationOf(double bytes, bool hidden = false, int depth = 1, double reductions = 1) {
  return {{reductions, 1, 1, 0, 0, bytes}, hidden, depth};
}

constexpr MachineTimes times{2e-6, 1e-6, 1e-8, 10e-6};  // the work of 100 bytes a row: 2 + 1 + 1 us

TEST(CostModel, AddsWorkAndReductions) {
  EXPECT_DOUBLE_EQ(workSeconds(iterationOf(100), times), 4e-6);
  EXPECT_DOUBLE_EQ(iterationSeconds(iterationOf(100), times), 14e-6);
  EXPECT_DOUBLE_EQ(iterationSeconds(iterationOf(100, false, 1, 0.2), times), 6e-6);
}

TEST(CostModel, HidesReductionsBehindWork) {
  EXPECT_DOUBLE_EQ(iterationSeconds(iterationOf(100, true, 1), times), 10e-6);
  EXPECT_DOUBLE_EQ(iterationSeconds(iterationOf(100, true, 2), times), 6e-6);
  EXPECT_DOUBLE_EQ(iterationSeconds(iterationOf(100, true, 3), times), 4e-6);
}

TEST(CostModel, KnowsTheReductionFromWhatWasWaited) {
  EXPECT_DOUBLE_EQ(reductionSeconds(iterationOf(100), times, 7e-6, 1.0), 7e-6);
  EXPECT_DOUBLE_EQ(reductionSeconds(iterationOf(100, true), times, 6e-6, 0.0), 10e-6);
  // All of it was hidden: it is no longer than the work.
  EXPECT_DOUBLE_EQ(reductionSeconds(iterationOf(100, true), times, 0.0, 10e-6), 4e-6);
  EXPECT_DOUBLE_EQ(reductionSeconds(iterationOf(100, true), times, 0.0, 1e-6), 1e-6);
}

/// A machine on which a sequence of systems is solved.
struct Field {
  std::vector<ArmModel> arms;
  std::vector<double> truth;       ///< by which an iteration takes longer than the model says
  std::vector<double> iterations;  ///< of a solve to 8 digits
  MachineTimes machine = times;
  double noise = 0.0;
  std::mt19937 random{17};  // NOLINT: the same in every run

  void add(const char* name, const IterationCost& cost, double ratio, double truthOfModel, double iterationsOfSolve) {
    arms.push_back({name, [cost](int) { return cost; }, "CG", true, ratio, 0.1});
    truth.push_back(truthOfModel);
    iterations.push_back(iterationsOfSolve);
  }
  double seconds(std::size_t a) const {
    return iterations[a] * truth[a] * iterationSeconds(arms[a].iteration(1), machine);
  }
  std::size_t best() const {
    std::size_t found = 0;
    for (std::size_t a = 1; a < arms.size(); ++a) {
      if (seconds(a) < seconds(found)) found = a;
    }
    return found;
  }
  Observation solve(std::size_t a) {
    const IterationCost cost = arms[a].iteration(1);
    std::uniform_real_distribution<double> around(1 - noise, 1 + noise);
    const double n = iterations[a], slow = truth[a] * around(random);
    Observation seen;
    seen.seconds = seconds(a) * slow / truth[a];
    seen.productSeconds = n * machine.product * slow;
    seen.preconditionerSeconds = n * machine.preconditioner * slow;
    seen.kernelSeconds = n * cost.cost.bytes * machine.byte * slow;
    const double wait =
        std::max(0.0, seen.seconds - seen.productSeconds - seen.preconditionerSeconds - seen.kernelSeconds);
    (cost.hidden ? seen.hiddenWaitSeconds : seen.waitSeconds) = wait;
    seen.products = seen.preconditioners = std::lround(n);
    (cost.hidden ? seen.hiddenReductions : seen.reductions) = std::lround(n * cost.cost.reductions);
    seen.iterations = static_cast<int>(n);
    seen.digits = 8;
    return seen;
  }
};

struct Sequence {
  double seconds = 0, late = 0;  ///< of all solves, and of those after the 20th
};

/// As solves follow one another: a solve begins before the last one is learnt.
Sequence solveMany(Field& field, Chooser& chooser, int solves, const std::function<void(int)>& before = {}) {
  Sequence run;
  std::optional<std::pair<std::size_t, Observation>> waiting;
  std::size_t last = std::numeric_limits<std::size_t>::max();
  bool triedLast = false;
  for (int k = 0; k < solves; ++k) {
    if (before) before(k);
    const std::size_t arm = chooser.choose();
    const bool trial = arm != chooser.best();
    EXPECT_FALSE(trial && triedLast) << "two trials in a row";
    triedLast = trial;
    if (waiting) chooser.learn(waiting->first, waiting->second);
    const Observation seen = field.solve(arm);
    run.seconds += seen.seconds;
    if (k >= 20) run.late += seen.seconds;
    waiting = {arm, seen};
    last = arm;
  }
  EXPECT_LT(last, field.arms.size());
  return run;
}

Field fieldOfCg() {
  Field field;
  field.add("plain", iterationOf(100), 1, 1, 100);
  field.add("hidden", iterationOf(180, true), 1, 1.1, 102);
  field.add("deep", iterationOf(260, true, 3), 1, 1.1, 105);
  field.add("costly", iterationOf(900), 1, 1.0, 100);
  field.add("fewer", iterationOf(400, false, 1, 1), 0.6, 1.0, 75);
  return field;
}

TEST(Chooser, BeginsWithTheFirstArm) {
  Field field = fieldOfCg();
  Chooser chooser(field.arms);
  EXPECT_EQ(chooser.choose(), 0U);
  EXPECT_FALSE(chooser.estimate(0));
  EXPECT_FALSE(chooser.second());
}

TEST(Chooser, FindsTheBestArmAtEveryLatency) {
  for (const double latency : {0.0, 1e-6, 10e-6, 100e-6, 1e-3}) {
    for (const double noise : {0.0, 0.05}) {
      SCOPED_TRACE(latency);
      Field field = fieldOfCg();
      field.machine.reduction = latency;
      field.noise = noise;
      Chooser chooser(field.arms);
      const Sequence run = solveMany(field, chooser, 200);
      const double best = field.seconds(field.best());
      EXPECT_LE(run.late, 1.05 * 180 * best);
      EXPECT_LE(run.seconds, 1.10 * 200 * best);
      EXPECT_LE(field.seconds(chooser.best()), 1.05 * best);
    }
  }
}

TEST(Chooser, DoesNotTryWhatTheModelRulesOut) {
  Field field = fieldOfCg();
  field.machine.reduction = 0;
  Chooser chooser(field.arms);
  solveMany(field, chooser, 200);
  EXPECT_EQ(chooser.measured(3), 0) << "three times the work";
}

TEST(Chooser, EstimatesEveryArmOnAnotherNetwork) {
  Field field = fieldOfCg();
  Chooser chooser(field.arms);
  solveMany(field, chooser, 20);
  for (const double latency : {1e-6, 20e-6, 200e-6}) {
    field.machine.reduction = latency;
    for (std::size_t a = 0; a < chooser.arms(); ++a) {
      const double ofDigit = field.seconds(a) / 8;
      EXPECT_NEAR(std::log(*chooser.estimate(a, latency) / ofDigit), 0, 0.25)
          << field.arms[a].name << " at " << latency;
    }
  }
  EXPECT_NE(chooser.estimate(0), chooser.estimate(0, 200e-6));
  EXPECT_LT(chooser.uncertainty(chooser.best()), chooser.uncertainty(3)) << "which was never tried";
}

TEST(Chooser, FollowsALatencyThatRises) {
  Field field = fieldOfCg();
  field.machine.reduction = 0;
  Chooser chooser(field.arms);
  double best = 0;
  const Sequence run = solveMany(field, chooser, 200, [&](int k) {
    if (k == 100) field.machine.reduction = 200e-6;
    best += field.seconds(field.best());
  });
  EXPECT_LE(run.seconds, 1.10 * best);
  EXPECT_LE(field.seconds(chooser.best()), 1.05 * field.seconds(field.best()));
}

TEST(Chooser, GoesOnWithWhatAnotherRunHasFound) {
  for (const double latency : {0.0, 1e-3}) {
    Field field = fieldOfCg();
    field.machine.reduction = latency;
    Chooser first(field.arms);
    EXPECT_FALSE(first.knowledge());
    solveMany(field, first, 100);
    Chooser next(field.arms);
    next.resume(*first.knowledge(), true);
    EXPECT_EQ(next.best(), first.best());
    EXPECT_NEAR(*next.estimate(next.best()), *first.estimate(first.best()), 1e-12);
    // The first solve of a run takes longer, which says nothing of the arm; and there is no trial before one is learnt.
    for (int k = 0; k < 2; ++k) EXPECT_EQ(next.choose(), first.best());
    Observation slow = field.solve(first.best());
    slow.seconds *= 5;
    next.learn(first.best(), slow);
    EXPECT_EQ(next.best(), first.best());
    const Sequence run = solveMany(field, next, 50);
    EXPECT_LE(run.seconds, 1.02 * 50 * field.seconds(field.best()));
  }
}

TEST(Chooser, FindsOutWhereAnotherRunsKnowledgeIsOld) {
  Field field = fieldOfCg();
  field.machine.reduction = 0;
  Chooser first(field.arms);
  solveMany(field, first, 100);
  field.machine.reduction = 1e-3;
  Chooser next(field.arms);
  next.resume(*first.knowledge(), true);
  const Sequence run = solveMany(field, next, 200);
  EXPECT_LE(run.seconds, 1.10 * 200 * field.seconds(field.best()));
}

TEST(Chooser, BeginsWithTheChoiceOfAnotherMachineAndMeasuresAnew) {
  Field field = fieldOfCg();
  field.machine.reduction = 1e-3;
  Chooser first(field.arms);
  solveMany(field, first, 100);
  ASSERT_NE(first.best(), 0U);
  Chooser next(field.arms);
  next.resume(*first.knowledge(), false);
  EXPECT_EQ(next.choose(), first.best());
  EXPECT_FALSE(next.estimate(0)) << "no time of that machine is taken";
  const Sequence run = solveMany(field, next, 200);
  EXPECT_LE(run.seconds, 1.05 * 200 * field.seconds(field.best()));
}

TEST(Chooser, TakesNothingOfArmsThatAreNotThere) {
  Field field = fieldOfCg();
  ChoiceKnowledge known;
  known.best = "another";
  known.pace = known.expected = 10;
  known.arms.push_back({"another", 3, 1, 1, 0, 1e-5, false, false, 0});
  known.arms.push_back({"plain", 0, 1, 1, 0, 0, false, true, 1});
  for (const bool same : {true, false}) {
    Chooser chooser(field.arms);
    chooser.resume(known, same);
    EXPECT_EQ(chooser.failed(0), same);
    EXPECT_EQ(chooser.best(), same ? 1U : 0U) << "the first that has not failed";
    EXPECT_FALSE(chooser.knowledge());
    solveMany(field, chooser, 30);
    EXPECT_TRUE(chooser.knowledge());
  }
}

TEST(Chooser, TakesAHarderSystemForNoReasonToTry) {
  Field field = fieldOfCg();
  Chooser chooser(field.arms);
  solveMany(field, chooser, 100);
  const long trials = chooser.trials();
  for (double& n : field.iterations) n *= 1.5;
  solveMany(field, chooser, 100);
  EXPECT_LE(chooser.trials(), trials + 10);
  EXPECT_LE(field.seconds(chooser.best()), 1.05 * field.seconds(field.best()));
}

// What the model leaves out, as a solve's start, all arms with one M have in common.
TEST(Chooser, ExpectsTheModelsErrorOfOneArmOfTheOthers) {
  Field field = fieldOfCg();
  for (double& truth : field.truth) truth *= 1.8;
  Chooser chooser(field.arms);
  for (int k = 0; k < 2; ++k) chooser.learn(0, field.solve(0));
  for (std::size_t a = 0; a < field.arms.size(); ++a) {
    EXPECT_NEAR(8 * *chooser.estimate(a) / field.seconds(a), 1.0, 0.25) << field.arms[a].name;
    EXPECT_LT(chooser.uncertainty(a), 0.4) << field.arms[a].name;
  }
  solveMany(field, chooser, 100);
  EXPECT_EQ(chooser.measured(1), 0) << "a trial of an arm of which 1.2 of the best one's time is expected";
}

TEST(Chooser, NeverTriesAgainWhatHasFailed) {
  Field field = fieldOfCg();
  field.machine.reduction = 15e-6;  // "deep" hides it, and is the best by far
  ASSERT_EQ(field.best(), 2U);
  Chooser chooser(field.arms);
  int failures = 0;
  for (int k = 0; k < 100; ++k) {
    const std::size_t arm = chooser.choose();
    Observation seen = field.solve(arm);
    seen.failed = arm == 2;
    failures += seen.failed;
    chooser.learn(arm, seen);
  }
  EXPECT_EQ(failures, 1);
  EXPECT_TRUE(chooser.failed(2));
  EXPECT_NE(chooser.best(), 2U);
}

TEST(Chooser, TriesAgainWhatHasFailedWhereTheSystemHasChanged) {
  Field field = fieldOfCg();
  field.machine.reduction = 100e-6;
  Chooser chooser(field.arms);
  std::vector<int> tried;  // solves by what always fails
  int k = 0;
  const auto solves = [&](int count) {
    tried.clear();
    for (const int end = k + count; k < end; ++k) {
      const std::size_t arm = chooser.choose();
      Observation seen = field.solve(arm);
      seen.failed = arm == 2;
      if (arm == 2) tried.push_back(k);
      chooser.learn(arm, seen);
    }
    return tried.size();
  };
  const auto harder = [&](double by) {
    for (double& iterations : field.iterations) iterations *= by;
  };
  EXPECT_EQ(solves(100), 1U);
  harder(1.2);
  EXPECT_EQ(solves(100), 0U) << "much the same system";
  harder(1.2);
  EXPECT_EQ(solves(100), 1U);
  harder(1.35);
  EXPECT_EQ(solves(100), 0U) << "a second failure asks for more";
  harder(1.4);
  EXPECT_EQ(solves(100), 1U);
}

TEST(Chooser, LimitsATrialByTheTimeOfTheBest) {
  Field field = fieldOfCg();
  field.machine.reduction = 0;
  Chooser chooser(field.arms, field.machine);
  EXPECT_EQ(chooser.mostIterations(3), 0) << "nothing is known yet";
  chooser.learn(0, field.solve(0));
  // 100 iterations of 4 us; one of "costly" takes 12 us.
  EXPECT_EQ(chooser.mostIterations(0), 150);
  EXPECT_EQ(chooser.mostIterations(3), 50);
}

TEST(Chooser, LeavesSymmetricArmsWhereTheMatrixIsNotSymmetric) {
  Field field = fieldOfCg();
  field.add("any", iterationOf(500), 1, 1, 100);
  field.arms.back().symmetric = false;
  for (const bool told : {true, false}) {
    Chooser chooser(field.arms);
    Observation seen = field.solve(chooser.choose());
    seen.asymmetric = told;
    seen.failed = !told;  // by a preconditioner that is not symmetric
    chooser.learn(0, seen);
    for (int k = 0; k < 20; ++k) {
      const std::size_t arm = chooser.choose();
      EXPECT_EQ(arm, 5U);
      chooser.learn(arm, field.solve(arm));
    }
  }
}

TEST(Chooser, LeavesSymmetricArmsWhereItIsTold) {
  Field field = fieldOfCg();
  field.arms[4].symmetric = false;
  Chooser chooser(field.arms);
  solveMany(field, chooser, 10);
  ASSERT_NE(chooser.best(), 4U);
  chooser.leaveSymmetricArms();
  EXPECT_EQ(chooser.best(), 4U);
  for (int k = 0; k < 10; ++k) {
    EXPECT_EQ(chooser.choose(), 4U);
    chooser.learn(4, field.solve(4));
  }
}

TEST(Chooser, LooksForAFamilyThatSolves) {
  Field field = fieldOfCg();
  for (const char* family : {"GMRES", "BiCGStab"}) {
    field.add(family, iterationOf(5000), 1, 1, 100);
    field.arms.back().family = family;
    field.arms.back().symmetric = false;
  }
  for (const bool any : {true, false}) {
    Chooser chooser(field.arms);
    std::vector<std::size_t> chosen;
    for (int k = 0; k < 20; ++k) {
      chosen.push_back(chooser.choose());
      Observation seen = field.solve(chosen.back());
      seen.solved = any && chosen.back() == 6;
      chooser.learn(chosen.back(), seen);
    }
    EXPECT_EQ(std::count(chosen.begin(), chosen.end(), 5U), 1);
    EXPECT_EQ(chooser.best() == 6, any) << "where none solves, the one of most digits in a second";
  }
}

TEST(Chooser, LooksForAnotherFamilyWhereTheFirstGainsNothing) {
  Field field = fieldOfCg();
  field.add("GMRES", iterationOf(5000), 1, 1, 100);
  field.arms.back().family = "GMRES";
  field.arms.back().symmetric = false;
  Chooser chooser(field.arms);
  for (int k = 0; k < 4; ++k) {
    const std::size_t arm = chooser.choose();
    Observation seen = field.solve(arm);
    if (arm != 5) {
      seen.digits = 0;
      seen.solved = false;
    }
    chooser.learn(arm, seen);
  }
  EXPECT_EQ(chooser.best(), 5U);
}

TEST(Chooser, GoesOnWhereAllHaveFailed) {
  Field field = fieldOfCg();
  Chooser chooser(field.arms);
  for (int k = 0; k < 20; ++k) {
    const std::size_t arm = chooser.choose();
    ASSERT_LT(arm, field.arms.size());
    Observation seen = field.solve(arm);
    seen.failed = true;
    chooser.learn(arm, seen);
  }
  EXPECT_EQ(chooser.choose(), 0U);
}

TEST(Chooser, LearnsAgainOnceWhatHadFailedSolves) {
  Field field = fieldOfCg();
  Chooser chooser(field.arms);
  std::vector<std::size_t> chosen;
  for (int k = 0; k < 60; ++k) {
    const std::size_t arm = chooser.choose();
    Observation seen = field.solve(arm);
    seen.failed = k < 20;
    chooser.learn(arm, seen);
    if (k >= 20) chosen.push_back(arm);
  }
  EXPECT_TRUE(chooser.estimate(0));
  EXPECT_LE(field.seconds(chooser.best()), 1.05 * field.seconds(field.best()));
  EXPECT_GT(std::count_if(chosen.begin(), chosen.end(), [](std::size_t arm) { return arm != 0; }), 0) << "no trial";
}

// Half the time an iteration, and the limit ends each of its solves short of the tolerance.
TEST(Chooser, DoesNotTryAgainAndAgainWhatDoesNotSolve) {
  for (const double digits : {6.0, 0.1}) {
    Field field = fieldOfCg();
    Chooser chooser(field.arms);
    field.machine.reduction = 1e-3;  // "deep" would be the best by far
    int unsolved = 0;
    for (int k = 0; k < 200; ++k) {
      const std::size_t arm = chooser.choose();
      Observation seen = field.solve(arm);
      if (arm == 2) {
        seen.digits = digits;
        seen.solved = false;
        ++unsolved;
      }
      chooser.learn(arm, seen);
    }
    EXPECT_LE(unsolved, 8) << digits;
  }
}

TEST(Chooser, LearnsNothingFromSolvesWithoutIterations) {
  Field field = fieldOfCg();
  Chooser chooser(field.arms);
  Observation seen;
  seen.seconds = 1e-6;
  for (int k = 0; k < 10; ++k) {
    EXPECT_EQ(chooser.choose(), 0U);
    chooser.learn(0, seen);
  }
  EXPECT_FALSE(chooser.estimate(0));
}

TEST(Chooser, BearsAClockThatShowsNothing) {
  Field field = fieldOfCg();
  Chooser chooser(field.arms);
  for (int k = 0; k < 30; ++k) {
    const std::size_t arm = chooser.choose();
    Observation seen;
    seen.iterations = 10;
    seen.digits = 8;
    seen.products = seen.reductions = 10;
    chooser.learn(arm, seen);
    EXPECT_TRUE(std::isfinite(*chooser.estimate(chooser.best())));
    EXPECT_TRUE(std::isfinite(chooser.regretSeconds()));
  }
}

TEST(Chooser, DecidesByCountsAloneWhereAskedTo) {
  std::vector<std::size_t> chosen[2];
  for (int run = 0; run < 2; ++run) {
    Field field = fieldOfCg();
    field.noise = 0.3;
    field.random.seed(static_cast<unsigned>(run));
    Chooser chooser(field.arms, times);
    for (int k = 0; k < 50; ++k) {
      chosen[run].push_back(chooser.choose());
      chooser.learn(chosen[run].back(), field.solve(chosen[run].back()));
    }
  }
  EXPECT_EQ(chosen[0], chosen[1]);
}

TEST(Arms, AreAllMethodsWithTheirDepthsAndDegrees) {
  const Parameters none(choosingMethod());
  const auto arms = armsFor(none, Symmetry::Likely);
  EXPECT_EQ(nameOf(arms.front()), "CAPSTAN CG");
  for (const MethodTraits& method : methods()) {
    EXPECT_TRUE(std::any_of(arms.begin(), arms.end(), [&](const Arm& arm) { return arm.method == &method; }))
        << method.canonical;
  }
  const auto any = armsFor(none, Symmetry::None);
  EXPECT_EQ(nameOf(any.front()), "CAPSTAN GMRES");
  EXPECT_TRUE(std::none_of(any.begin(), any.end(), [](const Arm& arm) { return arm.method->needsSymmetric; }));
}

TEST(Arms, BeginWithGmresWhereNothingIsKnownOfTheMatrix) {
  const Parameters none(choosingMethod());
  const auto likely = armsFor(none, Symmetry::Likely), unknown = armsFor(none, Symmetry::Unknown);
  EXPECT_EQ(unknown.size(), likely.size());
  EXPECT_EQ(nameOf(unknown.front()), "CAPSTAN GMRES");
  EXPECT_TRUE(std::any_of(unknown.begin(), unknown.end(), [](const Arm& arm) { return nameOf(arm) == "CAPSTAN CG"; }));
}

TEST(Arms, DoNotVaryWhatIsGiven) {
  Parameters given(choosingMethod());
  Teuchos::ParameterList list;
  list.set("Pipeline Depth", 2);
  list.set("Polynomial Degree", 3);
  list.set("Convergence Tolerance", 1e-6);
  given.merge(list);
  for (const Arm& arm : armsFor(given, Symmetry::Likely)) {
    EXPECT_TRUE(arm.parameters.empty()) << nameOf(arm);
    const auto theirs = parametersOf(arm, given.ofApplication());
    EXPECT_EQ(theirs.isParameter("Pipeline Depth"), arm.method->takes("Pipeline Depth"));
    EXPECT_TRUE(theirs.isParameter("Convergence Tolerance"));
    EXPECT_FALSE(theirs.isParameter("Maximum Iterations")) << "a default";
    EXPECT_FALSE(theirs.isParameter("Choice"));
  }
}

TEST(Arms, AreThoseThatCanBeMade) {
  Parameters given(choosingMethod());
  Teuchos::ParameterList list;
  list.set("Flexible Gmres", true);
  given.merge(list);
  const auto arms = armsFor(given, Symmetry::Likely);
  ASSERT_EQ(arms.size(), 2U);
  EXPECT_EQ(nameOf(arms[0]), "CAPSTAN GMRES");
  EXPECT_EQ(nameOf(arms[1]), "CAPSTAN GMRES S-STEP");
}

TEST(Arms, CostWhatACycleOfTheirIterationsDoes) {
  const Parameters none(choosingMethod());
  for (const Arm& arm : armsFor(none, Symmetry::None)) {
    const ArmModel model = modelOf(arm, none, true);
    const double few = model.iteration(10).cost.bytes, many = model.iteration(300).cost.bytes;
    if (arm.method->takes("Num Blocks")) {
      EXPECT_LT(few, 0.5 * many) << model.name;
    } else {
      EXPECT_EQ(few, many) << model.name;
    }
  }
}

TEST(Chooser, TriesNothingWhoseStartTakesTooLong) {
  for (const int first : {0, 1000}) {
    Field field;
    field.add("a", iterationOf(100), 1.0, 1.0, 20);
    field.add("b", iterationOf(50), 1.0, 1.0, 20);
    field.arms[1].first = first;  // 20 iterations take 20 products, and some more
    Chooser chooser(field.arms);
    int tried = 0;
    for (int k = 0; k < 50; ++k) {
      const std::size_t arm = chooser.choose();
      tried += arm == 1 ? 1 : 0;
      chooser.learn(arm, field.solve(arm));
    }
    EXPECT_EQ(tried > 0, first == 0);
  }
}

TEST(Arms, ShareOutWhatFillsAPipeline) {
  const Parameters none(choosingMethod());
  for (const Arm& arm : armsFor(none, Symmetry::Likely)) {
    const ArmModel model = modelOf(arm, none, true);
    const Cost few = model.iteration(3).cost, many = model.iteration(3000).cost;
    if (arm.method->pipelined) {
      EXPECT_GE(few.operators, many.operators + 0.3) << model.name;
      EXPECT_GE(few.preconditioners, many.preconditioners + 0.3) << model.name;
    } else {
      EXPECT_EQ(few.operators, many.operators) << model.name;
      EXPECT_EQ(few.preconditioners, many.preconditioners) << model.name;
    }
  }
}

}  // namespace
}  // namespace capstan::testing
