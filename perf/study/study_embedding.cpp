/// \file
/// study_embedding: exchanges embedded in an all-reduce of many virtual ranks, for one matrix, counted and mapped.
/// `./capstan study embedded` starts it.
///
/// One process; MPI is there for Zoltan alone. It prints a line of JSON for the matrix, and one for each number of
/// ranks. Exit status: 0 counted, 2 wrong input, 3 internal error.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "adapters/deck/matrix_market.hpp"
#include "perf/study/embedding_messages.hpp"
#include "perf/study/hypergraph.hpp"
#include "perf/study/matrix_graph.hpp"
#include "perf/study/partition.hpp"
#include "tpetra_ext/topology/hypercube/embedded_counts.hpp"

namespace {

using namespace capstan;
using Json = nlohmann::json;
constexpr int exitMisuse = 2, exitInternal = 3;

/// [nodes-][ordered-]klf: with the low dimensions within a node; from ranks in their order instead of at random.
std::vector<std::string> allMappings() {
  return {"random",       "klf",       "klr",       "ordered",           "ordered-klf",      "ordered-klr",
          "nodes-random", "nodes-klf", "nodes-klr", "nodes-ordered-klf", "nodes-ordered-klr"};
}

struct Arguments {
  std::string matrix;
  std::string partition = "hypergraph";
  double imbalance = 0.1;
  std::vector<int> ranks;
  int rowsPerRank = 4;
  int ranksPerNode = 16;
  int passesOfKlf = 10, passesOfKlr = 20;
  double threshold = topology::MappingOptions().threshold;
  std::vector<std::string> mappings = allMappings();
  std::uint64_t seed = 1;
  std::string messages;  // a file; empty: none
};

std::vector<std::string> allPartitions() {
  auto names = study::partitionNames();
  names.insert(names.begin(), "hypergraph");
  return names;
}

std::optional<int> parse(int argc, char** argv, Arguments& arguments) {
  constexpr int mostRanks = 1 << 14;
  CLI::App app{"Counts exchanges embedded in all-reduces of virtual ranks: one process.", "study_embedding"};
  app.add_option("--matrix", arguments.matrix, "a Matrix Market file, plain or gzip")->required();
  app.add_option("--partition", arguments.partition, "of the rows")->check(CLI::IsMember(allPartitions()));
  app.add_option("--imbalance", arguments.imbalance, "of the parts of a hypergraph")->check(CLI::Range(0.0, 10.0));
  app.add_option("--ranks", arguments.ranks, "virtual ranks")
      ->delimiter(',')
      ->check(CLI::Range(1, mostRanks))
      ->required();
  app.add_option("--rows-per-rank", arguments.rowsPerRank, "ranks with fewer on average are left out")
      ->check(CLI::Range(0, 1 << 30));
  app.add_option("--ranks-per-node", arguments.ranksPerNode, "the last node may have fewer")
      ->check(CLI::Range(1, mostRanks));
  app.add_option("--klf-passes", arguments.passesOfKlf, "at most")->check(CLI::Range(0, 1000));
  app.add_option("--klr-passes", arguments.passesOfKlr, "at most")->check(CLI::Range(0, 1000));
  app.add_option("--threshold", arguments.threshold, "a pass that saves less than this part of the cost is the last")
      ->check(CLI::Range(0.0, 0.999));
  app.add_option("--mappings", arguments.mappings, fmt::format("some of {}", fmt::join(allMappings(), ", ")))
      ->delimiter(',')
      ->check(CLI::IsMember(allMappings()));
  app.add_option("--seed", arguments.seed, "of the random mapping that the heuristics begin with");
  app.add_option("--messages", arguments.messages, "write all messages into this file, for simulations");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;
    app.exit(error);
    return asked ? 0 : exitMisuse;
  }
  return std::nullopt;
}

