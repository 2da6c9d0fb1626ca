#pragma once
/// \file
/// Whether the rows of A sum to zero, so that A annihilates constants: looked at before a solve.
///
/// Up to mostRowsSummed rows of a rank are read, evenly spread, and all of them where these sum to zero: less work than
/// one product, and no application of the operator, which may be the application's own and count its calls. Nothing is
/// kept from solve to solve, for a matrix may get new values in place.

#include <vector>

#include "belos_ext/manager/monitor.hpp"
#include "tpetra_ext/operators/row_sums.hpp"

namespace capstan {

/// Tells the monitor, when the first reduction has carried what all ranks have found. Local; call it alike on all
/// ranks.
template <class Types>
void watchRowSums(const typename Types::Operator& a, Monitor<Types>& monitor) {
  using Scalar = typename Types::Scalar;
  const RowSums mine = rowSums<Types>(a);
  monitor.sendAlong({static_cast<Scalar>(mine.zero), static_cast<Scalar>(mine.others)},
                    [&monitor](const std::vector<Scalar>& sums) {
                      monitor.agreed.annihilatesConstants = sums[0] > Scalar(0) && sums[1] == Scalar(0);
                    });
}

}  // namespace capstan
