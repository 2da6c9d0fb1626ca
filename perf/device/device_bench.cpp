/// \file
/// device_bench: Capstan's solvers and Belos' on a Laplacian, on whatever Trilinos' default node runs on, interleaved.
///
/// Needs no preconditioner package and no deck: it is the benchmark of builds with CAPSTAN_LIBRARY_ONLY, those for
/// devices among them. Exit status: 0 measured, 1 a solver failed or did not reach the tolerance, 2 wrong input.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <CLI/CLI.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "adapters/deck/generated_matrix.hpp"
#include "adapters/tools/terminal.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/support/output_file.hpp"
#include "perf/device/kernel_counts.hpp"
#include "perf/solvers/contest.hpp"
#include "perf/solvers/factory_contestant.hpp"
#include "perf/solvers/reference.hpp"

namespace {

namespace perf = capstan::perf;
using capstan::preconditioning::MultiVector;
using capstan::preconditioning::Operator;
using Factory = Belos::SolverFactory<double, MultiVector, Operator>;

struct Arguments {
  int cells = 64;
  int restart = 30;
  int maxIterations = 3000;
  double tolerance = 1e-8;
  perf::ContestOptions contest;
  std::vector<std::string> solvers;
  std::string group;  ///< empty: all
  std::string output;
};

/// What of Belos takes part where its factory has it: the generic ones, and those that know Tpetra.
const std::vector<std::string>& belosMethods() {
  static const std::vector<std::string> names = {
      "PSEUDOBLOCK CG", "TPETRA CG",    "TPETRA CG SINGLE REDUCE",    "PSEUDOBLOCK GMRES",
      "BLOCK GMRES",    "TPETRA GMRES", "TPETRA GMRES SINGLE REDUCE", "BICGSTAB"};
  return names;
}

std::vector<std::string> allMethods() {
  std::vector<std::string> names;
  for (const auto& name : belosMethods()) {
    if (Factory().isSupported(name)) names.push_back(name);
  }
  for (const auto& method : capstan::methods()) names.push_back(method.canonical);
  return names;
}

/// Reads the command line. True when the program should go on; else `status` is the exit status.
bool parse(int argc, char** argv, bool talks, Arguments& arguments, int& status) {
  CLI::App app{"Times Capstan's solvers and Belos' on a 3D Laplacian, on the device of Trilinos' default node.",
               "device_bench"};
  app.add_option("--cells", arguments.cells, "cells of the cube in each direction")->check(CLI::Range(2, 1200));
  app.add_option("--restart", arguments.restart, "of GMRES types")->check(CLI::Range(1, 10000));
  app.add_option("--max-iterations", arguments.maxIterations, "of a solve")->check(CLI::Range(1, 10000000));
  app.add_option("--tolerance", arguments.tolerance, "relative to the right-hand side")->check(CLI::Range(1e-15, 1.0));
  app.add_option("--repeat", arguments.contest.repeat, "timed solves of each solver")->check(CLI::Range(1, 1000));
  app.add_option("--seed", arguments.contest.seed, "of the order in which the solvers take turns");
  app.add_option("--solvers", arguments.solvers, "names, as Belos::SolverFactory has them (default: all)")
      ->delimiter(',')
      ->check([](const std::string& name) -> std::string {
        if (Factory().isSupported(name)) return "";
        return "'" + name + "' is no solver here; allowed: " + fmt::format("{}", fmt::join(allMethods(), ", "));
      });
  app.add_option("--group", arguments.group, "only solvers of this group")
      ->check(CLI::IsMember({"GMRES", "CG", "BiCGStab"}));
  app.add_option("--output", arguments.output, "a JSON file with every sample");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    status = error.get_exit_code() == 0 ? 0 : 2;
    if (talks) app.exit(error);
    return false;
  }
  auto& solvers = arguments.solvers;
  if (solvers.empty()) solvers = allMethods();
  const auto unwanted = [&](const std::string& name) {
    return !arguments.group.empty() && perf::groupOf(name) != arguments.group;
  };
  solvers.erase(std::remove_if(solvers.begin(), solvers.end(), unwanted), solvers.end());
  return true;
}

perf::SharedSystem buildSystem(const Arguments& arguments,
                               const Teuchos::RCP<const capstan::preconditioning::Communicator>& comm) {
  capstan::deck::GeneratorOptions problem;
  problem.problem = "laplace3d";
  problem.cells = {arguments.cells};
  const double entries = 7.0 * arguments.cells * arguments.cells * arguments.cells;
  if (entries > static_cast<double>(std::numeric_limits<int>::max()) * comm->getSize()) {
    throw std::invalid_argument(fmt::format("--cells: found {} for {} ranks; allowed: at most {} entries a rank",
                                            arguments.cells, comm->getSize(), std::numeric_limits<int>::max()));
  }
  perf::SharedSystem system;
  system.A = capstan::deck::buildMatrix(problem, comm);
  for (auto* v : {&system.b, &system.x, &system.r}) *v = Teuchos::rcp(new MultiVector(system.A->getDomainMap(), 1));
  // Ones, and ones times A, which is zero inside.
  system.x->putScalar(1.0);
  system.A->apply(*system.x, *system.b);
  system.b->update(1.0 / arguments.cells, *system.x, 1.0);
  return system;
}

