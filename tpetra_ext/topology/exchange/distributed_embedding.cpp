#include "tpetra_ext/topology/exchange/distributed_embedding.hpp"

#include <mpi.h>

#include <vector>

namespace capstan::topology {
namespace {

/// What the partner of this round writes to this rank, which writes `letter` to it.
std::vector<int> sentByPartner(Channel& channel, int tag, const EmbeddedRouter& router, int round,
                               const std::vector<int>& letter) {
  const int partner = router.partner(round);
  const int to = router.sends(round) ? partner : MPI_PROC_NULL, from = router.receives(round) ? partner : MPI_PROC_NULL;
  auto size = static_cast<int>(letter.size());
  int coming = 0;
  requireSuccess("MPI_Sendrecv", MPI_Sendrecv(&size, 1, MPI_INT, to, tag, &coming, 1, MPI_INT, from, tag,
                                              channel.comm(), MPI_STATUS_IGNORE));
  std::vector<int> received(static_cast<std::size_t>(from == MPI_PROC_NULL ? 0 : coming));
  requireSuccess("MPI_Sendrecv",
                 MPI_Sendrecv(letter.data(), size, MPI_INT, to, tag, received.data(), static_cast<int>(received.size()),
                              MPI_INT, from, tag, channel.comm(), MPI_STATUS_IGNORE));
  return received;
}

}  // namespace

EmbeddedPlan embeddedPlan(const std::shared_ptr<Channel>& channel, const Positions& positions,
                          const RankPattern& pattern) {
  EmbeddedRouter router(channel == nullptr ? 0 : channel->rank(), positions, pattern);
  if (channel == nullptr) return router.plan();
  const int tag = channel->takeTags();
  for (int round = 0; round < router.rounds(); ++round) {
    if (router.partner(round) < 0) continue;
    const std::vector<int> letter = router.letter(round);
    router.take(round, sentByPartner(*channel, tag, router, round, letter));
  }
  return router.plan();
}

}  // namespace capstan::topology
