#include "perf/study/partition.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <stdexcept>

#ifdef CAPSTAN_STUDY_SCOTCH
#include <cstdint>
// scotch.h wants both.
#include <scotch.h>
#endif

namespace capstan::study {
namespace {

#ifdef CAPSTAN_STUDY_SCOTCH

/// The graph as Scotch takes it: both directions of every coupling, and no loops.
struct Neighbours {
  std::vector<SCOTCH_Num> begin, weights, list;
};

Neighbours neighboursOf(const MatrixGraph& graph) {
  const auto blocks = static_cast<std::size_t>(graph.blocks());
  std::vector<std::vector<SCOTCH_Num>> lists(blocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t k = graph.begin[block]; k < graph.begin[block + 1]; ++k) {
      const auto other = static_cast<std::size_t>(graph.columns[k]);
      if (other == block) continue;
      lists[block].push_back(static_cast<SCOTCH_Num>(other));
      lists[other].push_back(static_cast<SCOTCH_Num>(block));
    }
  }
  Neighbours neighbours;
  neighbours.begin.push_back(0);
  for (std::size_t block = 0; block < blocks; ++block) {
    auto& list = lists[block];
    std::sort(list.begin(), list.end());
    neighbours.list.insert(neighbours.list.end(), list.begin(), std::unique(list.begin(), list.end()));
    neighbours.begin.push_back(static_cast<SCOTCH_Num>(neighbours.list.size()));
    // In blocks of columns: the number of entries without the factor that all have.
    neighbours.weights.push_back(
        std::max<SCOTCH_Num>(1, static_cast<SCOTCH_Num>(graph.begin[block + 1] - graph.begin[block])));
    std::vector<SCOTCH_Num>().swap(list);
  }
  return neighbours;
}

/// The part of each block of rows.
std::vector<int> scotchParts(const MatrixGraph& graph, int parts) {
  const Neighbours neighbours = neighboursOf(graph);
  std::vector<SCOTCH_Num> part(static_cast<std::size_t>(graph.blocks()));
  SCOTCH_Graph data;
  SCOTCH_Strat strategy;
  SCOTCH_randomReset();
  bool failed = SCOTCH_graphInit(&data) != 0 || SCOTCH_stratInit(&strategy) != 0;
  failed =
      failed || SCOTCH_graphBuild(&data, 0, static_cast<SCOTCH_Num>(part.size()), neighbours.begin.data(), nullptr,
                                  neighbours.weights.data(), nullptr, static_cast<SCOTCH_Num>(neighbours.list.size()),
                                  neighbours.list.data(), nullptr) != 0;
  failed =
      failed || SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATRECURSIVE, static_cast<SCOTCH_Num>(parts), 0.05) != 0;
  failed = failed || SCOTCH_graphPart(&data, static_cast<SCOTCH_Num>(parts), &strategy, part.data()) != 0;
  SCOTCH_stratExit(&strategy);
  SCOTCH_graphExit(&data);
  if (failed) throw std::runtime_error("study: Scotch could not split the graph into " + std::to_string(parts));
  return {part.begin(), part.end()};
}

#endif

}  // namespace

const std::vector<std::string>& partitionNames() {
#ifdef CAPSTAN_STUDY_SCOTCH
  static const std::vector<std::string> names = {"contiguous", "graph"};
#else
  static const std::vector<std::string> names = {"contiguous"};
#endif
  return names;
}

topology::RowPartition partitionOf(const MatrixGraph& graph, const std::string& name, int ranks) {
  if (name == "contiguous") return topology::RowPartition::contiguous(graph.rows(), ranks);
#ifdef CAPSTAN_STUDY_SCOTCH
  if (name == "graph") {
    if (ranks < 1) throw std::invalid_argument("study: ranks: " + std::to_string(ranks) + "; allowed: 1 or more");
    const std::vector<int> parts = scotchParts(graph, ranks);
    std::vector<int> owners;
    owners.reserve(static_cast<std::size_t>(graph.rows()));
    for (const int part : parts) owners.insert(owners.end(), static_cast<std::size_t>(graph.rowsOfBlock), part);
    return topology::RowPartition::fromOwners(std::move(owners), ranks);
  }
#endif
  throw std::invalid_argument("study: partition '" + name + "'; allowed: " + partitionNames().front() +
                              (partitionNames().size() > 1 ? ", graph" : " (graph: built without Scotch)"));
}

topology::ExchangePattern patternOf(const MatrixGraph& graph, const topology::RowPartition& partition) {
  // Rows of a block have the same columns: the first one of a rank speaks for all.
  long long lastBlock = -1;
  int lastRank = -1;
  return topology::patternOfMatrix(partition, [&](long long row, const auto& take) {
    const long long block = row / graph.rowsOfBlock;
    const int rank = partition.ownerOf(row);
    if (block == lastBlock && rank == lastRank) return;
    lastBlock = block;
    lastRank = rank;
    const auto at = static_cast<std::size_t>(block);
    for (std::size_t k = graph.begin[at]; k < graph.begin[at + 1]; ++k) {
      const long long first = static_cast<long long>(graph.columns[k]) * graph.rowsOfBlock;
      for (int j = 0; j < graph.rowsOfBlock; ++j) take(first + j);
    }
  });
}

long long mostEntriesOfARank(const MatrixGraph& graph, const topology::RowPartition& partition) {
  long long most = 0;
  for (int rank = 0; rank < partition.ranks(); ++rank) {
    long long entries = 0;
    for (const long long row : partition.rowsOf(rank)) {
      const auto block = static_cast<std::size_t>(row / graph.rowsOfBlock);
      entries += graph.entriesOf(block) / graph.rowsOfBlock;
    }
    most = std::max(most, entries);
  }
  return most;
}

}  // namespace capstan::study
