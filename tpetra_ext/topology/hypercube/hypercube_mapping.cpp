#include "tpetra_ext/topology/hypercube/hypercube_mapping.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "tpetra_ext/topology/hypercube/all_swaps.hpp"
#include "tpetra_ext/topology/hypercube/neighbour_swaps.hpp"
#include "tpetra_ext/topology/hypercube/receivers.hpp"

namespace capstan::topology {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw std::invalid_argument("capstan: mapping to a hypercube: " + text);
}

void requireRanks(int ranks) {
  if (ranks < 1) refuse("ranks: " + std::to_string(ranks) + "; allowed: 1 or more");
}

void requireValues(const std::vector<SharedValues>& values, int ranks) {
  for (const SharedValues& value : values) {
    const auto& list = value.ranks;
    const bool ascending = std::adjacent_find(list.begin(), list.end(), std::greater_equal<int>()) == list.end();
    if (list.size() < 2 || !ascending || list.front() < 0 || list.back() >= ranks) {
      refuse("the ranks of a shared value; allowed: two or more, ascending, from 0 to " + std::to_string(ranks - 1));
    }
    if (value.count < 0)
      refuse("the number of shared values is " + std::to_string(value.count) + "; allowed: 0 or more");
  }
}

void requireOptions(const MappingOptions& options) {
  if (options.passes < 0) refuse("passes: " + std::to_string(options.passes) + "; allowed: 0 or more");
  if (!(options.threshold >= 0 && options.threshold < 1)) {
    refuse("threshold: " + std::to_string(options.threshold) + "; allowed: from 0 to below 1");
  }
}

std::vector<SharedValues> listOf(const std::map<std::vector<int>, long long>& counts) {
  std::vector<SharedValues> values;
  for (const auto& [ranks, count] : counts) values.push_back({ranks, count});
  return values;
}

/// Runs passes of one heuristic; returns their number.
template <class Search>
int runPasses(MappingProblem& problem, const MappingOptions& options) {
  for (int pass = 0; pass < options.passes; ++pass) {
    Search search(problem);
    const long long cost = search.counts().cost();
    std::vector<Swap> done;
    long long saved = 0, mostSaved = 0;
    std::size_t kept = 0;
    while (const auto swap = search.best()) {
      search.apply(*swap);
      done.push_back(*swap);
      saved += swap->gain;
      if (saved > mostSaved) {
        mostSaved = saved;
        kept = done.size();
      }
    }
    for (std::size_t k = 0; k < kept; ++k) {
      std::swap(problem.positions[static_cast<std::size_t>(done[k].a)],
                problem.positions[static_cast<std::size_t>(done[k].b)]);
    }
    if (kept == 0 || static_cast<double>(mostSaved) < options.threshold * static_cast<double>(cost)) return pass + 1;
  }
  return options.passes;
}

int improve(MappingProblem& problem, const MappingOptions& options) {
  switch (options.heuristic) {
    case MappingHeuristic::Klf:
      return runPasses<AllSwaps>(problem, options);
    case MappingHeuristic::Klr:
      return runPasses<NeighbourSwaps>(problem, options);
    case MappingHeuristic::None:
      break;
  }
  return 0;
}

/// Values by the groups that have to do with them; those of one group are nobody else's matter.
std::vector<SharedValues> valuesOfGroups(const std::vector<SharedValues>& values, int ranksPerGroup) {
  std::map<std::vector<int>, long long> counts;
  std::vector<int> groups;
  for (const SharedValues& value : values) {
    groups.clear();
    for (const int rank : value.ranks) {
      if (groups.empty() || groups.back() != rank / ranksPerGroup) groups.push_back(rank / ranksPerGroup);
    }
    if (groups.size() > 1) counts[groups] += value.count;
  }
  return listOf(counts);
}

/// Ranks, or groups of them, in the order of their positions. The last group, if it is smaller, stays the last.
std::vector<int> orderOf(const Positions& positions) {
  std::vector<int> order(positions.size());
  for (std::size_t rank = 0; rank < positions.size(); ++rank) {
    order[static_cast<std::size_t>(positions[rank])] = static_cast<int>(rank);
  }
  return order;
}

