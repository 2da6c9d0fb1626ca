/// \file
/// Collectives are called in the same order by all ranks of a communicator: by sums that go by the nodes, blocking and
/// nonblocking ones together, and by solves.

#include <mpi.h>

#include <memory>
#include <thread>

#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/reductions/all_reduce.hpp"
#include "tpetra_ext/reductions/progress.hpp"
#include "tpetra_ext/test/support/collective_log.hpp"
#include "tpetra_ext/topology/exchange/node_reduction.hpp"

namespace capstan::testing {
namespace {

using test::differingCollectives;
using test::forgetCollectives;
using test::notedCollectives;

TEST(CollectiveLog, SeesThatARankHasCalledSomethingElse) {
  const bool forgets = rank() == 1;  // asked first: Teuchos broadcasts when it makes its communicator
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (const bool alike : {true, false}) {
    forgetCollectives();
    MPI_Barrier(comm);
    if (!alike && forgets) forgetCollectives();
    int one = 1;
    MPI_Bcast(&one, 1, MPI_INT, 0, comm);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(notedCollectives(), alike || !forgets ? 3 : 2);
    EXPECT_EQ(
        differingCollectives(),
        alike ? "" : "rank 1: call 1 on a communicator is MPI_Bcast of 4 bytes, root 0; on rank 0 it is MPI_Barrier\n");
  }
  forgetCollectives();
  MPI_Comm_free(&comm);
}

/// Sums that are begun, summed and waited for in all orders, while one node looks at them and the other does not.
void sumInTurn() {
  const auto world = Tpetra::getDefaultComm();
  AllReduce early(world), late(world), between(world);
  double a = 1, c[3] = {1, 2, 3}, b[2] = {1, 2};
  for (int round = 0; round < 20; ++round) {
    a = b[0] = b[1] = 1;
    const long first = early.start(&a, 1);
    for (int looks = 0; rank() < 2 && looks < 200 && !early.test(first); ++looks) std::this_thread::yield();
    between.run(b, 2);
    const long second = late.start(c, 3);
    between.run(b, 1);
    late.wait(second);
    early.wait(first);
    EXPECT_EQ(a, ranks());
    EXPECT_EQ(b[0], ranks() * ranks());
    EXPECT_EQ(b[1], ranks());
  }
}

TEST(CollectiveOrder, OfSumsByTheNodesIsThatOfAllRanks) {
  for (const auto mode : {ProgressMode::None, ProgressMode::Poll, ProgressMode::Thread}) {
    const auto chosen = topology::reductionBy(*Tpetra::getDefaultComm(), topology::ReductionStrategy::NodeAware, 2);
    ASSERT_EQ(chosen.route != nullptr, ranks() > 2);
    const ProgressScope progress(mode);
    const ReductionRouteScope scope(chosen.route);
    forgetCollectives();
    sumInTurn();
    EXPECT_GT(notedCollectives(), 0);
    EXPECT_EQ(differingCollectives(), "") << toString(mode);
  }
}

class CollectiveOrder : public EverySolver {};

TEST_P(CollectiveOrder, OfSolvesIsThatOfAllRanks) {
  for (const std::string sums : {"mpi", "node-aware"}) {
    for (const size_t columns : {size_t(1), size_t(3)}) {
      for (const int depth : {1, 2}) {
        if (depth > 1 && !GetParam().takes("Pipeline Depth")) continue;
        SCOPED_TRACE(sums + ", " + std::to_string(columns) + " right-hand sides, depth " + std::to_string(depth));
        Params p;
        p.set("State Cache", false);
        p.set("Reduction Strategy", sums);
        if (sums != "mpi") p.set("Ranks Per Node", 2);
        if (depth > 1) p.set("Pipeline Depth", depth);
        if (isPipelined(GetParam())) p.set("Progress", "poll");
        const System system = systemWithRightHandSide(grid2d(14, 14), wave, columns);
        forgetCollectives();
        for (int again = 0; again < 2; ++again) {
          system.x->putScalar(0);
          EXPECT_TRUE(solve(GetParam(), p, system, Side::Right).converged);
        }
        EXPECT_GT(notedCollectives(), 0);
        EXPECT_EQ(differingCollectives(), "");
      }
    }
  }
}

CAPSTAN_FOR_EVERY_SOLVER(CollectiveOrder);

}  // namespace
}  // namespace capstan::testing
