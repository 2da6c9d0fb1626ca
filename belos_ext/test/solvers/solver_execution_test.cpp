/// \file
/// "Execution": tasks and "Threads" change who computes, and no bit of the solution.

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "belos_ext/report/trace_file.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/kernels/host/task_scope.hpp"

namespace capstan::testing {
namespace {

bool tasksPossible() { return kernels::TaskScope<Types::ExecutionSpace>::possible(); }

class Executions : public ::testing::TestWithParam<MethodTraits> {};

Params with(const std::string& execution, int threads) {
  Params p;
  p.set("State Cache", false);
  p.set("Execution", execution);
  p.set("Threads", threads);
  return p;
}

/// Some tiles of rows on every rank, and rows that differ, so that sums in another order would show; few iterations:
/// the eigenvalues are from 4.5 to 12.5.
System system(GO width = 150, GO height = 100) {
  const auto a = matrixFrom(evenMap(width * height), [=](GO g) {
    std::vector<Entry> row{{g, 8.5}};
    if (g % width > 0) row.push_back({g - 1, -1});
    if (g % width + 1 < width) row.push_back({g + 1, -1});
    if (g >= width) row.push_back({g - width, -1});
    if (g + width < width * height) row.push_back({g + width, -1});
    return row;
  });
  return systemWithSolution(
      a, [](GO g) { return std::sin(0.37 * static_cast<double>(g)) + 1.0 / (1.0 + static_cast<double>(g % 91)); });
}

TEST_P(Executions, GiveTheSameBitsWithAnyNumberOfThreads) {
  for (const Side side : {Side::None, Side::Right}) {
    SCOPED_TRACE(toString(side));
    solve(GetParam(), with("ordered", 0), system(), side);  // a first one measures
    const System ordered = system();
    const Outcome expected = solve(GetParam(), with("ordered", 0), ordered, side);
    EXPECT_TRUE(expected.converged);
    EXPECT_TRUE(told(expected, "execution").empty());
    for (const auto& [execution, threads] :
         {std::pair("tasks", 1), std::pair("tasks", 2), std::pair("tasks", 3), std::pair("ordered", 2)}) {
      SCOPED_TRACE(execution + std::to_string(threads));
      const System tasks = system();
      const Outcome outcome = solve(GetParam(), with(execution, threads), tasks, side);
      EXPECT_EQ(outcome.iterations, expected.iterations);
      EXPECT_EQ(outcome.report.operatorApplications, expected.report.operatorApplications);
      EXPECT_EQ(outcome.report.reductionsBlocking, expected.report.reductionsBlocking);
      EXPECT_EQ(outcome.report.reductionsNonblocking, expected.report.reductionsNonblocking);
      EXPECT_TRUE(identical(*tasks.x, *ordered.x));
      const auto events = told(outcome, "execution");
      ASSERT_EQ(events.size(), 1u);
      EXPECT_EQ(events[0].detail.find(tasksPossible() ? execution : "ordered: "), 0u) << events[0].detail;
    }
  }
}

CAPSTAN_FOR_EVERY_SOLVER(Executions);

// What the drivers of the ranks did; which thread computes what is the system's affair.
TEST_P(Executions, TraceTellsOfKernelsAndReductions) {
  if (!tasksPossible()) GTEST_SKIP() << "kernels are Kokkos' here";
  const std::string file = temporaryFile("trace.json");
  for (const bool tasks : {true, false}) {
    Params p = with(tasks ? "tasks" : "ordered", 2);
    p.set("Trace File", file);
    const Outcome outcome = solve(GetParam(), p, system(20, 20));
    const std::string own = traceFileOf(file, rank(), ranks());
    std::ifstream stream(own);
    const auto events = nlohmann::json::parse(stream).at("traceEvents");
    std::map<std::string, long> count;
    for (const auto& event : events) {
      if (event.at("ph") == "X") {
        EXPECT_GE(event.at("dur").get<double>(), 0);
        ++count[event.at("name")];
      } else if (event.at("ph") == "b") {
        ++count["started"];
      }
    }
    if (tasks) {
      EXPECT_GE(count["inner products"], outcome.iterations / 10) << "some methods sum many iterations at once";
      EXPECT_GE(count["product"], outcome.report.operatorApplications);
    }
    EXPECT_EQ(count["started"], outcome.report.reductionsNonblocking);
    if (ranks() > 1 && !GetParam().is(Trait::Embeds)) {  // those of an embedded exchange are messages of its own
      EXPECT_EQ(count["blocking reduction"], outcome.report.reductionsBlocking);
    }
    std::filesystem::remove(own);
  }
}

}  // namespace
}  // namespace capstan::testing
