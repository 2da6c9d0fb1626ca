#pragma once
/// \file
/// Whether the rows of a matrix sum to zero.

#include <cstddef>

#include "tpetra_ext/types.hpp"

namespace capstan {

/// Rows of this rank that sum to zero, and others, among those that were read.
struct RowSums {
  long zero = 0, others = 0;
};

/// Rows of a rank that rowSums() reads first.
constexpr std::size_t mostRowsSummed = 1000;

/// Adds up mostRowsSummed rows of this rank, evenly spread, and all rows where these all sum to zero: a sample is no
/// proof. Nothing where rows cannot be read. A Tpetra::CrsMatrix is read where it lives, which takes a fence on a
/// device; on the host rows are read up to the first one that does not sum to zero. Local.
template <class Types>
RowSums rowSums(const typename Types::Operator& a);

}  // namespace capstan
