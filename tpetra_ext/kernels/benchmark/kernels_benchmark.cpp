/// \file
/// Bandwidth of every kernel, absolute and against the STREAM triad of the same run.
///
///   kernels_benchmark [--workers=N] [Google Benchmark's options, such as --benchmark_format=json]
///
/// On the Serial backend N threads (default: all cores) run the kernel at the same time on data of their own, as N
/// ranks of one machine do; other backends are parallel themselves and use one worker. Counters, over all workers:
/// GB/s: bytes of distinct data per second, a vector that is read and written counted once;
/// of_stream: the same over the triad's bandwidth; moved_of_stream: reads and writes both counted, as STREAM does.
/// With CUDA each kernel that cuBLAS has a routine for is followed by that one, as NAME/cublas, where the loader finds
/// a libcublas; what the host reads is copied to it in both. Arguments of a case: n rows per worker, k columns of Q, s
/// columns of V.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cublas.hpp"
#include "stream.hpp"
#include "tpetra_ext/kernels/base/instruction_set.hpp"
#include "tpetra_ext/kernels/dots.hpp"
#include "tpetra_ext/kernels/orthonormalize.hpp"
#include "tpetra_ext/kernels/sweep.hpp"
#include "worker.hpp"

namespace {

using namespace capstan::kernels;
using Exec = Kokkos::DefaultExecutionSpace;
using bench::columnsOfQ;
using bench::Cublas;
using Data = bench::Data<Exec>;

// Medians of several runs of the program count, not one long run: a disturbance is then seen as spread.
constexpr double secondsPerCase = 0.04;

double streamBytesPerSecond = 0;

std::vector<bench::Worker<Exec>> team;

using Kernel = std::function<void(Queue<Exec>&, const Data&)>;

/// \param distinct, moved bytes per row of the kernel, as doubles: distinct columns, and columns read plus written
struct KernelCase {
  std::string name;
  Kernel run;
  std::function<int(const Data&)> distinct;
  std::function<int(const Data&)> written;
};

void measure(benchmark::State& state, const KernelCase& kernel) {
  const std::ptrdiff_t n = state.range(0);
  auto& worker = team[static_cast<std::size_t>(state.thread_index())];
  const Data& data = worker.data(kernel.name, n, static_cast<int>(state.range(1)), static_cast<int>(state.range(2)));
  Queue<Exec> queue{Exec()};
  kernel.run(queue, data);  // grows the workspace
  queue.instance().fence();
  for (auto _ : state) {
    kernel.run(queue, data);
    queue.instance().fence();
  }
  const double rows = double(n) * double(state.iterations());
  const double distinct = 8.0 * rows * kernel.distinct(data);
  const double moved = distinct + 8.0 * rows * kernel.written(data);
  using benchmark::Counter;
  state.counters["GB/s"] = Counter(distinct / 1e9, Counter::kIsRate);
  state.counters["of_stream"] = Counter(distinct / streamBytesPerSecond, Counter::kIsRate);
  state.counters["moved_of_stream"] = Counter(moved / streamBytesPerSecond, Counter::kIsRate);
}

std::vector<KernelCase> blockKernels() {
  const auto all = [](const Data& d) { return d.k + d.s; };
  const auto none = [](const Data&) { return 0; };
  const auto block = [](const Data& d) { return d.s; };
  std::vector<KernelCase> cases;
  cases.push_back({"innerProducts",
                   [](Queue<Exec>& queue, const Data& d) {
                     innerProducts(queue, d.columns(0, d.k), d.columns(d.k, d.s), d.result(d.k, d.s));
                   },
                   all, none});
  cases.push_back({"trailingGram",  // [Q V]^T V
                   [](Queue<Exec>& queue, const Data& d) { trailingGram(queue, d.B, d.k, d.result(d.k + d.s, d.s)); },
                   all, none});
  cases.push_back(
      {"trailingGramTwoBlocks",  // [Q V]^T [Q_last V], as single-reduce schemes need
       [](Queue<Exec>& queue, const Data& d) { trailingGram(queue, d.B, d.k - d.s, d.result(d.k + d.s, 2 * d.s)); },
       all, none});
  cases.push_back(
      {"update", [](Queue<Exec>& queue, const Data& d) { update(queue, d.columns(0, d.k), d.R, d.columns(d.k, d.s)); },
       all, block});
  cases.push_back({"updateAndGram",
                   [](Queue<Exec>& queue, const Data& d) {
                     updateAndGram(queue, d.columns(0, d.k), d.R, d.columns(d.k, d.s), d.result(d.s, d.s));
                   },
                   all, block});
  cases.push_back({"orthonormalize",
                   [](Queue<Exec>& queue, const Data& d) {
                     orthonormalize(queue, d.columns(0, d.k - d.s), d.columns(d.k - d.s, d.s), d.S, d.columns(d.k, d.s),
                                    d.R, d.U);
                   },
                   all, [](const Data& d) { return 2 * d.s; }});
  cases.push_back({"triangularSolve",
                   [](Queue<Exec>& queue, const Data& d) { triangularSolve(queue, d.columns(d.k, d.s), d.U); }, block,
                   block});
  return cases;
}

/// Recurrences and dots of a pipelined CG: ten vectors, eight updates; five vectors, four dots. k and s are not used.
std::vector<KernelCase> vectorKernels() {
  const auto sweepCg = [](Queue<Exec>& queue, const Data& d) {
    const auto v = [&d](int j) { return d.column(j); };
    sweep(queue, static_cast<std::ptrdiff_t>(d.B.extent(0)), axpby(1.0, v(0), 0.5, v(1)), axpby(1.0, v(2), 0.5, v(3)),
          axpby(1.0, v(4), 0.5, v(5)), axpby(1.0, v(6), 0.5, v(7)), axpy(0.5, v(7), v(8)), axpy(-0.5, v(5), v(9)),
          axpy(-0.5, v(3), v(2)), axpy(-0.5, v(1), v(0)));
  };
  const auto dotsCg = [](Queue<Exec>& queue, const Data& d) {
    const auto v = [&d](int j) { return d.column(j); };
    dots(queue, {std::pair(v(0), v(1)), std::pair(v(2), v(1)), std::pair(v(0), v(0)), std::pair(v(3), v(4))},
         Kokkos::subview(d.C, std::pair<int, int>(0, 4), 0));
  };
  return {{"sweep", sweepCg, [](const Data&) { return 10; }, [](const Data&) { return 8; }},
          {"dots", dotsCg, [](const Data&) { return 5; }, [](const Data&) { return 0; }}};
}

#ifdef KOKKOS_ENABLE_CUDA
std::vector<KernelCase> cublasKernels(const Cublas& cublas) {
  const auto rows = [](const Data& d) { return static_cast<int>(d.B.extent(0)); };
  const auto all = [](const Data& d) { return d.k + d.s; };
  const auto none = [](const Data&) { return 0; };
  const auto block = [](const Data& d) { return d.s; };
  const auto ld = [](const Data::Tall& matrix) { return static_cast<int>(matrix.stride(1)); };
  return {{"innerProducts/cublas",
           [&cublas, rows, ld](Queue<Exec>& queue, const Data& d) {
             cublas.innerProducts(rows(d), d.k, d.s, d.B.data(), d.column(d.k).data(), d.deviceC.data(), ld(d.deviceC));
             Kokkos::deep_copy(queue.instance(), d.C, d.deviceC);
           },
           all, none},
          {"update/cublas",
           [&cublas, rows, ld](Queue<Exec>&, const Data& d) {
             cublas.update(rows(d), d.k, d.s, d.B.data(), d.deviceR.data(), ld(d.deviceR), d.column(d.k).data());
           },
           all, block},
          {"triangularSolve/cublas",
           [&cublas, rows, ld](Queue<Exec>&, const Data& d) {
             cublas.triangularSolve(rows(d), d.s, d.deviceU.data(), ld(d.deviceU), d.column(d.k).data());
           },
           block, block}};
}
#endif

/// Rows per worker: in the second-level cache, in the last-level cache, in memory.
std::vector<std::int64_t> rowCounts() {
  if constexpr (runsOnHost<Exec>) {
    return {6912, 50000, 400000};
  }
  return {50000, 400000, 4000000};
}

void registerAll(int workers, const std::vector<KernelCase>& others) {
  const auto add = [workers](const KernelCase& kernel, std::int64_t n, std::int64_t k, std::int64_t s) {
    benchmark::RegisterBenchmark(kernel.name.c_str(), [kernel](benchmark::State& state) { measure(state, kernel); })
        ->ArgNames({"n", "k", "s"})
        ->Args({n, k, s})
        ->Threads(workers)
        ->UseRealTime()
        ->MinTime(secondsPerCase);
  };
  for (const std::int64_t n : rowCounts()) {
    for (const KernelCase& kernel : blockKernels()) {
      for (const std::int64_t s : {1, 5, 10}) add(kernel, n, columnsOfQ, s);
    }
    for (const KernelCase& kernel : vectorKernels()) add(kernel, n, 9, 1);
    for (const KernelCase& kernel : others) {
      for (const std::int64_t s : {1, 5, 10}) add(kernel, n, columnsOfQ, s);
    }
  }
}

/// Takes --workers=N out of the arguments. \throws std::invalid_argument when N is not a positive number
int takeWorkers(int& argc, char** argv, int standard) {
  int workers = standard;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--workers=", 10) != 0) {
      argv[kept++] = argv[i];
      continue;
    }
    char* rest = nullptr;
    const long value = std::strtol(argv[i] + 10, &rest, 10);
    if (*rest != '\0' || value < 1 || value > 4096) {
      throw std::invalid_argument(std::string(argv[i]) + ": must be a number from 1 to 4096");
    }
    workers = static_cast<int>(value);
  }
  argc = kept;
  return workers;
}

