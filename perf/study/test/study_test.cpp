#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "adapters/deck/dg_laplace.hpp"
#include "adapters/deck/matrix_market.hpp"
#include "perf/study/matrix_graph.hpp"
#include "perf/study/partition.hpp"
#include "perf/study/plan_json.hpp"
#include "tpetra_ext/topology/plan_simulation.hpp"

namespace capstan::study {
namespace {

deck::GeneratorOptions laplace(int cells) {
  deck::GeneratorOptions options;
  options.problem = "laplace2d";
  options.cells = {cells, cells};
  return deck::withDefaults(options);
}

/// A file that is gone when the test is done.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) : path_(testing::TempDir() + "capstan_study_test.mtx") {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// All entries of a graph, rows and columns.
std::map<std::pair<long long, long long>, int> entriesOf(const MatrixGraph& graph) {
  std::map<std::pair<long long, long long>, int> entries;
  for (std::size_t block = 0; block < static_cast<std::size_t>(graph.blocks()); ++block) {
    for (std::size_t k = graph.begin[block]; k < graph.begin[block + 1]; ++k) {
      for (int i = 0; i < graph.rowsOfBlock; ++i) {
        for (int j = 0; j < graph.rowsOfBlock; ++j) {
          ++entries[{static_cast<long long>(block) * graph.rowsOfBlock + i,
                     static_cast<long long>(graph.columns[k]) * graph.rowsOfBlock + j}];
        }
      }
    }
  }
  return entries;
}

TEST(MatrixGraph, OfElementsIsThatOfTheMatrix) {
  const auto mesh = deck::DgMesh::star(4, deck::DgNumbering::Appended);
  const MatrixGraph graph = graphOf(mesh, 2);
  const auto matrix = deck::dgLaplace(mesh, 2);
  EXPECT_EQ(graph.rows(), matrix.rows);
  EXPECT_EQ(graph.entries(), 81 * (mesh.elements() + 2 * mesh.innerSides()));
  const auto entries = entriesOf(graph);
  EXPECT_EQ(static_cast<long long>(entries.size()), graph.entries());
  for (long long i = 0; i < matrix.rows; ++i) {
    deck::MatrixRow row;
    matrix.row(i, row);
    for (const long long column : row.columns) EXPECT_EQ(entries.count({i, column}), 1u);
  }
}

TEST(MatrixGraph, OfFilesHoldsBothHalvesAndEachEntryOnce) {
  const TemporaryFile file(
      "%%MatrixMarket matrix coordinate real symmetric\n% text\n\n3 3 4\n1 1 2.0\n 2 1 -1.0\n3 2 -1\n3 2 -1\n");
  const MatrixGraph graph = graphOfFile(file.path());
  EXPECT_EQ(graph.rows(), 3);
  EXPECT_EQ(graph.entries(), 5);
  const auto entries = entriesOf(graph);
  for (const auto& at : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 2}, {2, 1}}) EXPECT_EQ(entries.count(at), 1u);
}

TEST(MatrixGraph, RefusesWhatIsNoSparseSquareMatrixAndWhatIsTooLarge) {
  const TemporaryFile dense("%%MatrixMarket matrix array real general\n1 1\n1\n");
  EXPECT_THROW(graphOfFile(dense.path()), deck::FileError);
  const TemporaryFile wide("%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 1\n");
  EXPECT_THROW(graphOfFile(wide.path()), deck::FileError);
  EXPECT_THROW(graphOfFile("/no/such/file.mtx"), deck::FileError);
  EXPECT_THROW(graphOf(deck::DgMesh::square(20000, 20000, deck::DgNumbering::Rows), 3), std::invalid_argument);
  EXPECT_THROW(graphOf(laplace(40000)), std::invalid_argument);
}

/// Needs of all ranks as text.
std::string needsOf(const topology::ExchangePattern& pattern) {
  std::string text;
  for (int rank = 0; rank < pattern.ranks(); ++rank) {
    const auto& needs = pattern.of(rank).needs;
    for (std::size_t k = 0; k < needs.size(); ++k) {
      text += "\n" + std::to_string(rank) + " of " + std::to_string(needs.peers[k]) + ":";
      for (const auto index : needs.list(k)) text += " " + std::to_string(index);
    }
  }
  return text;
}

