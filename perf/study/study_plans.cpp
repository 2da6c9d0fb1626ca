/// \file
/// study_plans: the communication plans of many virtual ranks for one matrix, counted. `./capstan study` starts it.
///
/// One process, no MPI. It prints a line of JSON for the matrix, and one for each number of ranks.
/// Exit status: 0 counted, 1 a plan is wrong (with --check) or breaks inequality (4.4), 2 wrong input, 3 internal
/// error.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "adapters/deck/generators.hpp"
#include "adapters/deck/matrix_market.hpp"
#include "adapters/tools/terminal.hpp"
#include "perf/study/matrix_graph.hpp"
#include "perf/study/partition.hpp"
#include "perf/study/plan_json.hpp"
#include "tpetra_ext/topology/plan_simulation.hpp"

namespace {

using namespace capstan;
using Json = nlohmann::json;
constexpr int exitMisuse = 2, exitInternal = 3;

struct Arguments {
  std::string matrix;  // a file; empty: generated
  deck::GeneratorOptions generator;
  std::string partition = "contiguous";
  std::vector<int> ranks = {256};
  std::vector<int> columns = {1};
  int ranksPerNode = 16;
  long long eagerLimit = topology::defaultEagerLimit;
  std::vector<std::string> strategies;  // empty: all
  std::string messages;                 // a file; empty: none
  bool check = false;
};

std::vector<std::string> problemNames() {
  std::vector<std::string> names;
  for (const auto& row : deck::generatorNames()) {
    if (row.dimensions > 0) names.push_back(row.name);
  }
  return names;
}

std::optional<int> parse(int argc, char** argv, Arguments& arguments) {
  constexpr int mostRanks = 1 << 16;
  CLI::App app{"Counts the messages of communication plans for virtual ranks: one process, no MPI.", "study_plans"};
  auto& generator = arguments.generator;
  generator.problem = "dg_laplace2d";
  auto* file = app.add_option("--matrix", arguments.matrix, "a Matrix Market file, plain or gzip");
  app.add_option("--generate", generator.problem, "a problem of decks")
      ->check(CLI::IsMember(problemNames()))
      ->excludes(file);
  app.add_option("--cells", generator.cells, "of that, in each direction")->delimiter(',')->excludes(file);
  app.add_option("--degree", generator.degree, "of dg_laplace2d")->check(CLI::Range(1, 7))->excludes(file);
  app.add_option("--mesh", generator.mesh, "of dg_laplace2d")->check(CLI::IsMember({"square", "star"}))->excludes(file);
  app.add_option("--numbering", generator.numbering, "of dg_laplace2d")
      ->check(CLI::IsMember(deck::dgNumberingNames()))
      ->excludes(file);
  app.add_option("--partition", arguments.partition, "of the rows")->check(CLI::IsMember(study::partitionNames()));
  app.add_option("--ranks", arguments.ranks, "virtual ranks")->delimiter(',')->check(CLI::Range(1, mostRanks));
  app.add_option("--columns", arguments.columns, "of the block of vectors")->delimiter(',')->check(CLI::Range(1, 1024));
  app.add_option("--ranks-per-node", arguments.ranksPerNode, "the last node may have fewer")
      ->check(CLI::Range(1, mostRanks));
  app.add_option("--eager-limit", arguments.eagerLimit, "bytes; the strategy 'optimal' splits what is larger")
      ->check(CLI::Range(1LL, 1LL << 40));
  app.add_option("--strategies", arguments.strategies, "some of standard, two-step, three-step, optimal; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember({"standard", "two-step", "three-step", "optimal"}));
  app.add_option("--messages", arguments.messages, "write all messages into this file, for simulations");
  app.add_flag("--check", arguments.check, "execute every plan for all ranks, and compare what arrives");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;
    app.exit(error);
    return asked ? 0 : exitMisuse;
  }
  return std::nullopt;
}

study::MatrixGraph graphOf(const Arguments& arguments) {
  if (!arguments.matrix.empty()) return study::graphOfFile(arguments.matrix);
  auto options = arguments.generator;
  const auto dimensions = static_cast<std::size_t>(deck::findGenerator(options.problem)->dimensions);
  const bool sound = std::all_of(options.cells.begin(), options.cells.end(), [](int n) { return n >= 1; });
  if (!sound || (options.cells.size() > 1 && options.cells.size() != dimensions)) {
    throw std::invalid_argument(
        fmt::format("study_plans: --cells: found {} numbers; allowed: one, or one for each of {} directions, from 1 on",
                    options.cells.size(), dimensions));
  }
  options = deck::withDefaults(options);
  if (const auto problem = deck::generatorProblem(options); !problem.empty()) {
    throw std::invalid_argument("study_plans: --cells: found " + problem);
  }
  if (options.problem != "dg_laplace2d") return study::graphOf(options);
  const auto numbering = deck::dgNumberingNamed(options.numbering);
  return study::graphOf(options.mesh == "star" ? deck::DgMesh::star(options.cells[0], numbering)
                                               : deck::DgMesh::square(options.cells[0], options.cells[1], numbering),
                        options.degree);
}

/// One line of output: all strategies and numbers of columns for one number of ranks.
class Count {
 public:
  /// messages: where to write them, may be null.
  Count(const Arguments& arguments, const study::MatrixGraph& graph, int ranks, std::FILE* messages)
      : arguments_(arguments),
        messages_(messages),
        partition_(study::partitionOf(graph, arguments.partition, ranks)),
        pattern_(study::patternOf(graph, partition_)),
        map_(topology::NodeMap::uniform(ranks, arguments.ranksPerNode)) {
    long long mostRows = 0;
    for (int rank = 0; rank < ranks; ++rank) mostRows = std::max<long long>(mostRows, partition_.owned(rank));
    line_ = {{"ranks", ranks},
             {"nodes", map_.nodes()},
             {"ranks_per_node", map_.largestNode()},
             {"most_rows", mostRows},
             {"most_entries", study::mostEntriesOfARank(graph, partition_)},
             {"plans", Json::array()}};
  }

