#pragma once

/// \file
/// The rows of a vector, split into t subdomains: T_{r,t} of enlarged Krylov methods.

#include "tpetra_ext/types.hpp"

namespace capstan {

/// Which of t subdomains a row belongs to. Contiguous: t ranges of global row numbers, of equal length. Interleaved: in
/// turn, by the global row number. ByRank: that of its rank, in turn; where there are fewer ranks than subdomains, each
/// rank deals its rows out, in contiguous parts, among those whose number is its own modulo the number of ranks.
enum class RowSplitting { Contiguous, Interleaved, ByRank };

/// Splits a vector: the first column holds r itself; the others get its parts in subdomains 1 to t - 1. They span what
/// the parts in all t subdomains span ([enlarged-cg], equation 2.3), for r is the sum of those.
///
/// The first two splittings depend on global row numbers alone: they are the same on any number of ranks. A subdomain
/// without rows makes a column of zeros. Local.
///
/// \param parts n x t, r in its first column; the others are overwritten
template <class Types>
void splitByRows(RowSplitting splitting, typename Types::MultiVector& parts);

}  // namespace capstan
