#pragma once

/// \file
/// How long nonblocking reductions take when nothing is hidden behind them: what an overlap is measured against.

#include "tpetra_ext/reductions/counters.hpp"

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan {

/// Seconds that the nonblocking reductions counted in `spent.nonblockingBySize` would take one by one, each waited for
/// at once: for every size the median of five, measured here, times their number.
///
/// Collective where a size has not been measured over this communicator before: seven all-reduces a size, which
/// counters() and eventLog() do not see. Measured times are kept with the communicator. 0 on one rank; NaN when MPI
/// reports an error, or without MPI-3.
double secondsAlone(const Teuchos::Comm<int>& comm, const ReductionCounters& spent);

}  // namespace capstan
