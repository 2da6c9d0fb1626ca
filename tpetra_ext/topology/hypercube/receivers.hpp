#pragma once

/// \file
/// Who receives which of a rank's values.

#include <vector>

#include "tpetra_ext/topology/exchange_pattern.hpp"

namespace capstan::topology {

/// Values of one rank that the same others need.
struct SentValues {
  std::vector<int> receivers;  ///< ascending; at least one
  long long count = 0;         ///< of values
};

/// What a rank sends, values with the same receivers counted together, in ascending order of the receivers. Local.
std::vector<SentValues> sentValuesOf(const RankPattern& pattern);

}  // namespace capstan::topology
