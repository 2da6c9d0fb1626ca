#pragma once
/// \file
/// Whether a matrix still has the values it had.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tpetra_ext/types.hpp"

namespace capstan {

/// Rows of a rank that matrixSample() reads at most.
constexpr std::size_t mostRowsSampled = 1000;

/// A number that stands for the values in mostRowsSampled rows of this rank, evenly spread, or in all where there are
/// fewer, to the last bit. Nothing, on all ranks alike, where rows cannot be read. A Tpetra::CrsMatrix is read where it
/// lives, which takes one fence; other matrices on the host. Local.
template <class Types>
std::optional<std::uint64_t> matrixSample(const typename Types::Operator& a);

}  // namespace capstan
