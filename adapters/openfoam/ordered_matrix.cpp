// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/ordered_matrix.hpp"

#include <cstddef>
#include <utility>

#include "adapters/openfoam/four_rows.hpp"

namespace capstan::foam {
namespace {

using Run = LevelOrder::Run;
using Kind = LevelOrder::Kind;

/// A triangle with its values.
struct Entries {
  Entries(const LevelOrder::Triangle& triangle, const std::vector<double>& values)
      : start(triangle.start.data()), column(triangle.column.data()), value(values.data()) {}
  const int* __restrict__ start;
  const int* __restrict__ column;
  const double* __restrict__ value;
};

// By faces: entries of neighbouring faces stay in the caches until the next ones come, not so the other way round.
// Entries of no face stay as they are.
void scatter(const LevelOrder::Triangle& triangle, const double* from, double sign, std::vector<double>& to) {
  for (std::size_t face = 0; face < triangle.entry.size(); ++face)
    to[static_cast<std::size_t>(triangle.entry[face])] = sign * from[face];
}

// Rows one by one.

inline void multiplyRows(const Run& run, const Entries& below, const Entries& above, const double* diagonal,
                         const double* __restrict__ x, double* __restrict__ y) {
  int i = below.start[run.first], k = above.start[run.first];
  for (int row = run.first; row < run.end; ++row) {
    double sum = diagonal[row] * x[row];
    for (const int end = below.start[row + 1]; i < end; ++i) sum += below.value[i] * x[below.column[i]];
    for (const int end = above.start[row + 1]; k < end; ++k) sum += above.value[k] * x[above.column[k]];
    y[row] = sum;
  }
}

inline void factorizeRows(const Run& run, const Entries& below, const double* across, const double* diagonal,
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

/// (D + L) y = r.
inline void solveRowsBelow(const Run& run, const Entries& below, const double* reciprocal, const double* __restrict__ r,
                           double* __restrict__ y) {
  int i = below.start[run.first];
  for (int row = run.first; row < run.end; ++row) {
    double sum = r[row];
    for (const int end = below.start[row + 1]; i < end; ++i) sum -= below.value[i] * y[below.column[i]];
    y[row] = reciprocal[row] * sum;
  }
}

/// (D + U) z = D y, in place.
inline void solveRowsAbove(const Run& run, const Entries& above, const double* reciprocal, double* __restrict__ z) {
  int k = above.start[run.end];
  for (int row = run.end; row-- > run.first;) {
    double sum = 0;
    for (const int start = above.start[row]; k > start; --k) sum += above.value[k - 1] * z[above.column[k - 1]];
    z[row] -= reciprocal[row] * sum;
  }
}

typedef double Four __attribute__((vector_size(4 * sizeof(double)), aligned(alignof(double)), may_alias));

}  // namespace

// Four rows at once: the only code for AVX2 in its library [symbols.capstanFoamTrilinos.instructions]. The loops over
// runs stand here, too: to change between the two kinds of code costs as much as some rows.
namespace detail::avx2 {
namespace {

CAPSTAN_FOUR_ROWS inline Four four(const double* values) { return *reinterpret_cast<const Four*>(values); }
CAPSTAN_FOUR_ROWS inline void put(double* values, Four four) { *reinterpret_cast<Four*>(values) = four; }

/// The entries of x for the four values of a triangle from place i on.
struct Strips {
  const int* begin;
  int first;  // place of the run's first value
  CAPSTAN_FOUR_ROWS Four operator()(const double* x, int i) const { return four(x + begin[(i - first) / 4]); }
};
struct Apart {
  const int* column;
  CAPSTAN_FOUR_ROWS Four operator()(const double* x, int i) const {
    return Four{x[column[i]], x[column[i + 1]], x[column[i + 2]], x[column[i + 3]]};
  }
};

template <class Columns>
CAPSTAN_FOUR_ROWS inline void multiplyFours(const Run run, Columns inBelow, Columns inAbove, const Entries below,
                                            const Entries above, const double* diagonal, const double* x, double* y) {
  int i = below.start[run.first], j = above.start[run.first];
  for (int row = run.first; row < run.end; row += 4) {
    Four sum = four(diagonal + row) * four(x + row);
    for (int k = 0; k < run.below; ++k, i += 4) sum += four(below.value + i) * inBelow(x, i);
    for (int k = 0; k < run.above; ++k, j += 4) sum += four(above.value + j) * inAbove(x, j);
    put(y + row, sum);
  }
}

template <class Columns>
CAPSTAN_FOUR_ROWS inline void factorizeFours(const Run run, Columns columns, const Entries below, const double* across,
                                             const double* diagonal, double* reciprocal) {
  int i = below.start[run.first];
  for (int row = run.first; row < run.end; row += 4) {
    Four rest = four(diagonal + row);
    for (int k = 0; k < run.below; ++k, i += 4) {
      rest -= four(below.value + i) * four(across + i) * columns(reciprocal, i);
    }
    put(reciprocal + row, 1.0 / rest);
  }
}

template <class Columns>
CAPSTAN_FOUR_ROWS inline void solveFoursBelow(const Run run, Columns columns, const Entries below,
                                              const double* reciprocal, const double* r, double* y) {
  int i = below.start[run.first];
  for (int row = run.first; row < run.end; row += 4) {
    Four sum = four(r + row);
    for (int k = 0; k < run.below; ++k, i += 4) sum -= four(below.value + i) * columns(y, i);
    put(y + row, four(reciprocal + row) * sum);
  }
}

template <class Columns>
CAPSTAN_FOUR_ROWS inline void solveFoursAbove(const Run run, Columns columns, const Entries above,
                                              const double* reciprocal, double* z) {
  int i = above.start[run.end];
  for (int row = run.end - 4; row >= run.first; row -= 4) {
    Four sum = {};
    for (int k = 0; k < run.above; ++k) {
      i -= 4;
      sum += four(above.value + i) * columns(z, i);
    }
    put(z + row, four(z + row) - four(reciprocal + row) * sum);
  }
}

Strips stripsBelow(const LevelOrder& order, const Run& run) {
  return {order.below().strip.data() + run.stripBelow, order.below().start[static_cast<std::size_t>(run.first)]};
}
Strips stripsAbove(const LevelOrder& order, const Run& run) {
  return {order.above().strip.data() + run.stripAbove, order.above().start[static_cast<std::size_t>(run.first)]};
}

CAPSTAN_FOUR_ROWS void multiply(const LevelOrder& order, const Entries below, const Entries above,
                                const double* diagonal, const double* x, double* y) {
  for (const Run& run : order.runs()) {
    if (run.kind == Kind::Strips) {
      multiplyFours(run, stripsBelow(order, run), stripsAbove(order, run), below, above, diagonal, x, y);
    } else if (run.kind == Kind::Apart) {
      multiplyFours(run, Apart{below.column}, Apart{above.column}, below, above, diagonal, x, y);
    } else {
      multiplyRows(run, below, above, diagonal, x, y);
    }
  }
}

CAPSTAN_FOUR_ROWS void factorize(const LevelOrder& order, const Entries below, const double* across,
                                 const double* diagonal, double* reciprocal) {
  for (const Run& run : order.runs()) {
    if (run.kind == Kind::Strips) {
      factorizeFours(run, stripsBelow(order, run), below, across, diagonal, reciprocal);
    } else if (run.kind == Kind::Apart) {
      factorizeFours(run, Apart{below.column}, below, across, diagonal, reciprocal);
    } else {
      factorizeRows(run, below, across, diagonal, reciprocal);
    }
  }
}

CAPSTAN_FOUR_ROWS void solve(const LevelOrder& order, const Entries below, const Entries above,
                             const double* reciprocal, const double* r, double* z) {
  for (const Run& run : order.runs()) {
    if (run.kind == Kind::Strips) {
      solveFoursBelow(run, stripsBelow(order, run), below, reciprocal, r, z);
    } else if (run.kind == Kind::Apart) {
      solveFoursBelow(run, Apart{below.column}, below, reciprocal, r, z);
    } else {
      solveRowsBelow(run, below, reciprocal, r, z);
    }
  }
  for (auto run = order.runs().rbegin(); run != order.runs().rend(); ++run) {
    if (run->kind == Kind::Strips) {
      solveFoursAbove(*run, stripsAbove(order, *run), above, reciprocal, z);
    } else if (run->kind == Kind::Apart) {
      solveFoursAbove(*run, Apart{above.column}, above, reciprocal, z);
    } else {
      solveRowsAbove(*run, above, reciprocal, z);
    }
  }
}

}  // namespace
}  // namespace detail::avx2

void OrderedMatrix::take(std::shared_ptr<const LevelOrder> order, const double* diag, const double* lower,
                         const double* upper, double sign) {
  if (order_ != order) {
    order_ = std::move(order);
    below_.assign(order_->below().column.size(), 0);
    above_.assign(order_->above().column.size(), 0);
    across_.clear();
    diagonal_.resize(order_->cells());
    reciprocal_.resize(order_->cells());
  }
  const int* const place = order_->places().data();
  for (std::size_t cell = 0; cell < order_->cells(); ++cell) {
    diagonal_[static_cast<std::size_t>(place[cell])] = sign * diag[cell];
  }
  scatter(order_->below(), lower, sign, below_);
  scatter(order_->above(), upper, sign, above_);
  factorize(upper, sign, lower == upper);
}

void OrderedMatrix::multiply(const double* x, double* y) const {
  const Entries below(order_->below(), below_), above(order_->above(), above_);
  if (order_->hasFours()) return detail::avx2::multiply(*order_, below, above, diagonal_.data(), x, y);
  for (const Run& run : order_->runs()) multiplyRows(run, below, above, diagonal_.data(), x, y);
}

void OrderedMatrix::solve(const double* r, double* z) const {
  const Entries below(order_->below(), below_), above(order_->above(), above_);
  if (order_->hasFours()) return detail::avx2::solve(*order_, below, above, reciprocal_.data(), r, z);
  const auto& runs = order_->runs();
  for (const Run& run : runs) solveRowsBelow(run, below, reciprocal_.data(), r, z);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) solveRowsAbove(*run, above, reciprocal_.data(), z);
}

// D_i = a_ii - sum_j l_ij u_ji / D_j over the lower neighbours j.
void OrderedMatrix::factorize(const double* upper, double sign, bool symmetric) {
  const auto& triangle = order_->below();
  const Entries below(triangle, below_);
  // Of the upper neighbours' rows, in the places of below_.
  const double* across = below_.data();
  if (!symmetric) {
    across_.resize(below_.size(), 0);
    scatter(triangle, upper, sign, across_);
    across = across_.data();
  }
  if (order_->hasFours()) {
    return detail::avx2::factorize(*order_, below, across, diagonal_.data(), reciprocal_.data());
  }
  for (const Run& run : order_->runs()) factorizeRows(run, below, across, diagonal_.data(), reciprocal_.data());
}

}  // namespace capstan::foam
