/// \file
/// What can be seen of a solve while and after it runs: status tests, printed residuals, report and history files.

#include <BelosStatusTestMaxIters.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "belos_ext/basis/step_size.hpp"
#include "belos_ext/guess/guess_order.hpp"
#include "belos_ext/report/report_io.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

using Iteration = Belos::Iteration<Scalar, MultiVector, Operator>;
using StatusTest = Belos::StatusTest<Scalar, MultiVector, Operator>;
using Combo = Belos::StatusTestCombo<Scalar, MultiVector, Operator>;

/// Calls a function at every check.
class Watcher final : public StatusTest {
 public:
  explicit Watcher(std::function<bool(Iteration&)> passes) : passes_(std::move(passes)) {}
  Belos::StatusType checkStatus(Iteration* iteration) override {
    ++checks;
    return status_ = passes_(*iteration) ? Belos::Passed : Belos::Failed;
  }
  Belos::StatusType getStatus() const override { return status_; }
  void reset() override {
    ++resets;
    status_ = Belos::Undefined;
  }
  void print(std::ostream&, int) const override {}

  int checks = 0, resets = 0;

 private:
  std::function<bool(Iteration&)> passes_;
  Belos::StatusType status_ = Belos::Undefined;
};

RCP<Watcher> afterIterations(int n) {
  return rcp(new Watcher([n](Iteration& iteration) { return iteration.getNumIters() >= n; }));
}

class Watching : public EverySolver {};

System plain() { return systemWithRightHandSide(grid2d(14, 14)); }

int solvedIn(const MethodTraits& name) { return solve(name, Params(), plain()).iterations; }

TEST_P(Watching, UserTestCombinedByOrStopsTheSolve) {
  const auto solver = solverOf(GetParam());
  solver->setUserConvStatusTest(afterIterations(6), Combo::OR);
  const System system = plain();
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(*solver, system);
  EXPECT_TRUE(outcome.converged) << "in the sense of Belos'";
  EXPECT_FALSE(outcome.report.converged);
  EXPECT_EQ(outcome.report.reason, StopReason::UserTest);
  EXPECT_GE(outcome.iterations, 6);
  EXPECT_LE(outcome.iterations, 6 + tuning::step_size::largest) << "boundaries are at most a largest step apart";
  EXPECT_LT(relativeResidual(system, *guess), 1) << "what was gained is in x";
  EXPECT_NEAR(outcome.achieved, relativeResidual(system, *guess), 1e-9);
  expectSameOnAllRanks(outcome);
}

// The limit ends the solve in the same iteration.
TEST_P(Watching, UserTestThatPassesInTheLastIterationEndsTheSolve) {
  Params p;
  int iterations = 0;
  for (const bool limited : {false, true}) {
    if (limited) p.set("Maximum Iterations", iterations);
    const auto solver = solverOf(GetParam(), p);
    solver->setUserConvStatusTest(afterIterations(6), Combo::OR);
    const Outcome outcome = solve(*solver, plain());
    EXPECT_EQ(outcome.report.reason, StopReason::UserTest);
    EXPECT_TRUE(outcome.converged);
    iterations = outcome.iterations;
  }
}

// Also where the residual has risen above that of the guess.
TEST_P(Watching, UserTestLeavesTheXThatItHasSeen) {
  if (isCg(GetParam())) GTEST_SKIP() << "the matrix is not symmetric";
  for (const int k : {1, 2, 3, 4, 5, 8, 12, 20}) {
    const auto solver = solverOf(GetParam());
    solver->setUserConvStatusTest(afterIterations(k), Combo::OR);
    const Outcome outcome = solve(*solver, systemWithRightHandSide(grid2d(14, 14, 1.8)));
    if (outcome.report.reason != StopReason::UserTest) continue;  // another one went on, or it is solved
    EXPECT_NEAR(outcome.report.trueResidual, outcome.report.recursiveResidual, 1e-4 * outcome.report.recursiveResidual)
        << k;
  }
}

