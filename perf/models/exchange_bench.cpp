/// \file
/// How long the exchanges of a product take by each communication strategy, on the ranks of this job. perf/models/run
/// starts it and compares with the models. With --tuned: what "Communication Strategy" tuned chooses, set-up by set-up,
/// against the standard plan: how much faster its products are, what the set-up costs, and how many pay it back.
///
/// The matrix is that of deck::dgLaplace() on a square. Nodes are imagined (--ranks-per-node). Rank 0 prints one object
/// of JSON, with --tuned a table. Exit status: 0 measured, 2 wrong use.

#include <mpi.h>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "adapters/deck/dg_laplace.hpp"
#include "adapters/deck/dg_mesh.hpp"
#include "perf/study/matrix_graph.hpp"
#include "perf/study/partition.hpp"
#include "perf/study/plan_json.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/node_queue.hpp"
#include "tpetra_ext/operators/preconditioned_operator.hpp"
#include "tpetra_ext/operators/tuned_exchange.hpp"
#include "tpetra_ext/topology/exchange/block_exchange.hpp"
#include "tpetra_ext/topology/exchange/channel.hpp"
#include "tpetra_ext/topology/exchange/distributed_pattern.hpp"
#include "tpetra_ext/types.hpp"

namespace {

using namespace capstan;
using Json = nlohmann::json;
using Types = DefaultTypes;
using Operator = Types::Operator;
using Matrix = Teuchos::RCP<const Types::CrsMatrix>;
using Exchange = topology::BlockExchange<Types>;
using Block = Kokkos::View<double**, Kokkos::LayoutLeft, Types::DeviceType>;

struct Arguments {
  int cells = 32, degree = 3, ranksPerNode = 2, iterations = 50, trials = 5, tuned = 0, copies = 8;
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
      Exchange exchange(nodeQueue<Types>(), channel,
                        std::make_shared<const topology::RankPlan>(distributed.plan(options)));
      const Block block("block", static_cast<std::size_t>(mine.owned), static_cast<std::size_t>(columns));
      Json plan = study::jsonOf(topology::plansOf(options, map, pattern), map, strategy, columns);
      plan["seconds"] = secondsOf(exchange, block, arguments);
      result["plans"].push_back(std::move(plan));
    }
  }
  return result;
}

Matrix matrixOf(const Arguments& arguments) {
  const auto rows = deck::dgLaplace(deck::DgMesh::square(arguments.cells, arguments.cells, deck::DgNumbering::Rows),
                                    arguments.degree);
  const auto map =
      Teuchos::rcp(new Types::Map(static_cast<Tpetra::global_size_t>(rows.rows), 0, Tpetra::getDefaultComm()));
  const auto matrix = Teuchos::rcp(new Types::CrsMatrix(map, static_cast<std::size_t>(rows.entriesInRow)));
  deck::MatrixRow entries;
  for (const auto row : compat::localElementList(*map)) {
    entries = {};
    rows.row(row, entries);
    const std::vector<Types::GlobalOrdinal> columns(entries.columns.begin(), entries.columns.end());
    matrix->insertGlobalValues(row, Teuchos::arrayViewFromVector(columns),
                               Teuchos::arrayViewFromVector(entries.values));
  }
  matrix->fillComplete();
  return matrix;
}

/// Seconds of a product with each, on the slowest rank, the least of the trials; in turn, so that whatever else the
/// machine does meets them alike. Collective.
std::vector<double> secondsOfProducts(const Matrix& matrix, const std::vector<Teuchos::RCP<const Operator>>& products,
                                      const Arguments& arguments) {
  // As solvers have them: the matrix' own exchange goes with a product for blocks, too.
  std::vector<std::unique_ptr<PreconditionedOperator<Types>>> all;
  for (const auto& product : products) {
    all.push_back(std::make_unique<PreconditionedOperator<Types>>(matrix, Teuchos::null, Teuchos::null));
    if (product != matrix) all.back()->exchangeProduct(product);
  }
  const auto& first = *matrix;
  Types::MultiVector x(first.getDomainMap(), static_cast<std::size_t>(arguments.columns.front()));
  Types::MultiVector y(first.getRangeMap(), static_cast<std::size_t>(arguments.columns.front()));
  x.putScalar(1);
  std::vector<double> best(all.size(), std::numeric_limits<double>::infinity());
  for (int trial = 0; trial <= arguments.trials; ++trial) {
    for (std::size_t turn = 0; turn < all.size(); ++turn) {
      // Nobody is always the first, whose data the last one has pushed out.
      const std::size_t k = (turn + static_cast<std::size_t>(trial)) % all.size();
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      for (int i = 0; i < arguments.iterations; ++i) all[k]->applyA(x, y);
      double mine = (MPI_Wtime() - start) / arguments.iterations, slowest = 0;
      MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (trial > 0) best[k] = std::min(best[k], slowest);  // the first one sets up messages
    }
  }
  return best;
}

