#pragma once

/// \file
/// How long nonblocking reductions take when nothing is hidden behind them: what an overlap is measured against.

#include "tpetra_ext/reductions/counters.hpp"

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan {

/// Seconds of the nonblocking reductions of a stretch of work, means over the ranks: what one rank hides, another may
/// wait for.
struct OverlapSeconds {
  double wait;   ///< really spent waiting for them
  double alone;  ///< what they would have taken one by one, each waited for at once
};

/// Compares the nonblocking reductions counted in `spent` with the same ones done alone: for every size the median of
/// five, measured here, times their number.
///
/// Collective, whatever each rank has counted: two all-reduces, for the sizes and the means, and seven for every size
/// that some rank has counted and that has not been measured over this communicator before; counters() and eventLog()
/// do not see them. Measured times are kept with the communicator. `alone` is 0 on one rank, and NaN when MPI reports
/// an error or without MPI-3.
OverlapSeconds measureOverlap(const Teuchos::Comm<int>& comm, const ReductionCounters& spent);

}  // namespace capstan
