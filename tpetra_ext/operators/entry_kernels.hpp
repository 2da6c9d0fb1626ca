#pragma once
/// \file
/// What BlockKernels does to each entry of a vector. Functors, not lambdas: nvcc 11.8 keeps the pointers by which a
/// lambda for host and device is copied apart in each translation unit, while the linker keeps one of the inline
/// functions that set and read them, from any unit; a copy then calls a null pointer.

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace capstan::detail {

/// The global number of a local row. LocalMap: Tpetra::Map::getLocalMap().
template <class LocalMap>
KOKKOS_INLINE_FUNCTION std::uint64_t globalRow(const LocalMap& rows, std::size_t row) {
  return static_cast<std::uint64_t>(rows.getGlobalElement(static_cast<typename LocalMap::local_ordinal_type>(row)));
}

/// Entries in (-1, 1) from the global row and the series: a multiplicative hash ([Knuth 1998], section 6.4).
template <class LocalMap, class Column>
struct ScatterEntry {
  LocalMap rows;
  Column to;
  std::uint64_t series;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    using Scalar = typename Column::non_const_value_type;
    auto bits = globalRow(rows, i) + 1 + series * 0xD1342543DE82EF95ULL;
    bits *= 0x9E3779B97F4A7C15ULL;
    bits ^= bits >> 29;
    bits *= 0xBF58476D1CE4E5B9ULL;
    to(i) = static_cast<Scalar>(static_cast<double>(bits >> 11) * 0x1.0p-52 - 1.0);
  }
};

/// to = from with signs that depend on the global row alone.
template <class LocalMap, class From, class To>
struct ChangeSign {
  LocalMap rows;
  From from;
  To to;

  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    const bool negative = ((globalRow(rows, i) + 1) * 0x9E3779B97F4A7C15ULL >> 40 & 1U) != 0;
    to(i) = negative ? -from(i) : from(i);
  }
};

template <class Column>
struct AddScaledSquare {
  using Scalar = typename Column::non_const_value_type;
  Column column;
  Scalar factor;

  KOKKOS_FUNCTION void operator()(const std::size_t i, Scalar& sum) const {
    sum += factor * column(i) * (factor * column(i));
  }
};

/// Counts NaN and Inf.
template <class Column>
struct CountNotFinite {
  Column column;

  KOKKOS_FUNCTION void operator()(const std::size_t i, std::size_t& sum) const {
    using Scalar = typename Column::non_const_value_type;
    sum += column(i) - column(i) == Scalar(0) ? 0 : 1;
  }
};

}  // namespace capstan::detail