int run(int argc, char** argv) {
  bool serial = false;
#ifdef KOKKOS_ENABLE_SERIAL
  serial = std::is_same<Exec, Kokkos::Serial>::value;
#endif
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int workers = takeWorkers(argc, argv, serial ? cores : 1);
  if (!serial && workers != 1) throw std::invalid_argument("--workers: only the Serial backend takes more than 1");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  streamBytesPerSecond = bench::streamBandwidth(Exec(), workers);
  benchmark::AddCustomContext("stream_triad_GB/s", std::to_string(streamBytesPerSecond / 1e9));
  benchmark::AddCustomContext("instruction_set", instructionSet());
  benchmark::AddCustomContext("workers", std::to_string(workers));
  benchmark::AddCustomContext("execution_space", Exec::name());
  team.resize(static_cast<std::size_t>(workers));
  std::vector<KernelCase> others;
#ifdef KOKKOS_ENABLE_CUDA
  const auto cublas = std::is_same_v<Exec, Kokkos::Cuda> ? bench::Cublas::load() : nullptr;
  benchmark::AddCustomContext("cublas", cublas ? cublas->name() : "none found");
  if (cublas) others = cublasKernels(*cublas);
#endif
  registerAll(workers, others);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  team.clear();  // while Kokkos is there
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard guard(argc, argv);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "kernels_benchmark: " << error.what() << '\n';
    return 2;
  }
}
