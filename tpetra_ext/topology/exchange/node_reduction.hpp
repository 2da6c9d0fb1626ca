#pragma once

/// \file
/// All-reduces that know the nodes: summed on each node, then between one rank of each, then handed out on the nodes.
///
/// Source: [enlarged-cg], section 4, for exchanges; the all-reduce is that of SMP-aware MPI libraries, on nodes as the
/// plans of exchanges have them.

#include <mpi.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tpetra_ext/reductions/reduction_route.hpp"
#include "tpetra_ext/topology/node_map.hpp"
#include "tpetra_ext/topology/reduction_strategy.hpp"

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan::topology {

/// Seconds of an all-reduce of so many bytes: the median of some, each on the rank where it took longest.
struct ReductionTimes {
  long bytes = 0;
  bool blocking = true;
  double mpi = 0, nodeAware = 0;
};

/// Whether the nodes' way is to be taken: it must be faster by more than the margin, differences below are noise.
/// Local.
bool nodesPay(const ReductionTimes& times, double margin);

/// Sums of one communicator, in three steps: MPI_Reduce to the first rank of each node, MPI_Allreduce between these,
/// and MPI_Bcast on the nodes. All ranks of a node have the bits that its first rank has.
///
/// A nonblocking sum is three nonblocking collectives; each is begun when the one before is seen complete, from within
/// AllReduce's test(), wait() and looks: sooner on one rank, later on another. MPI wants the collectives of a
/// communicator begun in the same order on all its ranks, and matches no blocking one with a nonblocking one. So the
/// steps have communicators of their own, which the sums in flight take in the order in which they were begun, and
/// blocking sums have others, where the order is that of the program.
class NodeReduction final : public ReductionRoute {
 public:
  /// Between nodes as `nodes` has them. Every sum is taken until measure() says otherwise. Throws std::runtime_error
  /// with MPI's text. Collective.
  NodeReduction(MPI_Comm comm, const NodeMap& nodes);
  ~NodeReduction() override;
  NodeReduction(const NodeReduction&) = delete;
  NodeReduction& operator=(const NodeReduction&) = delete;

  /// Times sums of some sizes both ways, `rounds` times, and takes from now on only those that pay by more than the
  /// margin; sizes between are taken as the next larger one. Collective: some hundred all-reduces.
  void measure(int rounds, double margin);
  /// The same with times that are known. Local; alike on all ranks.
  void take(const std::vector<ReductionTimes>& times, double margin);

  /// What was measured; empty before. The same on all ranks.
  const std::vector<ReductionTimes>& times() const { return times_; }
  double setupSeconds() const { return setupSeconds_; }

  bool takes(MPI_Comm comm, long bytes, bool blocking) const noexcept override;
  int run(void* data, int count, MPI_Datatype type) noexcept override;
  int start(void* data, int count, MPI_Datatype type, long& number) noexcept override;
  int test(long number, bool& done) noexcept override;

 private:
  struct Operation;
  struct Blocking;
  struct Pending;
  std::vector<double> timesOf(long bytes, bool blocking, int rounds);

  MPI_Comm comm_;
  std::unique_ptr<Blocking> blocking_;
  std::unique_ptr<Pending> pending_;
  bool takesAll_ = true;
  std::vector<ReductionTimes> times_;
  double margin_ = 0, setupSeconds_ = 0;
};

/// The way that a strategy takes on a communicator, and why.
struct ChosenReduction {
  std::shared_ptr<NodeReduction> route;  ///< null: MPI's own
  std::string reason;                    ///< a sentence for people
};

/// What is made, and measured, is kept with the communicator, a duplicate having its own. ranksPerNode: as for
/// MatrixPattern. Where each node has one rank, or one node all, sums are MPI's own. Throws std::invalid_argument for a
/// negative ranksPerNode. Collective.
ChosenReduction reductionBy(const Teuchos::Comm<int>& comm, ReductionStrategy strategy, int ranksPerNode);

}  // namespace capstan::topology
