#pragma once
/// \file
/// The 7-point Laplacian of a cube, made on the device that solves with it.

#include <Teuchos_RCP.hpp>

#include "adapters/preconditioners/types.hpp"

namespace capstan::perf {

/// Diagonal 6, neighbours -1, Dirichlet boundaries; cells^3 rows, numbered x first, in slabs of whole planes over the
/// ranks. No entry passes the host. Collective. \throws std::invalid_argument when a rank would have no plane, or more
/// entries than its local ordinals count
Teuchos::RCP<preconditioning::Matrix> gridLaplacian(int cells,
                                                    const Teuchos::RCP<const preconditioning::Communicator>& comm);

}  // namespace capstan::perf
