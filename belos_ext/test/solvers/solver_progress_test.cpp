/// \file
/// Progress of hidden reductions: what it changes in a solve (nothing but the calls that let MPI advance), what the
/// report tells, and what becomes of reductions in flight when a solve fails. Run with MPI for one thread and for
/// several.

#include <mpi.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "belos_ext/report/report_io.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/reductions/progress.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"

namespace capstan::testing {
namespace {

using test::mpiCalls;
using test::mpiFaults;
using test::mpiLooks;

constexpr int depth = 3;

bool severalThreads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

Params with(ProgressMode mode) {
  Params p;
  p.set("State Cache", false);
  p.set("Pipeline Depth", depth);
  p.set("Progress", toString(mode));
  return p;
}

/// Counts nothing but the solve.
System counted(System system) {
  system.arm = [] {
    test::resetMpiCalls();
    mpiLooks().here = mpiLooks().elsewhere = 0;
  };
  return system;
}

// First of all: the warning comes once a process.
TEST(Progress, AThreadThatCannotBeHadIsWarnedOfOnceAndReported) {
  std::string printed;
  for (int time = 0; time < 2; ++time) {
    const auto stream = rcp(new std::ostringstream);
    Params p = with(ProgressMode::Thread);
    p.set("Output Stream", Teuchos::rcp_implicit_cast<std::ostream>(stream));
    const Outcome outcome = solve(methodOf(id::PipelinedCg), p, systemWithRightHandSide(grid2d(10, 10)));
    printed += stream->str();
    const auto& events = outcome.report.events;
    const auto told = std::count_if(events.begin(), events.end(), [](const auto& event) {
      return event.kind == "progress" && event.detail.find("poll instead of thread") == 0 &&
             event.detail.find("MPI_THREAD_SINGLE") != std::string::npos;
    });
    EXPECT_EQ(told, severalThreads() ? 0 : 1);
    EXPECT_EQ(outcome.report.progress.mode, severalThreads() ? "thread" : "poll");
  }
  const std::string warning = "Capstan warning: \"Progress\" = \"thread\" becomes \"poll\"";
  const auto first = printed.find(warning);
  EXPECT_EQ(first != std::string::npos, rank() == 0 && !severalThreads()) << printed;
  if (first != std::string::npos) {
    EXPECT_EQ(printed.find(warning, first + 1), std::string::npos);
  }
}

TEST(Progress, IsAMatterOfPipelinedMethods) {
  const std::string thread = toString(ProgressMode::Thread);
  for (const MethodTraits& name : methods()) {
    Params p;
    p.set("Progress", thread);
    p.set("Strict Parameters", true);
    if (isPipelined(name)) {
      EXPECT_NO_THROW(solverOf(name, p)) << name.canonical;
      EXPECT_EQ(solverOf(name)->getCurrentParameters()->get<std::string>("Progress"), "poll");
    } else {
      EXPECT_THROW(solverOf(name, p), std::invalid_argument) << name.canonical;
    }
  }
  Params wrong;
  wrong.set("Progress", "threads");
  EXPECT_THROW(solverOf(methodOf(id::PipelinedCg), wrong), std::invalid_argument);
}

class Pipelined : public ::testing::TestWithParam<MethodTraits> {};

TEST_P(Pipelined, EveryModeGivesTheSameIteratesWithTheSameMessages) {
  const auto a = grid2d(30, 30);
  const System plain = counted(systemWithRightHandSide(a));
  const Outcome expected = solve(GetParam(), with(ProgressMode::None), plain);
  const test::MpiCalls calls = mpiCalls();
  EXPECT_TRUE(expected.converged);
  EXPECT_EQ(expected.report.progress.mode, "none");
  EXPECT_EQ(expected.report.progress.polls, 0);
  EXPECT_EQ(mpiLooks().here + mpiLooks().elsewhere, 0);
  for (const ProgressMode mode : {ProgressMode::Poll, ProgressMode::Thread}) {
    SCOPED_TRACE(toString(mode));
    const System system = counted(systemWithRightHandSide(a));
    const Outcome outcome = solve(GetParam(), with(mode), system);
    const test::MpiCalls made = mpiCalls();
    EXPECT_TRUE(identical(*system.x, *plain.x));
    EXPECT_EQ(outcome.iterations, expected.iterations);
    EXPECT_EQ(made.allreduce, calls.allreduce);
    EXPECT_EQ(made.iallreduce, calls.iallreduce);
    EXPECT_EQ(made.waits, calls.waits);
    const SolveReport& report = outcome.report;
    EXPECT_EQ(report.progress.polls, mpiLooks().here + mpiLooks().elsewhere);
    EXPECT_EQ(made.tests, 0);
    EXPECT_EQ(progressPending(), 0);
    if (ranks() == 1) {
      EXPECT_EQ(report.progress.polls, 0);
    } else if (report.progress.mode == "thread") {
      EXPECT_EQ(mpiLooks().here, 0);
    } else {
      // All but those that a drained pipeline waits for at once.
      EXPECT_GE(mpiLooks().here, report.reductionsNonblocking - (report.restarts + 1) * (depth + 2));
      EXPECT_EQ(mpiLooks().elsewhere, 0);
    }
  }
}

TEST_P(Pipelined, OverlapIsMeasuredOnRequestOnceForEverySize) {
  const auto a = grid2d(20, 20);
  Params p = with(ProgressMode::Poll);
  const Outcome plain = solve(GetParam(), p, systemWithRightHandSide(a));
  EXPECT_TRUE(std::isnan(plain.report.progress.aloneSeconds));
  EXPECT_TRUE(nlohmann::json::parse(toJson(plain.report).dump()).at("progress").at("overlap").is_null());
  p.set("Measure Overlap", true);
  // A communicator of its own has not been measured yet.
  const auto own = grid2d(20, 20, 0, evenMap(400, Tpetra::getDefaultComm()->duplicate()));
  long first = 0;
  for (int time = 0; time < 2; ++time) {
    const Outcome outcome = solve(GetParam(), p, counted(systemWithRightHandSide(own)));
    const ProgressReport& progress = outcome.report.progress;
    const long measuring = mpiCalls().iallreduce - (ranks() > 1 ? outcome.report.reductionsNonblocking : 0);
    EXPECT_EQ(outcome.report.reductionsNonblocking, plain.report.reductionsNonblocking);
    EXPECT_EQ(outcome.report.reductionsBlocking, plain.report.reductionsBlocking);
    if (ranks() == 1) {
      EXPECT_EQ(measuring, 0);
      EXPECT_TRUE(std::isnan(progress.overlap));
      continue;
    }
    EXPECT_GT(progress.aloneSeconds, 0);
    EXPECT_GE(progress.overlap, 0);
    EXPECT_LE(progress.overlap, 1);
    EXPECT_GT(progress.waitSeconds, 0);
    if (time == 0) first = measuring;
    EXPECT_EQ(measuring, time == 0 ? first : 0);
    EXPECT_EQ(measuring % 7, 0);
    EXPECT_EQ(toJson(outcome.report).at("progress").at("mode"), "poll");
  }
  EXPECT_EQ(first > 0, ranks() > 1);
}

/// Solves until something goes wrong, the same on all ranks; then solves again with the same solver.
template <class Error, class Arm>
void expectRecovery(const MethodTraits& name, ProgressMode mode, System system, const Arm& arm) {
  const auto solver = solverOf(name, with(mode));
  system.arm = arm;
  EXPECT_THROW(solve(*solver, system), Error);
  EXPECT_EQ(progressPending(), 0) << "a reduction was left in flight";
  EXPECT_TRUE(allFinite(*system.x));
  system.arm = [] {};
  system.x->putScalar(0);
  const Outcome again = solve(*solver, system);
  EXPECT_TRUE(again.converged);
  expectSameOnAllRanks(again);
  const auto untouched = solverOf(name, with(mode));
  System another = system;
  another.x = copyOf(*system.x);
  another.x->putScalar(0);
  solve(*untouched, another);
  EXPECT_TRUE(identical(*another.x, *system.x)) << "the failed solve has left something behind";
}

TEST_P(Pipelined, AnErrorOfMpiMidFlightIsThrownAndLeavesNothingBehind) {
  if (ranks() == 1) GTEST_SKIP() << "no message, no error";
  for (const ProgressMode mode : {ProgressMode::None, ProgressMode::Poll, ProgressMode::Thread}) {
    for (const auto fault : {&test::MpiFaults::iallreduce, &test::MpiFaults::wait}) {
      SCOPED_TRACE(toString(mode) + (fault == &test::MpiFaults::wait ? ", wait" : ", start"));
      expectRecovery<std::runtime_error>(GetParam(), mode, systemWithRightHandSide(grid2d(30, 30)), [fault] {
        mpiFaults() = test::MpiFaults();
        mpiFaults().spared = 4;  // with the pipeline full
        mpiFaults().*fault = MPI_ERR_OTHER;
      });
    }
  }
  EXPECT_EQ(mpiCalls().cancels, 0);
}

TEST_P(Pipelined, AnExceptionOfTheOperatorMidFlightLeavesNothingBehind) {
  struct Failure {};
  const auto a = grid2d(30, 30);
  int left = -1;
  System system = systemWithRightHandSide(a);
  system.a = rcp(new FunctionOperator(a->getDomainMap(), [&](const MultiVector& in, MultiVector& out) {
    if (left-- == 0) throw Failure();
    a->apply(in, out);
  }));
  for (const ProgressMode mode : {ProgressMode::None, ProgressMode::Poll, ProgressMode::Thread}) {
    // More than the estimate of the spectrum takes.
    expectRecovery<Failure>(GetParam(), mode, system, [&] { left = 30; });
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, Pipelined, ::testing::ValuesIn(methodsWhere(isPipelined)), solverIdentifier);

TEST(Progress, TimingDetailsTellIt) {
  const auto stream = rcp(new std::ostringstream);
  Params p = with(ProgressMode::Poll);
  p.set("Output Stream", Teuchos::rcp_implicit_cast<std::ostream>(stream));
  p.set("Verbosity", static_cast<int>(Belos::TimingDetails));
  p.set("Measure Overlap", true);
  solve(methodOf(id::PipelinedCg), p, systemWithRightHandSide(grid2d(20, 20)));
  const bool has = stream->str().find("progress: poll, ") != std::string::npos;
  EXPECT_EQ(has, rank() == 0) << stream->str();
  EXPECT_EQ(stream->str().find("overlap ") != std::string::npos, rank() == 0 && ranks() > 1) << stream->str();
}

}  // namespace
}  // namespace capstan::testing
