// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Between arrays of the application and Tpetra's vectors, on the host. Only for the Trilinos side.

#include <Tpetra_MultiVector.hpp>
#include <algorithm>

namespace capstan::foam {

/// Local rows of a single vector. By views: getData() takes ten times as long to make its own.
inline void copyIn(const double* from, Tpetra::MultiVector<double>& to) {
  const auto data = to.getLocalViewHost(Tpetra::Access::OverwriteAll);
  std::copy_n(from, data.extent(0), data.data());
}

inline void setZero(Tpetra::MultiVector<double>& x) {
  const auto data = x.getLocalViewHost(Tpetra::Access::OverwriteAll);
  std::fill_n(data.data(), data.extent(0), 0.0);
}

inline void copyOut(const Tpetra::MultiVector<double>& from, double* to) {
  const auto data = from.getLocalViewHost(Tpetra::Access::ReadOnly);
  std::copy_n(data.data(), data.extent(0), to);
}

}  // namespace capstan::foam
