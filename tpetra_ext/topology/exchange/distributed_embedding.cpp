#include "tpetra_ext/topology/exchange/distributed_embedding.hpp"

#include <mpi.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace capstan::topology {
namespace {

/// What the partner of this round writes to this rank, which writes `message` to it.
std::vector<int> sentByPartner(Channel& channel, int tag, const EmbeddedRouter& router, int round,
                               const std::vector<int>& message) {
  const int partner = router.partner(round);
  const int to = router.sends(round) ? partner : MPI_PROC_NULL, from = router.receives(round) ? partner : MPI_PROC_NULL;
  auto size = static_cast<int>(message.size());
  int coming = 0;
  requireSuccess("MPI_Sendrecv", MPI_Sendrecv(&size, 1, MPI_INT, to, tag, &coming, 1, MPI_INT, from, tag,
                                              channel.comm(), MPI_STATUS_IGNORE));
  std::vector<int> received(static_cast<std::size_t>(from == MPI_PROC_NULL ? 0 : coming));
  requireSuccess("MPI_Sendrecv", MPI_Sendrecv(message.data(), size, MPI_INT, to, tag, received.data(),
                                              static_cast<int>(received.size()), MPI_INT, from, tag, channel.comm(),
                                              MPI_STATUS_IGNORE));
  return received;
}

/// On the first rank, the values of all ranks by who has to do with them; elsewhere nothing.
std::vector<SharedValues> sharedOfAll(Channel& channel, const RankPattern& pattern) {
  // Of this rank: how many values each set of ranks shares, and written one after the other: ranks, count, the ranks.
  std::map<LocalIndex, std::vector<int>> ranksOf;
  for (std::size_t k = 0; k < pattern.sends.size(); ++k) {
    for (const LocalIndex entry : pattern.sends.list(k)) ranksOf[entry].push_back(pattern.sends.peers[k]);
  }
  std::map<std::vector<int>, int> counts;
  for (auto& [entry, ranks] : ranksOf) {
    ranks.insert(std::lower_bound(ranks.begin(), ranks.end(), channel.rank()), channel.rank());
    ++counts[ranks];
  }
  std::vector<int> mine;
  for (const auto& [ranks, count] : counts) {
    mine.insert(mine.end(), {static_cast<int>(ranks.size()), count});
    mine.insert(mine.end(), ranks.begin(), ranks.end());
  }
  const bool first = channel.rank() == 0;
  const auto size = static_cast<int>(mine.size());
  std::vector<int> sizes(static_cast<std::size_t>(first ? channel.ranks() : 0)), begins;
  requireSuccess("MPI_Gather", MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, channel.comm()));
  int total = 0;
  for (const int one : sizes) {
    begins.push_back(total);
    total += one;
  }
  std::vector<int> all(static_cast<std::size_t>(total));
  requireSuccess("MPI_Gatherv", MPI_Gatherv(mine.data(), size, MPI_INT, all.data(), sizes.data(), begins.data(),
                                            MPI_INT, 0, channel.comm()));
  std::map<std::vector<int>, long long> together;
  for (auto next = all.begin(); next != all.end();) {
    const auto ranks = next + 2;
    together[std::vector<int>(ranks, ranks + next[0])] += next[1];
    next = ranks + next[0];
  }
  std::vector<SharedValues> shared;
  for (const auto& [ranks, count] : together) shared.push_back({ranks, count});
  return shared;
}

}  // namespace

EmbeddedPlan embeddedPlan(const std::shared_ptr<Channel>& channel, const Positions& positions,
                          const RankPattern& pattern, StepOrder order) {
  EmbeddedRouter router(channel == nullptr ? 0 : channel->rank(), positions, pattern, order);
  if (channel == nullptr) return router.plan();
  const int tag = channel->takeTags();
  for (int round = 0; round < router.rounds(); ++round) {
    if (router.partner(round) < 0) continue;
    const std::vector<int> message = router.message(round);
    router.take(round, sentByPartner(*channel, tag, router, round, message));
  }
  return router.plan();
}

int ranksPerNodeOf(const NodeMap& nodes) {
  const int most = nodes.sizeOf(0);
  for (int rank = 0; rank < nodes.ranks(); ++rank) {
    if (nodes.nodeOf(rank) != rank / most) return 0;
  }
  return most;
}

Positions mappedPositions(const std::shared_ptr<Channel>& channel, const RankPattern& pattern,
                          const MappingOptions& options) {
  const int ranks = channel == nullptr ? 1 : channel->ranks();
  if (ranks == 1 || options.heuristic == MappingHeuristic::None) {
    ranksPerGroup(ranks, options.ranksPerNode);  // refuses what is out of range
    return mapToHypercube(ranks, {}, orderedPositions(ranks), options);
  }
  const std::vector<SharedValues> shared = sharedOfAll(*channel, pattern);
  Positions positions = orderedPositions(ranks);
  std::string problem;
  if (channel->rank() == 0) {
    try {
      positions = mapToHypercube(ranks, shared, positions, options);
    } catch (const std::invalid_argument& error) {
      problem = error.what();
    }
  }
  if (!channel->onAll(problem.empty())) {
    throw std::invalid_argument(problem.empty() ? "capstan: hypercube: refused by the first rank" : problem);
  }
  requireSuccess("MPI_Bcast", MPI_Bcast(positions.data(), ranks, MPI_INT, 0, channel->comm()));
  return positions;
}

}  // namespace capstan::topology
