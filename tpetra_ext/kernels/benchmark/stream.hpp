#pragma once
/// \file
/// The STREAM triad a[i] = b[i] + q c[i] on the benchmark's own execution space and number of workers.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <thread>
#include <vector>

#include "tpetra_ext/kernels/base/execution.hpp"

namespace capstan::kernels::bench {

template <class Exec>
struct Triad {
  using View = Kokkos::View<double*, Exec>;
  View a, b, c;

  KOKKOS_FUNCTION void operator()(const std::ptrdiff_t i) const { a(i) = b(i) + 3.0 * c(i); }

  explicit Triad(std::ptrdiff_t n) : a("a", n), b("b", n), c("c", n) {
    Kokkos::deep_copy(b, 1.0);
    Kokkos::deep_copy(c, 2.0);
  }

  /// The triad on rows [begin, end), as the compiler makes it from the plain loop on a CPU.
  void run(const Exec& exec, std::ptrdiff_t begin, std::ptrdiff_t end) const {
    if constexpr (runsOnHost<Exec>) {
      const bool worker = end - begin < static_cast<std::ptrdiff_t>(a.extent(0));  // one of several
      if (worker || Exec().concurrency() == 1) {
        // Without a look at run time whether they overlap.
        double* __restrict to = a.data();
        const double* __restrict x = b.data();
        const double* __restrict y = c.data();
        for (std::ptrdiff_t i = begin; i < end; ++i) to[i] = x[i] + 3.0 * y[i];
        return;
      }
    }
    Kokkos::parallel_for("triad", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::ptrdiff_t>>(exec, begin, end),
                         *this);
    exec.fence();
  }
};

/// Best bandwidth of the triad in bytes per second, 24 bytes a row as STREAM counts.
///
/// \param workers host threads, each on its own part of the arrays; 1 for an execution space that is parallel itself
/// \param rows length of each array; 16 M make 384 MB, beyond any cache at hand
template <class Exec>
double streamBandwidth(const Exec& exec, int workers, std::ptrdiff_t rows = std::ptrdiff_t(1) << 24) {
  const Triad<Exec> triad(rows);
  double best = std::numeric_limits<double>::max();
  for (int repetition = 0; repetition < 12; ++repetition) {
    std::atomic<int> ready{0};
    std::vector<std::chrono::steady_clock::time_point> begin(workers), end(workers);
    const auto work = [&](int worker) {
      ready.fetch_add(1);
      while (ready.load() < workers) std::this_thread::yield();
      begin[worker] = std::chrono::steady_clock::now();
      triad.run(exec, rows * worker / workers, rows * (worker + 1) / workers);
      end[worker] = std::chrono::steady_clock::now();
    };
    std::vector<std::thread> threads;
    for (int worker = 1; worker < workers; ++worker) threads.emplace_back(work, worker);
    work(0);
    for (auto& thread : threads) thread.join();
    const std::chrono::duration<double> seconds =
        *std::max_element(end.begin(), end.end()) - *std::min_element(begin.begin(), begin.end());
    best = std::min(best, seconds.count());
  }
  return 24.0 * static_cast<double>(rows) / best;
}

}  // namespace capstan::kernels::bench