std::unique_ptr<perf::Contestant> makeContestant(const std::string& name, const Arguments& arguments,
                                                 const perf::SharedSystem& system) {
  const auto* ours = capstan::findMethod(name);
  perf::Description description;
  description.name = description.method = name;
  description.library = ours != nullptr ? "capstan" : "belos";
  description.group = perf::groupOf(name);
  description.preconditioner = "none";
  description.tolerance = arguments.tolerance;
  Teuchos::ParameterList parameters;
  parameters.set("Convergence Tolerance", arguments.tolerance);
  parameters.set("Maximum Iterations", arguments.maxIterations);
  if (description.group == "GMRES") {
    parameters.set("Num Blocks", arguments.restart);
    if (ours == nullptr) parameters.set("Maximum Restarts", arguments.maxIterations / arguments.restart + 1);
  }
  return perf::makeFactoryContestant(description, parameters, "device_bench: " + name, system, Teuchos::null, false);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0.0 : 0.5 * (values[(values.size() - 1) / 2] + values[values.size() / 2]);
}

/// One line of the table.
struct Row {
  const perf::Score* score = nullptr;
  perf::KernelCounts counts;  ///< of one solve
  double seconds = 0, least = 0, greatest = 0;
  double limit = 0;  ///< seconds that the bytes of the solve take at the bandwidth of the triad; 0: not known
  bool solved = false;
};

Row makeRow(const perf::Score& score, const perf::KernelCounts& counts, double tolerance) {
  Row row;
  row.score = &score;
  row.counts = counts;
  std::vector<double> seconds;
  row.solved = !score.samples.empty();
  for (const auto& sample : score.samples) {
    seconds.push_back(sample.seconds);
    row.solved = row.solved && sample.failure.empty() && sample.claimed && sample.relativeResidual <= 10 * tolerance;
  }
  if (seconds.empty()) return row;
  row.seconds = median(seconds);
  row.least = *std::min_element(seconds.begin(), seconds.end());
  row.greatest = *std::max_element(seconds.begin(), seconds.end());
  return row;
}

/// Matrix with compressed rows, a vector read and one written.
double bytesOfProduct(double rows, double entries) { return (8.0 + 4.0) * entries + (8.0 + 16.0) * rows; }

void addLimit(Row& row, double rows, double entries, double bandwidth) {
  const auto& details = row.score->details;
  if (!details.is_object() || !details.contains("cost") || row.score->samples.empty()) return;
  const auto& cost = details["cost"];
  const auto& last = row.score->samples.back();
  const double products = last.applications ? static_cast<double>(last.applications->matrix) : 0.0;
  row.limit =
      (products * bytesOfProduct(rows, entries) + last.iterations * cost["bytes_of_a_row"].get<double>() * rows) /
      bandwidth;
}

void print(const std::vector<Row>& rows) {
  std::map<std::string, double> fastest;  // of Belos, in its group
  for (const Row& row : rows) {
    const auto& who = row.score->description;
    if (!row.solved || who.library != "belos") continue;
    const auto [at, isNew] = fastest.try_emplace(who.group, row.seconds);
    if (!isNew) at->second = std::min(at->second, row.seconds);
  }
  fmt::print("{:<36} {:>9} {:>19} {:>8} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7}\n", "solver", "ms",
             "[least .. greatest]", "/belos", "its", "us/it", "reduc/it", "kern/it", "fence/it", "copy/it", "/limit");
  for (const Row& row : rows) {
    const auto& who = row.score->description;
    if (!row.solved) {
      const auto& samples = row.score->samples;
      std::string why = row.score->first.failure;
      if (why.empty() && !samples.empty()) why = samples.back().failure;
      if (why.empty())
        why = fmt::format("not solved: |r|/|b| = {:.2e} after {} iterations", row.score->first.relativeResidual,
                          row.score->first.iterations);
      fmt::print("{:<36} {}\n", who.name, why);
      continue;
    }
    const auto& last = row.score->samples.back();
    const double its = std::max(1, last.iterations);
    const auto ratio = fastest.find(who.group);
    const auto each = [its](long count) { return fmt::format("{:.2f}", double(count) / its); };
    fmt::print("{:<36} {:>9.2f} {:>19} {:>8} {:>7} {:>8.1f} {:>8} {:>8} {:>8} {:>8} {:>7}\n", who.name,
               1e3 * row.seconds, fmt::format("[{:.2f} .. {:.2f}]", 1e3 * row.least, 1e3 * row.greatest),
               ratio == fastest.end() ? "-" : fmt::format("{:.2f}", row.seconds / ratio->second), last.iterations,
               1e6 * row.seconds / its, each(last.blockingReductions + last.nonblockingReductions),
               each(row.counts.kernels), each(row.counts.fences), each(row.counts.copies),
               row.limit > 0 ? fmt::format("{:.2f}", row.seconds / row.limit) : "-");
  }
}

