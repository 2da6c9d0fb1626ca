#pragma once

/// \file
/// A pattern of patterns.hpp on the ranks of the job at hand.

#include <Teuchos_Comm.hpp>
#include <memory>

#include "tpetra_ext/kernels/test/own_queue.hpp"
#include "tpetra_ext/test/support/vectors.hpp"
#include "tpetra_ext/topology/exchange/distributed_pattern.hpp"
#include "tpetra_ext/topology/test/patterns.hpp"

namespace capstan::topology::test {

using capstan::test::CommPtr;
using capstan::test::Types;
using capstan::test::world;

/// Of all exchanges of the tests.
inline auto& queue() { return kernels::test::ownQueue<Types::ExecutionSpace>(); }

inline std::shared_ptr<Channel> worldChannel() { return Channel::of(*world()); }

/// Of a case, what this rank knows.
inline DistributedPattern onThisRank(const ExchangePattern& pattern, const NodeMap& map) {
  const RankPattern& mine = pattern.of(world()->getRank());
  return DistributedPattern(worldChannel(), map, mine.owned, mine.needs);
}

/// Every strategy with a small and with a large eager limit, which matters for Optimal alone.
inline std::vector<PlanOptions> allOptions() {
  std::vector<PlanOptions> all;
  for (const Strategy strategy : allStrategies) {
    all.emplace_back();
    all.back().strategy = strategy;
  }
  all.push_back(all.back());
  all.back().eagerLimit = 40;
  return all;
}

}  // namespace capstan::topology::test
