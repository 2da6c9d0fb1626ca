/// \file
/// The main program of the kernel tests: Kokkos up, GoogleTest, Kokkos down.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tpetra_ext/kernels/base/instruction_set.hpp"

/// The run is for the instruction set that CAPSTAN_KERNELS names; where the processor lacks it, there is nothing to
/// test.
static bool runsHere() {
  const char* const asked = std::getenv("CAPSTAN_KERNELS");
  if (asked == nullptr || (std::string(asked) != "avx2" && std::string(asked) != "avx512")) return true;
  const auto sets = capstan::kernels::instructionSets();
  return std::find(sets.begin(), sets.end(), std::string(asked)) != sets.end();
}

int main(int argc, char** argv) {
  if (!runsHere()) {
    std::printf("skipped: this processor has no %s\n", std::getenv("CAPSTAN_KERNELS"));
    return 77;
  }
  Kokkos::initialize(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  Kokkos::finalize();
  return failed;
}