TEST(Partition, PatternOfBlocksIsThatOfRows) {
  // 5 * 16 blocks of 4 rows: 7 ranks cut through blocks, 400 leave ranks empty.
  const auto mesh = deck::DgMesh::star(4, deck::DgNumbering::Nested);
  const MatrixGraph graph = graphOf(mesh, 1);
  const auto matrix = deck::dgLaplace(mesh, 1);
  for (const auto& name : partitionNames()) {
    for (const int ranks : {1, 2, 7, 64, 400}) {
      const auto partition = partitionOf(graph, name, ranks);
      const auto byRows = topology::patternOfMatrix(partition, [&](long long row, const auto& take) {
        deck::MatrixRow all;
        matrix.row(row, all);
        for (const long long column : all.columns) take(column);
      });
      EXPECT_EQ(needsOf(patternOf(graph, partition)), needsOf(byRows)) << name << ", " << ranks << " ranks";
    }
  }
}

TEST(Partition, OfTheGraphKeepsBlocksWholeAndIsEven) {
  if (partitionNames().size() < 2) GTEST_SKIP() << "built without Scotch";
  const MatrixGraph graph = graphOf(deck::DgMesh::square(16, 16, deck::DgNumbering::Rows), 1);
  const auto partition = partitionOf(graph, "graph", 8);
  for (long long row = 0; row < graph.rows(); ++row) {
    EXPECT_EQ(partition.ownerOf(row), partition.ownerOf(row / 4 * 4));
  }
  const long long mean = graph.entries() / 8;
  EXPECT_LE(mostEntriesOfARank(graph, partition), mean + mean / 5);
  // Parts of 32 elements have fewer neighbours' entries to fetch than two rows of the mesh.
  const auto values = [&](const char* name) {
    const auto pattern = patternOf(graph, partitionOf(graph, name, 8));
    std::size_t sum = 0;
    for (int rank = 0; rank < 8; ++rank) sum += pattern.of(rank).needs.entries.size();
    return sum;
  };
  EXPECT_LT(values("graph"), values("contiguous"));
}

TEST(Partition, RefusesOtherNamesAndNoRanks) {
  const MatrixGraph graph = graphOf(laplace(4));
  EXPECT_THROW(partitionOf(graph, "random", 2), std::invalid_argument);
  for (const auto& name : partitionNames()) EXPECT_THROW(partitionOf(graph, name, 0), std::invalid_argument);
}

TEST(Partition, OfAFileWithOneSidedCouplingsIsSplitToo) {
  const TemporaryFile file("%%MatrixMarket matrix coordinate pattern general\n4 4 5\n1 1\n2 1\n3 1\n4 1\n1 4\n");
  const MatrixGraph graph = graphOfFile(file.path());
  for (const auto& name : partitionNames()) {
    const auto pattern = patternOf(graph, partitionOf(graph, name, 2));
    EXPECT_EQ(pattern.ranks(), 2);
    EXPECT_EQ(pattern.of(0).owned + pattern.of(1).owned, 4);
  }
}

TEST(PlanJson, CountsALineOfRowsByHand) {
  // 4 x 4 points by 4 ranks, two a node: a rank has a line of points, and needs 4 values of each neighbour's.
  const MatrixGraph graph = graphOf(laplace(4));
  const auto pattern = patternOf(graph, partitionOf(graph, "contiguous", 4));
  const auto map = topology::NodeMap::uniform(4, 2);
  topology::PlanOptions options;
  const auto plans = topology::plansOf(options, map, pattern);
  EXPECT_EQ(topology::problemOf(plans, map, pattern), "");
  const auto counts = jsonOf(plans, map, options.strategy, 3);
  EXPECT_EQ(counts["network"]["messages"]["total"], 2);  // ranks 1 and 2 across the border of nodes
  EXPECT_EQ(counts["network"]["bytes"]["total"], 2 * 4 * 3 * 8);
  EXPECT_EQ(counts["network"]["bytes"]["most_of_a_rank"], 4 * 3 * 8);
  EXPECT_EQ(counts["on_node"]["messages"]["total"], 4);
  EXPECT_EQ(counts["most_bytes_of_a_message"], 4 * 3 * 8);
  EXPECT_EQ(counts["least_bytes_of_a_message"], 4 * 3 * 8);
  EXPECT_EQ(counts["most_nodes_of_a_rank"], 1);
}

}  // namespace
}  // namespace capstan::study
