#pragma once

/// \file
/// Plans of embedded exchanges made by the ranks of a job together, each knowing only its part of the pattern.

#include <memory>

#include "tpetra_ext/topology/exchange/channel.hpp"
#include "tpetra_ext/topology/hypercube/embedded_plan.hpp"
#include "tpetra_ext/topology/hypercube/hypercube_mapping.hpp"
#include "tpetra_ext/topology/node_map.hpp"

namespace capstan::topology {

/// The plan of this rank, for a pattern of all ranks. channel: null for one rank. The positions are the same on all
/// ranks. Throws as EmbeddedRouter. Collective: lg K messages a rank.
EmbeddedPlan embeddedPlan(const std::shared_ptr<Channel>& channel, const Positions& positions,
                          const RankPattern& pattern, StepOrder order = StepOrder::Ascending);

/// Ranks on each node, where nodes are made of ranks one after the other, as many on each (the last may have fewer); 0
/// where they are not. Local.
int ranksPerNodeOf(const NodeMap& nodes);

/// Positions for a pattern of all ranks, by these options: the same on all of them. The first rank maps. channel: null
/// for one rank. Throws std::invalid_argument, on all ranks, for options out of range. Collective: a gather of who
/// shares values with whom, and a broadcast.
Positions mappedPositions(const std::shared_ptr<Channel>& channel, const RankPattern& pattern,
                          const MappingOptions& options);

}  // namespace capstan::topology
