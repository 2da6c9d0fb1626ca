// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What CsrGraph is made of. Only for the Trilinos side of this adapter.

#include <Teuchos_RCP.hpp>
#include <Tpetra_CrsGraph.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Map.hpp>
#include <cstddef>
#include <vector>

#include "adapters/openfoam/csr_solver.hpp"

namespace capstan::foam {

using Matrix = Tpetra::CrsMatrix<double>;
using Map = Matrix::map_type;
using Graph = Matrix::crs_graph_type;

class CsrGraph {
 public:
  Teuchos::RCP<const Graph> graph;
  std::vector<std::size_t> position;  ///< position[k]: where entry k of the pattern stands in the graph
};

}  // namespace capstan::foam
