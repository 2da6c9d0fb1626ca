#pragma once

/// \file
/// Which position of a hypercube each rank takes, so that values embedded in an all-reduce travel few steps.
///
/// In step d of an all-reduce by bidirectional exchange, position p talks to p XOR 2^d. A value that ranks on both
/// sides of that step have to do with is part of the messages of the step. Source: [embedded-cg], section 5. Plain
/// data: one process, no MPI, everything local and the same every time.

#include <cstdint>
#include <vector>

#include "tpetra_ext/topology/exchange_pattern.hpp"
#include "tpetra_ext/topology/hypercube/hypercube.hpp"

namespace capstan::topology {

/// Values that the same ranks have to do with: their owner and those who need them.
struct SharedValues {
  std::vector<int> ranks;  ///< ascending, the owner among them; at least two
  long long count = 0;     ///< of values
};

/// Of a pattern of all ranks, values with the same ranks counted together, in ascending order of the ranks. Entries
/// that nobody else needs are left out.
std::vector<SharedValues> sharedValuesOf(const ExchangePattern& pattern);

/// Each permutation equally likely, the same for a seed on any machine. Throws std::invalid_argument for ranks < 1.
Positions randomPositions(int ranks, std::uint64_t seed);

/// Cost of a mapping, equations (3) and (4) of the paper: for each value the number of steps in which it is part of a
/// message. A folded rank counts with the bits of the position it goes through; the steps that fold are not counted.
/// Throws std::invalid_argument where positions are no permutation, or a rank is not one of theirs.
long long mappingCost(const std::vector<SharedValues>& values, const Positions& positions);

/// Of the paper's heuristics: KLF swaps any two ranks, KLR those only that talk to each other in the all-reduce. Both
/// are of Kernighan and Lin's kind: a pass swaps each rank once at most, always the best swap that is left, even if it
/// makes things worse, and keeps what it did up to the best moment.
///
/// K ranks, D dimensions, values shared by n ranks in V lists. KLR: a pass begins with O(D sum n) operations; a swap
/// then takes O(n) for each list that one of the two is in, and O(lg K) for each swap that gains or loses by it. KLF: a
/// swap takes O(K D) and the lists' O(sum n) for each rank that shares a value with one of the two, and for each whose
/// best swap was with one of these.
enum class MappingHeuristic { None, Klf, Klr };

struct MappingOptions {
  MappingHeuristic heuristic = MappingHeuristic::Klr;
  int passes = 20;          ///< at most; the paper has 10 for KLF, 20 for KLR
  double threshold = 1e-4;  ///< a pass that saves less than this part of the cost is the last
  /// Ranks 0..n-1 share a node, n..2n-1 the next one, and so on: the low dimensions then lie within a node. First nodes
  /// are mapped to the high dimensions, then ranks within their node to the low ones, by the same heuristic. Goes
  /// beyond the paper. Where n is no power of two, the parts of a node that have as many ranks as the largest power of
  /// two that divides n take the place of nodes: for 24 those of 8 ranks, for odd n there is nothing to group. 0: no
  /// nodes.
  int ranksPerNode = 0;
};

/// How many ranks of a node, one after the other, can lie in the low dimensions together: see MappingOptions. 1 where
/// ranksPerNode is 0 or all ranks share a node. Throws std::invalid_argument for ranks < 1 or ranksPerNode < 0.
int ranksPerGroup(int ranks, int ranksPerNode);

struct MappingResult {
  Positions positions;
  long long before = 0, after = 0;  ///< mappingCost()
  int passes = 0;                   ///< of all levels
};

/// Improves `start`. With nodes, groups and ranks within them begin in the order in which start has them (the group by
/// the first of its ranks). Without a heuristic the result is that beginning. The result never costs more than the
/// beginning; with nodes it may cost more than `start`, since ranks must stay together. Throws std::invalid_argument
/// for options out of range, and as mappingCost() does.
MappingResult improveMapping(const std::vector<SharedValues>& values, const Positions& start,
                             const MappingOptions& options);

/// The positions alone; `ranks` must be that of `start`.
Positions mapToHypercube(int ranks, const std::vector<SharedValues>& values, Positions start,
                         const MappingOptions& options);

}  // namespace capstan::topology
