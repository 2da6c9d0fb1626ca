// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Between arrays of the application and Tpetra's vectors, on the host. Only for the Trilinos side.

#include <Tpetra_MultiVector.hpp>
#include <algorithm>

#include "tpetra_ext/compat/local_views.hpp"

namespace capstan::driver {

/// Local rows of a single vector. By views: getData takes ten times as long to make its own.
/// \param places where each row goes; null: rows keep their order
inline void copyIn(const double* from, Tpetra::MultiVector<double>& to, const int* places = nullptr) {
  const auto data = compat::hostView(to, Tpetra::Access::OverwriteAll);
  const std::size_t rows = data->extent(0);
  double* const values = data->data();
  if (places == nullptr) {
    std::copy_n(from, rows, values);
  } else {
    for (std::size_t row = 0; row < rows; ++row) values[places[row]] = from[row];
  }
}

inline void setZero(Tpetra::MultiVector<double>& x) {
  const auto data = compat::hostView(x, Tpetra::Access::OverwriteAll);
  std::fill_n(data->data(), data->extent(0), 0.0);
}

/// \param places as copyIn() has put them
inline void copyOut(const Tpetra::MultiVector<double>& from, double* to, const int* places = nullptr) {
  const auto data = compat::hostView(from, Tpetra::Access::ReadOnly);
  const std::size_t rows = data->extent(0);
  const double* const values = data->data();
  if (places == nullptr) {
    std::copy_n(values, rows, to);
  } else {
    for (std::size_t row = 0; row < rows; ++row) to[row] = values[places[row]];
  }
}

}  // namespace capstan::driver
