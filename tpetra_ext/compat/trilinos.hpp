#pragma once

/// \file
/// The only place that knows how Trilinos releases differ (13.2 to 17.0).
///
/// Renamed members are found by asking the class, not by its version number: vendors ship development snapshots.

#include <TpetraCore_config.h>
#include <Trilinos_version.h>

#if __has_include(<Tpetra_Details_iallreduce.hpp>)
#include <Tpetra_Details_iallreduce.hpp>
#else
#include <Tpetra_iallreduce.hpp>
#endif

#include <cstddef>

/// Major and minor version as Trilinos writes it: 130200 is 13.2.
#define CAPSTAN_TRILINOS_VERSION TRILINOS_MAJOR_MINOR_VERSION

#if CAPSTAN_TRILINOS_VERSION < 130200
#error "Capstan needs Trilinos 13.2 or newer"
#endif

namespace capstan::compat {

namespace detail {

// The new name, which Trilinos 14 has alone, wins over the old one: for 0 the overload taking int is the better match.
template <class Map>
auto localNumElements(const Map& map, int) -> decltype(map.getLocalNumElements()) {
  return map.getLocalNumElements();
}
template <class Map>
auto localNumElements(const Map& map, long) -> decltype(map.getNodeNumElements()) {
  return map.getNodeNumElements();
}

template <class Matrix>
auto localNumRows(const Matrix& matrix, int) -> decltype(matrix.getLocalNumRows()) {
  return matrix.getLocalNumRows();
}
template <class Matrix>
auto localNumRows(const Matrix& matrix, long) -> decltype(matrix.getNodeNumRows()) {
  return matrix.getNodeNumRows();
}

template <class Matrix>
auto localNumEntries(const Matrix& matrix, int) -> decltype(matrix.getLocalNumEntries()) {
  return matrix.getLocalNumEntries();
}
template <class Matrix>
auto localNumEntries(const Matrix& matrix, long) -> decltype(matrix.getNodeNumEntries()) {
  return matrix.getNodeNumEntries();
}

template <class Matrix>
auto localMaxNumRowEntries(const Matrix& matrix, int) -> decltype(matrix.getLocalMaxNumRowEntries()) {
  return matrix.getLocalMaxNumRowEntries();
}
template <class Matrix>
auto localMaxNumRowEntries(const Matrix& matrix, long) -> decltype(matrix.getNodeMaxNumRowEntries()) {
  return matrix.getNodeMaxNumRowEntries();
}

template <class Map>
auto localElementList(const Map& map, int) -> decltype(map.getLocalElementList()) {
  return map.getLocalElementList();
}
template <class Map>
auto localElementList(const Map& map, long) -> decltype(map.getNodeElementList()) {
  return map.getNodeElementList();
}

}  // namespace detail

/// Number of elements of a Tpetra::Map on this rank. Local.
template <class Map>
std::size_t localNumElements(const Map& map) {
  return detail::localNumElements(map, 0);
}

/// Global indices of a Tpetra::Map on this rank, as Teuchos::ArrayView. Local.
template <class Map>
auto localElementList(const Map& map) {
  return detail::localElementList(map, 0);
}

/// Number of rows of a Tpetra row matrix or graph on this rank. Local.
template <class Matrix>
std::size_t localNumRows(const Matrix& matrix) {
  return detail::localNumRows(matrix, 0);
}

/// Number of stored entries of a Tpetra row matrix or graph on this rank. Local.
template <class Matrix>
std::size_t localNumEntries(const Matrix& matrix) {
  return detail::localNumEntries(matrix, 0);
}

/// Largest number of entries in one row of a Tpetra row matrix or graph on this rank. Local.
template <class Matrix>
std::size_t localMaxNumRowEntries(const Matrix& matrix) {
  return detail::localMaxNumRowEntries(matrix, 0);
}

}  // namespace capstan::compat
