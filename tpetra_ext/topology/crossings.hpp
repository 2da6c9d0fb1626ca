#pragma once

/// \file
/// What crosses the network between nodes, from which rank to which: where the strategies of communication differ.
///
/// Source: [enlarged-cg], sections 2.2 and 4.3.

#include <string>
#include <vector>

#include "tpetra_ext/topology/device_aware_mpi.hpp"
#include "tpetra_ext/topology/lists.hpp"
#include "tpetra_ext/topology/node_map.hpp"

namespace capstan::topology {

/// How values reach ranks on other nodes. What is needed on the owner's own node always goes there directly.
///
/// | strategy  | from node to node                                                   | source                |
/// |-----------|---------------------------------------------------------------------|-----------------------|
/// | Standard  | the owner sends to each rank that needs something                   | section 2.2, Fig. 2.4 |
/// | TwoStep   | the owner sends once to its paired rank, which distributes          | section 2.2, Fig. 2.6 |
/// | ThreeStep | gathered by one rank, one message, distributed by the one receiving | section 2.2, Fig. 2.5 |
/// | Optimal   | as ThreeStep up to a size, larger ones split over the node's ranks  | section 4.3, Fig. 4.8 |
///
/// Sections and figures of [enlarged-cg].
enum class Strategy { Standard, TwoStep, ThreeStep, Optimal };

/// All of them, in the order above.
constexpr Strategy allStrategies[] = {Strategy::Standard, Strategy::TwoStep, Strategy::ThreeStep, Strategy::Optimal};

/// "standard", "two-step", "three-step" or "optimal".
const char* nameOf(Strategy strategy);

/// The strategy of that name. Throws std::invalid_argument with the names allowed.
Strategy strategyNamed(const std::string& name);

/// Up to this many bytes MPI sends a message without asking the receiver, unless told otherwise: between the 4 KiB of
/// Open MPI 4.1 in shared memory and the 12 and 64 KiB on its networks, and near the 10^4 bytes of [enlarged-cg],
/// Fig. 4.6, where messages on a node become slower than those between nodes.
constexpr long long defaultEagerLimit = 8192;

/// What a plan is made for.
struct PlanOptions {
  Strategy strategy = Strategy::Standard;
  long long eagerLimit = defaultEagerLimit;  ///< bytes; Optimal splits what is larger
  int columns = 1;                           ///< of the block of vectors; a plan serves other blocks as well
  int bytesPerValue = 8;
  DeviceAwareMpi deviceAware = DeviceAwareMpi::Auto;  ///< changes no message
};

/// Throws std::invalid_argument, naming what is wrong, where a number is below 1.
void requireValid(const PlanOptions& options);

/// Values that go from a rank to a rank of another node in one message.
struct Crossing {
  int sender = 0, receiver = 0;
  std::vector<ValueId> values;        ///< in the order of the message; ascending, each once
  std::vector<std::size_t> begin{0};  ///< where a value's ranks begin in `targets`, and the end
  std::vector<int> targets;           ///< ranks on the receiver's node that need the value, ascending

  Span<int> targetsOf(std::size_t k) const { return {targets.data() + begin[k], targets.data() + begin[k + 1]}; }
};

/// A rank that receives all that comes from a node (three-step).
struct NodeReceiver {
  int from = 0;  ///< the node
  int rank = 0;
};

/// Deals the nodes that `node` hears from to its ranks, so that all take part: in descending number of values, each to
/// a rank with the fewest so far; of these to the one that needs most of its values. needs[k]: RankPattern::needs of
/// the node's rank at place k. Ascending by node. Local, and the same wherever it is computed.
std::vector<NodeReceiver> nodeReceiversOf(const NodeMap& map, int node, const std::vector<const PeerLists*>& needs);

/// Another node, and the rank there that receives what comes from here (three-step).
struct RemoteReceiver {
  int node = 0;
  int rank = 0;
};

/// All that crosses the network from one node: ascending by sender, then by receiver, and no two between the same
/// ranks. Local, and the same wherever it is computed.
///
/// sends[k]: RankPattern::sends of the node's rank at place k. remoteReceivers: for ThreeStep, the other
/// side's nodeReceiversOf(), ascending by node; not looked at else. Throws std::invalid_argument for invalid options
/// and where one is missing.
///
/// Optimal: the number of messages that a rank sends is at most max(m, n), where n is the number of ranks on the node
/// and m the largest number of nodes to which one of them sends, [enlarged-cg], inequality (4.4); where that would be
/// exceeded, parcels are split less. There is at most one message from a rank to a node.
std::vector<Crossing> crossingsOf(const PlanOptions& options, const NodeMap& map, int node,
                                  const std::vector<const PeerLists*>& sends,
                                  const std::vector<RemoteReceiver>& remoteReceivers);

}  // namespace capstan::topology