TEST_P(Watching, UserTestEndsCgWithoutAnotherPreconditioner) {
  if (GetParam().canonical != id::Cg) GTEST_SKIP() << "the pipelines hold preconditioned vectors that are ahead";
  for (const bool lost : {false, true}) {  // whether the residual would be replaced otherwise
    Params p;
    if (lost) p.set("Residual Replacement", "every 6");
    const auto solver = solverOf(GetParam(), p);
    solver->setUserConvStatusTest(afterIterations(6), Combo::OR);
    GuessOrders::forget(Tpetra::getDefaultComm());  // the residual of the guess is a product, too
    const Outcome outcome = solve(*solver, plain(), Side::Right);
    EXPECT_EQ(outcome.report.reason, StopReason::UserTest);
    EXPECT_EQ(outcome.iterations, 6);
    EXPECT_EQ(outcome.report.preconditionerApplications, 6);
    EXPECT_EQ(outcome.report.operatorApplications, 6 + 2);
    EXPECT_TRUE(told(outcome, "residual replacement").empty());
  }
}

TEST_P(Watching, BelosOwnTestsWorkAsUserTests) {
  const auto solver = solverOf(GetParam());
  solver->setUserConvStatusTest(rcp(new Belos::StatusTestMaxIters<Scalar, MultiVector, Operator>(5)), Combo::OR);
  const Outcome outcome = solve(*solver, plain());
  EXPECT_EQ(outcome.report.reason, StopReason::UserTest);
}

TEST_P(Watching, UserTestIsResetForEverySolveAndCanBeTakenAway) {
  const auto solver = solverOf(GetParam());
  const auto test = afterIterations(1000000);
  solver->setUserConvStatusTest(test, Combo::OR);
  EXPECT_TRUE(solve(*solver, plain()).converged) << "a test that never passes stops nothing";
  EXPECT_GT(test->checks, 0);
  EXPECT_GE(test->resets, 1);
  const int resets = test->resets;
  solve(*solver, plain());
  EXPECT_GT(test->resets, resets);
  solver->setUserConvStatusTest(Teuchos::null, Combo::OR);
  const int checks = test->checks;
  EXPECT_TRUE(solve(*solver, plain()).converged);
  EXPECT_EQ(test->checks, checks);
}

TEST_P(Watching, UserTestCombinedByAndOrSequenceMustPassToo) {
  for (const auto type : {Combo::AND, Combo::SEQ}) {
    const int usual = solvedIn(GetParam());
    const auto solver = solverOf(GetParam());
    solver->setUserConvStatusTest(afterIterations(usual + 3), type);
    const System system = plain();
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(*solver, system);
    EXPECT_TRUE(outcome.converged);
    EXPECT_GE(outcome.iterations, usual + 3);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  }
}

