#include <fcntl.h>
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

#include "belos_ext/report/embedding_verdict.hpp"
#include "belos_ext/report/event_text.hpp"
#include "belos_ext/report/report_io.hpp"
#include "belos_ext/report/solve_report.hpp"
#include "belos_ext/report/trace_file.hpp"
#include "belos_ext/support/output_file.hpp"

namespace {

using namespace capstan;

SolveReport sample() {
  SolveReport report;
  report.solver = "CAPSTAN GMRES S-STEP";
  report.label = "pressure, \"p\"";
  report.system = 2;
  report.converged = true;
  report.reason = StopReason::Converged;
  report.iterations = 42;
  report.tolerance = 1e-6;
  report.trueResidual = 9.5e-7;
  report.recursiveResidual = std::numeric_limits<double>::quiet_NaN();
  report.rightHandSides = {{true, StopReason::Converged, 42, 1, 9e-7, 9.5e-7, 3.0, 1e-6, {8, 120.0, 5.5}}};
  report.initialGuess = "projection 10";
  report.iterationsSaved = 5.5;
  report.guessBytes = 1600;
  report.reductionsBlocking = 11;
  report.reductionsNonblocking = 2;
  report.fences = 14;
  report.seconds.reductionWait = 0.25;
  report.events = {{10, 0, EventKind::BlockLength, "step size", "10 to 5"}};
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
  EXPECT_EQ(names.size(), static_cast<std::size_t>(StopReason::UserTest) + 1);
}

TEST(SolveReport, JsonHoldsEverything) {
  const nlohmann::json json = toJson(sample());
  EXPECT_EQ(json.at("solver"), "CAPSTAN GMRES S-STEP");
  EXPECT_EQ(json.at("system"), 2);
  EXPECT_EQ(json.at("converged"), true);
  EXPECT_EQ(json.at("reason"), "converged");
  EXPECT_EQ(json.at("iterations"), 42);
  EXPECT_EQ(json.at("rows"), 5'000'000'000);
  EXPECT_EQ(json.at("reductions").at("blocking"), 11);
  EXPECT_EQ(json.at("reductions").at("nonblocking"), 2);
  EXPECT_EQ(json.at("fences"), 14);
  EXPECT_EQ(json.at("seconds").at("reduction_wait"), 0.25);
  EXPECT_EQ(json.at("right_hand_sides").at(0).at("true_residual"), 9.5e-7);
  EXPECT_EQ(json.at("events").at(0).at("detail"), "10 to 5");
  const nlohmann::json guess = {{"policy", "projection 10"}, {"iterations_saved", 5.5}, {"bytes", 1600}};
  EXPECT_EQ(json.at("initial_guess"), guess);
  const nlohmann::json ofColumn = {{"vectors", 8}, {"factor", 120.0}, {"iterations_saved", 5.5}};
  EXPECT_EQ(json.at("right_hand_sides").at(0).at("initial_guess"), ofColumn);
}

TEST(SolveReport, JsonCountsHandOversReplacementsAndRefutedClaims) {
  SolveReport report = sample();
  for (const auto kind : {EventKind::HandedOver, EventKind::Fallback, EventKind::Fallback, EventKind::ResidualReplaced,
                          EventKind::ClaimRefuted, EventKind::Restart}) {
    report.events.push_back({11, 0, kind, "", ""});
  }
  const nlohmann::json json = toJson(report);
  EXPECT_EQ(json.at("hand_overs"), 3);
  EXPECT_EQ(json.at("residual_replacements"), 1);
  EXPECT_EQ(json.at("claims_refuted"), 1);
}

EmbeddedReport embedded(double neighbours, double halo, double values) {
  EmbeddedReport report;
  report.used = true;
  report.meanNeighbours = neighbours;
  report.halo = halo;
  report.values = values;
  return report;
}

TEST(EventText, IsMadeOfKindValuesAndCauses) {
  const auto text = [](const Event& event) {
    const ReportEvent one = reportEvent(7, 2, event);
    EXPECT_EQ(one.iteration, 7);
    EXPECT_EQ(one.rightHandSide, 2);
    EXPECT_EQ(one.what, event.kind);
    return one.kind + ": " + one.detail;
  };
  EXPECT_EQ(text({EventKind::PanelDependent, 3, 6, 2}), "step size: 3 of 6 vectors of a panel are independent; s = 2");
  EXPECT_EQ(text({EventKind::DirectionsDropped, 1234567, 7654321}),
            "directions dropped: 1234567 of 7654321 are left: the others depend on them");
  EXPECT_EQ(
      text(Event(EventKind::HandedOver, Why(Cause::NegativeA, Cause::NoProgress)).by("CAPSTAN GMRES")),
      "classical: (p, A p) < 0: the operator is not positive definite; the residual no longer falls; going on with "
      "CAPSTAN GMRES");
  EXPECT_EQ(
      text({EventKind::PipelineShorter, Cause::BrokenAfter, 1, 2, 30, 4}),
      "restart: broken after 30 iterations, of which 4 are kept: the rest of the cycle is classical; going on with "
      "depth 1, blocks of 2");
  EXPECT_EQ(text({EventKind::BoundsReplaced, 0.5, 2, 2.25, 0.25, 4}),
            "eigenvalue bounds: 0.5 to 2, as given, leave out the Ritz value 2.250000; replaced by 0.25 to 4");
  Event followed(EventKind::BoundsBroken);
  followed.ofPolynomial = true;
  EXPECT_EQ(text(followed), "bounds with the polynomial: the estimate broke down");
  for (int kind = 0; kind <= static_cast<int>(EventKind::CommunicationStrategy); ++kind) {
    const auto what = static_cast<EventKind>(kind);
    const ReportEvent one = reportEvent(0, 0, Event(what, Cause::Breakdown).by("x"));
    EXPECT_NE(one.detail, "") << kind;
    EXPECT_EQ(wentBack(what), one.kind == "went back") << kind;
  }
}

TEST(EmbeddingVerdict, CountsValuesForAMessageSaved) {
  EXPECT_EQ(valuesForAMessageSaved(embedded(10, 226, 370)), 37.0);
  EXPECT_EQ(valuesForAMessageSaved(embedded(2, 1000, 1000)), 500.0);  // none passed on, but none behind the product
  EXPECT_EQ(valuesForAMessageSaved(embedded(0, 0, 0)), std::nullopt);
}

TEST(EmbeddingVerdict, NamesWhatPays) {
  EXPECT_EQ(embeddingVerdict(embedded(10, 226, 370), 64),
            "37 for each message saved (limit 200) and 10 neighbours against lg K = 6: likely faster than CAPSTAN CG, "
            "half and more of the messages saved");
  EXPECT_EQ(embeddingVerdict(embedded(5.5, 13, 22), 4096),
            "4 for each message saved (limit 200) and 5.5 neighbours against lg K = 12: likely faster than CAPSTAN CG, "
            "less than half of the messages saved");
  // As simulated: parts of contiguous rows, of wang4 on 16 ranks and of nalu_cavity_pressure on 64.
  EXPECT_NE(embeddingVerdict(embedded(1.875, 1686, 1686), 16).find(": CAPSTAN CG is likely faster, except"),
            std::string::npos);
  EXPECT_NE(embeddingVerdict(embedded(3.906, 1601, 1984), 64).find(": CAPSTAN CG is likely faster, except"),
            std::string::npos);
  EXPECT_EQ(embeddingVerdict(embedded(0, 0, 0), 4), "");
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
  EXPECT_TRUE(nlohmann::json::accept(contents(path("r.json"))));
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

/// Reads what a FIFO holds.
class FifoReader {
 public:
  explicit FifoReader(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK)) {}
  ~FifoReader() { close(); }
  FifoReader(const FifoReader&) = delete;
  FifoReader& operator=(const FifoReader&) = delete;
  std::string text() const {
    std::string buffer(1 << 15, '\0');
    const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
    return buffer.substr(0, n > 0 ? static_cast<std::size_t>(n) : 0);
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

bool isFifo(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

TEST_F(ReportFiles, AFifoIsWrittenThroughAndStays) {
  const std::string fifo = path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THROW(writeReport(fifo, sample()), std::runtime_error) << "nobody reads: a solver must not wait for someone";
  FifoReader reader(fifo);
  for (int solve = 1; solve <= 2; ++solve) {
    writeReport(fifo, sample());
    EXPECT_EQ(nlohmann::json::parse(reader.text()).size(), 1u);
    EXPECT_TRUE(isFifo(fifo));
  }
  writeHistory(fifo, sample());
  reader.close();
  EXPECT_THROW(writeReport(fifo, sample()), std::runtime_error) << "and the process must outlive the reader";
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(ReportFiles, ADeviceStaysADevice) {
  std::filesystem::create_symlink("/dev/null", path("null"));  // the device itself would be lost where this fails
  writeReport(path("null"), sample());
  writeHistory(path("null"), sample());
  EXPECT_TRUE(std::filesystem::is_symlink(path("null")));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(whyNotWritable("/dev/null"), "");
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(ReportFiles, ALinkKeepsLeadingToTheFile) {
  std::filesystem::create_directories(path("elsewhere"));
  std::filesystem::create_symlink("elsewhere/r.json", path("link"));
  std::filesystem::create_symlink("link", path("second"));
  for (int solve = 1; solve <= 2; ++solve) {
    writeReport(path("second"), sample());
    EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
    EXPECT_EQ(nlohmann::json::parse(contents(path("elsewhere/r.json"))).size(), static_cast<std::size_t>(solve));
  }
  std::filesystem::create_symlink("loop", path("loop"));
  EXPECT_THROW(writeReport(path("loop"), sample()), std::runtime_error);
}

TEST_F(ReportFiles, AnOpenDescriptorIsWrittenWhereItStands) {
  const int fd = ::open(path("out").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::write(fd, "before\n", 7), 7);
  writeHistory("/proc/self/fd/" + std::to_string(fd), sample());
  ASSERT_EQ(::write(fd, "after\n", 6), 6);
  ::close(fd);
  const std::string text = contents(path("out"));
  EXPECT_EQ(text.find("before\nsolve,solver"), 0u) << text;
  EXPECT_EQ(text.substr(text.size() - 6), "after\n");
}

TEST_F(ReportFiles, FilesOfTheUserAreNotTouched) {
  for (const std::string& name : {std::string("r.json.tmp"), "r.json." + std::to_string(::getpid()) + ".tmp"}) {
    std::ofstream(path(name)) << "mine";
  }
  writeReport(path("r.json"), sample());
  EXPECT_EQ(whyNotWritable(path("r.json")), "");
  for (const std::string& name : {std::string("r.json.tmp"), "r.json." + std::to_string(::getpid()) + ".tmp"}) {
    EXPECT_EQ(contents(path(name)), "mine") << name;
  }
  EXPECT_EQ(filesInFolder(), 3u);
}

TEST_F(ReportFiles, AReplacedFileKeepsItsPermissions) {
  std::ofstream(path("r.json")) << "old";
  ASSERT_EQ(::chmod(path("r.json").c_str(), 0640), 0);
  writeReport(path("r.json"), sample());
  struct stat status {};
  ASSERT_EQ(::stat(path("r.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(ReportFiles, WhatCannotBeWrittenHasAReason) {
  EXPECT_EQ(whyNotWritable(""), "the name is empty");
  EXPECT_EQ(whyNotWritable(folder_.string()), "it is a folder, not a file");
  EXPECT_EQ(whyNotWritable("/no/such/r.json"), "there is no folder \"/no/such\"");
  EXPECT_EQ(whyNotWritable(path("r.json")), "");
  EXPECT_EQ(filesInFolder(), 0u) << "asking leaves nothing behind";
}

TEST(TraceFile, HasStretchesOfThreadsAndReductions) {
  EXPECT_EQ(Trace::current(), nullptr);
  const auto at = [](long microseconds) { return Trace::Clock::time_point(std::chrono::microseconds(microseconds)); };
  Trace trace;
  EXPECT_EQ(Trace::current(), &trace);
  trace.add("product", 1, at(10), at(25));
  trace.addReduction(7, at(5), at(30));
  {
    const Trace inner;  // a solver within the solver
    EXPECT_EQ(Trace::current(), &inner);
    const Traced wait("wait");
  }
  EXPECT_EQ(Trace::current(), &trace);
  const auto events = nlohmann::json::parse(toTraceJson(trace, "CAPSTAN CG", 2)).at("traceEvents");
  ASSERT_EQ(events.size(), 6u) << events;
  EXPECT_EQ(events[0].at("args").at("name"), "rank 2, CAPSTAN CG");
  EXPECT_EQ(events[2].at("args").at("name"), "thread 1");
  EXPECT_EQ(events[3], nlohmann::json::parse(R"({"ph":"X","name":"product","pid":2,"tid":1,"ts":10.0,"dur":15.0})"));
  EXPECT_EQ(events[4].at("ph"), "b");
  EXPECT_EQ(events[5].at("ts"), 30.0);
  EXPECT_EQ(events[5].at("id"), 7);
}

TEST(TraceFile, IsNamedByItsRank) {
  EXPECT_EQ(traceFileOf("a/trace.json", 0, 1), "a/trace.json");
  EXPECT_EQ(traceFileOf("a/trace.json", 3, 4), "a/trace.3.json");
  EXPECT_EQ(traceFileOf("a.b/trace", 3, 4), "a.b/trace.3");
  EXPECT_EQ(traceFileOf(".trace", 3, 4), ".trace.3");
  EXPECT_EQ(traceFileOf("../.trace", 1, 4), "../.trace.1");
}

}  // namespace
