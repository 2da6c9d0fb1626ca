/// \file
/// A rank dies with reductions in flight. test_rank_death.py checks that the others end too.
///
/// Usage: rank_death <none|poll|thread> <wait|destructor>: what the other ranks are doing meanwhile.

#include <mpi.h>

#include <Teuchos_DefaultMpiComm.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "tpetra_ext/reductions/progress.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"
#include "tpetra_ext/types.hpp"

int main(int argc, char** argv) {
  using namespace capstan;
  if (argc != 3) return 2;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  Kokkos::initialize(argc, argv);
  {
    ProgressMode mode = ProgressMode::None;
    for (const ProgressMode one : {ProgressMode::Poll, ProgressMode::Thread}) {
      if (toString(one) == argv[1]) mode = one;
    }
    const Teuchos::RCP<const Teuchos::Comm<int>> comm = Teuchos::rcp(new Teuchos::MpiComm<int>(MPI_COMM_WORLD));
    const ProgressScope scope(mode);
    ReductionBatch<DefaultTypes> first(comm), second(comm);
    first.value(1);
    second.value(1);
    PendingReduction<DefaultTypes> a = first.start();
    a.wait();
    std::printf("rank %d under %s\n", comm->getRank(), toString(scope.mode()).c_str());
    std::fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (comm->getRank() == 1) std::raise(SIGKILL);
    PendingReduction<DefaultTypes> b = second.start();
    if (std::strcmp(argv[2], "wait") == 0) b.wait();
  }
  std::printf("past the reduction\n");
  Kokkos::finalize();
  MPI_Finalize();
  return 0;
}
