// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Sums over the rows of this rank, and over the ranks.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace capstan::driver {

/// N sums over rows 0 to rows - 1; add(row, sums) adds what a row has. Four chains of additions each: an addition
/// takes four cycles, and the next one of its chain waits for it. Local.
template <std::size_t N, class Add>
std::array<double, N> sumsOverRows(std::int64_t rows, const Add& add) {
  std::array<std::array<double, N>, 4> chains{};
  std::int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    for (std::size_t chain = 0; chain < 4; ++chain) add(row + static_cast<std::int64_t>(chain), chains[chain]);
  }
  for (; row < rows; ++row) add(row, chains[0]);
  std::array<double, N> sums{};
  for (std::size_t i = 0; i < N; ++i) sums[i] = (chains[0][i] + chains[1][i]) + (chains[2][i] + chains[3][i]);
  return sums;
}

/// In one message; nothing without MPI. Collective over \p comm.
template <std::size_t N>
void sumOverRanks(std::array<double, N>& values, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(N), MPI_DOUBLE, MPI_SUM, comm);
}

}  // namespace capstan::driver
