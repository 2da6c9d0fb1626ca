// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <Teuchos_ArrayRCP.hpp>
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "adapters/driver/trilinos_types.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::driver {
namespace {

using GlobalOrdinal = Map::global_ordinal_type;
using LocalOrdinal = Map::local_ordinal_type;

std::int64_t numLocalRows(const CsrPattern& pattern) { return static_cast<std::int64_t>(pattern.rowStart.size()) - 1; }

void requireConsistent(const CsrPattern& pattern) {
  if (pattern.rowStart.empty() || pattern.rowStart.front() != 0 ||
      pattern.rowStart.back() != static_cast<std::int64_t>(pattern.columns.size())) {
    throw std::invalid_argument("the row offsets of the matrix do not match its columns");
  }
  for (const auto column : pattern.columns) {
    if (column < 0 || column >= pattern.globalRows) {
      throw std::out_of_range(fmt::format("column {} lies outside the matrix of {} rows", column, pattern.globalRows));
    }
  }
}

// Global indices of the off-rank columns, ascending: contiguous numbering by rank makes that grouped by owner.
std::vector<GlobalOrdinal> remoteColumns(const CsrPattern& pattern) {
  const auto last = pattern.firstRow + numLocalRows(pattern);
  std::vector<GlobalOrdinal> remote;
  for (const auto column : pattern.columns) {
    if (column < pattern.firstRow || column >= last) {
      remote.push_back(column);
    }
  }
  std::sort(remote.begin(), remote.end());
  remote.erase(std::unique(remote.begin(), remote.end()), remote.end());
  return remote;
}

}  // namespace

std::shared_ptr<const CsrGraph> makeGraph(const CsrPattern& pattern, const Teuchos::RCP<const Map>& rowMap) {
  requireConsistent(pattern);
  const auto rows = numLocalRows(pattern);
  const auto mapped = static_cast<std::int64_t>(compat::localNumElements(*rowMap));
  if (mapped != rows) {
    throw std::invalid_argument(fmt::format("a pattern of {} rows for {} on this rank", rows, mapped));
  }

  const auto remote = remoteColumns(pattern);
  std::vector<GlobalOrdinal> columns(static_cast<std::size_t>(rows));
  std::iota(columns.begin(), columns.end(), static_cast<GlobalOrdinal>(pattern.firstRow));
  columns.insert(columns.end(), remote.begin(), remote.end());
  const auto invalid = Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid();
  const auto columnMap = Teuchos::rcp(
      new const Map(invalid, columns.data(), static_cast<LocalOrdinal>(columns.size()), 0, rowMap->getComm()));

  auto result = std::make_shared<CsrGraph>();
  result->position.resize(pattern.columns.size());
  Teuchos::ArrayRCP<std::size_t> offsets(pattern.rowStart.size());
  Teuchos::ArrayRCP<LocalOrdinal> indices(pattern.columns.size());
  std::copy(pattern.rowStart.begin(), pattern.rowStart.end(), offsets.begin());

  // Rows of the graph are sorted by local column; remember where each entry went.
  std::vector<std::pair<LocalOrdinal, std::size_t>> row;
  for (std::size_t i = 0; i + 1 < pattern.rowStart.size(); ++i) {
    row.clear();
    for (auto k = offsets[i]; k < offsets[i + 1]; ++k) {
      const auto column = pattern.columns[k];
      const auto local = column >= pattern.firstRow && column < pattern.firstRow + rows
                             ? static_cast<LocalOrdinal>(column - pattern.firstRow)
                             : static_cast<LocalOrdinal>(
                                   rows + (std::lower_bound(remote.begin(), remote.end(), column) - remote.begin()));
      row.emplace_back(local, k);
    }
    std::sort(row.begin(), row.end());
    for (std::size_t k = 0; k < row.size(); ++k) {
      indices[offsets[i] + k] = row[k].first;
      result->position[row[k].second] = offsets[i] + k;
    }
  }
  const auto graph = Teuchos::rcp(new Graph(rowMap, columnMap, offsets, indices));
  graph->expertStaticFillComplete(rowMap, rowMap);
  result->graph = graph;
  return result;
}

}  // namespace capstan::driver
