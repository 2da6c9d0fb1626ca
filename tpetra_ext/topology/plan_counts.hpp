#pragma once

/// \file
/// What a plan costs: messages and bytes, within nodes and between them.

#include <vector>

#include "tpetra_ext/topology/exchange_plan.hpp"

namespace capstan::topology {

/// Of something that ranks send.
struct Tally {
  long long total = 0;
  long long mostOfARank = 0;
  long long mostOfANode = 0;  ///< by all ranks of a node together
};

struct MessageCounts {
  Tally messages, bytes;
};

/// What all ranks send in one exchange. The names in quotes are those of [enlarged-cg], Table 1; messages there are
/// counted per process and per node as here. "m" and "s" of the standard exchange are of the network alone, too.
struct PlanCounts {
  MessageCounts network;           ///< between nodes: "m", "s_proc" = bytes.mostOfARank, "s_node" = bytes.mostOfANode
  MessageCounts onNode;            ///< the steps Local, Gather and Scatter together
  long long mostBetweenNodes = 0;  ///< messages from one node to another: "m_node->node"
  long long mostBytesBetweenNodes = 0;  ///< likewise: "s_node->node"
  long long mostNodesOfARank = 0;       ///< nodes to which a rank sends: "m_proc->node"
  long long mostNodesOfANode = 0;       ///< nodes to which a node sends
};

/// Counts for blocks of `columns` columns of `bytesPerValue` bytes a number. Throws std::invalid_argument where these
/// are below 1 or the node map is for another number of ranks. Local.
PlanCounts countsOf(const std::vector<RankPlan>& plans, const NodeMap& map, int columns, int bytesPerValue = 8);

}  // namespace capstan::topology
