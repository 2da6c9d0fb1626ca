// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/ordered_matrix.hpp"

#include <cstddef>
#include <utility>

#include "adapters/openfoam/four_rows.hpp"

namespace capstan::foam {
namespace {

using Run = LevelOrder::Run;

/// A triangle with its values.
struct Entries {
  Entries(const LevelOrder::Triangle& triangle, const std::vector<double>& values)
      : start(triangle.start.data()), column(triangle.column.data()), value(values.data()) {}
  const int* __restrict__ start;
  const int* __restrict__ column;
  const double* __restrict__ value;
};

// By faces: entries of neighbouring faces stay in the caches until the next ones come, not so the other way round.
void scatter(const LevelOrder::Triangle& triangle, const double* from, double sign, std::vector<double>& to) {
  const std::size_t faces = triangle.entry.size();
  to.resize(faces);
  for (std::size_t face = 0; face < faces; ++face)
    to[static_cast<std::size_t>(triangle.entry[face])] = sign * from[face];
}

void multiplyRows(const Run& run, const Entries& below, const Entries& above, const double* __restrict__ diagonal,
                  const double* __restrict__ x, double* __restrict__ y) {
  int i = below.start[run.first], k = above.start[run.first];
  for (int row = run.first; row < run.end; ++row) {
    double sum = diagonal[row] * x[row];
    for (const int end = below.start[row + 1]; i < end; ++i) sum += below.value[i] * x[below.column[i]];
    for (const int end = above.start[row + 1]; k < end; ++k) sum += above.value[k] * x[above.column[k]];
    y[row] = sum;
  }
}

/// (D + L) y = r.
void solveBelow(const Run& run, const Entries& below, const double* __restrict__ reciprocal,
                const double* __restrict__ r, double* __restrict__ y) {
  int i = below.start[run.first];
  for (int row = run.first; row < run.end; ++row) {
    double sum = r[row];
    for (const int end = below.start[row + 1]; i < end; ++i) sum -= below.value[i] * y[below.column[i]];
    y[row] = reciprocal[row] * sum;
  }
}

/// (D + U) z = D y, in place.
void solveAbove(const Run& run, const Entries& above, const double* __restrict__ reciprocal, double* __restrict__ z) {
  int k = above.start[run.end];
  for (int row = run.end; row-- > run.first;) {
    double sum = 0;
    for (const int start = above.start[row]; k > start; --k) sum += above.value[k - 1] * z[above.column[k - 1]];
    z[row] -= reciprocal[row] * sum;
  }
}

void factorizeRows(const Run& run, const Entries& below, const double* across, const double* diagonal,
                   double* reciprocal) {
  int i = below.start[run.first];
  for (int row = run.first; row < run.end; ++row) {
    double rest = diagonal[row];
    for (const int end = below.start[row + 1]; i < end; ++i) {
      rest -= below.value[i] * across[i] * reciprocal[below.column[i]];
    }
    reciprocal[row] = 1 / rest;
  }
}

typedef double Four __attribute__((vector_size(4 * sizeof(double)), aligned(alignof(double)), may_alias));

}  // namespace

// The only code for AVX2 in its library [symbols.capstanFoamTrilinos.instructions].
namespace detail::avx2 {
namespace {

CAPSTAN_FOUR_ROWS void multiplyFours(const Run& run, const int* offset, const Entries& below, const Entries& above,
                                     const double* diagonal, const double* x, double* y) {
  const double* value = below.value + below.start[run.first];
  const double* next = above.value + above.start[run.first];
  const int* const offsetAbove = offset + run.below;
  for (int row = run.first; row < run.end; row += 4) {
    Four sum = *reinterpret_cast<const Four*>(diagonal + row) * *reinterpret_cast<const Four*>(x + row);
    for (int k = 0; k < run.below; ++k, value += 4) {
      sum += *reinterpret_cast<const Four*>(value) * *reinterpret_cast<const Four*>(x + row + offset[k]);
    }
    for (int k = 0; k < run.above; ++k, next += 4) {
      sum += *reinterpret_cast<const Four*>(next) * *reinterpret_cast<const Four*>(x + row + offsetAbove[k]);
    }
    *reinterpret_cast<Four*>(y + row) = sum;
  }
}

CAPSTAN_FOUR_ROWS void factorizeFours(const Run& run, const int* offset, const Entries& below, const double* across,
                                      const double* diagonal, double* reciprocal) {
  int i = below.start[run.first];
  for (int row = run.first; row < run.end; row += 4) {
    Four rest = *reinterpret_cast<const Four*>(diagonal + row);
    for (int k = 0; k < run.below; ++k, i += 4) {
      rest -= *reinterpret_cast<const Four*>(below.value + i) * *reinterpret_cast<const Four*>(across + i) *
              *reinterpret_cast<const Four*>(reciprocal + row + offset[k]);
    }
    *reinterpret_cast<Four*>(reciprocal + row) = 1.0 / rest;
  }
}

CAPSTAN_FOUR_ROWS void solveFoursBelow(const Run& run, const int* offset, const Entries& below,
                                       const double* reciprocal, const double* r, double* y) {
  const double* value = below.value + below.start[run.first];
  for (int row = run.first; row < run.end; row += 4) {
    Four sum = *reinterpret_cast<const Four*>(r + row);
    for (int k = 0; k < run.below; ++k, value += 4) {
      sum -= *reinterpret_cast<const Four*>(value) * *reinterpret_cast<const Four*>(y + row + offset[k]);
    }
    *reinterpret_cast<Four*>(y + row) = *reinterpret_cast<const Four*>(reciprocal + row) * sum;
  }
}

CAPSTAN_FOUR_ROWS void solveFoursAbove(const Run& run, const int* offset, const Entries& above,
                                       const double* reciprocal, double* z) {
  const double* value = above.value + above.start[run.end];
  const int* const offsetAbove = offset + run.below;
  for (int row = run.end - 4; row >= run.first; row -= 4) {
    Four sum = {};
    for (int k = run.above; k-- > 0;) {
      value -= 4;
      sum += *reinterpret_cast<const Four*>(value) * *reinterpret_cast<const Four*>(z + row + offsetAbove[k]);
    }
    *reinterpret_cast<Four*>(z + row) -= *reinterpret_cast<const Four*>(reciprocal + row) * sum;
  }
}

}  // namespace
}  // namespace detail::avx2

void OrderedMatrix::take(std::shared_ptr<const LevelOrder> order, const double* diag, const double* lower,
                         const double* upper, double sign) {
  order_ = std::move(order);
  const std::size_t cells = order_->cells();
  diagonal_.resize(cells);
  const int* const place = order_->places().data();
  for (std::size_t cell = 0; cell < cells; ++cell) diagonal_[static_cast<std::size_t>(place[cell])] = sign * diag[cell];
  scatter(order_->below(), lower, sign, below_);
  scatter(order_->above(), upper, sign, above_);
  factorize(upper, sign, lower == upper);
}

void OrderedMatrix::multiply(const double* x, double* y) const {
  const Entries below(order_->below(), below_), above(order_->above(), above_);
  for (const Run& run : order_->runs()) {
    if (run.fours) {
      detail::avx2::multiplyFours(run, order_->offsets().data() + run.offsets, below, above, diagonal_.data(), x, y);
    } else {
      multiplyRows(run, below, above, diagonal_.data(), x, y);
    }
  }
}

void OrderedMatrix::solve(const double* r, double* z) const {
  const Entries below(order_->below(), below_), above(order_->above(), above_);
  const auto& runs = order_->runs();
  const int* const offsets = order_->offsets().data();
  for (const Run& run : runs) {
    if (run.fours) {
      detail::avx2::solveFoursBelow(run, offsets + run.offsets, below, reciprocal_.data(), r, z);
    } else {
      solveBelow(run, below, reciprocal_.data(), r, z);
    }
  }
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->fours) {
      detail::avx2::solveFoursAbove(*run, offsets + run->offsets, above, reciprocal_.data(), z);
    } else {
      solveAbove(*run, above, reciprocal_.data(), z);
    }
  }
}

// D_i = a_ii - sum_j l_ij u_ji / D_j over the lower neighbours j.
void OrderedMatrix::factorize(const double* upper, double sign, bool symmetric) {
  reciprocal_.resize(order_->cells());
  const auto& triangle = order_->below();
  const Entries below(triangle, below_);
  // Of the upper neighbours' rows, in the places of below_.
  const double* across = below_.data();
  if (!symmetric) {
    scatter(triangle, upper, sign, across_);
    across = across_.data();
  }
  for (const Run& run : order_->runs()) {
    if (run.fours) {
      detail::avx2::factorizeFours(run, order_->offsets().data() + run.offsets, below, across, diagonal_.data(),
                                   reciprocal_.data());
    } else {
      factorizeRows(run, below, across, diagonal_.data(), reciprocal_.data());
    }
  }
}

}  // namespace capstan::foam
