/// \file
/// How well a nonblocking all-reduce hides behind computation, and several behind each other, with the MPI at hand.
///
/// The first is the question of Fig. 7 of the pipelined paper and Fig. 11 of the low-synchronisation paper, measured as
/// the OSU benchmark osu_iallreduce does, except that medians over the iterations stand in place of means: on a machine
/// with few cores one interruption outweighs hundreds of iterations. The second is asked in the text on Fig. 10 of the
/// former.

#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

struct Options {
  std::vector<int> bytes = {8, 16, 32, 64, 128, 256, 512, 1024, 2048};
  std::vector<int> simultaneous = {1, 2, 3, 5, 10};
  std::vector<int> simultaneousBytes = {80, 640};
  int iterations = 300;
  int warmup = 30;
  int tests = 0;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Mean over the ranks, in microseconds. Collective.
double meanOverRanks(double seconds) {
  int ranks = 0;
  double sum = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum / ranks * 1e6;
}

/// The computation: products with a small dense matrix that stays in cache, as in both papers' benchmarks.
class Computation {
 public:
  Computation() {
    matrix_.fill(1.0 / size);
    x_.fill(1.0);
    // The shortest of several trials is the one nobody disturbed.
    unit_ = 1e9;
    for (int trial = 0; trial < 50; ++trial) {
      const double start = MPI_Wtime();
      run(200);
      unit_ = std::min(unit_, (MPI_Wtime() - start) / 200);
    }
  }

  void run(long products) {
    for (long k = 0; k < products; ++k) {
      for (std::size_t i = 0; i < size; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < size; ++j) sum += matrix_[i * size + j] * x_[j];
        y_[i] = sum;
      }
      std::swap(x_, y_);
    }
  }

  /// Products that take about `seconds` when nobody disturbs.
  long productsFor(double seconds) const { return std::max(1L, std::lround(seconds / unit_)); }

  /// Stays 1 whatever run() does; read at the end so that no compiler drops the work.
  double value() const { return x_[0]; }

 private:
  static constexpr std::size_t size = 16;
  std::array<double, size * size> matrix_{};
  std::array<double, size> x_{}, y_{};
  double unit_;
};

/// Buffers of several all-reduces of one size; checks their sums.
class Reductions {
 public:
  Reductions(int count, int bytes) : elements_(bytes / static_cast<int>(sizeof(double))) {
    const auto total = static_cast<std::size_t>(count) * static_cast<std::size_t>(elements_);
    send_.assign(total, 1.0);
    receive_.assign(total, 0.0);
    requests_.assign(static_cast<std::size_t>(count), MPI_REQUEST_NULL);
  }

  void start() {
    for (std::size_t k = 0; k < requests_.size(); ++k) {
      const std::size_t first = k * static_cast<std::size_t>(elements_);
      MPI_Iallreduce(&send_[first], &receive_[first], elements_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests_[k]);
    }
  }
  void test() {
    int flag = 0;
    MPI_Test(requests_.data(), &flag, MPI_STATUS_IGNORE);
  }
  void wait() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

