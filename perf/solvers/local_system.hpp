#pragma once
/// \file
/// This rank's rows of a linear system as plain arrays, for libraries that know no Tpetra.

#include <vector>

namespace capstan::perf {

/// Rows in contiguous blocks over the ranks, in rank order; compressed sparse rows with global column numbers from 0.
struct LocalSystem {
  long long globalRows = 0;
  std::vector<long long> rowStarts;  ///< local rows + 1
  std::vector<long long> columns;
  std::vector<double> values;
  std::vector<double> rhs;  ///< one right-hand side
};

}  // namespace capstan::perf
