/// \file
/// The main program of the kernel tests: Kokkos up, GoogleTest, Kokkos down.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  Kokkos::initialize(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const int failed = RUN_ALL_TESTS();
  Kokkos::finalize();
  return failed;
}