  const Json& run() {
    for (const auto strategy : topology::allStrategies) {
      const auto& wanted = arguments_.strategies;
      if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), nameOf(strategy)) == wanted.end()) continue;
      std::vector<topology::RankPlan> plans;
      for (const int columns : arguments_.columns) {
        // Only the sizes of messages tell the strategy 'optimal' what to do.
        if (plans.empty() || strategy == topology::Strategy::Optimal) plans = plansOf(strategy, columns);
        add(strategy, columns, plans);
      }
    }
    return line_;
  }

  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::vector<topology::RankPlan> plansOf(topology::Strategy strategy, int columns) {
    topology::PlanOptions options;
    options.strategy = strategy;
    options.columns = columns;
    options.eagerLimit = arguments_.eagerLimit;
    auto plans = topology::plansOf(options, map_, pattern_);
    if (arguments_.check) {
      if (const auto problem = topology::problemOf(plans, map_, pattern_); !problem.empty()) {
        fail(fmt::format("{}, {} columns: {}", nameOf(strategy), columns, problem));
      }
    }
    return plans;
  }

  void add(topology::Strategy strategy, int columns, const std::vector<topology::RankPlan>& plans) {
    line_["plans"].push_back(study::jsonOf(plans, map_, strategy, columns));
    requireInequality(strategy, columns, line_["plans"].back());
    if (messages_ != nullptr) writeMessages(strategy, columns, plans);
  }

  /// A line a message: ranks, strategy, columns, step, sender, receiver, values.
  void writeMessages(topology::Strategy strategy, int columns, const std::vector<topology::RankPlan>& plans) const {
    for (const auto& plan : plans) {
      for (const auto step : topology::allSteps) {
        const auto& sends = plan.at(step).sends;
        for (std::size_t k = 0; k < sends.size(); ++k) {
          fmt::print(messages_, "{} {} {} {} {} {} {}\n", map_.ranks(), nameOf(strategy), columns, nameOf(step),
                     plan.rank, sends.peers[k], sends.list(k).size());
        }
      }
    }
  }

  /// [enlarged-cg], inequality (4.4): what a rank sends to other nodes by 'optimal' lies between what it sends by
  /// three-step and the larger of what it sends by two-step and the ranks of a node.
  void requireInequality(topology::Strategy strategy, int columns, const Json& counts) {
    const auto sent = counts["network"]["messages"]["most_of_a_rank"].get<long long>();
    const auto nodes = counts["most_nodes_of_a_rank"].get<long long>();
    if (strategy == topology::Strategy::TwoStep) most_ = std::max<long long>(nodes, map_.largestNode());
    if (strategy == topology::Strategy::ThreeStep) least_ = sent;
    if (strategy != topology::Strategy::Optimal || most_ < 0 || (least_ <= sent && sent <= most_)) return;
    fail(fmt::format("{} columns: inequality (4.4) is broken: {} <= {} <= {}", columns, least_, sent, most_));
  }

  void fail(const std::string& problem) { problems_.push_back(fmt::format("{} ranks: {}", map_.ranks(), problem)); }

  const Arguments& arguments_;
  std::FILE* messages_;
  topology::RowPartition partition_;
  topology::ExchangePattern pattern_;
  topology::NodeMap map_;
  Json line_;
  long long least_ = 0, most_ = -1;  // most_: -1 without two-step
  std::vector<std::string> problems_;
};

void showProgress(const std::string& text) {
  if (!tools::progressWanted()) return;
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
}

int run(const Arguments& arguments) {
  showProgress("reading or generating the matrix");
  const auto graph = graphOf(arguments);
  fmt::print("{}\n", Json({{"matrix", graph.name},
                           {"rows", graph.rows()},
                           {"entries", graph.entries()},
                           {"partition", arguments.partition},
                           {"eager_limit", arguments.eagerLimit}})
                         .dump());
  const auto close = [](std::FILE* file) {
    if (file != nullptr) std::fclose(file);
  };
  const std::unique_ptr<std::FILE, decltype(close)> messages(
      arguments.messages.empty() ? nullptr : std::fopen(arguments.messages.c_str(), "w"), close);
  if (!arguments.messages.empty() && messages == nullptr) {
    throw std::invalid_argument(fmt::format("study_plans: --messages: '{}' cannot be written to", arguments.messages));
  }
  bool sound = true;
  for (const int ranks : arguments.ranks) {
    showProgress(fmt::format("{} ranks", ranks));
    Count count(arguments, graph, ranks, messages.get());
    fmt::print("{}\n", count.run().dump());
    std::fflush(stdout);
    for (const auto& problem : count.problems()) fmt::print(stderr, "study_plans: {}\n", problem);
    sound = sound && count.problems().empty();
  }
  showProgress("");
  return sound ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (const auto status = parse(argc, argv, arguments)) return *status;
  try {
    return run(arguments);
  } catch (const deck::FileError& error) {
    fmt::print(stderr, "{}\n", error.what());
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "{}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "study_plans: {}\n", error.what());
    return exitInternal;
  }
  return exitMisuse;
}