TEST_P(Watching, UserTestThatNeverPassesKeepsTheSolveFromConverging) {
  const auto solver = solverOf(GetParam());
  solver->setUserConvStatusTest(rcp(new Watcher([](Iteration&) { return false; })), Combo::AND);
  const System system = plain();
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(*solver, system);
  EXPECT_FALSE(outcome.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_TRUE(allFinite(*system.x));
}

TEST_P(Watching, NeitherDoesItGoOnForEverInTheOneNorm) {
  Params p;
  p.set("Residual Norm", "OneNorm");
  const auto solver = solverOf(GetParam(), p);
  solver->setUserConvStatusTest(rcp(new Watcher([](Iteration&) { return false; })), Combo::AND);
  const System system = plain();
  const Outcome outcome = solve(*solver, system);
  EXPECT_FALSE(outcome.converged);
  EXPECT_TRUE(allFinite(*system.x));
}

TEST_P(Watching, DebugTestSeesResidualsAndUpdates) {
  const System system = plain();
  const auto guess = copyOf(*system.x);
  int last = 0;
  double worst = 0;
  const auto test = rcp(new Watcher([&](Iteration& iteration) {
    EXPECT_GT(iteration.getNumIters(), last);
    last = iteration.getNumIters();
    std::vector<double> native;
    iteration.getNativeResiduals(&native);
    EXPECT_EQ(native.size(), 1U);
    const auto x = iteration.getProblem().updateSolution(iteration.getCurrentUpdate());
    worst = std::max(worst, std::abs(residualNorms(system, *x)[0] - native[0]));
    return true;  // has no influence
  }));
  const auto solver = solverOf(GetParam());
  solver->setDebugStatusTest(test);
  const Outcome outcome = solve(*solver, system, Side::Right);
  EXPECT_TRUE(outcome.converged);
  EXPECT_GE(test->checks, outcome.iterations / 16);
  EXPECT_EQ(last, outcome.iterations);
  // Implicit norms lose digits with the orthogonality of the basis: pipelined methods in the course of a cycle, s-step
  // methods in their latest panel, until the next one comes.
  const bool explicitNorms = GetParam().canonical == id::Gmres || GetParam().canonical == id::Cg;
  EXPECT_LT(worst, (explicitNorms ? 1e-8 : 1e-6) * residualNorms(system, *guess)[0]);
}

std::string printed(const MethodTraits& name, int style, int verbosity, int frequency) {
  const auto stream = rcp(new std::ostringstream);
  Params p;
  p.set("Output Stream", Teuchos::rcp_implicit_cast<std::ostream>(stream));
  p.set("Output Style", style);
  p.set("Verbosity", verbosity);
  p.set("Output Frequency", frequency);
  solve(name, p, plain());
  return stream->str();
}

TEST_P(Watching, PrintsInBelosStylesOnTheGivenStreamOfRankZero) {
  const int all = Belos::StatusTestDetails | Belos::FinalSummary | Belos::TimingDetails | Belos::IterationDetails;
  const std::string brief = printed(GetParam(), Belos::Brief, all, 1);
  const std::string general = printed(GetParam(), Belos::General, all, 1);
  const int iterations = solvedIn(GetParam());
  if (rank() != 0) {
    EXPECT_EQ(brief + general, "");
    return;
  }
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  EXPECT_GE(lines(brief), iterations) << brief;
  EXPECT_NE(brief.find("Iter"), std::string::npos) << brief;
  EXPECT_NE(brief.find("converged after"), std::string::npos) << brief;
  EXPECT_GT(lines(general), lines(brief));
}

TEST_P(Watching, PrintsEventsAndALossOfAccuracyWhenAsked) {
  const auto told = [](int verbosity) {
    const auto stream = rcp(new std::ostringstream);
    Params p;
    p.set("Output Stream", Teuchos::rcp_implicit_cast<std::ostream>(stream));
    p.set("Verbosity", verbosity);
    p.set("Convergence Tolerance", 1e-30);
    EXPECT_FALSE(solve(GetParam(), p, plain()).converged);
    return stream->str();
  };
  const std::string events = told(Belos::OrthoDetails), warnings = told(Belos::Warnings);
  if (rank() != 0) {
    EXPECT_EQ(events + warnings, "");
    return;
  }
  EXPECT_NE(events.find("residual replacement"), std::string::npos) << events;
  EXPECT_EQ(events.find("loss of accuracy"), std::string::npos) << events;
  EXPECT_NE(warnings.find("warning: loss of accuracy"), std::string::npos) << warnings;
  EXPECT_EQ(warnings.find("residual replacement"), std::string::npos) << warnings;
}

TEST_P(Watching, OutputFrequencyThinsTheLines) {
  const std::string every = printed(GetParam(), Belos::Brief, Belos::StatusTestDetails, 1);
  const std::string tenth = printed(GetParam(), Belos::Brief, Belos::StatusTestDetails, 10);
  if (rank() == 0) {
    EXPECT_LT(tenth.size(), every.size() / 2);
    EXPECT_FALSE(tenth.empty());
  }
  EXPECT_EQ(printed(GetParam(), Belos::Brief, Belos::Errors, 1), "");
}

TEST_P(Watching, ShowsTheLargestResidualAloneWhenAsked) {
  const auto shown = [](bool largestAlone) {
    const auto stream = rcp(new std::ostringstream);
    Params p;
    p.set("Output Stream", Teuchos::rcp_implicit_cast<std::ostream>(stream));
    p.set("Verbosity", static_cast<int>(Belos::StatusTestDetails));
    p.set("Output Style", static_cast<int>(Belos::General));
    p.set("Output Frequency", 1);
    p.set("Show Maximum Residual Norm Only", largestAlone);
    EXPECT_TRUE(solve(GetParam(), p, systemWithRightHandSide(grid2d(14, 14), wave, 3)).converged);
    return stream->str();
  };
  const std::string all = shown(false), largest = shown(true);
  const auto count = [](const std::string& text, const std::string& word) {
    int found = 0;
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
  };
  if (rank() != 0) {
    EXPECT_EQ(all + largest, "");
    return;
  }
  // Belos' words for one column, and for the largest of all.
  EXPECT_GT(count(all, "residual [ 2 ]"), 0) << all.substr(0, 2000);
  EXPECT_EQ(count(all, "max{residual[0...2]}"), 0);
  EXPECT_EQ(count(largest, "residual [ "), 0);
  EXPECT_GT(count(largest, "max{residual[0...2]}"), 0) << largest.substr(0, 2000);
}

TEST_P(Watching, WritesReportsAndHistoryOnce) {
  const std::string report = temporaryFile("_report.json"), history = temporaryFile("_history.csv");
  beginReportFilesAnew();
  Params p;
  p.set("Report File", report);
  p.set("History File", history);
  const auto solver = solverOf(GetParam(), p);
  const Outcome first = solve(*solver, plain()), second = solve(*solver, plain());
  EXPECT_EQ(static_cast<int>(first.report.history.size()), first.iterations);
  if (rank() != 0) return;

  const auto json = nlohmann::json::parse(std::ifstream(report));
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0].at("iterations"), first.iterations);
  EXPECT_EQ(json[1].at("iterations"), second.iterations);
  EXPECT_EQ(json[0].at("solver"), GetParam().canonical);
  EXPECT_EQ(json[0].at("ranks"), ranks());

  std::ifstream file(history);
  std::string line;
  long lines = 0;
  while (std::getline(file, line)) ++lines;
  EXPECT_EQ(lines, 1 + first.iterations + second.iterations);
  std::remove(report.c_str());
  std::remove(history.c_str());
}

TEST_P(Watching, AFileThatCannotBeWrittenDoesNotFailTheSolve) {
  const std::string folder = temporaryFile("_gone");
  const auto comm = Tpetra::getDefaultComm();
  if (rank() == 0) std::filesystem::create_directory(folder);
  comm->barrier();
  const auto stream = rcp(new std::ostringstream);
  Params p;
  p.set("Report File", folder + "/report.json");
  p.set("Output Stream", Teuchos::rcp_implicit_cast<std::ostream>(stream));
  const auto solver = solverOf(GetParam(), p);
  comm->barrier();
  if (rank() == 0) std::filesystem::remove(folder);
  Outcome outcome;
  EXPECT_NO_THROW(outcome = solve(*solver, plain())) << "one rank alone would throw and the others hang";
  EXPECT_TRUE(outcome.converged);
  if (rank() == 0) {
    EXPECT_NE(stream->str().find(folder), std::string::npos);
  }
}

CAPSTAN_FOR_EVERY_SOLVER(Watching);

}  // namespace
}  // namespace capstan::testing
