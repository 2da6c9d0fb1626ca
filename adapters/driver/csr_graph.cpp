// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "adapters/driver/trilinos_types.hpp"

namespace capstan::driver {
namespace {

using GlobalOrdinal = Map::global_ordinal_type;
using LocalOrdinal = Map::local_ordinal_type;

void requireConsistent(const CsrPattern& pattern, const Map& rowMap) {
  if (pattern.rowStart.empty() || pattern.rowStart.front() != 0 ||
      pattern.rowStart.back() != static_cast<std::int64_t>(pattern.columns.size())) {
    throw std::invalid_argument("the row offsets of the matrix do not match its columns");
  }
  for (const auto column : pattern.columns) {
    if (column < 0 || column >= pattern.globalRows) {
      throw std::out_of_range(fmt::format("column {} lies outside the matrix of {} rows", column, pattern.globalRows));
    }
  }
  const auto rows = static_cast<std::int64_t>(pattern.rowStart.size()) - 1;
  if (localRows(rowMap) != rows) {
    throw std::invalid_argument(fmt::format("a pattern of {} rows for {} on this rank", rows, localRows(rowMap)));
  }
}

}  // namespace

std::shared_ptr<const CsrGraph> makeGraph(const CsrPattern& pattern, const Teuchos::RCP<const Map>& rowMap) {
  requireConsistent(pattern, *rowMap);
  const std::size_t rows = pattern.rowStart.size() - 1;
  std::vector<std::size_t> lengths(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    lengths[i] = static_cast<std::size_t>(pattern.rowStart[i + 1] - pattern.rowStart[i]);
  }
  const auto graph = Teuchos::rcp(new Graph(rowMap, Teuchos::arrayViewFromVector(lengths)));
  const std::vector<GlobalOrdinal> columns(pattern.columns.begin(), pattern.columns.end());
  const auto startOf = [&](std::size_t i) { return static_cast<std::size_t>(pattern.rowStart[i]); };
  for (std::size_t i = 0; i < rows; ++i) {
    graph->insertGlobalIndices(rowMap->getGlobalElement(static_cast<LocalOrdinal>(i)),
                               static_cast<LocalOrdinal>(lengths[i]), columns.data() + startOf(i));
  }
  graph->fillComplete(rowMap, rowMap);

  // Each entry occurs once, so that a row of the graph, which is sorted by local columns, has the pattern's place.
  auto result = std::make_shared<CsrGraph>();
  result->position.resize(columns.size());
  std::vector<std::pair<LocalOrdinal, std::size_t>> row;
  for (std::size_t i = 0; i < rows; ++i) {
    row.clear();
    for (std::size_t k = startOf(i); k < startOf(i + 1); ++k) {
      row.emplace_back(graph->getColMap()->getLocalElement(columns[k]), k);
    }
    std::sort(row.begin(), row.end());
    for (std::size_t k = 0; k < row.size(); ++k) result->position[row[k].second] = startOf(i) + k;
  }
  result->graph = graph;
  return result;
}

}  // namespace capstan::driver
