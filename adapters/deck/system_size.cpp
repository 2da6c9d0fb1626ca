#include "adapters/deck/system_size.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <unistd.h>

#include <Teuchos_CommHelpers.hpp>
#include <Teuchos_DefaultMpiComm.hpp>
#include <Tpetra_Details_DefaultTypes.hpp>
#include <algorithm>
#include <fstream>
#include <limits>

namespace capstan::deck {
namespace {

using LocalOrdinal = Tpetra::Details::DefaultTypes::local_ordinal_type;
using GlobalOrdinal = Tpetra::Details::DefaultTypes::global_ordinal_type;

constexpr double globalEntry = sizeof(GlobalOrdinal) + sizeof(double);  // until fillComplete
constexpr double localEntry = sizeof(LocalOrdinal) + sizeof(double);
constexpr int vectors = 8;  // solution, right-hand side, guess, and the least that a method keeps

/// Most rows that Tpetra can number: local ordinals on a rank, global ones over all.
double mostRows(int ranks) {
  const auto local = static_cast<double>(std::numeric_limits<LocalOrdinal>::max());
  const auto global = static_cast<double>(std::numeric_limits<GlobalOrdinal>::max());
  return std::min(global, local * ranks);
}

std::string cellsText(const GeneratorOptions& options) {
  return options.cells.empty() ? fmt::format("{} values", options.values.size())
                               : fmt::format("cells [{}]", fmt::join(options.cells, ", "));
}

std::string size(double bytes) { return fmt::format("{:.1f} GiB", bytes / (1 << 30)); }

/// Ranks of `comm` on this rank's machine. Collective.
int ranksHere(const Communicator& comm) {
  const auto* mpi = dynamic_cast<const Teuchos::MpiComm<int>*>(&comm);
  if (mpi == nullptr) return 1;
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(*mpi->getRawMpiComm(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  int ranks = 1;
  MPI_Comm_size(machine, &ranks);
  MPI_Comm_free(&machine);
  return ranks;
}

/// Memory of all machines the ranks run on. Collective.
double totalMemory(const Communicator& comm, double memory) {
  const double share = memory / ranksHere(comm);
  double total = 0.0;
  Teuchos::reduceAll(comm, Teuchos::REDUCE_SUM, share, Teuchos::outArg(total));
  return total;
}

}  // namespace

double machineMemory() {
  double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  // Versions 2 and 1 of control groups; a file that holds no number (max) sets no limit.
  for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    double limit = 0.0;
    if (std::ifstream(file) >> limit) memory = std::min(memory, limit);
  }
  return memory;
}

SystemLimits systemLimits(const Communicator& comm, double memory) {
  return {mostRows(comm.getSize()), totalMemory(comm, memory), comm.getSize()};
}

double generatedBytes(const SystemOptions& system) {
  const auto& options = *system.generator;
  const bool kept = system.sequence.steps * system.sequence.outerIterations > 1 && system.sequence.change > 0.0;
  const double inRow = mostEntriesInRow(options);
  return generatedRows(options) *
         (inRow * (globalEntry + (kept ? 2 : 1) * localEntry) + vectors * static_cast<double>(sizeof(double)));
}

std::string fileSizeProblem(double rows, double entries, const SystemLimits& limits) {
  const double bytes = entries * (globalEntry + localEntry) + rows * vectors * static_cast<double>(sizeof(double));
  if (rows > limits.rows) {
    return fmt::format("found {:.4g} rows; allowed: at most {:.4g} on {} rank(s)", rows, limits.rows, limits.ranks);
  }
  if (bytes > limits.bytes) {
    return fmt::format(
        "found {:.4g} rows, which take about {}; allowed: what fits in the {} of the machines it runs on", rows,
        size(bytes), size(limits.bytes));
  }
  return "";
}

std::string vectorSizeProblem(long long rows, long long columns, const SystemLimits& limits) {
  constexpr int most = std::numeric_limits<int>::max();
  if (columns > most) return fmt::format("found {} columns; allowed: at most {}", columns, most);
  const double bytes = static_cast<double>(rows) * static_cast<double>(columns) * vectors * sizeof(double);
  if (bytes <= limits.bytes) return "";
  return fmt::format(
      "found {} rows and {} columns, which take about {} in a solve; allowed: what fits in the {} of the machines it "
      "runs on",
      rows, columns, size(bytes), size(limits.bytes));
}

void checkSystemSizes(const std::vector<SystemOptions>& systems, const SystemLimits& limits, Diagnostics& diagnostics) {
  for (const auto& system : systems) {
    if (!system.generator) continue;
    const double rows = generatedRows(*system.generator);
    const double bytes = generatedBytes(system);
    const std::string found = fmt::format("found {}, {:.4g} rows", cellsText(*system.generator), rows);
    if (rows > limits.rows) {
      diagnostics.error(system.matrixPlace, fmt::format("{}; allowed: at most {:.4g} rows on {} rank(s)", found,
                                                        limits.rows, limits.ranks));
    } else if (bytes > limits.bytes) {
      diagnostics.error(system.matrixPlace,
                        fmt::format("{}, which take about {}; allowed: at most {:.4g} rows in the {} of the machines "
                                    "it runs on",
                                    found, size(bytes), rows * limits.bytes / bytes, size(limits.bytes)));
    }
  }
}

}  // namespace capstan::deck
