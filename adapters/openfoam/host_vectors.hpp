// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Between arrays of the application and Tpetra's vectors, on the host. Only for the Trilinos side.

#include <Tpetra_MultiVector.hpp>
#include <algorithm>

namespace capstan::foam {

/// Local rows of a single vector.
inline void copyIn(const double* from, Tpetra::MultiVector<double>& to) {
  const auto data = to.getDataNonConst(0);
  std::copy_n(from, data.size(), data.begin());
}

inline void copyOut(const Tpetra::MultiVector<double>& from, double* to) {
  const auto data = from.getData(0);
  std::copy(data.begin(), data.end(), to);
}

}  // namespace capstan::foam
