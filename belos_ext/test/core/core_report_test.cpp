#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "belos_ext/core/report_io.hpp"
#include "belos_ext/core/solve_report.hpp"

namespace {

using namespace capstan;

SolveReport sample() {
  SolveReport report;
  report.solver = "CAPSTAN GMRES S-STEP";
  report.label = "pressure, \"p\"";
  report.converged = true;
  report.reason = StopReason::Converged;
  report.iterations = 42;
  report.tolerance = 1e-6;
  report.trueResidual = 9.5e-7;
  report.recursiveResidual = std::numeric_limits<double>::quiet_NaN();
  report.columns = {{true, StopReason::Converged, 42, 1, 9e-7, 9.5e-7, 3.0}};
  report.reductionsBlocking = 11;
  report.reductionsNonblocking = 2;
  report.seconds.reductionWait = 0.25;
  report.events = {{10, 0, "step size", "10 to 5"}};
  report.history = {{0, 0, 1.0}, {1, 0, 0.125}};
  report.ranks = 4;
  report.rows = 5'000'000'000;
  return report;
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class ReportFiles : public testing::Test {
 protected:
  void SetUp() override {
    beginReportFilesAnew();
    // One folder a process: every rank of a parallel test runs these.
    folder_ = std::filesystem::temp_directory_path() / ("capstan-report-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t filesInFolder() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_;
};

TEST(SolveReport, EveryReasonHasAnotherName) {
  std::set<std::string> names;
  for (const StopReason reason : allStopReasons()) EXPECT_TRUE(names.insert(toString(reason)).second);
  EXPECT_EQ(names.size(), 11u);
}

TEST(SolveReport, JsonHoldsEverything) {
  const nlohmann::json json = toJson(sample());
  EXPECT_EQ(json.at("solver"), "CAPSTAN GMRES S-STEP");
  EXPECT_EQ(json.at("converged"), true);
  EXPECT_EQ(json.at("reason"), "converged");
  EXPECT_EQ(json.at("iterations"), 42);
  EXPECT_EQ(json.at("rows"), 5'000'000'000);
  EXPECT_EQ(json.at("reductions").at("blocking"), 11);
  EXPECT_EQ(json.at("reductions").at("nonblocking"), 2);
  EXPECT_EQ(json.at("seconds").at("reduction_wait"), 0.25);
  EXPECT_EQ(json.at("columns").at(0).at("true_residual"), 9.5e-7);
  EXPECT_EQ(json.at("events").at(0).at("detail"), "10 to 5");
}

TEST_F(ReportFiles, AJsonArrayGrowsAndIsCompleteAfterEverySolve) {
  for (int solve = 1; solve <= 3; ++solve) {
    SolveReport report = sample();
    report.iterations = solve;
    writeReport(path("r.json"), report);
    const nlohmann::json json = nlohmann::json::parse(contents(path("r.json")));
    ASSERT_EQ(json.size(), static_cast<std::size_t>(solve));
    EXPECT_EQ(json.back().at("iterations"), solve);
    EXPECT_EQ(json.front().at("iterations"), 1);
    EXPECT_TRUE(json.back().at("recursive_residual").is_null());
  }
  EXPECT_EQ(filesInFolder(), 1u) << "a temporary file was left";
}

TEST_F(ReportFiles, AnEarlierRunIsReplaced) {
  std::ofstream(path("r.json")) << "left over from an earlier run";
  writeReport(path("r.json"), sample());
  EXPECT_EQ(nlohmann::json::parse(contents(path("r.json"))).size(), 1u);
}

TEST_F(ReportFiles, ALabelThatIsNotUtf8DoesNotSpoilTheFile) {
  SolveReport report = sample();
  report.label = "p\xff";
  writeReport(path("r.json"), report);
  EXPECT_NO_THROW(nlohmann::json::parse(contents(path("r.json"))));
}

TEST_F(ReportFiles, AFileChangedBehindOurBackIsNotSpoilt) {
  writeReport(path("r.json"), sample());
  std::ofstream(path("r.json"), std::ios::app) << "note";
  const std::string before = contents(path("r.json"));
  EXPECT_THROW(writeReport(path("r.json"), sample()), std::runtime_error);
  EXPECT_EQ(contents(path("r.json")), before);
}

TEST_F(ReportFiles, AMissingFolderIsAnErrorThatNamesThePath) {
  try {
    writeReport(path("gone/r.json"), sample());
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("gone/r.json"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
  }
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(ReportFiles, HistoryIsCsvAndCountsSolves) {
  writeHistory(path("h.csv"), sample());
  writeHistory(path("h.csv"), sample());
  EXPECT_EQ(contents(path("h.csv")),
            "solve,solver,label,iteration,column,residual\n"
            "1,CAPSTAN GMRES S-STEP,\"pressure, \"\"p\"\"\",0,0,1\n"
            "1,CAPSTAN GMRES S-STEP,\"pressure, \"\"p\"\"\",1,0,0.125\n"
            "2,CAPSTAN GMRES S-STEP,\"pressure, \"\"p\"\"\",0,0,1\n"
            "2,CAPSTAN GMRES S-STEP,\"pressure, \"\"p\"\"\",1,0,0.125\n");
}

}  // namespace
