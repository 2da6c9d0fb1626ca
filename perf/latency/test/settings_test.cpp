/// \file
/// Reading the settings, their error messages, and the noise.

#include "perf/latency/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <vector>

#include "perf/latency/delays.hpp"
#include "perf/latency/layer.hpp"

namespace capstan::latency {
namespace {

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

TEST(Settings, FixedLatency) {
  const Settings read = parseSettings({{"CAPSTAN_LATENCY_US", "200.5"}});
  EXPECT_TRUE(read.on());
  EXPECT_TRUE(read.collectives.fixed);
  EXPECT_DOUBLE_EQ(read.collectives.alpha, 200.5e-6);
  EXPECT_FALSE(read.yield);
  EXPECT_DOUBLE_EQ(parseSettings({{"CAPSTAN_LATENCY_US", "1e3"}}).collectives.alpha, 1e-3);
  EXPECT_TRUE(parseSettings({{"CAPSTAN_LATENCY_US", "0"}}).on());
}

TEST(Settings, Model) {
  const Settings read =
      parseSettings({{"CAPSTAN_LATENCY_MODEL", "alpha=1.5us,beta=10GB/s,P=65536,noise=exponential:5us,seed=7"},
                     {"CAPSTAN_LATENCY_OPERATIONS", "allreduce,barrier"},
                     {"CAPSTAN_LATENCY_WAIT", "yield"}});
  EXPECT_FALSE(read.collectives.fixed);
  EXPECT_DOUBLE_EQ(read.collectives.alpha, 1.5e-6);
  EXPECT_DOUBLE_EQ(read.collectives.secondsPerByte, 1e-10);
  EXPECT_EQ(read.collectives.processes, 65536);
  EXPECT_EQ(read.collectives.noise.kind, Noise::Kind::Exponential);
  EXPECT_DOUBLE_EQ(read.collectives.noise.scale, 5e-6);
  EXPECT_EQ(read.collectives.seed, 7U);
  EXPECT_TRUE(read.barriers);
  EXPECT_TRUE(read.yield);
}

TEST(Settings, NothingSetIsOff) { EXPECT_FALSE(parseSettings({}).on()); }

TEST(Settings, ErrorsNameVariableValueAndWhatIsAllowed) {
  expectError("CAPSTAN_LATENCY_US", "fast", "'fast' is not allowed; allowed: a number of microseconds");
  expectError("CAPSTAN_LATENCY_US", "-1", "0 to 1e7");
  expectError("CAPSTAN_LATENCY_US", "200us", "without a unit");
  expectError("CAPSTAN_LATENCY_US", "nan", "0 to 1e7");
  expectError("CAPSTAN_LATENCY_US", "2e7", "0 to 1e7");
  expectError("CAPSTAN_LATENCY_US", "1.2.3", "0 to 1e7");
  expectError("CAPSTAN_LATENCY_US", "", "unset");
  expectError("CAPSTAN_LATENCY_MODEL", "beta=1GB/s", "the key alpha");
  expectError("CAPSTAN_LATENCY_MODEL", "alpha=3", "units ns, us, ms, s");
  expectError("CAPSTAN_LATENCY_MODEL", "alpha=3us,alpha=4us", "each key once");
  expectError("CAPSTAN_LATENCY_MODEL", "alpha=3us,beta=0GB/s", "above 0");
  expectError("CAPSTAN_LATENCY_MODEL", "alpha=3us,beta=1us", "B/s, kB/s");
  expectError("CAPSTAN_LATENCY_MODEL", "alpha=3us,P=0", "whole number from 1");
  expectError("CAPSTAN_LATENCY_MODEL", "alpha=3us,P=1e4", "whole number from 1");
  expectError("CAPSTAN_LATENCY_MODEL", "alpha=3us,noise=gauss:1us", "exponential:<mean>");
  expectError("CAPSTAN_LATENCY_MODEL", "alpha=3us,noise=uniform:1", "units ns, us, ms, s");
  expectError("CAPSTAN_LATENCY_MODEL", "alpha=3us,seed=7", "only together with noise");
  expectError("CAPSTAN_LATENCY_MODEL", "alpha=3us,delay=7", "keys P, alpha, beta, noise, seed");
  expectError("CAPSTAN_LATENCY_MODEL", "3us", "key=value pairs");
  expectError("CAPSTAN_LATENCY_WAIT", "sleep", "spin or yield");
  expectError("CAPSTAN_LATENCY_OPERATIONS", "bcast", "allreduce or allreduce,barrier");
  expectError("CAPSTAN_LATENCY_OPERATIONS", "allreduce,barrier", "barrier only with");
  expectError("CAPSTAN_LATENCY", "200", "unknown variable; known: CAPSTAN_LATENCY_MODEL");
  EXPECT_NE(errorOf({{"CAPSTAN_LATENCY_US", "1"}, {"CAPSTAN_LATENCY_MODEL", "alpha=1us"}}).find("only without"),
            std::string::npos);
}

TEST(Settings, VariablesOfTheProcess) {
  ASSERT_EQ(setenv("CAPSTAN_LATENCY_US", "5=5", 1), 0);
  EXPECT_EQ(latencyVariables().at("CAPSTAN_LATENCY_US"), "5=5");
  unsetenv("CAPSTAN_LATENCY_US");
  EXPECT_EQ(latencyVariables().count("CAPSTAN_LATENCY_US"), 0U);
}

std::vector<double> draws(const Noise& noise, std::uint64_t seed, int count) {
  NoiseSource source(noise, seed);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(source.draw());
  return values;
}

TEST(Noise, SameSeedSameNumbers) {
  const Noise noise = {Noise::Kind::Exponential, 5e-6};
  EXPECT_EQ(draws(noise, 7, 100), draws(noise, 7, 100));
  EXPECT_NE(draws(noise, 7, 100), draws(noise, 8, 100));
}

TEST(Noise, HasTheScaleAskedFor) {
  double mean = 0;
  for (const double value : draws({Noise::Kind::Exponential, 5e-6}, 7, 20000)) {
    EXPECT_GE(value, 0);
    mean += value / 20000;
  }
  EXPECT_NEAR(mean, 5e-6, 0.2e-6);  // 5 standard deviations of this mean; the seed is fixed anyway
  double most = 0;
  for (const double value : draws({Noise::Kind::Uniform, 2.0}, 7, 1000)) {
    EXPECT_GE(value, 0);
    most = std::max(most, value);
  }
  EXPECT_LE(most, 2.0);
  EXPECT_GE(most, 1.9);
  EXPECT_EQ(draws({}, 7, 2), (std::vector<double>{0, 0}));
  EXPECT_EQ(draws({Noise::Kind::Exponential, 0}, 7, 1), std::vector<double>{0});
}

TEST(Unset, NothingIsHeldOrCounted) {
  EXPECT_FALSE(on());
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
  EXPECT_EQ(counters().askedNanoseconds, 0);
}

}  // namespace
}  // namespace capstan::latency
