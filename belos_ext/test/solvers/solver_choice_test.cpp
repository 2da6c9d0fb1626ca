/// \file
/// CAPSTAN: sequences of solves, each by the method that earlier ones show to be the fastest.

#include <unistd.h>

#include <Teuchos_CommHelpers.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "belos_ext/choice/choice_file.hpp"
#include "belos_ext/choice/choosing.hpp"
#include "belos_ext/choice/choosing_manager.hpp"
#include "belos_ext/parameters/parameter_overlay.hpp"
#include "belos_ext/support/shared_text.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "belos_ext/test/support/methods.hpp"
#include "tpetra_ext/reductions/counters.hpp"

namespace capstan::testing {
namespace {

using LO = Types::LocalOrdinal;

/// Decisions that are the same in every run.
Params counted() {
  Params p;
  p.set("Choice", "counted");
  return p;
}

class Choosing : public ::testing::Test {
 protected:
  /// Solves with another right-hand side each time; returns the outcome. Always the true residual is looked at.
  static Outcome solveAgain(Solver& solver, System& system, int k, Side side = Side::None) {
    fill(*system.b, [k](GO i) { return wave(i + 7 * static_cast<GO>(k)); });
    system.x->putScalar(0);
    const Outcome outcome = solve(solver, system, side);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(relativeResidual(system, *zeroLike(*system.x)), 1.01e-8);
    return outcome;
  }
  static RCP<MultiVector> zeroLike(const MultiVector& x) { return rcp(new MultiVector(x.getMap(), x.getNumVectors())); }
  /// A system of this test's own: those that look the same and are gone are one system.
  static RCP<CrsMatrix> named(const RCP<CrsMatrix>& a) {
    a->setObjectLabel(::testing::UnitTest::GetInstance()->current_test_info()->name());
    return a;
  }
  static void fill(MultiVector& v, const std::function<Scalar(GO)>& entry) {
    for (size_t i = 0; i < v.getLocalLength(); ++i) {
      v.replaceLocalValue(static_cast<LO>(i), 0, entry(v.getMap()->getGlobalElement(static_cast<LO>(i))));
    }
  }
};

TEST_F(Choosing, SolvesASequenceAndSettles) {
  for (const Side side : {Side::None, Side::Right}) {
    System system = systemWithRightHandSide(named(grid2d(30, 30)), wave);
    const auto solver = solverOf(choosingMethod(), counted());
    std::set<std::string> arms;
    for (int k = 0; k < 40; ++k) {
      const Outcome outcome = solveAgain(*solver, system, k, side);
      const ChoiceReport& choice = reportOf(*solver).choice;
      arms.insert(choice.arm);
      EXPECT_EQ(choice.arm.rfind(reportOf(*solver).solver, 0), 0U);
      EXPECT_EQ(choice.trial, choice.arm != choice.best);
      EXPECT_EQ(choice.solves, std::max(0, k - 1)) << "the last solve is not known yet";
      if (k == 0) {
        EXPECT_EQ(choice.arm, "CAPSTAN CG");
      }
      if (k > 1) {
        EXPECT_GT(choice.bestSeconds, 0);
      }
      const bool powerOfTwo = choice.solves > 0 && (choice.solves & (choice.solves - 1)) == 0;
      EXPECT_EQ(!choice.arms.empty(), powerOfTwo || choice.trial);
      const auto best = std::find_if(choice.arms.begin(), choice.arms.end(),
                                     [&choice](const ChoiceArm& one) { return one.arm == choice.best; });
      if (!choice.arms.empty()) {
        ASSERT_NE(best, choice.arms.end());
        EXPECT_EQ(best->seconds, choice.bestSeconds);
        EXPECT_LE(best->at.front(), best->at.back());
        EXPECT_FALSE(best->leftOut);
      }
      expectSameOnAllRanks(outcome);
    }
    EXPECT_GT(arms.size(), 1U) << "something else was tried";
    EXPECT_FALSE(reportOf(*solver).choice.second.empty());
  }
}

TEST_F(Choosing, TakesNoReductionBesideThoseOfTheMethod) {
  System system = systemWithRightHandSide(named(grid2d(20, 20)), wave);
  const auto solver = solverOf(choosingMethod(), counted());
  for (int k = 0; k < 12; ++k) {
    const ReductionCounters before = counters();
    fill(*system.b, [k](GO i) { return wave(i + 7 * static_cast<GO>(k)); });
    const Outcome outcome = solve(*solver, system);
    const ReductionCounters spent = counters() - before;
    EXPECT_EQ(spent.blocking, outcome.report.reductionsBlocking);
    EXPECT_EQ(spent.nonblocking, outcome.report.reductionsNonblocking);
  }
  for (const MethodTraits& method : methods()) {
    long reductions[2];
    for (const bool along : {false, true}) {
      SolverManager<Types> alone(method);
      double told = 0;
      if (along) alone.sendAlong({Scalar(3)}, [&](const std::vector<Scalar>& sums) { told = sums[0]; });
      system.x->putScalar(0);
      const Outcome outcome = solve(alone, rowsHidden(system));
      reductions[along ? 1 : 0] = outcome.report.reductionsBlocking + outcome.report.reductionsNonblocking;
      EXPECT_EQ(told, along ? 3.0 * ranks() : 0.0) << method.canonical;
      alone.reset(Belos::RecycleSubspace);
    }
    EXPECT_EQ(reductions[0], reductions[1]) << method.canonical;
  }
}

TEST_F(Choosing, ChoosesTheSameOnAllRanksWhateverTheirClocksSay) {
  System system = systemWithRightHandSide(named(grid2d(25, 20)), wave);
  const auto solver = solverOf(choosingMethod());
  // Some ranks are slow in each product now and then.
  const auto inner = system.a;
  int calls = 0;
  system.a = rcp(new FunctionOperator(inner->getDomainMap(), [&](const MultiVector& in, MultiVector& out) {
    if (++calls % (5 + rank()) == 0) std::this_thread::sleep_for(std::chrono::microseconds(300 * rank()));
    counters().blocking += rank();  // as a solve of each rank's own does within a product
    inner->apply(in, out);
  }));
  for (int k = 0; k < 30; ++k) {
    solveAgain(*solver, system, k);
    const ChoiceReport& choice = reportOf(*solver).choice;
    double hash = 0;
    for (const char c : choice.arm + choice.second) hash = 0.5 * hash + c;
    expectSameOnAllRanks({hash, choice.bestSeconds, choice.regretSeconds, static_cast<double>(choice.trials)});
  }
}

/// Sequences of random systems, tolerances and delays; CAPSTAN_TEST_SEQUENCES: how many.
TEST_F(Choosing, ChoosesTheSameOnAllRanksInRandomSequences) {
  const char* const asked = std::getenv("CAPSTAN_TEST_SEQUENCES");
  const int sequences = asked != nullptr ? std::atoi(asked) : 40;
  ASSERT_GT(sequences, 0);
  std::mt19937 together(11), alone(1000 + static_cast<unsigned>(rank()));
  const auto real = [](std::mt19937& from) { return std::uniform_real_distribution<double>(0, 1)(from); };
  std::set<std::string> arms;
  long trials = 0;
  for (int sequence = 0; sequence < sequences; ++sequence) {
    SCOPED_TRACE("sequence " + std::to_string(sequence));
    const int width = 5 + static_cast<int>(together() % 8);
    const auto a = grid2d(width, 6, real(together) < 0.3 ? 0.3 * real(together) : 0.0);
    a->setObjectLabel("random " + std::to_string(sequence));
    System system = systemWithRightHandSide(a, wave);
    // Each rank has its own share of products that take long, and its own length of them.
    const double share = 0.2 * real(alone), longest = 2e-4 * real(alone);
    system.a = rcp(new FunctionOperator(a->getDomainMap(), [&](const MultiVector& in, MultiVector& out) {
      if (real(alone) < share) std::this_thread::sleep_for(std::chrono::duration<double>(longest * real(alone)));
      a->apply(in, out);
    }));
    Params p;
    p.set("Convergence Tolerance", std::pow(10.0, -3 - 6 * real(together)));
    const auto solver = solverOf(choosingMethod(), p);
    const int solves = 3 + static_cast<int>(together() % 7);
    for (int k = 0; k < solves; ++k) {
      fill(*system.b, [k](GO i) { return wave(i + 7 * static_cast<GO>(k)); });
      system.x->putScalar(0);
      const ReductionCounters before = counters();
      const Outcome outcome = solve(*solver, system);
      const ReductionCounters spent = counters() - before;
      EXPECT_TRUE(outcome.converged) << toString(outcome.report.reason) << " after " << outcome.iterations << ", "
                                     << outcome.report.choice.arm << (outcome.report.choice.trial ? ", a trial" : "");
      EXPECT_EQ(spent.blocking + spent.nonblocking,
                outcome.report.reductionsBlocking + outcome.report.reductionsNonblocking);
      const ChoiceReport& choice = outcome.report.choice;
      double hash = 0;
      for (const char c : choice.arm + choice.best + choice.second) hash = 0.5 * hash + c;
      expectSameOnAllRanks({hash, choice.bestSeconds, choice.regretSeconds, static_cast<double>(choice.trials)});
      arms.insert(choice.arm);
      trials += choice.trial ? 1 : 0;
    }
  }
  EXPECT_GT(arms.size(), 1U);  // how many, and how many trials, is a matter of the machine's load
  if (rank() == 0) std::cout << sequences << " sequences, " << arms.size() << " arms, " << trials << " trials\n";
}

// GMRES follows the residual that the preconditioner on the left makes, the others that of b - A x.
TEST_F(Choosing, CountsDigitsOfOneNormWithALeftPreconditioner) {
  for (const double size : {1e9, 1e-9}) {
    System system = systemWithRightHandSide(named(scaledLaplacian(20, [size](GO) { return std::sqrt(size); })), wave);
    for (const std::string& method : {id::Gmres, id::BiCgStab}) {
      Params p;
      p.set("Convergence Tolerance", 1e-8);
      system.x->putScalar(0);
      const Outcome outcome = solve(methodOf(method), p, system, Side::Left);
      ASSERT_TRUE(outcome.converged) << method;
      EXPECT_NEAR(observationOf(outcome.report, 0).digits, 8, 1) << method << ", " << size;
    }
  }
}

TEST_F(Choosing, LeavesCgWhereTheMatrixIsNotSymmetric) {
  System system = systemWithRightHandSide(named(grid2d(24, 20, 0.3)), wave);
  const auto solver = solverOf(choosingMethod(), counted());
  const int gmres = solve(methodOf(id::Gmres), Params(), system).iterations;
  for (int k = 0; k < 10; ++k) {
    const Outcome outcome = solveAgain(*solver, system, k);
    if (k == 0) {
      EXPECT_TRUE(outcome.converged);
      EXPECT_LE(outcome.iterations, gmres + 2) << "CG has gone on";
      EXPECT_TRUE(mentions(outcome.report.events, "A is not symmetric"));
    }
    if (k > 1) {
      EXPECT_FALSE(methodOf(reportOf(*solver).solver).needsSymmetric) << reportOf(*solver).solver;
    }
  }
}

TEST_F(Choosing, LeavesCgWhereThePreconditionerIsNotSymmetric) {
  System system = withSkewPreconditioner(systemWithRightHandSide(named(grid2d(19, 20)), wave), 1.0);
  const auto solver = solverOf(choosingMethod(), counted());
  // CG does not meet the tolerance: then one of each family is tried, every other time.
  for (int k = 0; k < 10; ++k) {
    fill(*system.b, [k](GO i) { return wave(i + 7 * static_cast<GO>(k)); });
    system.x->putScalar(0);
    const bool converged = solve(*solver, system, Side::Right).converged;
    if (k > 3) {
      EXPECT_TRUE(converged || reportOf(*solver).choice.trial) << reportOf(*solver).solver;
    }
  }
  EXPECT_FALSE(methodOf(reportOf(*solver).choice.best).needsSymmetric) << reportOf(*solver).choice.best;
}

TEST_F(Choosing, HandsATrialOverThatTakesTooLong) {
  System system = systemWithRightHandSide(named(grid2d(23, 20)), wave);
  for (const MethodTraits& method : methods()) {
    SolverManager<Types> solver(method);
    system.x->putScalar(0);
    const Outcome whole = solve(solver, system, Side::Right);
    ASSERT_TRUE(whole.converged);
    solver.setHandsOverAt(10);
    system.x->putScalar(0);
    const Outcome trial = solve(solver, system, Side::Right);
    EXPECT_TRUE(trial.converged) << method.canonical;
    EXPECT_LE(relativeResidual(system, *zeroLike(*system.x)), 1.01e-8);
    const bool left = mentions(told(trial, "classical"), "longer than the best") ||
                      mentions(told(trial, "fallback"), "longer than the best");
    EXPECT_EQ(left, !method.next.empty()) << method.canonical;
    expectSameOnAllRanks(trial);
    // At the limit of the solve it is over.
    Params p;
    p.set("Maximum Iterations", 10);
    change(solver, p);
    system.x->putScalar(0);
    EXPECT_EQ(solve(solver, system, Side::Right).report.reason, StopReason::MaxIterations) << method.canonical;
  }
}

TEST_F(Choosing, KnowsASystemWhoseSolverIsMadeAnew) {
  System system = systemWithRightHandSide(named(grid2d(22, 20)), wave);
  long trials = 0;
  for (int k = 0; k < 10; ++k) {
    const auto solver = solverOf(choosingMethod(), counted());
    solveAgain(*solver, system, k);
    EXPECT_EQ(reportOf(*solver).choice.solves, std::max(0, k - 1));
    trials = reportOf(*solver).choice.trials;
  }
  EXPECT_GT(trials, 0);
}

TEST_F(Choosing, KeepsSystemsApart) {
  System one = systemWithRightHandSide(named(grid2d(16, 20)), wave),
         other = systemWithRightHandSide(named(grid2d(17, 16, 0.3)), wave);
  const auto solver = solverOf(choosingMethod(), counted());
  for (int k = 0; k < 6; ++k) {
    solveAgain(*solver, one, k);
    EXPECT_EQ(reportOf(*solver).choice.solves, std::max(0, k - 1));
    const int system = reportOf(*solver).system;
    solveAgain(*solver, other, k);
    EXPECT_EQ(reportOf(*solver).choice.solves, std::max(0, k - 1));
    EXPECT_NE(reportOf(*solver).system, system);
    if (k > 1) {
      EXPECT_FALSE(methodOf(reportOf(*solver).solver).needsSymmetric);
    }
  }
}

TEST_F(Choosing, PassesParametersOnToTheMethodsThatTakeThem) {
  System system = systemWithRightHandSide(named(grid2d(18, 20)), wave);
  Params p = counted();
  p.set("Convergence Tolerance", 1e-3);
  p.set("Pipeline Depth", 2);
  const auto solver = solverOf(choosingMethod(), p);
  for (int k = 0; k < 20; ++k) {
    fill(*system.b, [k](GO i) { return wave(i + 7 * static_cast<GO>(k)); });
    system.x->putScalar(0);
    EXPECT_TRUE(solve(*solver, system).converged);
    EXPECT_EQ(reportOf(*solver).tolerance, 1e-3);
    EXPECT_EQ(reportOf(*solver).choice.arm.find("Depth"), std::string::npos) << "a depth that is given is not varied";
  }
}

TEST_F(Choosing, TakesLimitsAndUsersOptionsForOneSolve) {
  System system = systemWithRightHandSide(named(grid2d(15, 20)), wave);
  const auto solver = solverOf(choosingMethod(), counted());
  auto& ours = dynamic_cast<ReportingSolver&>(*solver);
  for (const double tolerance : {1e-3, 1e-9, 1e-5}) {
    ours.setLimits(tolerance, 700);
    system.x->putScalar(0);
    EXPECT_TRUE(solve(*solver, system).converged);
    EXPECT_EQ(ours.report().tolerance, tolerance);
  }
  setParameterOverlay([](const SolveFacts&) {
    const auto list = rcp(new Params);
    list->set("Maximum Iterations", 3);
    return list;
  });
  system.x->putScalar(0);
  EXPECT_EQ(solve(*solver, system).report.reason, StopReason::MaxIterations);
  setParameterOverlay({});
  system.x->putScalar(0);
  EXPECT_TRUE(solve(*solver, system).converged);
  EXPECT_EQ(ours.report().tolerance, 1e-5);
}

TEST_F(Choosing, RefusesWhatNoMethodTakes) {
  Params p;
  p.set("Choice", "at random");
  try {
    solverOf(choosingMethod(), p);
    FAIL() << "it was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("measured, counted, fixed"), std::string::npos) << error.what();
  }
  Params flexible = counted();
  flexible.set("Flexible Gmres", true);
  const auto solver = solverOf(choosingMethod(), flexible);
  System system = systemWithRightHandSide(named(grid2d(9, 9)), wave);
  solveAgain(*solver, system, 0, Side::Right);
  EXPECT_EQ(reportOf(*solver).solver, id::Gmres);
}

/// A file in a folder that all ranks see, and that is gone afterwards.
struct SharedFile {
  SharedFile() {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::string mine = std::to_string(::getpid());
    path = (std::filesystem::temp_directory_path() /
            (std::string("capstan-") + test->name() + sharedText(mine, 0, *Tpetra::getDefaultComm()) + ".json"))
               .string();
  }
  ~SharedFile() {
    Tpetra::getDefaultComm()->barrier();
    if (rank() == 0) std::filesystem::remove(path);
  }
  std::string path;
};

TEST_F(Choosing, GoesOnInTheNextRunWithWhatTheFileKeeps) {
  const SharedFile file;
  Params p = counted();
  p.set("Choice File", file.path);
  p.set("Solver Name", "pressure");
  {
    System system = systemWithRightHandSide(named(grid2d(27, 20)), wave);
    const auto solver = solverOf(choosingMethod(), p);
    for (int k = 0; k < 40; ++k) solveAgain(*solver, system, k);
    ASSERT_GT(reportOf(*solver).choice.trials, 0);
  }
  Tpetra::getDefaultComm()->barrier();
  const ChoiceFile kept = readChoiceFile(file.path, *Tpetra::getDefaultComm());
  ASSERT_EQ(kept.systems(), std::vector<std::string>{"pressure"});
  ChoiceKey key;
  key.system = "pressure";
  const std::string best = kept.find(key)->known.best;
  // Another one of the same look is a system that is not known here, as in another run.
  const auto keep = grid2d(27, 20);
  System again = systemWithRightHandSide(keep, wave);
  Params changed = p;
  changed.set("Maximum Iterations", 999);
  changed.set("Num Blocks", 77);  // what is known of the system is for other parameters
  const auto solver = solverOf(choosingMethod(), changed);
  for (int k = 0; k < 10; ++k) {
    solveAgain(*solver, again, k);
    const ChoiceReport& choice = reportOf(*solver).choice;
    if (k == 0) {
      EXPECT_EQ(choice.arm, best);
      EXPECT_GT(choice.bestSeconds, 0) << "known before the first solve";
      EXPECT_EQ(choice.solves, 0);
    }
    EXPECT_FALSE(k < 2 && choice.trial) << "there is no trial before a solve is known";
  }
}

TEST_F(Choosing, TakesAFixedChoiceFromTheFile) {
  const SharedFile file;
  System system = systemWithRightHandSide(named(grid2d(28, 20)), wave);
  Params p;
  p.set("Choice", "fixed");
  p.set("Solver Name", "pressure");
  try {
    solverOf(choosingMethod(), p);
    FAIL() << "it was taken without a file";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("\"Choice File\""), std::string::npos) << error.what();
  }
  p.set("Choice File", file.path);
  const auto solver = solverOf(choosingMethod(), p);
  const auto refused = [&] {
    try {
      solve(*solver, system);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("solved");
  };
  const auto write = [&](const std::string& name, const std::string& best) {
    Tpetra::getDefaultComm()->barrier();
    if (rank() == 0) {
      ChoiceKnowledge known{{1e-5, 0, 1e-9, 1e-6}, 8, 64, best, {}};
      std::filesystem::remove(file.path);
      keepInChoiceFile(file.path, {{name, "measured", "", "elsewhere", 512, 1000000}, known}, std::cerr);
    }
    Tpetra::getDefaultComm()->barrier();
  };
  EXPECT_NE(refused().find("found nothing of the system \"pressure\"; it has: none"), std::string::npos) << refused();
  write("presure", "CAPSTAN CR");
  EXPECT_NE(refused().find("it has: presure; did you mean \"presure\"?"), std::string::npos) << refused();
  write("pressure", "CAPSTAN CRR");
  EXPECT_NE(refused().find("of the system \"pressure\" it has \"CAPSTAN CRR\"; allowed"), std::string::npos)
      << refused();
  Tpetra::getDefaultComm()->barrier();
  if (rank() == 0) std::ofstream(file.path) << "{";
  Tpetra::getDefaultComm()->barrier();
  EXPECT_NE(refused().find("this is no JSON"), std::string::npos) << refused();
  write("pressure", "CAPSTAN CR");
  const auto written = std::filesystem::last_write_time(file.path);
  for (int k = 0; k < 6; ++k) {
    const Outcome outcome = solveAgain(*solver, system, k);
    EXPECT_EQ(outcome.report.solver, "CAPSTAN CR");
    EXPECT_EQ(outcome.report.choice.trials, 0);
    expectSameOnAllRanks(outcome);
  }
  EXPECT_EQ(std::filesystem::last_write_time(file.path), written) << "a fixed choice is not written";
}

TEST_F(Choosing, TellsTrialsAndChanges) {
  System system = systemWithRightHandSide(named(grid2d(26, 20)), wave);
  const auto solver = solverOf(choosingMethod(), counted());
  for (int k = 0; k < 12; ++k) {
    const Outcome outcome = solveAgain(*solver, system, k);
    const ChoiceReport& choice = reportOf(*solver).choice;
    const auto events = told(outcome, "choice");
    if (k == 0 || choice.trial) {
      ASSERT_EQ(events.size(), 1U);
    }
    if (choice.trial) {
      EXPECT_TRUE(mentions(events, "a trial of " + choice.arm));
    }
  }
}

}  // namespace
}  // namespace capstan::testing
