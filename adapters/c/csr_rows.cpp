#include "adapters/c/csr_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "adapters/c/errors.hpp"

namespace capstan::c {
namespace {

[[noreturn]] void fail(const std::string& text) { throw Error(CAPSTAN_ERROR_ARGUMENT, "matrix: " + text); }

template <class Index>
void copyIndices(const capstan_csr& matrix, driver::CsrPattern& pattern) {
  const auto* const starts = static_cast<const Index*>(matrix.row_start);
  if (starts[0] != 0) fail(fmt::format("found row_start[0] = {}; allowed: 0", starts[0]));
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    if (starts[i + 1] < starts[i]) {
      fail(fmt::format("found row_start[{}] = {}; allowed: at least {}, the one before", i + 1, starts[i + 1],
                       starts[i]));
    }
  }
  pattern.rowStart.assign(starts, starts + matrix.rows + 1);
  const auto entries = static_cast<std::int64_t>(starts[matrix.rows]);
  if (entries > 0 && (matrix.columns == nullptr || matrix.values == nullptr)) {
    fail(fmt::format("found no {} for {} entries", matrix.columns == nullptr ? "columns" : "values", entries));
  }
  const auto* const columns = static_cast<const Index*>(matrix.columns);
  pattern.columns.assign(columns, columns + entries);
}

}  // namespace

void checkRows(std::int64_t rows) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();  // local numbers of Tpetra's
  if (rows >= 0 && rows <= most) return;
  throw Error(CAPSTAN_ERROR_ARGUMENT, fmt::format("rows: found {}; allowed: 0 to {} on a rank", rows, most));
}

driver::CsrPattern patternOf(const capstan_csr* matrix) {
  if (matrix == nullptr) fail("found NULL");
  if (matrix->size != sizeof(capstan_csr)) {
    fail(fmt::format("found size = {}; allowed: {}, sizeof(capstan_csr)", matrix->size, sizeof(capstan_csr)));
  }
  checkRows(matrix->rows);
  if (matrix->row_start == nullptr) fail("found row_start = NULL");
  driver::CsrPattern pattern;
  if (matrix->index_bits == 32) {
    copyIndices<std::int32_t>(*matrix, pattern);
  } else if (matrix->index_bits == 64) {
    copyIndices<std::int64_t>(*matrix, pattern);
  } else {
    fail(fmt::format("found index_bits = {}; allowed: 32 or 64", matrix->index_bits));
  }
  return pattern;
}

void checkEntries(const driver::CsrPattern& pattern) {
  std::vector<std::int64_t> row;
  for (std::size_t i = 0; i + 1 < pattern.rowStart.size(); ++i) {
    row.assign(pattern.columns.begin() + pattern.rowStart[i], pattern.columns.begin() + pattern.rowStart[i + 1]);
    std::sort(row.begin(), row.end());
    const auto global = pattern.firstRow + static_cast<std::int64_t>(i);
    if (!row.empty() && (row.front() < 0 || row.back() >= pattern.globalRows)) {
      fail(fmt::format("found column {} in row {}; allowed: 0 to {}", row.front() < 0 ? row.front() : row.back(),
                       global, pattern.globalRows - 1));
    }
    const auto twice = std::adjacent_find(row.begin(), row.end());
    if (twice != row.end()) fail(fmt::format("found column {} twice in row {}; allowed: once", *twice, global));
  }
}

}  // namespace capstan::c
