// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The types of Trilinos in which the driver works, and what it makes of the rows of a host.

#include <Teuchos_RCP.hpp>
#include <Tpetra_CrsGraph.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Operator.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "adapters/driver/host.hpp"
#include "tpetra_ext/compat/local_views.hpp"

namespace capstan::driver {

using Matrix = Tpetra::CrsMatrix<double>;
using Map = Matrix::map_type;
using Graph = Matrix::crs_graph_type;
using Operator = Tpetra::Operator<double>;
using MultiVector = Tpetra::MultiVector<double>;

/// A pattern as Trilinos has it: graph, communication plan. Shared by all matrices on one mesh.
struct CsrGraph {
  Teuchos::RCP<const Graph> graph;
  std::vector<std::size_t> position;  ///< position[k]: where entry k of the pattern stands in the graph
};

/// A duplicate of the communicator for Trilinos; MPI_COMM_NULL: of one process without MPI. Collective.
/// \throws std::runtime_error where MPI cannot duplicate it
Teuchos::RCP<const Teuchos::Comm<int>> ownCommunicator(MPI_Comm comm);
/// Rows numbered contiguously by rank, \p rows of them on this one. Collective over \p comm, which is duplicated;
/// MPI_COMM_NULL: of one process without MPI.
Teuchos::RCP<const Map> makeRowMap(MPI_Comm comm, std::int64_t rows);
/// The same on a communicator of Trilinos, which has been started. Collective.
Teuchos::RCP<const Map> makeRowMap(const Teuchos::RCP<const Teuchos::Comm<int>>& comm, std::int64_t rows);
/// Whether it stands on MPI, as preconditioners of Trilinos want it. Local.
bool isOverMpi(const Map& rows);
/// A number that no other communicator of this rank has, or will have; 0: MPI_COMM_NULL. Local.
std::intptr_t numberOf(MPI_Comm comm);
/// Rows on this rank. Local.
std::int64_t localRows(const Map& rows);
/// The graph of \p pattern on these rows. Collective. Throws where the pattern is inconsistent.
std::shared_ptr<const CsrGraph> makeGraph(const CsrPattern& pattern, const Teuchos::RCP<const Map>& rows);

/// Entry position[k] of this rank's part of the matrix is values[k]. Local.
inline void setValues(Matrix& matrix, const double* values, const std::vector<std::size_t>& position) {
  const auto local = compat::hostMatrix(matrix);
  for (std::size_t k = 0; k < position.size(); ++k) local->values(position[k]) = values[k];
}

}  // namespace capstan::driver
