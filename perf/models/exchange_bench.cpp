/// \file
/// How long the exchanges of a product take by each communication strategy, on the ranks of this job. perf/models/run
/// starts it and compares with the models.
///
/// The matrix is that of deck::dgLaplace() on a square. Nodes are imagined (--ranks-per-node). Rank 0 prints one object
/// of JSON. Exit status: 0 measured, 2 wrong use.

#include <mpi.h>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "adapters/deck/dg_mesh.hpp"
#include "perf/study/matrix_graph.hpp"
#include "perf/study/partition.hpp"
#include "perf/study/plan_json.hpp"
#include "tpetra_ext/topology/exchange/block_exchange.hpp"
#include "tpetra_ext/topology/exchange/distributed_pattern.hpp"
#include "tpetra_ext/types.hpp"

namespace {

using namespace capstan;
using Json = nlohmann::json;
using Types = DefaultTypes;
using Exchange = topology::BlockExchange<Types>;
using Block = Kokkos::View<double**, Kokkos::LayoutLeft, Types::DeviceType>;

struct Arguments {
  int cells = 32, degree = 3, ranksPerNode = 2, iterations = 50, trials = 5;
  std::vector<int> columns = {1, 5, 20};
  long long eagerLimit = topology::defaultEagerLimit;
};

/// Seconds of one exchange on the slowest rank; the least of the trials, which nobody disturbed. Collective.
double secondsOf(Exchange& exchange, const Block& block, const Arguments& arguments) {
  const Exchange::Own own(block.data(), block.extent(0), block.extent(1));
  double best = 1e30;
  for (int trial = 0; trial <= arguments.trials; ++trial) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int k = 0; k < arguments.iterations; ++k) {
      exchange.start(own);
      exchange.finish();
    }
    double mine = (MPI_Wtime() - start) / arguments.iterations, slowest = 0.0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (trial > 0) best = std::min(best, slowest);  // the first one sets up messages
  }
  return best;
}

Json measure(const Arguments& arguments, int rank, int ranks) {
  const auto graph =
      study::graphOf(deck::DgMesh::square(arguments.cells, arguments.cells, deck::DgNumbering::Rows), arguments.degree);
  const auto pattern = study::patternOf(graph, study::partitionOf(graph, "contiguous", ranks));
  const auto map = topology::NodeMap::uniform(ranks, arguments.ranksPerNode);
  const auto channel = ranks > 1 ? std::make_shared<topology::Channel>(MPI_COMM_WORLD) : nullptr;
  const auto& mine = pattern.of(rank);
  const topology::DistributedPattern distributed(channel, map, mine.owned, mine.needs);
  Json result = {{"ranks", ranks},        {"nodes", map.nodes()},       {"ranks_per_node", map.largestNode()},
                 {"rows", graph.rows()},  {"entries", graph.entries()}, {"matrix", graph.name},
                 {"plans", Json::array()}};
  for (const auto strategy : topology::allStrategies) {
    for (const int columns : arguments.columns) {
      topology::PlanOptions options;
      options.strategy = strategy;
      options.columns = columns;
      options.eagerLimit = arguments.eagerLimit;
      Exchange exchange(channel, std::make_shared<const topology::RankPlan>(distributed.plan(options)));
      const Block block("block", static_cast<std::size_t>(mine.owned), static_cast<std::size_t>(columns));
      Json plan = study::jsonOf(topology::plansOf(options, map, pattern), map, strategy, columns);
      plan["seconds"] = secondsOf(exchange, block, arguments);
      result["plans"].push_back(std::move(plan));
    }
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize();
  int rank = 0, ranks = 1, status = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Arguments arguments;
  CLI::App app{"Times the exchanges of a product with a discontinuous Galerkin matrix.", "exchange_bench"};
  app.add_option("--cells", arguments.cells, "along each side of the square")->check(CLI::Range(1, 4096));
  app.add_option("--degree", arguments.degree, "of the elements")->check(CLI::Range(1, 7));
  app.add_option("--ranks-per-node", arguments.ranksPerNode, "of imagined nodes")->check(CLI::Range(1, 1 << 20));
  app.add_option("--columns", arguments.columns, "of the block")->delimiter(',')->check(CLI::Range(1, 1024));
  app.add_option("--eager-limit", arguments.eagerLimit, "bytes")->check(CLI::Range(1LL, 1LL << 40));
  app.add_option("--iterations", arguments.iterations, "exchanges of a trial")->check(CLI::Range(1, 1000000));
  app.add_option("--trials", arguments.trials, "the fastest counts")->check(CLI::Range(1, 1000));
  try {
    app.parse(argc, argv);
    const Json result = measure(arguments, rank, ranks);
    if (rank == 0) std::cout << result.dump() << std::endl;
  } catch (const CLI::ParseError& error) {
    status = error.get_exit_code() == 0 ? 0 : 2;
    if (rank == 0) app.exit(error);
  }
  Kokkos::finalize();
  MPI_Finalize();
  return status;
}
