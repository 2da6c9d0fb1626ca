#pragma once
/// \file
/// What one worker of the kernel benchmark works on.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "tpetra_ext/kernels/base/execution.hpp"

namespace capstan::kernels::bench {

/// Kokkos 3 does not promise thread-safe allocation.
inline std::mutex& allocation() {
  static std::mutex mutex;
  return mutex;
}

constexpr int columnsOfQ = 30;
constexpr int mostColumns = columnsOfQ + 10;

/// One worker's data of one case: B = [Q V], small matrices that keep its entries bounded over any number of runs.
template <class Exec>
struct Data {
  using Tall = Kokkos::View<double**, Kokkos::LayoutLeft, Exec>;
  using Small = Kokkos::View<double**, Kokkos::LayoutLeft, PinnedSpace<Exec>>;
  int k;
  int s;
  Tall B;
  Small C, R, U, S;
  Tall deviceC, deviceR, deviceU;  ///< the same where the kernels' data is, for other libraries

  /// \param storage n (k + s) entries that B stands in
  Data(double* storage, std::ptrdiff_t n, int k_, int s_)
      : k(k_),
        s(s_),
        B(storage, n, k + s),
        C("C", k + s, k + s),
        R("R", k, s),
        U("U", s, s),
        S("S", s, s),
        deviceC("C", k + s, k + s),
        deviceR("R", k, s),
        deviceU("U", s, s) {
    for (int j = 0; j < s; ++j) {
      U(j, j) = 1.0;
      S(j, j) = 1.0;
      for (int i = 0; i < k; ++i) R(i, j) = (i % 2 == 0 ? 1e-3 : -1e-3);
    }
    Kokkos::deep_copy(deviceR, R);
    Kokkos::deep_copy(deviceU, U);
  }
  /// Ones in B. On the host without Kokkos' parallel loops: several workers come here at once.
  void fill() const {
    if constexpr (runsOnHost<Exec>) {
      std::fill_n(B.data(), B.span(), 1.0);
    } else {
      Kokkos::deep_copy(B, 1.0);
    }
  }
  auto columns(int first, int count) const {
    return Kokkos::subview(B, Kokkos::ALL(), std::pair<int, int>(first, first + count));
  }
  auto column(int j) const { return Kokkos::subview(B, Kokkos::ALL(), j); }
  auto result(int rows, int cols) const {
    return Kokkos::subview(C, std::pair<int, int>(0, rows), std::pair<int, int>(0, cols));
  }
};

/// What a worker keeps from case to case. Pages are dear to get: the tall block stays, and so does the data of a case
/// while Google Benchmark calls it again with more iterations.
template <class Exec>
class Worker {
 public:
  const Data<Exec>& data(const std::string& kernel, std::ptrdiff_t n, int k, int s) {
    const std::string wanted = kernel + ' ' + std::to_string(n) + ' ' + std::to_string(k) + ' ' + std::to_string(s);
    if (data_ && wanted == held_) return *data_;
    {
      const std::lock_guard<std::mutex> lock(allocation());
      data_.reset();
      const auto entries = static_cast<std::size_t>(n) * mostColumns;
      if (storage_.extent(0) < entries) {
        storage_ = {};  // before the larger one is there
        storage_ = Storage(Kokkos::view_alloc(Kokkos::WithoutInitializing, "storage"), entries);
      }
      data_ = std::make_unique<Data<Exec>>(storage_.data(), n, k, s);
    }
    data_->fill();
    held_ = wanted;
    return *data_;
  }

 private:
  using Storage = Kokkos::View<double*, Exec>;
  Storage storage_;
  std::unique_ptr<Data<Exec>> data_;
  std::string held_;
};

}  // namespace capstan::kernels::bench
