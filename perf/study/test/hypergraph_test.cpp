#include "perf/study/hypergraph.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "adapters/deck/dg_laplace.hpp"
#include "adapters/deck/generators.hpp"
#include "perf/study/partition.hpp"
#include "tpetra_ext/topology/hypercube/embedded_counts.hpp"

namespace capstan::study {
namespace {

MatrixGraph square(int cells) {
  deck::GeneratorOptions options;
  options.problem = "laplace2d";
  options.cells = {cells, cells};
  return graphOf(deck::withDefaults(options));
}

long long volumeOf(const MatrixGraph& graph, const topology::RowPartition& partition) {
  const auto pattern = patternOf(graph, partition);
  return topology::conventionalCounts(pattern, topology::NodeMap::uniform(pattern.ranks(), 1)).volume;
}

TEST(Hypergraph, PartsAreEvenAndSendLittle) {
  const MatrixGraph graph = square(32);
  for (const int parts : {2, 7, 16}) {
    const auto partition = hypergraphPartition(graph, parts, 0.1);
    ASSERT_EQ(partition.ranks(), parts);
    EXPECT_EQ(partition.rows(), graph.rows());
    const double mean = static_cast<double>(graph.entries()) / parts;
    EXPECT_LE(static_cast<double>(mostEntriesOfARank(graph, partition)), 1.11 * mean) << parts;
    EXPECT_LT(volumeOf(graph, partition),
              volumeOf(graph, partitionOf(graph, "contiguous", parts)) + (parts == 2 ? 30 : 0));
  }
}

TEST(Hypergraph, IsTheSameEveryTime) {
  const MatrixGraph graph = square(20);
  const auto one = hypergraphPartition(graph, 8, 0.1), other = hypergraphPartition(graph, 8, 0.1);
  for (long long row = 0; row < graph.rows(); ++row) EXPECT_EQ(one.ownerOf(row), other.ownerOf(row));
}

TEST(Hypergraph, KeepsBlocksWhole) {
  const MatrixGraph graph = graphOf(deck::DgMesh::square(12, 12, deck::DgNumbering::Rows), 1);
  const auto partition = hypergraphPartition(graph, 6, 0.1);
  for (long long row = 0; row < graph.rows(); ++row) {
    EXPECT_EQ(partition.ownerOf(row), partition.ownerOf(row / 4 * 4));
  }
}

TEST(Hypergraph, TakesWhatIsSmallDenseOrDisconnected) {
  MatrixGraph none;  // no rows
  EXPECT_EQ(hypergraphPartition(none, 3, 0.1).ranks(), 3);
  MatrixGraph few = square(2);  // fewer rows than parts
  EXPECT_EQ(hypergraphPartition(few, 9, 0.1).rows(), 4);
  MatrixGraph empty;  // rows without entries
  empty.begin.assign(41, 0);
  const auto apart = hypergraphPartition(empty, 4, 0.1);
  EXPECT_EQ(volumeOf(empty, apart), 0);
  for (int part = 0; part < 4; ++part) EXPECT_GT(apart.owned(part), 0);
  EXPECT_EQ(hypergraphPartition(few, 1, 0.1).owned(0), 4);
}

TEST(Hypergraph, RefusesNoPartsAndNegativeImbalance) {
  EXPECT_THROW(hypergraphPartition(square(4), 0, 0.1), std::invalid_argument);
  EXPECT_THROW(hypergraphPartition(square(4), 2, -0.1), std::invalid_argument);
}

}  // namespace
}  // namespace capstan::study
