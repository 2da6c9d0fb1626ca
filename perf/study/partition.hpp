#pragma once
/// \file
/// Which virtual rank owns which rows, and what the ranks need of each other.

#include <string>
#include <vector>

#include "perf/study/matrix_graph.hpp"
#include "tpetra_ext/topology/exchange_pattern.hpp"

namespace capstan::study {

/// "contiguous", and "graph" where the program was built with Scotch.
const std::vector<std::string>& partitionNames();

/// Rows dealt out to ranks. contiguous: one stretch of rows after the other, as [enlarged-cg] does. graph: by Scotch,
/// which splits the graph in two again and again, so that parts with near numbers lie near each other; blocks of rows
/// stay whole, their weight is their number of entries. Throws std::invalid_argument for another name or ranks < 1, and
/// std::runtime_error where Scotch fails. Local, and the same every time.
topology::RowPartition partitionOf(const MatrixGraph& graph, const std::string& name, int ranks);

/// What a product with the matrix needs. Local.
topology::ExchangePattern patternOf(const MatrixGraph& graph, const topology::RowPartition& partition);

/// Most entries in the rows of one rank. Local.
long long mostEntriesOfARank(const MatrixGraph& graph, const topology::RowPartition& partition);

}  // namespace capstan::study