nlohmann::json toJson(const Row& row) {
  nlohmann::json out = perf::toJson(*row.score);
  out["kernels"] = row.counts.kernels;
  out["fences"] = row.counts.fences;
  out["deep_copies"] = row.counts.copies;
  out["limit_seconds"] = row.limit;
  out["solved"] = row.solved;
  return out;
}

int measure(const Arguments& arguments, bool talks) {
  if (arguments.solvers.empty()) throw std::invalid_argument("--group: none of --solvers is of this group");
  const auto comm = Tpetra::getDefaultComm();
  const perf::SharedSystem system = buildSystem(arguments, comm);
  const double rows = static_cast<double>(system.A->getGlobalNumRows());
  const double entries = static_cast<double>(system.A->getGlobalNumEntries());
  perf::Contestants contestants;
  for (const auto& name : arguments.solvers) contestants.push_back(makeContestant(name, arguments, system));
  perf::Reference reference(MPI_COMM_WORLD,
                            perf::workingSetBytes(static_cast<long long>(rows), static_cast<long long>(entries)));
  perf::ContestOptions options = arguments.contest;
  options.newTurn = [&reference](int turn) { reference.measure(turn); };
  const bool progress = talks && capstan::tools::progressWanted();
  const double start = MPI_Wtime();
  options.before = [&](int turn, const std::string& name) {
    if (!progress) return;
    const std::string what = turn == 0 ? "warm-up" : fmt::format("turn {}/{}", turn, options.repeat);
    fmt::print(stderr, "\r\033[K{:.0f} s: {}: {}", MPI_Wtime() - start, what, name);
    std::fflush(stderr);
  };
  const auto scores = perf::runContest(contestants, MPI_COMM_WORLD, options);

  std::vector<double> bandwidths;
  const nlohmann::json references = reference.toJson();
  for (const auto& sample : references) bandwidths.push_back(sample["memory_bytes_per_second"].get<double>());
  const double bandwidth = median(bandwidths);
  std::vector<Row> table;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool ran =
        scores[i].first.failure.empty() && !scores[i].samples.empty() && scores[i].samples.back().failure.empty();
    table.push_back(
        makeRow(scores[i], ran ? perf::countKernels(*contestants[i]) : perf::KernelCounts{}, arguments.tolerance));
    addLimit(table.back(), rows, entries, bandwidth);
  }
  if (progress) fmt::print(stderr, "\r\033[K");
  const bool allSolved = std::all_of(table.begin(), table.end(), [](const Row& row) { return row.solved; });
  if (!talks) return allSolved ? 0 : 1;
  const std::string device = perf::deviceName();
  fmt::print("{}^3 cells, {} rank{}, {}, triad {:.0f} GB/s, tolerance {:.0e}, restart {}, {} turns\n", arguments.cells,
             comm->getSize(), comm->getSize() == 1 ? "" : "s", device, bandwidth / 1e9, arguments.tolerance,
             arguments.restart, options.repeat);
  print(table);
  std::fflush(stdout);
  if (arguments.output.empty()) return allSolved ? 0 : 1;
  nlohmann::json out = {
      {"cells", arguments.cells}, {"ranks", comm->getSize()}, {"device", device}, {"reference", references}};
  out["solvers"] = nlohmann::json::array();
  for (const Row& row : table) out["solvers"].push_back(toJson(row));
  try {
    capstan::writeOutput(arguments.output, out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(fmt::format("--output: {}", error.what()));
  }
  return allSolved ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  // Kokkos would answer --help with its own; -h is the same to us and nothing to it.
  static char help[] = "-h";
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--help") argv[i] = help;
  }
  const Tpetra::ScopeGuard guard(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    Arguments arguments;
    int status = 0;
    return parse(argc, argv, rank == 0, arguments, status) ? measure(arguments, rank == 0) : status;
  } catch (const std::invalid_argument& error) {
    if (rank == 0) fmt::print(stderr, "device_bench: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    // Nothing says that the other ranks came here too.
    fmt::print(stderr, "device_bench: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  return 3;
}