/// Seconds that `work` takes.
template <class Work>
double secondsOf(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Json jsonOf(const topology::ExchangeCounts& counts) {
  return {{"messages", counts.messages},
          {"most_messages", counts.mostMessages},
          {"volume", counts.volume},
          {"most_volume", counts.mostVolume},
          {"most_sent", counts.mostSent},
          {"network_messages", counts.networkMessages},
          {"network_volume", counts.networkVolume}};
}

bool hasWord(const std::string& mapping, const std::string& word) {
  return ("-" + mapping + "-").find("-" + word + "-") != std::string::npos;
}

topology::MappingOptions optionsOf(const Arguments& arguments, const std::string& mapping) {
  topology::MappingOptions options;
  options.heuristic = hasWord(mapping, "klf")   ? topology::MappingHeuristic::Klf
                      : hasWord(mapping, "klr") ? topology::MappingHeuristic::Klr
                                                : topology::MappingHeuristic::None;
  options.passes = options.heuristic == topology::MappingHeuristic::Klf ? arguments.passesOfKlf : arguments.passesOfKlr;
  options.threshold = arguments.threshold;
  options.ranksPerNode = hasWord(mapping, "nodes") ? arguments.ranksPerNode : 0;
  return options;
}

topology::RowPartition partitionOf(const Arguments& arguments, const study::MatrixGraph& graph, int ranks) {
  return arguments.partition == "hypergraph" ? study::hypergraphPartition(graph, ranks, arguments.imbalance)
                                             : study::partitionOf(graph, arguments.partition, ranks);
}

Json count(const Arguments& arguments, const study::MatrixGraph& graph, int ranks,
           const study::EmbeddingMessages& messages) {
  topology::RowPartition partition = topology::RowPartition::contiguous(0, 1);
  const double seconds = secondsOf([&] { partition = partitionOf(arguments, graph, ranks); });
  const auto pattern = study::patternOf(graph, partition);
  const auto nodes = topology::NodeMap::uniform(ranks, arguments.ranksPerNode);
  const double mean = static_cast<double>(graph.entries()) / ranks;
  Json line = {{"ranks", ranks},
               {"dimensions", topology::hypercubeDimensions(ranks)},
               {"partition_seconds", seconds},
               {"imbalance", static_cast<double>(study::mostEntriesOfARank(graph, partition)) / mean - 1},
               {"conventional", jsonOf(topology::conventionalCounts(pattern, nodes))},
               {"mappings", Json::array()}};
  messages.addConventional(pattern);
  const auto values = topology::sharedValuesOf(pattern);
  const auto random = topology::randomPositions(ranks, arguments.seed);
  const auto ordered = topology::orderedPositions(ranks);
  const long long randomCost = topology::mappingCost(values, random);
  for (const auto& mapping : arguments.mappings) {
    topology::MappingResult result;
    const auto& start = hasWord(mapping, "ordered") ? ordered : random;
    const double time =
        secondsOf([&] { result = topology::improveMapping(values, start, optionsOf(arguments, mapping)); });
    Json row = jsonOf(topology::embeddedCounts(pattern, result.positions, nodes));
    row["network_first"] =
        jsonOf(topology::embeddedCounts(pattern, result.positions, nodes, topology::StepOrder::Descending));
    row.update({{"mapping", mapping},
                {"seconds", time},
                {"passes", result.passes},
                {"cost", result.after},
                {"cost_of_random", randomCost}});
    line["mappings"].push_back(std::move(row));
    messages.addEmbedded(mapping, pattern, result.positions, topology::StepOrder::Ascending);
    messages.addEmbedded(mapping + "/network-first", pattern, result.positions, topology::StepOrder::Descending);
  }
  return line;
}

int run(const Arguments& arguments) {
  const auto graph = study::graphOfFile(arguments.matrix);
  fmt::print("{}\n", Json({{"matrix", graph.name},
                           {"rows", graph.rows()},
                           {"entries", graph.entries()},
                           {"partition", arguments.partition}})
                         .dump());
  const study::EmbeddingMessages messages(arguments.messages);
  for (const int ranks : arguments.ranks) {
    if (graph.rows() < static_cast<long long>(arguments.rowsPerRank) * ranks) continue;
    fmt::print("{}\n", count(arguments, graph, ranks, messages).dump());
    std::fflush(stdout);
  }
  return 0;
}

int guarded(const Arguments& arguments) {
  try {
    return run(arguments);
  } catch (const deck::FileError& error) {
    fmt::print(stderr, "{}\n", error.what());
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "{}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "study_embedding: {}\n", error.what());
    return exitInternal;
  }
  return exitMisuse;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (const auto status = parse(argc, argv, arguments)) return *status;
  MPI_Init(&argc, &argv);
  const int status = guarded(arguments);
  MPI_Finalize();
  return status;
}
