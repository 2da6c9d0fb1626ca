#include "perf/solvers/reference.hpp"

#include <Kokkos_Core.hpp>
#include <Tpetra_Map.hpp>
#include <algorithm>
#include <array>

#include "tpetra_ext/kernels/benchmark/stream.hpp"

namespace capstan::perf {
namespace {

using Exec = Tpetra::Map<>::node_type::execution_space;
constexpr double memoryBytes = 384.0 * (1 << 20);  // beyond the caches of a node
constexpr double bytesOfARow = 24.0;               // two numbers read, one written

double slowest(double seconds, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

}  // namespace

struct Reference::Arrays {
  std::ptrdiff_t rows;
  kernels::bench::Triad<Exec> triad;
  explicit Arrays(std::ptrdiff_t length) : rows(length), triad(length) {}
};

Reference::Reference(MPI_Comm comm, double workingSetBytes) : comm_(comm) {
  MPI_Comm_size(comm, &ranks_);
  const auto arrays = [this](double bytes) {
    return std::make_unique<Arrays>(std::max<std::ptrdiff_t>(256, std::ptrdiff_t(bytes / bytesOfARow / ranks_)));
  };
  memory_ = arrays(memoryBytes);
  workingSet_ = arrays(std::min(workingSetBytes, memoryBytes));
}

Reference::~Reference() = default;

double Reference::bandwidth(const Arrays& arrays) const {
  constexpr double batchBytes = 64.0 * (1 << 20);  // a batch of small arrays takes milliseconds
  const double bytes = bytesOfARow * static_cast<double>(arrays.rows) * ranks_;
  const int passes = std::max(1, static_cast<int>(batchBytes / bytes));
  const Exec exec;
  double best = 1e30;
  for (int batch = 0; batch < 4; ++batch) {
    MPI_Barrier(comm_);
    const double start = MPI_Wtime();
    for (int pass = 0; pass < passes; ++pass) arrays.triad.run(exec, 0, arrays.rows);
    const double seconds = slowest(MPI_Wtime() - start, comm_);
    if (batch > 0) best = std::min(best, seconds / passes);  // the first one fills caches
  }
  return bytes / best;
}

double Reference::allReduce() const {
  constexpr int times = 50;
  std::array<double, 16> values{};
  MPI_Barrier(comm_);
  const double start = MPI_Wtime();
  for (int i = 0; i < times; ++i) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, comm_);
  }
  return slowest((MPI_Wtime() - start) / times, comm_);
}

void Reference::measure(int turn) {
  ReferenceSample sample;
  sample.turn = turn;
  sample.memoryBandwidth = bandwidth(*memory_);
  sample.workingSetBandwidth = bandwidth(*workingSet_);
  sample.allReduceSeconds = allReduce();
  samples_.push_back(sample);
}

nlohmann::json Reference::toJson() const {
  auto out = nlohmann::json::array();
  for (const auto& sample : samples_) {
    out.push_back({{"turn", sample.turn},
                   {"memory_bytes_per_second", sample.memoryBandwidth},
                   {"working_set_bytes_per_second", sample.workingSetBandwidth},
                   {"all_reduce_seconds", sample.allReduceSeconds}});
  }
  return out;
}

double workingSetBytes(long long rows, long long entries) {
  constexpr double entry = 8.0 + 4.0, row = 8.0, vectors = 5 * 8.0;
  return entry * static_cast<double>(entries) + (row + vectors) * static_cast<double>(rows);
}

}  // namespace capstan::perf
