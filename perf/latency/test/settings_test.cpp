/// \file
/// Reading the settings, and their error messages.

#include "perf/latency/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "perf/latency/layer.hpp"

namespace capstan::latency {
namespace {

using namespace std::chrono_literals;

using Variables = std::map<std::string, std::string>;

std::string errorOf(const Variables& variables) {
  try {
    parseSettings(variables);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

void expectError(const std::string& name, const std::string& value, const std::string& allowed) {
  const std::string message = errorOf({{name, value}});
  EXPECT_NE(message.find(name), std::string::npos) << message;
  EXPECT_NE(message.find(allowed), std::string::npos) << name << "=" << value << ": " << message;
}

Clock::duration latencyOf(const std::string& value) { return parseSettings({{"CAPSTAN_LATENCY_US", value}}).latency; }

TEST(Settings, FixedLatency) {
  const Settings read = parseSettings({{"CAPSTAN_LATENCY_US", "200.5"}});
  EXPECT_TRUE(read.on);
  EXPECT_EQ(read.latency, 200500ns);
  EXPECT_FALSE(read.yield);
  EXPECT_FALSE(read.count);
  EXPECT_EQ(latencyOf("1e3"), 1ms);
  EXPECT_EQ(latencyOf("1e7"), 10s);
  EXPECT_EQ(latencyOf("0.0001"), 1ns) << "rounded up";
  EXPECT_TRUE(parseSettings({{"CAPSTAN_LATENCY_US", "0"}}).on);
  EXPECT_EQ(latencyOf("0"), 0ns);
}

TEST(Settings, Waiting) {
  EXPECT_TRUE(parseSettings({{"CAPSTAN_LATENCY_US", "1"}, {"CAPSTAN_LATENCY_WAIT", "yield"}}).yield);
  EXPECT_TRUE(parseSettings({{"CAPSTAN_LATENCY_US", "0"}, {"CAPSTAN_LATENCY_COUNT", "yes"}}).count);
  const Settings read = parseSettings({{"CAPSTAN_LATENCY_WAIT", "spin"}});
  EXPECT_FALSE(read.yield);
  EXPECT_FALSE(read.on) << "no latency is asked for";
}

TEST(Settings, NothingSetIsOff) { EXPECT_FALSE(parseSettings({}).on); }

TEST(Settings, ErrorsNameVariableValueAndWhatIsAllowed) {
  expectError("CAPSTAN_LATENCY_US", "fast", "'fast' is not allowed; allowed: a number of microseconds");
  expectError("CAPSTAN_LATENCY_US", "-1", "0 to 1e7");
  expectError("CAPSTAN_LATENCY_US", "200us", "without a unit");
  expectError("CAPSTAN_LATENCY_US", "nan", "0 to 1e7");
  expectError("CAPSTAN_LATENCY_US", "2e7", "0 to 1e7");
  expectError("CAPSTAN_LATENCY_US", "1.2.3", "0 to 1e7");
  expectError("CAPSTAN_LATENCY_US", " 1", "0 to 1e7");
  expectError("CAPSTAN_LATENCY_US", "0x1", "0 to 1e7");
  expectError("CAPSTAN_LATENCY_US", "", "unset");
  expectError("CAPSTAN_LATENCY_MODEL", "alpha=1us", "unknown variable; known: CAPSTAN_LATENCY_US");
  expectError("CAPSTAN_LATENCY_WAIT", "sleep", "spin or yield");
  expectError("CAPSTAN_LATENCY_COUNT", "1", "no or yes");
  expectError("CAPSTAN_LATENCY", "200",
              "unknown variable; known: CAPSTAN_LATENCY_US, CAPSTAN_LATENCY_WAIT, CAPSTAN_LATENCY_COUNT");
}

TEST(Settings, VariablesOfTheProcess) {
  ASSERT_EQ(setenv("CAPSTAN_LATENCY_US", "5=5", 1), 0);
  EXPECT_EQ(latencyVariables().at("CAPSTAN_LATENCY_US"), "5=5");
  unsetenv("CAPSTAN_LATENCY_US");
  EXPECT_EQ(latencyVariables().count("CAPSTAN_LATENCY_US"), 0U);
}

TEST(Unset, NothingIsHeldOrCounted) {
  EXPECT_FALSE(delayed(MPI_COMM_WORLD));
  int one = 1;
  int sum = 0;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sum, ranks);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(sum, ranks);
  EXPECT_EQ(counters().blocking, 0);
  EXPECT_EQ(counters().nonblocking, 0);
}

}  // namespace
}  // namespace capstan::latency