/// Maps groups of ranks to the high dimensions, then ranks within them to the low ones. 2^D / perGroup groups make a
/// hypercube, full ones beyond it are folded through these, and so is one that is not full: it comes last.
int improveGrouped(const std::vector<SharedValues>& values, int perGroup, const MappingOptions& options,
                   Positions& positions) {
  const int ranks = static_cast<int>(positions.size());
  const int dimensions = hypercubeDimensions(ranks), low = hypercubeDimensions(perGroup);
  const int groups = (ranks + perGroup - 1) / perGroup, full = ranks / perGroup;
  const std::vector<int> order = orderOf(positions);
  MappingProblem upper;
  upper.dimensions = dimensions - low;
  upper.positions.assign(static_cast<std::size_t>(groups), groups - 1);
  upper.group.assign(static_cast<std::size_t>(groups), 0);
  if (full < groups) upper.group.back() = 1;
  std::vector<char> isPlaced(static_cast<std::size_t>(groups), 0);
  int next = 0;
  for (const int rank : order) {
    const auto group = static_cast<std::size_t>(rank / perGroup);
    if (rank / perGroup < full && !std::exchange(isPlaced[group], 1)) upper.positions[group] = next++;
  }
  upper.values = valuesOfGroups(values, perGroup);
  int passes = improve(upper, options);

  MappingProblem lower{dimensions, Positions(positions.size()), {}, values};
  std::vector<int> placed(static_cast<std::size_t>(groups), 0);
  for (const int rank : order) {
    const auto group = static_cast<std::size_t>(rank / perGroup);
    lower.positions[static_cast<std::size_t>(rank)] = upper.positions[group] * perGroup + placed[group]++;
  }
  for (int rank = 0; rank < ranks; ++rank) lower.group.push_back(rank / perGroup);
  passes += improve(lower, options);
  positions = std::move(lower.positions);
  return passes;
}

}  // namespace

std::vector<SharedValues> sharedValuesOf(const ExchangePattern& pattern) {
  std::map<std::vector<int>, long long> counts;
  for (int owner = 0; owner < pattern.ranks(); ++owner) {
    for (SentValues& sent : sentValuesOf(pattern.of(owner))) {
      auto& ranks = sent.receivers;
      ranks.insert(std::lower_bound(ranks.begin(), ranks.end(), owner), owner);
      counts[ranks] += sent.count;
    }
  }
  return listOf(counts);
}

Positions randomPositions(int ranks, std::uint64_t seed) {
  Positions positions = orderedPositions(ranks);
  // Not std::shuffle: standard libraries differ in what they make of the same bits.
  std::mt19937_64 bits(seed);
  for (std::size_t k = positions.size() - 1; k > 0; --k) std::swap(positions[k], positions[bits() % (k + 1)]);
  return positions;
}

long long mappingCost(const std::vector<SharedValues>& values, const Positions& positions) {
  requirePermutation(positions);
  requireValues(values, static_cast<int>(positions.size()));
  const int dimensions = hypercubeDimensions(static_cast<int>(positions.size()));
  long long cost = 0;
  for (const SharedValues& value : values) {
    std::uint32_t all = ~0U, any = 0;
    for (const int rank : value.ranks) {
      const std::uint32_t corner = cornerOf(positions[static_cast<std::size_t>(rank)], dimensions);
      all &= corner;
      any |= corner;
    }
    cost += value.count * __builtin_popcount(all ^ any);
  }
  return cost;
}

int ranksPerGroup(int ranks, int ranksPerNode) {
  requireRanks(ranks);
  if (ranksPerNode < 0) refuse("ranks per node: " + std::to_string(ranksPerNode) + "; allowed: 0 or more");
  if (ranksPerNode == 0 || ranksPerNode >= ranks) return 1;
  return ranksPerNode & -ranksPerNode;
}

MappingResult improveMapping(const std::vector<SharedValues>& values, const Positions& start,
                             const MappingOptions& options) {
  MappingResult result;
  result.before = mappingCost(values, start);
  requireOptions(options);
  const int ranks = static_cast<int>(start.size());
  const int perGroup = ranksPerGroup(ranks, options.ranksPerNode);
  if (perGroup > 1) {
    result.positions = start;
    result.passes = improveGrouped(values, perGroup, options, result.positions);
  } else {
    MappingProblem problem{hypercubeDimensions(ranks), start, std::vector<int>(start.size(), 0), values};
    result.passes = improve(problem, options);
    result.positions = std::move(problem.positions);
  }
  result.after = mappingCost(values, result.positions);
  return result;
}

Positions mapToHypercube(int ranks, const std::vector<SharedValues>& values, Positions start,
                         const MappingOptions& options) {
  if (ranks != static_cast<int>(start.size())) {
    refuse(std::to_string(start.size()) + " positions for " + std::to_string(ranks) + " ranks; allowed: one each");
  }
  return improveMapping(values, start, options).positions;
}

}  // namespace capstan::topology
