#pragma once
/// \file
/// Preconditioners that are sparse products and no more: no triangular solve, no reduction, and in CAPSTAN CG EMBEDDED
/// no message of their own. For symmetric definite matrices; both are symmetric, and as definite as A.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <string>

#include "adapters/preconditioners/types.hpp"

namespace capstan::preconditioning {

/// Whether a preconditioner of preconditionerNames() is one of these. Local.
bool isExplicit(const std::string& name);

/// The parameters it takes, with their defaults and validators. Local. \throws std::invalid_argument for another name.
Teuchos::RCP<const Teuchos::ParameterList> explicitParameters(const std::string& name);

/// Builds it. Collective.
/// \throws std::invalid_argument for parameters that explicitParameters() does not know, std::runtime_error where A has
/// no such preconditioner; on all ranks alike
Teuchos::RCP<Operator> makeExplicit(const std::string& name, const Teuchos::RCP<const Matrix>& A,
                                    const Teuchos::ParameterList& own);

/// M^{-1} = q(D^{-1} A) D^{-1}, D = diag(A): 1 - lambda q(lambda) is the Chebyshev polynomial of degree `degree` + 1 on
/// [bound / ratio, bound], by its roots in Leja's order. bound = max_i sum_j |a_ij| / |a_ii| is proven (Gershgorin),
/// so that q > 0 wherever D^{-1} A has its spectrum. An application is `degree` products with A's pattern.
///
/// Source: [Saad 1985]. Collective: one reduction. \throws std::runtime_error, on all ranks, for a zero on the diagonal
/// or a number that is not finite
Teuchos::RCP<Operator> polynomial(const Teuchos::RCP<const Matrix>& A, int degree, double ratio);

/// M^{-1} = G^T G, G lower triangular by global row numbers on A's pattern, with (G A G^T)_ii = 1: the factored sparse
/// approximate inverse, which is positive definite for any A. Of a row of A's lower part the `rowEntries` largest are
/// kept. Where the small system of a row is not positive definite the row is that of Jacobi. A negative definite A gets
/// -G^T G. An application is two products.
///
/// Source: [Kolotilina and Yeremin 1993]. Collective: an import of A's rows. The values are read as they are: those
/// above the diagonal are taken for those below.
Teuchos::RCP<Operator> approximateInverse(const Teuchos::RCP<const Matrix>& A, int rowEntries);

}  // namespace capstan::preconditioning
