#pragma once
/// \file
/// What Trilinos says about wrong parameters, made short.

#include <Teuchos_ParameterList.hpp>
#include <optional>
#include <string>

namespace capstan::preconditioning {

/// What is wrong with a preconditioner's parameters.
struct ParameterProblem {
  std::string parameter;  ///< its name; empty when it is not one parameter alone
  std::string message;    ///< with what is allowed and the nearest name
};

/// The text of a Trilinos exception without the source line and the failed condition in front, on one line. Local.
std::string plainMessage(const std::string& what);

/// Turns the exception of a Teuchos parameter check, which lists every valid parameter, into what a user needs of it.
/// Local.
ParameterProblem parameterProblem(const std::string& what);

/// The first name in the list that this Ifpack2 type does not know, for those types that take unknown ones without a
/// word (ILUT, RILUK, CHEBYSHEV). Local.
std::optional<ParameterProblem> unknownIfpack2Name(const std::string& ifpack2, const Teuchos::ParameterList& list);

}  // namespace capstan::preconditioning
