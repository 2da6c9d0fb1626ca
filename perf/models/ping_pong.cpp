/// \file
/// How long messages take between two processes on a socket, on a node and between nodes, and when more and more
/// processes of a node send at once: the protocol of [enlarged-cg], Fig. 4.6 and 4.7; and an all-reduce.
/// perf/models/run and `./capstan advise` start it.
///
/// With --ranks-per-node nodes are imagined, for a machine that has one only. It prints one object of JSON.
/// Exit status: 0 measured, 2 wrong use.

#include <mpi.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

struct Arguments {
  std::vector<int> bytes = {8,     16,    64,    256,    1024,   2048,   4096,   8192,
                            16384, 32768, 65536, 131072, 262144, 524288, 1048576};
  int iterations = 200;
  int trials = 5;
  int ranksPerNode = 0;  // 0: as they share memory
};

/// The socket that this process runs on, as Linux tells; -1 where it does not.
int socketHere() {
  const int core = sched_getcpu();
  int socket = -1;
  std::ifstream("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/physical_package_id") >> socket;
  return socket;
}

/// Where every rank runs: node and socket. Collective.
struct Places {
  std::vector<int> node, socket;

  explicit Places(int ranksPerNode) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int mine[2] = {rank / std::max(1, ranksPerNode), socketHere()};
    if (ranksPerNode == 0) {
      MPI_Comm shared = MPI_COMM_NULL;
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
      mine[0] = rank;
      MPI_Bcast(mine, 1, MPI_INT, 0, shared);  // the node is called by its first rank
      MPI_Comm_free(&shared);
    }
    std::vector<int> all(2 * static_cast<std::size_t>(ranks));
    MPI_Allgather(mine, 2, MPI_INT, all.data(), 2, MPI_INT, MPI_COMM_WORLD);
    for (std::size_t r = 0; r < static_cast<std::size_t>(ranks); ++r) {
      node.push_back(all[2 * r]);
      socket.push_back(all[2 * r + 1]);
    }
  }

  std::string between(std::size_t a, std::size_t b) const {
    if (node[a] != node[b]) return "network";
    return socket[a] == socket[b] ? "on_socket" : "on_node";
  }
};

/// Seconds of one message, one way: pairs[k] exchange messages of that size to and fro at once, and the slowest pair
/// counts; the least of the trials, which nobody disturbed. Collective.
double exchange(const std::vector<std::pair<int, int>>& pairs, int bytes, const Arguments& arguments) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<char> buffer(static_cast<std::size_t>(bytes));
  int partner = -1;
  bool first = false;
  for (const auto& [a, b] : pairs) {
    if (rank != a && rank != b) continue;
    partner = rank == a ? b : a;
    first = rank == a;
  }
  // Large messages need fewer turns.
  const int turns = std::max(5, std::min(arguments.iterations, 20000000 / std::max(1, bytes)));
  double best = 1e30;
  for (int trial = 0; trial < arguments.trials; ++trial) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int turn = 0; partner >= 0 && turn < turns; ++turn) {
      if (first) MPI_Send(buffer.data(), bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD);
      MPI_Recv(buffer.data(), bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (!first) MPI_Send(buffer.data(), bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD);
    }
    double mine = (MPI_Wtime() - start) / (2.0 * turns), slowest = 0.0;
    if (partner < 0) mine = 0.0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    best = std::min(best, slowest);
  }
  return best;
}

/// Seconds of an all-reduce of so many bytes over all ranks, each of which calls the next one at once: the median of
/// the trials. Collective.
double allReduce(int bytes, const Arguments& arguments) {
  std::vector<double> values(static_cast<std::size_t>(std::max(1, bytes / 8)), 1.0), sums(values.size());
  std::vector<double> found;
  for (int trial = 0; trial < arguments.trials; ++trial) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int turn = 0; turn < arguments.iterations; ++turn) {
      MPI_Allreduce(values.data(), sums.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    double mine = (MPI_Wtime() - start) / arguments.iterations, slowest = 0.0;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    found.push_back(slowest);
  }
  std::nth_element(found.begin(), found.begin() + static_cast<long>(found.size() / 2), found.end());
  return found[found.size() / 2];
}

/// Seconds of an operation in a product of many: a daxpy on data in cache, two operations an element. Local.
double flopTime() {
  constexpr std::size_t n = 4096;
  constexpr int turns = 2000;
  std::vector<double> x(n, 1.0), y(n, 2.0);
  double best = 1e30;
  for (int trial = 0; trial < 5; ++trial) {
    const double start = MPI_Wtime();
    for (int turn = 0; turn < turns; ++turn) {
      const double a = 1e-9 * (turn + 1);
      for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
    }
    best = std::min(best, (MPI_Wtime() - start) / (2.0 * turns * n));
  }
  volatile double keep = y[n / 2];
  static_cast<void>(keep);
  return best;
}

Json measure(const Arguments& arguments) {
  const Places places(arguments.ranksPerNode);
  const std::size_t ranks = places.node.size();
  Json result = {{"ranks", ranks}, {"links", Json::array()}, {"injection", Json::array()}, {"flop_time", flopTime()}};
  result["all_reduce"] = {{"bytes", 64}, {"seconds", allReduce(64, arguments)}};
  std::vector<std::string> done;
  // One pair for each kind of place that rank 0 has a partner at.
  for (std::size_t other = 1; other < ranks; ++other) {
    const std::string place = places.between(0, other);
    if (std::find(done.begin(), done.end(), place) != done.end()) continue;
    done.push_back(place);
    for (const int bytes : arguments.bytes) {
      const double seconds = exchange({{0, static_cast<int>(other)}}, bytes, arguments);
      result["links"].push_back({{"place", place}, {"bytes", bytes}, {"seconds", seconds}});
    }
  }
  // Senders of one node with a partner each on the next one.
  std::vector<int> here, there;
  int next = -1;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (places.node[r] != places.node[0] && next < 0) next = places.node[r];
    if (places.node[r] == places.node[0]) here.push_back(static_cast<int>(r));
    if (next >= 0 && places.node[r] == next) there.push_back(static_cast<int>(r));
  }
  result["ranks_per_node"] = here.size();
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t k = 0; k < std::min(here.size(), there.size()); ++k) {
    pairs.emplace_back(here[k], there[k]);
    for (const int bytes : arguments.bytes) {
      const double seconds = exchange(pairs, bytes, arguments);
      result["injection"].push_back({{"senders", k + 1}, {"bytes", bytes}, {"seconds", seconds}});
    }
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Arguments arguments;
  CLI::App app{"Messages between two processes, and between more and more of two nodes.", "ping_pong"};
  app.add_option("--bytes", arguments.bytes, "sizes of messages")->delimiter(',')->check(CLI::Range(1, 1 << 28));
  app.add_option("--iterations", arguments.iterations, "turns of a trial")->check(CLI::Range(1, 1000000));
  app.add_option("--trials", arguments.trials, "the fastest counts")->check(CLI::Range(1, 1000));
  app.add_option("--ranks-per-node", arguments.ranksPerNode, "imagine nodes of so many ranks; default: what MPI tells")
      ->check(CLI::Range(1, 1 << 20));
  int status = 0;
  try {
    app.parse(argc, argv);
    const Json result = measure(arguments);
    if (rank == 0) std::cout << result.dump() << std::endl;
  } catch (const CLI::ParseError& error) {
    status = error.get_exit_code() == 0 ? 0 : 2;
    if (rank == 0) app.exit(error);
  }
  MPI_Finalize();
  return status;
}
