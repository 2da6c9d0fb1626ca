// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the plain C++ handles of this adapter hold. Only for its Trilinos side.

#include <Teuchos_RCP.hpp>
#include <Tpetra_CrsGraph.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_Operator.hpp>
#include <cstddef>
#include <vector>

#include "adapters/openfoam/assembled_preconditioner.hpp"
#include "adapters/openfoam/cell_map.hpp"

namespace capstan::foam {

using Matrix = Tpetra::CrsMatrix<double>;
using Map = Matrix::map_type;
using Graph = Matrix::crs_graph_type;
using Operator = Tpetra::Operator<double>;

class CellMap {
 public:
  Teuchos::RCP<const Map> map;
};

class CsrGraph {
 public:
  Teuchos::RCP<const Graph> graph;
  std::vector<std::size_t> position;  ///< position[k]: where entry k of the pattern stands in the graph
};

/// What an assembled preconditioner is to a Krylov method: M^-1, or null before it is built.
Teuchos::RCP<const Operator> operatorOf(const AssembledPreconditioner& preconditioner);

}  // namespace capstan::foam
