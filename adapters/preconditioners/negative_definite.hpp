#pragma once
/// \file
/// MueLu's parameters for matrices that are negative definite, as some codes write their pressure equation.

#include <Teuchos_ParameterList.hpp>

#include "adapters/preconditioners/types.hpp"

namespace capstan::preconditioning {

/// Whether the sum of A's diagonal is negative. Collective; the same on all ranks.
bool negativeTrace(const Matrix& A);

/// `list`, whose bounds are meant for a positive definite matrix, for its negative. Sublists included.
///
/// With sums of absolute values as diagonal D the eigenvalues of D^-1 A are then in [-1, 0): bounds given with
/// "chebyshev: use rowsumabs diagonal scaling" and "sa: use rowsumabs diagonal scaling" change their signs. The l1 part
/// of a relaxation is left out: Ifpack2 would add it to a negative diagonal. Local.
Teuchos::ParameterList forNegativeDefinite(Teuchos::ParameterList list);

}  // namespace capstan::preconditioning
