#include "tpetra_ext/kernels/base/instruction_set.hpp"

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tpetra_ext/kernels/host/chunk_kernels.hpp"

namespace capstan::kernels {
namespace {

TEST(InstructionSet, IsTheOneAskedForOrTheLastThatRuns) {
  const char* const asked = std::getenv("CAPSTAN_KERNELS");
  ASSERT_FALSE(instructionSets().empty());
  EXPECT_EQ(instructionSets().front(), "baseline");
  const std::string name = asked != nullptr ? asked : "auto";
  EXPECT_EQ(instructionSet(), name != "auto" ? name : instructionSets().back());
  EXPECT_EQ(genericPathForced(), name == "generic" || name == "delayed");
  EXPECT_EQ(launchesDelayed(), name == "delayed");
  EXPECT_EQ(detail::chunkKernels<double>().name, std::string(detail::chunkKernels<float>().name));
  if (!genericPathForced()) {
    EXPECT_EQ(instructionSet(), detail::chunkKernels<float>().name);
  }
}

TEST(InstructionSet, WidensRegisters) {
  const int bytes = detail::chunkKernels<double>().lanes * int(sizeof(double));
  EXPECT_EQ(bytes, detail::chunkKernels<float>().lanes * int(sizeof(float)));
  if (instructionSet() == "avx512") {
    EXPECT_EQ(bytes, 64);
  }
  if (instructionSet() == "avx2") {
    EXPECT_EQ(bytes, 32);
  }
  if (instructionSet() == "baseline") {
    EXPECT_GE(bytes, 16);
  }
}

TEST(Backend, HasTheThreadsThatTheRunIsFor) {
  const char* const asked = std::getenv("CAPSTAN_TEST_CONCURRENCY");
  if (asked == nullptr) GTEST_SKIP() << "set by ./capstan test --openmp";
  EXPECT_EQ(static_cast<int>(Kokkos::DefaultExecutionSpace().concurrency()), std::atoi(asked));
}

/// In a process of its own, since the choice is made once.
TEST(InstructionSetDeathTest, UnknownOnesAreRefused) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto ask = [](const char* name) {
    setenv("CAPSTAN_KERNELS", name, 1);
    try {
      instructionSet();
    } catch (const std::invalid_argument& error) {
      std::fprintf(stderr, "%s\n", error.what());
      std::exit(3);
    }
    std::exit(0);
  };
  EXPECT_EXIT(ask("sse9"), testing::ExitedWithCode(3),
              "CAPSTAN_KERNELS \\(environment\\): found 'sse9'; allowed here: auto, baseline.*, generic, delayed");
  EXPECT_EXIT(ask("auto"), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(ask(""), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace capstan::kernels
