#pragma once
/// \file
/// Rows of a sparse matrix times one column: rows of one pattern or of the same columns together, the others one by
/// one.
///
/// Every row is summed in the order of storage from zero on, by the same operations, whoever is beside it. Rows of one
/// pattern need no column numbers, a third of what the product reads, rows of the same columns those of the first
/// alone; both lie in registers side by side.

#include <cstddef>

#include "tpetra_ext/kernels/host/chunk_kernels.hpp"
#include "tpetra_ext/kernels/host/simd.hpp"

namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA {

/// A number as a type.
template <int N>
struct Number {
  static constexpr int value = N;
};

/// How far ahead of the sums a large matrix is asked for: the processor's own prefetchers stop at each page of 4 kB.
constexpr std::ptrdiff_t valuesAhead = 4096, columnsAhead = 2048;  // bytes
constexpr int cacheLine = 64;

template <class T>
CAPSTAN_INLINE void fetchAhead(const T* from, const T* to, std::ptrdiff_t ahead) {
  const auto* end = reinterpret_cast<const char*>(to);
  for (const auto* at = reinterpret_cast<const char*>(from); at < end; at += cacheLine) prefetch(at + ahead, 1);
}

/// sum + a b as the other kernels round it: products of single numbers side by side might be rounded before they are
/// added, where compilers see that they could lie in one register.
template <class T>
CAPSTAN_INLINE T plusProduct(T sum, T a, T b) {
#ifdef __FP_FAST_FMA
  if constexpr (sizeof(T) == 8) return __builtin_fma(a, b, sum);
  return static_cast<T>(__builtin_fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(sum)));
#else
  return sum + a * b;
#endif
}

/// x for an entry. `Plain`: nothing is received, and columns are where their numbers say.
template <bool Plain, class T>
CAPSTAN_INLINE T factorFor(const ChunkRows<T>& a, int column) {
  if (Plain) return a.x[column];
  const int source = a.sources == nullptr ? column : a.sources[column];
  return source < a.own || a.received == nullptr ? a.x[source] : a.received[source - a.own];
}

/// What y holds counts for nothing where beta is zero, NaN included.
template <class T>
CAPSTAN_INLINE void writeRow(const ChunkRows<T>& a, std::ptrdiff_t row, T sum) {
  a.y[row] = a.beta == T(0) ? a.alpha * sum : a.beta * a.y[row] + a.alpha * sum;
}

/// Entries k..end-1 of a row.
template <bool Plain, class T>
CAPSTAN_INLINE void multiplyOne(const ChunkRows<T>& a, std::ptrdiff_t row, std::size_t k, std::size_t end) {
  if (a.large) {
    fetchAhead(a.values + k, a.values + end, valuesAhead);
    fetchAhead(a.columns + k, a.columns + end, columnsAhead);
  }
  T sum = 0;
  for (; k + 2 <= end; k += 2) {
    sum = plusProduct(sum, a.values[k], factorFor<Plain>(a, a.columns[k]));
    sum = plusProduct(sum, a.values[k + 1], factorFor<Plain>(a, a.columns[k + 1]));
  }
  if (k < end) sum = plusProduct(sum, a.values[k], factorFor<Plain>(a, a.columns[k]));
  writeRow(a, row, sum);
}

template <bool Plain, class T>
CAPSTAN_INLINE void multiplyTwo(const ChunkRows<T>& a, std::ptrdiff_t row, std::ptrdiff_t next) {
  T sum = 0, nextSum = 0;
  std::size_t k = a.begin[row], n = a.begin[next];
  const std::size_t end = a.begin[row + 1], nextEnd = a.begin[next + 1];
  for (; k < end && n < nextEnd; ++k, ++n) {
    sum = plusProduct(sum, a.values[k], factorFor<Plain>(a, a.columns[k]));
    nextSum = plusProduct(nextSum, a.values[n], factorFor<Plain>(a, a.columns[n]));
  }
  for (; k < end; ++k) sum = plusProduct(sum, a.values[k], factorFor<Plain>(a, a.columns[k]));
  for (; n < nextEnd; ++n) nextSum = plusProduct(nextSum, a.values[n], factorFor<Plain>(a, a.columns[n]));
  writeRow(a, row, sum);
  writeRow(a, next, nextSum);
}

