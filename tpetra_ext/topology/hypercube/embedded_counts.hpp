#pragma once

/// \file
/// What an exchange embedded in an all-reduce sends, and what a conventional one does. Plain data, local.

#include "tpetra_ext/topology/hypercube/hypercube_mapping.hpp"
#include "tpetra_ext/topology/node_map.hpp"

namespace capstan::topology {

/// Messages and values that all ranks send in one exchange. The sums that the all-reduce is there for are not counted
/// as values. Names in quotes: [embedded-cg], Table 4, where volumes are divided by the rows of the matrix.
struct ExchangeCounts {
  long long messages = 0;         ///< of all ranks; divided by the ranks: "message count, avg"
  long long mostMessages = 0;     ///< that one rank sends: "message count, max"
  long long volume = 0;           ///< values, each counted as often as it is sent: "message volume, total"
  long long mostVolume = 0;       ///< sent and received, "message volume, max": see the two functions
  long long mostSent = 0;         ///< likewise, sent alone
  long long networkMessages = 0;  ///< messages between nodes
  long long networkVolume = 0;    ///< values in these
};

/// An all-reduce that carries the values: D messages of each position below 2^D and, where it folds, one more each of
/// the two. A value goes to its receivers by the order of the steps, over each link once, whatever number of receivers
/// lies behind it. mostVolume, mostSent: of each step, folding included, what the rank with most sends and receives, or
/// sends, added up.
/// Throws std::invalid_argument where the three are not of as many ranks, or positions are no permutation.
ExchangeCounts embeddedCounts(const ExchangePattern& pattern, const Positions& positions, const NodeMap& nodes,
                              StepOrder order = StepOrder::Ascending);

/// Messages from each owner to each rank that needs something of it, and an all-reduce of lg K messages a rank, as the
/// paper counts it (K no power of two: as embeddedCounts()), along the ranks as they are numbered. mostVolume,
/// mostSent: what the rank with most sends and receives, or sends. Throws std::invalid_argument where the two are not
/// of as many ranks.
ExchangeCounts conventionalCounts(const ExchangePattern& pattern, const NodeMap& nodes);

}  // namespace capstan::topology