/// The table of --tuned. Collective.
void compareTuned(const Arguments& arguments) {
  const auto matrix = matrixOf(arguments);
  const auto comm = matrix->getComm();
  const bool prints = comm->getRank() == 0;
  const auto channel = topology::Channel::of(*comm);
  TuningOptions tuning;
  tuning.columns = arguments.columns.front();
  tuning.ranksPerNode = arguments.ranksPerNode;
  if (channel != nullptr) tuning.eagerLimit = channel->eagerLimit();
  const auto standard = [&] {
    return productBy<Types>(matrix, exchangeBy<Types>(*matrix, topology::PlanOptions(), arguments.ranksPerNode))
        .product;
  };
  if (prints) {
    std::printf("%lld rows, %lld entries, %d columns, %d ranks, %d a node\n\n",
                static_cast<long long>(matrix->getGlobalNumRows()),
                static_cast<long long>(matrix->getGlobalNumEntries()), arguments.columns.front(), comm->getSize(),
                arguments.ranksPerNode);
    std::printf("%-7s %-14s %10s %10s %12s %8s %8s %10s\n", "set-up", "chosen", "seconds", "chosen us", "standard us",
                "ratio", "noise", "paid back");
  }
  double worst = 0, noisiest = 0;
  for (int setup = 1; setup <= arguments.tuned; ++setup) {
    const TunedExchange tuned = tuneExchange<Types>(matrix, tuning);
    // The standard plan twice: what differs between them is the machine's. All are made anew some times, since where
    // their memory happens to lie is worth some per cent, too.
    std::vector<double> seconds(3, std::numeric_limits<double>::infinity());
    for (int copy = 0; copy < arguments.copies; ++copy) {
      const auto again =
          secondsOfProducts(matrix, {productBy<Types>(matrix, tuned).product, standard(), standard()}, arguments);
      for (std::size_t k = 0; k < seconds.size(); ++k) seconds[k] = std::min(seconds[k], again[k]);
    }
    const double ratio = seconds[0] / seconds[1], noise = seconds[2] / seconds[1];
    worst = std::max(worst, ratio);
    noisiest = std::max({noisiest, noise, 1 / noise});
    if (!prints) continue;
    const std::string paid = std::isfinite(tuned.paidBackBy()) ? std::to_string(std::lround(tuned.paidBackBy())) : "-";
    std::printf("%-7d %-14s %10.4f %10.1f %12.1f %8.3f %8.3f %10s\n", setup, tuned.name.c_str(), tuned.setupSeconds,
                1e6 * seconds[0], 1e6 * seconds[1], ratio, noise, paid.c_str());
  }
  if (prints) {
    std::printf("\nworst ratio to standard: %.3f (wanted: at most 1.03); of standard to itself: %.3f\n", worst,
                noisiest);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Tpetra::ScopeGuard scope(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Arguments arguments;
  CLI::App app{"Times the exchanges of a product with a discontinuous Galerkin matrix.", "exchange_bench"};
  app.add_option("--cells", arguments.cells, "along each side of the square")->check(CLI::Range(1, 4096));
  app.add_option("--degree", arguments.degree, "of the elements")->check(CLI::Range(1, 7));
  app.add_option("--ranks-per-node", arguments.ranksPerNode, "of imagined nodes")->check(CLI::Range(1, 1 << 20));
  app.add_option("--columns", arguments.columns, "of the block")->delimiter(',')->check(CLI::Range(1, 1024));
  app.add_option("--eager-limit", arguments.eagerLimit, "bytes")->check(CLI::Range(1LL, 1LL << 40));
  app.add_option("--iterations", arguments.iterations, "exchanges, or products, of a trial")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--trials", arguments.trials, "the fastest counts")->check(CLI::Range(1, 1000));
  app.add_option("--tuned", arguments.tuned, "so many set-ups of tuned exchanges, beside the standard plan")
      ->check(CLI::Range(1, 1000));
  app.add_option("--copies", arguments.copies, "with --tuned: of each operator, one after the other")
      ->check(CLI::Range(1, 1000));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (rank == 0) app.exit(error);
    return error.get_exit_code() == 0 ? 0 : 2;
  }
  if (arguments.tuned > 0) {
    compareTuned(arguments);
    return 0;
  }
  const Json result = measure(arguments, rank, ranks);
  if (rank == 0) std::cout << result.dump() << std::endl;
  return 0;
}
