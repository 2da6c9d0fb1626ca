#pragma once
/// \file
/// A deck's own check of a solve: the residual computed anew, in the norm and the scaling that the solver was asked
/// for.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <string>

#include "adapters/deck/solve.hpp"
#include "adapters/deck/types.hpp"

namespace capstan::deck {

/// b - A x, with as many columns as b. Collective.
MultiVector residual(const Matrix& A, const MultiVector& x, const MultiVector& b);

/// The scaling that parameters ask for, as a word of SolveRecord::scaledBy. Where no explicit one is given, the
/// implicit one counts, except with a left preconditioner, under which it is that of another residual. Local.
std::string scalingOf(const Teuchos::ParameterList& parameters, bool left);

/// Fills in SolveRecord::relativeResidual and converged; scaledBy, too, where the solver has told what it used.
/// Collective. \param initial b - A x before the solve \param left the preconditioner where it stands on the left of A,
/// else null; applied where the scaling needs it
void judge(const Matrix& A, const MultiVector& x, const MultiVector& b, const MultiVector& initial,
           const Teuchos::RCP<const Operator>& left, SolveRecord& record);

}  // namespace capstan::deck