/// Whether so many rows have so many entries that additions wait for one another, unless two rows take turns. Short
/// rows overlap by themselves.
CAPSTAN_INLINE bool areLong(std::size_t entries, std::ptrdiff_t rows) {
  return entries > std::size_t(24) * static_cast<std::size_t>(rows);
}

/// Rows row..end-1, row by row.
template <bool Plain, class T>
CAPSTAN_INLINE void multiplyStretch(const ChunkRows<T>& a, std::ptrdiff_t row, std::ptrdiff_t end) {
  std::size_t k = a.begin[row];
  if (areLong(a.begin[end] - k, end - row)) {
    for (; row + 2 <= end; row += 2) multiplyTwo<Plain>(a, row, row + 1);
    k = a.begin[row];
  }
  for (; row < end; ++row) {
    const std::size_t next = a.begin[row + 1];
    multiplyOne<Plain>(a, row, k, next);
    k = next;
  }
}

/// Places from..to-1 of the list, row by row.
template <bool Plain, class T>
CAPSTAN_INLINE void multiplySingly(const ChunkRows<T>& a, std::ptrdiff_t from, std::ptrdiff_t to) {
  if (from >= to) return;
  if (a.rows == nullptr) return multiplyStretch<Plain>(a, from, to);
  std::ptrdiff_t k = from;
  // Roughly, where the list has gaps.
  if (areLong(a.begin[a.rows[to - 1] + 1] - a.begin[a.rows[from]], to - from)) {
    for (; k + 2 <= to; k += 2) multiplyTwo<Plain>(a, a.rows[k], a.rows[k + 1]);
  }
  for (; k < to; ++k) multiplyOne<Plain>(a, a.rows[k], a.begin[a.rows[k]], a.begin[a.rows[k] + 1]);
}

#if defined(__GNUC__) && !defined(__CUDACC__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define CAPSTAN_KERNELS_PATTERNS
#endif
#endif

#ifdef CAPSTAN_KERNELS_PATTERNS

/// Numbers of some rows, side by side.
template <class T, int Rows>
struct Side {
  typedef T Numbers __attribute__((vector_size(Rows * sizeof(T))));

  static CAPSTAN_INLINE Numbers load(const T* from) {
    Numbers numbers;
    std::memcpy(&numbers, from, sizeof(numbers));
    return numbers;
  }
  static CAPSTAN_INLINE Numbers spread(T number) { return number - Numbers{}; }
  static CAPSTAN_INLINE Numbers spread(const Numbers& numbers) { return numbers; }
};

/// Two neighbouring entries of rows that are `length` entries apart: the first ones of all rows, and the second ones.
template <class T>
CAPSTAN_INLINE void entriesOf(const T* values, std::ptrdiff_t length, typename Side<T, 2>::Numbers& first,
                              typename Side<T, 2>::Numbers& second) {
  const auto upper = Side<T, 2>::load(values), lower = Side<T, 2>::load(values + length);
  first = __builtin_shufflevector(upper, lower, 0, 2);
  second = __builtin_shufflevector(upper, lower, 1, 3);
}
template <class T>
CAPSTAN_INLINE void entriesOf(const T* values, std::ptrdiff_t length, typename Side<T, 4>::Numbers& first,
                              typename Side<T, 4>::Numbers& second) {
  const auto at = [values, length](int row) { return Side<T, 2>::load(values + row * length); };
  const auto upper = __builtin_shufflevector(at(0), at(2), 0, 1, 2, 3);
  const auto lower = __builtin_shufflevector(at(1), at(3), 0, 1, 2, 3);
  first = __builtin_shufflevector(upper, lower, 0, 4, 2, 6);
  second = __builtin_shufflevector(upper, lower, 1, 5, 3, 7);
}