  /// Ends the program where a sum is wrong. Local.
  void check() const {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (const double sum : receive_) {
      if (sum == ranks) continue;
      std::cerr << "overlap_bench: an all-reduce over " << ranks << " ranks returned " << sum << '\n';
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }

 private:
  int elements_;
  std::vector<double> send_, receive_;
  std::vector<MPI_Request> requests_;
};

/// Median over the iterations of the seconds that `once` takes, all ranks starting together. Collective.
template <class Once>
double medianSeconds(const Options& options, Once once) {
  std::vector<double> seconds;
  for (int i = -options.warmup; i < options.iterations; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    once();
    if (i >= 0) seconds.push_back(MPI_Wtime() - start);
  }
  return median(seconds);
}

/// One line of the papers' tables: t_pure, t_CPU, t_ovrl and the overlap.
nlohmann::json measureOverlap(const Options& options, int bytes, Computation& computation) {
  Reductions reduction(1, bytes);
  const double pure = meanOverRanks(medianSeconds(options, [&] {
    reduction.start();
    reduction.wait();
  }));
  reduction.check();
  // The computation is cut into equal parts with a test call between two of them.
  const int parts = options.tests + 1;
  const long products = std::max(1L, computation.productsFor(pure * 1e-6) / parts);
  const double alone = meanOverRanks(medianSeconds(options, [&] {
    for (int part = 0; part < parts; ++part) computation.run(products);
  }));
  std::vector<double> computing;
  std::vector<double> waiting;
  const double overlapped = meanOverRanks(medianSeconds(options, [&] {
    double computed = 0;
    reduction.start();
    for (int part = 0; part < parts; ++part) {
      const double start = MPI_Wtime();
      computation.run(products);
      computed += MPI_Wtime() - start;
      if (part + 1 < parts) reduction.test();
    }
    const double start = MPI_Wtime();
    reduction.wait();
    computing.push_back(computed);
    waiting.push_back(MPI_Wtime() - start);
  }));
  reduction.check();
  // The warm-up counts here as little as in the times above.
  computing.erase(computing.begin(), computing.begin() + options.warmup);
  waiting.erase(waiting.begin(), waiting.begin() + options.warmup);
  const double cpu = meanOverRanks(median(computing));
  // OSU: 100 - (t_ovrl - t_CPU) / t_pure. Intel's, of Fig. 7: over max(t_pure, t_CPU), which its numbers confirm.
  const double osu = std::max(0.0, 100 * (1 - (overlapped - cpu) / pure));
  const double imb = std::max(0.0, 100 * (pure + cpu - overlapped) / std::max(pure, cpu));
  return {{"bytes", bytes},          {"t_pure_us", pure},         {"t_cpu_us", cpu},
          {"t_cpu_alone_us", alone}, {"t_ovrl_us", overlapped},   {"t_wait_us", meanOverRanks(median(waiting))},
          {"overlap_percent", osu},  {"overlap_imb_percent", imb}};
}

/// Time of `count` all-reduces started together.
double measureSimultaneous(const Options& options, int count, int bytes) {
  Reductions reductions(count, bytes);
  const double time = meanOverRanks(medianSeconds(options, [&] {
    reductions.start();
    reductions.wait();
  }));
  reductions.check();
  return time;
}

/// Threads of this process: shows whether a progress thread of the MPI library runs. 0 where the system does not tell.
int threadsOfProcess() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int threads = 0;
  while (status >> word) {
    if (word == "Threads:" && status >> threads) break;
  }
  return threads;
}

/// Name and version of the MPI library, without the rest of what it says about itself.
std::string library() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  std::string text = version;
  text.resize(std::min(text.size(), text.find_first_of(",\n")));
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

nlohmann::json measure(const Options& options) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool emulated = std::getenv("CAPSTAN_LATENCY_US") != nullptr;
  nlohmann::json result = {{"mpi", library()},
                           {"ranks", ranks},
                           {"threads", threadsOfProcess()},
                           {"iterations", options.iterations},
                           {"tests", options.tests},
                           {"emulated", emulated}};
  Computation computation;
  for (const int bytes : options.bytes) result["overlap"].push_back(measureOverlap(options, bytes, computation));
  for (const int bytes : options.simultaneousBytes) {
    const double one = measureSimultaneous(options, 1, bytes);
    for (const int count : options.simultaneous) {
      const double time = measureSimultaneous(options, count, bytes);
      result["simultaneous"].push_back(
          {{"bytes", bytes}, {"count", count}, {"time_us", time}, {"one_us", one}, {"ratio", time / one}});
    }
  }
  result["computation"] = computation.value();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Overlap of nonblocking all-reduces with computation; prints one JSON object"};
  const auto wholeDoubles = CLI::Validator(
      [](const std::string& text) {
        const long value = std::strtol(text.c_str(), nullptr, 10);
        return value > 0 && value % 8 == 0 ? std::string() : text + " is not a positive multiple of 8";
      },
      "BYTES");
  app.add_option("--bytes", options.bytes, "message sizes")->delimiter(',')->check(wholeDoubles);
  app.add_option("--simultaneous", options.simultaneous, "numbers of all-reduces in flight")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000));
  app.add_option("--simultaneous-bytes", options.simultaneousBytes, "their size")->delimiter(',')->check(wholeDoubles);
  app.add_option("--iterations", options.iterations, "measured iterations")->check(CLI::Range(1, 10000000));
  app.add_option("--warmup", options.warmup, "iterations before")->check(CLI::Range(0, 10000000));
  app.add_option("--tests", options.tests, "calls of MPI_Test within the computation")->check(CLI::Range(0, 10000));
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const nlohmann::json result = measure(options);
  // Out of our hands before MPI_Finalize, which may hang.
  if (rank == 0) std::cout << result.dump() << '\n' << std::flush;
  MPI_Finalize();
  return 0;
}
