/// \file
/// A program that ends while vectors are kept for initial guesses: they must be gone before Kokkos is, whoever ends
/// first. A communication plan is kept, too; it may stay. usage: guess_exit tpetra | kokkos-first | mpi-first | exit

#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <cstring>
#include <iostream>

#include "belos_ext/guess/guess_store.hpp"
#include "belos_ext/test/solvers/guess_suite.hpp"

namespace capstan::testing {
namespace {

/// Whether something is kept after two solves.
bool keepSomething() {
  Params p = guessing("projection 3");
  p.set("Communication Strategy", "two-step");
  for (int k = 0; k < 2; ++k) {
    const Outcome outcome = solve(methods().front(), p, systemWithSolution(grid2d(9, 9), first));
    if (!outcome.converged || (outcome.iterations == 0) != (k > 0)) return false;
  }
  return GuessStore::instance().bytes() > 0;
}

int run(int argc, char** argv) {
  const char* end = argv[1];
  if (std::strcmp(end, "tpetra") == 0) {
    Tpetra::initialize(&argc, &argv);
    const bool kept = keepSomething();
    Tpetra::finalize();
    return kept && GuessStore::instance().size() == 0 ? 0 : 1;
  }
  MPI_Init(nullptr, nullptr);
  Kokkos::initialize();
  const bool kept = keepSomething();
  if (std::strcmp(end, "exit") == 0) {
    MPI_Finalize();
    return kept ? 0 : 1;
  }
  const bool mpiFirst = std::strcmp(end, "mpi-first") == 0;
  if (mpiFirst) MPI_Finalize();
  Kokkos::finalize();
  if (!mpiFirst) MPI_Finalize();
  return kept && GuessStore::instance().size() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace capstan::testing

int main(int argc, char** argv) {
  const int status = argc == 2 ? capstan::testing::run(argc, argv) : 2;
  if (status != 0) std::cerr << "guess_exit: nothing was kept, or something is kept still\n";
  return status;
}