/// Groups x Rows rows, all of `given` entries from `values` on. factor(k): x for their entries k, one for all rows or
/// `Rows` side by side. `Length`: the number of entries, 0: it is no constant.
template <int Length, int Rows, int Groups, class T, class Factor>
CAPSTAN_INLINE void multiplyGroup(const T* values, std::ptrdiff_t given, const Factor& factor, T alpha, T* y) {
  const std::ptrdiff_t length = Length > 0 ? Length : given;
  typename Side<T, Rows>::Numbers sum[Groups] = {}, first, second;
  const auto addTwo = [&](std::ptrdiff_t k) {
    const auto x = Side<T, Rows>::spread(factor(k)), next = Side<T, Rows>::spread(factor(k + 1));
    CAPSTAN_UNROLL
    for (int g = 0; g < Groups; ++g) {
      entriesOf<T>(values + g * Rows * length + k, length, first, second);
      sum[g] = plusProducts<T>(sum[g], first, x);
      sum[g] = plusProducts<T>(sum[g], second, next);
    }
  };
  if constexpr (Length > 0) {
    CAPSTAN_UNROLL
    for (int k = 0; k + 2 <= Length; k += 2) addTwo(k);
  } else {
    for (std::ptrdiff_t k = 0; k + 2 <= length; k += 2) addTwo(k);
  }
  if (length % 2 != 0) {  // the last one, looked at with the one before it
    const auto x = Side<T, Rows>::spread(factor(length - 1));
    CAPSTAN_UNROLL
    for (int g = 0; g < Groups; ++g) {
      entriesOf<T>(values + g * Rows * length + length - 2, length, first, second);
      sum[g] = plusProducts<T>(sum[g], second, x);
    }
  }
  CAPSTAN_UNROLL
  for (int g = 0; g < Groups; ++g) {
    sum[g] = alpha * sum[g];
    std::memcpy(y + g * Rows, &sum[g], sizeof(sum[g]));
  }
}

/// Rows row..row+count-1, at least `Rows` of them; the last ones may be done twice, with the same result.
template <int Length, int Rows, class T>
CAPSTAN_INLINE void multiplySides(const ChunkRows<T>& a, const int* offsets, std::ptrdiff_t length, std::ptrdiff_t row,
                                  std::ptrdiff_t count) {
  const T* x[longestPattern];
  for (std::ptrdiff_t k = 0; k < length; ++k) {
    const std::ptrdiff_t source = row + offsets[k];
    x[k] = source < a.own || a.received == nullptr ? a.x + source : a.received + (source - a.own);
  }
  const T* const values = a.values + a.begin[row];
  T* const y = a.y + row;
  const auto multiply = [&](std::ptrdiff_t k) {
    const auto factor = [&x, k](std::ptrdiff_t entry) { return Side<T, Rows>::load(x[entry] + k); };
    multiplyGroup<Length, Rows, 1>(values + k * length, length, factor, a.alpha, y + k);
  };
  std::ptrdiff_t k = 0;
  for (; k + Rows <= count; k += Rows) {
    const T* const from = values + k * length;
    if (a.large) fetchAhead(from, from + Rows * length, valuesAhead);
    multiply(k);
  }
  if (k < count) multiply(count - Rows);
}

/// The usual lengths as constants: those of the rows of grids, with and without their neighbours beyond a boundary.
template <int Rows, class T>
CAPSTAN_INLINE void multiplyPattern(const ChunkRows<T>& a, const int* offsets, std::ptrdiff_t length,
                                    std::ptrdiff_t row, std::ptrdiff_t count) {
  switch (length) {
    case 4:
      return multiplySides<4, Rows>(a, offsets, length, row, count);
    case 5:
      return multiplySides<5, Rows>(a, offsets, length, row, count);
    case 6:
      return multiplySides<6, Rows>(a, offsets, length, row, count);
    case 7:
      return multiplySides<7, Rows>(a, offsets, length, row, count);
    default:
      return multiplySides<0, Rows>(a, offsets, length, row, count);
  }
}

/// Rows row..row+count-1 of the same columns, two at least, with two entries at least; some may be done twice, with the
/// same result.
template <bool Plain, int Rows, class T>
CAPSTAN_INLINE void multiplyAlike(const ChunkRows<T>& a, std::ptrdiff_t row, std::ptrdiff_t count) {
  const std::size_t begin = a.begin[row];
  const auto length = static_cast<std::ptrdiff_t>(a.begin[row + 1] - begin);
  const T* const values = a.values + begin;
  const int* const columns = a.columns + begin;
  T* const y = a.y + row;
  const auto factor = [&a, columns](std::ptrdiff_t entry) { return factorFor<Plain>(a, columns[entry]); };
  const auto done = [&](auto rows, auto groups, std::ptrdiff_t k) {
    const T* const from = values + k * length;
    if (a.large) fetchAhead(from, from + rows.value * groups.value * length, valuesAhead);
    multiplyGroup<0, rows.value, groups.value>(from, length, factor, a.alpha, y + k);
  };
  std::ptrdiff_t k = 0;
  for (; k + 2 * Rows <= count; k += 2 * Rows) done(Number<Rows>(), Number<2>(), k);
  for (; k + Rows <= count; k += Rows) done(Number<Rows>(), Number<1>(), k);
  if (k < count && count >= Rows) return done(Number<Rows>(), Number<1>(), count - Rows);
  for (; k + 2 <= count; k += 2) done(Number<2>(), Number<1>(), k);
  if (k < count) done(Number<2>(), Number<1>(), count - 2);
}
#endif

