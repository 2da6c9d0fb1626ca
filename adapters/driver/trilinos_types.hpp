// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the plain C++ handles of this adapter hold, and what makes them. Only for its Trilinos side; the OpenFOAM side
/// asks TrilinosSide.

#include <Teuchos_RCP.hpp>
#include <Tpetra_CrsGraph.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_Operator.hpp>
#include <cstddef>
#include <vector>

#include "adapters/driver/assembled_preconditioner.hpp"
#include "adapters/driver/row_map.hpp"
#include "adapters/driver/system_files.hpp"
#include "tpetra_ext/compat/local_views.hpp"

namespace capstan::driver {

using Matrix = Tpetra::CrsMatrix<double>;
using Map = Matrix::map_type;
using Graph = Matrix::crs_graph_type;
using Operator = Tpetra::Operator<double>;

class RowMap {
 public:
  Teuchos::RCP<const Map> map;
};

class CsrGraph {
 public:
  Teuchos::RCP<const Graph> graph;
  std::vector<std::size_t> position;  ///< position[k]: where entry k of the pattern stands in the graph
};

/// As TrilinosSide::rowMap(), graph(), writeSystem(). \{
std::shared_ptr<const RowMap> makeRowMap(MPI_Comm comm, std::int64_t cells);
std::shared_ptr<const CsrGraph> makeGraph(const CsrPattern& pattern, const RowMap& cells);
std::string writeSystem(const WholeSystem& system, const ReplayChoice& choice, const std::string& prefix);
/// \}

/// Entry position[k] of this rank's part of the matrix is values[k]. Local.
inline void setValues(Matrix& matrix, const std::vector<double>& values, const std::vector<std::size_t>& position) {
  const auto local = compat::hostMatrix(matrix);
  for (std::size_t k = 0; k < values.size(); ++k) local->values(position[k]) = values[k];
}

/// What an assembled preconditioner is to a Krylov method: M^-1, or null before it is built.
Teuchos::RCP<const Operator> operatorOf(const AssembledPreconditioner& preconditioner);

}  // namespace capstan::driver
