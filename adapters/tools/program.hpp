#pragma once
/// \file
/// What the programs that read decks share: how they begin, how they end, and whether they show progress.

#include <fmt/format.h>
#include <mpi.h>

#include <Tpetra_Core.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>

#include "adapters/deck/deck.hpp"
#include "adapters/tools/terminal.hpp"  // IWYU pragma: export

namespace capstan::tools {

constexpr int exitMisuse = 2;
constexpr int exitInternal = 3;

/// Starts MPI for several threads where the command line holds --mpi-threads; else Tpetra starts it, for one.
class ThreadedMpi {
 public:
  ThreadedMpi(int* argc, char*** argv)
      : asked_(std::find(*argv, *argv + *argc, std::string("--mpi-threads")) != *argv + *argc) {
    int level = MPI_THREAD_SINGLE;  // what is lacking, a solver that needs it says
    if (asked_) MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
  }
  ~ThreadedMpi() {
    if (asked_) MPI_Finalize();
  }
  ThreadedMpi(const ThreadedMpi&) = delete;
  ThreadedMpi& operator=(const ThreadedMpi&) = delete;

 private:
  bool asked_;
};

/// main() of such a program: starts MPI, Kokkos and Tpetra, calls `body(argc, argv, talks)`, and returns its exit
/// status. `talks` is true on the rank that prints. Wrong input, which all ranks find, is printed once and ends with
/// exitMisuse; any other exception ends all ranks with exitInternal. Collective.
inline int runProgram(const char* name, int argc, char** argv, const std::function<int(int, char**, bool)>& body) {
  // Kokkos would answer --help with its own; -h is the same to us and nothing to it.
  static char help[] = "-h";
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--help") argv[i] = help;
  }
  const ThreadedMpi threads(&argc, &argv);
  const Tpetra::ScopeGuard guard(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    return body(argc, argv, rank == 0);
  } catch (const deck::InputError& error) {
    if (rank == 0) fmt::print(stderr, "{}\n", error.what());
  } catch (const deck::PreconditionerError& error) {
    if (rank == 0) fmt::print(stderr, "{}\n", error.what());
  } catch (const std::exception& error) {
    // Nothing says that the other ranks came here too.
    fmt::print(stderr, "{}: {}\n", name, error.what());
    MPI_Abort(MPI_COMM_WORLD, exitInternal);
  }
  return exitMisuse;
}

}  // namespace capstan::tools
