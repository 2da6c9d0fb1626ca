// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Loops over the rows of a triangle in the order of the levels, four at once where they may be.

#include <cstddef>
#include <cstring>
#include <vector>

#include "adapters/openfoam/four_rows.hpp"
#include "adapters/openfoam/level_order.hpp"

// All code for AVX2 of its library is in this namespace [symbols.capstanFoamTrilinos.instructions].
namespace capstan::foam::detail::avx2 {

typedef double Four __attribute__((vector_size(4 * sizeof(double))));

/// One number, or four that follow each other, anywhere.
template <class V>
CAPSTAN_FOUR_ROWS inline V get(const double* values) {
  V value;
  std::memcpy(&value, values, sizeof(V));
  return value;
}
template <class V>
CAPSTAN_FOUR_ROWS inline void put(double* values, V value) {
  std::memcpy(values, &value, sizeof(V));
}

/// The entries of x for the values of four rows from place i of a triangle on: `strip` is the one of its run, where
/// that has strips.
template <LevelOrder::Kind kind>
CAPSTAN_FOUR_ROWS inline Four columnsOf(const double* x, const int* column, const int* strip, int i) {
  if constexpr (kind == LevelOrder::Kind::Strips) {
    static_cast<void>(column), static_cast<void>(i);
    return get<Four>(x + *strip);
  } else {
    static_cast<void>(strip);
    return Four{x[column[i]], x[column[i + 1]], x[column[i + 2]], x[column[i + 3]]};
  }
}

/// A triangle with its values, and which numbers of a run are its own.
struct Entries {
  const LevelOrder::Triangle& triangle;
  const double* value;
  int LevelOrder::Run::*width;
  int LevelOrder::Run::*strips;
};

/// The sum of value times x over the entries of four rows.
template <LevelOrder::Kind kind>
CAPSTAN_FOUR_ROWS inline Four sumOfFour(const double* value, const int* column, const double* x, int i, int width,
                                        const int* strip) {
  Four sum = {};
  for (int k = 0; k < width; ++k, i += 4, ++strip) sum += get<Four>(value + i) * columnsOf<kind>(x, column, strip, i);
  return sum;
}

template <LevelOrder::Kind kind, class Finish>
CAPSTAN_FOUR_ROWS inline void foursUpwards(const LevelOrder::Run& run, const Entries& entries, const double* x,
                                           Finish& finish) {
  const double* const value = entries.value;
  const int* const column = entries.triangle.column.data();
  const int* strip = entries.triangle.strip.data() + run.*entries.strips;
  const int width = run.*entries.width, end = run.end;
  int i = entries.triangle.start[static_cast<std::size_t>(run.first)];
  for (int row = run.first; row < end; row += 4, i += 4 * width, strip += width) {
    finish(row, sumOfFour<kind>(value, column, x, i, width, strip));
  }
}

template <LevelOrder::Kind kind, class Finish>
CAPSTAN_FOUR_ROWS inline void foursDownwards(const LevelOrder::Run& run, const Entries& entries, const double* x,
                                             Finish& finish) {
  const double* const value = entries.value;
  const int* const column = entries.triangle.column.data();
  const int width = run.*entries.width, first = run.first;
  const int* strip =
      entries.triangle.strip.data() + run.*entries.strips + static_cast<std::ptrdiff_t>(run.end - first) / 4 * width;
  int i = entries.triangle.start[static_cast<std::size_t>(run.end)];
  for (int row = run.end - 4; row >= first; row -= 4) {
    i -= 4 * width;
    strip -= width;
    finish(row, sumOfFour<kind>(value, column, x, i, width, strip));
  }
}

/// The sum of value times x over the entries of a row.
CAPSTAN_FOUR_ROWS inline double sumOfRow(const Entries& entries, const double* x, int row) {
  const int* const start = entries.triangle.start.data();
  const int* const column = entries.triangle.column.data();
  double sum = 0;
  for (int i = start[row], end = start[row + 1]; i < end; ++i) sum += entries.value[i] * x[column[i]];
  return sum;
}

/// Some of an order's runs, which follow each other.
struct Runs {
  const LevelOrder::Run *begin, *end;
};
inline Runs all(const LevelOrder& order) { return {order.runs().data(), order.runs().data() + order.runs().size()}; }
/// Those before the given one, and the others.
inline Runs before(const LevelOrder& order, std::size_t run) {
  return {order.runs().data(), order.runs().data() + run};
}
inline Runs from(const LevelOrder& order, std::size_t run) { return {order.runs().data() + run, all(order).end}; }

/// finish(row, sum) for all rows of the runs, in their order: the sum of value times x over the row's entries, of one
/// row or of four from `row` on. Earlier rows are finished before.
template <class Finish>
CAPSTAN_FOUR_ROWS inline void upwards(const Runs& runs, const Entries& entries, const double* x, Finish&& finish) {
  for (const auto* run = runs.begin; run != runs.end; ++run) {
    if (run->kind == LevelOrder::Kind::Strips) {
      foursUpwards<LevelOrder::Kind::Strips>(*run, entries, x, finish);
    } else if (run->kind == LevelOrder::Kind::Apart) {
      foursUpwards<LevelOrder::Kind::Apart>(*run, entries, x, finish);
    } else {
      for (int row = run->first; row < run->end; ++row) finish(row, sumOfRow(entries, x, row));
    }
  }
}

/// The same from the last row to the first.
template <class Finish>
CAPSTAN_FOUR_ROWS inline void downwards(const Runs& runs, const Entries& entries, const double* x, Finish finish) {
  for (const auto* run = runs.end; run != runs.begin;) {
    --run;
    if (run->kind == LevelOrder::Kind::Strips) {
      foursDownwards<LevelOrder::Kind::Strips>(*run, entries, x, finish);
    } else if (run->kind == LevelOrder::Kind::Apart) {
      foursDownwards<LevelOrder::Kind::Apart>(*run, entries, x, finish);
    } else {
      for (int row = run->end; row-- > run->first;) finish(row, sumOfRow(entries, x, row));
    }
  }
}

}  // namespace capstan::foam::detail::avx2
