#pragma once

/// \file
/// Embedded exchanges on all ranks of the job, or on the first of them.

#include <Kokkos_Core.hpp>
#include <Teuchos_DefaultMpiComm.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tpetra_ext/topology/exchange/distributed_embedding.hpp"
#include "tpetra_ext/topology/exchange/embedded_exchange.hpp"
#include "tpetra_ext/topology/test/distributed_case.hpp"

namespace capstan::topology::test {

using capstan::test::Scalar;
using Exchange = EmbeddedExchange<Types>;

/// Ranks that exchange with each other.
struct Group {
  explicit Group(CommPtr ranksOfIt)
      : comm(std::move(ranksOfIt)),
        channel(Channel::of(*comm)),
        rank(comm->getRank()),
        ranks(comm->getSize()),
        raw(*Teuchos::rcp_dynamic_cast<const Teuchos::MpiComm<int>>(comm, true)->getRawMpiComm()) {}

  CommPtr comm;
  std::shared_ptr<Channel> channel;
  int rank, ranks;
  MPI_Comm raw;

  /// Of a case, what this rank knows.
  DistributedPattern part(const ExchangePattern& pattern, int ranksPerNode) const {
    const RankPattern& mine = pattern.of(rank);
    return DistributedPattern(channel, NodeMap::uniform(ranks, ranksPerNode), mine.owned, mine.needs);
  }
  std::unique_ptr<Exchange> exchange(const DistributedPattern& mine, const Positions& positions,
                                     StepOrder order = StepOrder::Ascending) const {
    return std::make_unique<Exchange>(
        queue(), channel,
        std::make_shared<const EmbeddedPlan>(embeddedPlan(channel, positions, mine.pattern(), order)));
  }
};

inline Group everyone() { return Group(world()); }

/// As many positions as there are ranks, in an order that is not theirs.
inline Positions shuffled(int ranks, std::uint64_t seed) {
  Positions positions = orderedPositions(ranks);
  Random random(seed);
  for (int r = ranks - 1; r > 0; --r) {
    std::swap(positions[static_cast<std::size_t>(r)], positions[static_cast<std::size_t>(random.below(r + 1))]);
  }
  return positions;
}

/// Each entry another one; among them -0.0, numbers below the least normal one, infinities, and NaNs that say whose
/// they are.
inline Scalar entry(int rank, LocalIndex index, std::size_t column, int salt) {
  using Limits = std::numeric_limits<Scalar>;
  const auto own = static_cast<std::uint64_t>(rank) << 32 | static_cast<std::uint64_t>(index) << 4 | column;
  switch ((rank + index + static_cast<int>(column) + salt) % 11) {
    case 0:
      return -0.0;
    case 1:
      return -Limits::denorm_min() * static_cast<Scalar>(own + 1);
    case 2: {
      const std::uint64_t bits = 0xFFF8000000000000ULL | own;
      Scalar number = 0;
      std::memcpy(&number, &bits, sizeof(number));
      return number;
    }
    case 3:
      return index % 2 == 0 ? Limits::infinity() : -Limits::infinity();
    default:
      return 1.0 / (3 + rank) + 1000.0 * index + 0.1 * static_cast<double>(column) + salt;
  }
}

/// A block of this rank's entries, and room for those of others.
struct Block {
  using View = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Types::DeviceType>;
  View own, ghosts;

  Block(int rank, const RankPattern& mine, std::size_t columns, int salt)
      : own("own", static_cast<std::size_t>(mine.owned), columns),
        ghosts("ghosts", mine.needs.entries.size(), columns) {
    const auto host = Kokkos::create_mirror_view(own);
    for (LocalIndex i = 0; i < mine.owned; ++i) {
      for (std::size_t j = 0; j < columns; ++j) host(static_cast<std::size_t>(i), j) = entry(rank, i, j, salt);
    }
    Kokkos::deep_copy(own, host);
  }
  Exchange::Carried carried() const { return {own, ghosts}; }

  /// Bit by bit.
  void expectArrived(const PeerLists& needs, int salt) const {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ghosts);
    std::size_t row = 0;
    for (std::size_t k = 0; k < needs.size(); ++k) {
      for (const LocalIndex index : needs.list(k)) {
        for (std::size_t j = 0; j < host.extent(1); ++j) {
          const Scalar wanted = entry(needs.peers[k], index, j, salt), got = host(row, j);
          ASSERT_EQ(std::memcmp(&got, &wanted, sizeof(got)), 0)
              << "entry " << index << " of rank " << needs.peers[k] << ": " << got << " for " << wanted;
        }
        ++row;
      }
    }
  }
};

/// Numbers whose sums are rounded.
inline std::vector<Scalar> numbers(int rank, int count, int salt) {
  std::vector<Scalar> all(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    all[static_cast<std::size_t>(k)] = std::sin(1.0 + 3 * rank + 0.7 * k + salt) * std::pow(10, k % 7);
  }
  return all;
}

inline void expectSame(const Group& group, const std::vector<Scalar>& mine) {
  std::vector<Scalar> first = mine;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_DOUBLE, 0, group.raw);
  EXPECT_EQ(std::memcmp(first.data(), mine.data(), mine.size() * sizeof(Scalar)), 0);
}

}  // namespace capstan::topology::test
