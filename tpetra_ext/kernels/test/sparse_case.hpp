#pragma once
/// \file
/// Sparse matrices for tests of products.

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tpetra_ext/kernels/block_product.hpp"
#include "tpetra_ext/kernels/test/support.hpp"

namespace capstan::kernels::test {

template <class T>
Kokkos::View<T*, Exec> onDevice(const std::vector<T>& values) {
  Kokkos::View<T*, Exec> view("values", values.size());
  const auto host = Kokkos::create_mirror_view(view);
  std::copy(values.begin(), values.end(), host.data());
  Kokkos::deep_copy(view, host);
  return view;
}

/// rows x columns by rows: rows of 0 to 12 entries, some of 40.
template <class T>
struct SparseCase {
  int rows, columns;
  std::vector<std::size_t> begin{0};
  std::vector<int> column;
  std::vector<T> value;
  Kokkos::View<std::size_t*, Exec> deviceBegin;
  Kokkos::View<int*, Exec> deviceColumn;
  Kokkos::View<T*, Exec> deviceValue;

  SparseCase(int r, int c, unsigned seed) : rows(r), columns(c) {
    std::mt19937 engine(seed);
    for (int i = 0; i < rows; ++i) {
      const int entries = i % 17 == 3 ? 40 : static_cast<int>(engine() % 13);
      std::vector<int> row;
      for (int k = 0; k < entries; ++k) row.push_back(static_cast<int>(engine() % static_cast<unsigned>(columns)));
      add(row, engine);
    }
    copyToDevice();
  }

  /// Square, with the columns of row i as columnsOf(i) says.
  template <class Columns>
  SparseCase(int n, const Columns& columnsOf, unsigned seed) : rows(n), columns(n) {
    std::mt19937 engine(seed);
    for (int i = 0; i < n; ++i) add(columnsOf(i), engine);
    copyToDevice();
  }

  void add(const std::vector<int>& row, std::mt19937& engine) {
    for (const int c : row) {
      column.push_back(c);
      value.push_back(T(int(engine() % 2001) - 1000) / T(1000));
    }
    begin.push_back(column.size());
  }

  void copyToDevice() {
    deviceBegin = onDevice(begin);
    deviceColumn = onDevice(column);
    deviceValue = onDevice(value);
  }

  SparseRows<T, std::size_t, int> matrix() const {
    SparseRows<T, std::size_t, int> a;
    a.begin = deviceBegin.data();
    a.columns = deviceColumn.data();
    a.values = deviceValue.data();
    a.own = columns;
    return a;
  }

  /// A X, and |A| |X| in `magnitude`.
  template <class X>
  Reference times(const X& x, int cols, Reference& magnitude) const {
    Reference product(rows, cols);
    for (int i = 0; i < rows; ++i) {
      for (std::size_t k = begin[i]; k < begin[i + 1]; ++k) {
        for (int j = 0; j < cols; ++j) {
          product(i, j) += static_cast<long double>(value[k]) * x(column[k], j);
          magnitude(i, j) += std::abs(static_cast<long double>(value[k]) * x(column[k], j));
        }
      }
    }
    return product;
  }
};

template <class T>
using Line = Kokkos::View<T*, Exec>;

}  // namespace capstan::kernels::test
