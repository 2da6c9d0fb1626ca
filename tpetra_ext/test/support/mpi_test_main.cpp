/// \file
/// The main program of every test that runs under mpirun: MPI and Kokkos up, GoogleTest, down again.
///
/// Rank 0 prints GoogleTest's usual output, the others only their failures. The exit status is non-zero on every rank
/// when a test failed on any, so a failure on one rank cannot be lost. CAPSTAN_TEST_MPI_THREADS=multiple in the
/// environment initialises MPI for several threads; CAPSTAN_TEST_CONCURRENCY=N there makes it an error when Tpetra's
/// default node has not N threads. Views of Tpetra's objects are watched (watched_views.hpp).

#include <gtest/gtest.h>
#include <mpi.h>

#include <Tpetra_Core.hpp>
#include <Tpetra_Map.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tpetra_ext/test/support/watched_views.hpp"
#ifdef CAPSTAN_SERIAL_IS_A_DEVICE
#include "tpetra_ext/test/protected/faults_fail.hpp"
#endif

namespace {

/// Prints what failed on a rank other than 0, with the rank in front.
class FailuresOnly : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) {
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name() != nullptr ? result.file_name() : "?",
                   result.line_number(), result.summary());
    }
  }

  int rank_;
};

/// Whether the run has the threads it is for. A run without them would pass and prove nothing.
bool hasItsThreads() {
  const char* const asked = std::getenv("CAPSTAN_TEST_CONCURRENCY");
  if (asked == nullptr) return true;
  const int found = static_cast<int>(Tpetra::Map<>::node_type::execution_space().concurrency());
  if (found == std::atoi(asked)) return true;
  std::fprintf(stderr, "CAPSTAN_TEST_CONCURRENCY is %s, but Tpetra's default node has %d thread(s)\n", asked, found);
  return false;
}

int runTests(int* argc, char*** argv) {
  capstan::test::watchWithoutFences();
  Tpetra::ScopeGuard guard(argc, argv);
  testing::InitGoogleTest(argc, *argv);
  capstan::test::watchViews();
#ifdef CAPSTAN_SERIAL_IS_A_DEVICE
  capstan::test::failOnFaults();
#endif
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(rank));
  }
  int failed = hasItsThreads() ? RUN_ALL_TESTS() : 1;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  const char* threads = std::getenv("CAPSTAN_TEST_MPI_THREADS");
  if (threads == nullptr || std::string(threads) != "multiple") return runTests(&argc, &argv);
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) std::fprintf(stderr, "this MPI does not give MPI_THREAD_MULTIPLE\n");
  const int failed = level < MPI_THREAD_MULTIPLE ? 1 : runTests(&argc, &argv);
  MPI_Finalize();
  return failed;
}
