#pragma once
/// \file
/// Rows dealt out to virtual ranks by hypergraph partitioning.

#include "perf/study/matrix_graph.hpp"
#include "tpetra_ext/topology/exchange_pattern.hpp"

namespace capstan::study {

/// Parts of the column-net model of a matrix: a vertex for each block of rows, as heavy as it has entries, and a net
/// for each block of columns, of the rows with entries there and of the row of the same number, which owns the entry of
/// the vectors. What the nets that are cut add up to is what a product sends. Source: [embedded-cg], section 6.1, which
/// takes PaToH; here it is PHG of Zoltan, through Zoltan2, with its own defaults but that all nets count.
///
/// imbalance: a part may weigh so much more than the mean, 0.1 for 10 %; blocks that are heavier than that are not
/// split. Local: one process makes all parts, MPI must be initialised. The same every time. Throws
/// std::invalid_argument for parts < 1 or imbalance < 0, std::runtime_error where Zoltan fails.
topology::RowPartition hypergraphPartition(const MatrixGraph& graph, int parts, double imbalance);

}  // namespace capstan::study
