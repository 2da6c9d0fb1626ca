// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/ordered_matrix.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "adapters/openfoam/level_sweeps.hpp"

namespace capstan::foam {
namespace {

using Run = LevelOrder::Run;
using Kind = LevelOrder::Kind;

// By faces: entries of neighbouring faces stay in the caches until the next ones come, not so the other way round.
// Entries of no face stay as they are.
void scatter(const LevelOrder::Triangle& triangle, const double* from, double sign, std::vector<double>& to) {
  for (std::size_t face = 0; face < triangle.entry.size(); ++face)
    to[static_cast<std::size_t>(triangle.entry[face])] = sign * from[face];
}

}  // namespace

namespace detail::avx2 {
namespace {

Entries entriesBelow(const LevelOrder& order, const std::vector<double>& values) {
  return {order.below(), values.data(), &Run::below, &Run::stripBelow};
}
Entries entriesAbove(const LevelOrder& order, const std::vector<double>& values) {
  return {order.above(), values.data(), &Run::above, &Run::stripAbove};
}

// What becomes of a row, or four, and its sum s over a triangle.

/// y = x + s
struct Add {
  const double* x;
  double* y;
  template <class V>
  CAPSTAN_FOUR_ROWS void operator()(int row, V s) const {
    put<V>(y + row, get<V>(x + row) + s);
  }
};
/// y = x - s
struct Subtract {
  const double* x;
  double* y;
  template <class V>
  CAPSTAN_FOUR_ROWS void operator()(int row, V s) const {
    put<V>(y + row, get<V>(x + row) - s);
  }
};
/// y = f x - s
struct ScaleAndSubtract {
  const double *f, *x;
  double* y;
  template <class V>
  CAPSTAN_FOUR_ROWS void operator()(int row, V s) const {
    put<V>(y + row, get<V>(f + row) * get<V>(x + row) - s);
  }
};
/// g = v + (d - 2) u (+ added) - s in the place of u, and w = u + g.
template <bool adds>
struct EndSplit {
  const double *v, *d, *added;
  double *u, *w;
  template <class V>
  CAPSTAN_FOUR_ROWS void operator()(int row, V s) const {
    const V old = get<V>(u + row);
    V g = get<V>(v + row) + (get<V>(d + row) - 2) * old - s;
    if constexpr (adds) g += get<V>(added + row);
    put<V>(w + row, old + g);
    put<V>(u + row, g);
  }
};
/// sum += |f (z + s)|
struct AbsoluteSum {
  const double *f, *z;
  Four fours = {};
  double ones = 0;
  CAPSTAN_FOUR_ROWS void operator()(int row, double s) { ones += std::abs(f[row] * (z[row] + s)); }
  CAPSTAN_FOUR_ROWS void operator()(int row, Four s) {
    const Four value = get<Four>(f + row) * (get<Four>(z + row) + s);
    fours += value < 0 ? -value : value;
  }
};

/// y = f (d x + L x + U x), or without f.
template <bool scales>
CAPSTAN_FOUR_ROWS void multiply(const LevelOrder& order, const Entries below, const Entries above, const double* d,
                                const double* x, const double* f, double* y) {
  const int* const starts = below.triangle.start.data();
  const int* const startsAbove = above.triangle.start.data();
  const int* const column = below.triangle.column.data();
  const int* const columnAbove = above.triangle.column.data();
  const auto finish = [&](int row, auto sum) CAPSTAN_FOUR_ROWS {
    using V = decltype(sum);
    V value = get<V>(d + row) * get<V>(x + row) + sum;
    if constexpr (scales) value *= get<V>(f + row);
    put<V>(y + row, value);
  };
  for (const auto& run : order.runs()) {
    if (run.kind == Kind::Rows) {
      for (int row = run.first; row < run.end; ++row) finish(row, sumOfRow(below, x, row) + sumOfRow(above, x, row));
      continue;
    }
    const bool strips = run.kind == Kind::Strips;
    int i = starts[run.first], j = startsAbove[run.first];
    const int* strip = below.triangle.strip.data() + run.stripBelow;
    const int* stripAbove = above.triangle.strip.data() + run.stripAbove;
    for (int row = run.first; row < run.end; row += 4, i += 4 * run.below, j += 4 * run.above) {
      if (strips) {
        finish(row, sumOfFour<Kind::Strips>(below.value, column, x, i, run.below, strip) +
                        sumOfFour<Kind::Strips>(above.value, columnAbove, x, j, run.above, stripAbove));
        strip += run.below;
        stripAbove += run.above;
      } else {
        finish(row, sumOfFour<Kind::Apart>(below.value, column, x, i, run.below, nullptr) +
                        sumOfFour<Kind::Apart>(above.value, columnAbove, x, j, run.above, nullptr));
      }
    }
  }
}
CAPSTAN_FOUR_ROWS void solveLeft(const LevelOrder& order, const Entries below, const double* scale, const double* r,
                                 double* z) {
  upwards(all(order), below, z, ScaleAndSubtract{scale, r, z});
}
CAPSTAN_FOUR_ROWS void solveRight(const Runs& runs, const Entries above, const double* u, double* d) {
  downwards(runs, above, d, Subtract{u, d});
}
CAPSTAN_FOUR_ROWS void multiplyRight(const LevelOrder& order, const Entries above, const double* x, double* u) {
  upwards(all(order), above, x, Add{x, u});
}
CAPSTAN_FOUR_ROWS void endSplit(const Runs& runs, const Entries below, const double* diag, const double* v,
                                const double* added, double* u, double* w) {
  if (added == nullptr) {
    upwards(runs, below, u, EndSplit<false>{v, diag, nullptr, u, w});
  } else {
    upwards(runs, below, u, EndSplit<true>{v, diag, added, u, w});
  }
}
CAPSTAN_FOUR_ROWS double absoluteSum(const LevelOrder& order, const Entries below, const double* scale,
                                     const double* z) {
  AbsoluteSum sum{scale, z};
  upwards(all(order), below, z, sum);
  return sum.ones + ((sum.fours[0] + sum.fours[1]) + (sum.fours[2] + sum.fours[3]));
}

/// D_i = a_ii - sum_j l_ij u_ji / D_j over the lower neighbours j.  \param mirrored u_ji, in the places of the l_ij
/// \param d 1 / D
CAPSTAN_FOUR_ROWS void factorize(const LevelOrder& order, const Entries below, const double* mirrored,
                                 const double* diag, double* d) {
  const int* const column = below.triangle.column.data();
  for (const auto& run : order.runs()) {
    int i = below.triangle.start[static_cast<std::size_t>(run.first)];
    if (run.kind == Kind::Rows) {
      for (int row = run.first; row < run.end; ++row) {
        double rest = diag[row];
        for (const int end = below.triangle.start[static_cast<std::size_t>(row) + 1]; i < end; ++i) {
          rest -= below.value[i] * mirrored[i] * d[column[i]];
        }
        d[row] = 1 / rest;
      }
      continue;
    }
    const int* strip = below.triangle.strip.data() + run.stripBelow;
    for (int row = run.first; row < run.end; row += 4) {
      Four rest = get<Four>(diag + row);
      for (int k = 0; k < run.below; ++k, i += 4, ++strip) {
        const Four inverse = run.kind == Kind::Strips ? columnsOf<Kind::Strips>(d, column, strip, i)
                                                      : columnsOf<Kind::Apart>(d, column, strip, i);
        rest -= get<Four>(below.value + i) * get<Four>(mirrored + i) * inverse;
      }
      put<Four>(d + row, 1 / rest);
    }
  }
}

/// a of 1 / D, which is in `left`, for a = c; 1 / a; a diag c. Returns whether there is one.
CAPSTAN_FOUR_ROWS bool scaleSymmetrically(std::size_t rows, double* left, double* inverse, double* diag) {
  bool suits = true;
  for (std::size_t row = 0; row < rows; ++row) {
    const double reciprocal = left[row];
    suits = suits & (reciprocal > 0) & (reciprocal <= std::numeric_limits<double>::max());
    left[row] = std::sqrt(reciprocal);
    inverse[row] = 1 / left[row];
    diag[row] *= reciprocal;
  }
  return suits;
}

/// value <- a value c, of one triangle.
CAPSTAN_FOUR_ROWS void scaleEntries(const LevelOrder& order, const Entries entries, const double* a, const double* c,
                                    double* value) {
  const int* const column = entries.triangle.column.data();
  for (const auto& run : order.runs()) {
    int i = entries.triangle.start[static_cast<std::size_t>(run.first)];
    if (run.kind == Kind::Rows) {
      for (int row = run.first; row < run.end; ++row) {
        for (const int end = entries.triangle.start[static_cast<std::size_t>(row) + 1]; i < end; ++i) {
          value[i] *= a[row] * c[column[i]];
        }
      }
      continue;
    }
    const int width = run.*entries.width;
    const int* strip = entries.triangle.strip.data() + run.*entries.strips;
    for (int row = run.first; row < run.end; row += 4) {
      const Four left = get<Four>(a + row);
      for (int k = 0; k < width; ++k, i += 4, ++strip) {
        const Four right = run.kind == Kind::Strips ? columnsOf<Kind::Strips>(c, column, strip, i)
                                                    : columnsOf<Kind::Apart>(c, column, strip, i);
        put<Four>(value + i, get<Four>(value + i) * left * right);
      }
    }
  }
}

}  // namespace
}  // namespace detail::avx2

using namespace detail::avx2;

bool OrderedMatrix::take(std::shared_ptr<const LevelOrder> order, const double* diag, const double* lower,
                         const double* upper, double sign, bool comesAgain) {
  if (order_ == order && hasTaken(diag, lower, upper, sign)) return false;
  last_.known = false;
  if (order_ != order) {
    order_ = std::move(order);
    below_.assign(order_->below().column.size(), 0);
    above_.assign(order_->above().column.size(), 0);
    across_.clear();
    for (auto* const vector : {&diagonal_, &left_, &inverseLeft_, &scratch_}) vector->resize(order_->cells());
  }
  symmetric_ = lower == upper;
  const int* const place = order_->places().data();
  for (std::size_t cell = 0; cell < order_->cells(); ++cell) {
    diagonal_[static_cast<std::size_t>(place[cell])] = sign * diag[cell];
  }
  scatter(order_->below(), lower, sign, below_);
  scatter(order_->above(), upper, sign, above_);
  factorize(upper, sign);
  factored_ = scaleByFactors();
  if (!factored_) scaleByDiagonal(diag, sign);
  if (!symmetric_) right_.assign(order_->cells(), 1);
  scaleEntries(*order_, entriesBelow(*order_, below_), left(), right(), below_.data());
  scaleEntries(*order_, entriesAbove(*order_, above_), left(), right(), above_.data());
  if (comesAgain) copy(diag, lower, upper, sign);
  return true;
}

bool OrderedMatrix::hasTaken(const double* diag, const double* lower, const double* upper, double sign) const {
  const auto same = [](const std::vector<double>& copy, const double* values) {
    return copy.empty() || std::memcmp(copy.data(), values, copy.size() * sizeof(double)) == 0;
  };
  return last_.known && last_.sign == sign && last_.symmetric == (lower == upper) && same(last_.diag, diag) &&
         same(last_.lower, lower) && same(last_.upper, upper);
}

void OrderedMatrix::copy(const double* diag, const double* lower, const double* upper, double sign) {
  const auto faces = static_cast<std::ptrdiff_t>(order_->below().entry.size());
  last_.sign = sign;
  last_.symmetric = symmetric_;
  last_.diag.assign(diag, diag + order_->cells());
  last_.lower.assign(lower, lower + faces);
  last_.upper.assign(upper, symmetric_ ? upper : upper + faces);
  last_.known = true;
}

// left_ <- 1 / D.
void OrderedMatrix::factorize(const double* upper, double sign) {
  if (!symmetric_) {
    across_.resize(below_.size(), 0);
    scatter(order_->below(), upper, sign, across_);
  }
  const double* const mirrored = (symmetric_ ? below_ : across_).data();
  detail::avx2::factorize(*order_, entriesBelow(*order_, below_), mirrored, diagonal_.data(), left_.data());
}

// a, 1 / a, c and a diag(A) c of 1 / D, which is in left_. False where that cannot be.
bool OrderedMatrix::scaleByFactors() {
  if (symmetric_) return scaleSymmetrically(left_.size(), left_.data(), inverseLeft_.data(), diagonal_.data());
  for (std::size_t row = 0; row < left_.size(); ++row) {
    if (!std::isfinite(left_[row]) || left_[row] == 0) return false;
    inverseLeft_[row] = 1 / left_[row];
    diagonal_[row] *= left_[row];
  }
  return true;
}

// The same of the diagonal of A.
void OrderedMatrix::scaleByDiagonal(const double* diag, double sign) {
  for (std::size_t cell = 0; cell < left_.size(); ++cell) {
    const auto row = static_cast<std::size_t>(order_->places()[cell]);
    const double value = sign * diag[cell], size = std::abs(value);
    const double reciprocal = size > 0 && std::isfinite(size) ? 1 / size : 1;
    left_[row] = symmetric_ ? std::sqrt(reciprocal) : reciprocal;
    inverseLeft_[row] = 1 / left_[row];
    diagonal_[row] = value * left_[row] * (symmetric_ ? left_[row] : 1);
  }
}

// a A c applied to x / c.
void OrderedMatrix::multiply(const double* x, double* y) const {
  const double* scaled = x;
  if (symmetric_) {
    for (std::size_t row = 0; row < scratch_.size(); ++row) scratch_[row] = x[row] * inverseLeft_[row];
    scaled = scratch_.data();
  }
  detail::avx2::multiply<true>(*order_, entriesBelow(*order_, below_), entriesAbove(*order_, above_), diagonal_.data(),
                               scaled, inverseLeft_.data(), y);
}

void OrderedMatrix::solve(const double* r, double* z) const {
  solveLeft(r, z);
  solveRight(z, z);
}

void OrderedMatrix::solveLeft(const double* r, double* z) const {
  if (factored_) return detail::avx2::solveLeft(*order_, entriesBelow(*order_, below_), left(), r, z);
  for (std::size_t row = 0; row < left_.size(); ++row) z[row] = left_[row] * r[row];
}

void OrderedMatrix::solveRight(const double* u, double* d) const {
  if (factored_) {
    detail::avx2::solveRight(all(*order_), entriesAbove(*order_, above_), u, d);
    u = d;
  }
  const double* const c = right();
  for (std::size_t row = 0; row < left_.size(); ++row) d[row] = c[row] * u[row];
}

void OrderedMatrix::multiplyRight(const double* d, double* u) const {
  const double* const c = right();
  double* const scaled = factored_ ? scratch_.data() : u;
  for (std::size_t row = 0; row < left_.size(); ++row) scaled[row] = d[row] / c[row];
  if (factored_) detail::avx2::multiplyRight(*order_, entriesAbove(*order_, above_), scaled, u);
}

double OrderedMatrix::absoluteSum(const double* z) const {
  if (factored_) return detail::avx2::absoluteSum(*order_, entriesBelow(*order_, below_), inverseLeft_.data(), z);
  double sum = 0;
  for (std::size_t row = 0; row < left_.size(); ++row) sum += std::abs(inverseLeft_[row] * z[row]);
  return sum;
}

const double* OrderedMatrix::beginSplit(const double* v, std::size_t run) const {
  if (!factored_) return v;
  detail::avx2::solveRight(from(*order_, run), entriesAbove(*order_, above_), v, scratch_.data());
  return scratch_.data();
}

void OrderedMatrix::goOnSplit(const double* v, double* w, std::size_t run) const {
  if (!factored_) return;
  const auto runs = before(*order_, run);
  detail::avx2::solveRight(runs, entriesAbove(*order_, above_), v, scratch_.data());
  detail::avx2::endSplit(runs, entriesBelow(*order_, below_), diagonal_.data(), v, nullptr, scratch_.data(), w);
}

void OrderedMatrix::endSplit(const double* v, const double* added, double* w, std::size_t run) const {
  const auto below = entriesBelow(*order_, below_);
  if (factored_) {
    return detail::avx2::endSplit(from(*order_, run), below, diagonal_.data(), v, added, scratch_.data(), w);
  }
  detail::avx2::multiply<false>(*order_, below, entriesAbove(*order_, above_), diagonal_.data(), v, nullptr, w);
  for (std::size_t row = 0; added != nullptr && row < left_.size(); ++row) w[row] += added[row];
}

}  // namespace capstan::foam