/// The run of a place of the list. Runs are alike in most lists: it is looked for from where it would then be, in steps
/// that double.
template <class T>
CAPSTAN_INLINE const RowRun* runAt(const ChunkRows<T>& a, std::ptrdiff_t place) {
  std::ptrdiff_t low = place * a.runCount / a.runs[a.runCount].first, high = low + 1;
  std::ptrdiff_t step = 1;
  for (; a.runs[low].first > place; step *= 2) {  // the first run begins at the first place
    high = low;
    low = low > step ? low - step : 0;
  }
  for (; high < a.runCount && a.runs[high].first <= place; step *= 2) {
    low = high;
    high = a.runCount - high > step ? high + step : a.runCount;
  }
  while (high - low > 1) {
    const std::ptrdiff_t middle = low + (high - low) / 2;
    (a.runs[middle].first <= place ? low : high) = middle;
  }
  return a.runs + low;
}

/// Asks for what the next runs begin with. Of rows of one pattern neither ends nor columns are read, so that those of
/// the few rows between patterns, at the boundary of a grid, would each be waited for (measured: 35 % of a product
/// with 96^3 unknowns).
template <class T>
CAPSTAN_INLINE void fetchNextRuns(const ChunkRows<T>& a, const RowRun* run) {
  constexpr int ahead = 4;  // short runs and long ones take turns: a long one lies between
  if (run + ahead <= a.runs + a.runCount) prefetch(a.begin + run[ahead].row, 1);
  if (run[1].length <= 0) prefetch(a.columns + a.begin[run[1].row], 2 * cacheLine);
}

template <bool Plain, class T>
CAPSTAN_INLINE void multiplyRuns(const ChunkRows<T>& a, std::ptrdiff_t from, std::ptrdiff_t to) {
  for (const RowRun* run = runAt(a, from); from < to; ++run) {
    if (a.large) fetchNextRuns(a, run);
    const std::ptrdiff_t next = run[1].first < to ? run[1].first : to;
    const std::ptrdiff_t row = run->row + (from - run->first);
    bool done = false;
#ifdef CAPSTAN_KERNELS_PATTERNS
    constexpr int rows = vectorBytes >= 4 * int(sizeof(T)) ? 4 : 2;
    // Some rows may be done twice, and must then not have their old value added twice.
    if (sizeof(T) == 8 && run->length == sameColumns && next - from >= 2 && a.beta == T(0)) {
      multiplyAlike<Plain, rows>(a, row, next - from);
      done = true;
    } else if (sizeof(T) == 8 && run->length > 0 && next - from >= rows && a.beta == T(0)) {
      multiplyPattern<rows>(a, a.offsets + run->offsets, run->length, row, next - from);
      done = true;
    }
#endif
    if (!done) multiplyStretch<Plain>(a, row, row + (next - from));
    from = next;
  }
}

template <bool Plain, class T>
void multiplyColumnWith(const ChunkRows<T>& given, std::ptrdiff_t from, std::ptrdiff_t to) {
  const ChunkRows<T> a = given;  // in registers: what is written through y might be a member otherwise
  if (a.runCount > 0) {
    multiplyRuns<Plain>(a, from, to);
  } else {
    multiplySingly<Plain>(a, from, to);
  }
}

/// Rows from..to-1 of the list of rows, one column.
template <class T>
void multiplyColumnChunk(const ChunkRows<T>& a, std::ptrdiff_t from, std::ptrdiff_t to) {
  if (a.received == nullptr && a.sources == nullptr) {
    multiplyColumnWith<true>(a, from, to);
  } else {
    multiplyColumnWith<false>(a, from, to);
  }
}

}  // namespace capstan::kernels::detail::CAPSTAN_KERNELS_ISA
