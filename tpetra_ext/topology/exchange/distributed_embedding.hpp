#pragma once

/// \file
/// Plans of embedded exchanges made by the ranks of a job together, each knowing only its part of the pattern.

#include <memory>

#include "tpetra_ext/topology/exchange/channel.hpp"
#include "tpetra_ext/topology/hypercube/embedded_plan.hpp"

namespace capstan::topology {

/// The plan of this rank, for a pattern of all ranks. channel: null for one rank. The positions are the same on all
/// ranks. Throws as EmbeddedRouter. Collective: lg K messages a rank.
EmbeddedPlan embeddedPlan(const std::shared_ptr<Channel>& channel, const Positions& positions,
                          const RankPattern& pattern);

}  // namespace capstan::topology
