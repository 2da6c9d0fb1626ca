#pragma once

/// \file
/// Thyra's solve criteria in the words of our parameters.

#include <Teuchos_ParameterList.hpp>
#include <Thyra_OperatorVectorTypes.hpp>
#include <Thyra_SolveSupportTypes.hpp>
#include <string>

namespace capstan::stratimikos {

/// Why a solve is refused, or an empty string. Solves with the transpose are, and every measure but the norm of b - A x
/// over that of b, that of the first b - A x, or one. Local. \param criteria may be null: those of the list
std::string whyRefused(Thyra::EOpTransp transposed, const Thyra::SolveCriteria<double>* criteria);

/// What criteria that are not refused set for one solve: tolerance, scaling, norm, and their extra parameters. Empty
/// where they leave all to the list. Local. \param changedByLeft whether the method follows the residual that a left
/// preconditioner makes, as GMRES does
Teuchos::ParameterList parametersOf(const Thyra::SolveCriteria<double>* criteria, bool changedByLeft);

}  // namespace capstan::stratimikos
